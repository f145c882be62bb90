"""Small products of matrices, a matrix by many vectors, and outer products."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import float32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, floats

SMALL = r"""
extern "C" __global__ void small_products(const float* a, const float* b, float* c)
{
    int p = (blockIdx.x * blockDim.x + threadIdx.x) * 16;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            float sum = 0.0f;
            for (int k = 0; k < 4; k++) sum += a[p + i * 4 + k] * b[p + k * 4 + j];
            c[p + i * 4 + j] = sum;
        }
}

extern "C" __global__ void small_elements(const float* a, const float* b, float* c)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    int p = e / 16 * 16, i = e / 4 % 4, j = e % 4;
    float sum = 0.0f;
    for (int k = 0; k < 4; k++) sum += a[p + i * 4 + k] * b[p + k * 4 + j];
    c[e] = sum;
}
"""


def small_products(a: Any, b: Any, c: Any) -> None:
    p = cuda.grid(1)
    for i in range(4):
        for j in range(4):
            total = float32(0)
            for k in range(4):
                total += a[p, i, k] * b[p, k, j]
            c[p, i, j] = total


def small_elements(a: Any, b: Any, c: Any) -> None:
    e = cuda.grid(1)
    p, i, j = e // 16, e // 4 % 4, e % 4
    total = float32(0)
    for k in range(4):
        total += a[p, i, k] * b[p, k, j]
    c[p, i, j] = total


VECTORS = r"""
extern "C" __global__ void vectors_thread(const float* a, const float* x, float* y, int m)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sums[8];
    for (int j = 0; j < 8; j++) sums[j] = 0.0f;
    for (int k = 0; k < m; k++) {
        float value = a[row * m + k];
        for (int j = 0; j < 8; j++) sums[j] += value * x[k * 8 + j];
    }
    for (int j = 0; j < 8; j++) y[row * 8 + j] = sums[j];
}

extern "C" __global__ void vectors_warp(
    const float* __restrict__ a, const float* __restrict__ x, float* y, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / 32, lane = i % 32;
    float sums[8];
    for (int j = 0; j < 8; j++) sums[j] = 0.0f;
    for (int k = lane; k < m; k += 32) {
        float value = a[row * m + k];
        for (int j = 0; j < 8; j++) sums[j] += value * x[k * 8 + j];
    }
    for (int j = 0; j < 8; j++) {
        float sum = sums[j];
        for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, d);
        if (lane == 0) y[row * 8 + j] = sum;
    }
}
"""


def vectors_thread(a: Any, x: Any, y: Any, m: Any) -> None:
    row = cuda.grid(1)
    sums = cuda.local.array(8, float32)
    for j in range(8):
        sums[j] = 0
    for k in range(m):
        value = a[row, k]
        for j in range(8):
            sums[j] += value * x[k, j]
    for j in range(8):
        y[row, j] = sums[j]


def vectors_warp(a: Any, x: Any, y: Any, m: Any) -> None:
    i = cuda.grid(1)
    row, lane = i // 32, i % 32
    sums = cuda.local.array(8, float32)
    for j in range(8):
        sums[j] = 0
    for k in range(lane, m, 32):
        value = a[row, k]
        for j in range(8):
            sums[j] += value * x[k, j]
    for j in range(8):
        total = sums[j]
        d = 16
        while d > 0:
            total += cuda.shfl_xor_sync(0xFFFFFFFF, total, d)
            d >>= 1
        if lane == 0:
            y[row, j] = total


OUTER = r"""
extern "C" __global__ void outer_elements(float* a, const float* x, const float* y, int n)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    a[i * n + j] += x[i] * y[j];
}

extern "C" __global__ void outer_columns(
    float* a, const float* x, const float* y, int rows, int n)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * rows;
    float own = y[j];
    for (int i = first; i < first + rows; i++) a[i * n + j] += x[i] * own;
}
"""


def outer_elements(a: Any, x: Any, y: Any, n: Any) -> None:
    j, i = cuda.grid(2)
    a[i, j] += x[i] * y[j]


def outer_columns(a: Any, x: Any, y: Any, rows: Any, n: Any) -> None:
    j = cuda.grid(1)
    first = cuda.blockIdx.y * rows
    own = y[j]
    for i in range(first, first + rows):
        a[i, j] += x[i] * own


def pairs(n: int) -> Data:
    a, b = floats(32 * n, 311).reshape(2, n, 4, 4)
    right = a.astype(np.float64) @ b
    return Data((a, b, np.zeros_like(a)), {2: right}, tolerance=1e-5)


def several(n: int) -> Data:
    """A matrix with 8 times as many rows as columns, and 8 vectors side by side."""
    m = n // 8
    a, x = floats(n * m, 312).reshape(n, m), floats(m * 8, 313).reshape(m, 8)
    right = a.astype(np.float64) @ x
    return Data((a, x, np.zeros((n, 8), np.float32), np.int32(m)), {2: right}, tolerance=1e-4)


def update(n: int, parts: int) -> Data:
    """A matrix and two vectors; with parts, a thread has a part of a column."""
    a, x, y = floats(n * n, 314).reshape(n, n), floats(n, 315), floats(n, 316)
    right = a + np.outer(x.astype(np.float64), y)
    rows = (np.int32(n // parts),) if parts else ()
    return Data((a, x, y, *rows, np.int32(n)), {0: right}, tolerance=1e-5)


products = partial(Case, "small products", SMALL, pairs, 1 << 17, 1 << 8)
vectors = partial(Case, "matrix by many vectors", VECTORS, several, 4096, 128)
outer = partial(Case, "outer products", OUTER)
CASES = [
    products("thread a product", small_products, lambda n: n // 128, 128),
    products("thread an element", small_elements, lambda n: n // 16, 256),
    vectors("thread a row", vectors_thread, lambda n: n // 64, 64),
    vectors("warp a row", vectors_warp, lambda n: n // 8, 256),
    outer(partial(update, parts=0), 2048, 64, "thread an element", outer_elements,
          lambda n: (n // 32, n // 8), (32, 8)),
    outer(partial(update, parts=1), 2048, 64, "thread a column", outer_columns,
          lambda n: n // 64, 64),
    outer(partial(update, parts=16), 2048, 64, "thread a 16th of a column", outer_columns,
          lambda n: (n // 64, 16), 64),
]  # fmt: skip
