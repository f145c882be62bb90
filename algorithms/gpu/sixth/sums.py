"""Sums of blocks, sums by key, and histograms of floats."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import float32, int32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, floats, random

BLOCKS = r"""
extern "C" __global__ void blocks_tree(const int* a, int* sums)
{
    __shared__ int s[512];
    int t = threadIdx.x, i = blockIdx.x * 1024 + t;
    s[t] = a[i] + a[i + 512];
    __syncthreads();
    for (int d = 256; d > 0; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = s[0];
}

extern "C" __global__ void blocks_shuffles(const int* __restrict__ a, int* sums)
{
    __shared__ int s[8];
    int t = threadIdx.x, i = blockIdx.x * 1024 + t;
    int x = a[i] + a[i + 256] + a[i + 512] + a[i + 768];
    for (int d = 16; d > 0; d >>= 1) x += __shfl_xor_sync(0xffffffff, x, d);
    if (t % 32 == 0) s[t / 32] = x;
    __syncthreads();
    if (t >= 8) return;
    x = s[t];
    for (int d = 4; d > 0; d >>= 1) x += __shfl_xor_sync(0xff, x, d);
    if (t == 0) sums[blockIdx.x] = x;
}

extern "C" __global__ void blocks_atomic(const int* a, int* sums)
{
    __shared__ int s[1];
    int t = threadIdx.x, i = blockIdx.x * 1024 + t;
    if (t == 0) s[0] = 0;
    __syncthreads();
    int x = 0;
    for (int k = 0; k < 1024; k += 128) x += a[i + k];
    atomicAdd(s, x);
    __syncthreads();
    if (t == 0) sums[blockIdx.x] = s[0];
}
"""


def blocks_tree(a: Any, sums: Any) -> None:
    s = cuda.shared.array(512, int32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * 1024 + t
    s[t] = a[i] + a[i + 512]
    cuda.syncthreads()
    d = 256
    while d > 0:
        if t < d:
            s[t] += s[t + d]
        cuda.syncthreads()
        d >>= 1
    if t == 0:
        sums[cuda.blockIdx.x] = s[0]


def blocks_shuffles(a: Any, sums: Any) -> None:
    s = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * 1024 + t
    x = int32(a[i] + a[i + 256] + a[i + 512] + a[i + 768])
    d = 16
    while d > 0:
        x = int32(x + cuda.shfl_xor_sync(0xFFFFFFFF, x, d))
        d >>= 1
    if t % 32 == 0:
        s[t // 32] = x
    cuda.syncthreads()
    if t >= 8:
        return
    x = s[t]
    d = 4
    while d > 0:
        x = int32(x + cuda.shfl_xor_sync(0xFF, x, d))
        d >>= 1
    if t == 0:
        sums[cuda.blockIdx.x] = x


def blocks_atomic(a: Any, sums: Any) -> None:
    s = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * 1024 + t
    if t == 0:
        s[0] = 0
    cuda.syncthreads()
    x = 0
    for k in range(0, 1024, 128):
        x += a[i + k]
    cuda.atomic.add(s, 0, x)
    cuda.syncthreads()
    if t == 0:
        sums[cuda.blockIdx.x] = s[0]


KEYS = r"""
extern "C" __global__ void keys_atomic(
    const float* values, float* sums, const int* keys, const int* starts)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&sums[keys[i]], values[i]);
}

extern "C" __global__ void keys_runs(
    const float* values, float* sums, const int* keys, const int* starts)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 16, key = keys[first];
    float sum = 0.0f;
    for (int i = first; i < first + 16; i++) {
        if (keys[i] != key) {
            atomicAdd(&sums[key], sum);
            key = keys[i];
            sum = 0.0f;
        }
        sum += values[i];
    }
    atomicAdd(&sums[key], sum);
}

