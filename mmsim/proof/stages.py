"""The stages of one warp's request, from the terms of its lanes' addresses.

Arrays begin at multiples of the width, so an offset in its array says as much as an address. On
banks, a number that all lanes add doesn't change how many of them meet.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np

from mmsim.proof.facts import Facts, Undecided
from mmsim.proof.terms import ONE, Term, simple

Lines = tuple[Any, ...]


def stages(
    facts: Facts, unit: str, width: int, offsets: list[Term], lanes: int, atomic: bool = False
) -> int:
    """The stages of a request for such words; a term has a number for each active lane.

    `unit` is "banks" or "groups". A lane has several words if there are several terms.
    """
    if unit == "banks":
        offsets = [_varying(one) for one in offsets]
    parts = [_divided(facts, one, width) for one in offsets]
    words = [
        (lane, _line(cell, lane), int(_at(within, lane)))
        for cell, within in parts
        for lane in range(lanes)
    ]
    for place in {within for _, _, within in words} if unit == "banks" else [None]:
        _distinct(facts, {line for _, line, within in words if place in (None, within)})
    if not atomic:
        distinct = {(line, within) for _, line, within in words}
        if unit == "groups":
            return len({line for line, _ in distinct})
        return max(Counter(within for _, within in distinct).values())
    if unit == "banks":
        return max(Counter(within for _, _, within in words).values())
    most: dict[Lines, int] = {}
    for (line, _), count in Counter((line, within) for _, line, within in words).items():
        most[line] = max(most.get(line, 0), count)
    return sum(most.values())


def _varying(offset: Term) -> Term:
    """An offset without the symbols that all lanes add."""
    kept = {p: v for p, v in offset.parts.items() if p == ONE or isinstance(v, np.ndarray)}
    return Term(kept)


def _divided(facts: Facts, offset: Term, width: int) -> tuple[Term, Any]:
    """The row of a word, and its place there: the offset, divided by the width."""
    whole, rest = Term({}), Term({})
    for product, value in offset.parts.items():
        part = facts.share(product, value, ONE, width)
        if part is None:
            rest = rest + Term({product: value})
        else:
            whole = whole + Term({part[0]: part[1]})
    number = rest.number
    if number is None:
        raise facts.residue(rest, width)
    return whole + simple(number // width), number % width


def _at(value: Any, lane: int) -> Any:
    return value[lane] if isinstance(value, np.ndarray) else value


def _line(term: Term, lane: int) -> Lines:
    """What distinguishes the row of a lane from that of another."""
    return tuple((p, _at(v, lane)) for p, v in sorted(term.parts.items(), key=lambda o: str(o[0])))


def _distinct(facts: Facts, lines: set[Lines]) -> None:
    """Make sure that rows with different terms are different rows."""
    terms = [Term({p: v for p, v in line if v}) for line in lines]
    if len(terms) == 1:
        return
    names = {
        name: 1000 + 37 * at
        for at, name in enumerate(sorted({s for t in terms for s in t.symbols}))
    }
    terms.sort(key=lambda term: term.at({name: value % 61 + 3 for name, value in names.items()}))
    if all(facts.bound(two - one - 1) >= 0 for one, two in pairwise(terms)):
        return
    for at, one in enumerate(terms):
        for two in terms[:at]:
            if not np.all(facts.holds(one - two - 1)) and not np.all(facts.holds(two - one - 1)):
                raise Undecided(f"{one} and {two}, which are equal")
