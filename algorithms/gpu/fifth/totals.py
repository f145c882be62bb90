"""Dot products in double, inclusive scans of floats, and histograms of skewed data."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import float32, float64, int32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, floats, random

DOT = r"""
extern "C" __global__ void dot_interleaved(const double* a, const double* b, double* dot)
{
    __shared__ double s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = a[i] * b[i];
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        if (t % (2 * d) == 0) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) atomicAdd(dot, s[0]);
}

extern "C" __global__ void dot_warps(const double* a, const double* b, double* dot)
{
    __shared__ double s[16];
    int t = threadIdx.x, first = blockIdx.x * 4096 + t;
    double x = 0.0;
    for (int i = first; i < first + 4096; i += 512) x += a[i] * b[i];
    for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(0xffffffff, x, d);
    if (t % 32 == 0) s[t / 32] = x;
    __syncthreads();
    if (t == 0) {
        for (int w = 1; w < 16; w++) x += s[w];
        atomicAdd(dot, x);
    }
}
"""


def dot_interleaved(a: Any, b: Any, dot: Any) -> None:
    s = cuda.shared.array(128, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = a[i] * b[i]
    cuda.syncthreads()
    d = 1
    while d < 128:
        if t % (2 * d) == 0:
            s[t] += s[t + d]
        cuda.syncthreads()
        d *= 2
    if t == 0:
        cuda.atomic.add(dot, 0, s[0])


def dot_warps(a: Any, b: Any, dot: Any) -> None:
    s = cuda.shared.array(16, float64)
    t = cuda.threadIdx.x
    first = cuda.blockIdx.x * 4096 + t
    x = 0.0
    for i in range(first, first + 4096, 512):
        x += a[i] * b[i]
    d = 16
    while d > 0:
        x += cuda.shfl_down_sync(0xFFFFFFFF, x, d)
        d //= 2
    if t % 32 == 0:
        s[t // 32] = x
    cuda.syncthreads()
    if t == 0:
        for w in range(1, 16):
            x += s[w]
        cuda.atomic.add(dot, 0, x)


SCAN = r"""
extern "C" __global__ void scan_tree(const float* a, float* b)
{
    __shared__ float s[512];
    int t = threadIdx.x, i = blockIdx.x * 512 + t;
    s[t] = a[i];
    s[t + 256] = a[i + 256];
    for (int d = 1; d < 512; d *= 2) {
        __syncthreads();
        int k = (t + 1) * 2 * d - 1;
        if (k < 512) s[k] += s[k - d];
    }
    for (int d = 128; d > 0; d /= 2) {
        __syncthreads();
        int k = (t + 1) * 2 * d - 1;
        if (k + d < 512) s[k + d] += s[k];
    }
    __syncthreads();
    b[i] = s[t];
    b[i + 256] = s[t + 256];
}

extern "C" __global__ void scan_warp(const float* __restrict__ a, float* __restrict__ b)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 512, lane = threadIdx.x % 32;
    float carry = 0.0f;
    for (int i = first + lane; i < first + 512; i += 32) {
        float x = a[i];
        for (int d = 1; d < 32; d *= 2) {
            float y = __shfl_up_sync(0xffffffff, x, d);
            if (lane >= d) x += y;
        }
        x += carry;
        b[i] = x;
        carry = __shfl_sync(0xffffffff, x, 31);
    }
}
"""


def scan_tree(a: Any, b: Any) -> None:
    s = cuda.shared.array(512, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * 512 + t
    s[t] = a[i]
    s[t + 256] = a[i + 256]
    d = 1
    while d < 512:
        cuda.syncthreads()
        k = (t + 1) * 2 * d - 1
        if k < 512:
            s[k] += s[k - d]
        d *= 2
    d = 128
    while d > 0:
        cuda.syncthreads()
        k = (t + 1) * 2 * d - 1
        if k + d < 512:
            s[k + d] += s[k]
        d //= 2
    cuda.syncthreads()
    b[i] = s[t]
    b[i + 256] = s[t + 256]


def scan_warp(a: Any, b: Any) -> None:
    first = cuda.grid(1) // 32 * 512
    lane = cuda.threadIdx.x % 32
    carry = float32(0)
    for i in range(first + lane, first + 512, 32):
        x = a[i]
        d = 1
        while d < 32:
            y = cuda.shfl_up_sync(0xFFFFFFFF, x, d)
            if lane >= d:
                x += y
            d *= 2
        x += carry
        b[i] = x
        carry = cuda.shfl_sync(0xFFFFFFFF, x, 31)


BINS = r"""
extern "C" __global__ void bins_global(const short* a, int* counts, int n)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    for (int i = first; i < first + 4; i++) atomicAdd(&counts[a[i]], 1);
}

