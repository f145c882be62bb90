"""The three permutations of ICPP's Table II as launches on a GPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim_algorithms.gpu import programs
from mmsim_algorithms.gpu.steps import Step
from mmsim_algorithms.hmm_permutation.programs import Plan

WARP = 32
BLOCK = 1024
"""The most threads of a block."""
ROW_THREADS = 128
"""The least threads of a row's block, for any number of words of a thread."""

Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Shape:
    """The parameters of launches of the permutations.

    A thread of D- and S-designated takes `words` words, and a thread of a transpose `tile_words`. A
    thread of a row-wise permutation takes at most `words`, or more if a row is longer than a block.
    The tables s and d hold integers of type `tables`.
    """

    name: str
    words: int
    tile_words: int
    tables: type[np.signedinteger[Any]]

    def row_words(self, side: int) -> int:
        """The words of a thread in the row-wise permutation of rows of `side` words.

        >>> [SEVERAL.row_words(side) for side in (64, 256, 1024, 8192)]
        [1, 2, 8, 8]
        >>> [PAPER.row_words(side) for side in (64, 1024, 2048, 4096)]
        [1, 1, 2, 4]
        """
        return max(1, min(self.words, side // ROW_THREADS), side // BLOCK)


SEVERAL = Shape("several words", 8, 4, np.int32)
"""Several words a thread, so that a warp has several requests under way."""
SHORT = Shape("several words, short tables", 8, 4, np.int16)
"""The same with the tables of the paper."""
PAPER = Shape("as in the paper", 1, 1, np.int16)
"""ICPP section VIII: a thread for each word, blocks of at most 1024, tables of short integers."""
SHAPES = {
    "D-designated": (SEVERAL, PAPER),
    "S-designated": (SEVERAL, PAPER),
    "scheduled": (SEVERAL, SHORT, PAPER),
}
"""The shapes of each algorithm. D- and S-designated have no tables s and d."""


def conventional(
    algorithm: str, table: npt.NDArray[Any], a: npt.NDArray[Any], shape: Shape
) -> tuple[list[Step], Arrays]:
    """D-designated along P, whose table is P, or S-designated, whose table is P's inverse.

    One launch; the result is in `b`. The table takes words of 4 bytes, as in the paper.
    """
    designated = {
        "D-designated": programs.destination_designated,
        "S-designated": programs.source_designated,
    }
    arrays = {"a": a, "b": np.zeros_like(a), "p": table.astype(np.int32)}
    threads = a.size // shape.words
    given = ("a", "b", "p", shape.words)
    return [Step(designated[algorithm], given, threads, min(BLOCK, threads))], arrays


def scheduled(plan: Plan, a: npt.NDArray[Any], shape: Shape) -> tuple[list[Step], Arrays]:
    """Rows, columns, rows: five launches. The result is in `b`."""
    side = plan.side
    matrix = a.reshape(side, side)
    words = shape.row_words(side)
    arrays: Arrays = {"a": matrix, "b": np.zeros_like(matrix), "c": np.zeros_like(matrix)}
    for name, tables in (("first", plan.first), ("second", plan.second), ("third", plan.third)):
        for letter, table in zip("sd", tables, strict=True):
            arrays[f"{letter} {name}"] = table.astype(shape.tables, copy=False)

    def rows(source: str, target: str, which: str) -> Step:
        given = (source, target, f"s {which}", f"d {which}", words)
        return Step(programs.row_wise, given, side * side // words, side // words)

    def transposed(source: str, target: str) -> Step:
        given = (source, target, WARP, shape.tile_words)
        tile = WARP * WARP // shape.tile_words
        return Step(programs.transpose, given, side * side // shape.tile_words, tile)

    steps = [
        rows("a", "b", "first"),
        transposed("b", "c"),
        rows("c", "b", "second"),
        transposed("b", "c"),
        rows("c", "b", "third"),
    ]
    return steps, arrays
