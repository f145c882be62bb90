"""Segments of 256 integers, sorted by a block each."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import int32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, random

SORT = r"""
extern "C" __global__ void sort_global(const int* a, int* b)
{
    int t = threadIdx.x;
    int first = blockIdx.x * 256;
    b[first + t] = a[first + t];
    __syncthreads();
    for (int k = 2; k <= 256; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            int u = t ^ j;
            if (u > t) {
                int x = b[first + t], y = b[first + u];
                if ((x > y) == ((t & k) == 0)) {
                    b[first + t] = y;
                    b[first + u] = x;
                }
            }
            __syncthreads();
        }
}

extern "C" __global__ void sort_shared(const int* a, int* b)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * 256 + t;
    s[t] = a[i];
    __syncthreads();
    for (int k = 2; k <= 256; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            int u = t ^ j;
            if (u > t) {
                int x = s[t], y = s[u];
                if ((x > y) == ((t & k) == 0)) {
                    s[t] = y;
                    s[u] = x;
                }
            }
            __syncthreads();
        }
    b[i] = s[t];
}

extern "C" __global__ void sort_ranks(const int* __restrict__ a, int* __restrict__ b)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    int first = blockIdx.x * 256;
    int x = a[first + t];
    s[t] = x;
    __syncthreads();
    int rank = 0;
    for (int u = 0; u < 256; u++) {
        int y = s[u];
        if (y < x || (y == x && u < t)) rank++;
    }
    b[first + rank] = x;
}
"""


def sort_global(a: Any, b: Any) -> None:
    t = cuda.threadIdx.x
    first = cuda.blockIdx.x * 256
    b[first + t] = a[first + t]
    cuda.syncthreads()
    k = 2
    while k <= 256:
        j = k // 2
        while j > 0:
            u = t ^ j
            if u > t:
                x = b[first + t]
                y = b[first + u]
                if (x > y) == ((t & k) == 0):
                    b[first + t] = y
                    b[first + u] = x
            cuda.syncthreads()
            j //= 2
        k *= 2


def sort_shared(a: Any, b: Any) -> None:
    s = cuda.shared.array(256, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = a[i]
    cuda.syncthreads()
    k = 2
    while k <= 256:
        j = k // 2
        while j > 0:
            u = t ^ j
            if u > t:
                x = s[t]
                y = s[u]
                if (x > y) == ((t & k) == 0):
                    s[t] = y
                    s[u] = x
            cuda.syncthreads()
            j //= 2
        k *= 2
    b[i] = s[t]


def sort_ranks(a: Any, b: Any) -> None:
    s = cuda.shared.array(256, int32)
    t = cuda.threadIdx.x
    first = cuda.blockIdx.x * 256
    x = a[first + t]
    s[t] = x
    cuda.syncthreads()
    rank = 0
    for u in range(256):
        y = s[u]
        if y < x or (y == x and u < t):
            rank += 1
    b[first + rank] = x


def data(n: int) -> Data:
    a = random(17).integers(0, 1 << 30, n, np.int32)
    return Data((a, np.zeros_like(a)), {1: np.sort(a.reshape(-1, 256), axis=1)})


sort = partial(Case, "sort segments", SORT, data, 1 << 19, 1 << 10)
CASES = [
    sort("bitonic, global", sort_global, lambda n: n // 256, 256),
    sort("bitonic, shared", sort_shared, lambda n: n // 256, 256),
    sort("ranks", sort_ranks, lambda n: n // 256, 256),
]
