"""Matrix products, matrix and vector, sparse matrices, transposes, Gaussian elimination."""

import numpy as np
import pytest

import mmsim as mm
from tests.kit.runs.kernel_launches import CARD, under_both_schedules

TILE = 8


def numbers(*shape):
    return np.random.default_rng(7).integers(-9, 10, shape)


@mm.program
def naive_product(T, a, b, c):
    column = T.blockIdx.x * T.blockDim.x + T.threadIdx.x
    row = T.blockIdx.y * T.blockDim.y + T.threadIdx.y
    if row < c.shape[0] and column < c.shape[1]:
        x = 0
        for k in range(a.shape[1]):
            x += a[row, k] * b[k, column]
        c[row, column] = x


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


BM, BN, BK = 16, 16, 4
TM, TN = 4, 2


@mm.program
def register_blocked_product(T, a, b, c):
    """A block makes BM x BN elements of c in steps of BK, a thread TM x TN of them in registers."""
    left = mm.shared((BK, BM), dtype=int)
    right = mm.shared((BK, BN), dtype=int)
    sums = mm.registers((TM, TN), dtype=int)
    of_a = mm.registers(TM, dtype=int)
    of_b = mm.registers(TN, dtype=int)
    t = T.threadIdx.x
    row, column = t // (BN // TN), t % (BN // TN)
    first_row, first_column = T.blockIdx.y * BM, T.blockIdx.x * BN
    for k in range(0, a.shape[1], BK):
        for i in range(t, BM * BK, T.blockDim.x):
            left[i % BK, i // BK] = a[first_row + i // BK, k + i % BK]
        for i in range(t, BK * BN, T.blockDim.x):
            right[i // BN, i % BN] = b[k + i // BN, first_column + i % BN]
        T.barrier()
        for kk in range(BK):
            for i in range(TM):
                of_a[i] = left[kk, row * TM + i]
            for j in range(TN):
                of_b[j] = right[kk, column * TN + j]
            for i in range(TM):
                for j in range(TN):
                    sums[i, j] += of_a[i] * of_b[j]
        T.barrier()
    for i in range(TM):
        for j in range(TN):
            c[first_row + row * TM + i, first_column + column * TN + j] = sums[i, j]


@mm.program
def matrix_vector(T, a, x, y):
    """A thread for each row; the vector goes through shared memory piece by piece."""
    piece = mm.shared(T.block_size, dtype=int)
    row = T.id
    result = 0
    for first in range(0, len(x), T.block_size):
        if first + T.index < len(x):
            piece[T.index] = x[first + T.index]
        T.barrier()
        if row < len(y):
            for j in range(min(T.block_size, len(x) - first)):
                result += a[row, first + j] * piece[j]
        T.barrier()
    if row < len(y):
        y[row] = result


@mm.program
def matrix_vector_by_warps(T, a, x, y, w):
    """A warp for each row, whose lanes go along it together."""
    row, lane = T.warp, T.lane
    partial = 0
    for j in range(lane, len(x), w):
        partial += a[row, j] * x[j]
    offset = w // 2
    while offset > 0:
        partial += mm.warp.shuffle_down(partial, offset)
        offset //= 2
    if lane == 0:
        y[row] = partial


@mm.program
def csr_scalar(T, starts, columns, values, x, y):
    row = T.id
    if row < len(y):
        dot = 0
        for k in range(starts[row], starts[row + 1]):
            dot += values[k] * x[columns[k]]
        y[row] = dot


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
def ell(T, columns, values, x, y):
    """Rows of equal length, stored by columns; -1 fills what a row lacks."""
    row = T.id
    if row < len(y):
        dot = 0
        for k in range(columns.shape[0]):
            column = columns[k, row]
            if column >= 0:
                dot += values[k, row] * x[column]
        y[row] = dot


@mm.program
def transpose(T, a, b):
    """Through a tile with one more column, in blocks of TILE x 2 threads."""
    tile = mm.shared((TILE, TILE + 1), dtype=int)
    x = T.blockIdx.x * TILE + T.threadIdx.x
    y = T.blockIdx.y * TILE + T.threadIdx.y
    for j in range(0, TILE, T.blockDim.y):
        tile[T.threadIdx.y + j, T.threadIdx.x] = a[y + j, x]
    T.barrier()
    x = T.blockIdx.y * TILE + T.threadIdx.x
    y = T.blockIdx.x * TILE + T.threadIdx.y
    for j in range(0, TILE, T.blockDim.y):
        b[y + j, x] = tile[T.threadIdx.x, T.threadIdx.y + j]


@mm.program
def factors(T, a, m, k):
    """What row k is multiplied by before it is taken from a row below."""
    i = T.id + k + 1
    if i < a.shape[0]:
        m[i] = a[i, k] / a[k, k]


@mm.program
def eliminate(T, a, b, m, k):
    j = T.blockIdx.x * T.blockDim.x + T.threadIdx.x + k
    i = T.blockIdx.y * T.blockDim.y + T.threadIdx.y + k + 1
    n = a.shape[0]
    if i < n and j < n:
        a[i, j] -= m[i] * a[k, j]
        if j == k:
            b[i] -= m[i] * b[k]


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
@pytest.mark.parametrize("kernel", [naive_product, tiled_product], ids=lambda kernel: kernel.name)
def test_products(launch, kernel):
    a, b = numbers(13, 11), numbers(11, 18)
    run = launch(kernel, a, b, np.zeros((13, 18), int), grid=(3, 2), block=(TILE, TILE))
    assert (run.arrays["c"] == a @ b).all()


@under_both_schedules
def test_product_in_registers(launch):
    a, b = numbers(2 * BM, 3 * BK), numbers(3 * BK, 2 * BN)
    threads = BM // TM * (BN // TN)
    run = launch(
        register_blocked_product, a, b, np.zeros((2 * BM, 2 * BN), int), grid=(2, 2), block=threads
    )
    assert (run.arrays["c"] == a @ b).all()


@under_both_schedules
def test_matrix_and_vector(launch):
    a, x = numbers(21, 27), numbers(27)
    run = launch(matrix_vector, a, x, np.zeros(21, int), threads=32, block_size=16)
    assert (run.arrays["y"] == a @ x).all()


@under_both_schedules
def test_matrix_and_vector_by_warps(launch):
    a, x = numbers(12, 21), numbers(21)
    w = CARD.width
    run = launch(
        matrix_vector_by_warps, a, x, np.zeros(12, int), w, threads=12 * w, block_size=4 * w
    )
    assert (run.arrays["y"] == a @ x).all()


def sparse():
    """A matrix with few elements that are not 0, and a row without any."""
    a = numbers(20, 30) * (np.random.default_rng(8).random((20, 30)) < 0.2)
    a[3] = 0
    return a


def in_csr(a):
    rows, columns = a.nonzero()
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(a)))])
    return starts, columns, a[rows, columns]


