"""Grids: heat in a plate, largest of windows, enlarged images, and a step of red and black."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import float32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, floats, random

HEAT = r"""
extern "C" __global__ void heat_global(const float* u, float* v, float rate, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
    int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    int w = n + 2, i = y * w + x;
    v[i] = u[i] + rate * (u[i - 1] + u[i + 1] + u[i - w] + u[i + w] - 4.0f * u[i]);
}

extern "C" __global__ void heat_shared(const float* __restrict__ u, float* v, float rate, int n)
{
    __shared__ float s[10][34];
    int x = threadIdx.x + 1, y = threadIdx.y + 1, w = n + 2;
    int i = (blockIdx.y * 8 + y) * w + blockIdx.x * 32 + x;
    s[y][x] = u[i];
    if (y == 1) s[0][x] = u[i - w];
    if (y == 8) s[9][x] = u[i + w];
    if (x == 1) s[y][0] = u[i - 1];
    if (x == 32) s[y][33] = u[i + 1];
    __syncthreads();
    float own = s[y][x];
    v[i] = own + rate * (s[y][x - 1] + s[y][x + 1] + s[y - 1][x] + s[y + 1][x] - 4.0f * own);
}

extern "C" __global__ void heat_rows(const float* u, float* v, float rate, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
    int top = (blockIdx.y * blockDim.y + threadIdx.y) * 4 + 1, w = n + 2;
    float above = u[(top - 1) * w + x], own = u[top * w + x];
    for (int y = top; y < top + 4; y++) {
        float below = u[(y + 1) * w + x];
        float sides = u[y * w + x - 1] + u[y * w + x + 1];
        v[y * w + x] = own + rate * (sides + above + below - 4.0f * own);
        above = own;
        own = below;
    }
}
"""


def heat_global(u: Any, v: Any, rate: Any, n: Any) -> None:
    x, y = cuda.grid(2)
    x += 1
    y += 1
    near = u[y, x - 1] + u[y, x + 1] + u[y - 1, x] + u[y + 1, x]
    v[y, x] = u[y, x] + rate * (near - float32(4) * u[y, x])


def heat_shared(u: Any, v: Any, rate: Any, n: Any) -> None:
    s = cuda.shared.array((10, 34), float32)
    x, y = cuda.threadIdx.x + 1, cuda.threadIdx.y + 1
    column, row = cuda.blockIdx.x * 32 + x, cuda.blockIdx.y * 8 + y
    s[y, x] = u[row, column]
    if y == 1:
        s[0, x] = u[row - 1, column]
    if y == 8:
        s[9, x] = u[row + 1, column]
    if x == 1:
        s[y, 0] = u[row, column - 1]
    if x == 32:
        s[y, 33] = u[row, column + 1]
    cuda.syncthreads()
    own = s[y, x]
    near = s[y, x - 1] + s[y, x + 1] + s[y - 1, x] + s[y + 1, x]
    v[row, column] = own + rate * (near - float32(4) * own)


def heat_rows(u: Any, v: Any, rate: Any, n: Any) -> None:
    x, top = cuda.grid(2)
    x += 1
    top = top * 4 + 1
    above, own = u[top - 1, x], u[top, x]
    for y in range(top, top + 4):
        below = u[y + 1, x]
        sides = u[y, x - 1] + u[y, x + 1]
        v[y, x] = own + rate * (sides + above + below - float32(4) * own)
        above = own
        own = below


LARGEST = r"""
extern "C" __global__ void largest_windows(const int* a, int* b, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int *p = a + 2 * y * 2 * n + 2 * x, *q = p + 2 * n;
    b[y * n + x] = max(max(p[0], p[1]), max(q[0], q[1]));
}

