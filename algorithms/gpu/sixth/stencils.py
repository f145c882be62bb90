"""Stencils: filters of 5 by 5, edges in images, and steps of a wave."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import float32, int32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, floats, random

FILTER = r"""
extern "C" __global__ void filter_global(const float* a, const float* mask, float* b, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) sum += mask[i * 5 + j] * a[(y + i) * (n + 4) + x + j];
    b[y * n + x] = sum;
}

extern "C" __global__ void filter_shared(
    const float* __restrict__ a, const float* __restrict__ mask, float* b, int n)
{
    __shared__ float s[20][20];
    int x = threadIdx.x, y = threadIdx.y, left = blockIdx.x * 16, top = blockIdx.y * 16;
    for (int k = y * 16 + x; k < 400; k += 256)
        s[k / 20][k % 20] = a[(top + k / 20) * (n + 4) + left + k % 20];
    __syncthreads();
    float sum = 0.0f;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) sum += mask[i * 5 + j] * s[y + i][x + j];
    b[(top + y) * n + left + x] = sum;
}
"""


def filter_global(a: Any, mask: Any, b: Any, n: Any) -> None:
    x, y = cuda.grid(2)
    total = float32(0)
    for i in range(5):
        for j in range(5):
            total += mask[i, j] * a[y + i, x + j]
    b[y, x] = total


def filter_shared(a: Any, mask: Any, b: Any, n: Any) -> None:
    s = cuda.shared.array((20, 20), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * 16, cuda.blockIdx.y * 16
    for k in range(y * 16 + x, 400, 256):
        s[k // 20, k % 20] = a[top + k // 20, left + k % 20]
    cuda.syncthreads()
    total = float32(0)
    for i in range(5):
        for j in range(5):
            total += mask[i, j] * s[y + i, x + j]
    b[top + y, left + x] = total


EDGES = r"""
extern "C" __global__ void edges(const unsigned char* a, unsigned char* b, int each, int n)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * each;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    for (int x = first; x < first + each; x++) {
        const unsigned char *p = a + y * (n + 2) + x, *q = p + n + 2, *r = q + n + 2;
        int across = p[2] + 2 * q[2] + r[2] - p[0] - 2 * q[0] - r[0];
        int down = r[0] + 2 * r[1] + r[2] - p[0] - 2 * p[1] - p[2];
        b[y * n + x] = min(abs(across) + abs(down), 255);
    }
}
"""


def edges(a: Any, b: Any, each: Any, n: Any) -> None:
    first, y = cuda.grid(2)
    for x in range(each * first, each * first + each):
        across = int32(a[y, x + 2]) + 2 * int32(a[y + 1, x + 2]) + int32(a[y + 2, x + 2])
        across -= int32(a[y, x]) + 2 * int32(a[y + 1, x]) + int32(a[y + 2, x])
        down = int32(a[y + 2, x]) + 2 * int32(a[y + 2, x + 1]) + int32(a[y + 2, x + 2])
        down -= int32(a[y, x]) + 2 * int32(a[y, x + 1]) + int32(a[y, x + 2])
        b[y, x] = min(abs(across) + abs(down), 255)


WAVE = r"""
extern "C" __global__ void wave(const float* u, float* v, float speed, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 2 || y < 2 || x >= n - 2 || y >= n - 2) return;
    int i = y * n + x;
    float near = u[i - 1] + u[i + 1] + u[i - n] + u[i + n];
    float far = u[i - 2] + u[i + 2] + u[i - 2 * n] + u[i + 2 * n];
    float change = 16.0f * near - far - 60.0f * u[i];
    v[i] = 2.0f * u[i] - v[i] + speed * change;
}
"""


def wave(u: Any, v: Any, speed: Any, n: Any) -> None:
    x, y = cuda.grid(2)
    if x < 2 or y < 2 or x >= n - 2 or y >= n - 2:
        return
    near = u[y, x - 1] + u[y, x + 1] + u[y - 1, x] + u[y + 1, x]
    far = u[y, x - 2] + u[y, x + 2] + u[y - 2, x] + u[y + 2, x]
    change = float32(16) * near - far - float32(60) * u[y, x]
    v[y, x] = float32(2) * u[y, x] - v[y, x] + speed * change


def photo(n: int) -> Data:
    a, mask = floats((n + 4) ** 2, 211).reshape(n + 4, n + 4), floats(25, 212).reshape(5, 5)
    windows = np.lib.stride_tricks.sliding_window_view(a, (5, 5))
    right = np.einsum("yxij,ij->yx", windows, mask, dtype=np.float64)
    return Data((a, mask, np.zeros((n, n), np.float32), np.int32(n)), {2: right}, tolerance=1e-5)


def grey(n: int, each: int) -> Data:
    a = random(213).integers(0, 80, (n + 2, n + 2), np.uint8)
    one = a.astype(int)
    rows = one[:-2] + 2 * one[1:-1] + one[2:]
    columns = one[:, :-2] + 2 * one[:, 1:-1] + one[:, 2:]
    across, down = rows[:, 2:] - rows[:, :-2], columns[2:] - columns[:-2]
    right = np.minimum(abs(across) + abs(down), 255)
    return Data((a, np.zeros((n, n), np.uint8), np.int32(each), np.int32(n)), {1: right})


def water(n: int) -> Data:
    u, v = floats(2 * n * n, 214).reshape(2, n, n)
    right, own = v.astype(np.float64), u.astype(np.float64)
    change = -60 * own[2:-2, 2:-2]
    for d, weight in ((1, 16), (2, -1)):
        for axis in (0, 1):
            for side in (d, -d):
                change += weight * np.roll(own, side, axis)[2:-2, 2:-2]
    right[2:-2, 2:-2] = 2 * own[2:-2, 2:-2] - right[2:-2, 2:-2] + 0.0125 * change
    return Data((u, v, np.float32(0.0125), np.int32(n)), {1: right}, tolerance=1e-5)


def edge(each: int) -> Case:
    data, way = partial(grey, each=each), f"{each} a thread"
    return Case("edges in an image", EDGES, data, 2048, 128, way, edges,
                lambda n: (n // 32 // each, n // 4), (32, 4))  # fmt: skip


filters = partial(Case, "filter of 5 by 5", FILTER, photo, 1024, 32)
waves = partial(Case, "step of a wave", WAVE, water, 2048, 128)
CASES = [
    filters("global", filter_global, lambda n: (n // 32, n // 4), (32, 4)),
    filters("shared", filter_shared, lambda n: (n // 16, n // 16), (16, 16)),
    *map(edge, (1, 4)),
    waves("blocks of 128 by 2", wave, lambda n: (n // 128, n // 2), (128, 2)),
    waves("blocks of 8 by 32", wave, lambda n: (n // 8, n // 32), (8, 32)),
]
