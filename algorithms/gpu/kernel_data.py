"""The data of the kernels in `mmsim_algorithms.gpu.kernel_cases`: matrices, values, graphs.

NumPy's `RandomState` draws all integers. It gives the same numbers in every version, so that a
prediction made elsewhere has the same addresses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
ODD = 2654435761
"""Multiplied by this, modulo a power of two, neighbours are far apart: 2^32 by the golden ratio."""


def by_octaves(n: int, count: int, seed: int) -> Integers:
    """`count` numbers of 0 .. n-1, the k-th about as often as 1/(k + 1): Zipf's law in octaves.

    All numbers from 2^e - 1 to 2^(e + 1) - 2 have the same chances, and together the same for each
    e. n is 2^m - 1 or 2^m; then the last number is left out.

    >>> np.bincount(by_octaves(8, 3000, 0)).tolist()
    [985, 524, 494, 281, 241, 230, 245]
    """
    draw = np.random.RandomState(seed)
    octaves = (n + 1).bit_length() - 1
    octave = draw.randint(octaves, size=count, dtype=np.int64)
    within = draw.randint(2**octaves, size=count, dtype=np.int64)
    return (1 << octave) - 1 + (within & ((1 << octave) - 1))


def spread(numbers: Integers, n: int) -> Integers:
    """Renumber, so that neighbours get numbers far apart; n is a power of two.

    >>> spread(np.arange(8), 8).tolist()
    [0, 1, 2, 3, 4, 5, 6, 7]
    >>> sorted(spread(np.arange(64), 64).tolist()) == list(range(64))
    True
    """
    return numbers * ODD % n


@dataclass(frozen=True)
class Rows:
    """A matrix or a graph in compressed rows: row i has columns c[r[i]] to c[r[i + 1] - 1]."""

    r: npt.NDArray[np.int32]
    c: npt.NDArray[np.int32]

    @property
    def n(self) -> int:
        return len(self.r) - 1


def regular(columns: Integers) -> Rows:
    """Rows that all have the same number of columns, in order."""
    n, k = columns.shape
    r = np.arange(n + 1) * k
    return Rows(r.astype(np.int32), np.sort(columns, axis=1).astype(np.int32).ravel())


def banded(n: int, k: int) -> Rows:
    """k columns around the diagonal, around the edge.

    >>> banded(4, 2).c.reshape(4, 2).tolist()
    [[0, 3], [0, 1], [1, 2], [2, 3]]
    """
    return regular((np.arange(n)[:, None] + np.arange(k) - k // 2) % n)


def uniform(n: int, k: int, seed: int) -> Rows:
    """k columns, drawn with equal chances."""
    return regular(np.random.RandomState(seed).randint(n, size=(n, k), dtype=np.int64))


def power_law(n: int, seed: int) -> Rows:
    """Rows of d columns about as often as 1/d^2, columns by Zipf's law; n is a power of two.

    The longest rows have about half the square root of n: a longer row would take one thread more
    time than all others together.

    >>> lengths = np.diff(power_law(1024, 0).r)
    >>> np.bincount(np.log2(lengths).astype(int)).tolist()
    [514, 251, 126, 133]
    """
    draw, most = np.random.RandomState(seed), (n.bit_length() - 1) // 2 - 2
    drawn = draw.randint(1 << most, size=n, dtype=np.int64) | 1 << most
    octave = np.frexp(drawn & -drawn)[1].astype(np.int64) - 1
    within = draw.randint(1 << most, size=n, dtype=np.int64) & ((1 << octave) - 1)
    r = np.concatenate([[0], np.cumsum((1 << octave) + within)])
    c = spread(by_octaves(n, int(r[-1]), seed + 1), n)
    return Rows(r.astype(np.int32), c.astype(np.int32))


def grid(side: int) -> Rows:
    """The four neighbours of each place of a side x side torus.

    >>> grid(4).c[:4].tolist()
    [1, 3, 4, 12]
    """
    i, j = np.divmod(np.arange(side * side), side)
    around = [
        ((i + y) % side) * side + (j + x) % side for y, x in ((0, 1), (0, -1), (1, 0), (-1, 0))
    ]
    return regular(np.stack(around, axis=1))


@dataclass(frozen=True)
class Search:
    """A breadth-first search before one of its levels: the frontier, and costs, -1 for unknown."""

    frontier: npt.NDArray[np.bool_]
    cost: npt.NDArray[np.int32]

    @staticmethod
    def start(graph: Rows, source: int) -> Search:
        """Before the first level."""
        frontier = np.arange(graph.n) == source
        return Search(frontier, np.where(frontier, 0, -1).astype(np.int32))

    def after(self, graph: Rows, levels: int) -> Search:
        """After so many more levels, or as many as there are.

        >>> Search.start(grid(4), 0).after(grid(4), 2).cost.reshape(4, 4).tolist()
        [[0, 1, 2, 1], [1, 2, -1, 2], [2, -1, -1, -1], [1, 2, -1, 2]]
        """
        frontier, cost = self.frontier, self.cost.copy()
        while levels and frontier.any():
            vertices = np.flatnonzero(frontier)
            begins, counts = graph.r[vertices], np.diff(graph.r)[vertices]
            edges = np.repeat(begins - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
            reached = graph.c[edges]
            fresh = reached[cost[reached] < 0]
            cost[fresh] = cost[vertices[0]] + 1
            frontier = np.zeros_like(frontier)
            frontier[fresh] = True
            levels -= 1
        return Search(frontier, cost)
