"""Transposes of square matrices."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import float32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, floats

TRANSPOSE = r"""
extern "C" __global__ void transpose_reads(const float* a, float* b, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    b[x * n + y] = a[y * n + x];
}

extern "C" __global__ void transpose_writes(const float* a, float* b, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    b[y * n + x] = a[x * n + y];
}

extern "C" __global__ void transpose_tile(const float* a, float* b, int n)
{
    __shared__ float s[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32;
    for (int i = threadIdx.y; i < 32; i += 8) s[i][threadIdx.x] = a[(y + i) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32;
    for (int i = threadIdx.y; i < 32; i += 8) b[(y + i) * n + x] = s[threadIdx.x][i];
}

extern "C" __global__ void transpose_padded(const float* a, float* b, int n)
{
    __shared__ float s[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32;
    for (int i = threadIdx.y; i < 32; i += 8) s[i][threadIdx.x] = a[(y + i) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32;
    for (int i = threadIdx.y; i < 32; i += 8) b[(y + i) * n + x] = s[threadIdx.x][i];
}
"""


def transpose_reads(a: Any, b: Any, n: Any) -> None:
    x, y = cuda.grid(2)
    b[x, y] = a[y, x]


def transpose_writes(a: Any, b: Any, n: Any) -> None:
    x, y = cuda.grid(2)
    b[y, x] = a[x, y]


def transpose_tile(a: Any, b: Any, n: Any) -> None:
    s = cuda.shared.array((32, 32), float32)
    t = cuda.threadIdx.x
    x, y = cuda.blockIdx.x * 32, cuda.blockIdx.y * 32
    for i in range(cuda.threadIdx.y, 32, 8):
        s[i, t] = a[y + i, x + t]
    cuda.syncthreads()
    for i in range(cuda.threadIdx.y, 32, 8):
        b[x + i, y + t] = s[t, i]


def transpose_padded(a: Any, b: Any, n: Any) -> None:
    s = cuda.shared.array((32, 33), float32)
    t = cuda.threadIdx.x
    x, y = cuda.blockIdx.x * 32, cuda.blockIdx.y * 32
    for i in range(cuda.threadIdx.y, 32, 8):
        s[i, t] = a[y + i, x + t]
    cuda.syncthreads()
    for i in range(cuda.threadIdx.y, 32, 8):
        b[x + i, y + t] = s[t, i]


def data(n: int) -> Data:
    a = floats(n * n, 7).reshape(n, n)
    return Data((a, np.zeros_like(a), np.int32(n)), {1: a.T})


transpose = partial(Case, "transpose", TRANSPOSE, data, 2048, 64)
CASES = [
    transpose("rows read", transpose_reads, lambda n: (n // 32, n // 8), (32, 8)),
    transpose("rows written", transpose_writes, lambda n: (n // 32, n // 8), (32, 8)),
    transpose("shared tile", transpose_tile, lambda n: (n // 32, n // 32), (32, 8)),
    transpose("padded tile", transpose_padded, lambda n: (n // 32, n // 32), (32, 8)),
]
