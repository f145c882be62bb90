"""Claims of SMM section 7 about the rows and the columns of a w^2 x w^2 matrix on the UMM."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

import mmsim as mm
from mmsim.claims import Case, Claim, Precondition, ceiling, correct, within
from mmsim.claims.launch import SymbolicLaunch
from mmsim_algorithms.grids import FULL_WARPS, TWO_LANES, meeting
from mmsim_algorithms.transpose.umm_claims import swap_time
from mmsim_algorithms.umm_permutation import launches
from mmsim_algorithms.umm_permutation.cases import time_of_data
from mmsim_algorithms.umm_permutation.claims import ALL, DATA
from mmsim_algorithms.umm_permutation.programs import chosen, random_rows
from mmsim_algorithms.umm_permutation.squares import columns_permuted, fourth_power, rows_permuted

SECTION = 7
SOURCE = "SMM, section 7"

THREADS = Precondition("w <= p <= w^3", lambda p, w: w <= p <= w**3)


def rows(schedule: mm.Schedule, p: int, w: int, l: int) -> mm.Run:
    """Random row-wise permutation of w^2 x w^2 words with w registers, checked."""
    a, d = _matrix(w)
    run = rows_permuted(mm.UMM(w, l), a, d, p, schedule)
    b = np.empty_like(a)
    np.put_along_axis(b, d, a, axis=1)
    return within(correct(run, b=b.reshape(-1, w)), w)


def columns(schedule: mm.Schedule, p: int, w: int, l: int) -> mm.Run:
    """Random column-wise permutation of w^2 x w^2 words with w registers, checked."""
    a, d = _matrix(w)
    run = columns_permuted(mm.UMM(w, l), a, d, p, schedule)
    b = np.empty_like(a)
    np.put_along_axis(b, d.T, a, axis=0)
    return within(correct(run, b=b), w)


def whole(schedule: mm.Schedule, p: int, w: int, l: int) -> mm.Run:
    """Random permutation of w^4 words by rows, columns and rows, checked."""
    a, P = np.arange(w**4), chosen(w**4, seed=w)
    run = fourth_power(mm.UMM(w, l), a, P, p, schedule)
    b = np.empty_like(a)
    b[P] = a
    return within(correct(run, b=b.reshape(-1, w)), w)


def _matrix(w: int) -> tuple[Any, Any]:
    """A w^2 x w^2 matrix and a random permutation for each of its rows (or columns)."""
    return np.arange(w**4).reshape(w * w, w * w), random_rows(w * w, w * w, seed=w)


def shares(requires: tuple[Precondition, ...]) -> Iterator[Case]:
    """From one warp to a warp for each row; some numbers do not divide the rows."""
    for w, l in product((1, 2, 3, 4), (1, 5, 30)):
        for warps in sorted({1, 2, w, w * w // 2, w * w - 1, w * w} - {0}):
            yield from meeting(requires, [{"p": warps * w, "w": w, "l": l}])


def almost_all(requires: tuple[Precondition, ...]) -> Iterator[Case]:
    """One warp, and a warp for each row but one, which is where latencies double."""
    for w, l in ((1, 1), (2, 1), (2, 1000), (3, 1000), (4, 1000), (5, 1000)):
        for warps in sorted({1, max(1, w * w - 1)}):
            yield from meeting(requires, [{"p": warps * w, "w": w, "l": l}])


def _rounds(count: int) -> Callable[..., Any]:
    """`count` rounds for each of w rows of a w x w matrix: w^3/p matrices for each warp."""
    return lambda p, w, l: count * (w**3 + w * (l - 1) * ceiling(w**3 / p))


def _with_swaps(count: int) -> Callable[..., Any]:
    """The same, and two swaps of tiles."""
    rounds = _rounds(count)
    return lambda p, w, l: rounds(p, w, l) + 2 * swap_time(w**4, p, w, l, w, w**2)


class Move(NamedTuple):
    """A way to move w^4 words: its rounds for each of w rows of a w x w matrix, and its bound."""

    name: str
    title: str
    run: Callable[..., mm.Run]
    launches: Callable[..., list[SymbolicLaunch]]
    formula: Callable[[int], Callable[..., Any]]
    data: int
    everything: int
    constant: int
    requires: tuple[Precondition, ...]
    note: str


ORDER = (FULL_WARPS, THREADS)
MOVES = (
    Move(
        "rows",
        "row-wise permutation of w^2 x w^2",
        rows,
        launches.long_rows_permuted,
        _rounds,
        *(10, 13, 26),
        ORDER,
        "a row of w^2 words to a warp, as in Lemma 7.4",
    ),
    Move(
        "columns",
        "column-wise permutation of w^2 x w^2",
        columns,
        launches.long_columns_permuted,
        _with_swaps,
        *(14, 17, 39),
        (TWO_LANES, *ORDER),
        "a transpose, the row-wise permutation, the transpose back",
    ),
    Move(
        "steps",
        "any permutation of w^4 words by rows, columns and rows",
        whole,
        launches.fourth_power,
        _with_swaps,
        *(34, 43, 91),
        (TWO_LANES, *ORDER),
        "as long as SMM-w4.tables, whose row-wise permutations are launches of their own",
    ),
)


def _claims() -> Iterator[Claim]:
    for move in MOVES:
        for end, what, count, note in (
            (".data", "a and b", move.data, DATA),
            (".tables", "all accesses", move.everything, ALL),
        ):
            yield Claim(
                id=f"SMM-w4.{move.name}{end}",
                source=SOURCE,
                title=f"{move.title}, UMM, w registers: {what}",
                formula=move.formula(count),
                kind="exact",
                grid=partial(shares, move.requires),
                run=move.run,
                launches=move.launches,
                measure=time_of_data if end == ".data" else _time,
                requires=move.requires,
                note=f"{note}. {move.note[0].upper()}{move.note[1:]}",
            )
        yield Claim(
            id=f"SMM-w4.{move.name}.O",
            source=SOURCE,
            title=f"{move.title}, UMM, w registers: all accesses",
            formula=lambda p, w, l: w**3 + w**4 * l / p,
            kind="upper",
            constant=move.constant,
            grid=partial(almost_all, move.requires),
            run=move.run,
            requires=move.requires,
            note=f"{ALL}; rounding w^3/p up at most doubles the latencies",
        )


def _time(run: mm.Run) -> int:
    return run.time


CLAIMS = list(_claims())
