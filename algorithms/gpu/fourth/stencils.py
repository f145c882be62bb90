"""Stencils in two and three dimensions, and a convolution in one."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import float32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, floats

FIVE = r"""
extern "C" __global__ void five_global(const float* a, float* b, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
    int i = y * n + x;
    b[i] = 0.2f * (a[i] + a[i - 1] + a[i + 1] + a[i - n] + a[i + n]);
}

extern "C" __global__ void five_shared(const float* __restrict__ a, float* __restrict__ b, int n)
{
    __shared__ float s[10][34];
    int u = threadIdx.x, v = threadIdx.y;
    int x = blockIdx.x * 32 + u, y = blockIdx.y * 8 + v;
    int i = y * n + x;
    s[v + 1][u + 1] = a[i];
    if (u == 0 && x > 0) s[v + 1][0] = a[i - 1];
    if (u == 31 && x < n - 1) s[v + 1][33] = a[i + 1];
    if (v == 0 && y > 0) s[0][u + 1] = a[i - n];
    if (v == 7 && y < n - 1) s[9][u + 1] = a[i + n];
    __syncthreads();
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
    b[i] = 0.2f * (s[v + 1][u + 1] + s[v + 1][u] + s[v + 1][u + 2] + s[v][u + 1] + s[v + 2][u + 1]);
}

extern "C" __global__ void five_column(const float* __restrict__ a, float* __restrict__ b, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < 1 || x >= n - 1) return;
    int first = blockIdx.y * 16;
    int last = min(first + 16, n - 1);
    first = max(first, 1);
    float above = a[(first - 1) * n + x], here = a[first * n + x];
    for (int y = first; y < last; y++) {
        int i = y * n + x;
        float below = a[i + n];
        b[i] = 0.2f * (here + a[i - 1] + a[i + 1] + above + below);
        above = here;
        here = below;
    }
}
"""


def five_global(a: Any, b: Any, n: Any) -> None:
    x, y = cuda.grid(2)
    if x < 1 or y < 1 or x >= n - 1 or y >= n - 1:
        return
    b[y, x] = float32(0.2) * (a[y, x] + a[y, x - 1] + a[y, x + 1] + a[y - 1, x] + a[y + 1, x])


def five_shared(a: Any, b: Any, n: Any) -> None:
    s = cuda.shared.array((10, 34), float32)
    u, v = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    s[v + 1, u + 1] = a[y, x]
    if u == 0 and x > 0:
        s[v + 1, 0] = a[y, x - 1]
    if u == 31 and x < n - 1:
        s[v + 1, 33] = a[y, x + 1]
    if v == 0 and y > 0:
        s[0, u + 1] = a[y - 1, x]
    if v == 7 and y < n - 1:
        s[9, u + 1] = a[y + 1, x]
    cuda.syncthreads()
    if x >= 1 and y >= 1 and x < n - 1 and y < n - 1:
        total = s[v + 1, u + 1] + s[v + 1, u] + s[v + 1, u + 2] + s[v, u + 1] + s[v + 2, u + 1]
        b[y, x] = float32(0.2) * total


def five_column(a: Any, b: Any, n: Any) -> None:
    x = cuda.grid(1)
    if x < 1 or x >= n - 1:
        return
    first = max(cuda.blockIdx.y * 16, 1)
    last = min(cuda.blockIdx.y * 16 + 16, n - 1)
    above = a[first - 1, x]
    here = a[first, x]
    for y in range(first, last):
        below = a[y + 1, x]
        b[y, x] = float32(0.2) * (here + a[y, x - 1] + a[y, x + 1] + above + below)
        above = here
        here = below


SEVEN = r"""
extern "C" __global__ void seven_point(const float* a, float* b, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
    int i = (z * n + y) * n + x;
    b[i] = 0.4f * a[i] + 0.1f * (a[i - 1] + a[i + 1] + a[i - n] + a[i + n] + a[i - n * n]
        + a[i + n * n]);
}

