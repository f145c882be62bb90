"""Layer norm and softmax of the rows of a matrix."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numba import float32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, floats

NORM = r"""
extern "C" __global__ void norm_thread(const float* a, float* b, int rows, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* x = a + row * n;
    float sum = 0.0f, squares = 0.0f;
    for (int i = 0; i < n; i++) {
        sum += x[i];
        squares += x[i] * x[i];
    }
    float mean = sum / n;
    float by = 1.0f / sqrtf(squares / n - mean * mean + 1e-5f);
    for (int i = 0; i < n; i++) b[row * n + i] = (x[i] - mean) * by;
}

extern "C" __global__ void norm_warp(
    const float* __restrict__ a, float* __restrict__ b, int rows, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float* x = a + row * n;
    float sum = 0.0f, squares = 0.0f;
    for (int i = lane; i < n; i += 32) {
        float v = x[i];
        sum += v;
        squares += v * v;
    }
    for (int d = 16; d > 0; d /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, d);
        squares += __shfl_xor_sync(0xffffffff, squares, d);
    }
    float mean = sum / n;
    float by = 1.0f / sqrtf(squares / n - mean * mean + 1e-5f);
    for (int i = lane; i < n; i += 32) b[row * n + i] = (x[i] - mean) * by;
}

extern "C" __global__ void norm_block(const float* a, float* b, int rows, int n)
{
    __shared__ float s[128], q[128];
    int t = threadIdx.x;
    const float* x = a + blockIdx.x * n;
    float sum = 0.0f, squares = 0.0f;
    for (int i = t; i < n; i += 128) {
        sum += x[i];
        squares += x[i] * x[i];
    }
    s[t] = sum;
    q[t] = squares;
    __syncthreads();
    for (int d = 64; d > 0; d /= 2) {
        if (t < d) {
            s[t] += s[t + d];
            q[t] += q[t + d];
        }
        __syncthreads();
    }
    float mean = s[0] / n;
    float by = rsqrtf(q[0] / n - mean * mean + 1e-5f);
    for (int i = t; i < n; i += 128) b[blockIdx.x * n + i] = (x[i] - mean) * by;
}
"""


def norm_thread(a: Any, b: Any, rows: Any, n: Any) -> None:
    row = cuda.grid(1)
    if row >= rows:
        return
    total, squares = float32(0), float32(0)
    for i in range(n):
        total += a[row, i]
        squares += a[row, i] * a[row, i]
    mean = total / float32(n)
    by = float32(1) / math.sqrt(squares / float32(n) - mean * mean + float32(1e-5))
    for i in range(n):
        b[row, i] = (a[row, i] - mean) * by


def norm_warp(a: Any, b: Any, rows: Any, n: Any) -> None:
    row = cuda.grid(1) // 32
    lane = cuda.threadIdx.x % 32
    if row >= rows:
        return
    total, squares = float32(0), float32(0)
    for i in range(lane, n, 32):
        v = a[row, i]
        total += v
        squares += v * v
    d = 16
    while d > 0:
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, d)
        squares += cuda.shfl_xor_sync(0xFFFFFFFF, squares, d)
        d //= 2
    mean = total / float32(n)
    by = float32(1) / math.sqrt(squares / float32(n) - mean * mean + float32(1e-5))
    for i in range(lane, n, 32):
        b[row, i] = (a[row, i] - mean) * by


def norm_block(a: Any, b: Any, rows: Any, n: Any) -> None:
    s = cuda.shared.array(128, float32)
    q = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    row = cuda.blockIdx.x
    total, squares = float32(0), float32(0)
    for i in range(t, n, 128):
        total += a[row, i]
        squares += a[row, i] * a[row, i]
    s[t] = total
    q[t] = squares
    cuda.syncthreads()
    d = 64
    while d > 0:
        if t < d:
            s[t] += s[t + d]
            q[t] += q[t + d]
        cuda.syncthreads()
        d //= 2
    mean = s[0] / float32(n)
    by = float32(1) / math.sqrt(q[0] / float32(n) - mean * mean + float32(1e-5))
    for i in range(t, n, 128):
        b[row, i] = (a[row, i] - mean) * by


SOFTMAX = r"""
extern "C" __global__ void softmax_thread(const float* a, float* b, int rows, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* x = a + row * n;
    float most = x[0];
    for (int i = 1; i < n; i++) most = fmaxf(most, x[i]);
    float sum = 0.0f;
    for (int i = 0; i < n; i++) sum += expf(x[i] - most);
    for (int i = 0; i < n; i++) b[row * n + i] = expf(x[i] - most) / sum;
}

