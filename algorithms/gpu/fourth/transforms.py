"""Walsh-Hadamard transforms of segments of 32 floats."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import float32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, floats

WALSH = r"""
extern "C" __global__ void walsh_thread(const float* a, float* b, int n)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 32;
    if (first >= n) return;
    float x[32];
    for (int i = 0; i < 32; i++) x[i] = a[first + i];
    for (int d = 1; d < 32; d *= 2)
        for (int i = 0; i < 32; i++)
            if ((i & d) == 0) {
                float p = x[i], q = x[i + d];
                x[i] = p + q;
                x[i + d] = p - q;
            }
    for (int i = 0; i < 32; i++) b[first + i] = x[i];
}

extern "C" __global__ void walsh_shuffle(const float* a, float* b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    float x = a[i];
    for (int d = 1; d < 32; d *= 2) {
        float y = __shfl_xor_sync(0xffffffff, x, d);
        x = lane & d ? y - x : x + y;
    }
    b[i] = x;
}

extern "C" __global__ void walsh_shared(const float* a, float* b, int n)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * 256 + t;
    s[t] = a[i];
    __syncthreads();
    for (int d = 1; d < 32; d *= 2) {
        float x = s[t], y = s[t ^ d];
        __syncthreads();
        s[t] = t & d ? y - x : x + y;
        __syncthreads();
    }
    b[i] = s[t];
}
"""


def walsh_thread(a: Any, b: Any, n: Any) -> None:
    first = cuda.grid(1) * 32
    if first >= n:
        return
    x = cuda.local.array(32, float32)
    for i in range(32):
        x[i] = a[first + i]
    d = 1
    while d < 32:
        for i in range(32):
            if i & d == 0:
                p = x[i]
                q = x[i + d]
                x[i] = p + q
                x[i + d] = p - q
        d *= 2
    for i in range(32):
        b[first + i] = x[i]


def walsh_shuffle(a: Any, b: Any, n: Any) -> None:
    i = cuda.grid(1)
    lane = cuda.threadIdx.x % 32
    x = a[i]
    d = 1
    while d < 32:
        y = cuda.shfl_xor_sync(0xFFFFFFFF, x, d)
        if lane & d:
            x = y - x
        else:
            x = x + y
        d *= 2
    b[i] = x


def walsh_shared(a: Any, b: Any, n: Any) -> None:
    s = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = a[i]
    cuda.syncthreads()
    d = 1
    while d < 32:
        x = s[t]
        y = s[t ^ d]
        cuda.syncthreads()
        if t & d:
            s[t] = y - x
        else:
            s[t] = x + y
        cuda.syncthreads()
        d *= 2
    b[i] = s[t]


def data(n: int) -> Data:
    a = floats(n, 21)
    x = a.astype(np.float64).reshape(-1, *(2,) * 5)
    for axis in range(1, 6):
        p, q = np.take(x, 0, axis), np.take(x, 1, axis)
        x = np.stack([p + q, p - q], axis)
    return Data((a, np.zeros_like(a), np.int32(n)), {1: x.reshape(n)}, tolerance=1e-5)


walsh = partial(Case, "Walsh-Hadamard", WALSH, data, 1 << 21, 1 << 11)
CASES = [
    walsh("thread a segment", walsh_thread, lambda n: n // 2048, 64),
    walsh("shuffles", walsh_shuffle, lambda n: n // 256, 256),
    walsh("shared", walsh_shared, lambda n: n // 256, 256),
]