extern "C" __global__ void largest_columns(const int* a, int* b, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int most = max(a[2 * y * 2 * n + x], a[(2 * y + 1) * 2 * n + x]);
    most = max(most, __shfl_xor_sync(0xffffffff, most, 1));
    if (x % 2 == 0) b[y * n + x / 2] = most;
}
"""


def largest_windows(a: Any, b: Any, n: Any) -> None:
    x, y = cuda.grid(2)
    upper = max(a[2 * y, 2 * x], a[2 * y, 2 * x + 1])
    lower = max(a[2 * y + 1, 2 * x], a[2 * y + 1, 2 * x + 1])
    b[y, x] = max(upper, lower)


def largest_columns(a: Any, b: Any, n: Any) -> None:
    x, y = cuda.grid(2)
    most = max(a[2 * y, x], a[2 * y + 1, x])
    most = max(most, cuda.shfl_xor_sync(0xFFFFFFFF, most, 1))
    if x % 2 == 0:
        b[y, x // 2] = most


ENLARGED = r"""
extern "C" __global__ void enlarged_pixel(const float* a, float* b, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int left = max((x - 1) >> 1, 0), right = min((x + 1) >> 1, n - 1);
    int top = max((y - 1) >> 1, 0), bottom = min((y + 1) >> 1, n - 1);
    float u = x % 2 ? 0.25f : 0.75f, v = y % 2 ? 0.25f : 0.75f;
    float upper = (1.0f - u) * a[top * n + left] + u * a[top * n + right];
    float lower = (1.0f - u) * a[bottom * n + left] + u * a[bottom * n + right];
    b[y * 2 * n + x] = (1.0f - v) * upper + v * lower;
}

extern "C" __global__ void enlarged_square(const float* __restrict__ a, float* b, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int left = max(x - 1, 0), right = min(x + 1, n - 1);
    const float *p = a + max(y - 1, 0) * n, *q = a + y * n, *r = a + min(y + 1, n - 1) * n;
    float above = 0.75f * p[x] + 0.25f * p[left], above2 = 0.75f * p[x] + 0.25f * p[right];
    float own = 0.75f * q[x] + 0.25f * q[left], own2 = 0.75f * q[x] + 0.25f * q[right];
    float below = 0.75f * r[x] + 0.25f * r[left], below2 = 0.75f * r[x] + 0.25f * r[right];
    float *upper = b + 2 * y * 2 * n + 2 * x, *lower = upper + 2 * n;
    upper[0] = 0.75f * own + 0.25f * above;
    upper[1] = 0.75f * own2 + 0.25f * above2;
    lower[0] = 0.75f * own + 0.25f * below;
    lower[1] = 0.75f * own2 + 0.25f * below2;
}
"""


def enlarged_pixel(a: Any, b: Any, n: Any) -> None:
    x, y = cuda.grid(2)
    left, right = max((x - 1) >> 1, 0), min((x + 1) >> 1, n - 1)
    top, bottom = max((y - 1) >> 1, 0), min((y + 1) >> 1, n - 1)
    u = float32(0.25) if x % 2 else float32(0.75)
    v = float32(0.25) if y % 2 else float32(0.75)
    upper = (float32(1) - u) * a[top, left] + u * a[top, right]
    lower = (float32(1) - u) * a[bottom, left] + u * a[bottom, right]
    b[y, x] = (float32(1) - v) * upper + v * lower


def enlarged_square(a: Any, b: Any, n: Any) -> None:
    x, y = cuda.grid(2)
    left, right = max(x - 1, 0), min(x + 1, n - 1)
    top, bottom = max(y - 1, 0), min(y + 1, n - 1)
    much, less = float32(0.75), float32(0.25)
    above = much * a[top, x] + less * a[top, left]
    above2 = much * a[top, x] + less * a[top, right]
    own = much * a[y, x] + less * a[y, left]
    own2 = much * a[y, x] + less * a[y, right]
    below = much * a[bottom, x] + less * a[bottom, left]
    below2 = much * a[bottom, x] + less * a[bottom, right]
    b[2 * y, 2 * x] = much * own + less * above
    b[2 * y, 2 * x + 1] = much * own2 + less * above2
    b[2 * y + 1, 2 * x] = much * own + less * below
    b[2 * y + 1, 2 * x + 1] = much * own2 + less * below2


RED = r"""
extern "C" __global__ void red_interleaved(float* u, const float* f, float weight, int n)
{
    int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    int x = (blockIdx.x * blockDim.x + threadIdx.x) * 2 + 2 - y % 2;
    int w = n + 2, i = y * w + x;
    float near = u[i - 1] + u[i + 1] + u[i - w] + u[i + w];
    u[i] += weight * (0.25f * (near - f[i]) - u[i]);
}

