"""Forces of listed neighbours, and means of clusters."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import float32, int32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, floats, random

LISTED = r"""
extern "C" __global__ void listed(const float* place, const int* list, float* force,
    int by_atom, int by_neighbour)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = place[3 * i], y = place[3 * i + 1], z = place[3 * i + 2];
    float u = 0.0f, v = 0.0f, w = 0.0f;
    for (int k = 0; k < 32; k++) {
        int j = list[i * by_atom + k * by_neighbour];
        float dx = x - place[3 * j], dy = y - place[3 * j + 1], dz = z - place[3 * j + 2];
        float square = dx * dx + dy * dy + dz * dz;
        if (square < 1.0f) {
            float r = 1.0f / (square + 0.5f), cube = r * r * r;
            float f = r * cube * (cube - 0.5f);
            u += dx * f;
            v += dy * f;
            w += dz * f;
        }
    }
    force[3 * i] = u;
    force[3 * i + 1] = v;
    force[3 * i + 2] = w;
}
"""


def listed(place: Any, list: Any, force: Any, by_atom: Any, by_neighbour: Any) -> None:
    i = cuda.grid(1)
    x, y, z = place[i, 0], place[i, 1], place[i, 2]
    u, v, w = float32(0), float32(0), float32(0)
    for k in range(32):
        j = list[i * by_atom + k * by_neighbour]
        dx, dy, dz = x - place[j, 0], y - place[j, 1], z - place[j, 2]
        square = dx * dx + dy * dy + dz * dz
        if square < float32(1):
            r = float32(1) / (square + float32(0.5))
            cube = r * r * r
            f = r * cube * (cube - float32(0.5))
            u += dx * f
            v += dy * f
            w += dz * f
    force[i, 0] = u
    force[i, 1] = v
    force[i, 2] = w


MEANS = r"""
extern "C" __global__ void means_global(
    const float* points, const int* labels, float* sums, int* counts, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, label = labels[i];
    atomicAdd(&sums[2 * label], points[2 * i]);
    atomicAdd(&sums[2 * label + 1], points[2 * i + 1]);
    atomicAdd(&counts[label], 1);
}

extern "C" __global__ void means_shared(const float* __restrict__ points,
    const int* __restrict__ labels, float* sums, int* counts, int n)
{
    __shared__ float s[32];
    __shared__ int r[16];
    int t = threadIdx.x;
    if (t < 32) s[t] = 0.0f;
    if (t < 16) r[t] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) {
        int label = labels[i];
        atomicAdd(&s[2 * label], points[2 * i]);
        atomicAdd(&s[2 * label + 1], points[2 * i + 1]);
        atomicAdd(&r[label], 1);
    }
    __syncthreads();
    if (t < 32) atomicAdd(&sums[t], s[t]);
    if (t < 16) atomicAdd(&counts[t], r[t]);
}
"""


def means_global(points: Any, labels: Any, sums: Any, counts: Any, n: Any) -> None:
    i = cuda.grid(1)
    label = labels[i]
    cuda.atomic.add(sums, 2 * label, points[i, 0])
    cuda.atomic.add(sums, 2 * label + 1, points[i, 1])
    cuda.atomic.add(counts, label, 1)


def means_shared(points: Any, labels: Any, sums: Any, counts: Any, n: Any) -> None:
    s = cuda.shared.array(32, float32)
    r = cuda.shared.array(16, int32)
    t = cuda.threadIdx.x
    if t < 32:
        s[t] = 0
    if t < 16:
        r[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        label = labels[i]
        cuda.atomic.add(s, 2 * label, points[i, 0])
        cuda.atomic.add(s, 2 * label + 1, points[i, 1])
        cuda.atomic.add(r, label, 1)
    cuda.syncthreads()
    if t < 32:
        cuda.atomic.add(sums, t, s[t])
    if t < 16:
        cuda.atomic.add(counts, t, r[t])


def atoms(n: int, turned: bool) -> Data:
    """Atoms in a cube, each with 32 others near it in the list of atoms."""
    place = 2 * floats(3 * n, 227).reshape(n, 3)
    near = (np.arange(n)[:, None] + random(228).integers(1, 500, (n, 32))) % n
    apart = place[:, None].astype(np.float64) - place[near]
    square = (apart**2).sum(axis=2)
    r = 1 / (square + 0.5)
    f = np.where(square < 1, r**4 * (r**3 - 0.5), 0)
    right = (apart * f[..., None]).sum(axis=1)
    list = (near.T if turned else near).astype(np.int32).ravel()
    by = (1, n) if turned else (32, 1)
    found = np.zeros_like(place)
    return Data((place, list, found, *map(np.int32, by)), {2: right}, tolerance=1e-4, differ=1e-4)


def clusters(n: int) -> Data:
    points = floats(2 * n, 229).reshape(n, 2)
    labels = random(230).integers(0, 16, n, np.int32)
    sums = np.zeros((16, 2))
    np.add.at(sums, labels, points)
    counts = np.bincount(labels, minlength=16)
    arguments = (points, labels, np.zeros(32, np.float32), np.zeros(16, np.int32), np.int32(n))
    return Data(arguments, {2: sums.ravel(), 3: counts}, tolerance=1e-4)


def lists(way: str, turned: bool) -> Case:
    data = partial(atoms, turned=turned)
    job = "forces of neighbours"
    return Case(job, LISTED, data, 1 << 16, 1 << 10, way, listed, lambda n: n // 128, 128)


means = partial(Case, "means of clusters", MEANS, clusters, 1 << 19, 1 << 11)
CASES = [
    lists("list by atoms", False),
    lists("list by neighbours", True),
    means("global", means_global, lambda n: n // 256, 256),
    means("shared", means_shared, lambda n: n // 2048, 256),
]
