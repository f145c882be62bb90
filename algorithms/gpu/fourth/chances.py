"""Prices of options by Black and Scholes, and pi by Monte Carlo."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numba import float32, int32, uint32
from scipy.special import erfc

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, floats

OPTIONS = r"""
extern "C" __global__ void options_float(const float* price, const float* strike,
    const float* years, float* call, float* put, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = price[i], x = strike[i], t = years[i];
    float root = 0.3f * sqrtf(t);
    float d = (logf(s / x) + (0.02f + 0.5f * 0.3f * 0.3f) * t) / root;
    float p = 0.5f * erfcf(-0.70710678f * d), q = 0.5f * erfcf(-0.70710678f * (d - root));
    float discounted = x * expf(-0.02f * t);
    call[i] = s * p - discounted * q;
    put[i] = discounted * (1.0f - q) - s * (1.0f - p);
}

extern "C" __global__ void options_double(const double* price, const double* strike,
    const double* years, double* call, double* put, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double s = price[i], x = strike[i], t = years[i];
    double root = 0.3 * sqrt(t);
    double d = (log(s / x) + (0.02 + 0.5 * 0.3 * 0.3) * t) / root;
    double p = 0.5 * erfc(-0.7071067811865476 * d);
    double q = 0.5 * erfc(-0.7071067811865476 * (d - root));
    double discounted = x * exp(-0.02 * t);
    call[i] = s * p - discounted * q;
    put[i] = discounted * (1.0 - q) - s * (1.0 - p);
}
"""


def options_float(price: Any, strike: Any, years: Any, call: Any, put: Any, n: Any) -> None:
    i = cuda.grid(1)
    if i >= n:
        return
    s, x, t = price[i], strike[i], years[i]
    root = float32(0.3) * math.sqrt(t)
    d = (math.log(s / x) + float32(0.065) * t) / root
    p = float32(0.5) * math.erfc(float32(-0.70710678) * d)
    q = float32(0.5) * math.erfc(float32(-0.70710678) * (d - root))
    discounted = x * math.exp(float32(-0.02) * t)
    call[i] = s * p - discounted * q
    put[i] = discounted * (float32(1) - q) - s * (float32(1) - p)


def options_double(price: Any, strike: Any, years: Any, call: Any, put: Any, n: Any) -> None:
    i = cuda.grid(1)
    if i >= n:
        return
    s, x, t = price[i], strike[i], years[i]
    root = 0.3 * math.sqrt(t)
    d = (math.log(s / x) + 0.065 * t) / root
    p = 0.5 * math.erfc(-0.7071067811865476 * d)
    q = 0.5 * math.erfc(-0.7071067811865476 * (d - root))
    discounted = x * math.exp(-0.02 * t)
    call[i] = s * p - discounted * q
    put[i] = discounted * (1.0 - q) - s * (1.0 - p)


PI = r"""
extern "C" __global__ void pi_thread(int* hits, int draws)
{
    unsigned state = blockIdx.x * blockDim.x + threadIdx.x + 12345u;
    int found = 0;
    for (int k = 0; k < draws; k++) {
        state = state * 1664525u + 1013904223u;
        int x = state >> 17;
        state = state * 1664525u + 1013904223u;
        int y = state >> 17;
        if (x * x + y * y < 1 << 30) found++;
    }
    atomicAdd(hits, found);
}

extern "C" __global__ void pi_block(int* hits, int draws)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    unsigned state = blockIdx.x * blockDim.x + t + 12345u;
    int found = 0;
    for (int k = 0; k < draws; k++) {
        state = state * 1664525u + 1013904223u;
        int x = state >> 17;
        state = state * 1664525u + 1013904223u;
        int y = state >> 17;
        if (x * x + y * y < 1 << 30) found++;
    }
    s[t] = found;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) atomicAdd(hits, s[0]);
}
"""


def pi_thread(hits: Any, draws: Any) -> None:
    state = uint32(cuda.grid(1) + 12345)
    found = 0
    for _ in range(draws):
        state = uint32(state * uint32(1664525) + uint32(1013904223))
        x = int32(state >> 17)
        state = uint32(state * uint32(1664525) + uint32(1013904223))
        y = int32(state >> 17)
        if x * x + y * y < 1 << 30:
            found += 1
    cuda.atomic.add(hits, 0, found)


def pi_block(hits: Any, draws: Any) -> None:
    s = cuda.shared.array(256, int32)
    t = cuda.threadIdx.x
    state = uint32(cuda.grid(1) + 12345)
    found = 0
    for _ in range(draws):
        state = uint32(state * uint32(1664525) + uint32(1013904223))
        x = int32(state >> 17)
        state = uint32(state * uint32(1664525) + uint32(1013904223))
        y = int32(state >> 17)
        if x * x + y * y < 1 << 30:
            found += 1
    s[t] = found
    cuda.syncthreads()
    d = 128
    while d > 0:
        if t < d:
            s[t] += s[t + d]
        cuda.syncthreads()
        d //= 2
    if t == 0:
        cuda.atomic.add(hits, 0, s[0])


def prices(n: int, type_: type[np.floating[Any]] = np.float32) -> Data:
    """Prices near 100, and their options, which are computed in double."""
    price, strike, years = floats(3 * n, 24).reshape(3, n).astype(type_)
    price, strike, years = 80 + 40 * price, 80 + 40 * strike, type_(0.25) + 2 * years
    s, x, t = (one.astype(np.float64) for one in (price, strike, years))
    root = 0.3 * np.sqrt(t)
    d = (np.log(s / x) + 0.065 * t) / root
    p, q = erfc(-d / np.sqrt(2)) / 2, erfc(-(d - root) / np.sqrt(2)) / 2
    discounted = x * np.exp(-0.02 * t)
    call, put = s * p - discounted * q, discounted * (1 - q) - s * (1 - p)
    out = np.zeros(n, type_)
    arguments = (price, strike, years, out, out.copy(), np.int32(n))
    return Data(arguments, {3: call, 4: put}, tolerance=1e-4)


def draws(n: int) -> Data:
    """The hits of n threads with 64 draws each."""
    state, hits = np.arange(n, dtype=np.uint32) + np.uint32(12345), 0
    for _ in range(64):
        drawn = []
        for _ in "xy":
            state = state * np.uint32(1664525) + np.uint32(1013904223)
            drawn.append((state >> 17).astype(np.int64))
        x, y = drawn
        hits += int(np.count_nonzero(x * x + y * y < 1 << 30))
    return Data((np.zeros(1, np.int32), np.int32(64)), {0: np.array([hits])})


option = partial(Case, "Black-Scholes", OPTIONS)
doubles = partial(prices, type_=np.float64)
pi = partial(Case, "Monte Carlo", PI, draws, 1 << 18, 1 << 10)
CASES = [
    option(prices, 1 << 20, 1 << 10, "float", options_float, lambda n: n // 256, 256),
    option(doubles, 1 << 20, 1 << 10, "double", options_double, lambda n: n // 256, 256),
    pi("atomic a thread", pi_thread, lambda n: n // 256, 256),
    pi("atomic a block", pi_block, lambda n: n // 256, 256),
]
