"""Iterations of very different lengths: Mandelbrot's and Collatz's."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import float32, uint32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data

MANDELBROT = r"""
extern "C" __global__ void mandelbrot_float(int* counts, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    float cr = -2.0f + 3.0f * x / n, ci = -1.5f + 3.0f * y / n;
    float r = 0.0f, i = 0.0f;
    int k = 0;
    while (k < 256 && r * r + i * i <= 4.0f) {
        float t = r * r - i * i + cr;
        i = 2.0f * r * i + ci;
        r = t;
        k++;
    }
    counts[y * n + x] = k;
}

extern "C" __global__ void mandelbrot_double(int* counts, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    double cr = -2.0 + 3.0 * x / n, ci = -1.5 + 3.0 * y / n;
    double r = 0.0, i = 0.0;
    int k = 0;
    while (k < 256 && r * r + i * i <= 4.0) {
        double t = r * r - i * i + cr;
        i = 2.0 * r * i + ci;
        r = t;
        k++;
    }
    counts[y * n + x] = k;
}
"""


def mandelbrot_float(counts: Any, n: Any) -> None:
    x, y = cuda.grid(2)
    if x >= n or y >= n:
        return
    cr = float32(-2) + float32(3) * float32(x) / float32(n)
    ci = float32(-1.5) + float32(3) * float32(y) / float32(n)
    r, i = float32(0), float32(0)
    k = 0
    while k < 256 and r * r + i * i <= float32(4):
        t = r * r - i * i + cr
        i = float32(2) * r * i + ci
        r = t
        k += 1
    counts[y, x] = k


def mandelbrot_double(counts: Any, n: Any) -> None:
    x, y = cuda.grid(2)
    if x >= n or y >= n:
        return
    cr = -2.0 + 3.0 * x / n
    ci = -1.5 + 3.0 * y / n
    r, i = 0.0, 0.0
    k = 0
    while k < 256 and r * r + i * i <= 4.0:
        t = r * r - i * i + cr
        i = 2.0 * r * i + ci
        r = t
        k += 1
    counts[y, x] = k


COLLATZ = r"""
extern "C" __global__ void collatz_long(int* steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long x = i + 1;
    int k = 0;
    while (x != 1) {
        x = x % 2 == 0 ? x / 2 : 3 * x + 1;
        k++;
    }
    steps[i] = k;
}

extern "C" __global__ void collatz_unsigned(int* steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = i + 1;
    int k = 0;
    while (x != 1) {
        x = x & 1 ? 3 * x + 1 : x >> 1;
        k++;
    }
    steps[i] = k;
}

extern "C" __global__ void collatz_stride(int* steps, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned x = i + 1;
        int k = 0;
        while (x != 1) {
            x = x & 1 ? 3 * x + 1 : x >> 1;
            k++;
        }
        steps[i] = k;
    }
}
"""


def collatz_long(steps: Any, n: Any) -> None:
    i = cuda.grid(1)
    if i >= n:
        return
    x = i + 1
    k = 0
    while x != 1:
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
        k += 1
    steps[i] = k


def collatz_unsigned(steps: Any, n: Any) -> None:
    i = cuda.grid(1)
    if i >= n:
        return
    x = uint32(i + 1)
    k = 0
    while x != 1:
        if x & 1:
            x = uint32(3 * x + 1)
        else:
            x = uint32(x >> 1)
        k += 1
    steps[i] = k


def collatz_stride(steps: Any, n: Any) -> None:
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        x = uint32(i + 1)
        k = 0
        while x != 1:
            if x & 1:
                x = uint32(3 * x + 1)
            else:
                x = uint32(x >> 1)
            k += 1
        steps[i] = k


def picture(n: int) -> Data:
    """Counts in double. Rounding changes some of those near the border."""
    x = np.arange(n)
    c = (-2 + 3 * x / n)[None, :] + 1j * (-1.5 + 3 * x / n)[:, None]
    z, counts, inside = np.zeros_like(c), np.zeros(c.shape, np.int32), np.ones(c.shape, bool)
    for _ in range(256):
        inside &= z.real**2 + z.imag**2 <= 4
        counts[inside] += 1
        z[inside] = z[inside] ** 2 + c[inside]
    return Data((np.zeros((n, n), np.int32), np.int32(n)), {0: counts}, differ=0.02)


def numbers(n: int) -> Data:
    x, steps = np.arange(1, n + 1), np.zeros(n, np.int32)
    while (x != 1).any():
        steps += x != 1
        x = np.where(x == 1, 1, np.where(x % 2 == 0, x // 2, 3 * x + 1))
    return Data((np.zeros(n, np.int32), np.int32(n)), {0: steps})


mandelbrot = partial(Case, "Mandelbrot", MANDELBROT, picture, 512, 32)
collatz = partial(Case, "Collatz", COLLATZ, numbers, 1 << 17, 1 << 10)
CASES = [
    mandelbrot("float, rows", mandelbrot_float, lambda n: (n // 32, n), (32, 1)),
    mandelbrot("float, tiles", mandelbrot_float, lambda n: (n // 16, n // 16), (16, 16)),
    mandelbrot("double, tiles", mandelbrot_double, lambda n: (n // 16, n // 16), (16, 16)),
    collatz("64 bits", collatz_long, lambda n: n // 256, 256),
    collatz("32 bits", collatz_unsigned, lambda n: n // 256, 256),
    collatz("32 bits, 8 a thread", collatz_stride, lambda n: n // 1024, 128),
]
