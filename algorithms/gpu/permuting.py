"""The three permutations of ICPP's Table II as launches on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.gpu.pipeline import Step
from mmsim_algorithms import permutations
from mmsim_algorithms.gpu import programs
from mmsim_algorithms.hmm_permutation.programs import Plan

WARP = 32
WORDS = 8
TILE_WORDS = 4
"""Words of a thread: in rows and in long arrays, and in the tile of a transpose."""

Arrays = dict[str, npt.NDArray[Any]]


def conventional(
    algorithm: str, P: npt.NDArray[Any], a: npt.NDArray[Any]
) -> tuple[list[Step], Arrays]:
    """D-designated or S-designated: one launch. P takes words of 4 bytes, as in the paper."""
    if algorithm == "D-designated":
        program, table = programs.destination_designated, P
    else:
        program, table = programs.source_designated, permutations.inverse(P)
    arrays = {"a": a, "b": np.zeros_like(a), "p": table.astype(np.int32)}
    step = Step(program, ("a", "b", "p", WORDS), a.size // WORDS, min(1024, a.size // WORDS))
    return [step], arrays


def scheduled(plan: Plan, a: npt.NDArray[Any]) -> tuple[list[Step], Arrays]:
    """Rows, columns, rows: five launches. The result is in `b`."""
    side = plan.side
    matrix = a.reshape(side, side)
    words = max(1, min(WORDS, side // 128))
    arrays: Arrays = {"a": matrix, "b": np.zeros_like(matrix), "c": np.zeros_like(matrix)}
    for name, tables in (("first", plan.first), ("second", plan.second), ("third", plan.third)):
        for letter, table in zip("sd", tables, strict=True):
            arrays[f"{letter} {name}"] = table.astype(np.int32)

    def rows(source: str, target: str, which: str) -> Step:
        given = (source, target, f"s {which}", f"d {which}", words)
        return Step(programs.row_wise, given, side * side // words, side // words)

    def transposed(source: str, target: str) -> Step:
        given = (source, target, WARP, TILE_WORDS)
        tile = WARP * WARP // TILE_WORDS
        return Step(programs.transpose, given, side * side // TILE_WORDS, tile)

    steps = [
        rows("a", "b", "first"),
        transposed("b", "c"),
        rows("c", "b", "second"),
        transposed("b", "c"),
        rows("c", "b", "third"),
    ]
    return steps, arrays
