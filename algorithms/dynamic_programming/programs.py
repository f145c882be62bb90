"""Dynamic programming over intervals on the HMM, for the least triangulation of a polygon.

Nakano, "A Time Optimal Parallel Algorithm for the Dynamic Programming on the Hierarchical Memory
Machine", CANDAR 2014. The programs are written from the
bound in the abstract. M[i, j] is at first the weight of the chord from vertex i to j > i of
a convex n-gon, and at last the least weight of chords that triangulate the vertices i .. j:
    M[i, j] += min over i < k < j of M[i, k] + M[k, j].
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import mmsim as mm

INFINITE = 2**40
"""More than any weight."""


@mm.program
def in_global_memory(T: mm.Thread, M: mm.Array) -> None:
    """Diagonal by diagonal, a thread for each word, one block."""
    n = M.shape[0]
    for s in range(2, n):
        for i in range(T.id, n - s, T.count):
            x = INFINITE
            for k in range(i + 1, i + s):
                x = min(x, M[i, k] + M[k, i + s])
            M[i, i + s] = M[i, i + s] + x
        T.barrier()


def fetch(T: mm.Thread, M: mm.Array, tile: mm.Array, I: int, J: int, w: int) -> None:
    """Copy tile (I, J) of M to shared memory, r rows at a time."""
    r = T.block_size // w
    u, j = T.index // w, T.index % w
    for v in range(w // r):
        tile[v * r + u, j] = M[I * w + v * r + u, J * w + j]


@mm.program
def corner(T: mm.Thread, M: mm.Array, w: int) -> None:
    """The w x w tiles on the diagonal, each by the first warp of a block in shared memory.

    Blocks take tiles in turn. A block has r rows of w threads; r divides w.
    """
    x = mm.shared((w, w), dtype=M.dtype)
    r = T.block_size // w
    u, j = T.index // w, T.index % w
    for I in range(T.block, M.shape[0] // w, T.blocks):
        fetch(T, M, x, I, I, w)
        T.barrier()
        for s in range(2, w):
            if u == 0 and j >= s:
                least = INFINITE
                for k in range(1, s):
                    least = min(least, x[j - s, j - s + k] + x[j - s + k, j])
                x[j - s, j] = x[j - s, j] + least
            mm.warp.sync()
        T.barrier()
        for v in range(w // r):
            M[I * w + v * r + u, I * w + j] = x[v * r + u, j]
        T.barrier()


@mm.program
def squares(T: mm.Thread, M: mm.Array, w: int, D: int) -> None:
    """The w x w tiles (I, I + D), D > 0, after all tiles nearer to the diagonal.

    A block takes tiles in turn. A thread has w/r words of a tile in registers. For a tile (I, J) it
    takes the products, in the algebra of min and +, of the tiles (I, K) and (K, J), I < K < J, in
    turn in shared memory. There remain the k in I or in J: for these it goes through the words of
    the tile diagonal by diagonal, from its lower left corner on.
    """
    one = mm.shared((w, w), dtype=M.dtype)
    two = mm.shared((w, w), dtype=M.dtype)
    x = mm.shared((w, w), dtype=M.dtype)
    r = T.block_size // w
    u, j = T.index // w, T.index % w
    least = mm.registers(w * w // T.block_size, dtype=M.dtype)
    weight = mm.registers(w * w // T.block_size, dtype=M.dtype)
    for I in range(T.block, M.shape[0] // w - D, T.blocks):
        J = I + D
        for v in range(w // r):
            least[v] = INFINITE
        for K in range(I + 1, J):
            fetch(T, M, one, I, K, w)
            fetch(T, M, two, K, J, w)
            T.barrier()
            for k in range(w):
                y = two[k, j]
                for v in range(w // r):
                    least[v] = min(least[v], one[v * r + u, k] + y)
            T.barrier()
        fetch(T, M, one, I, I, w)
        fetch(T, M, two, J, J, w)
        for v in range(w // r):
            i = v * r + u
            weight[v] = M[I * w + i, J * w + j]
            if J * w + j - (I * w + i) == 1:
                least[v] = 0
        T.barrier()
        for s in range(2 * w - 1):
            for v in range(w // r):
                i = v * r + u
                if w - 1 - i + j == s:
                    least[v] += weight[v]
                    x[i, j] = least[v]
            T.barrier()
            k = w - 1 - s + j
            for v in range(w // r):
                i = v * r + u
                h = s - (w - 1 - i)
                if i < k < w:
                    least[v] = min(least[v], one[i, k] + x[k, j])
                if 0 <= h < j:
                    least[v] = min(least[v], x[i, h] + two[h, j])
        T.barrier()
        for v in range(w // r):
            M[I * w + v * r + u, J * w + j] = least[v]


def polygon(n: int) -> npt.NDArray[np.int64]:
    """Weights for the chords of a convex n-gon, the same each time; 0 for its sides."""
    weights = np.triu(np.random.default_rng(n).integers(1, 1000, (n, n)), 2)
    weights[0, -1] = 0
    return weights


# What `mmsim run` starts from.


@in_global_memory.example
def global_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A polygon of 2w vertices."""
    return mm.Example(polygon(2 * width), threads=2 * width)


@corner.example
def corner_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """The two tiles on the diagonal for a polygon of 2w vertices, a row of threads for each."""
    return mm.Example(polygon(2 * width), width, threads=2 * width, block_size=width)


@squares.example
def squares_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """The tiles (0, 1) and (1, 2) for a polygon of 3w vertices, a row of threads for each."""
    return mm.Example(polygon(3 * width), width, 1, threads=2 * width, block_size=width)
