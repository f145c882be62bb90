"""Moves: copies by strides, and transposes in place."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import float32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, floats

STRIDES = r"""
extern "C" __global__ void strides(const float* a, float* b, int stride, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[i * stride & n - 1];
}
"""


def strides(a: Any, b: Any, stride: Any, n: Any) -> None:
    i = cuda.grid(1)
    b[i] = a[i * stride & n - 1]


INPLACE = r"""
extern "C" __global__ void inplace_pairs(float* a, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x <= y) return;
    float one = a[y * n + x];
    a[y * n + x] = a[x * n + y];
    a[x * n + y] = one;
}

extern "C" __global__ void inplace_tiles(float* a, int n)
{
    __shared__ float s[32][33], t[32][33];
    int x = threadIdx.x, left = blockIdx.x * 32, top = blockIdx.y * 32;
    if (left < top) return;
    for (int y = threadIdx.y; y < 32; y += 4) {
        s[y][x] = a[(top + y) * n + left + x];
        t[y][x] = a[(left + y) * n + top + x];
    }
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 4) {
        a[(top + y) * n + left + x] = t[x][y];
        a[(left + y) * n + top + x] = s[x][y];
    }
}
"""


def inplace_pairs(a: Any, n: Any) -> None:
    x, y = cuda.grid(2)
    if x <= y:
        return
    one = a[y, x]
    a[y, x] = a[x, y]
    a[x, y] = one


def inplace_tiles(a: Any, n: Any) -> None:
    s = cuda.shared.array((32, 33), float32)
    t = cuda.shared.array((32, 33), float32)
    x = cuda.threadIdx.x
    left, top = cuda.blockIdx.x * 32, cuda.blockIdx.y * 32
    if left < top:
        return
    for y in range(cuda.threadIdx.y, 32, 4):
        s[y, x] = a[top + y, left + x]
        t[y, x] = a[left + y, top + x]
    cuda.syncthreads()
    for y in range(cuda.threadIdx.y, 32, 4):
        a[top + y, left + x] = t[x, y]
        a[left + y, top + x] = s[x, y]


def spread(n: int, stride: int) -> Data:
    a = floats(n, 215)
    right = a[np.arange(n) * stride % n]
    return Data((a, np.zeros_like(a), np.int32(stride), np.int32(n)), {1: right})


def square(n: int) -> Data:
    a = floats(n * n, 216).reshape(n, n)
    return Data((a, np.int32(n)), {0: a.T.copy()})


def stride(by: int) -> Case:
    data = partial(spread, stride=by)
    large, small = 1 << 22, 1 << 11
    return Case("copy by strides", STRIDES, data, large, small, f"stride {by}", strides,
                lambda n: n // 128, 128)  # fmt: skip


inplace = partial(Case, "transpose in place", INPLACE, square, 2048, 64)
CASES = [
    *map(stride, (2, 9, 32)),
    inplace("thread a pair", inplace_pairs, lambda n: (n // 32, n // 8), (32, 8)),
    inplace("two tiles a block", inplace_tiles, lambda n: (n // 32, n // 32), (32, 4)),
]
