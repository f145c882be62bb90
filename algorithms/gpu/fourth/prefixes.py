"""Prefix sums of segments of 256 integers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import int32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, random

PREFIX = r"""
extern "C" __global__ void prefix_shared(const int* a, int* b)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * 256 + t;
    s[t] = a[i];
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        int x = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += x;
        __syncthreads();
    }
    b[i] = s[t];
}

extern "C" __global__ void prefix_shuffle(const int* a, int* b)
{
    __shared__ int sums[8];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    int i = blockIdx.x * 256 + t;
    int x = a[i];
    for (int d = 1; d < 32; d *= 2) {
        int y = __shfl_up_sync(0xffffffff, x, d);
        if (lane >= d) x += y;
    }
    if (lane == 31) sums[warp] = x;
    __syncthreads();
    for (int w = 0; w < warp; w++) x += sums[w];
    b[i] = x;
}

extern "C" __global__ void prefix_thread(const int* __restrict__ a, int* __restrict__ b, int n)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 256;
    if (first >= n) return;
    int x = 0;
    for (int i = first; i < first + 256; i++) {
        x += a[i];
        b[i] = x;
    }
}
"""


def prefix_shared(a: Any, b: Any) -> None:
    s = cuda.shared.array(256, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = a[i]
    cuda.syncthreads()
    d = 1
    while d < 256:
        x = int32(0)
        if t >= d:
            x = s[t - d]
        cuda.syncthreads()
        s[t] += x
        cuda.syncthreads()
        d *= 2
    b[i] = s[t]


def prefix_shuffle(a: Any, b: Any) -> None:
    sums = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    i = cuda.grid(1)
    x = a[i]
    d = 1
    while d < 32:
        y = cuda.shfl_up_sync(0xFFFFFFFF, x, d)
        if lane >= d:
            x = int32(x + y)
        d *= 2
    if lane == 31:
        sums[warp] = x
    cuda.syncthreads()
    for w in range(warp):
        x = int32(x + sums[w])
    b[i] = x


def prefix_thread(a: Any, b: Any, n: Any) -> None:
    first = cuda.grid(1) * 256
    if first >= n:
        return
    x = 0
    for i in range(first, first + 256):
        x += a[i]
        b[i] = x


def data(n: int) -> Data:
    a = random(3).integers(-1000, 1000, n, np.int32)
    sums = a.reshape(-1, 256).cumsum(axis=1).reshape(n)
    return Data((a, np.zeros_like(a)), {1: sums})


def with_size(n: int) -> Data:
    made = data(n)
    return Data((*made.arguments, np.int32(n)), made.expected)


prefix = partial(Case, "prefix sums", PREFIX)
CASES = [
    prefix(data, 1 << 21, 1 << 11, "shared", prefix_shared, lambda n: n // 256, 256),
    prefix(data, 1 << 21, 1 << 11, "shuffles", prefix_shuffle, lambda n: n // 256, 256),
    prefix(with_size, 1 << 21, 1 << 13, "thread a segment", prefix_thread, lambda n: n // 8192, 32),
]
