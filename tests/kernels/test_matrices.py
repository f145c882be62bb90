"""Matrix products, sparse matrices, Gauss-Jordan elimination."""

import numpy as np

import mmsim as mm
from tests.kit.runs.kernel_launches import CARD, under_both_schedules

TILE = 8


def numbers(*shape):
    return np.random.default_rng(7).integers(-9, 10, shape)


@mm.program
def tiled_product(T, a, b, c):
    """A tile of a and a tile of b at a time in shared memory; sizes need not be multiples."""
    left = mm.shared((TILE, TILE), dtype=int)
    right = mm.shared((TILE, TILE), dtype=int)
    tx, ty = T.threadIdx.x, T.threadIdx.y
    row = T.blockIdx.y * TILE + ty
    column = T.blockIdx.x * TILE + tx
    rows, inner = a.shape
    columns = b.shape[1]
    x = 0
    for tile in range((inner + TILE - 1) // TILE):
        j, i = tile * TILE + tx, tile * TILE + ty
        left[ty, tx] = a[row, j] if row < rows and j < inner else 0
        right[ty, tx] = b[i, column] if i < inner and column < columns else 0
        T.barrier()
        for k in range(TILE):
            x += left[ty, k] * right[k, tx]
        T.barrier()
    if row < rows and column < columns:
        c[row, column] = x


@mm.program
def csr_vector(T, starts, columns, values, x, y, w):
    """A warp for each row, and a sum over its lanes in shared memory."""
    sums = mm.shared(T.block_size, dtype=int)
    t, lane, row = T.index, T.lane, T.warp
    dot = 0
    if row < len(y):
        for k in range(starts[row] + lane, starts[row + 1], w):
            dot += values[k] * x[columns[k]]
    sums[t] = dot
    half = w // 2
    while half > 0:
        mm.warp.sync()
        if lane < half:
            sums[t] += sums[t + half]
        half //= 2
    if lane == 0 and row < len(y):
        y[row] = sums[t]


@mm.program
def gauss_jordan_with_pivots(T, a, x):
    """One block with a thread for each row of the matrix, whose last column is the right side."""
    n = T.block_size
    pivot = mm.shared(1, dtype=int)
    t = T.index
    for k in range(n):
        if t == 0:
            best = k
            for i in range(k + 1, n):
                if abs(a[i, k]) > abs(a[best, k]):
                    best = i
            pivot[0] = best
        T.barrier()
        p = pivot[0]
        if p != k:
            for j in range(t, n + 1, n):
                a[p, j], a[k, j] = a[k, j], a[p, j]
        T.barrier()
        if t != k:
            factor = a[t, k] / a[k, k]
            for j in range(k, n + 1):
                a[t, j] -= factor * a[k, j]
        T.barrier()
    x[t] = a[t, n] / a[t, t]


@under_both_schedules
def test_products(launch):
    a, b = numbers(13, 11), numbers(11, 18)
    run = launch(tiled_product, a, b, np.zeros((13, 18), int), grid=(3, 2), block=(TILE, TILE))
    assert (run.arrays["c"] == a @ b).all()


def sparse():
    """A matrix with few elements that are not 0, and a row without any."""
    a = numbers(20, 30) * (np.random.default_rng(8).random((20, 30)) < 0.2)
    a[3] = 0
    return a


def in_csr(a):
    rows, columns = a.nonzero()
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(a)))])
    return starts, columns, a[rows, columns]


@under_both_schedules
def test_csr(launch):
    a, x = sparse(), numbers(30)
    zeros = np.zeros(20, int)
    w = CARD.width
    run = launch(csr_vector, *in_csr(a), x, zeros, w, threads=24 * w, block_size=4 * w)
    assert (run.arrays["y"] == a @ x).all()


@under_both_schedules
def test_gauss_jordan(launch):
    n = 12
    a = np.random.default_rng(11).random((n, n))
    run = launch(gauss_jordan_with_pivots, np.column_stack([a, a.sum(1)]), np.zeros(n), threads=n)
    assert np.allclose(run.arrays["x"], 1)
