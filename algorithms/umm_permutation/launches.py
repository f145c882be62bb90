"""The launches of the permutations on the UMM, with symbols for their sizes.

A colouring prepares the tables, so that each request that they direct meets one address group.
"""

from __future__ import annotations

from typing import Any

import mmsim as mm
from mmsim.claims.launch import SymbolicLaunch
from mmsim_algorithms.grids import exact
from mmsim_algorithms.transpose.launches import tiles
from mmsim_algorithms.transpose.umm import tiled
from mmsim_algorithms.umm_permutation.programs import column_wise, row_wise
from mmsim_algorithms.umm_permutation.squares import long_rows

NAMES = ("a", "b", "d")
DIRECTED = {"b": 1}


def _rows(program: mm.Program, rows: Any, p: Any, w: Any, l: Any) -> SymbolicLaunch:
    """Rows of w words, and a table of that shape."""
    sizes = dict.fromkeys(NAMES, (rows, w))
    return SymbolicLaunch(program, sizes, p, mm.UMM(w, l), stages=DIRECTED)


def rows_permuted(p: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """A row-wise permutation of w x w."""
    return [_rows(row_wise, w, p, w, l)]


def columns_permuted(w: Any, l: Any) -> list[SymbolicLaunch]:
    """A column-wise permutation of w x w."""
    return [_rows(column_wise, w, w, w, l)]


def matrix_permuted(
    program: mm.Program, tables: tuple[str, ...], directed: str, w: Any, l: Any
) -> list[SymbolicLaunch]:
    """Any permutation of w x w by these tables, which direct accesses to these arrays."""
    sizes = dict.fromkeys(("a", "b", *tables), (w, w))
    return [SymbolicLaunch(program, sizes, w, mm.UMM(w, l), stages=dict.fromkeys(directed, 1))]


def by_squares(depth: int, n: Any, p: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """Any permutation of n = w^(2^depth) words with w registers, by squares."""
    if depth == 0:
        return [_rows(row_wise, exact(n) / w, p, w, l)]
    side = w**2 ** (depth - 1)
    part = by_squares(depth - 1, n, p, w, l)
    between = tiles(tiled, n, p, w, l, matrix=(side, side))
    return [*part, between, *part, between, *part]


def _long(p: Any, w: Any, l: Any) -> SymbolicLaunch:
    sizes = dict.fromkeys(("a", "b", "first", "second", "third"), (w**3, w))
    return SymbolicLaunch(long_rows, sizes, p, mm.UMM(w, l), stages=DIRECTED)


def long_rows_permuted(p: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """A row-wise permutation of w^2 x w^2."""
    return [_long(p, w, l)]


def long_columns_permuted(p: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """A column-wise permutation of w^2 x w^2."""
    turn = tiles(tiled, w**4, p, w, l, matrix=(w**2, w**2))
    return [turn, _long(p, w, l), turn]


def fourth_power(p: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """Any permutation of w^4 words by rows, columns and rows."""
    return [_long(p, w, l), *long_columns_permuted(p, w, l), _long(p, w, l)]
