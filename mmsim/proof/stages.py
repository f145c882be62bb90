"""The stages of one warp's request, from the terms of its lanes' addresses.

Arrays begin at multiples of the width, so an offset in its array says as much as an address. On
banks, a number that all lanes add doesn't change how many of them meet.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise
from operator import mul, sub
from typing import Any

import numpy as np

from mmsim.proof.facts import Facts, Split, Undecided
from mmsim.proof.terms import ONE, Product, Term, simple

Lines = tuple[Any, ...]


def stages(
    facts: Facts, unit: str, width: int, offsets: list[Term], lanes: int, atomic: bool = False
) -> int:
    """The stages of a request for such words; a term has a number for each active lane.

    `unit` is "banks" or "groups". A lane has several words if there are several terms.
    """
    if unit == "banks":
        offsets = [_varying(one) for one in offsets]
    try:
        parts = [_divided(facts, one, width, len(offsets) == 1) for one in offsets]
    except (Split, Undecided):
        if unit == "groups" and len(offsets) == 1 and _apart(facts, offsets[0], width):
            return lanes
        raise
    products = sorted({p for cell, _ in parts for p in cell.parts}, key=str)
    words = [
        (line, int(_at(within, lane)))
        for cell, within in parts
        for lane, line in enumerate(_lines(cell, products, lanes))
    ]
    for place in sorted({within for _, within in words}) if unit == "banks" else [None]:
        here = {line for line, within in words if place in (None, within)}
        for one, same in _equal(facts, products, here).items():
            words = [(same if line == one else line, within) for line, within in words]
    if not atomic:
        distinct = set(words)
        if unit == "groups":
            return len({line for line, _ in distinct})
        return max(Counter(within for _, within in distinct).values())
    if unit == "banks":
        return max(Counter(within for _, within in words).values())
    most: dict[Lines, int] = {}
    for (line, _), count in Counter(words).items():
        most[line] = max(most.get(line, 0), count)
    return sum(most.values())


def _varying(offset: Term) -> Term:
    """An offset without the symbols that all lanes add."""
    kept = {p: v for p, v in offset.parts.items() if p == ONE or isinstance(v, np.ndarray)}
    return Term(kept)


def _divided(facts: Facts, offset: Term, width: int, alone: bool) -> tuple[Term, Any]:
    """The row of a word, and its place there: the offset, divided by the width.

    If the rest is the same for all lanes, it says nothing: all rows are as many further on.
    """
    whole, rest = facts.parted(offset, Term.of(width))
    number = rest.number
    if number is None and alone and rest.is_uniform:
        return whole, 0
    if number is None:
        raise facts.residue(rest, width)
    return whole + simple(number // width), number % width


def _apart(facts: Facts, offset: Term, width: int) -> bool:
    """Return whether words are evenly spaced, so far apart that no two lie in one group."""
    each = {product: _step(value) for product, value in offset.parts.items()}
    if None in each.values():
        return False
    step = Term({product: value for product, value in each.items() if value})
    if step.number is not None:
        return bool(abs(step.number) >= width)
    return bool(facts.holds(step - width)) or bool(facts.holds(-step - width))


def _step(value: Any) -> Any:
    """The difference of neighbouring lanes, None if it isn't always the same."""
    found = set(np.diff(value).tolist()) if isinstance(value, np.ndarray) else {0}
    return found.pop() if len(found) == 1 else None


def _at(value: Any, lane: int) -> Any:
    return value[lane] if isinstance(value, np.ndarray) else value


def _lines(cell: Term, products: list[Product], lanes: int) -> list[Lines]:
    """The factors of products in the row of each lane."""
    columns = []
    for product in products:
        value = cell.parts.get(product, 0)
        one = value.tolist() if isinstance(value, np.ndarray) else [value] * lanes
        columns.append(one)
    return list(zip(*columns, strict=True)) if columns else [()] * lanes


def _equal(facts: Facts, products: list[Product], lines: set[Lines]) -> dict[Lines, Lines]:
    """The rows with different factors that are the same row: another one for each of them."""
    if len(lines) == 1:
        return {}
    names = sorted({name for p in products for powers in p for name, _ in powers})
    sample = {name: at * 37 % 61 + 3 for at, name in enumerate(names)}
    sizes = [simple(Term({product: 1}).at(sample)) for product in products]
    ordered = sorted(lines, key=lambda line: sum(map(mul, line, sizes)))
    steps = {tuple(map(sub, two, one)) for one, two in pairwise(ordered)}
    if all(facts.bound(_term(products, step) - 1) >= 0 for step in steps):
        return {}
    known: dict[Lines, bool] = {}
    found: dict[Lines, Lines] = {}
    for one, two in combinations(ordered, 2):
        step = tuple(map(sub, two, one))
        if step not in known:
            term = _term(products, step)
            known[step] = not facts.holds(term - 1) and not facts.holds(-term - 1)
        if known[step]:
            found[two] = found.get(one, one)
    return found


def _term(products: list[Product], line: Lines) -> Term:
    return Term({product: value for product, value in zip(products, line, strict=True) if value})
