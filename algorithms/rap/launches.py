"""The launches of accesses and transposes of matrices as they are (RAW), with symbols for sizes."""

from __future__ import annotations

from typing import Any

import mmsim as mm
from mmsim.claims.launch import SymbolicLaunch
from mmsim_algorithms.rap.cuda import cuda_corrected
from mmsim_algorithms.rap.programs import ACCESSES, IN_PLACE, OUT_OF_PLACE, WITH_BARRIER


def _of(program: mm.Program, names: str, w: Any, l: Any) -> list[SymbolicLaunch]:
    return [SymbolicLaunch(program, dict.fromkeys(names, (w, w)), w * w, mm.DMM(w, l))]


def accessed(access: str, w: Any, l: Any) -> list[SymbolicLaunch]:
    """All of a matrix, accessed in the named way."""
    return _of(ACCESSES[access], "a", w, l)


def accessed_at_once(access: str, w: Any) -> list[SymbolicLaunch]:
    """The same with latency 1."""
    return accessed(access, w, 1)


def transposed(transpose: str, w: Any, l: Any) -> list[SymbolicLaunch]:
    """A matrix transposed from a to b."""
    return _of(OUT_OF_PLACE[transpose], "ab", w, l)


def transposed_at_once(transpose: str, w: Any) -> list[SymbolicLaunch]:
    """The same with latency 1."""
    return transposed(transpose, w, 1)


def transposed_in_place(transpose: str, programs: str, w: Any, l: Any) -> list[SymbolicLaunch]:
    """A matrix transposed in place."""
    chosen = {"in place": IN_PLACE, "with barrier": WITH_BARRIER}[programs]
    return _of(chosen[transpose], "a", w, l)


def by_cuda(w: Any, l: Any) -> list[SymbolicLaunch]:
    """The paper's CUDA, corrected: its shifts keep each request within a row."""
    sizes = {"a": (32, 32), "b": (32, 32), "packed": (6,)}
    free = {"a": 1, "b": 1}
    return [SymbolicLaunch(cuda_corrected, sizes, 32 * 32, mm.DMM(w, l), stages=free)]
