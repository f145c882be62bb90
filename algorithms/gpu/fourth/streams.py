"""Arrays that are read and written once: axpy in double, bytes, and sums with reads in flight."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import float32, uint32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, floats, random

AXPY = r"""
extern "C" __global__ void axpy_element(double s, const double* x, double* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = s * x[i] + y[i];
}

extern "C" __global__ void axpy_stride(double s, const double* __restrict__ x, double* y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = s * x[i] + y[i];
}

extern "C" __global__ void axpy_chunk(double s, const double* x, double* y, int n)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    for (int i = first; i < first + 8 && i < n; i++) y[i] = s * x[i] + y[i];
}
"""


def axpy_element(s: Any, x: Any, y: Any, n: Any) -> None:
    i = cuda.grid(1)
    if i < n:
        y[i] = s * x[i] + y[i]


def axpy_stride(s: Any, x: Any, y: Any, n: Any) -> None:
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        y[i] = s * x[i] + y[i]


def axpy_chunk(s: Any, x: Any, y: Any, n: Any) -> None:
    first = cuda.grid(1) * 8
    for i in range(first, min(first + 8, n)):
        y[i] = s * x[i] + y[i]


BYTES = r"""
extern "C" __global__ void brighten_byte(const unsigned char* a, unsigned char* b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] = min(a[i] + 40, 255);
}

extern "C" __global__ void brighten_word(const unsigned* a, unsigned* b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned word = a[i], out = 0;
    for (int k = 0; k < 32; k += 8) out |= min((word >> k & 255) + 40, 255u) << k;
    b[i] = out;
}

extern "C" __global__ void brighten_chunk(const unsigned char* a, unsigned char* b, int n)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    for (int i = first; i < first + 4 && i < n; i++) b[i] = min(a[i] + 40, 255);
}
"""


def brighten_byte(a: Any, b: Any, n: Any) -> None:
    i = cuda.grid(1)
    if i < n:
        b[i] = min(a[i] + 40, 255)


def brighten_word(a: Any, b: Any, n: Any) -> None:
    i = cuda.grid(1)
    if i >= n:
        return
    word = a[i]
    out = uint32(0)
    for k in range(0, 32, 8):
        out = uint32(out | (min(((word >> k) & 255) + 40, 255) << k))
    b[i] = out


def brighten_chunk(a: Any, b: Any, n: Any) -> None:
    first = cuda.grid(1) * 4
    for i in range(first, min(first + 4, n)):
        b[i] = min(a[i] + 40, 255)


READS = r"""
extern "C" __global__ void reads_one(const float* a, float* b, int threads)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    #pragma unroll 1
    for (int k = 0; k < 64; k++) sum += a[k * threads + i];
    b[i] = sum;
}

extern "C" __global__ void reads_four(const float* a, float* b, int threads)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float p = 0.0f, q = 0.0f, r = 0.0f, s = 0.0f;
    #pragma unroll 1
    for (int k = 0; k < 64; k += 4) {
        p += a[k * threads + i];
        q += a[(k + 1) * threads + i];
        r += a[(k + 2) * threads + i];
        s += a[(k + 3) * threads + i];
    }
    b[i] = p + q + r + s;
}

extern "C" __global__ void reads_eight(const float* a, float* b, int threads)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    #pragma unroll 8
    for (int k = 0; k < 64; k++) sum += a[k * threads + i];
    b[i] = sum;
}
"""


def reads_one(a: Any, b: Any, threads: Any) -> None:
    i = cuda.grid(1)
    total = float32(0)
    for k in range(64):
        total += a[k * threads + i]
    b[i] = total


def reads_four(a: Any, b: Any, threads: Any) -> None:
    i = cuda.grid(1)
    p, q, r, s = float32(0), float32(0), float32(0), float32(0)
    for k in range(0, 64, 4):
        p += a[k * threads + i]
        q += a[(k + 1) * threads + i]
        r += a[(k + 2) * threads + i]
        s += a[(k + 3) * threads + i]
    b[i] = p + q + r + s


def reads_eight(a: Any, b: Any, threads: Any) -> None:
    i = cuda.grid(1)
    total = float32(0)
    for k in range(0, 64, 8):
        p = a[k * threads + i] + a[(k + 1) * threads + i]
        q = a[(k + 2) * threads + i] + a[(k + 3) * threads + i]
        r = a[(k + 4) * threads + i] + a[(k + 5) * threads + i]
        s = a[(k + 6) * threads + i] + a[(k + 7) * threads + i]
        total += (p + q) + (r + s)
    b[i] = total


def vectors(n: int) -> Data:
    draw = random(25)
    x, y = draw.random(n), draw.random(n)
    return Data((np.float64(1.5), x, y, np.int32(n)), {2: 1.5 * x + y}, tolerance=1e-12)


def image(n: int) -> Data:
    a = random(26).integers(0, 256, n, np.uint8)
    return Data((a, np.zeros_like(a), np.int32(n)), {1: np.minimum(a.astype(np.int64) + 40, 255)})


def words(n: int) -> Data:
    """The same bytes, four in a word."""
    a = image(n).arguments[0]
    right = np.minimum(a.astype(np.int64) + 40, 255).astype(np.uint8).view(np.uint32)
    return Data((a.view(np.uint32), np.zeros(n // 4, np.uint32), np.int32(n // 4)), {1: right})


def columns(threads: int) -> Data:
    a = floats(64 * threads, 27)
    right = a.reshape(64, threads).sum(axis=0, dtype=np.float64)
    return Data((a, np.zeros(threads, np.float32), np.int32(threads)), {1: right}, tolerance=1e-5)


axpy = partial(Case, "axpy in double", AXPY, vectors, 1 << 21, 1 << 12)
brighten = partial(Case, "bytes", BYTES)
reads = partial(Case, "reads in flight", READS, columns, 1 << 17, 1 << 10)
CASES = [
    axpy("thread an element", axpy_element, lambda n: n // 256, 256),
    axpy("grid stride", axpy_stride, lambda n: n // 4096, 256),
    axpy("chunks of 8", axpy_chunk, lambda n: n // 2048, 256),
    brighten(image, 1 << 22, 1 << 12, "thread a byte", brighten_byte, lambda n: n // 256, 256),
    brighten(words, 1 << 22, 1 << 12, "thread a word", brighten_word, lambda n: n // 1024, 256),
    brighten(image, 1 << 22, 1 << 12, "chunks of 4", brighten_chunk, lambda n: n // 1024, 256),
    reads("1", reads_one, lambda n: n // 128, 128),
    reads("4", reads_four, lambda n: n // 128, 128),
    reads("8", reads_eight, lambda n: n // 128, 128),
]