def in_ell(a):
    longest = (a != 0).sum(1).max()
    columns, values = np.full((longest, len(a)), -1), np.zeros((longest, len(a)), int)
    for i, row in enumerate(a):
        (found,) = row.nonzero()
        columns[: len(found), i], values[: len(found), i] = found, row[found]
    return columns, values


@under_both_schedules
def test_csr(launch):
    a, x = sparse(), numbers(30)
    zeros = np.zeros(20, int)
    run = launch(csr_scalar, *in_csr(a), x, zeros, threads=32, block_size=16)
    assert (run.arrays["y"] == a @ x).all()
    w = CARD.width
    run = launch(csr_vector, *in_csr(a), x, zeros, w, threads=24 * w, block_size=4 * w)
    assert (run.arrays["y"] == a @ x).all()


@under_both_schedules
def test_ell(launch):
    a, x = sparse(), numbers(30)
    run = launch(ell, *in_ell(a), x, np.zeros(20, int), threads=32, block_size=16)
    assert (run.arrays["y"] == a @ x).all()


@under_both_schedules
def test_transpose(launch):
    a = numbers(16, 24)
    run = launch(transpose, a, np.zeros((24, 16), int), grid=(3, 2), block=(TILE, 2))
    assert (run.arrays["b"] == a.T).all()
    assert {row.access_class for row in run.accesses} == {"coalesced", "conflict-free"}


@under_both_schedules
def test_gaussian_elimination(launch):
    """The host goes through the columns, and puts the solution in from below."""
    n = 10
    matrix = np.random.default_rng(9).random((n, n)) + n * np.eye(n)
    a, b = matrix, matrix.sum(1)
    left, right = a.copy(), b.copy()
    for k in range(n - 1):
        m = launch(factors, a, np.zeros(n), k, threads=16, block_size=8).arrays["m"]
        run = launch(eliminate, a, b, m, k, grid=(2, 2), block=(8, 8))
        a, b = run.arrays["a"], run.arrays["b"]
        for i in range(k + 1, n):
            factor = left[i, k] / left[k, k]
            left[i, k:] -= factor * left[k, k:]
            right[i] -= factor * right[k]
        assert (a == left).all()
        assert (b == right).all()
    x = np.zeros(n)
    for i in reversed(range(n)):
        x[i] = (b[i] - a[i] @ x) / a[i, i]
    assert np.allclose(x, 1)


@under_both_schedules
def test_gauss_jordan(launch):
    n = 12
    a = np.random.default_rng(11).random((n, n))
    run = launch(gauss_jordan_with_pivots, np.column_stack([a, a.sum(1)]), np.zeros(n), threads=n)
    assert np.allclose(run.arrays["x"], 1)
