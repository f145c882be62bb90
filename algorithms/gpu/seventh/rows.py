"""Variances of rows, places of the largest, sums of segments, and dot products of columns."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import float32, int32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, floats, random

VARIANCES = r"""
extern "C" __global__ void variances_warp(const float* __restrict__ a, float* found, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / 32, lane = i % 32;
    float sum = 0.0f, squares = 0.0f;
    for (int k = lane; k < width; k += 32) {
        float x = a[row * width + k];
        sum += x;
        squares += x * x;
    }
    for (int d = 16; d > 0; d /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, d);
        squares += __shfl_xor_sync(0xffffffff, squares, d);
    }
    if (lane == 0) {
        float mean = sum / width;
        found[row] = squares / width - mean * mean;
    }
}

extern "C" __global__ void variances_block(const float* a, float* found, int width)
{
    __shared__ float s[128];
    int row = blockIdx.x, t = threadIdx.x;
    float sum = 0.0f;
    for (int k = t; k < width; k += 128) sum += a[row * width + k];
    s[t] = sum;
    __syncthreads();
    for (int d = 64; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    float mean = s[0] / width;
    __syncthreads();
    float squares = 0.0f;
    for (int k = t; k < width; k += 128) {
        float x = a[row * width + k] - mean;
        squares += x * x;
    }
    s[t] = squares;
    __syncthreads();
    for (int d = 64; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) found[row] = s[0] / width;
}

extern "C" __global__ void variances_thread(const float* a, float* found, int width)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float mean = 0.0f, squares = 0.0f;
    for (int k = 0; k < width; k++) {
        float x = a[row * width + k], apart = x - mean;
        mean += apart / (k + 1);
        squares += apart * (x - mean);
    }
    found[row] = squares / width;
}
"""


def variances_warp(a: Any, found: Any, width: Any) -> None:
    i = cuda.grid(1)
    row, lane = i // 32, i % 32
    total, squares = float32(0), float32(0)
    for k in range(lane, width, 32):
        x = a[row, k]
        total += x
        squares += x * x
    d = 16
    while d > 0:
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, d)
        squares += cuda.shfl_xor_sync(0xFFFFFFFF, squares, d)
        d //= 2
    if lane == 0:
        mean = total / float32(width)
        found[row] = squares / float32(width) - mean * mean


def variances_block(a: Any, found: Any, width: Any) -> None:
    s = cuda.shared.array(128, float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    total = float32(0)
    for k in range(t, width, 128):
        total += a[row, k]
    s[t] = total
    cuda.syncthreads()
    d = 64
    while d > 0:
        if t < d:
            s[t] += s[t + d]
        cuda.syncthreads()
        d //= 2
    mean = s[0] / float32(width)
    cuda.syncthreads()
    squares = float32(0)
    for k in range(t, width, 128):
        x = a[row, k] - mean
        squares += x * x
    s[t] = squares
    cuda.syncthreads()
    d = 64
    while d > 0:
        if t < d:
            s[t] += s[t + d]
        cuda.syncthreads()
        d //= 2
    if t == 0:
        found[row] = s[0] / float32(width)


def variances_thread(a: Any, found: Any, width: Any) -> None:
    row = cuda.grid(1)
    mean, squares = float32(0), float32(0)
    for k in range(width):
        x = a[row, k]
        apart = x - mean
        mean += apart / float32(k + 1)
        squares += apart * (x - mean)
    found[row] = squares / float32(width)


LARGEST = r"""
extern "C" __global__ void largest_warp(const float* __restrict__ a, int* places, int width)
{
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32, place = lane;
    float most = a[row * width + lane];
    for (int k = lane + 32; k < width; k += 32) {
        float x = a[row * width + k];
        if (x > most) {
            most = x;
            place = k;
        }
    }
    for (int d = 16; d > 0; d /= 2) {
        float x = __shfl_xor_sync(0xffffffff, most, d);
        int k = __shfl_xor_sync(0xffffffff, place, d);
        if (x > most || (x == most && k < place)) {
            most = x;
            place = k;
        }
    }
    if (lane == 0) places[row] = place;
}

