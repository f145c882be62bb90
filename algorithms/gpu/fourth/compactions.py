"""Positive elements packed together, in any order."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import int32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, random

COMPACT = r"""
extern "C" __global__ void compact_thread(const int* a, int* b, int* count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && a[i] > 0) b[atomicAdd(count, 1)] = a[i];
}

extern "C" __global__ void compact_warp(const int* __restrict__ a, int* b, int* count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    int x = i < n ? a[i] : 0;
    unsigned votes = __ballot_sync(0xffffffff, x > 0);
    int first = 0;
    if (lane == 0) first = atomicAdd(count, __popc(votes));
    first = __shfl_sync(0xffffffff, first, 0);
    if (x > 0) b[first + __popc(votes & ((1u << lane) - 1))] = x;
}

extern "C" __global__ void compact_block(const int* __restrict__ a, int* b, int* count, int n)
{
    __shared__ int in_block, first;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) in_block = 0;
    __syncthreads();
    int x = i < n ? a[i] : 0;
    int place = 0;
    if (x > 0) place = atomicAdd(&in_block, 1);
    __syncthreads();
    if (threadIdx.x == 0) first = atomicAdd(count, in_block);
    __syncthreads();
    if (x > 0) b[first + place] = x;
}
"""


def compact_thread(a: Any, b: Any, count: Any, n: Any) -> None:
    i = cuda.grid(1)
    if i < n and a[i] > 0:
        b[cuda.atomic.add(count, 0, 1)] = a[i]


def compact_warp(a: Any, b: Any, count: Any, n: Any) -> None:
    i = cuda.grid(1)
    lane = cuda.threadIdx.x % 32
    x = int32(0)
    if i < n:
        x = a[i]
    votes = cuda.ballot_sync(0xFFFFFFFF, x > 0)
    first = int32(0)
    if lane == 0:
        first = cuda.atomic.add(count, 0, cuda.popc(votes))
    first = cuda.shfl_sync(0xFFFFFFFF, first, 0)
    if x > 0:
        b[first + cuda.popc(votes & ((1 << lane) - 1))] = x


def compact_block(a: Any, b: Any, count: Any, n: Any) -> None:
    s = cuda.shared.array(2, int32)
    i = cuda.grid(1)
    if cuda.threadIdx.x == 0:
        s[0] = 0
    cuda.syncthreads()
    x = int32(0)
    if i < n:
        x = a[i]
    place = int32(0)
    if x > 0:
        place = cuda.atomic.add(s, 0, 1)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        s[1] = cuda.atomic.add(count, 0, s[0])
    cuda.syncthreads()
    if x > 0:
        b[s[1] + place] = x


def data(n: int) -> Data:
    a = random(28).integers(-100, 100, n, np.int32)
    right = np.where(a > 0, a, 0)
    count = np.array([np.count_nonzero(right)])
    arguments = (a, np.zeros_like(a), np.zeros(1, np.int32), np.int32(n))
    return Data(arguments, {1: right, 2: count}, any_order=True)


compact = partial(Case, "compaction", COMPACT, data, 1 << 19, 1 << 11)
CASES = [
    compact("atomic a thread", compact_thread, lambda n: n // 256, 256),
    compact("atomic a warp", compact_warp, lambda n: n // 256, 256),
    compact("atomic a block", compact_block, lambda n: n // 256, 256),
]
