"""The launches of accesses and transposes of matrices, with symbols for sizes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import mmsim as mm
from mmsim.claims.claim import symbols_of
from mmsim.claims.launch import Rotated, SymbolicLaunch
from mmsim_algorithms.rap.cuda import cuda_corrected
from mmsim_algorithms.rap.higher import ACCESSES as HIGHER
from mmsim_algorithms.rap.programs import ACCESSES, IN_PLACE, OUT_OF_PLACE, WITH_BARRIER

SHIFTS = {"RAW": Rotated(same=(0,)), "RAS": Rotated(), "RAP": Rotated((0,))}
"""The kinds of shifts of a matrix."""
HIGHER_SHIFTS = {
    "RAW": Rotated(same=(0, 1, 2)),
    "RAS": Rotated(),
    "1P": Rotated((2,), (0, 1)),
    "R1P": Rotated((0, 1, 2)),
    "3P": Rotated((0, 1, 2)),
    "w2P": Rotated((2,)),
    "1Pw2R": Rotated((2,)),
}
"""Those of an array with four axes."""


def _of(program: mm.Program, names: str, w: Any, l: Any, layout: str) -> list[SymbolicLaunch]:
    sizes, shifts = dict.fromkeys(names, (w, w)), dict.fromkeys(names, SHIFTS[layout])
    return [SymbolicLaunch(program, sizes, w * w, mm.DMM(w, l), layouts=shifts)]


def accessed(access: str, w: Any, l: Any) -> list[SymbolicLaunch]:
    """All of a matrix as it is (RAW), accessed in the named way."""
    return _of(ACCESSES[access], "a", w, l, "RAW")


def accessed_under(access: str, layout: str, w: Any) -> list[SymbolicLaunch]:
    """The same under any layout, with latency 1."""
    return _of(ACCESSES[access], "a", w, 1, layout)


def accessed_at_once(access: str, w: Any) -> list[SymbolicLaunch]:
    """The same as it is, with latency 1."""
    return accessed(access, w, 1)


def transposed(transpose: str, w: Any, l: Any) -> list[SymbolicLaunch]:
    """A matrix transposed from a to b."""
    return transposed_under(transpose, "RAW", w, l)


def transposed_under(transpose: str, layout: str, w: Any, l: Any) -> list[SymbolicLaunch]:
    """The same under any layout. RAS says nothing of a column: C stages in all."""
    launches = _of(OUT_OF_PLACE[transpose], "ab", w, l, layout)
    stages = dict.fromkeys("ab" if layout == "RAS" else "", symbols_of("C")["C"])
    return [replace(one, stages=stages) for one in launches]


def transposed_at_once(transpose: str, layout: str, w: Any) -> list[SymbolicLaunch]:
    """The same with latency 1."""
    return transposed_under(transpose, layout, w, 1)


def accessed_in_lines(access: str, layout: str, w: Any, p: Any) -> list[SymbolicLaunch]:
    """The first p elements of a w x w x w x w array, in the order of the access."""
    shifts = {"a": HIGHER_SHIFTS[layout]}
    return [SymbolicLaunch(HIGHER[access], {"a": (w,) * 4}, p, mm.DMM(w, 1), layouts=shifts)]


def transposed_in_place(transpose: str, programs: str, w: Any, l: Any) -> list[SymbolicLaunch]:
    """A matrix transposed in place."""
    chosen = {"in place": IN_PLACE, "with barrier": WITH_BARRIER}[programs]
    return _of(chosen[transpose], "a", w, l, "RAW")


def by_cuda(w: Any, l: Any) -> list[SymbolicLaunch]:
    """The paper's CUDA, corrected: its shifts keep each request within a row."""
    sizes = {"a": (32, 32), "b": (32, 32), "packed": (6,)}
    free = {"a": 1, "b": 1}
    return [SymbolicLaunch(cuda_corrected, sizes, 32 * 32, mm.DMM(w, l), stages=free)]
