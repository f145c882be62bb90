"""Products of a matrix and another one that is turned."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import float32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, floats

TURNED = r"""
extern "C" __global__ void turned_naive(const float* a, const float* b, float* c, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int k = 0; k < n; k++) sum += a[y * n + k] * b[x * n + k];
    c[y * n + x] = sum;
}

extern "C" __global__ void turned_tiles(const float* a, const float* b, float* c, int n)
{
    __shared__ float s[16][17], t[16][17];
    int x = threadIdx.x, y = threadIdx.y, left = blockIdx.x * 16, top = blockIdx.y * 16;
    float sum = 0.0f;
    for (int k = 0; k < n; k += 16) {
        s[y][x] = a[(top + y) * n + k + x];
        t[y][x] = b[(left + y) * n + k + x];
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += s[y][i] * t[x][i];
        __syncthreads();
    }
    c[(top + y) * n + left + x] = sum;
}

extern "C" __global__ void turned_four(
    const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n)
{
    __shared__ float s[32][17], t[32][17];
    int x = threadIdx.x, y = threadIdx.y, left = blockIdx.x * 32, top = blockIdx.y * 32;
    float p = 0.0f, q = 0.0f, r = 0.0f, u = 0.0f;
    for (int k = 0; k < n; k += 16) {
        for (int i = y; i < 32; i += 16) {
            s[i][x] = a[(top + i) * n + k + x];
            t[i][x] = b[(left + i) * n + k + x];
        }
        __syncthreads();
        for (int i = 0; i < 16; i++) {
            float d = s[y][i], e = s[y + 16][i], f = t[x][i], g = t[x + 16][i];
            p += d * f;
            q += d * g;
            r += e * f;
            u += e * g;
        }
        __syncthreads();
    }
    float* to = c + (top + y) * n + left + x;
    to[0] = p;
    to[16] = q;
    to[16 * n] = r;
    to[16 * n + 16] = u;
}
"""


def turned_naive(a: Any, b: Any, c: Any, n: Any) -> None:
    x, y = cuda.grid(2)
    total = float32(0)
    for k in range(n):
        total += a[y, k] * b[x, k]
    c[y, x] = total


def turned_tiles(a: Any, b: Any, c: Any, n: Any) -> None:
    s = cuda.shared.array((16, 17), float32)
    t = cuda.shared.array((16, 17), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * 16, cuda.blockIdx.y * 16
    total = float32(0)
    for k in range(0, n, 16):
        s[y, x] = a[top + y, k + x]
        t[y, x] = b[left + y, k + x]
        cuda.syncthreads()
        for i in range(16):
            total += s[y, i] * t[x, i]
        cuda.syncthreads()
    c[top + y, left + x] = total


def turned_four(a: Any, b: Any, c: Any, n: Any) -> None:
    s = cuda.shared.array((32, 17), float32)
    t = cuda.shared.array((32, 17), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * 32, cuda.blockIdx.y * 32
    p, q, r, u = float32(0), float32(0), float32(0), float32(0)
    for k in range(0, n, 16):
        for i in range(y, 32, 16):
            s[i, x] = a[top + i, k + x]
            t[i, x] = b[left + i, k + x]
        cuda.syncthreads()
        for i in range(16):
            d, e, f, g = s[y, i], s[y + 16, i], t[x, i], t[x + 16, i]
            p += d * f
            q += d * g
            r += e * f
            u += e * g
        cuda.syncthreads()
    c[top + y, left + x] = p
    c[top + y, left + x + 16] = q
    c[top + y + 16, left + x] = r
    c[top + y + 16, left + x + 16] = u


def pair(rows: int) -> Data:
    """A matrix twice as high as wide, and a square one."""
    n = rows // 2
    a, b = floats(rows * n, 207).reshape(rows, n), floats(n * n, 208).reshape(n, n)
    right = a.astype(np.float64) @ b.T
    return Data((a, b, np.zeros_like(a), np.int32(n)), {2: right}, tolerance=1e-5)


turned = partial(Case, "product with a turned matrix", TURNED, pair, 512, 64)
CASES = [
    turned("thread an element", turned_naive, lambda n: (n // 32, n // 16), (16, 16)),
    turned("padded tiles of 16", turned_tiles, lambda n: (n // 32, n // 16), (16, 16)),
    turned("2 by 2 a thread", turned_four, lambda n: (n // 64, n // 32), (16, 16)),
]