extern "C" __global__ void red_apart(
    float* red, const float* black, const float* f, float weight, int n)
{
    int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1 - y % 2;
    int w = n / 2 + 1, i = y * w + x, left = i - 1 + y % 2;
    float near = black[left] + black[left + 1] + black[i - w] + black[i + w];
    red[i] += weight * (0.25f * (near - f[i]) - red[i]);
}
"""


def red_interleaved(u: Any, f: Any, weight: Any, n: Any) -> None:
    t, y = cuda.grid(2)
    y += 1
    x = 2 * t + 2 - y % 2
    near = u[y, x - 1] + u[y, x + 1] + u[y - 1, x] + u[y + 1, x]
    u[y, x] += weight * (float32(0.25) * (near - f[y, x]) - u[y, x])


def red_apart(red: Any, black: Any, f: Any, weight: Any, n: Any) -> None:
    t, y = cuda.grid(2)
    y += 1
    x = t + 1 - y % 2
    left = x - 1 + y % 2
    near = black[y, left] + black[y, left + 1] + black[y - 1, x] + black[y + 1, x]
    red[y, x] += weight * (float32(0.25) * (near - f[y, x]) - red[y, x])


def around(u: Any) -> Any:
    """Sums of the four neighbours of all inner cells."""
    own = u.astype(np.float64)
    return own[1:-1, :-2] + own[1:-1, 2:] + own[:-2, 1:-1] + own[2:, 1:-1]


def plate(n: int) -> Data:
    u = floats((n + 2) ** 2, 301).reshape(n + 2, n + 2)
    right = np.zeros((n + 2, n + 2))
    right[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.2 * (around(u) - 4.0 * u[1:-1, 1:-1])
    return Data((u, np.zeros_like(u), np.float32(0.2), np.int32(n)), {1: right}, tolerance=1e-5)


def pooled(n: int) -> Data:
    a = random(302).integers(-10000, 10000, (2 * n, 2 * n), np.int32)
    right = a.reshape(n, 2, n, 2).max(axis=(1, 3))
    return Data((a, np.zeros((n, n), np.int32), np.int32(n)), {1: right})


def picture(n: int) -> Data:
    a = floats(n * n, 303).reshape(n, n)
    right = np.pad(a.astype(np.float64), 1, "edge")
    for _ in range(2):
        both = 0.75 * right[1:-1] + 0.25 * right[:-2], 0.75 * right[1:-1] + 0.25 * right[2:]
        right = np.stack(both, axis=1).reshape(2 * n, -1).T
    return Data((a, np.zeros((2 * n, 2 * n), np.float32), np.int32(n)), {1: right}, tolerance=1e-5)


def coloured(n: int, apart: bool) -> Data:
    """A grid with red and black cells, in one array or in an array for each colour."""
    u, f = floats(2 * (n + 2) ** 2, 304).reshape(2, n + 2, n + 2)
    even = np.add.outer(np.arange(n + 2), np.arange(n + 2)) % 2 == 0
    right = u.astype(np.float64)
    inner = right[1:-1, 1:-1]
    inner += 1.5 * even[1:-1, 1:-1] * (0.25 * (around(u) - f[1:-1, 1:-1]) - inner)
    given = np.float32(1.5), np.int32(n)
    if not apart:
        return Data((u, f, *given), {0: right}, tolerance=1e-5)
    red, black, f, right = (
        a[where].reshape(n + 2, n // 2 + 1)
        for a, where in ((u, even), (u, ~even), (f, even), (right, even))
    )
    return Data((red, black, f, *given), {0: right}, tolerance=1e-5)


heat = partial(Case, "heat in a plate", HEAT, plate, 2048, 64)
largest = partial(Case, "largest of windows", LARGEST, pooled, 1536, 32)
enlarged = partial(Case, "enlarged image", ENLARGED, picture, 1024, 32)
red = partial(Case, "red and black", RED)
CASES = [
    heat("global", heat_global, lambda n: (n // 64, n // 4), (64, 4)),
    heat("shared", heat_shared, lambda n: (n // 32, n // 8), (32, 8)),
    heat("4 rows a thread", heat_rows, lambda n: (n // 32, n // 16), (32, 4)),
    largest("thread a window", largest_windows, lambda n: (n // 32, n // 8), (32, 8)),
    largest("thread a column of pixels", largest_columns, lambda n: (n // 32, n // 4), (64, 4)),
    enlarged("thread a pixel", enlarged_pixel, lambda n: (n // 8, n // 8), (16, 16)),
    enlarged("2 by 2 a thread", enlarged_square, lambda n: (n // 32, n // 4), (32, 4)),
    red(partial(coloured, apart=False), 2048, 64, "interleaved", red_interleaved,
        lambda n: (n // 64, n // 8), (32, 8)),
    red(partial(coloured, apart=True), 2048, 64, "colours apart", red_apart,
        lambda n: (n // 64, n // 8), (32, 8)),
]  # fmt: skip
