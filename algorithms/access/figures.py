"""The papers' worked examples: a few requests, whose time the figures show."""

from __future__ import annotations

import numpy as np

import mmsim as mm


@mm.program
def smm_figure_4(T: mm.Thread, m: mm.Array) -> None:
    """SMM Figure 4: W(0) asks for m[0], m[1], m[10], m[6] and W(1) for m[8], m[9], m[14], m[15]."""
    address = mm.registers(8)
    address[0], address[1], address[2], address[3] = 0, 1, 10, 6
    address[4], address[5], address[6], address[7] = 8, 9, 14, 15
    m[address[T.id]]


@mm.program
def icpp_figure_3(T: mm.Thread, m: mm.Array) -> None:
    """ICPP Figure 3, RAP Figure 3: W(0) asks for m[7], m[5], m[15], m[0], W(1) for the rest."""
    address = mm.registers(8)
    address[0], address[1], address[2], address[3] = 7, 5, 15, 0
    address[4], address[5], address[6], address[7] = 10, 11, 12, 9
    m[address[T.id]]


@mm.program
def one_cell(T: mm.Thread, a: mm.Array, i: int) -> None:
    """All threads ask for a[i] (RAP Figure 2 (3) with i = 5)."""
    a[i]


@smm_figure_4.example
def figure_4_example(width: int, size: int = 16, seed: int = 0) -> mm.Example:
    return mm.Example(np.arange(max(size, 16)), threads=8)


@icpp_figure_3.example
def figure_3_example(width: int, size: int = 16, seed: int = 0) -> mm.Example:
    return mm.Example(np.arange(max(size, 16)), threads=8)


@one_cell.example
def one_cell_example(width: int, size: int = 16, seed: int = 0) -> mm.Example:
    return mm.Example(np.arange(max(size, 6)), 5, threads=width)
