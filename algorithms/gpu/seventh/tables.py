"""Rows by index, normalized rows, an equalized image, and nearest of centres."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numba import float32, int32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, floats, random

ROWS = r"""
extern "C" __global__ void rows_elements(const float* table, const int* index, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = table[index[i / 64] * 64 + i % 64];
}

extern "C" __global__ void rows_warps(
    const float* __restrict__ table, const int* __restrict__ index, float* out)
{
    int lane = threadIdx.x % 32, i = blockIdx.x * 8 + threadIdx.x / 32;
    int row = index[i];
    out[i * 64 + lane] = table[row * 64 + lane];
    out[i * 64 + lane + 32] = table[row * 64 + lane + 32];
}
"""


def rows_elements(table: Any, index: Any, out: Any) -> None:
    i = cuda.grid(1)
    out[i // 64, i % 64] = table[index[i // 64], i % 64]


def rows_warps(table: Any, index: Any, out: Any) -> None:
    lane = cuda.threadIdx.x % 32
    i = cuda.blockIdx.x * 8 + cuda.threadIdx.x // 32
    row = index[i]
    out[i, lane] = table[row, lane]
    out[i, lane + 32] = table[row, lane + 32]


NORMS = r"""
extern "C" __global__ void norm_warp(const float* a, const float* weight, float* b, int width)
{
    int lane = threadIdx.x % 32, row = blockIdx.x * 4 + threadIdx.x / 32;
    float sum = 0.0f;
    for (int k = lane; k < width; k += 32) {
        float x = a[row * width + k];
        sum += x * x;
    }
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, d);
    float by = 1.0f / sqrtf(sum / (float)width + 1e-5f);
    for (int k = lane; k < width; k += 32)
        b[row * width + k] = a[row * width + k] * by * weight[k];
}

extern "C" __global__ void norm_block(
    const float* __restrict__ a, const float* __restrict__ weight, float* b, int width)
{
    __shared__ float s[8];
    int t = threadIdx.x, row = blockIdx.x;
    float sum = 0.0f;
    for (int k = t; k < width; k += 256) {
        float x = a[row * width + k];
        sum += x * x;
    }
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (t % 32 == 0) s[t / 32] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int k = 0; k < 8; k++) sum += s[k];
    float by = 1.0f / sqrtf(sum / (float)width + 1e-5f);
    for (int k = t; k < width; k += 256)
        b[row * width + k] = a[row * width + k] * by * weight[k];
}
"""


def norm_warp(a: Any, weight: Any, b: Any, width: Any) -> None:
    lane = cuda.threadIdx.x % 32
    row = cuda.blockIdx.x * 4 + cuda.threadIdx.x // 32
    total = float32(0)
    for k in range(lane, width, 32):
        x = a[row, k]
        total += x * x
    d = 16
    while d > 0:
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, d)
        d >>= 1
    by = float32(1) / math.sqrt(total / float32(width) + float32(1e-5))
    for k in range(lane, width, 32):
        b[row, k] = a[row, k] * by * weight[k]


def norm_block(a: Any, weight: Any, b: Any, width: Any) -> None:
    s = cuda.shared.array(8, float32)
    t = cuda.threadIdx.x
    row = cuda.blockIdx.x
    total = float32(0)
    for k in range(t, width, 256):
        x = a[row, k]
        total += x * x
    d = 16
    while d > 0:
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, d)
        d >>= 1
    if t % 32 == 0:
        s[t // 32] = total
    cuda.syncthreads()
    total = float32(0)
    for k in range(8):
        total += s[k]
    by = float32(1) / math.sqrt(total / float32(width) + float32(1e-5))
    for k in range(t, width, 256):
        b[row, k] = a[row, k] * by * weight[k]


EQUAL = r"""
extern "C" __global__ void equal_global(const int* a, const int* table, int* b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] = table[a[i]];
}

extern "C" __global__ void equal_shared(
    const int* __restrict__ a, const int* __restrict__ table, int* b, int n)
{
    __shared__ int s[256];
    s[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        b[i] = s[a[i]];
}
"""


def equal_global(a: Any, table: Any, b: Any, n: Any) -> None:
    i = cuda.grid(1)
    if i < n:
        b[i] = table[a[i]]


def equal_shared(a: Any, table: Any, b: Any, n: Any) -> None:
    s = cuda.shared.array(256, int32)
    s[cuda.threadIdx.x] = table[cuda.threadIdx.x]
    cuda.syncthreads()
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        b[i] = s[a[i]]


NEAREST = r"""
extern "C" __global__ void nearest_global(const float* points, const float* centres, int* labels)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = points[2 * i], y = points[2 * i + 1], least = 1000.0f;
    int label = 0;
    for (int k = 0; k < 32; k++) {
        float dx = x - centres[2 * k], dy = y - centres[2 * k + 1];
        float square = dx * dx + dy * dy;
        if (square < least) {
            least = square;
            label = k;
        }
    }
    labels[i] = label;
}

