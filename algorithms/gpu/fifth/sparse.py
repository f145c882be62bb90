"""Sparse matrices in several forms, and steps of searches in a graph."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Array, Case, Data, random

FORMS = r"""
extern "C" __global__ void forms_columns(
    const int* columns, const double* values, const double* x, double* y, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0.0;
    for (int k = row; k < 12 * n; k += n) sum += values[k] * x[columns[k]];
    y[row] = sum;
}

extern "C" __global__ void forms_rows(
    const int* columns, const double* values, const double* x, double* y, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0.0;
    for (int k = 12 * row; k < 12 * row + 12; k++) sum += values[k] * x[columns[k]];
    y[row] = sum;
}

extern "C" __global__ void forms_lanes(
    const int* columns, const double* values, const double* x, double* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / 4, lane = i % 4;
    double sum = 0.0;
    for (int k = 12 * row + lane; k < 12 * row + 12; k += 4) sum += values[k] * x[columns[k]];
    sum += __shfl_xor_sync(0xffffffff, sum, 1);
    sum += __shfl_xor_sync(0xffffffff, sum, 2);
    if (lane == 0) y[row] = sum;
}

extern "C" __global__ void forms_elements(
    const int* columns, const double* values, const double* x, double* y, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < 12 * n) atomicAdd(&y[k / 12], values[k] * x[columns[k]]);
}
"""


def forms_columns(columns: Any, values: Any, x: Any, y: Any, n: Any) -> None:
    row = cuda.grid(1)
    total = 0.0
    for k in range(row, 12 * n, n):
        total += values[k] * x[columns[k]]
    y[row] = total


def forms_rows(columns: Any, values: Any, x: Any, y: Any, n: Any) -> None:
    row = cuda.grid(1)
    total = 0.0
    for k in range(12 * row, 12 * row + 12):
        total += values[k] * x[columns[k]]
    y[row] = total


def forms_lanes(columns: Any, values: Any, x: Any, y: Any, n: Any) -> None:
    i = cuda.grid(1)
    row, lane = i // 4, i % 4
    total = 0.0
    for k in range(12 * row + lane, 12 * row + 12, 4):
        total += values[k] * x[columns[k]]
    total += cuda.shfl_xor_sync(0xFFFFFFFF, total, 1)
    total += cuda.shfl_xor_sync(0xFFFFFFFF, total, 2)
    if lane == 0:
        y[row] = total


def forms_elements(columns: Any, values: Any, x: Any, y: Any, n: Any) -> None:
    k = cuda.grid(1)
    if k < 12 * n:
        cuda.atomic.add(y, k // 12, values[k] * x[columns[k]])


REACH = r"""
extern "C" __global__ void reach_edges(
    const int* ends, int* levels, int level, int m, const int* starts)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= m) return;
    int v = ends[m + e];
    if (levels[ends[e]] == level && levels[v] < 0) levels[v] = level + 1;
}

extern "C" __global__ void reach_warp(
    const int* ends, int* levels, int level, int m, const int* starts)
{
    int u = blockIdx.x * blockDim.y + threadIdx.y;
    if (levels[u] != level) return;
    for (int e = starts[u] + threadIdx.x; e < starts[u + 1]; e += 32)
        if (levels[ends[m + e]] < 0) levels[ends[m + e]] = level + 1;
}
"""


def reach_edges(ends: Any, levels: Any, level: Any, m: Any, starts: Any) -> None:
    e = cuda.grid(1)
    if e < m:
        v = ends[1, e]
        if levels[ends[0, e]] == level and levels[v] < 0:
            levels[v] = level + 1


def reach_warp(ends: Any, levels: Any, level: Any, m: Any, starts: Any) -> None:
    u = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    if levels[u] == level:
        for e in range(starts[u] + cuda.threadIdx.x, starts[u + 1], 32):
            if levels[ends[1, e]] < 0:
                levels[ends[1, e]] = level + 1


LABEL = r"""
extern "C" __global__ void label_edges(
    const int* ends, const int* labels, int* least, int m, const int* starts)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < m) atomicMin(&least[ends[e]], labels[ends[m + e]]);
}

