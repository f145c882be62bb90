"""Sparse matrices by a vector and by a dense one, degrees of vertices, and positions in order."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import float32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Array, Case, Data, floats, random

EQUAL = r"""
extern "C" __global__ void equal_columns(const float* __restrict__ values,
    const int* __restrict__ columns, const float* __restrict__ x, float* y, int width, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < width; k++) {
        int j = columns[k * n + i];
        if (j >= 0) sum += values[k * n + i] * x[j];
    }
    y[i] = sum;
}

extern "C" __global__ void equal_rows(const float* __restrict__ values,
    const int* __restrict__ columns, const float* __restrict__ x, float* y, int width, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < width; k++) {
        int j = columns[i * width + k];
        if (j >= 0) sum += values[i * width + k] * x[j];
    }
    y[i] = sum;
}
"""


def equal_columns(values: Any, columns: Any, x: Any, y: Any, width: Any, n: Any) -> None:
    i = cuda.grid(1)
    total = float32(0)
    for k in range(width):
        j = columns[k, i]
        if j >= 0:
            total += values[k, i] * x[j]
    y[i] = total


def equal_rows(values: Any, columns: Any, x: Any, y: Any, width: Any, n: Any) -> None:
    i = cuda.grid(1)
    total = float32(0)
    for k in range(width):
        j = columns[i, k]
        if j >= 0:
            total += values[i, k] * x[j]
    y[i] = total


DENSE = r"""
extern "C" __global__ void dense_row(const float* values, const int* columns, const int* starts,
    const float* b, float* c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sums[8];
    for (int m = 0; m < 8; m++) sums[m] = 0.0f;
    int end = starts[i + 1];
    for (int k = starts[i]; k < end; k++) {
        float x = values[k];
        int j = columns[k];
        for (int m = 0; m < 8; m++) sums[m] += x * b[j * 8 + m];
    }
    for (int m = 0; m < 8; m++) c[i * 8 + m] = sums[m];
}

extern "C" __global__ void dense_element(const float* __restrict__ values,
    const int* __restrict__ columns, const int* __restrict__ starts,
    const float* __restrict__ b, float* c)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, i = t / 8, m = t % 8;
    int end = starts[i + 1];
    float sum = 0.0f;
    for (int k = starts[i]; k < end; k++) sum += values[k] * b[columns[k] * 8 + m];
    c[t] = sum;
}
"""


def dense_row(values: Any, columns: Any, starts: Any, b: Any, c: Any) -> None:
    i = cuda.grid(1)
    sums = cuda.local.array(8, float32)
    for m in range(8):
        sums[m] = 0
    for k in range(starts[i], starts[i + 1]):
        x = values[k]
        j = columns[k]
        for m in range(8):
            sums[m] += x * b[j, m]
    for m in range(8):
        c[i, m] = sums[m]


def dense_element(values: Any, columns: Any, starts: Any, b: Any, c: Any) -> None:
    t = cuda.grid(1)
    i, m = t // 8, t % 8
    total = float32(0)
    for k in range(starts[i], starts[i + 1]):
        total += values[k] * b[columns[k], m]
    c[i, m] = total


DEGREES = r"""
extern "C" __global__ void degrees_edge(const int* ends, int* degrees, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&degrees[ends[i]], 1);
}

