"""Forces of all pairs, rays and spheres, steps of an oscillator, and mixing of bits."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numba import float32, uint32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Array, Case, Data, floats, random

PAIRS = r"""
extern "C" __global__ void pairs_global(const float* place, float* force, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = place[3 * i], y = place[3 * i + 1], z = place[3 * i + 2];
    float u = 0.0f, v = 0.0f, w = 0.0f;
    for (int j = 0; j < n; j++) {
        float dx = x - place[3 * j], dy = y - place[3 * j + 1], dz = z - place[3 * j + 2];
        float r = 1.0f / (dx * dx + dy * dy + dz * dz + 0.5f), cube = r * r * r;
        float f = r * cube * (2.0f * cube - 1.0f);
        u += dx * f;
        v += dy * f;
        w += dz * f;
    }
    force[3 * i] = u;
    force[3 * i + 1] = v;
    force[3 * i + 2] = w;
}

extern "C" __global__ void pairs_tile(const float* __restrict__ place, float* force, int n)
{
    __shared__ float s[128][3];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    float x = place[3 * i], y = place[3 * i + 1], z = place[3 * i + 2];
    float u = 0.0f, v = 0.0f, w = 0.0f;
    for (int first = 0; first < n; first += 128) {
        for (int k = 0; k < 3; k++) s[t][k] = place[3 * (first + t) + k];
        __syncthreads();
        for (int j = 0; j < 128; j++) {
            float dx = x - s[j][0], dy = y - s[j][1], dz = z - s[j][2];
            float r = 1.0f / (dx * dx + dy * dy + dz * dz + 0.5f), cube = r * r * r;
            float f = r * cube * (2.0f * cube - 1.0f);
            u += dx * f;
            v += dy * f;
            w += dz * f;
        }
        __syncthreads();
    }
    force[3 * i] = u;
    force[3 * i + 1] = v;
    force[3 * i + 2] = w;
}
"""


def pairs_global(place: Any, force: Any, n: Any) -> None:
    i = cuda.grid(1)
    x, y, z = place[i, 0], place[i, 1], place[i, 2]
    u, v, w = float32(0), float32(0), float32(0)
    for j in range(n):
        dx, dy, dz = x - place[j, 0], y - place[j, 1], z - place[j, 2]
        r = float32(1) / (dx * dx + dy * dy + dz * dz + float32(0.5))
        cube = r * r * r
        f = r * cube * (float32(2) * cube - float32(1))
        u += dx * f
        v += dy * f
        w += dz * f
    force[i, 0] = u
    force[i, 1] = v
    force[i, 2] = w


def pairs_tile(place: Any, force: Any, n: Any) -> None:
    s = cuda.shared.array((128, 3), float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * 128 + t
    x, y, z = place[i, 0], place[i, 1], place[i, 2]
    u, v, w = float32(0), float32(0), float32(0)
    for first in range(0, n, 128):
        for k in range(3):
            s[t, k] = place[first + t, k]
        cuda.syncthreads()
        for j in range(128):
            dx, dy, dz = x - s[j, 0], y - s[j, 1], z - s[j, 2]
            r = float32(1) / (dx * dx + dy * dy + dz * dz + float32(0.5))
            cube = r * r * r
            f = r * cube * (float32(2) * cube - float32(1))
            u += dx * f
            v += dy * f
            w += dz * f
        cuda.syncthreads()
    force[i, 0] = u
    force[i, 1] = v
    force[i, 2] = w


RAYS = r"""
extern "C" __global__ void rays_global(const float* start, const float* along,
    const float* spheres, float* far, int* which, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = start[3 * i], y = start[3 * i + 1], z = start[3 * i + 2];
    float u = along[3 * i], v = along[3 * i + 1], w = along[3 * i + 2];
    float best = 100.0f;
    int hit = -1;
    for (int k = 0; k < m; k++) {
        float dx = spheres[4 * k] - x, dy = spheres[4 * k + 1] - y, dz = spheres[4 * k + 2] - z;
        float radius = spheres[4 * k + 3];
        float middle = dx * u + dy * v + dz * w;
        float square = middle * middle - (dx * dx + dy * dy + dz * dz) + radius * radius;
        if (square > 0.0f) {
            float t = middle - sqrtf(square);
            if (t > 0.0f && t < best) {
                best = t;
                hit = k;
            }
        }
    }
    far[i] = best;
    which[i] = hit;
}

