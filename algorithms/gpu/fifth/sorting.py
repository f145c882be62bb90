"""Rows of 32 floats, sorted."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import float32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, floats

ROWS = r"""
extern "C" __global__ void rows_bitonic(const float* a, float* b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    float x = a[i];
    for (int k = 2; k <= 32; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            float y = __shfl_xor_sync(0xffffffff, x, j);
            bool low = (lane & j) == 0, up = (lane & k) == 0;
            x = low == up ? fminf(x, y) : fmaxf(x, y);
        }
    b[i] = x;
}

extern "C" __global__ void rows_swaps(const float* a, float* b)
{
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t, lane = t % 32;
    s[t] = a[i];
    __syncthreads();
    for (int step = 0; step < 32; step++) {
        if (lane % 2 == step % 2 && lane < 31 && s[t] > s[t + 1]) {
            float x = s[t];
            s[t] = s[t + 1];
            s[t + 1] = x;
        }
        __syncthreads();
    }
    b[i] = s[t];
}

extern "C" __global__ void rows_insert(const float* __restrict__ a, float* __restrict__ b)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 32;
    for (int i = 0; i < 32; i++) {
        float x = a[first + i];
        int k = first + i;
        while (k > first && b[k - 1] > x) {
            b[k] = b[k - 1];
            k--;
        }
        b[k] = x;
    }
}
"""


def rows_bitonic(a: Any, b: Any) -> None:
    i = cuda.grid(1)
    lane = cuda.threadIdx.x % 32
    x = a[i]
    k = 2
    while k <= 32:
        j = k // 2
        while j > 0:
            y = cuda.shfl_xor_sync(0xFFFFFFFF, x, j)
            if ((lane & j) == 0) == ((lane & k) == 0):
                x = min(x, y)
            else:
                x = max(x, y)
            j //= 2
        k *= 2
    b[i] = x


def rows_swaps(a: Any, b: Any) -> None:
    s = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    lane = t % 32
    s[t] = a[i]
    cuda.syncthreads()
    for step in range(32):
        if lane % 2 == step % 2 and lane < 31 and s[t] > s[t + 1]:
            x = s[t]
            s[t] = s[t + 1]
            s[t + 1] = x
        cuda.syncthreads()
    b[i] = s[t]


def rows_insert(a: Any, b: Any) -> None:
    first = cuda.grid(1) * 32
    for i in range(32):
        x = a[first + i]
        k = first + i
        while k > first and b[k - 1] > x:
            b[k] = b[k - 1]
            k -= 1
        b[k] = x


def to_sort(n: int) -> Data:
    a = floats(n, 123)
    return Data((a, np.zeros_like(a)), {1: np.sort(a.reshape(-1, 32), axis=1)})


rows = partial(Case, "sort rows of 32", ROWS, to_sort, 1 << 18, 1 << 11)
CASES = [
    rows("bitonic by shuffles", rows_bitonic, lambda n: n // 128, 128),
    rows("odd and even swaps", rows_swaps, lambda n: n // 256, 256),
    rows("insertion by a thread", rows_insert, lambda n: n // 2048, 64),
]
