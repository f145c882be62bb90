"""Stages of a long Fourier transform, and softmax in one pass."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numba import float32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, floats

STAGE = r"""
extern "C" __global__ void stage_read(float2* a, const float2* roots, int l)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, k = i % l, at = 2 * i - k;
    float2 p = a[at], q = a[at + l], w = roots[k];
    float x = q.x * w.x - q.y * w.y, y = q.x * w.y + q.y * w.x;
    a[at] = make_float2(p.x + x, p.y + y);
    a[at + l] = make_float2(p.x - x, p.y - y);
}

extern "C" __global__ void stage_computed(float2* a, const float2* roots, int l)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, k = i % l, at = 2 * i - k;
    float angle = -3.14159265f * k / l, c = cosf(angle), s = sinf(angle);
    float2 p = a[at], q = a[at + l];
    float x = q.x * c - q.y * s, y = q.x * s + q.y * c;
    a[at] = make_float2(p.x + x, p.y + y);
    a[at + l] = make_float2(p.x - x, p.y - y);
}
"""


def stage_read(a: Any, roots: Any, l: Any) -> None:
    i = cuda.grid(1)
    k = i % l
    at = 2 * i - k
    px, py = a[at, 0], a[at, 1]
    qx, qy = a[at + l, 0], a[at + l, 1]
    wx, wy = roots[k, 0], roots[k, 1]
    x = qx * wx - qy * wy
    y = qx * wy + qy * wx
    a[at, 0] = px + x
    a[at, 1] = py + y
    a[at + l, 0] = px - x
    a[at + l, 1] = py - y


def stage_computed(a: Any, roots: Any, l: Any) -> None:
    i = cuda.grid(1)
    k = i % l
    at = 2 * i - k
    angle = float32(-math.pi) * float32(k) / float32(l)
    c, s = math.cos(angle), math.sin(angle)
    px, py = a[at, 0], a[at, 1]
    qx, qy = a[at + l, 0], a[at + l, 1]
    x = qx * c - qy * s
    y = qx * s + qy * c
    a[at, 0] = px + x
    a[at, 1] = py + y
    a[at + l, 0] = px - x
    a[at + l, 1] = py - y


ONLINE = r"""
extern "C" __global__ void online(const float* __restrict__ a, float* __restrict__ b, int n)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    float most = -1e30f, sum = 0.0f;
    for (int k = threadIdx.x; k < n; k += 32) {
        float x = a[row * n + k], larger = fmaxf(most, x);
        sum = sum * expf(most - larger) + expf(x - larger);
        most = larger;
    }
    for (int d = 16; d > 0; d /= 2) {
        float x = __shfl_xor_sync(0xffffffff, most, d);
        float y = __shfl_xor_sync(0xffffffff, sum, d), larger = fmaxf(most, x);
        sum = sum * expf(most - larger) + y * expf(x - larger);
        most = larger;
    }
    for (int k = threadIdx.x; k < n; k += 32) b[row * n + k] = expf(a[row * n + k] - most) / sum;
}
"""


def online(a: Any, b: Any, n: Any) -> None:
    row = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    most, total = float32(-1e30), float32(0)
    for k in range(cuda.threadIdx.x, n, 32):
        x = a[row, k]
        larger = max(most, x)
        total = total * math.exp(most - larger) + math.exp(x - larger)
        most = larger
    d = 16
    while d > 0:
        x = cuda.shfl_xor_sync(0xFFFFFFFF, most, d)
        y = cuda.shfl_xor_sync(0xFFFFFFFF, total, d)
        larger = max(most, x)
        total = total * math.exp(most - larger) + y * math.exp(x - larger)
        most = larger
        d //= 2
    for k in range(cuda.threadIdx.x, n, 32):
        b[row, k] = math.exp(a[row, k] - most) / total


def signal(n: int) -> Data:
    """The stage that joins segments of 1024 complex numbers, which are pairs of floats."""
    a, l = floats(2 * n, 223).reshape(n, 2) - np.float32(0.5), 1024
    roots = np.exp(-1j * np.pi * np.arange(l) / l)
    p, q = (a[:, 0] + 1j * a[:, 1]).reshape(-1, 2, l).transpose(1, 0, 2)
    right = np.stack([p + roots * q, p - roots * q], axis=1).reshape(n)
    pairs, expected = (np.stack([one.real, one.imag], axis=1) for one in (roots, right))
    return Data((a, pairs.astype(np.float32), np.int32(l)), {0: expected}, tolerance=1e-5)


def scores(rows: int) -> Data:
    a = 8 * floats(rows * 1000, 224).reshape(rows, 1000)
    powers = np.exp(a.astype(np.float64))
    right = powers / powers.sum(axis=1, keepdims=True)
    return Data((a, np.zeros_like(a), np.int32(1000)), {1: right}, tolerance=1e-4)


stage = partial(Case, "stage of a Fourier transform", STAGE, signal, 1 << 20, 1 << 12)
softmax = partial(Case, "softmax in one pass", ONLINE, scores, 2048, 32)
CASES = [
    stage("roots read", stage_read, lambda n: n // 512, 256),
    stage("roots computed", stage_computed, lambda n: n // 512, 256),
    softmax("blocks of 1 warp", online, lambda rows: rows, (32, 1)),
    softmax("blocks of 16 warps", online, lambda rows: rows // 16, (32, 16)),
]