extern "C" __global__ void seven_column(const float* __restrict__ a, float* __restrict__ b, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
    int i = y * n + x;
    float under = a[i], here = a[i + n * n];
    for (int z = 1; z < n - 1; z++) {
        i += n * n;
        float over = a[i + n * n];
        b[i] = 0.4f * here + 0.1f * (a[i - 1] + a[i + 1] + a[i - n] + a[i + n] + under + over);
        under = here;
        here = over;
    }
}
"""


def seven_point(a: Any, b: Any, n: Any) -> None:
    x, y, z = cuda.grid(3)
    if x < 1 or y < 1 or z < 1 or x >= n - 1 or y >= n - 1 or z >= n - 1:
        return
    near = a[z, y, x - 1] + a[z, y, x + 1] + a[z, y - 1, x] + a[z, y + 1, x]
    near += a[z - 1, y, x] + a[z + 1, y, x]
    b[z, y, x] = float32(0.4) * a[z, y, x] + float32(0.1) * near


def seven_column(a: Any, b: Any, n: Any) -> None:
    x, y = cuda.grid(2)
    if x < 1 or y < 1 or x >= n - 1 or y >= n - 1:
        return
    under = a[0, y, x]
    here = a[1, y, x]
    for z in range(1, n - 1):
        over = a[z + 1, y, x]
        near = a[z, y, x - 1] + a[z, y, x + 1] + a[z, y - 1, x] + a[z, y + 1, x] + under + over
        b[z, y, x] = float32(0.4) * here + float32(0.1) * near
        under = here
        here = over


CONVOLUTION = r"""
extern "C" __global__ void convolve_global(
    const float* a, const float* weights, float* b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int k = 0; k < 17; k++) sum += weights[k] * a[i + k];
    b[i] = sum;
}

extern "C" __global__ void convolve_shared(
    const float* __restrict__ a, const float* __restrict__ weights, float* __restrict__ b, int n)
{
    __shared__ float s[272], w[17];
    int t = threadIdx.x;
    int i = blockIdx.x * 256 + t;
    s[t] = a[i];
    if (t < 16) s[256 + t] = a[i + 256];
    if (t < 17) w[t] = weights[t];
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 17; k++) sum += w[k] * s[t + k];
    b[i] = sum;
}
"""


def convolve_global(a: Any, weights: Any, b: Any, n: Any) -> None:
    i = cuda.grid(1)
    if i >= n:
        return
    total = float32(0)
    for k in range(17):
        total += weights[k] * a[i + k]
    b[i] = total


def convolve_shared(a: Any, weights: Any, b: Any, n: Any) -> None:
    s = cuda.shared.array(272, float32)
    w = cuda.shared.array(17, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = a[i]
    if t < 16:
        s[256 + t] = a[i + 256]
    if t < 17:
        w[t] = weights[t]
    cuda.syncthreads()
    total = float32(0)
    for k in range(17):
        total += w[k] * s[t + k]
    b[i] = total


def plane(n: int) -> Data:
    a = floats(n * n, 8).reshape(n, n)
    right = np.zeros((n, n))
    right[1:-1, 1:-1] = a[1:-1, 1:-1] + a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]
    return Data((a, np.zeros_like(a), np.int32(n)), {1: right / 5}, tolerance=1e-5)


def cube(n: int) -> Data:
    a = floats(n**3, 9).reshape(n, n, n)
    right, near, inner = np.zeros((n, n, n)), np.zeros((n, n, n)), (slice(1, -1),) * 3
    for axis in range(3):
        near += np.roll(a, 1, axis) + np.roll(a, -1, axis)
    right[inner] = (0.4 * a + 0.1 * near)[inner]
    return Data((a, np.zeros_like(a), np.int32(n)), {1: right}, tolerance=1e-5)


def line(n: int) -> Data:
    a, weights = floats(n + 16, 10), floats(17, 11)
    right = np.convolve(a, weights[::-1], "valid")
    return Data((a, weights, np.zeros(n, np.float32), np.int32(n)), {2: right}, tolerance=1e-5)


five = partial(Case, "stencil 2D", FIVE, plane, 2048, 64)
seven = partial(Case, "stencil 3D", SEVEN, cube, 128, 32)
convolve = partial(Case, "convolution", CONVOLUTION, line, 1 << 21, 1 << 11)
CASES = [
    five("global", five_global, lambda n: (n // 32, n // 8), (32, 8)),
    five("shared", five_shared, lambda n: (n // 32, n // 8), (32, 8)),
    five("16 rows a thread", five_column, lambda n: (n // 64, n // 16), 64),
    seven("thread a point", seven_point, lambda n: (n // 32, n // 8, n), (32, 8)),
    seven("thread a column", seven_column, lambda n: (n // 32, n // 4), (32, 4)),
    convolve("global", convolve_global, lambda n: n // 256, 256),
    convolve("shared", convolve_shared, lambda n: n // 256, 256),
]
