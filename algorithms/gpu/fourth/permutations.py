"""Random permutations of integers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, random

PERMUTE = r"""
extern "C" __global__ void gather(const int* a, const int* from, int* b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] = a[from[i]];
}

extern "C" __global__ void gather_four(
    const int* __restrict__ a, const int* __restrict__ from, int* __restrict__ b, int n)
{
    int first = blockIdx.x * blockDim.x * 4 + threadIdx.x;
    for (int k = 0; k < 4; k++) {
        int i = first + k * blockDim.x;
        if (i < n) b[i] = a[from[i]];
    }
}

extern "C" __global__ void scatter(const int* a, const int* to, int* b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[to[i]] = a[i];
}
"""


def gather(a: Any, source: Any, b: Any, n: Any) -> None:
    i = cuda.grid(1)
    if i < n:
        b[i] = a[source[i]]


def gather_four(a: Any, source: Any, b: Any, n: Any) -> None:
    first = cuda.blockIdx.x * cuda.blockDim.x * 4 + cuda.threadIdx.x
    for k in range(4):
        i = first + k * cuda.blockDim.x
        if i < n:
            b[i] = a[source[i]]


def scatter(a: Any, target: Any, b: Any, n: Any) -> None:
    i = cuda.grid(1)
    if i < n:
        b[target[i]] = a[i]


def gathered(n: int) -> Data:
    draw = random(12)
    a, source = draw.integers(0, 1 << 30, n, np.int32), draw.permutation(n).astype(np.int32)
    return Data((a, source, np.zeros_like(a), np.int32(n)), {2: a[source]})


def scattered(n: int) -> Data:
    """The same permutation, by the place of each element in the result."""
    made = gathered(n)
    a, source, b, size = made.arguments
    return Data((a, np.argsort(source).astype(np.int32), b, size), made.expected)


permute = partial(Case, "permutation", PERMUTE)
CASES = [
    permute(gathered, 1 << 21, 1 << 11, "gather", gather, lambda n: n // 256, 256),
    permute(gathered, 1 << 21, 1 << 11, "gather four", gather_four, lambda n: n // 1024, 256),
    permute(scattered, 1 << 21, 1 << 11, "scatter", scatter, lambda n: n // 256, 256),
]
