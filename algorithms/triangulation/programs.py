"""The optimal triangulation of a convex polygon, by dynamic programming on the UMM.

Nakano, "Sequential Memory Access on the Unified Memory Machine with Application to the Dynamic
Programming", CANDAR 2013, has the problem and the bound; the programs are written from its
abstract.

Each chord of a convex polygon has a weight. The programs find the least sum of the weights of
chords that cut the polygon into triangles. A polygon of n + 1 vertices has n sides 0, ..., n - 1
and a base. Let c[i, j] be the least sum for the polygon of the sides i, ..., j and the chord that
closes them. Then c[i, i] = 0 and c[i, j] = u[i, j] + min over i <= k < j of c[i, k] + c[k + 1, j].
The base has the weight u[0, n - 1].

In the *diagonal arrangement* of such a matrix row g has the elements [i, i + g] for all i.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm

UNKNOWN = 2**40
"""Above every sum of weights: an element without a known triangulation."""


@mm.program
def by_rows(T: mm.Thread, u: mm.Array, c: mm.Array) -> None:
    """Diagonal after diagonal, a thread for each of its elements; both matrices row by row.

    c begins with zeros. The elements of a diagonal lie n + 1 words apart.
    """
    n = c.shape[0]
    for g in range(1, n):
        for i in range(T.id, n - g, T.count):
            best = c[i, i] + c[i + 1, i + g]
            for k in range(i + 1, i + g):
                best = min(best, c[i, k] + c[k + 1, i + g])
            c[i, i + g] = best + u[i, i + g]
        T.barrier()


@mm.program
def by_diagonals(T: mm.Thread, u: mm.Array, c: mm.Array) -> None:
    """The same with both matrices in the diagonal arrangement: a warp accesses words of one row.

    c begins with zeros.
    """
    n = c.shape[0]
    for g in range(1, n):
        for i in range(T.id, n - g, T.count):
            best = c[0, i] + c[g - 1, i + 1]
            for t in range(1, g):
                best = min(best, c[t, i] + c[g - 1 - t, i + t + 1])
            c[g, i] = best + u[g, i]
        T.barrier()


@mm.program
def eager(T: mm.Thread, u: mm.Array, c: mm.Array) -> None:
    """Each sum of two elements is taken as soon as both are known: n - 1 steps of O(1) rounds.

    Both matrices are in the diagonal arrangement; c begins with zeros in its first row and
    `UNKNOWN` below. At step s the rows up to s are known. An element of row g > s takes two sums,
    with an element of row s on the left or on the right and one of row g - 1 - s <= s next to it.
    """
    n = c.shape[0]
    for s in range(n - 1):
        rows = min(s + 1, n - 1 - s)
        for e in range(T.id, rows * n, T.count):
            r, i = e // n, e % n
            g = s + 1 + r
            if i + g < n:
                best = min(c[g, i], c[s, i] + c[r, i + s + 1])
                if r < s:
                    best = min(best, c[r, i] + c[s, i + r + 1])
                if r == 0:
                    best += u[g, i]
                c[g, i] = best
        T.barrier()


def weights(n: int, seed: int = 0) -> npt.NDArray[Any]:
    """Random weights u[i, j] for n sides, the same for each seed; only those with i < j count."""
    return np.random.RandomState(seed).permutation(n * n).reshape(n, n) % 1009


def diagonal_arrangement(matrix: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A matrix with [i, i + g] at [g, i], and 0 where there is no such element.

    >>> diagonal_arrangement(np.array([[1, 2], [3, 4]])).tolist()
    [[1, 4], [2, 0]]
    """
    n = len(matrix)
    arranged = np.zeros_like(matrix)
    for g in range(n):
        arranged[g, : n - g] = np.diagonal(matrix, g)
    return arranged


def least(u: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """All c[i, j], directly by the recurrence.

    >>> least(np.array([[0, 5, 7], [0, 0, 1], [0, 0, 0]])).tolist()
    [[0, 5, 8], [0, 0, 1], [0, 0, 0]]
    """
    n = len(u)
    c = np.zeros_like(u)
    for g in range(1, n):
        for i in range(n - g):
            j = i + g
            c[i, j] = u[i, j] + (c[i, i:j] + c[i + 1 : j + 1, j]).min()
    return c


def empty(n: int) -> npt.NDArray[Any]:
    """The initial c of `eager`."""
    c = np.full((n, n), UNKNOWN)
    c[0] = 0
    return c


# What `mmsim run` starts from.


@by_rows.example
def by_rows_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """`size` sides (default: 2w), a thread for each."""
    n = size or 2 * width
    return mm.Example(weights(n, seed), np.zeros((n, n), int), threads=n)


@by_diagonals.example
def by_diagonals_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """`size` sides (default: 2w), a thread for each."""
    n = size or 2 * width
    u = diagonal_arrangement(weights(n, seed))
    return mm.Example(u, np.zeros((n, n), int), threads=n)


@eager.example
def eager_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """`size` sides (default: 2w), up to eight threads for each."""
    n = size or 2 * width
    u = diagonal_arrangement(weights(n, seed))
    return mm.Example(u, empty(n), threads=min(8, n) * n)
