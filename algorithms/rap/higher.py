"""Accesses to a w x w x w x w array (RAP section VII).

A warp of w threads accesses w elements that differ in only one index: the last (contiguous), the
one before it (stride1), and so on. Here thread T(x) of p has that index in its lane, x mod w, and
the other three in the digits of x div w to base w; with p = w⁴ the whole array is accessed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import mmsim as mm


@mm.program
def contiguous(T: mm.Thread, a: mm.Array) -> None:
    """RAP section VII, Contiguous: a warp accesses a[i][j][k][0:w-1]."""
    w = a.shape[0]
    line = T.id // w
    i, j, k = line // w**2, line // w % w, line % w
    a[i, j, k, T.id % w]


@mm.program
def stride1(T: mm.Thread, a: mm.Array) -> None:
    """RAP section VII, Stride1: a warp accesses a[i][j][0:w-1][l]."""
    w = a.shape[0]
    line = T.id // w
    i, j, l = line // w**2, line // w % w, line % w
    a[i, j, T.id % w, l]


@mm.program
def stride2(T: mm.Thread, a: mm.Array) -> None:
    """RAP section VII, Stride2: a warp accesses a[i][0:w-1][k][l]."""
    w = a.shape[0]
    line = T.id // w
    i, k, l = line // w**2, line // w % w, line % w
    a[i, T.id % w, k, l]


@mm.program
def stride3(T: mm.Thread, a: mm.Array) -> None:
    """RAP section VII, Stride3: a warp accesses a[0:w-1][j][k][l]."""
    w = a.shape[0]
    line = T.id // w
    j, k, l = line // w**2, line // w % w, line % w
    a[T.id % w, j, k, l]


ACCESSES = {
    "contiguous": contiguous,
    "stride1": stride1,
    "stride2": stride2,
    "stride3": stride3,
}
Permuted = mm.layout.OneP | mm.layout.R1P | mm.layout.ThreeP | mm.layout.W2P | mm.layout.OnePW2R
RAPS: dict[str, type[Permuted]] = {
    "1P": mm.layout.OneP,
    "R1P": mm.layout.R1P,
    "3P": mm.layout.ThreeP,
    "w2P": mm.layout.W2P,
    "1Pw2R": mm.layout.OnePW2R,
}
LAYOUTS: dict[str, Callable[[int, int], mm.layout.Layout]] = {
    "RAW": lambda w, seed: mm.layout.RAW(),
    "RAS": mm.layout.RAS,
    **RAPS,
}


def random_numbers(layout: str, w: int) -> int:
    """Count the random numbers that a layout of a w x w x w x w array draws.

    >>> random_numbers("RAS", 4), random_numbers("3P", 4)
    (64, 12)
    """
    if layout in RAPS:
        return len(RAPS[layout](w).draw())
    rows = array(w).size // w
    return len(mm.layout.RAS(w).draw(rows)) if layout == "RAS" else 0


def array(w: int) -> mm.layout.Offsets:
    """The numbers 0 .. w⁴ - 1 in row-major order."""
    return np.arange(w**4).reshape(w, w, w, w)


@contiguous.example
@stride1.example
@stride2.example
@stride3.example
def array_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A w x w x w x w array under 3P; w² threads access w lines of it."""
    placed = mm.place(array(width), mm.layout.ThreeP(width, seed))
    return mm.Example(placed, threads=width * width)