extern "C" __global__ void bins_shared(const short* a, int* counts, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < 64) s[t] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&s[a[i]], 1);
    __syncthreads();
    if (t < 64) atomicAdd(&counts[t], s[t]);
}

extern "C" __global__ void bins_lanes(const short* a, int* counts, int n)
{
    __shared__ int s[64][33];
    int t = threadIdx.x, lane = t % 32;
    for (int i = t; i < 64 * 33; i += 128) s[i / 33][i % 33] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&s[a[i]][lane], 1);
    __syncthreads();
    if (t >= 64) return;
    int sum = 0;
    for (int k = 0; k < 32; k++) sum += s[t][k];
    atomicAdd(&counts[t], sum);
}
"""


def bins_global(a: Any, counts: Any, n: Any) -> None:
    first = cuda.grid(1) * 4
    for i in range(first, first + 4):
        cuda.atomic.add(counts, a[i], 1)


def bins_shared(a: Any, counts: Any, n: Any) -> None:
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    if t < 64:
        s[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        cuda.atomic.add(s, a[i], 1)
    cuda.syncthreads()
    if t < 64:
        cuda.atomic.add(counts, t, s[t])


def bins_lanes(a: Any, counts: Any, n: Any) -> None:
    s = cuda.shared.array((64, 33), int32)
    t = cuda.threadIdx.x
    lane = t % 32
    for i in range(t, 64 * 33, 128):
        s[i // 33, i % 33] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        cuda.atomic.add(s, (a[i], lane), 1)
    cuda.syncthreads()
    if t >= 64:
        return
    total = 0
    for k in range(32):
        total += s[t, k]
    cuda.atomic.add(counts, t, total)


def vectors(n: int) -> Data:
    a, b = random(101).random((2, n))
    return Data((a, b, np.zeros(1)), {2: np.array([a @ b])}, tolerance=1e-9)


def segments(n: int) -> Data:
    a = floats(n, 102)
    sums = a.reshape(-1, 512).cumsum(axis=1, dtype=np.float64).reshape(n)
    return Data((a, np.zeros_like(a)), {1: sums}, tolerance=1e-5)


def skewed(n: int) -> Data:
    """Most elements are in few bins."""
    a = (64 * random(103).random(n) ** 3).astype(np.int16)
    counts = np.bincount(a, minlength=64)
    return Data((a, np.zeros(64, np.int32), np.int32(n)), {1: counts})


dot = partial(Case, "dot product in double", DOT, vectors, 1 << 19, 1 << 13)
scan = partial(Case, "scans of floats", SCAN, segments, 1 << 20, 1 << 12)
bins = partial(Case, "skewed histogram", BINS, skewed, 1 << 19, 1 << 12)
CASES = [
    dot("interleaved tree", dot_interleaved, lambda n: n // 128, 128),
    dot("warps, eight a thread", dot_warps, lambda n: n // 4096, 512),
    scan("tree", scan_tree, lambda n: n // 512, 256),
    scan("warp a segment", scan_warp, lambda n: n // 2048, 128),
    bins("global", bins_global, lambda n: n // 512, 128),
    bins("shared", bins_shared, lambda n: n // 2048, 128),
    bins("shared, one a lane", bins_lanes, lambda n: n // 2048, 128),
]