extern "C" __global__ void rays_shared(const float* __restrict__ start,
    const float* __restrict__ along, const float* __restrict__ spheres, float* far, int* which,
    int m)
{
    __shared__ float s[256][4];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = threadIdx.x; k < 4 * m; k += blockDim.x) s[k / 4][k % 4] = spheres[k];
    __syncthreads();
    float x = start[3 * i], y = start[3 * i + 1], z = start[3 * i + 2];
    float u = along[3 * i], v = along[3 * i + 1], w = along[3 * i + 2];
    float best = 100.0f;
    int hit = -1;
    for (int k = 0; k < m; k++) {
        float dx = s[k][0] - x, dy = s[k][1] - y, dz = s[k][2] - z, radius = s[k][3];
        float middle = dx * u + dy * v + dz * w;
        float square = middle * middle - (dx * dx + dy * dy + dz * dz) + radius * radius;
        if (square > 0.0f) {
            float t = middle - sqrtf(square);
            if (t > 0.0f && t < best) {
                best = t;
                hit = k;
            }
        }
    }
    far[i] = best;
    which[i] = hit;
}
"""


def rays_global(start: Any, along: Any, spheres: Any, far: Any, which: Any, m: Any) -> None:
    i = cuda.grid(1)
    x, y, z = start[i, 0], start[i, 1], start[i, 2]
    u, v, w = along[i, 0], along[i, 1], along[i, 2]
    best = float32(100)
    hit = -1
    for k in range(m):
        dx, dy, dz = spheres[k, 0] - x, spheres[k, 1] - y, spheres[k, 2] - z
        radius = spheres[k, 3]
        middle = dx * u + dy * v + dz * w
        square = middle * middle - (dx * dx + dy * dy + dz * dz) + radius * radius
        if square > float32(0):
            t = middle - math.sqrt(square)
            if t > float32(0) and t < best:
                best = t
                hit = k
    far[i] = best
    which[i] = hit


def rays_shared(start: Any, along: Any, spheres: Any, far: Any, which: Any, m: Any) -> None:
    s = cuda.shared.array((256, 4), float32)
    i = cuda.grid(1)
    for k in range(cuda.threadIdx.x, 4 * m, cuda.blockDim.x):
        s[k // 4, k % 4] = spheres[k // 4, k % 4]
    cuda.syncthreads()
    x, y, z = start[i, 0], start[i, 1], start[i, 2]
    u, v, w = along[i, 0], along[i, 1], along[i, 2]
    best = float32(100)
    hit = -1
    for k in range(m):
        dx, dy, dz, radius = s[k, 0] - x, s[k, 1] - y, s[k, 2] - z, s[k, 3]
        middle = dx * u + dy * v + dz * w
        square = middle * middle - (dx * dx + dy * dy + dz * dz) + radius * radius
        if square > float32(0):
            t = middle - math.sqrt(square)
            if t > float32(0) and t < best:
                best = t
                hit = k
    far[i] = best
    which[i] = hit


SWINGS = r"""
extern "C" __global__ void swing_float(float* x, float* v, float h, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float p = x[i], q = v[i], half = 0.5f * h, sixth = h / 6.0f;
    for (int k = 0; k < steps; k++) {
        float a = -p - p * p * p - 0.1f * q;
        float r = p + half * q, s = q + half * a;
        float b = -r - r * r * r - 0.1f * s;
        float t = p + half * s, u = q + half * b;
        float c = -t - t * t * t - 0.1f * u;
        float y = p + h * u, w = q + h * c;
        float d = -y - y * y * y - 0.1f * w;
        p += sixth * (q + 2.0f * (s + u) + w);
        q += sixth * (a + 2.0f * (b + c) + d);
    }
    x[i] = p;
    v[i] = q;
}