extern "C" __global__ void largest_block(const float* __restrict__ a, int* places, int width)
{
    __shared__ float s[256];
    __shared__ int r[256];
    int row = blockIdx.x, t = threadIdx.x, place = t;
    float most = a[row * width + t];
    for (int k = t + 256; k < width; k += 256) {
        float x = a[row * width + k];
        if (x > most) {
            most = x;
            place = k;
        }
    }
    s[t] = most;
    r[t] = place;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d && (s[t + d] > s[t] || (s[t + d] == s[t] && r[t + d] < r[t]))) {
            s[t] = s[t + d];
            r[t] = r[t + d];
        }
        __syncthreads();
    }
    if (t == 0) places[row] = r[0];
}
"""


def largest_warp(a: Any, places: Any, width: Any) -> None:
    row = cuda.blockIdx.x * 4 + cuda.threadIdx.x // 32
    lane = cuda.threadIdx.x % 32
    place = int32(lane)
    most = a[row, lane]
    for k in range(lane + 32, width, 32):
        x = a[row, k]
        if x > most:
            most = x
            place = int32(k)
    d = 16
    while d > 0:
        x = cuda.shfl_xor_sync(0xFFFFFFFF, most, d)
        other = cuda.shfl_xor_sync(0xFFFFFFFF, place, d)
        if x > most or (x == most and other < place):
            most = x
            place = other
        d //= 2
    if lane == 0:
        places[row] = place


def largest_block(a: Any, places: Any, width: Any) -> None:
    s = cuda.shared.array(256, float32)
    r = cuda.shared.array(256, int32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    place = int32(t)
    most = a[row, t]
    for k in range(t + 256, width, 256):
        x = a[row, k]
        if x > most:
            most = x
            place = int32(k)
    s[t] = most
    r[t] = place
    cuda.syncthreads()
    d = 128
    while d > 0:
        if t < d and (s[t + d] > s[t] or (s[t + d] == s[t] and r[t + d] < r[t])):
            s[t] = s[t + d]
            r[t] = r[t + d]
        cuda.syncthreads()
        d //= 2
    if t == 0:
        places[row] = r[0]


SEGMENTS = r"""
extern "C" __global__ void segments_thread(
    const float* __restrict__ a, const int* __restrict__ starts, float* sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int k = starts[i]; k < starts[i + 1]; k++) sum += a[k];
    sums[i] = sum;
}

extern "C" __global__ void segments_warp(
    const float* __restrict__ a, const int* __restrict__ starts, float* sums)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    int end = starts[i + 1];
    float sum = 0.0f;
    for (int k = starts[i] + lane; k < end; k += 32) sum += a[k];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (lane == 0) sums[i] = sum;
}
"""


def segments_thread(a: Any, starts: Any, sums: Any) -> None:
    i = cuda.grid(1)
    total = float32(0)
    for k in range(starts[i], starts[i + 1]):
        total += a[k]
    sums[i] = total


def segments_warp(a: Any, starts: Any, sums: Any) -> None:
    i = cuda.grid(1) // 32
    lane = cuda.threadIdx.x % 32
    total = float32(0)
    for k in range(starts[i] + lane, starts[i + 1], 32):
        total += a[k]
    d = 16
    while d > 0:
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, d)
        d //= 2
    if lane == 0:
        sums[i] = total


DOTS = r"""
extern "C" __global__ void dots_thread(
    const float* a, const float* b, float* dots, int height, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int y = 0; y < height; y++) sum += a[y * n + x] * b[y * n + x];
    dots[x] = sum;
}

