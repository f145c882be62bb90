"""Bodies in a plane in double, and particles counted in cells."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numba import float32, float64, int32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, random

PLANE = r"""
extern "C" __global__ void plane_global(const double* place, double* force, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = place[2 * i], y = place[2 * i + 1], u = 0.0, v = 0.0;
    for (int j = 0; j < n; j++) {
        double dx = place[2 * j] - x, dy = place[2 * j + 1] - y;
        double r = dx * dx + dy * dy + 0.01;
        u += dx / r;
        v += dy / r;
    }
    force[2 * i] = u;
    force[2 * i + 1] = v;
}

extern "C" __global__ void plane_shared(
    const double* __restrict__ place, double* __restrict__ force, int n)
{
    __shared__ double s[64][2];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    double x = place[2 * i], y = place[2 * i + 1], u = 0.0, v = 0.0;
    for (int first = 0; first < n; first += 64) {
        s[t][0] = place[2 * (first + t)];
        s[t][1] = place[2 * (first + t) + 1];
        __syncthreads();
        for (int j = 0; j < 64; j++) {
            double dx = s[j][0] - x, dy = s[j][1] - y;
            double by = rsqrt(dx * dx + dy * dy + 0.01);
            u += dx * by * by;
            v += dy * by * by;
        }
        __syncthreads();
    }
    force[2 * i] = u;
    force[2 * i + 1] = v;
}
"""


def plane_global(place: Any, force: Any, n: Any) -> None:
    i = cuda.grid(1)
    x, y = place[i, 0], place[i, 1]
    u, v = 0.0, 0.0
    for j in range(n):
        dx = place[j, 0] - x
        dy = place[j, 1] - y
        r = dx * dx + dy * dy + 0.01
        u += dx / r
        v += dy / r
    force[i, 0] = u
    force[i, 1] = v


def plane_shared(place: Any, force: Any, n: Any) -> None:
    s = cuda.shared.array((64, 2), float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    x, y = place[i, 0], place[i, 1]
    u, v = 0.0, 0.0
    for first in range(0, n, 64):
        s[t, 0] = place[first + t, 0]
        s[t, 1] = place[first + t, 1]
        cuda.syncthreads()
        for j in range(64):
            dx = s[j, 0] - x
            dy = s[j, 1] - y
            by = 1.0 / math.sqrt(dx * dx + dy * dy + 0.01)
            u += dx * by * by
            v += dy * by * by
        cuda.syncthreads()
    force[i, 0] = u
    force[i, 1] = v


DEPOSIT = r"""
extern "C" __global__ void deposit_atomic(
    const float* x, const float* y, float* cells, int width, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int u = x[i], v = y[i];
    float p = x[i] - u, q = y[i] - v;
    float* cell = cells + v * width + u;
    atomicAdd(&cell[0], (1.0f - p) * (1.0f - q));
    atomicAdd(&cell[1], p * (1.0f - q));
    atomicAdd(&cell[width], (1.0f - p) * q);
    atomicAdd(&cell[width + 1], p * q);
}

extern "C" __global__ void deposit_corner(
    const float* x, const float* y, float* cells, int width, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, corner = i / n, at = i % n;
    int u = x[at], v = y[at], right = corner % 2, down = corner / 2;
    float p = x[at] - u, q = y[at] - v;
    float weight = (right ? p : 1.0f - p) * (down ? q : 1.0f - q);
    atomicAdd(&cells[(v + down) * width + u + right], weight);
}
"""


def deposit_atomic(x: Any, y: Any, cells: Any, width: Any, n: Any) -> None:
    i = cuda.grid(1)
    u, v = int32(x[i]), int32(y[i])
    p, q = x[i] - float32(u), y[i] - float32(v)
    cuda.atomic.add(cells, (v, u), (float32(1) - p) * (float32(1) - q))
    cuda.atomic.add(cells, (v, u + 1), p * (float32(1) - q))
    cuda.atomic.add(cells, (v + 1, u), (float32(1) - p) * q)
    cuda.atomic.add(cells, (v + 1, u + 1), p * q)


def deposit_corner(x: Any, y: Any, cells: Any, width: Any, n: Any) -> None:
    i = cuda.grid(1)
    corner, at = i // n, i % n
    u, v = int32(x[at]), int32(y[at])
    right, down = corner % 2, corner // 2
    p, q = x[at] - float32(u), y[at] - float32(v)
    if right == 0:
        p = float32(1) - p
    if down == 0:
        q = float32(1) - q
    cuda.atomic.add(cells, (v + down, u + right), p * q)


def places(n: int) -> Data:
    place = random(125).random((n, 2))
    x, y = place.T
    dx, dy = x - x[:, None], y - y[:, None]
    r = dx**2 + dy**2 + 0.01
    right = np.stack([(dx / r).sum(axis=1), (dy / r).sum(axis=1)], axis=1)
    return Data((place, np.zeros((n, 2)), np.int32(n)), {1: right}, tolerance=1e-9)


def particles(n: int) -> Data:
    """Particles in the cells of a square, each of which counts at the corners of its cell."""
    width = 257
    x, y = (random(128).random((2, n)) * (width - 1)).astype(np.float32)
    u, v = x.astype(int), y.astype(int)
    p, q, cells = x - u, y - v, np.zeros((width, width))
    for down, right in ((0, 0), (0, 1), (1, 0), (1, 1)):
        weight = np.abs(1 - right - p) * np.abs(1 - down - q)
        np.add.at(cells, (v + down, u + right), weight)
    found = np.zeros((width, width), np.float32)
    return Data((x, y, found, np.int32(width), np.int32(n)), {2: cells}, tolerance=1e-5)


plane = partial(Case, "bodies in a plane", PLANE, places, 2048, 128)
deposit = partial(Case, "particles in cells", DEPOSIT, particles, 1 << 17, 1 << 10)
CASES = [
    plane("global", plane_global, lambda n: n // 64, 64),
    plane("shared", plane_shared, lambda n: n // 64, 64),
    deposit("four corners a thread", deposit_atomic, lambda n: n // 128, 128),
    deposit("a corner a thread", deposit_corner, lambda n: n // 64, 256),
]
