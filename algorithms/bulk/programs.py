"""Sequential algorithms for bulk execution on the UMM and the DMM.

Tani, Takafuji, Nakano, Ito, "Bulk Execution of Oblivious Algorithms on the Unified Memory Machine,
with GPU Implementation", IPDPS Workshops 2014. A sequential algorithm is oblivious if its accesses
at each step do not depend on its input. Thread i runs it on input i, row i of the array; so all
threads access the same word of their inputs at the same time.

The array's layout decides whether the inputs lie row by row or column by column. The programs are
the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm

INFINITE = 2**40
"""More than any weight of a triangulation."""


@dataclass(frozen=True)
class ByColumns:
    """The layout of a p x n matrix column by column: word j of input i lies at jp + i.

    >>> ByColumns().offsets((2, 3))
    array([[0, 2, 4],
           [1, 3, 5]])
    """

    def offsets(self, shape: tuple[int, ...]) -> npt.NDArray[np.int64]:
        """The word of each element."""
        p, n = shape
        return np.arange(p * n, dtype=np.int64).reshape(n, p).T


@mm.program
def prefix_sums(T: mm.Thread, a: mm.Array) -> None:
    """The prefix sums of n words: 2n accesses."""
    s = 0
    for k in range(a.shape[1]):
        s += a[T.id, k]
        a[T.id, k] = s


@mm.program
def sort(T: mm.Thread, a: mm.Array) -> None:
    """Bubble sort of n words, each pair written whether in order or not: 2n(n - 1) accesses."""
    n = a.shape[1]
    for r in range(n - 1):
        for k in range(n - 1 - r):
            x, y = a[T.id, k], a[T.id, k + 1]
            a[T.id, k] = min(x, y)
            a[T.id, k + 1] = max(x, y)


@mm.program
def triangulation(T: mm.Thread, a: mm.Array, n: int) -> None:
    """The least weight of a triangulation of a convex n-gon: s(s^2 - 1)/3 - 2(s - 1) for s = n.

    Word in + j holds the weight of the chord from vertex i to vertex j > i, 0 for a side. In the
    end it holds the least weight of the chords that triangulate the vertices i .. j, this chord
    among them.
    """
    for s in range(2, n):
        for i in range(n - s):
            j = i + s
            x = INFINITE
            for k in range(i + 1, j):
                x = min(x, a[T.id, i * n + k] + a[T.id, k * n + j])
            a[T.id, i * n + j] = a[T.id, i * n + j] + x


def chords(p: int, n: int, seed: int = 0) -> npt.NDArray[Any]:
    """Random weights for the chords of p convex n-gons, each a row of n^2 words."""
    weights = np.triu(np.random.default_rng(seed).integers(1, 100, (p, n, n)), 2)
    weights[:, 0, -1] = 0
    return weights.reshape(p, n * n)


def triangulated(weights: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The result of `triangulation` for an n x n matrix of weights, by its definition.

    >>> triangulated(np.array([[0, 0, 7, 0], [0, 0, 0, 3], [0, 0, 0, 0], [0, 0, 0, 0]]))[0, 3]
    np.int64(3)
    """
    n, least = len(weights), weights.copy()
    for s in range(2, n):
        for i in range(n - s):
            parts = least[i, i + 1 : i + s] + least[i + 1 : i + s, i + s]
            least[i, i + s] += parts.min()
    return least


# What `mmsim run` starts from.


@prefix_sums.example
@sort.example
def rows_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """2w inputs of eight words, or of `size` words in all, column by column."""
    p = 2 * width
    a = np.random.default_rng(seed).integers(0, 100, (p, max(1, size // p or 8)))
    return mm.Example(mm.place(a, ByColumns()), threads=p)


@triangulation.example
def polygons_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """2w polygons of six vertices, column by column."""
    a = chords(2 * width, 6, seed)
    return mm.Example(mm.place(a, ByColumns()), 6, threads=2 * width)
