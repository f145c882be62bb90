"""Sparse matrices with uneven rows, ranks of pages, and tridiagonal systems."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import float32

from mmsim import cuda
from mmsim_algorithms.gpu.fifth.sparse import graph
from mmsim_algorithms.gpu.fourth.case import Case, Data, floats, random

UNEVEN = r"""
extern "C" __global__ void uneven_thread(const int* columns, const float* values,
    const float* x, float* y, const int* starts, const int* rows, int m)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int k = starts[row]; k < starts[row + 1]; k++) sum += values[k] * x[columns[k]];
    y[row] = sum;
}

extern "C" __global__ void uneven_lanes(const int* __restrict__ columns,
    const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y,
    const int* __restrict__ starts, const int* rows, int m)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int k = starts[row] + threadIdx.x; k < starts[row + 1]; k += 8)
        sum += values[k] * x[columns[k]];
    for (int d = 4; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (threadIdx.x == 0) y[row] = sum;
}

extern "C" __global__ void uneven_elements(const int* columns, const float* values,
    const float* x, float* y, const int* starts, const int* rows, int m)
{
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < m; k += gridDim.x * blockDim.x)
        atomicAdd(&y[rows[k]], values[k] * x[columns[k]]);
}
"""


def uneven_thread(
    columns: Any, values: Any, x: Any, y: Any, starts: Any, rows: Any, m: Any
) -> None:
    row = cuda.grid(1)
    total = float32(0)
    for k in range(starts[row], starts[row + 1]):
        total += values[k] * x[columns[k]]
    y[row] = total


def uneven_lanes(columns: Any, values: Any, x: Any, y: Any, starts: Any, rows: Any, m: Any) -> None:
    row = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    total = float32(0)
    for k in range(starts[row] + cuda.threadIdx.x, starts[row + 1], 8):
        total += values[k] * x[columns[k]]
    d = 4
    while d > 0:
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, d)
        d //= 2
    if cuda.threadIdx.x == 0:
        y[row] = total


def uneven_elements(
    columns: Any, values: Any, x: Any, y: Any, starts: Any, rows: Any, m: Any
) -> None:
    for k in range(cuda.grid(1), m, cuda.gridsize(1)):
        cuda.atomic.add(y, rows[k], values[k] * x[columns[k]])


RANKS = r"""
extern "C" __global__ void ranks_vertex(
    const int* ends, const int* starts, const float* rank, float* next, int m)
{
    int u = blockIdx.x * blockDim.x + threadIdx.x, first = starts[u], end = starts[u + 1];
    if (first == end) return;
    float share = 0.85f * rank[u] / (end - first);
    for (int e = first; e < end; e++) atomicAdd(&next[ends[m + e]], share);
}

extern "C" __global__ void ranks_edge(
    const int* ends, const int* starts, const float* rank, float* next, int m)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= m) return;
    int u = ends[e];
    atomicAdd(&next[ends[m + e]], 0.85f * rank[u] / (starts[u + 1] - starts[u]));
}
"""


def ranks_vertex(ends: Any, starts: Any, rank: Any, next: Any, m: Any) -> None:
    u = cuda.grid(1)
    first, end = starts[u], starts[u + 1]
    if first == end:
        return
    share = float32(0.85) * rank[u] / float32(end - first)
    for e in range(first, end):
        cuda.atomic.add(next, ends[1, e], share)


def ranks_edge(ends: Any, starts: Any, rank: Any, next: Any, m: Any) -> None:
    e = cuda.grid(1)
    if e < m:
        u = ends[0, e]
        share = float32(0.85) * rank[u] / float32(starts[u + 1] - starts[u])
        cuda.atomic.add(next, ends[1, e], share)


THOMAS = r"""
extern "C" __global__ void thomas(const float* a, const float* b, float* c, float* d, int n,
    int by_system, int by_row)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * by_system;
    float p = 0.0f, q = 0.0f;
    for (int k = 0; k < n; k++) {
        int i = first + k * by_row;
        float scale = 1.0f / (b[i] - a[i] * p);
        p = c[i] * scale;
        q = (d[i] - a[i] * q) * scale;
        c[i] = p;
        d[i] = q;
    }
    for (int k = n - 2; k >= 0; k--) {
        int i = first + k * by_row;
        q = d[i] - c[i] * q;
        d[i] = q;
    }
}
"""


def thomas(a: Any, b: Any, c: Any, d: Any, n: Any, by_system: Any, by_row: Any) -> None:
    first = cuda.grid(1) * by_system
    p, q = float32(0), float32(0)
    for k in range(n):
        i = first + k * by_row
        scale = float32(1) / (b[i] - a[i] * p)
        p = c[i] * scale
        q = (d[i] - a[i] * q) * scale
        c[i] = p
        d[i] = q
    for k in range(n - 2, -1, -1):
        i = first + k * by_row
        q = d[i] - c[i] * q
        d[i] = q


def power(n: int) -> Data:
    """Rows from 4 to 2048 elements long by a power law, in any columns."""
    draw = random(217)
    lengths = np.minimum(4 * draw.random(n) ** -0.6, 2048).astype(int)
    starts = np.append(0, lengths.cumsum()).astype(np.int32)
    rows, m = np.repeat(np.arange(n, dtype=np.int32), lengths), int(starts[-1])
    columns, values, x = draw.integers(0, n, m, np.int32), floats(m, 218), floats(n, 219)
    y = np.bincount(rows, values.astype(np.float64) * x[columns], minlength=n)
    arguments = (columns, values, x, np.zeros(n, np.float32), starts, rows, np.int32(m))
    return Data(arguments, {3: y}, tolerance=1e-5)


def pages(n: int) -> Data:
    ends, starts = graph(n)
    rank = floats(n, 220)
    shares = 0.85 * rank[ends[0]] / np.diff(starts)[ends[0]]
    right = 0.15 + np.bincount(ends[1], shares, minlength=n)
    next = np.full(n, 0.15, np.float32)
    return Data((ends, starts, rank, next, np.int32(8 * n)), {3: right}, tolerance=1e-5)


def systems(n: int, turned: bool) -> Data:
    """Systems of 512 equations; the expected results are their solutions."""
    a, b, c, x = floats(4 * n * 512, 231).reshape(4, n, 512)
    b += 3
    d = b * x
    d[:, 1:] += a[:, 1:] * x[:, :-1]
    d[:, :-1] += c[:, :-1] * x[:, 1:]
    a, b, c, d, x = ((one.T if turned else one).flatten() for one in (a, b, c, d, x))
    by = (1, n) if turned else (512, 1)
    return Data((a, b, c, d, *map(np.int32, (512, *by))), {3: x}, tolerance=1e-5)


def solve(way: str, turned: bool) -> Case:
    data = partial(systems, turned=turned)
    job = "tridiagonal systems"
    return Case(job, THOMAS, data, 1 << 13, 1 << 7, way, thomas, lambda n: n // 64, 64)


uneven = partial(Case, "uneven sparse matrix", UNEVEN, power, 1 << 16, 1 << 9)
ranks = partial(Case, "ranks of pages", RANKS, pages, 1 << 17, 1 << 9)
CASES = [
    uneven("thread a row", uneven_thread, lambda n: n // 256, 256),
    uneven("8 lanes a row", uneven_lanes, lambda n: n // 32, (8, 32)),
    uneven("atomic an element", uneven_elements, lambda n: n // 64, 256),
    ranks("thread a vertex", ranks_vertex, lambda n: n // 64, 64),
    ranks("thread an edge", ranks_edge, lambda n: n // 32, 256),
    solve("system by system", False),
    solve("row by row", True),
]
