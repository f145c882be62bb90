"""Products of square matrices."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import float32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, floats

PRODUCT = r"""
extern "C" __global__ void product_naive(const float* a, const float* b, float* c, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || column >= n) return;
    float sum = 0.0f;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

template <int TILE>
__device__ void tiled(const float* __restrict__ a, const float* __restrict__ b, float* c, int n)
{
    __shared__ float s[TILE][TILE], t[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int column = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
    float sum = 0.0f;
    for (int k = 0; k < n; k += TILE) {
        s[y][x] = a[row * n + k + x];
        t[y][x] = b[(k + y) * n + column];
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += s[y][i] * t[i][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

extern "C" __global__ void product_16(const float* a, const float* b, float* c, int n)
{
    tiled<16>(a, b, c, n);
}

extern "C" __global__ void product_32(const float* a, const float* b, float* c, int n)
{
    tiled<32>(a, b, c, n);
}

extern "C" __global__ void product_registers(
    const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n)
{
    __shared__ float s[64][17], t[16][64];
    int x = threadIdx.x, y = threadIdx.y, id = y * 16 + x;
    int row = blockIdx.y * 64, column = blockIdx.x * 64;
    float sums[4][4] = {};
    for (int k = 0; k < n; k += 16) {
        for (int i = 0; i < 4; i++) {
            int at = id + 256 * i;
            s[at / 16][at % 16] = a[(row + at / 16) * n + k + at % 16];
            t[at / 64][at % 64] = b[(k + at / 64) * n + column + at % 64];
        }
        __syncthreads();
        for (int m = 0; m < 16; m++) {
            float of_a[4], of_b[4];
            for (int i = 0; i < 4; i++) {
                of_a[i] = s[y + 16 * i][m];
                of_b[i] = t[m][x + 16 * i];
            }
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) sums[i][j] += of_a[i] * of_b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            c[(row + y + 16 * i) * n + column + x + 16 * j] = sums[i][j];
}
"""


def product_naive(a: Any, b: Any, c: Any, n: Any) -> None:
    column, row = cuda.grid(2)
    if row >= n or column >= n:
        return
    total = float32(0)
    for k in range(n):
        total += a[row, k] * b[k, column]
    c[row, column] = total


def product_16(a: Any, b: Any, c: Any, n: Any) -> None:
    s = cuda.shared.array((16, 16), float32)
    t = cuda.shared.array((16, 16), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = float32(0)
    for k in range(0, n, 16):
        s[y, x] = a[row, k + x]
        t[y, x] = b[k + y, column]
        cuda.syncthreads()
        for i in range(16):
            total += s[y, i] * t[i, x]
        cuda.syncthreads()
    c[row, column] = total


def product_32(a: Any, b: Any, c: Any, n: Any) -> None:
    s = cuda.shared.array((32, 32), float32)
    t = cuda.shared.array((32, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = float32(0)
    for k in range(0, n, 32):
        s[y, x] = a[row, k + x]
        t[y, x] = b[k + y, column]
        cuda.syncthreads()
        for i in range(32):
            total += s[y, i] * t[i, x]
        cuda.syncthreads()
    c[row, column] = total


def product_registers(a: Any, b: Any, c: Any, n: Any) -> None:
    s = cuda.shared.array((64, 17), float32)
    t = cuda.shared.array((16, 64), float32)
    sums = cuda.local.array((4, 4), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    number = y * 16 + x
    row = cuda.blockIdx.y * 64
    column = cuda.blockIdx.x * 64
    for i in range(4):
        for j in range(4):
            sums[i, j] = 0
    for k in range(0, n, 16):
        for i in range(4):
            at = number + 256 * i
            s[at // 16, at % 16] = a[row + at // 16, k + at % 16]
            t[at // 64, at % 64] = b[k + at // 64, column + at % 64]
        cuda.syncthreads()
        for m in range(16):
            for i in range(4):
                for j in range(4):
                    sums[i, j] += s[y + 16 * i, m] * t[m, x + 16 * j]
        cuda.syncthreads()
    for i in range(4):
        for j in range(4):
            c[row + y + 16 * i, column + x + 16 * j] = sums[i, j]


def data(n: int) -> Data:
    a, b = floats(n * n, 5).reshape(n, n), floats(n * n, 6).reshape(n, n)
    right = a.astype(np.float64) @ b.astype(np.float64)
    return Data((a, b, np.zeros_like(a), np.int32(n)), {2: right}, tolerance=1e-4)


product = partial(Case, "matrix product", PRODUCT, data, 512, 64)
CASES = [
    product("naive", product_naive, lambda n: (n // 32, n // 8), (32, 8)),
    product("tiles of 16", product_16, lambda n: (n // 16, n // 16), (16, 16)),
    product("tiles of 32", product_32, lambda n: (n // 32, n // 32), (32, 32)),
    product("registers", product_registers, lambda n: (n // 64, n // 64), (16, 16)),
]
