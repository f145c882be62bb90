"""Sparse matrices by vectors, and a level of breadth-first search."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import float32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Array, Case, Data, floats, random

SPARSE = r"""
extern "C" __global__ void spmv_thread(const int* starts, const int* columns,
    const float* values, const float* x, float* y, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    float sum = 0.0f;
    for (int k = starts[row]; k < starts[row + 1]; k++) sum += values[k] * x[columns[k]];
    y[row] = sum;
}

extern "C" __global__ void spmv_warp(const int* __restrict__ starts,
    const int* __restrict__ columns, const float* __restrict__ values,
    const float* __restrict__ x, float* __restrict__ y, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= n) return;
    float sum = 0.0f;
    int end = starts[row + 1];
    for (int k = starts[row] + lane; k < end; k += 32) sum += values[k] * x[columns[k]];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (lane == 0) y[row] = sum;
}
"""


def spmv_thread(starts: Any, columns: Any, values: Any, x: Any, y: Any, n: Any) -> None:
    row = cuda.grid(1)
    if row >= n:
        return
    total = float32(0)
    for k in range(starts[row], starts[row + 1]):
        total += values[k] * x[columns[k]]
    y[row] = total


def spmv_warp(starts: Any, columns: Any, values: Any, x: Any, y: Any, n: Any) -> None:
    row = cuda.grid(1) // 32
    lane = cuda.threadIdx.x % 32
    if row >= n:
        return
    total = float32(0)
    for k in range(starts[row] + lane, starts[row + 1], 32):
        total += values[k] * x[columns[k]]
    d = 16
    while d > 0:
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, d)
        d //= 2
    if lane == 0:
        y[row] = total


SEARCH = r"""
extern "C" __global__ void search_down(
    const int* starts, const int* neighbours, int* levels, int level, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || levels[v] != level) return;
    for (int k = starts[v]; k < starts[v + 1]; k++) {
        int u = neighbours[k];
        if (levels[u] < 0) levels[u] = level + 1;
    }
}

extern "C" __global__ void search_up(
    const int* starts, const int* neighbours, int* levels, int level, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || levels[v] >= 0) return;
    for (int k = starts[v]; k < starts[v + 1]; k++)
        if (levels[neighbours[k]] == level) {
            levels[v] = level + 1;
            break;
        }
}
"""


def search_down(starts: Any, neighbours: Any, levels: Any, level: Any, n: Any) -> None:
    v = cuda.grid(1)
    if v < n and levels[v] == level:
        for k in range(starts[v], starts[v + 1]):
            u = neighbours[k]
            if levels[u] < 0:
                levels[u] = level + 1


def search_up(starts: Any, neighbours: Any, levels: Any, level: Any, n: Any) -> None:
    v = cuda.grid(1)
    if v < n and levels[v] < 0:
        for k in range(starts[v], starts[v + 1]):
            if levels[neighbours[k]] == level:
                levels[v] = level + 1
                break


def matrix(n: int) -> Data:
    """A matrix with 8 to 24 elements in a row, in random columns."""
    draw = random(13)
    lengths = draw.integers(8, 25, n)
    starts = np.concatenate([[0], lengths.cumsum()]).astype(np.int32)
    columns = draw.integers(0, n, starts[-1], np.int32)
    values, x = floats(columns.size, 14), floats(n, 15)
    products = values.astype(np.float64) * x[columns]
    y = np.add.reduceat(products, starts[:-1])
    arguments = (starts, columns, values, x, np.zeros(n, np.float32), np.int32(n))
    return Data(arguments, {4: y}, tolerance=1e-5)


def graph(n: int) -> tuple[Array, Array]:
    """A random graph with 8 edges a vertex on average: where its neighbours start, and these."""
    ends = random(16).integers(0, n, (2, 4 * n), np.int32)
    sources, neighbours = np.concatenate([ends, ends[::-1]], axis=1)
    starts = np.concatenate([[0], np.bincount(sources, minlength=n).cumsum()]).astype(np.int32)
    return starts, neighbours[np.argsort(sources, kind="stable")]


def level(n: int) -> Data:
    """The step that reaches the most vertices, from vertex 0."""
    starts, neighbours = graph(n)
    sources = np.repeat(np.arange(n), np.diff(starts))
    levels = np.full(n, -1, np.int32)
    levels[0] = 0
    steps = [levels]
    while True:
        reached = neighbours[steps[-1][sources] == len(steps) - 1]
        new = steps[-1].copy()
        new[reached[new[reached] < 0]] = len(steps)
        if np.array_equal(new, steps[-1]):
            break
        steps.append(new)
    most = int(np.bincount(steps[-1][steps[-1] >= 0]).argmax()) - 1
    arguments = (starts, neighbours, steps[most].copy(), np.int32(most), np.int32(n))
    return Data(arguments, {2: steps[most + 1]})


spmv = partial(Case, "sparse matrix by vector", SPARSE, matrix, 1 << 17, 1 << 9)
search = partial(Case, "breadth-first search", SEARCH, level, 1 << 18, 1 << 10)
CASES = [
    spmv("thread a row", spmv_thread, lambda n: n // 128, 128),
    spmv("warp a row", spmv_warp, lambda n: n // 8, 256),
    search("down", search_down, lambda n: n // 256, 256),
    search("up", search_up, lambda n: n // 256, 256),
]
