"""Bodies: their forces on each other, their motion, and their nearest centres."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numba import float32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, floats, random

FORCES = r"""
extern "C" __global__ void forces_global(const float* x, const float* y, const float* z,
    const float* mass, float* fx, float* fy, float* fz, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float px = x[i], py = y[i], pz = z[i];
    float sx = 0.0f, sy = 0.0f, sz = 0.0f;
    for (int j = 0; j < n; j++) {
        float dx = x[j] - px, dy = y[j] - py, dz = z[j] - pz;
        float r = dx * dx + dy * dy + dz * dz + 0.01f;
        float f = mass[j] / (r * sqrtf(r));
        sx += f * dx;
        sy += f * dy;
        sz += f * dz;
    }
    fx[i] = sx;
    fy[i] = sy;
    fz[i] = sz;
}

extern "C" __global__ void forces_shared(const float* __restrict__ x,
    const float* __restrict__ y, const float* __restrict__ z, const float* __restrict__ mass,
    float* __restrict__ fx, float* __restrict__ fy, float* __restrict__ fz, int n)
{
    __shared__ float ox[128], oy[128], oz[128], om[128];
    int t = threadIdx.x;
    int i = blockIdx.x * 128 + t;
    float px = x[i], py = y[i], pz = z[i];
    float sx = 0.0f, sy = 0.0f, sz = 0.0f;
    for (int first = 0; first < n; first += 128) {
        ox[t] = x[first + t];
        oy[t] = y[first + t];
        oz[t] = z[first + t];
        om[t] = mass[first + t];
        __syncthreads();
        for (int j = 0; j < 128; j++) {
            float dx = ox[j] - px, dy = oy[j] - py, dz = oz[j] - pz;
            float r = dx * dx + dy * dy + dz * dz + 0.01f;
            float f = om[j] / (r * sqrtf(r));
            sx += f * dx;
            sy += f * dy;
            sz += f * dz;
        }
        __syncthreads();
    }
    fx[i] = sx;
    fy[i] = sy;
    fz[i] = sz;
}
"""


def forces_global(x: Any, y: Any, z: Any, mass: Any, fx: Any, fy: Any, fz: Any, n: Any) -> None:
    i = cuda.grid(1)
    px, py, pz = x[i], y[i], z[i]
    sx, sy, sz = float32(0), float32(0), float32(0)
    for j in range(n):
        dx = x[j] - px
        dy = y[j] - py
        dz = z[j] - pz
        r = dx * dx + dy * dy + dz * dz + float32(0.01)
        f = mass[j] / (r * math.sqrt(r))
        sx += f * dx
        sy += f * dy
        sz += f * dz
    fx[i] = sx
    fy[i] = sy
    fz[i] = sz


def forces_shared(x: Any, y: Any, z: Any, mass: Any, fx: Any, fy: Any, fz: Any, n: Any) -> None:
    ox = cuda.shared.array(128, float32)
    oy = cuda.shared.array(128, float32)
    oz = cuda.shared.array(128, float32)
    om = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    px, py, pz = x[i], y[i], z[i]
    sx, sy, sz = float32(0), float32(0), float32(0)
    for first in range(0, n, 128):
        ox[t] = x[first + t]
        oy[t] = y[first + t]
        oz[t] = z[first + t]
        om[t] = mass[first + t]
        cuda.syncthreads()
        for j in range(128):
            dx = ox[j] - px
            dy = oy[j] - py
            dz = oz[j] - pz
            r = dx * dx + dy * dy + dz * dz + float32(0.01)
            f = om[j] / (r * math.sqrt(r))
            sx += f * dx
            sy += f * dy
            sz += f * dz
        cuda.syncthreads()
    fx[i] = sx
    fy[i] = sy
    fz[i] = sz


PARTICLES = r"""
struct Particle { float x, y, z, u, v, w; };

extern "C" __global__ void move_structures(Particle* p, float dt, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    p[i].x += p[i].u * dt;
    p[i].y += p[i].v * dt;
    p[i].z += p[i].w * dt;
}

extern "C" __global__ void move_arrays(float* p, float dt, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float *x = p, *y = p + n, *z = p + 2 * n;
    const float *u = p + 3 * n, *v = p + 4 * n, *w = p + 5 * n;
    x[i] += u[i] * dt;
    y[i] += v[i] * dt;
    z[i] += w[i] * dt;
}
"""


def move_structures(p: Any, dt: Any, n: Any) -> None:
    i = cuda.grid(1)
    if i < n:
        p[i, 0] += p[i, 3] * dt
        p[i, 1] += p[i, 4] * dt
        p[i, 2] += p[i, 5] * dt


def move_arrays(p: Any, dt: Any, n: Any) -> None:
    i = cuda.grid(1)
    if i < n:
        p[0, i] += p[3, i] * dt
        p[1, i] += p[4, i] * dt
        p[2, i] += p[5, i] * dt


CENTRES = r"""
extern "C" __global__ void nearest_global(
    const float* points, const float* centres, int* labels, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float least = 1e30f;
    int label = 0;
    for (int c = 0; c < 16; c++) {
        float sum = 0.0f;
        for (int d = 0; d < 4; d++) {
            float away = points[i * 4 + d] - centres[c * 4 + d];
            sum += away * away;
        }
        if (sum < least) {
            least = sum;
            label = c;
        }
    }
    labels[i] = label;
}

