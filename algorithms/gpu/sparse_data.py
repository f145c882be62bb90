"""Sparse matrices and graphs in compressed rows, and searches through them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mmsim_algorithms.gpu.drawn_numbers import Integers, by_octaves, geometric, spread


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


def of_lengths(lengths: Integers, columns: Integers) -> Rows:
    """Rows of these lengths."""
    r = np.concatenate([[0], np.cumsum(lengths)])
    return Rows(r.astype(np.int32), columns.astype(np.int32))


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


def near_diagonal(n: int, away: int, seed: int) -> Rows:
    """Rows of `geometric` lengths, columns at most so far away from the diagonal, around the edge.

    >>> matrix = near_diagonal(64, 2, 0)
    >>> i = np.repeat(np.arange(64), np.diff(matrix.r))
    >>> sorted(set(((matrix.c - i + 32) % 64 - 32).tolist()))
    [-2, -1, 0, 1, 2]
    """
    lengths = geometric(n, seed)
    moves = np.random.RandomState(seed + 1).randint(
        -away, away + 1, size=int(lengths.sum()), dtype=np.int64
    )
    return of_lengths(lengths, (np.repeat(np.arange(n), lengths) + moves) % n)


# ------------------------------------------------------------ graphs


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


def laplacian(side: int) -> Rows:
    """The matrix of a square grid's Laplacian: each place and its neighbours, 3 to 5 columns a row.

    >>> matrix = laplacian(3)
    >>> matrix.r.tolist(), matrix.c[:7].tolist()
    ([0, 3, 7, 10, 14, 19, 23, 26, 30, 33], [0, 1, 3, 0, 1, 2, 4])
    """
    i, j = np.divmod(np.arange(side * side), side)
    moves = ((-1, 0), (0, -1), (0, 0), (0, 1), (1, 0))
    rows, columns = (
        np.stack([one + move[at] for move in moves], 1) for at, one in ((0, i), (1, j))
    )
    inside = (rows >= 0) & (rows < side) & (columns >= 0) & (columns < side)
    return of_lengths(inside.sum(axis=1), (rows * side + columns)[inside])


def preferential(n: int, k: int, seed: int) -> Rows:
    """A graph that grows: each vertex is joined to k ends of earlier edges, with equal chances.

    So a vertex with many edges gets more: Barabasi and Albert's model, in the way of Batagelj,
    Brandes, "Efficient Generation of Large Random Networks", Physical Review E 71, 2005. An edge
    may occur twice, or join a vertex with itself. Each edge is in both rows, each row in order.

    >>> graph = preferential(1000, 4, 0)
    >>> lengths = np.diff(graph.r)
    >>> [int(one) for one in (lengths.min(), lengths.mean(), lengths.max())]
    [4, 8, 239]
    """
    edges = np.arange(n * k)
    drawn = np.random.RandomState(seed).randint(2**62, size=n * k, dtype=np.int64)
    # End 2e of edge e is its own vertex; end 2e + 1 is the vertex of an end from 0 to 2e.
    ends = np.arange(2 * n * k)
    ends[1::2] = drawn % (2 * edges + 1)
    while (ends % 2).any():
        ends = ends[ends]
    own, other = edges // k, ends[1::2] // (2 * k)
    rows, columns = np.concatenate([own, other]), np.concatenate([other, own])
    order = np.lexsort((columns, rows))
    return of_lengths(np.bincount(rows, minlength=n), columns[order])


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
