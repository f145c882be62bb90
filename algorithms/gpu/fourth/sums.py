"""Sums, and counts of positive elements."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import float32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, floats, random

SUM = r"""
extern "C" __global__ void sum_tree(const float* __restrict__ a, float* total, int n)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    float x = 0.0f;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        x += a[i];
    s[t] = x;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) atomicAdd(total, s[0]);
}

extern "C" __global__ void sum_shuffle(const float* __restrict__ a, float* total, int n)
{
    float x = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x += a[i];
    for (int d = 16; d > 0; d /= 2)
        x += __shfl_down_sync(0xffffffff, x, d);
    if (threadIdx.x % 32 == 0) atomicAdd(total, x);
}

extern "C" __global__ void sum_atomic(const float* a, float* total, int n)
{
    float x = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x += a[i];
    atomicAdd(total, x);
}
"""


def sum_tree(a: Any, total: Any, n: Any) -> None:
    s = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    x = float32(0)
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        x += a[i]
    s[t] = x
    cuda.syncthreads()
    d = 128
    while d > 0:
        if t < d:
            s[t] += s[t + d]
        cuda.syncthreads()
        d //= 2
    if t == 0:
        cuda.atomic.add(total, 0, s[0])


def sum_shuffle(a: Any, total: Any, n: Any) -> None:
    x = float32(0)
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        x += a[i]
    d = 16
    while d > 0:
        x += cuda.shfl_down_sync(0xFFFFFFFF, x, d)
        d //= 2
    if cuda.threadIdx.x % 32 == 0:
        cuda.atomic.add(total, 0, x)


def sum_atomic(a: Any, total: Any, n: Any) -> None:
    x = float32(0)
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        x += a[i]
    cuda.atomic.add(total, 0, x)


COUNT = r"""
extern "C" __global__ void count_thread(const int* a, int* count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && a[i] > 0) atomicAdd(count, 1);
}

extern "C" __global__ void count_warp(const int* a, int* count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned votes = __ballot_sync(0xffffffff, i < n && a[i] > 0);
    if (threadIdx.x % 32 == 0) atomicAdd(count, __popc(votes));
}

extern "C" __global__ void count_block(const int* a, int* count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int all = __syncthreads_count(i < n && a[i] > 0);
    if (threadIdx.x == 0) atomicAdd(count, all);
}
"""


def count_thread(a: Any, count: Any, n: Any) -> None:
    i = cuda.grid(1)
    if i < n and a[i] > 0:
        cuda.atomic.add(count, 0, 1)


def count_warp(a: Any, count: Any, n: Any) -> None:
    i = cuda.grid(1)
    votes = cuda.ballot_sync(0xFFFFFFFF, i < n and a[i] > 0)
    if cuda.threadIdx.x % 32 == 0:
        cuda.atomic.add(count, 0, cuda.popc(votes))


def count_block(a: Any, count: Any, n: Any) -> None:
    i = cuda.grid(1)
    positive = 0
    if i < n and a[i] > 0:
        positive = 1
    together = cuda.syncthreads_count(positive)
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(count, 0, together)


def of_floats(n: int) -> Data:
    a = floats(n, 1)
    total = a.sum(dtype=np.float64, keepdims=True)
    return Data((a, np.zeros(1, np.float32), np.int32(n)), {1: total}, tolerance=1e-4)


def of_signs(n: int) -> Data:
    a = random(2).integers(-100, 100, n, np.int32)
    count = np.array([np.count_nonzero(a > 0)])
    return Data((a, np.zeros(1, np.int32), np.int32(n)), {1: count})


sums = partial(Case, "sum", SUM, of_floats, 1 << 20, 1 << 14)
counts = partial(Case, "count", COUNT, of_signs, 1 << 22, 1 << 11)

CASES = [
    sums("tree, few threads", sum_tree, lambda n: 132, 256),
    sums("tree, many threads", sum_tree, lambda n: n // 1024, 256),
    sums("shuffles", sum_shuffle, lambda n: n // 2048, 256),
    sums("atomic a thread", sum_atomic, lambda n: n // 4096, 256),
    counts("atomic a thread", count_thread, lambda n: n // 256, 256),
    counts("atomic a warp", count_warp, lambda n: n // 256, 256),
    counts("atomic a block", count_block, lambda n: n // 256, 256),
]