extern "C" __global__ void dots_block(
    const float* a, const float* b, float* dots, int height, int n)
{
    __shared__ float s[8][32];
    int t = threadIdx.x, x = blockIdx.x * 32 + t;
    float sum = 0.0f;
    for (int y = threadIdx.y; y < height; y += 8) sum += a[y * n + x] * b[y * n + x];
    s[threadIdx.y][t] = sum;
    __syncthreads();
    if (threadIdx.y == 0) {
        for (int k = 1; k < 8; k++) sum += s[k][t];
        dots[x] = sum;
    }
}
"""


def dots_thread(a: Any, b: Any, dots: Any, height: Any, n: Any) -> None:
    x = cuda.grid(1)
    total = float32(0)
    for y in range(height):
        total += a[y, x] * b[y, x]
    dots[x] = total


def dots_block(a: Any, b: Any, dots: Any, height: Any, n: Any) -> None:
    s = cuda.shared.array((8, 32), float32)
    t = cuda.threadIdx.x
    x = cuda.blockIdx.x * 32 + t
    total = float32(0)
    for y in range(cuda.threadIdx.y, height, 8):
        total += a[y, x] * b[y, x]
    s[cuda.threadIdx.y, t] = total
    cuda.syncthreads()
    if cuda.threadIdx.y == 0:
        for k in range(1, 8):
            total += s[k, t]
        dots[x] = total


def spread(n: int) -> Data:
    """Rows of 256 floats."""
    a = floats(n * 256, 301).reshape(n, 256)
    right = a.var(axis=1, dtype=np.float64)
    return Data((a, np.zeros(n, np.float32), np.int32(256)), {1: right}, tolerance=1e-4)


def tied(n: int) -> Data:
    """Rows of 1024 whole numbers, whose largest one is there more than once at times."""
    a = random(302).integers(0, 2000, (n, 1024)).astype(np.float32)
    return Data((a, np.zeros(n, np.int32), np.int32(1024)), {1: a.argmax(axis=1)})


def runs(n: int) -> Data:
    """Segments of 64 floats on the average, some of them empty."""
    a, ends = floats(n, 303), random(304).integers(0, n + 1, n // 64 - 1)
    starts = np.concatenate(([0], np.sort(ends), [n])).astype(np.int32)
    before = np.concatenate(([0.0], np.cumsum(a, dtype=np.float64)))
    right = np.diff(before[starts])
    return Data((a, starts, np.zeros(n // 64, np.float32)), {2: right}, tolerance=1e-4)


def pairs(n: int) -> Data:
    """Two matrices of n columns, which are n / 16 high."""
    a, b = floats(2 * n * (n // 16), 305).reshape(2, n // 16, n)
    right = np.einsum("yx,yx->x", a, b, dtype=np.float64)
    arguments = (a, b, np.zeros(n, np.float32), np.int32(n // 16), np.int32(n))
    return Data(arguments, {2: right}, tolerance=1e-4)


variances = partial(Case, "variances of rows", VARIANCES, spread, 1 << 14, 32)
largest = partial(Case, "place of the largest", LARGEST, tied, 1 << 10, 4)
segments = partial(Case, "segments of runs", SEGMENTS, runs, 1 << 23, 1 << 13)
dots = partial(Case, "dot products of columns", DOTS, pairs, 1 << 13, 1 << 8)
CASES = [
    variances("warp a row", variances_warp, lambda n: n // 8, 256),
    variances("block a row", variances_block, lambda n: n, 128),
    variances("thread a row", variances_thread, lambda n: n // 32, 32),
    largest("warp a row", largest_warp, lambda n: n // 4, 128),
    largest("block a row", largest_block, lambda n: n, 256),
    segments("thread a segment", segments_thread, lambda n: n // 8192, 128),
    segments("warp a segment", segments_warp, lambda n: n // 512, 256),
    dots("thread a column", dots_thread, lambda n: n // 64, 64),
    dots("blocks of 32 by 8", dots_block, lambda n: n // 32, (32, 8)),
]
