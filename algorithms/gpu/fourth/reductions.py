"""Sums of the columns of a matrix, and the largest elements of its rows."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import float32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, floats

COLUMNS = r"""
extern "C" __global__ void columns_thread(const float* a, float* sums, int rows, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= n) return;
    float sum = 0.0f;
    for (int row = 0; row < rows; row++) sum += a[row * n + column];
    sums[column] = sum;
}

extern "C" __global__ void columns_block(const float* a, float* sums, int rows, int n)
{
    __shared__ float s[8][32];
    int x = threadIdx.x, y = threadIdx.y;
    int column = blockIdx.x * 32 + x;
    float sum = 0.0f;
    for (int row = y; row < rows; row += 8) sum += a[row * n + column];
    s[y][x] = sum;
    __syncthreads();
    if (y == 0) {
        for (int k = 1; k < 8; k++) sum += s[k][x];
        sums[column] = sum;
    }
}

extern "C" __global__ void columns_atomic(
    const float* __restrict__ a, float* __restrict__ sums, int rows, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int first = blockIdx.y * 32;
    if (column >= n) return;
    float sum = 0.0f;
    for (int row = first; row < first + 32; row++) sum += a[row * n + column];
    atomicAdd(&sums[column], sum);
}
"""


def columns_thread(a: Any, sums: Any, rows: Any, n: Any) -> None:
    column = cuda.grid(1)
    if column >= n:
        return
    total = float32(0)
    for row in range(rows):
        total += a[row, column]
    sums[column] = total


def columns_block(a: Any, sums: Any, rows: Any, n: Any) -> None:
    s = cuda.shared.array((8, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column = cuda.blockIdx.x * 32 + x
    total = float32(0)
    for row in range(y, rows, 8):
        total += a[row, column]
    s[y, x] = total
    cuda.syncthreads()
    if y == 0:
        for k in range(1, 8):
            total += s[k, x]
        sums[column] = total


def columns_atomic(a: Any, sums: Any, rows: Any, n: Any) -> None:
    column = cuda.grid(1)
    first = cuda.blockIdx.y * 32
    if column >= n:
        return
    total = float32(0)
    for row in range(first, first + 32):
        total += a[row, column]
    cuda.atomic.add(sums, column, total)


ROWS = r"""
extern "C" __global__ void rows_thread(const float* a, float* most, int rows, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float x = a[row * n];
    for (int i = 1; i < n; i++) x = fmaxf(x, a[row * n + i]);
    most[row] = x;
}

extern "C" __global__ void rows_warp(const float* a, float* most, int rows, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float x = a[row * n + lane];
    for (int i = lane + 32; i < n; i += 32) x = fmaxf(x, a[row * n + i]);
    for (int d = 16; d > 0; d /= 2) x = fmaxf(x, __shfl_down_sync(0xffffffff, x, d));
    if (lane == 0) most[row] = x;
}

extern "C" __global__ void rows_block(const float* a, float* most, int rows, int n)
{
    __shared__ float s[256];
    int t = threadIdx.x, row = blockIdx.x;
    float x = a[row * n + t];
    for (int i = t + 256; i < n; i += 256) x = fmaxf(x, a[row * n + i]);
    s[t] = x;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) s[t] = fmaxf(s[t], s[t + d]);
        __syncthreads();
    }
    if (t == 0) most[row] = s[0];
}
"""


def rows_thread(a: Any, most: Any, rows: Any, n: Any) -> None:
    row = cuda.grid(1)
    if row >= rows:
        return
    x = a[row, 0]
    for i in range(1, n):
        x = max(x, a[row, i])
    most[row] = x


def rows_warp(a: Any, most: Any, rows: Any, n: Any) -> None:
    row = cuda.grid(1) // 32
    lane = cuda.threadIdx.x % 32
    if row >= rows:
        return
    x = a[row, lane]
    for i in range(lane + 32, n, 32):
        x = max(x, a[row, i])
    d = 16
    while d > 0:
        x = max(x, cuda.shfl_down_sync(0xFFFFFFFF, x, d))
        d //= 2
    if lane == 0:
        most[row] = x


def rows_block(a: Any, most: Any, rows: Any, n: Any) -> None:
    s = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    row = cuda.blockIdx.x
    x = a[row, t]
    for i in range(t + 256, n, 256):
        x = max(x, a[row, i])
    s[t] = x
    cuda.syncthreads()
    d = 128
    while d > 0:
        if t < d:
            s[t] = max(s[t], s[t + d])
        cuda.syncthreads()
        d //= 2
    if t == 0:
        most[row] = s[0]


def by_columns(rows: int) -> Data:
    a = floats(rows * 1024, 29).reshape(rows, 1024)
    sums = a.sum(axis=0, dtype=np.float64)
    arguments = (a, np.zeros(1024, np.float32), np.int32(rows), np.int32(1024))
    return Data(arguments, {1: sums}, tolerance=1e-4)


def by_rows(rows: int) -> Data:
    a = floats(rows * 1024, 30).reshape(rows, 1024)
    arguments = (a, np.zeros(rows, np.float32), np.int32(rows), np.int32(1024))
    return Data(arguments, {1: a.max(axis=1)})


of_columns = partial(Case, "sums of columns", COLUMNS, by_columns, 2048, 32)
of_rows = partial(Case, "largest of rows", ROWS, by_rows, 4096, 32)
CASES = [
    of_columns("thread a column", columns_thread, lambda rows: 32, 32),
    of_columns("block 32 columns", columns_block, lambda rows: 32, (32, 8)),
    of_columns("atomic every 32 rows", columns_atomic, lambda rows: (4, rows // 32), 256),
    of_rows("thread a row", rows_thread, lambda rows: rows // 32, 32),
    of_rows("warp a row", rows_warp, lambda rows: rows // 8, 256),
    of_rows("block a row", rows_block, lambda rows: rows, 256),
]
