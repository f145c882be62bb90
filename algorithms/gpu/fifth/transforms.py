"""Fourier transforms of segments of 64 complex floats."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import float32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, floats

FOURIER = r"""
extern "C" __global__ void fourier_two(
    const float2* a, const float2* __restrict__ roots, float2* b)
{
    __shared__ float2 s[128];
    int t = threadIdx.x, j = t % 32, own = t - j, i = blockIdx.x * 128 + t;
    s[t] = a[i];
    s[t + 64] = a[i + 64];
    for (int l = 1; l < 64; l *= 2) {
        __syncthreads();
        int k = j & (l - 1), to = 2 * own + 2 * j - k;
        float2 p = s[2 * own + j], q = s[2 * own + j + 32], w = roots[32 / l * k];
        float x = q.x * w.x - q.y * w.y, y = q.x * w.y + q.y * w.x;
        __syncthreads();
        s[to] = make_float2(p.x + x, p.y + y);
        s[to + l] = make_float2(p.x - x, p.y - y);
    }
    __syncthreads();
    b[i] = s[t];
    b[i + 64] = s[t + 64];
}

extern "C" __global__ void fourier_four(
    const float2* a, const float2* __restrict__ roots, float2* b)
{
    __shared__ float s[256], r[256];
    int t = threadIdx.x, j = t % 16, first = 4 * (t - j), i = blockIdx.x * 256 + t;
    float x[4], y[4];
    for (int m = 0; m < 4; m++) s[t + 64 * m] = a[i + 64 * m].x, r[t + 64 * m] = a[i + 64 * m].y;
    for (int l = 1; l < 64; l *= 4) {
        __syncthreads();
        int k = j & (l - 1), to = first + 4 * j - 3 * k;
        for (int m = 0; m < 4; m++) {
            float u = s[first + j + 16 * m], v = r[first + j + 16 * m];
            float2 w = roots[16 / l * k * m];
            x[m] = u * w.x - v * w.y;
            y[m] = u * w.y + v * w.x;
        }
        __syncthreads();
        float p = x[0] + x[2], q = x[0] - x[2], u = x[1] + x[3], v = x[1] - x[3];
        s[to] = p + u;
        s[to + 2 * l] = p - u;
        float c = y[0] + y[2], d = y[0] - y[2], e = y[1] + y[3], f = y[1] - y[3];
        r[to] = c + e;
        r[to + 2 * l] = c - e;
        s[to + l] = q + f;
        r[to + l] = d - v;
        s[to + 3 * l] = q - f;
        r[to + 3 * l] = d + v;
    }
    __syncthreads();
    for (int m = 0; m < 4; m++) b[i + 64 * m] = make_float2(s[t + 64 * m], r[t + 64 * m]);
}
"""


def fourier_two(a: Any, roots: Any, b: Any) -> None:
    s = cuda.shared.array((128, 2), float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * 128 + t
    j = t % 32
    first = 2 * (t - j)
    for c in range(2):
        s[t, c] = a[i, c]
        s[t + 64, c] = a[i + 64, c]
    l = 1
    while l < 64:
        cuda.syncthreads()
        k = j & (l - 1)
        to = first + 2 * j - k
        px, py = s[first + j, 0], s[first + j, 1]
        qx, qy = s[first + j + 32, 0], s[first + j + 32, 1]
        wx, wy = roots[32 // l * k, 0], roots[32 // l * k, 1]
        x = qx * wx - qy * wy
        y = qx * wy + qy * wx
        cuda.syncthreads()
        s[to, 0] = px + x
        s[to, 1] = py + y
        s[to + l, 0] = px - x
        s[to + l, 1] = py - y
        l *= 2
    cuda.syncthreads()
    for c in range(2):
        b[i, c] = s[t, c]
        b[i + 64, c] = s[t + 64, c]


def fourier_four(a: Any, roots: Any, b: Any) -> None:
    s = cuda.shared.array(256, float32)
    r = cuda.shared.array(256, float32)
    x = cuda.local.array(4, float32)
    y = cuda.local.array(4, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * 256 + t
    j = t % 16
    first = 4 * (t - j)
    for m in range(4):
        s[t + 64 * m] = a[i + 64 * m, 0]
        r[t + 64 * m] = a[i + 64 * m, 1]
    l = 1
    while l < 64:
        cuda.syncthreads()
        k = j & (l - 1)
        to = first + 4 * j - 3 * k
        for m in range(4):
            u, v = s[first + j + 16 * m], r[first + j + 16 * m]
            wx, wy = roots[16 // l * k * m, 0], roots[16 // l * k * m, 1]
            x[m] = u * wx - v * wy
            y[m] = u * wy + v * wx
        cuda.syncthreads()
        s[to] = x[0] + x[2] + (x[1] + x[3])
        r[to] = y[0] + y[2] + (y[1] + y[3])
        s[to + l] = x[0] - x[2] + (y[1] - y[3])
        r[to + l] = y[0] - y[2] - (x[1] - x[3])
        s[to + 2 * l] = x[0] + x[2] - (x[1] + x[3])
        r[to + 2 * l] = y[0] + y[2] - (y[1] + y[3])
        s[to + 3 * l] = x[0] - x[2] - (y[1] - y[3])
        r[to + 3 * l] = y[0] - y[2] + (x[1] - x[3])
        l *= 4
    cuda.syncthreads()
    for m in range(4):
        b[i + 64 * m, 0] = s[t + 64 * m]
        b[i + 64 * m, 1] = r[t + 64 * m]


def signals(n: int) -> Data:
    """Complex numbers are pairs of floats."""
    a = floats(2 * n, 129).reshape(n, 2) - np.float32(0.5)
    roots = np.exp(-2j * np.pi * np.arange(64) / 64)
    right = np.fft.fft((a[:, 0] + 1j * a[:, 1]).reshape(-1, 64), axis=1).reshape(n)
    pairs = np.stack([roots.real, roots.imag], axis=1).astype(np.float32)
    expected = np.stack([right.real, right.imag], axis=1)
    return Data((a, pairs, np.zeros_like(a)), {2: expected}, tolerance=1e-5)


fourier = partial(Case, "Fourier transform", FOURIER, signals, 1 << 18, 1 << 10)
CASES = [
    fourier("radix 2", fourier_two, lambda n: n // 128, 64),
    fourier("radix 4", fourier_four, lambda n: n // 256, 64),
]