extern "C" __global__ void degrees_vertex(const int* __restrict__ ends, int* degrees, int n)
{
    int vertex = blockIdx.x * blockDim.x + threadIdx.x;
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (ends[middle] < vertex)
            low = middle + 1;
        else
            high = middle;
    }
    int last = low;
    while (last < n && ends[last] == vertex) last++;
    degrees[vertex] = last - low;
}
"""


def degrees_edge(ends: Any, degrees: Any, n: Any) -> None:
    i = cuda.grid(1)
    if i < n:
        cuda.atomic.add(degrees, ends[i], 1)


def degrees_vertex(ends: Any, degrees: Any, n: Any) -> None:
    vertex = cuda.grid(1)
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if ends[middle] < vertex:
            low = middle + 1
        else:
            high = middle
    last = low
    while last < n and ends[last] == vertex:
        last += 1
    degrees[vertex] = last - low


POSITIONS = r"""
extern "C" __global__ void positions_one(
    const int* __restrict__ table, const int* __restrict__ wanted, int* positions, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = wanted[i];
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (table[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    positions[i] = low;
}

extern "C" __global__ void positions_four(
    const int* __restrict__ table, const int* __restrict__ wanted, int* positions, int n)
{
    int first = blockIdx.x * 1024 + threadIdx.x;
    for (int i = first; i < first + 1024; i += 256) {
        int x = wanted[i], low = 0, high = n;
        while (low < high) {
            int middle = (low + high) / 2;
            if (table[middle] < x)
                low = middle + 1;
            else
                high = middle;
        }
        positions[i] = low;
    }
}
"""


def positions_one(table: Any, wanted: Any, positions: Any, n: Any) -> None:
    i = cuda.grid(1)
    low, high, x = 0, n, wanted[i]
    while low < high:
        middle = (low + high) // 2
        if table[middle] < x:
            low = middle + 1
        else:
            high = middle
    positions[i] = low


def positions_four(table: Any, wanted: Any, positions: Any, n: Any) -> None:
    first = cuda.blockIdx.x * 1024 + cuda.threadIdx.x
    for i in range(first, first + 1024, 256):
        low, high, x = 0, n, wanted[i]
        while low < high:
            middle = (low + high) // 2
            if table[middle] < x:
                low = middle + 1
            else:
                high = middle
        positions[i] = low


def padded(n: int, turned: bool) -> Data:
    """A matrix with 8 to 24 elements in a row, and -1 for the columns of those that lack."""
    values, x = floats(24 * n, 311).reshape(n, 24), floats(n, 312)
    near = np.arange(n)[:, None] + random(313).integers(-2000, 2000, (n, 24))
    there = np.arange(24) < random(314).integers(8, 25, n)[:, None]
    columns = np.where(there, near % n, -1).astype(np.int32)
    right = np.where(there, values.astype(np.float64) * x[columns], 0).sum(axis=1)
    matrix: tuple[Array, ...] = (values, columns)
    if turned:
        matrix = tuple(np.ascontiguousarray(one.T) for one in matrix)
    arguments = (*matrix, x, np.zeros(n, np.float32), np.int32(24), np.int32(n))
    return Data(arguments, {3: right}, tolerance=1e-4)


def sparse(n: int) -> Data:
    """A matrix with 1 to 31 elements in a row, and a dense one with 8 columns."""
    lengths = random(315).integers(1, 32, n)
    starts = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    columns = random(316).integers(0, n, starts[-1], np.int32)
    values, b = floats(len(columns), 317), floats(8 * n, 318).reshape(n, 8)
    right = np.add.reduceat(values[:, None].astype(np.float64) * b[columns], starts[:-1])
    arguments = (values, columns, starts, b, np.zeros((n, 8), np.float32))
    return Data(arguments, {4: right}, tolerance=1e-4)


def graph(n: int, in_order: bool) -> Data:
    """Vertices where n edges start, 16 at one on the average."""
    ends = random(319).integers(0, n // 16, n, np.int32)
    right = np.bincount(ends, minlength=n // 16)
    if in_order:
        ends.sort()
    return Data((ends, np.zeros(n // 16, np.int32), np.int32(n)), {1: right})


def ordered(n: int) -> Data:
    """Numbers to find in a sorted table."""
    table, wanted = random(320).integers(0, 1 << 30, (2, n), np.int32)
    table.sort()
    right = np.searchsorted(table, wanted)
    return Data((table, wanted, np.zeros(n, np.int32), np.int32(n)), {2: right})


def degree(way: str, in_order: bool) -> Case:
    """A case with an atomic for each edge."""
    data = partial(graph, in_order=in_order)
    return degrees(data, 1 << 20, 1 << 12, way, degrees_edge, lambda n: n // 256, 256)


job = "matrix in rows of equal length"
columns_first, rows_first = partial(padded, turned=True), partial(padded, turned=False)
equal = partial(Case, job, EQUAL)
dense = partial(Case, "sparse by dense", DENSE, sparse, 1 << 17, 1 << 7)
degrees = partial(Case, "degrees of vertices", DEGREES)
positions = partial(Case, "positions by bisection", POSITIONS, ordered, 1 << 21, 1 << 12)
CASES = [
    equal(columns_first, 1 << 17, 1 << 8, "column major", equal_columns, lambda n: n // 128, 128),
    equal(rows_first, 1 << 17, 1 << 8, "row major", equal_rows, lambda n: n // 128, 128),
    dense("thread a row", dense_row, lambda n: n // 128, 128),
    dense("thread an element", dense_element, lambda n: n // 32, 256),
    degree("atomic an edge", False),
    degree("atomic a sorted edge", True),
    degrees(partial(graph, in_order=True), 1 << 20, 1 << 12, "thread a vertex", degrees_vertex,
            lambda n: n // 2048, 128),
    positions("thread a query", positions_one, lambda n: n // 256, 256),
    positions("4 queries a thread", positions_four, lambda n: n // 1024, 256),
]  # fmt: skip