extern "C" __global__ void nearest_shared(
    const float* __restrict__ points, const float* __restrict__ centres, int* labels)
{
    __shared__ float s[32][2];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t < 64) s[t / 2][t % 2] = centres[t];
    __syncthreads();
    float x = points[2 * i], y = points[2 * i + 1], least = 1000.0f;
    int label = 0;
    for (int k = 0; k < 32; k++) {
        float dx = x - s[k][0], dy = y - s[k][1];
        float square = dx * dx + dy * dy;
        if (square < least) {
            least = square;
            label = k;
        }
    }
    labels[i] = label;
}
"""


def nearest_global(points: Any, centres: Any, labels: Any) -> None:
    i = cuda.grid(1)
    x, y = points[i, 0], points[i, 1]
    least = float32(1000)
    label = 0
    for k in range(32):
        dx, dy = x - centres[k, 0], y - centres[k, 1]
        square = dx * dx + dy * dy
        if square < least:
            least = square
            label = k
    labels[i] = label


def nearest_shared(points: Any, centres: Any, labels: Any) -> None:
    s = cuda.shared.array((32, 2), float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if t < 64:
        s[t // 2, t % 2] = centres[t // 2, t % 2]
    cuda.syncthreads()
    x, y = points[i, 0], points[i, 1]
    least = float32(1000)
    label = 0
    for k in range(32):
        dx, dy = x - s[k, 0], y - s[k, 1]
        square = dx * dx + dy * dy
        if square < least:
            least = square
            label = k
    labels[i] = label


def words(n: int) -> Data:
    """Numbers of words, and a table with a row for each of the words."""
    table = floats(16 * n, 311).reshape(n // 4, 64)
    index = random(312).integers(0, n // 4, n, np.int32)
    return Data((table, index, np.zeros((n, 64), np.float32)), {2: table[index]})


def layer(n: int) -> Data:
    a, weight = floats(1024 * n, 313).reshape(n, 1024) - np.float32(0.5), floats(1024, 314)
    squares = (a.astype(np.float64) ** 2).mean(axis=1, keepdims=True)
    right = a / np.sqrt(squares + 1e-5) * weight
    return Data((a, weight, np.zeros_like(a), np.int32(1024)), {2: right}, tolerance=1e-5)


def photo(n: int) -> Data:
    """A dark image, and the table that equalizes it."""
    a = (256 * floats(n, 315) ** 2).astype(np.int32)
    table = (np.bincount(a, minlength=256).cumsum() * 255 // n).astype(np.int32)
    return Data((a, table, np.zeros(n, np.int32), np.int32(n)), {2: table[a]})


def plane(n: int) -> Data:
    points, centres = floats(2 * n, 316).reshape(n, 2), floats(64, 317).reshape(32, 2)
    least, labels = np.full(n, np.inf), np.zeros(n, np.int32)
    for k, centre in enumerate(centres.astype(np.float64)):
        square = ((points - centre) ** 2).sum(axis=1)
        labels[square < least] = k
        least = np.minimum(least, square)
    return Data((points, centres, np.zeros(n, np.int32)), {2: labels}, differ=1e-4)


rows = partial(Case, "rows by index", ROWS, words, 1 << 17, 1 << 6)
norms = partial(Case, "normalized rows", NORMS, layer, 1 << 12, 1 << 2)
images = partial(Case, "equalized image", EQUAL, photo, 1 << 20, 1 << 12)
nearest = partial(Case, "nearest of centres", NEAREST, plane, 1 << 21, 1 << 10)
CASES = [
    rows("thread an element", rows_elements, lambda n: n // 4, 256),
    rows("warp a row", rows_warps, lambda n: n // 8, 256),
    norms("warp a row", norm_warp, lambda n: n // 4, 128),
    norms("block a row", norm_block, lambda n: n, 256),
    images("table in global", equal_global, lambda n: n // 256, 256),
    images("table in shared", equal_shared, lambda n: n // 2048, 256),
    nearest("centres in global", nearest_global, lambda n: n // 128, 128),
    nearest("centres in shared", nearest_shared, lambda n: n // 128, 128),
]
