"""Numbers: a Julia set, prices by a polynomial, and an integral by Monte Carlo."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numba import float32, uint32
from scipy.special import erfc

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, floats

JULIA = r"""
extern "C" __global__ void julia(unsigned char* counts, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float r = 3.0f * x / n - 1.5f, i = 3.0f * y / n - 1.5f;
    int k = 0;
    for (; k < 200 && r * r + i * i <= 4.0f; k++) {
        float next = r * r - i * i - 0.8f;
        i = 2.0f * r * i + 0.156f;
        r = next;
    }
    counts[y * n + x] = k;
}
"""


def julia(counts: Any, n: Any) -> None:
    x, y = cuda.grid(2)
    r = float32(3) * float32(x) / float32(n) - float32(1.5)
    i = float32(3) * float32(y) / float32(n) - float32(1.5)
    k = 0
    while k < 200 and r * r + i * i <= float32(4):
        r, i = r * r - i * i - float32(0.8), float32(2) * r * i + float32(0.156)
        k += 1
    counts[y, x] = k


CALLS = r"""
__device__ float normal(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float sum = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f
        + k * (-1.821255978f + k * 1.330274429f))));
    float tail = 0.39894228f * expf(-0.5f * d * d) * sum;
    return d > 0.0f ? 1.0f - tail : tail;
}

extern "C" __global__ void calls(
    const float* price, const float* strike, const float* years, float* call, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float root = 0.3f * sqrtf(years[i]);
        float d = (logf(price[i] / strike[i]) + 0.065f * years[i]) / root;
        float later = strike[i] * expf(-0.02f * years[i]);
        call[i] = price[i] * normal(d) - later * normal(d - root);
    }
}
"""


def calls(price: Any, strike: Any, years: Any, call: Any, n: Any) -> None:
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        root = float32(0.3) * math.sqrt(years[i])
        d = (math.log(price[i] / strike[i]) + float32(0.065) * years[i]) / root
        value = float32(0)
        factor = price[i]
        for _ in range(2):
            k = float32(1) / (float32(1) + float32(0.2316419) * abs(d))
            total = float32(-1.821255978) + k * float32(1.330274429)
            total = float32(-0.356563782) + k * (float32(1.781477937) + k * total)
            total = k * (float32(0.31938153) + k * total)
            tail = float32(0.39894228) * math.exp(float32(-0.5) * d * d) * total
            if d > float32(0):
                tail = float32(1) - tail
            value += factor * tail
            d -= root
            factor = -strike[i] * math.exp(float32(-0.02) * years[i])
        call[i] = value


AREA = r"""
extern "C" __global__ void area(float* area, int draws)
{
    unsigned state = (blockIdx.x * blockDim.x + threadIdx.x + 1) * 2654435761u;
    float sum = 0.0f;
    for (int k = 0; k < draws; k++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        float x = (state >> 8) * 5.9604645e-8f;
        sum += expf(-x * x);
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x % 32 == 0) atomicAdd(area, sum);
}
"""


def area(area: Any, draws: Any) -> None:
    state = uint32((cuda.grid(1) + 1) * 2654435761)
    total = float32(0)
    for _ in range(draws):
        state = uint32(state ^ (state << 13))
        state = uint32(state ^ (state >> 17))
        state = uint32(state ^ (state << 5))
        x = float32(state >> 8) * float32(2**-24)
        total += math.exp(-x * x)
    d = 16
    while d > 0:
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, d)
        d //= 2
    if cuda.threadIdx.x % 32 == 0:
        cuda.atomic.add(area, 0, total)


def fractal(n: int) -> Data:
    """The counts in double; those in float differ in some places."""
    y, x = np.mgrid[:n, :n] * 3.0 / n - 1.5
    z, counts = x + 1j * y, np.zeros((n, n), int)
    for _ in range(200):
        inside = abs(z) <= 2
        counts += inside
        z[inside] = z[inside] ** 2 + (-0.8 + 0.156j)
    return Data((np.zeros((n, n), np.uint8), np.int32(n)), {0: counts}, differ=0.05)


def market(n: int) -> Data:
    price, strike, years = floats(3 * n, 225).reshape(3, n)
    price, strike, years = 20 + 80 * price, 20 + 80 * strike, np.float32(0.25) + 3 * years
    s, x, t = (one.astype(np.float64) for one in (price, strike, years))
    root = 0.3 * np.sqrt(t)
    d = (np.log(s / x) + 0.065 * t) / root
    p, q = erfc(-d / np.sqrt(2)) / 2, erfc(-(d - root) / np.sqrt(2)) / 2
    call = s * p - x * np.exp(-0.02 * t) * q
    arguments = (price, strike, years, np.zeros(n, np.float32), np.int32(n))
    return Data(arguments, {3: call}, tolerance=1e-5)


def under(n: int, draws: int) -> Data:
    """A sum of n threads."""
    state, total = np.arange(1, n + 1, dtype=np.uint32) * np.uint32(2654435761), 0.0
    for _ in range(draws):
        for shift in (13, -17, 5):
            state ^= state << np.uint32(shift) if shift > 0 else state >> np.uint32(-shift)
        total += float(np.exp(-(((state >> np.uint32(8)) / 2.0**24) ** 2)).sum())
    return Data((np.zeros(1, np.float32), np.int32(draws)), {0: np.array([total])}, tolerance=1e-4)


def integral(way: str, draws: int, large: int) -> Case:
    data = partial(under, draws=draws)
    job = "integral by Monte Carlo"
    return Case(job, AREA, data, large, 1 << 9, way, area, lambda n: n // 128, 128)


image = partial(Case, "Julia set", JULIA, fractal, 1024, 256)
prices = partial(Case, "prices by a polynomial", CALLS, market, 1 << 21, 1 << 11)
CASES = [
    image("blocks of 8 by 8", julia, lambda n: (n // 8, n // 8), (8, 8)),
    image("blocks of 256 by 1", julia, lambda n: (n // 256, n), (256, 1)),
    prices("option a thread", calls, lambda n: n // 128, 128),
    prices("8 options a thread", calls, lambda n: n // 1024, 128),
    integral("64 draws a thread", 64, 1 << 19),
    integral("512 draws a thread", 512, 1 << 14),
]
