"""Dense matrices: products in double, products by vectors, steps of shortest paths, sums."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import float32, float64

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, floats, random

DOUBLE = r"""
extern "C" __global__ void double_tiles(const double* a, const double* b, double* c, int n)
{
    __shared__ double s[8][8], t[8][8];
    int x = threadIdx.x, y = threadIdx.y;
    int column = blockIdx.x * 8 + x, row = blockIdx.y * 8 + y;
    double sum = 0.0;
    for (int k = 0; k < n; k += 8) {
        s[y][x] = a[row * n + k + x];
        t[y][x] = b[(k + y) * n + column];
        __syncthreads();
        for (int i = 0; i < 8; i++) sum += s[y][i] * t[i][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

extern "C" __global__ void double_four(
    const double* __restrict__ a, const double* __restrict__ b, double* c, int n)
{
    int column = blockIdx.x * 32 + threadIdx.x, row = (blockIdx.y * 4 + threadIdx.y) * 4;
    double p = 0.0, q = 0.0, r = 0.0, s = 0.0;
    for (int k = 0; k < n; k++) {
        double x = b[k * n + column];
        p += a[row * n + k] * x;
        q += a[(row + 1) * n + k] * x;
        r += a[(row + 2) * n + k] * x;
        s += a[(row + 3) * n + k] * x;
    }
    c[row * n + column] = p;
    c[(row + 1) * n + column] = q;
    c[(row + 2) * n + column] = r;
    c[(row + 3) * n + column] = s;
}
"""


def double_tiles(a: Any, b: Any, c: Any, n: Any) -> None:
    s = cuda.shared.array((8, 8), float64)
    t = cuda.shared.array((8, 8), float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = 0.0
    for k in range(0, n, 8):
        s[y, x] = a[row, k + x]
        t[y, x] = b[k + y, column]
        cuda.syncthreads()
        for i in range(8):
            total += s[y, i] * t[i, x]
        cuda.syncthreads()
    c[row, column] = total


def double_four(a: Any, b: Any, c: Any, n: Any) -> None:
    column = cuda.blockIdx.x * 32 + cuda.threadIdx.x
    row = (cuda.blockIdx.y * 4 + cuda.threadIdx.y) * 4
    p, q, r, s = 0.0, 0.0, 0.0, 0.0
    for k in range(n):
        x = b[k, column]
        p += a[row, k] * x
        q += a[row + 1, k] * x
        r += a[row + 2, k] * x
        s += a[row + 3, k] * x
    c[row, column] = p
    c[row + 1, column] = q
    c[row + 2, column] = r
    c[row + 3, column] = s


VECTOR = r"""
extern "C" __global__ void vector_thread(const float* a, const float* x, float* y, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * x[k];
    y[row] = sum;
}

extern "C" __global__ void vector_warp(const float* a, const float* x, float* y, int n)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int k = threadIdx.x; k < n; k += 32) sum += a[row * n + k] * x[k];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (threadIdx.x == 0) y[row] = sum;
}
"""


def vector_thread(a: Any, x: Any, y: Any, n: Any) -> None:
    row = cuda.grid(1)
    total = float32(0)
    for k in range(n):
        total += a[row, k] * x[k]
    y[row] = total


def vector_warp(a: Any, x: Any, y: Any, n: Any) -> None:
    row = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    total = float32(0)
    for k in range(cuda.threadIdx.x, n, 32):
        total += a[row, k] * x[k]
    d = 16
    while d > 0:
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, d)
        d //= 2
    if cuda.threadIdx.x == 0:
        y[row] = total


PATHS = r"""
extern "C" __global__ void paths_cell(int* d, int k, int n)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    int through = d[i * n + k] + d[k * n + j];
    if (through < d[i * n + j]) d[i * n + j] = through;
}

extern "C" __global__ void paths_rows(int* d, int k, int n)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int rest = d[k * n + j];
    for (int i = blockIdx.y; i < n; i += gridDim.y)
        d[i * n + j] = min(d[i * n + j], d[i * n + k] + rest);
}
"""


def paths_cell(d: Any, k: Any, n: Any) -> None:
    j, i = cuda.grid(2)
    through = d[i, k] + d[k, j]
    if through < d[i, j]:
        d[i, j] = through


def paths_rows(d: Any, k: Any, n: Any) -> None:
    j = cuda.grid(1)
    rest = d[k, j]
    for i in range(cuda.blockIdx.y, n, cuda.gridDim.y):
        d[i, j] = min(d[i, j], d[i, k] + rest)


ADD = r"""
extern "C" __global__ void add(const float* a, const float* b, float* c, int rows, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < rows) c[y * n + x] = a[y * n + x] + b[y * n + x];
}
"""


def add(a: Any, b: Any, c: Any, rows: Any, n: Any) -> None:
    x, y = cuda.grid(2)
    if x < n and y < rows:
        c[y, x] = a[y, x] + b[y, x]


def squares(n: int) -> Data:
    a, b = random(104).random((2, n, n))
    return Data((a, b, np.zeros_like(a), np.int32(n)), {2: a @ b}, tolerance=1e-9)


def with_vector(rows: int) -> Data:
    a, x = floats(rows * 1024, 105).reshape(rows, 1024), floats(1024, 106)
    right = a.astype(np.float64) @ x
    return Data((a, x, np.zeros(rows, np.float32), np.int32(1024)), {2: right}, tolerance=1e-5)


def distances(n: int) -> Data:
    d, k = random(108).integers(1, 1000, (n, n), np.int32), n // 3
    np.fill_diagonal(d, 0)
    right = np.minimum(d, d[:, k, None] + d[k])
    return Data((d, np.int32(k), np.int32(n)), {0: right})


def to_add(rows: int) -> Data:
    a, b = floats(2 * rows * 1000, 109).reshape(2, rows, 1000)
    return Data((a, b, np.zeros_like(a), np.int32(rows), np.int32(1000)), {2: a + b}, 1e-6)


product = partial(Case, "matrix product in double", DOUBLE, squares, 256, 32)
vector = partial(Case, "matrix by vector", VECTOR, with_vector, 4096, 64)
paths = partial(Case, "step of shortest paths", PATHS, distances, 1536, 64)
addition = partial(Case, "matrix sum", ADD, to_add, 1000, 30)
CASES = [
    product("tiles of 8", double_tiles, lambda n: (n // 8, n // 8), (8, 8)),
    product("four rows a thread", double_four, lambda n: (n // 32, n // 16), (32, 4)),
    vector("thread a row", vector_thread, lambda rows: rows // 64, 64),
    vector("warp a row", vector_warp, lambda rows: rows // 4, (32, 4)),
    paths("blocks of 16 by 16", paths_cell, lambda n: (n // 16, n // 16), (16, 16)),
    paths("blocks of 64 by 1", paths_cell, lambda n: (n // 64, n), (64, 1)),
    paths("rows by a thread", paths_rows, lambda n: (n // 64, n // 8), 64),
    addition("128 by 1", add, lambda rows: (8, rows), (128, 1)),
    addition("32 by 4", add, lambda rows: (32, -(-rows // 4)), (32, 4)),
    addition("4 by 32", add, lambda rows: (250, -(-rows // 32)), (4, 32)),
    addition("1 by 128", add, lambda rows: (1000, -(-rows // 128)), (1, 128)),
]
