"""Histograms of bytes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import int32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, random

HISTOGRAM = r"""
extern "C" __global__ void histogram_global(const unsigned char* a, int* counts, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&counts[a[i]], 1);
}

extern "C" __global__ void histogram_shared(const unsigned char* a, int* counts, int n)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&s[a[i]], 1);
    __syncthreads();
    atomicAdd(&counts[t], s[t]);
}

extern "C" __global__ void histogram_private(const unsigned char* a, int* counts, int n)
{
    __shared__ int s[8][256];
    int t = threadIdx.x, warp = t / 32;
    for (int w = 0; w < 8; w++) s[w][t] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&s[warp][a[i]], 1);
    __syncthreads();
    int sum = 0;
    for (int w = 0; w < 8; w++) sum += s[w][t];
    atomicAdd(&counts[t], sum);
}
"""


def histogram_global(a: Any, counts: Any, n: Any) -> None:
    i = cuda.grid(1)
    if i < n:
        cuda.atomic.add(counts, a[i], 1)


def histogram_shared(a: Any, counts: Any, n: Any) -> None:
    s = cuda.shared.array(256, int32)
    t = cuda.threadIdx.x
    s[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        cuda.atomic.add(s, a[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(counts, t, s[t])


def histogram_private(a: Any, counts: Any, n: Any) -> None:
    s = cuda.shared.array((8, 256), int32)
    t = cuda.threadIdx.x
    warp = t // 32
    for w in range(8):
        s[w, t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        cuda.atomic.add(s, (warp, a[i]), 1)
    cuda.syncthreads()
    total = int32(0)
    for w in range(8):
        total = int32(total + s[w, t])
    cuda.atomic.add(counts, t, total)


def data(n: int) -> Data:
    a = random(4).integers(0, 256, n, np.uint8)
    counts = np.bincount(a, minlength=256)
    return Data((a, np.zeros(256, np.int32), np.int32(n)), {1: counts})


histogram = partial(Case, "histogram", HISTOGRAM, data, 1 << 21, 1 << 12)
CASES = [
    histogram("global", histogram_global, lambda n: n // 256, 256),
    histogram("shared", histogram_shared, lambda n: n // 4096, 256),
    histogram("shared, one a warp", histogram_private, lambda n: n // 4096, 256),
]
