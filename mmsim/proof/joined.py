"""Cases of a cost that one formula describes, joined: n = 1, n > 1; or all remainders of n."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from mmsim.proof.written import short
from mmsim.results.costs import CostCase, CostRow

Formulas = tuple[Any, ...]
COUNTS = ("requests", "stages", "rounds", "time")


@dataclass(frozen=True)
class Branch:
    """One of the cases of a split: the number of the split and of the case, of `count` cases.

    `condition` holds in it, `words` say so. `size` is what the split is about, `modulus` that of
    its remainders, 0 for another split.
    """

    split: int
    at: int
    count: int
    condition: Any
    words: str
    size: Any = None
    modulus: int = 0


@dataclass(frozen=True)
class Leaf:
    """A case with its formulas: the time, and by access the counts.

    `sizes` has each size in those that are free in this case. `rows` explain the accesses.
    """

    path: tuple[Branch, ...]
    time: Any
    counts: Mapping[int, Formulas]
    sizes: Mapping[Any, Any]
    rows: Callable[[], dict[int, CostRow]]

    def formulas(self, sites: Sequence[int]) -> Formulas:
        """The time and the counts of some accesses, 0 for those that don't occur."""
        return (self.time, *(one for site in sites for one in self.counts.get(site, (0,) * 4)))

    def shown(self) -> CostCase:
        """The case for users."""
        import sympy

        condition = sympy.And(*(one.condition for one in self.path)) if self.path else sympy.true

        def rows() -> tuple[CostRow, ...]:
            found = self.rows()
            return tuple(
                replace(found[site], **dict(zip(COUNTS, map(short, counts), strict=True)))
                for site, counts in self.counts.items()
            )

        return CostCase(condition, tuple(one.words for one in self.path), short(self.time), rows)


def joined(leaves: Sequence[Leaf], depth: int = 0) -> list[Leaf]:
    """The leaves of a tree of splits; those of one split are one leaf where a formula has them."""
    if len(leaves) == 1 and len(leaves[0].path) == depth:
        return list(leaves)
    parts: list[Leaf] = []
    for _, several in groupby(leaves, key=lambda leaf: leaf.path[depth].at):
        parts += joined(list(several), depth + 1)
    last = parts[-1].path[depth]
    if len(parts) == last.count and all(len(one.path) == depth + 1 for one in parts):
        one = _together(parts, last)
        if one is not None:
            return [one]
    return parts


def _together(parts: list[Leaf], last: Branch) -> Leaf | None:
    """All cases of a split as one, if a formula has them."""
    import sympy

    sites = list(dict.fromkeys(site for one in parts for site in one.counts))
    every = [one.formulas(sites) for one in parts]
    found, first, words = every[-1], parts[-1], ""
    if not all(
        _same(found, one, part.sizes) for one, part in zip(every[:-1], parts[:-1], strict=True)
    ):
        size, by = last.size, last.modulus
        if not by or not isinstance(size, sympy.Symbol):
            return None
        rounded = sympy.Dummy(positive=True, integer=True)
        changed = [
            tuple(
                sympy.sympify(one).xreplace({size: by * (rounded - int(rest > 0)) + rest})
                for one in formulas
            )
            for rest, formulas in enumerate(every)
        ]
        if not all(_same(changed[0], one, {}) for one in changed[1:]):
            return None
        up = {rounded: sympy.ceiling(size / by)}
        found, first, words = (
            tuple(sympy.expand(one).xreplace(up) for one in changed[0]),
            parts[0],
            (f"where {by} divides {size}: "),
        )

    def rows() -> dict[int, CostRow]:
        known: dict[int, CostRow] = {}
        for one in (first, *parts):
            if any(site not in known for site in one.counts):
                known = {**one.rows(), **known}
        return {site: replace(row, why=words + row.why) for site, row in known.items()}

    counts = {site: found[4 * at + 1 : 4 * at + 5] for at, site in enumerate(sites)}
    return Leaf(first.path[:-1], found[0], counts, first.sizes, rows)


def _same(one: Formulas, other: Formulas, sizes: Mapping[Any, Any]) -> bool:
    """Return whether formulas are equal for all sizes of a case."""
    import sympy

    return all(
        sympy.expand(sympy.sympify(x - y).xreplace(dict(sizes))) == 0
        for x, y in zip(one, other, strict=True)
    )