extern "C" __global__ void nearest_shared(
    const float* __restrict__ points, const float* __restrict__ centres, int* labels, int n)
{
    __shared__ float s[16][4];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    if (t < 64) s[t / 4][t % 4] = centres[t];
    __syncthreads();
    if (i >= n) return;
    float x = points[i * 4], y = points[i * 4 + 1], z = points[i * 4 + 2], w = points[i * 4 + 3];
    float least = 1e30f;
    int label = 0;
    for (int c = 0; c < 16; c++) {
        float dx = x - s[c][0], dy = y - s[c][1], dz = z - s[c][2], dw = w - s[c][3];
        float sum = dx * dx + dy * dy + dz * dz + dw * dw;
        if (sum < least) {
            least = sum;
            label = c;
        }
    }
    labels[i] = label;
}
"""


def nearest_global(points: Any, centres: Any, labels: Any, n: Any) -> None:
    i = cuda.grid(1)
    if i >= n:
        return
    least = float32(1e30)
    label = 0
    for c in range(16):
        total = float32(0)
        for d in range(4):
            away = points[i, d] - centres[c, d]
            total += away * away
        if total < least:
            least = total
            label = c
    labels[i] = label


def nearest_shared(points: Any, centres: Any, labels: Any, n: Any) -> None:
    s = cuda.shared.array((16, 4), float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if t < 64:
        s[t // 4, t % 4] = centres[t // 4, t % 4]
    cuda.syncthreads()
    if i >= n:
        return
    x, y, z, w = points[i, 0], points[i, 1], points[i, 2], points[i, 3]
    least = float32(1e30)
    label = 0
    for c in range(16):
        dx = x - s[c, 0]
        dy = y - s[c, 1]
        dz = z - s[c, 2]
        dw = w - s[c, 3]
        total = dx * dx + dy * dy + dz * dz + dw * dw
        if total < least:
            least = total
            label = c
    labels[i] = label


def forces(n: int) -> Data:
    x, y, z, mass = floats(4 * n, 18).reshape(4, n).copy()
    force = np.zeros((3, n))
    for j in range(n):
        away = np.array([axis[j] - axis.astype(np.float64) for axis in (x, y, z)])
        r = (away**2).sum(axis=0) + 0.01
        force += mass[j] / (r * np.sqrt(r)) * away
    outputs = np.zeros((3, n), np.float32)
    arguments = (x, y, z, mass, *(one.copy() for one in outputs), np.int32(n))
    return Data(arguments, dict(zip((4, 5, 6), force, strict=True)), tolerance=1e-4)


def structures(n: int) -> Data:
    p, dt = floats(6 * n, 19).reshape(n, 6), np.float32(0.125)
    moved = p.copy()
    moved[:, :3] += moved[:, 3:] * dt
    return Data((p, dt, np.int32(n)), {0: moved}, tolerance=1e-6)


def arrays(n: int) -> Data:
    made = structures(n)
    p, dt, size = made.arguments
    moved = np.ascontiguousarray(made.expected[0].T)
    return Data((np.ascontiguousarray(p.T), dt, size), {0: moved}, tolerance=1e-6)


def points(n: int) -> Data:
    """Points and centres in eighths, so that floats have their squared distances exactly."""
    given, centres = (
        (random(20, k).integers(0, 64, (k, 4)) / 8).astype(np.float32) for k in (n, 16)
    )
    away = np.stack([((given - one) ** 2).sum(axis=1) for one in centres])
    labels = np.zeros(n, np.int32)
    return Data((given, centres, labels, np.int32(n)), {2: away.argmin(axis=0)})


force = partial(Case, "n bodies", FORCES, forces, 4096, 256)
move = partial(Case, "particles", PARTICLES)
nearest = partial(Case, "k-means", CENTRES, points, 1 << 20, 1 << 10)
CASES = [
    force("global", forces_global, lambda n: n // 128, 128),
    force("shared", forces_shared, lambda n: n // 128, 128),
    move(structures, 1 << 20, 1 << 10, "structures", move_structures, lambda n: n // 256, 256),
    move(arrays, 1 << 20, 1 << 10, "arrays", move_arrays, lambda n: n // 256, 256),
    nearest("global", nearest_global, lambda n: n // 256, 256),
    nearest("shared", nearest_shared, lambda n: n // 256, 256),
]
