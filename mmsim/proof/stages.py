"""The stages of one warp's request, from the terms of its lanes' addresses.

Arrays begin at multiples of the width, so an offset in its array says as much as an address. On
banks, a number that all lanes add doesn't change how many of them meet.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from operator import mul, sub
from typing import Any

import numpy as np

from mmsim.proof.facts import Facts, Split
from mmsim.proof.terms import ONE, Product, Term, Undecided, is_zero, simple

Lines = tuple[Any, ...]


def stages(
    facts: Facts,
    unit: str,
    width: int,
    offsets: list[Term],
    lanes: int,
    atomic: bool = False,
    senders: np.ndarray | None = None,
) -> int:
    """The stages of a request for such words; a term has a number for each active lane.

    `unit` is "banks" or "groups". A lane has several words if there are several terms. If the lanes
    are those of several warps, `senders` has the number of each one's; then it is the sum of their
    stages.
    """
    if senders is None:
        senders = np.zeros(lanes, dtype=np.int64)
    if unit == "banks":
        offsets = [_varying(one, senders) for one in offsets]
    try:
        parts = [_divided(facts, one, width, len(offsets) == 1) for one in offsets]
    except (Split, Undecided):
        if unit == "groups" and len(offsets) == 1 and _apart(facts, offsets[0], width):
            return lanes
        raise
    products = sorted({p for cell, _ in parts for p in cell.parts}, key=str)
    numbers: dict[Lines, int] = {}
    rows = np.array(
        [
            numbers.setdefault(line, len(numbers))
            for cell, _ in parts
            for line in _lines(cell, products, lanes)
        ]
    )
    warps = np.tile(senders, len(parts))
    place = np.concatenate([np.broadcast_to(np.asarray(within), lanes) for _, within in parts])
    # A word is one number: that of its warp first, then those of its place and its row.
    places = (warps * width + place.astype(np.int64)) * len(numbers)
    if len(numbers) > 1:
        met = _together(places + rows, len(numbers), width if unit == "groups" else 1)
        rows = _same(facts, products, list(numbers), met)[rows]
    words = places + rows
    distinct = np.unique(words)
    if unit == "banks":
        places, counts = np.unique(
            (words if atomic else distinct) // len(numbers), return_counts=True
        )
        return int(_largest(places // width, counts).sum())
    warps_, rows_ = distinct // (width * len(numbers)), distinct % len(numbers)
    if not atomic:
        return len(np.unique(warps_ * len(numbers) + rows_))
    counts = np.unique(words, return_counts=True)[1]
    return int(_largest(warps_ * len(numbers) + rows_, counts).sum())


def _largest(keys: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The largest value of each key."""
    found, which = np.unique(keys, return_inverse=True)
    largest = np.zeros(len(found), dtype=np.int64)
    np.maximum.at(largest, which, values)
    return largest


def _together(words: np.ndarray, rows: int, places: int) -> list[tuple[int, ...]]:
    """The sets of several rows that meet: those of one warp, and of one place in it or of all."""
    meets = np.unique(words // (rows * places) * rows + words % rows)
    sets = np.split(meets % rows, np.flatnonzero(np.diff(meets // rows)) + 1)
    return list(dict.fromkeys(tuple(one.tolist()) for one in sets if len(one) > 1))


def _varying(offset: Term, senders: np.ndarray) -> Term:
    """An offset without the symbols that all lanes of a warp add."""
    found = {}
    for product, value in offset.parts.items():
        if product == ONE:
            found[product] = value
        elif isinstance(value, np.ndarray):
            _, first, which = np.unique(senders, return_index=True, return_inverse=True)
            value = simple(value - value[first][which])
            if not is_zero(value):
                found[product] = value
    return Term(found)


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


def _lines(cell: Term, products: list[Product], lanes: int) -> list[Lines]:
    """The factors of products in the row of each lane."""
    columns = []
    for product in products:
        value = cell.parts.get(product, 0)
        one = value.tolist() if isinstance(value, np.ndarray) else [value] * lanes
        columns.append(one)
    return list(zip(*columns, strict=True)) if columns else [()] * lanes


def _same(
    facts: Facts, products: list[Product], lines: list[Lines], met: list[tuple[int, ...]]
) -> np.ndarray:
    """For each line the first one that is the same row, among those that meet."""
    found = np.arange(len(lines))
    for some in met:
        for one, other in _equal(facts, products, {lines[row] for row in some}).items():
            first, second = sorted(found[[lines.index(one), lines.index(other)]])
            found[found == second] = first
    return found


def _equal(facts: Facts, products: list[Product], lines: set[Lines]) -> dict[Lines, Lines]:
    """The rows with different factors that are the same row: another one for each of them."""
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
