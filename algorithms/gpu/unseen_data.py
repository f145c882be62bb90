"""The data of the kernels in `mmsim_algorithms.gpu.unseen_cases`.

As in `mmsim_algorithms.gpu.kernel_data`, NumPy's `RandomState` draws all integers.
"""

from __future__ import annotations

import numpy as np

from mmsim_algorithms.gpu.kernel_data import Integers, Rows


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


def of_lengths(lengths: Integers, columns: Integers) -> Rows:
    """Rows of these lengths."""
    r = np.concatenate([[0], np.cumsum(lengths)])
    return Rows(r.astype(np.int32), columns.astype(np.int32))


def geometric(n: int, seed: int) -> Integers:
    """n numbers from 1 on, each with 7/8 of the chances of the one before: 8 on average.

    >>> lengths = geometric(4000, 0)
    >>> np.bincount(lengths)[:4].tolist(), round(float(lengths.mean()), 1)
    ([0, 554, 419, 383], 8.0)
    """
    bounds = [2**32]
    while bounds[-1]:
        bounds.append(bounds[-1] * 7 // 8)
    drawn = np.random.RandomState(seed).randint(2**32, size=n, dtype=np.int64)
    return len(bounds) - np.searchsorted(bounds[::-1], drawn, side="right")


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


def bell(bins: int, count: int, seed: int) -> Integers:
    """`count` numbers of 0 .. bins-1, nearly normal around the middle: sums of four draws.

    >>> drawn = bell(256, 10000, 0)
    >>> [round(float(one)) for one in (drawn.min(), drawn.mean(), drawn.max(), drawn.std())]
    [12, 127, 239, 37]
    """
    draw = np.random.RandomState(seed)
    total = np.zeros(count, np.int64)
    for _ in range(4):
        total += draw.randint(bins // 4, size=count, dtype=np.int64)
    return total


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


def cycle(n: int, seed: int) -> Integers:
    """Links that lead through all of 0 .. n-1 in an order drawn at random, and back.

    >>> links = cycle(8, 0)
    >>> sorted(links.tolist()) == list(range(8)), links.tolist()
    (True, [5, 7, 1, 0, 6, 4, 2, 3])
    """
    order = np.random.RandomState(seed).permutation(n)
    links = np.empty_like(order)
    links[order] = np.roll(order, -1)
    return links