extern "C" __global__ void keys_starts(
    const float* values, float* sums, const int* keys, const int* starts)
{
    int key = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int i = starts[key]; i < starts[key + 1]; i++) sum += values[i];
    sums[key] = sum;
}
"""


def keys_atomic(values: Any, sums: Any, keys: Any, starts: Any) -> None:
    i = cuda.grid(1)
    cuda.atomic.add(sums, keys[i], values[i])


def keys_runs(values: Any, sums: Any, keys: Any, starts: Any) -> None:
    first = cuda.grid(1) * 16
    key = keys[first]
    total = float32(0)
    for i in range(first, first + 16):
        if keys[i] != key:
            cuda.atomic.add(sums, key, total)
            key = keys[i]
            total = float32(0)
        total += values[i]
    cuda.atomic.add(sums, key, total)


def keys_starts(values: Any, sums: Any, keys: Any, starts: Any) -> None:
    key = cuda.grid(1)
    total = float32(0)
    for i in range(starts[key], starts[key + 1]):
        total += values[i]
    sums[key] = total


LEVELS = r"""
extern "C" __global__ void levels_global(const float* a, int* counts, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&counts[(int)(a[i] * 512.0f)], 1);
}

extern "C" __global__ void levels_shared(const float* __restrict__ a, int* counts, int n)
{
    __shared__ int s[512];
    int t = threadIdx.x;
    s[t] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 512 + t; i < n; i += gridDim.x * 512)
        atomicAdd(&s[(int)(a[i] * 512.0f)], 1);
    __syncthreads();
    atomicAdd(&counts[t], s[t]);
}
"""


def levels_global(a: Any, counts: Any, n: Any) -> None:
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        cuda.atomic.add(counts, int32(a[i] * float32(512)), 1)


def levels_shared(a: Any, counts: Any, n: Any) -> None:
    s = cuda.shared.array(512, int32)
    t = cuda.threadIdx.x
    s[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        cuda.atomic.add(s, int32(a[i] * float32(512)), 1)
    cuda.syncthreads()
    cuda.atomic.add(counts, t, s[t])


def whole(n: int) -> Data:
    a = random(201).integers(-1000, 1000, n, np.int32)
    sums = a.reshape(-1, 1024).sum(axis=1)
    return Data((a, np.zeros(n // 1024, np.int32)), {1: sums})


def keyed(n: int) -> Data:
    """Sorted keys; each has 32 values on the average."""
    keys = np.sort(random(202).integers(0, n // 32, n, np.int32))
    values = floats(n, 203)
    starts = np.searchsorted(keys, np.arange(n // 32 + 1)).astype(np.int32)
    right = np.bincount(keys, values, minlength=n // 32)
    return Data((values, np.zeros(n // 32, np.float32), keys, starts), {1: right}, tolerance=1e-5)


def shades(n: int) -> Data:
    a = floats(n, 204)
    right = np.bincount((a * 512).astype(int), minlength=512)
    return Data((a, np.zeros(512, np.int32), np.int32(n)), {1: right})


blocks = partial(Case, "sums of blocks", BLOCKS, whole, 1 << 23, 1 << 12)
keys = partial(Case, "sums by key", KEYS, keyed, 1 << 19, 1 << 12)
levels = partial(Case, "histogram of floats", LEVELS, shades, 1 << 21, 1 << 13)
CASES = [
    blocks("tree of 512", blocks_tree, lambda n: n // 1024, 512),
    blocks("shuffles", blocks_shuffles, lambda n: n // 1024, 256),
    blocks("atomics in shared", blocks_atomic, lambda n: n // 1024, 128),
    keys("atomic an element", keys_atomic, lambda n: n // 256, 256),
    keys("atomic a run", keys_runs, lambda n: n // 2048, 128),
    keys("thread a key", keys_starts, lambda n: n // 4096, 128),
    levels("global", levels_global, lambda n: n // 2048, 256),
    levels("shared", levels_shared, lambda n: n // 8192, 512),
]
