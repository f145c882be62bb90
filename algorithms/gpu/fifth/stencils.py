"""Stencils: along a line in double, a box blur, the game of life, and heat in rods."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import float32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, floats, random

LINE = r"""
extern "C" __global__ void line_global(const double* a, double* b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = 0.4 * a[i + 3] + 0.15 * (a[i + 2] + a[i + 4]) + 0.1 * (a[i + 1] + a[i + 5])
        + 0.05 * (a[i] + a[i + 6]);
}

extern "C" __global__ void line_chunk(
    const double* __restrict__ a, double* __restrict__ b, int n)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    double p = a[first], q = a[first + 1], r = a[first + 2], s = a[first + 3];
    double u = a[first + 4], v = a[first + 5];
    for (int i = first; i < first + 8; i++) {
        double w = a[i + 6];
        b[i] = 0.4 * s + 0.15 * (r + u) + 0.1 * (q + v) + 0.05 * (p + w);
        p = q, q = r, r = s, s = u, u = v, v = w;
    }
}
"""


def line_global(a: Any, b: Any, n: Any) -> None:
    i = cuda.grid(1)
    near = 0.15 * (a[i + 2] + a[i + 4]) + 0.1 * (a[i + 1] + a[i + 5])
    b[i] = 0.4 * a[i + 3] + near + 0.05 * (a[i] + a[i + 6])


def line_chunk(a: Any, b: Any, n: Any) -> None:
    first = cuda.grid(1) * 8
    p, q, r, s = a[first], a[first + 1], a[first + 2], a[first + 3]
    u, v = a[first + 4], a[first + 5]
    for i in range(first, first + 8):
        w = a[i + 6]
        b[i] = 0.4 * s + 0.15 * (r + u) + 0.1 * (q + v) + 0.05 * (p + w)
        p, q, r, s, u, v = q, r, s, u, v, w


BLUR = r"""
extern "C" __global__ void blur_direct(const float* a, float* b, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int j = 0; j < 5; j++)
        for (int i = 0; i < 5; i++) sum += a[(y + j) * (n + 4) + x + i];
    b[y * n + x] = sum * 0.04f;
}

extern "C" __global__ void blur_separate(
    const float* __restrict__ a, float* __restrict__ b, int n)
{
    __shared__ float s[20][32];
    int x = threadIdx.x, y = threadIdx.y, left = blockIdx.x * 32, top = blockIdx.y * 16;
    for (int j = y; j < 20; j += 4) {
        float sum = 0.0f;
        for (int i = 0; i < 5; i++) sum += a[(top + j) * (n + 4) + left + x + i];
        s[j][x] = sum;
    }
    __syncthreads();
    for (int j = y; j < 16; j += 4) {
        float sum = s[j][x] + s[j + 1][x] + s[j + 2][x] + s[j + 3][x] + s[j + 4][x];
        b[(top + j) * n + left + x] = sum * 0.04f;
    }
}
"""


def blur_direct(a: Any, b: Any, n: Any) -> None:
    x, y = cuda.grid(2)
    total = float32(0)
    for j in range(5):
        for i in range(5):
            total += a[y + j, x + i]
    b[y, x] = total * float32(0.04)


def blur_separate(a: Any, b: Any, n: Any) -> None:
    s = cuda.shared.array((20, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * 32, cuda.blockIdx.y * 16
    for j in range(y, 20, 4):
        total = float32(0)
        for i in range(5):
            total += a[top + j, left + x + i]
        s[j, x] = total
    cuda.syncthreads()
    for j in range(y, 16, 4):
        total = s[j, x] + s[j + 1, x] + s[j + 2, x] + s[j + 3, x] + s[j + 4, x]
        b[top + j, left + x] = total * float32(0.04)


LIFE = r"""
typedef unsigned char Cell;

extern "C" __global__ void life_cell(const Cell* a, Cell* b, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int left = (x - 1) & (n - 1), right = (x + 1) & (n - 1);
    const Cell *row = a + y * n, *over = a + ((y - 1) & (n - 1)) * n;
    const Cell* under = a + ((y + 1) & (n - 1)) * n;
    int alive = over[left] + over[x] + over[right] + row[left] + row[right] + under[left]
        + under[x] + under[right];
    b[y * n + x] = alive == 3 || (alive == 2 && row[x]);
}