extern "C" __global__ void label_vertices(const int* __restrict__ ends,
    const int* __restrict__ labels, int* least, int m, const int* __restrict__ starts)
{
    int u = blockIdx.x * blockDim.x + threadIdx.x;
    int label = least[u];
    for (int e = starts[u]; e < starts[u + 1]; e++) label = min(label, labels[ends[m + e]]);
    least[u] = label;
}
"""


def label_edges(ends: Any, labels: Any, least: Any, m: Any, starts: Any) -> None:
    e = cuda.grid(1)
    if e < m:
        cuda.atomic.min(least, ends[0, e], labels[ends[1, e]])


def label_vertices(ends: Any, labels: Any, least: Any, m: Any, starts: Any) -> None:
    u = cuda.grid(1)
    label = least[u]
    for e in range(starts[u], starts[u + 1]):
        label = min(label, labels[ends[1, e]])
    least[u] = label


def by_rows(n: int) -> Data:
    """Twelve elements in a row, near the diagonal."""
    draw = random(120)
    columns = (np.arange(n)[:, None] + draw.integers(-2000, 2000, (n, 12))) % n
    values, x = draw.random((n, 12)), draw.random(n)
    y = (values * x[columns]).sum(axis=1)
    arguments = (columns.astype(np.int32).ravel(), values.ravel(), x, np.zeros(n), np.int32(n))
    return Data(arguments, {3: y}, tolerance=1e-9)


def by_columns(n: int) -> Data:
    made = by_rows(n)
    columns, values, *rest = made.arguments
    turned = (one.reshape(n, 12).T.ravel() for one in (columns, values))
    return Data((*turned, *rest), made.expected, made.tolerance)


def graph(n: int) -> tuple[Array, Array]:
    """Ends of 8n directed edges, sorted, and where those of a vertex start; low ones have more."""
    drawn = (n * random(121).random((2, 8 * n)) ** np.array([[2], [1]])).astype(np.int32)
    ends = np.ascontiguousarray(drawn[:, np.argsort(drawn[0], kind="stable")])
    starts = np.searchsorted(ends[0], np.arange(n + 1)).astype(np.int32)
    return ends, starts


def level(n: int) -> Data:
    """The step from the vertices of a level to those that it reaches."""
    ends, starts = graph(n)
    levels = np.full(n, -1, np.int32)
    levels[[0, n - 1]] = 0
    for step in range(2):
        right = levels.copy()
        reached = ends[1][levels[ends[0]] == step]
        right[reached[levels[reached] < 0]] = step + 1
        levels, before = right, levels
    return Data((ends, before, np.int32(1), np.int32(8 * n), starts), {1: right})


def labels(n: int) -> Data:
    ends, starts = graph(n)
    before = random(122).permutation(n).astype(np.int32)
    least = before.copy()
    np.minimum.at(least, ends[0], before[ends[1]])
    return Data((ends, before, before.copy(), np.int32(8 * n), starts), {2: least})


form = partial(Case, "sparse product in double", FORMS)
reach = partial(Case, "search by edges", REACH, level, 1 << 16, 1 << 9)
label = partial(Case, "step of components", LABEL, labels, 1 << 15, 1 << 9)
large, small = 3 << 14, 1 << 9
CASES = [
    form(by_columns, large, small, "thread a row, turned", forms_columns, lambda n: n // 128, 128),
    form(by_rows, large, small, "thread a row", forms_rows, lambda n: n // 128, 128),
    form(by_rows, large, small, "4 lanes a row", forms_lanes, lambda n: n // 32, 128),
    form(by_rows, large, small, "atomic an element", forms_elements, lambda n: 3 * n // 32, 128),
    reach("thread an edge", reach_edges, lambda n: n // 32, 256),
    reach("warp a vertex", reach_warp, lambda n: n // 8, (32, 8)),
    label("thread an edge", label_edges, lambda n: n // 16, 128),
    label("thread a vertex", label_vertices, lambda n: n // 128, 128),
]
