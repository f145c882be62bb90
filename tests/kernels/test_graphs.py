"""Shortest paths by Floyd and Warshall, in tiles."""

import numpy as np

import mmsim as mm
from tests.kit.runs.kernel_launches import under_both_schedules

FAR = 10**6
TILE = 4


def step_in_tile(T, c, a, b):
    """c = min(c, a + b) for the tiles of shared memory; c may be a or b."""
    i, j = T.threadIdx.y, T.threadIdx.x
    for k in range(TILE):
        way = a[i, k] + b[k, j]
        if way < c[i, j]:
            c[i, j] = way
        T.barrier()


@mm.program
def diagonal_tile(T, d, k):
    s = mm.shared((TILE, TILE), dtype=int)
    i, j = T.threadIdx.y, T.threadIdx.x
    s[i, j] = d[k * TILE + i, k * TILE + j]
    T.barrier()
    step_in_tile(T, s, s, s)
    d[k * TILE + i, k * TILE + j] = s[i, j]


@mm.program
def cross_tiles(T, d, k):
    """Tiles of row k (blockIdx.y = 0) and of column k (blockIdx.y = 1)."""
    if T.blockIdx.x == k:
        return
    diagonal = mm.shared((TILE, TILE), dtype=int)
    s = mm.shared((TILE, TILE), dtype=int)
    i, j = T.threadIdx.y, T.threadIdx.x
    row, column = k, T.blockIdx.x
    if T.blockIdx.y == 1:
        row, column = column, row
    diagonal[i, j] = d[k * TILE + i, k * TILE + j]
    s[i, j] = d[row * TILE + i, column * TILE + j]
    T.barrier()
    if T.blockIdx.y == 0:
        step_in_tile(T, s, diagonal, s)
    else:
        step_in_tile(T, s, s, diagonal)
    d[row * TILE + i, column * TILE + j] = s[i, j]


@mm.program
def other_tiles(T, d, k):
    if T.blockIdx.x == k or T.blockIdx.y == k:
        return
    left = mm.shared((TILE, TILE), dtype=int)
    above = mm.shared((TILE, TILE), dtype=int)
    i, j = T.threadIdx.y, T.threadIdx.x
    y, x = T.blockIdx.y * TILE + i, T.blockIdx.x * TILE + j
    left[i, j] = d[y, k * TILE + j]
    above[i, j] = d[k * TILE + i, x]
    T.barrier()
    best = d[y, x]
    for m in range(TILE):
        best = min(best, left[i, m] + above[m, j])
    d[y, x] = best


def weights(nodes):
    """Lengths of edges, FAR where there is none."""
    random = np.random.default_rng(13)
    lengths = random.integers(1, 100, (nodes, nodes))
    lengths[random.random((nodes, nodes)) < 0.7] = FAR
    np.fill_diagonal(lengths, 0)
    return lengths


def shortest(d):
    d = d.copy()
    for k in range(len(d)):
        d = np.minimum(d, d[:, k, None] + d[k])
    return d


@under_both_schedules
def test_floyd_warshall_in_tiles(launch):
    d = weights(3 * TILE)
    expected = shortest(d)
    block = (TILE, TILE)
    for k in range(3):
        d = launch(diagonal_tile, d, k, grid=1, block=block).arrays["d"]
        d = launch(cross_tiles, d, k, grid=(3, 2), block=block).arrays["d"]
        d = launch(other_tiles, d, k, grid=(3, 3), block=block).arrays["d"]
    assert (d == expected).all()