extern "C" __global__ void swing_double(double* x, double* v, double h, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double p = x[i], q = v[i], half = 0.5 * h, sixth = h / 6.0;
    for (int k = 0; k < steps; k++) {
        double a = -p - p * p * p - 0.1 * q;
        double r = p + half * q, s = q + half * a;
        double b = -r - r * r * r - 0.1 * s;
        double t = p + half * s, u = q + half * b;
        double c = -t - t * t * t - 0.1 * u;
        double y = p + h * u, w = q + h * c;
        double d = -y - y * y * y - 0.1 * w;
        p += sixth * (q + 2.0 * (s + u) + w);
        q += sixth * (a + 2.0 * (b + c) + d);
    }
    x[i] = p;
    v[i] = q;
}
"""


def swing_float(x: Any, v: Any, h: Any, steps: Any) -> None:
    i = cuda.grid(1)
    p, q = x[i], v[i]
    half, sixth = float32(0.5) * h, h / float32(6)
    for _ in range(steps):
        a = -p - p * p * p - float32(0.1) * q
        r, s = p + half * q, q + half * a
        b = -r - r * r * r - float32(0.1) * s
        t, u = p + half * s, q + half * b
        c = -t - t * t * t - float32(0.1) * u
        y, w = p + h * u, q + h * c
        d = -y - y * y * y - float32(0.1) * w
        p += sixth * (q + float32(2) * (s + u) + w)
        q += sixth * (a + float32(2) * (b + c) + d)
    x[i] = p
    v[i] = q


def swing_double(x: Any, v: Any, h: Any, steps: Any) -> None:
    i = cuda.grid(1)
    p, q = x[i], v[i]
    half, sixth = 0.5 * h, h / 6.0
    for _ in range(steps):
        a = -p - p * p * p - 0.1 * q
        r, s = p + half * q, q + half * a
        b = -r - r * r * r - 0.1 * s
        t, u = p + half * s, q + half * b
        c = -t - t * t * t - 0.1 * u
        y, w = p + h * u, q + h * c
        d = -y - y * y * y - 0.1 * w
        p += sixth * (q + 2.0 * (s + u) + w)
        q += sixth * (a + 2.0 * (b + c) + d)
    x[i] = p
    v[i] = q


MIX = r"""
extern "C" __global__ void mix(const unsigned* a, unsigned* b, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = a[i];
    for (int k = 0; k < rounds; k++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        x = x * 2654435761u + 12345u;
    }
    b[i] = x;
}
"""


def mix(a: Any, b: Any, rounds: Any) -> None:
    i = cuda.grid(1)
    x = a[i]
    for _ in range(rounds):
        x = uint32(x ^ (x << 13))
        x = uint32(x ^ (x >> 17))
        x = uint32(x ^ (x << 5))
        x = uint32(x * uint32(2654435761) + uint32(12345))
    b[i] = x


def crowd(n: int) -> Data:
    """Particles in a cube with edges of 8."""
    place = 8 * floats(3 * n, 301).reshape(n, 3)
    own = place.astype(np.float64)
    right = np.empty((n, 3))
    for i in range(n):
        apart = own[i] - own
        r = 1 / ((apart**2).sum(axis=1) + 0.5)
        right[i] = (r**4 * (2 * r**3 - 1)) @ apart
    return Data((place, np.zeros_like(place), np.int32(n)), {1: right}, tolerance=1e-4)


def scene(n: int) -> Data:
    """Rays from a square of 10 by 10 upwards, and 256 spheres above it."""
    start, along = floats(3 * n, 302).reshape(n, 3), floats(3 * n, 303).reshape(n, 3)
    start *= np.array([10, 10, 0], np.float32)
    along = along - np.array([0.5, 0.5, 0], np.float32) + np.array([0, 0, 0.5], np.float32)
    along /= np.sqrt((along**2).sum(axis=1, keepdims=True))
    spheres = floats(1024, 304).reshape(256, 4) * np.array([10, 10, 10, 0.5], np.float32)
    spheres += np.array([0, 0, 1, 0.1], np.float32)
    far, which = np.full(n, 100.0), np.full(n, -1, np.int32)
    for k, (*centre, radius) in enumerate(spheres.astype(np.float64)):
        apart = np.array(centre) - start
        middle = (apart * along).sum(axis=1)
        square = middle**2 - (apart**2).sum(axis=1) + radius**2
        t = middle - np.sqrt(np.maximum(square, 0))
        hit = (square > 0) & (t > 0) & (t < far)
        far[hit], which[hit] = t[hit], k
    found = (np.zeros(n, np.float32), np.zeros(n, np.int32))
    arguments = (start, along, spheres, *found, np.int32(256))
    return Data(arguments, {3: far, 4: which}, tolerance=1e-5, differ=1e-3)


def swings(n: int, kind: type[np.floating[Any]]) -> Data:
    """Places and speeds, and those 100 steps later."""
    x, v = (2 * floats(2 * n, 305) - 1).reshape(2, n).astype(kind)
    p, q, h = x.astype(np.float64), v.astype(np.float64), 0.05

    def pull(p: Array, q: Array) -> Array:
        right: Array = -p - p**3 - 0.1 * q
        return right

    for _ in range(100):
        a = pull(p, q)
        s = q + h / 2 * a
        b = pull(p + h / 2 * q, s)
        u = q + h / 2 * b
        c = pull(p + h / 2 * s, u)
        w = q + h * c
        d = pull(p + h * u, w)
        p, q = p + h / 6 * (q + 2 * s + 2 * u + w), q + h / 6 * (a + 2 * b + 2 * c + d)
    return Data((x, v, kind(h), np.int32(100)), {0: p, 1: q}, tolerance=1e-4)


def words(n: int, rounds: int) -> Data:
    a = random(306).integers(1, 1 << 32, n, np.uint32)
    x = a.copy()
    for _ in range(rounds):
        x ^= x << np.uint32(13)
        x ^= x >> np.uint32(17)
        x ^= x << np.uint32(5)
        x = x * np.uint32(2654435761) + np.uint32(12345)
    return Data((a, np.zeros(n, np.uint32), np.int32(rounds)), {1: x})


def mixing(rounds: int) -> Case:
    data, way = partial(words, rounds=rounds), f"{rounds} rounds"
    return Case("mixing of bits", MIX, data, 1 << 21, 1 << 11, way, mix, lambda n: n // 256, 256)


def swing(way: str, function: Any, kind: type[np.floating[Any]]) -> Case:
    data = partial(swings, kind=kind)
    job = "steps of an oscillator"
    return Case(job, SWINGS, data, 1 << 17, 1 << 9, way, function, lambda n: n // 128, 128)


pairs = partial(Case, "forces of all pairs", PAIRS, crowd, 6144, 256)
rays = partial(Case, "rays and spheres", RAYS, scene, 1 << 16, 1 << 9)
CASES = [
    pairs("global", pairs_global, lambda n: n // 128, 128),
    pairs("tile in shared", pairs_tile, lambda n: n // 128, 128),
    rays("spheres in global", rays_global, lambda n: n // 128, 128),
    rays("spheres in shared", rays_shared, lambda n: n // 128, 128),
    swing("float", swing_float, np.float32),
    swing("double", swing_double, np.float64),
    *map(mixing, (8, 64)),
]