extern "C" __global__ void life_column(const Cell* __restrict__ a, Cell* __restrict__ b, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * 8;
    int left = (x - 1) & (n - 1), right = (x + 1) & (n - 1);
    const Cell *row = a + ((first - 1) & (n - 1)) * n, *next = a + first * n;
    int over = row[left] + row[x] + row[right];
    int here = next[left] + next[x] + next[right], own = next[x];
    for (int y = first; y < first + 8; y++) {
        next = a + ((y + 1) & (n - 1)) * n;
        int later = next[x], under = next[left] + later + next[right];
        int alive = over + here + under;
        b[y * n + x] = alive == 3 || (alive == 4 && own);
        over = here, here = under, own = later;
    }
}
"""


def life_cell(a: Any, b: Any, n: Any) -> None:
    x, y = cuda.grid(2)
    left, right = (x - 1) & (n - 1), (x + 1) & (n - 1)
    over, under = (y - 1) & (n - 1), (y + 1) & (n - 1)
    alive = a[over, left] + a[over, x] + a[over, right] + a[y, left] + a[y, right]
    alive += a[under, left] + a[under, x] + a[under, right]
    b[y, x] = alive == 3 or (alive == 2 and a[y, x] == 1)


def life_column(a: Any, b: Any, n: Any) -> None:
    x = cuda.grid(1)
    first = cuda.blockIdx.y * 8
    left, right = (x - 1) & (n - 1), (x + 1) & (n - 1)
    up = (first - 1) & (n - 1)
    over = a[up, left] + a[up, x] + a[up, right]
    own = a[first, x]
    here = a[first, left] + own + a[first, right]
    for y in range(first, first + 8):
        down = (y + 1) & (n - 1)
        later = a[down, x]
        under = a[down, left] + later + a[down, right]
        alive = over + here + under
        b[y, x] = alive == 3 or (alive == 4 and own == 1)
        over, here, own = here, under, later


RODS = r"""
extern "C" __global__ void rods_one(float* a)
{
    __shared__ float s[258];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t + 1] = a[i];
    if (t < 2) s[257 * t] = 0.0f;
    __syncthreads();
    for (int step = 0; step < 32; step++) {
        float x = 0.5f * s[t + 1] + 0.25f * (s[t] + s[t + 2]);
        __syncthreads();
        s[t + 1] = x;
        __syncthreads();
    }
    a[i] = s[t + 1];
}

extern "C" __global__ void rods_two(float* a)
{
    __shared__ float s[2][258];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    float x = a[i];
    s[0][t + 1] = x;
    if (t < 2) s[0][257 * t] = s[1][257 * t] = 0.0f;
    for (int step = 0; step < 32; step++) {
        __syncthreads();
        const float* now = s[step % 2];
        x = 0.5f * x + 0.25f * (now[t] + now[t + 2]);
        s[1 - step % 2][t + 1] = x;
    }
    a[i] = x;
}
"""


def rods_one(a: Any) -> None:
    s = cuda.shared.array(258, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t + 1] = a[i]
    if t < 2:
        s[257 * t] = 0
    cuda.syncthreads()
    for _ in range(32):
        x = float32(0.5) * s[t + 1] + float32(0.25) * (s[t] + s[t + 2])
        cuda.syncthreads()
        s[t + 1] = x
        cuda.syncthreads()
    a[i] = s[t + 1]


def rods_two(a: Any) -> None:
    s = cuda.shared.array((2, 258), float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    x = a[i]
    s[0, t + 1] = x
    if t < 2:
        s[0, 257 * t] = 0
        s[1, 257 * t] = 0
    for step in range(32):
        cuda.syncthreads()
        now = step % 2
        x = float32(0.5) * x + float32(0.25) * (s[now, t] + s[now, t + 2])
        s[1 - now, t + 1] = x
    a[i] = x


def along(n: int) -> Data:
    a = random(115).random(n + 6)
    right = np.convolve(a, (0.05, 0.1, 0.15, 0.4, 0.15, 0.1, 0.05), "valid")
    return Data((a, np.zeros(n), np.int32(n)), {1: right}, tolerance=1e-9)


def image(n: int) -> Data:
    a = floats((n + 4) ** 2, 116).reshape(n + 4, n + 4)
    windows = np.lib.stride_tricks.sliding_window_view(a, (5, 5))
    right = windows.mean(axis=(2, 3), dtype=np.float64)
    return Data((a, np.zeros((n, n), np.float32), np.int32(n)), {1: right}, tolerance=1e-5)


def cells(n: int) -> Data:
    """A world without a border."""
    a = random(117).integers(0, 2, (n, n), np.uint8)
    ways = [(j, i) for j in (-1, 0, 1) for i in (-1, 0, 1) if j or i]
    alive = sum(np.roll(a, way, (0, 1)).astype(int) for way in ways)
    right = (alive == 3) | ((alive == 2) & (a == 1))
    return Data((a, np.zeros_like(a), np.int32(n)), {1: right.astype(np.uint8)})


def rods(n: int) -> Data:
    """Rods of 256 cells with cold ends, after 32 steps."""
    a = floats(n, 118)
    x = np.pad(a.reshape(-1, 256).astype(np.float64), ((0, 0), (1, 1)))
    for _ in range(32):
        x[:, 1:-1] = x[:, 1:-1] / 2 + (x[:, :-2] + x[:, 2:]) / 4
    return Data((a,), {0: x[:, 1:-1].reshape(n)}, tolerance=1e-5)


line = partial(Case, "stencil 1D in double", LINE, along, 1 << 20, 1 << 11)
blur = partial(Case, "box blur", BLUR, image, 1024, 32)
life = partial(Case, "game of life", LIFE, cells, 1024, 64)
rod = partial(Case, "heat in rods", RODS, rods, 1 << 18, 1 << 10)
CASES = [
    line("global", line_global, lambda n: n // 128, 128),
    line("chunks of 8", line_chunk, lambda n: n // 512, 64),
    blur("direct", blur_direct, lambda n: (n // 16, n // 16), (16, 16)),
    blur("rows, then columns", blur_separate, lambda n: (n // 32, n // 16), (32, 4)),
    life("thread a cell", life_cell, lambda n: (n // 64, n // 4), (64, 4)),
    life("8 cells a thread", life_column, lambda n: (n // 64, n // 8), 64),
    rod("one buffer", rods_one, lambda n: n // 256, 256),
    rod("two buffers", rods_two, lambda n: n // 256, 256),
]
