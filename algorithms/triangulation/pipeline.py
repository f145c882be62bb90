"""The optimal triangulation by a pipeline of threads: an element is finished at each step.

Matsumae and Miyazaki, "Solving Dynamic Programming Problem by Pipeline Implementation on GPU",
International Journal of Advanced Computer Science and Applications 9(12), 2018, take O(n^2) steps
with n threads for the product of a chain of matrices, which has the same recurrence. The program is
written from this idea.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim_algorithms.triangulation.programs import UNKNOWN, weights


def first(n: int, g: int) -> int:
    """The place of the first element of diagonal g, if the diagonals of n, n - 1, ... follow."""
    return g * n - g * (g - 1) // 2


@mm.program
def pipeline(T: mm.Thread, u: mm.Array, c: mm.Array, n: int) -> None:
    """Thread 0 finishes an element at each step, thread j works on the j-th one after it.

    u and c have the diagonals in sequence: element [i, i + g] at first(n, g) + i. c begins with
    n zeros and `UNKNOWN` behind them. Thread j takes the sums of an element that have j sides on
    the left or on the right beside one. n/2 threads are enough.
    """
    j = T.id
    g, i = 1, j
    while g < n and i >= n - g:
        i -= n - g
        g += 1
    for s in range(n, n * (n + 1) // 2):
        if 2 * j < g < n:
            h = g - 1 - j
            best = min(c[s + j], c[first(n, j) + i] + c[first(n, h) + i + j + 1])
            if j < h:
                best = min(best, c[first(n, h) + i] + c[first(n, j) + i + h + 1])
            if j == 0:
                best += u[s]
            c[s + j] = best
        i += 1
        if i >= n - g:
            i = 0
            g += 1
        T.barrier()


def in_line(matrix: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The diagonals of a matrix in sequence, from the main one on.

    >>> in_line(np.array([[1, 2, 3], [0, 4, 5], [0, 0, 6]])).tolist()
    [1, 4, 6, 2, 5, 3]
    """
    return np.concatenate([np.diagonal(matrix, g) for g in range(len(matrix))])


def empty_line(n: int) -> npt.NDArray[Any]:
    """The initial c of `pipeline`."""
    c = np.full(n * (n + 1) // 2, UNKNOWN)
    c[:n] = 0
    return c


# What `mmsim run` starts from.


@pipeline.example
def pipeline_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """`size` sides (default: 2w), a thread for two of them."""
    n = size or 2 * width
    return mm.Example(in_line(weights(n, seed)), empty_line(n), n, threads=max(1, n // 2))
