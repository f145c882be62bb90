"""The launches of the permutations on the HMM, with symbols for their sizes.

Row-wise permutations have tables that give each request to a shared memory one stage.
"""

from __future__ import annotations

from typing import Any

import mmsim as mm
from mmsim.claims import log2, minimum, root
from mmsim.claims.launch import SymbolicLaunch
from mmsim_algorithms.dmm_permutation.launches import directed, written
from mmsim_algorithms.grids import exact
from mmsim_algorithms.hmm_permutation.programs import row_wise
from mmsim_algorithms.hmm_permutation.regular import bit_reversal, shuffle
from mmsim_algorithms.transpose.hmm import transpose

FREE = {"alpha": 1, "beta": 1}


def designated(algorithm: str, n: Any, w: Any, L: Any, d: Any) -> list[SymbolicLaunch]:
    """D- or S-designated in global memory; the sum of stages is D."""
    return [directed(algorithm, mm.HMM(d, w, L), n, n, minimum(n, 4 * w), "D")]


def named(algorithm: str, permutation: str, n: Any, w: Any, L: Any) -> list[SymbolicLaunch]:
    """The same on one DMM, along a permutation with a closed form."""
    return written(designated(algorithm, n, w, L, 1), permutation, n, root(n))


def _turn(rows: Any, n: Any, w: Any, d: Any, L: Any) -> SymbolicLaunch:
    columns = exact(n) / rows
    sizes = {"a": (rows, columns), "b": (columns, rows), "w": w}
    return SymbolicLaunch(transpose, sizes, n, mm.HMM(d, w, L), w * w)


def _rows(rows: Any, n: Any, w: Any, d: Any, L: Any) -> SymbolicLaunch:
    length = exact(n) / rows
    sizes = dict.fromkeys(("a", "b", "s", "d"), (rows, length))
    return SymbolicLaunch(row_wise, sizes, n, mm.HMM(d, w, L), length, stages=FREE)


def turned(rows: Any, n: Any, w: Any, d: Any, L: Any) -> list[SymbolicLaunch]:
    """The transpose of a matrix."""
    return [_turn(rows, n, w, d, L)]


def by_rows(rows: Any, n: Any, w: Any, d: Any, L: Any) -> list[SymbolicLaunch]:
    """A row-wise permutation."""
    return [_rows(rows, n, w, d, L)]


def by_columns(rows: Any, n: Any, w: Any, d: Any, L: Any) -> list[SymbolicLaunch]:
    """A column-wise permutation."""
    columns = exact(n) / rows
    there, back = _turn(rows, n, w, d, L), _turn(columns, n, w, d, L)
    return [there, _rows(columns, n, w, d, L), back]


def scheduled(n: Any, w: Any, d: Any, L: Any) -> list[SymbolicLaunch]:
    """Rows, columns and rows of a square."""
    part = _rows(root(n), n, w, d, L)
    return [part, *by_columns(root(n), n, w, d, L), part]


def regular(permutation: str, n: Any, w: Any, k: Any, L: Any) -> list[SymbolicLaunch]:
    """Transpose, shuffle or bit-reversal on k DMMs."""
    if permutation == "transpose":
        return turned(root(n), n, w, k, L)
    sizes: dict[str, Any] = {"a": (n,), "b": (n,), "w": w}
    if permutation == "shuffle":
        return [SymbolicLaunch(shuffle, sizes, n, mm.HMM(k, w, L), 2 * w)]
    sizes |= {"k": log2(w), "m": log2(n)}
    return [SymbolicLaunch(bit_reversal, sizes, n, mm.HMM(k, w, L), w * w)]