extern "C" __global__ void softmax_warp(
    const float* __restrict__ a, float* __restrict__ b, int rows, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float* x = a + row * n;
    float most = x[lane];
    for (int i = lane + 32; i < n; i += 32) most = fmaxf(most, x[i]);
    for (int d = 16; d > 0; d /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, d));
    float sum = 0.0f;
    for (int i = lane; i < n; i += 32) sum += expf(x[i] - most);
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    for (int i = lane; i < n; i += 32) b[row * n + i] = expf(x[i] - most) / sum;
}

extern "C" __global__ void softmax_block(const float* a, float* b, int rows, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x;
    const float* x = a + blockIdx.x * n;
    float most = x[t];
    for (int i = t + 128; i < n; i += 128) most = fmaxf(most, x[i]);
    s[t] = most;
    __syncthreads();
    for (int d = 64; d > 0; d /= 2) {
        if (t < d) s[t] = fmaxf(s[t], s[t + d]);
        __syncthreads();
    }
    most = s[0];
    __syncthreads();
    float sum = 0.0f;
    for (int i = t; i < n; i += 128) sum += expf(x[i] - most);
    s[t] = sum;
    __syncthreads();
    for (int d = 64; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    for (int i = t; i < n; i += 128) b[blockIdx.x * n + i] = expf(x[i] - most) / s[0];
}
"""


def softmax_thread(a: Any, b: Any, rows: Any, n: Any) -> None:
    row = cuda.grid(1)
    if row >= rows:
        return
    most = a[row, 0]
    for i in range(1, n):
        most = max(most, a[row, i])
    total = float32(0)
    for i in range(n):
        total += math.exp(a[row, i] - most)
    for i in range(n):
        b[row, i] = math.exp(a[row, i] - most) / total


def softmax_warp(a: Any, b: Any, rows: Any, n: Any) -> None:
    row = cuda.grid(1) // 32
    lane = cuda.threadIdx.x % 32
    if row >= rows:
        return
    most = a[row, lane]
    for i in range(lane + 32, n, 32):
        most = max(most, a[row, i])
    d = 16
    while d > 0:
        most = max(most, cuda.shfl_xor_sync(0xFFFFFFFF, most, d))
        d //= 2
    total = float32(0)
    for i in range(lane, n, 32):
        total += math.exp(a[row, i] - most)
    d = 16
    while d > 0:
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, d)
        d //= 2
    for i in range(lane, n, 32):
        b[row, i] = math.exp(a[row, i] - most) / total


def softmax_block(a: Any, b: Any, rows: Any, n: Any) -> None:
    s = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    row = cuda.blockIdx.x
    most = a[row, t]
    for i in range(t + 128, n, 128):
        most = max(most, a[row, i])
    s[t] = most
    cuda.syncthreads()
    d = 64
    while d > 0:
        if t < d:
            s[t] = max(s[t], s[t + d])
        cuda.syncthreads()
        d //= 2
    most = s[0]
    cuda.syncthreads()
    total = float32(0)
    for i in range(t, n, 128):
        total += math.exp(a[row, i] - most)
    s[t] = total
    cuda.syncthreads()
    d = 64
    while d > 0:
        if t < d:
            s[t] += s[t + d]
        cuda.syncthreads()
        d //= 2
    for i in range(t, n, 128):
        b[row, i] = math.exp(a[row, i] - most) / s[0]


def to_norm(rows: int) -> Data:
    a = 4 * floats(rows * 256, 22).reshape(rows, 256)
    x = a.astype(np.float64)
    right = x - x.mean(axis=1, keepdims=True)
    right /= np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
    return Data((a, np.zeros_like(a), np.int32(rows), np.int32(256)), {1: right}, tolerance=1e-4)


def to_softmax(rows: int) -> Data:
    a = 4 * floats(rows * 512, 23).reshape(rows, 512)
    x = np.exp(a.astype(np.float64))
    right = x / x.sum(axis=1, keepdims=True)
    return Data((a, np.zeros_like(a), np.int32(rows), np.int32(512)), {1: right}, tolerance=1e-4)


norm = partial(Case, "layer norm", NORM, to_norm, 8192, 64)
softmax = partial(Case, "softmax", SOFTMAX, to_softmax, 2048, 64)
CASES = [
    norm("thread a row", norm_thread, lambda rows: rows // 64, 64),
    norm("warp a row", norm_warp, lambda rows: rows // 8, 256),
    norm("block a row", norm_block, lambda rows: rows, 128),
    softmax("thread a row", softmax_thread, lambda rows: rows // 32, 32),
    softmax("warp a row", softmax_warp, lambda rows: rows // 8, 256),
    softmax("block a row", softmax_block, lambda rows: rows, 128),
]
