"""Accesses to a w x w x w x w array (RAP section VII).

A warp of w threads accesses w elements that differ in one index only: the last (contiguous), the
one before it (stride1), and so on. Here thread T(x) of p has that index in its lane, x mod w, and
the other three in the digits of x div w to base w; with p = w⁴ the whole array is accessed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

import mmsim as mm
from mmsim.claims import Case, Claim


@mm.program
def contiguous(T: mm.Thread, a: mm.Array) -> None:
    """RAP section VII, Contiguous: a warp accesses a[i][j][k][0:w-1]."""
    w = a.shape[0]
    i, j, k = T.id // w**3, T.id // w**2 % w, T.id // w % w
    a[i, j, k, T.id % w]


@mm.program
def stride1(T: mm.Thread, a: mm.Array) -> None:
    """RAP section VII, Stride1: a warp accesses a[i][j][0:w-1][l]."""
    w = a.shape[0]
    i, j, l = T.id // w**3, T.id // w**2 % w, T.id // w % w
    a[i, j, T.id % w, l]


@mm.program
def stride2(T: mm.Thread, a: mm.Array) -> None:
    """RAP section VII, Stride2: a warp accesses a[i][0:w-1][k][l]."""
    w = a.shape[0]
    i, k, l = T.id // w**3, T.id // w**2 % w, T.id // w % w
    a[i, T.id % w, k, l]


@mm.program
def stride3(T: mm.Thread, a: mm.Array) -> None:
    """RAP section VII, Stride3: a warp accesses a[0:w-1][j][k][l]."""
    w = a.shape[0]
    j, k, l = T.id // w**3, T.id // w**2 % w, T.id // w % w
    a[T.id % w, j, k, l]


ACCESSES = {
    "contiguous": contiguous,
    "stride1": stride1,
    "stride2": stride2,
    "stride3": stride3,
}
LAYOUTS: dict[str, Callable[[int, int], mm.layout.Layout]] = {
    "RAW": lambda w, seed: mm.layout.RowMajor(),
    "RAS": mm.layout.RAS,
    "1P": mm.layout.OneP,
    "R1P": mm.layout.R1P,
    "3P": mm.layout.ThreeP,
    "w2P": mm.layout.W2P,
    "1Pw2R": mm.layout.OnePW2R,
}


def array(w: int) -> mm.layout.Offsets:
    """The numbers 0 .. w⁴ - 1 in row-major order."""
    return np.arange(w**4).reshape(w, w, w, w)


@contiguous.example
@stride1.example
@stride2.example
@stride3.example
def array_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A w x w x w x w array under 3P, of which w² threads access w lines."""
    placed = mm.place(array(width), mm.layout.ThreeP(width, seed))
    return mm.Example(placed, threads=width * width)


def accessed(
    schedule: mm.Schedule, access: str, layout: str, w: int, p: int, seed: int = 0
) -> mm.Run:
    """The first p elements of the array, in the order of the access."""
    a = mm.place(array(w), LAYOUTS[layout](w, seed))
    return mm.DMM(w, 1).run(ACCESSES[access], a, threads=p, schedule=schedule)


def grid(accesses: tuple[str, ...], layouts: tuple[str, ...]) -> Iterator[Case]:
    """Small arrays as a whole and w³ elements of larger ones, under several seeds."""
    for layout in layouts:
        for access in accesses:
            for w, p in ((2, 16), (3, 81), (4, 256), (5, 625), (8, 4096), (12, 12**3), (16, 16**3)):
                for seed in (0,) if layout == "RAW" or w > 8 else (0, 1, 2):
                    yield {"access": access, "layout": layout, "w": w, "p": p, "seed": seed}


def own(accesses: tuple[str, ...], layout: str) -> list[Case]:
    """A whole array for the width of GPUs, 32."""
    return [{"access": access, "layout": layout, "w": 32, "p": 32**4} for access in accesses]


def _stages(run: mm.Run) -> int:
    return run.stages


RAPS = ("1P", "R1P", "3P", "w2P", "1Pw2R")

CLAIMS = [
    Claim(
        id="RAP-T4.1",
        source="RAP, Table IV",
        title="accesses whose congestion is 1: stages of p/w warps",
        formula=lambda p, w: p / w,
        kind="exact",
        grid=lambda: (
            *grid(("contiguous",), tuple(LAYOUTS)),
            *grid(("stride1",), RAPS),
            *grid(("stride2", "stride3"), ("R1P", "3P")),
        ),
        run=accessed,
        measure=_stages,
        quantity="S",
        own=lambda: own(tuple(ACCESSES), "3P"),
    ),
    Claim(
        id="RAP-T4.w",
        source="RAP, Table IV",
        title="accesses whose congestion is w, malicious ones for RAW and 1P: stages of p/w warps",
        formula=lambda p: p,
        kind="exact",
        grid=lambda: (
            *grid(("stride1", "stride2", "stride3"), ("RAW",)),
            *grid(("stride2", "stride3"), ("1P",)),
        ),
        run=accessed,
        measure=_stages,
        quantity="S",
        own=lambda: (*own(("stride1",), "RAW"), *own(("stride2",), "1P")),
    ),
]
