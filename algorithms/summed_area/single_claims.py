"""Claims about the summed area table in one launch."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import isqrt
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.claims import Case, Claim, correct, maximum, root
from mmsim.claims.claim import call_with
from mmsim.claims.launch import SymbolicLaunch
from mmsim_algorithms.summed_area.claims import FEW_LOOKS, TILES, WAVES
from mmsim_algorithms.summed_area.single import bands, by_bands

SECTION = 1
PAPER = "SAT, CANDAR 2017"
DERIVED = "SAT, derived here"

REQUIRES = (TILES, WAVES, FEW_LOOKS)


def table(schedule: mm.Schedule, n: int, w: int, d: int, L: int, l: int) -> mm.Run:
    """The summed area table of n words in one launch, checked."""
    a = ((np.arange(n) * 7919 + 13) % 1009 - 400).reshape(isqrt(n), isqrt(n))
    run = by_bands(mm.HMM(d, w, L, l), a, schedule=schedule)
    return correct(run, b=a.cumsum(axis=0).cumsum(axis=1))


def launches(n: Any, w: Any, d: Any, L: Any, l: Any) -> list[SymbolicLaunch]:
    """The launch of `table`."""
    side = root(n)
    border = (maximum(1, side / w - 1), side)
    arguments = {"a": (side, side), "b": (side, side), "border": border, "w": w}
    return [SymbolicLaunch(bands, arguments, side * w, mm.HMM(d, w, L, l), block_size=w * w)]


def requests(run: mm.Run) -> int:
    """Requests of warps to the global memory, each for w words."""
    return sum(row.requests for row in run.accesses if row.space == "global")


def cases() -> Iterator[Case]:
    """Matrices of up to 32 x 32 words, with a small and a large latency."""
    for w, m, d in product((1, 2, 3, 4, 8, 16), (1, 2, 4, 8), (1, 2, 4, 8)):
        for L, l in ((1, 1), (100, 1), (10, 3)):
            case = {"n": (w * m) ** 2, "w": w, "d": d, "L": L, "l": l}
            if w * m <= 32 and all(call_with(one.holds, case) for one in REQUIRES):
                yield case


def time(n: Any, w: Any, d: Any, L: Any, l: Any) -> Any:
    """The time in lock step, of 2m - 1 steps, m = sqrt(n)/w."""
    m = root(n) / w
    return (
        2 * n / w
        + 2 * m * (m - 1)
        + 6 * (n / (d * w) + root(n) * (1 - 1 / d))
        + (8 * m - 6) * (L - 1)
        + (2 * m - 1) * (4 * w + 2) * (l - 1)
    )


CLAIMS = [
    Claim(
        id="SAT-bands.requests",
        source=PAPER,
        title="one launch: requests for w words of the global memory",
        formula=lambda n, w: 2 * n / w + 2 * root(n) / w * (root(n) / w - 1),
        kind="exact",
        grid=cases,
        run=table,
        launches=launches,
        measure=requests,
        quantity="R",
        requires=REQUIRES,
        note="n + O(n/w) words are read and as many written, as cited: each word once, and w words "
        "of the border between two tiles. In lock step no block looks in vain",
    ),
    Claim(
        id="SAT-bands",
        source=DERIVED,
        title="summed area table in one launch on d DMMs, a block for each column of tiles",
        formula=time,
        kind="exact",
        grid=cases,
        run=table,
        launches=launches,
        requires=REQUIRES,
        note="2 sqrt(n)/w - 1 steps as the waves of 1R1W, with four rounds of the global memory "
        "instead of six, and one border instead of two",
    ),
]
