"""Claims about the summed area table in one memory, a DMM or a UMM."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from math import isqrt
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.claims import Case, Claim, ClaimError, Precondition, log2, maximum, root
from mmsim.claims.launch import SymbolicLaunch
from mmsim_algorithms.grids import (
    BOTH,
    POWERS_OF_TWO,
    THREADS,
    TWO_LANES,
    machine,
    meeting,
    power_of_two,
)
from mmsim_algorithms.summed_area.one_memory import by_trees, in_one_memory

SECTION = 2
PAPER = "SAT, IEICE E96-D 2013"
DERIVED = "SAT, derived here"

SQUARE = Precondition(
    "n >= 4 is a square; n is a power of two",
    lambda n: n >= 4 and isqrt(n) ** 2 == n and power_of_two(n),
)
BINARY_THREADS = Precondition("p is a power of two", lambda p: power_of_two(p))
WIDE = Precondition("w <= sqrt n", lambda n, w: w * w <= n)
ANY = (SQUARE, BINARY_THREADS, THREADS)
EXACT = (SQUARE, POWERS_OF_TWO, THREADS, WIDE)


def table(schedule: mm.Schedule, on: str, n: int, p: int, w: int, l: int) -> mm.Run:
    """The summed area table of n words by trees, checked."""
    a = ((np.arange(n) * 7919 + 13) % 1009).reshape(isqrt(n), isqrt(n))
    run, found = in_one_memory(machine(on, w, l), a, p, schedule=schedule)
    if not np.array_equal(found, a.cumsum(axis=0).cumsum(axis=1)):
        raise ClaimError(f"{run.program} on {run.machine} left a wrong table")
    return run


def launches(on: str, n: Any, p: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """The launch of `table`."""
    return [SymbolicLaunch(by_trees, {"s": (2 * n,), "m": root(n)}, p, machine(on, w, l))]


def cases(
    requires: Iterable[Precondition], widths: Iterable[int], latencies: Iterable[int] = (30,)
) -> Iterator[Case]:
    """Matrices of up to 16 x 16 words, from a warp to a thread for each word."""
    for on, w, l, side in product(BOTH, widths, latencies, (2, 4, 8, 16)):
        n = side * side
        for p in sorted({1, side // 2, 2 * side, n}):
            yield from meeting(requires, [{"on": on, "n": n, "p": p, "w": w, "l": l}])


def large(w: int, *sides: int) -> Iterator[Case]:
    """One latency for bounds in which n/w is nearly all."""
    for on, side in product(BOTH, sides):
        yield {"on": on, "n": side * side, "p": side * side, "w": w, "l": 1}


def _bound(n: Any, p: Any, w: Any, l: Any) -> Any:
    return n / w + n * l / p + l * log2(n)


CLAIMS = [
    Claim(
        id="SAT-trees",
        source=DERIVED,
        title="summed area table by trees in one memory, DMM and UMM",
        formula=lambda n, p, w, l: (
            19 * (n - root(n)) / w
            + 14 * (l - 1) * (n / p - maximum(1, root(n) / p) + log2(maximum(1, p / root(n))))
        ),
        kind="exact",
        grid=lambda: cases(EXACT, (2, 4, 8, 16), (1, 5)),
        run=table,
        launches=launches,
        requires=(TWO_LANES, *EXACT),
        note="seven accesses for the columns and seven for the rows at each level. The levels have "
        "n - sqrt n words in each direction; five of the accesses for the rows are to every other "
        "word, which has two stages for a warp; with w = 1 there would be 14 stages, not 19",
    ),
    Claim(
        id="SAT-trees.O",
        source=PAPER,
        title="summed area table by trees in one memory, DMM and UMM, w a power of two",
        formula=_bound,
        kind="upper",
        constant=19,
        grid=lambda: [*cases(EXACT, (1, 2, 4, 8, 16)), *large(2, 32, 64, 128)],
        run=table,
        requires=EXACT,
        note="19 stages for each w words; the latencies have at most 14 for nl/p and 7 for l log n",
    ),
    Claim(
        id="SAT-trees.O.any",
        source=PAPER,
        title="summed area table by trees in one memory, DMM and UMM, any width",
        formula=_bound,
        kind="upper",
        constant=43,
        grid=lambda: [
            *cases(ANY, (1, 3, 5, 12)),
            *(case for w in (3, 5, 31) for case in large(w, 64, 128)),
        ],
        run=table,
        requires=ANY,
        note="consecutive words of a warp lie in two groups at most, every other word in three, "
        "parts of two rows in four: 4 + 20 stages for the columns and 4 + 15 for the rows",
    ),
    Claim(
        id="SAT-trees.LB",
        source=f"{PAPER}, raised here",
        title="lower bound for a summed area table without exchange within a warp, DMM and UMM",
        formula=lambda n, p, w, l: maximum(
            2 * n / w + l - 1, n / w + 2 * l - 1, 2 * n * l / p, l * (log2(n) + 2)
        ),
        kind="lower",
        grid=lambda: cases(ANY, (1, 3, 4, 12)),
        run=table,
        requires=ANY,
        note="n words are read and n written; the last word of the table is the sum, so that it is "
        "written after all words are read, and after log n + 1 reads in sequence (SCAN-LB). A "
        "thread with enough registers accesses each word twice; the trees do 14 times",
    ),
]
