"""Steps of sorting: merges of two sorted halves, and a step of a bitonic sort."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, random

MERGE = r"""
extern "C" __global__ void merge_ranks(const int* a, int* b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, half = n / 2, x = a[i];
    bool second = i >= half;
    int other = second ? 0 : half, low = 0, high = half;
    while (low < high) {
        int middle = (low + high) / 2, y = a[other + middle];
        if (y < x || (second && y == x)) low = middle + 1;
        else high = middle;
    }
    b[(second ? i - half : i) + low] = x;
}

extern "C" __global__ void merge_chunks(const int* a, int* b, int n)
{
    int half = n / 2, first = (blockIdx.x * blockDim.x + threadIdx.x) * 16;
    int low = max(0, first - half), high = min(first, half);
    while (low < high) {
        int middle = (low + high) / 2;
        if (a[middle] <= a[half + first - 1 - middle]) low = middle + 1;
        else high = middle;
    }
    int i = low, j = half + first - low;
    for (int k = first; k < first + 16; k++) {
        if (j >= n || (i < half && a[i] <= a[j])) b[k] = a[i++];
        else b[k] = a[j++];
    }
}
"""


def merge_ranks(a: Any, b: Any, n: Any) -> None:
    i = cuda.grid(1)
    half = n // 2
    x = a[i]
    second = i >= half
    other = half
    at = i
    if second:
        other = 0
        at = i - half
    low, high = 0, half
    while low < high:
        middle = (low + high) // 2
        y = a[other + middle]
        if y < x or (second and y == x):
            low = middle + 1
        else:
            high = middle
    b[at + low] = x


def merge_chunks(a: Any, b: Any, n: Any) -> None:
    half = n // 2
    first = cuda.grid(1) * 16
    low = max(0, first - half)
    high = min(first, half)
    while low < high:
        middle = (low + high) // 2
        if a[middle] <= a[half + first - 1 - middle]:
            low = middle + 1
        else:
            high = middle
    i, j = low, half + first - low
    for k in range(first, first + 16):
        if j >= n or (i < half and a[i] <= a[j]):
            b[k] = a[i]
            i += 1
        else:
            b[k] = a[j]
            j += 1


SWAPS = r"""
extern "C" __global__ void swaps(long long* a, int apart, int length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = i ^ apart;
    if (j < i) return;
    long long x = a[i], y = a[j];
    if ((x > y) == ((i & length) == 0)) {
        a[i] = y;
        a[j] = x;
    }
}
"""


def swaps(a: Any, apart: Any, length: Any) -> None:
    i = cuda.grid(1)
    j = i ^ apart
    if j < i:
        return
    x, y = a[i], a[j]
    if (x > y) == ((i & length) == 0):
        a[i] = y
        a[j] = x


def halves(n: int) -> Data:
    a = np.sort(random(221).integers(0, 1 << 20, (2, n // 2), np.int32), axis=1).ravel()
    return Data((a, np.zeros_like(a), np.int32(n)), {1: np.sort(a)})


def unsorted(n: int, apart: int) -> Data:
    """A step of the rounds that sort parts of an eighth of the array."""
    a, i, length = random(222).integers(0, 1 << 60, n), np.arange(n), n // 8
    least, most = np.minimum(a, a[i ^ apart]), np.maximum(a, a[i ^ apart])
    right = np.where(((i & apart) == 0) == ((i & length) == 0), least, most)
    return Data((a, np.int32(apart), np.int32(length)), {0: right})


def swap(apart: int) -> Case:
    data, way = partial(unsorted, apart=apart), f"{apart} apart"
    return Case("step of a bitonic sort", SWAPS, data, 1 << 20, 1 << 12, way, swaps,
                lambda n: n // 256, 256)  # fmt: skip


merge = partial(Case, "merge of halves", MERGE, halves, 1 << 21, 1 << 12)
CASES = [
    merge("thread an element", merge_ranks, lambda n: n // 256, 256),
    merge("16 elements a thread", merge_chunks, lambda n: n // 2048, 128),
    *map(swap, (2, 256)),
]
