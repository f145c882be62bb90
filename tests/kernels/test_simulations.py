"""Bodies, random numbers, k-means."""

import math

import numpy as np

import mmsim as mm
from tests.kit.runs.kernel_launches import under_both_schedules

TILE = 16
SOFTENING = 0.01


@mm.program
def accelerations_in_single_precision(T, position, mass, acceleration):
    """All pairs (GPU Gems 3, chapter 31), with float32 throughout: a tile of bodies at a time."""
    tile = mm.shared((TILE, 4), dtype=np.float32)
    i, t = T.id, T.index
    x, y, z = mm.float32(position[i, 0]), mm.float32(position[i, 1]), mm.float32(position[i, 2])
    ax = ay = az = mm.float32(0)
    for first in range(0, len(mass), TILE):
        for k in range(3):
            tile[t, k] = position[first + t, k]
        tile[t, 3] = mass[first + t]
        T.barrier()
        for j in range(TILE):
            dx, dy, dz = tile[j, 0] - x, tile[j, 1] - y, tile[j, 2] - z
            inverse = 1 / math.sqrt(dx * dx + dy * dy + dz * dz + SOFTENING)
            s = tile[j, 3] * inverse * inverse * inverse
            ax += dx * s
            ay += dy * s
            az += dz * s
        T.barrier()
    acceleration[i, 0], acceleration[i, 1], acceleration[i, 2] = ax, ay, az


def xorshift(state):
    state ^= state << 13
    state ^= state >> 17
    state ^= state << 5
    return state


@mm.program
def monte_carlo_pi(T, seeds, inside, trials):
    """Each thread throws its points with a generator of 32 bits of its own."""
    state = mm.uint32(seeds[T.id])
    hits = 0
    for _ in range(trials):
        state = xorshift(state)
        x = mm.float32(state >> 8) * 2.0**-24
        state = xorshift(state)
        y = mm.float32(state >> 8) * 2.0**-24
        if x * x + y * y <= 1:
            hits += 1
    mm.atomic.add(inside, 0, hits)


K = 3


@mm.program
def assign_clusters(T, points, centers, cluster, sums, sizes):
    """The nearest center of each point; the sums of a block are made in shared memory."""
    block_sums = mm.shared((K, 2), dtype=int)
    block_sizes = mm.shared(K, dtype=int)
    i, t = T.id, T.index
    if t < K:
        block_sums[t, 0] = block_sums[t, 1] = 0
        block_sizes[t] = 0
    T.barrier()
    if i < len(cluster):
        x, y = points[i, 0], points[i, 1]
        nearest, best = 0, float("inf")
        for k in range(K):
            distance = (x - centers[k, 0]) ** 2 + (y - centers[k, 1]) ** 2
            if distance < best:
                nearest, best = k, distance
        cluster[i] = nearest
        mm.atomic.add(block_sums, (nearest, 0), x)
        mm.atomic.add(block_sums, (nearest, 1), y)
        mm.atomic.add(block_sizes, nearest, 1)
    T.barrier()
    if t < K:
        mm.atomic.add(sums, (t, 0), block_sums[t, 0])
        mm.atomic.add(sums, (t, 1), block_sums[t, 1])
        mm.atomic.add(sizes, t, block_sizes[t])


@mm.program
def move_centers(T, centers, sums, sizes):
    k = T.threadIdx.x
    if sizes[k] > 0:
        centers[k, 0] = sums[k, 0] / sizes[k]
        centers[k, 1] = sums[k, 1] / sizes[k]


def bodies(count, dtype):
    random = np.random.default_rng(17)
    return random.random((count, 3)).astype(dtype), random.random(count).astype(dtype)


def pulled(position, mass):
    """The sums of all forces, in the type and order of the kernel."""
    kind = position.dtype.type
    total = np.zeros_like(position)
    for other, m in zip(position, mass, strict=True):
        d = other - position
        squared = d[:, 0] * d[:, 0] + d[:, 1] * d[:, 1] + d[:, 2] * d[:, 2] + kind(SOFTENING)
        inverse = kind(1) / np.sqrt(squared)
        total += d * (m * inverse * inverse * inverse)[:, None]
    return total


@under_both_schedules
def test_bodies(launch):
    position, mass = bodies(3 * TILE, np.float32)
    args = position, mass, np.zeros_like(position)
    run = launch(accelerations_in_single_precision, *args, threads=48, block_size=TILE)
    assert run.arrays["acceleration"].dtype == np.float32
    assert (run.arrays["acceleration"] == pulled(position, mass)).all()


@under_both_schedules
def test_pi(launch):
    threads, trials = 64, 20
    seeds = np.random.default_rng(18).integers(1, 2**32, threads, dtype=np.uint32)
    run = launch(monte_carlo_pi, seeds, np.zeros(1, int), trials, threads=threads, block_size=32)
    hits = 0
    for seed in seeds.tolist():
        state = seed
        for _ in range(trials):
            point = []
            for _ in "xy":
                state ^= state << 13 & 0xFFFFFFFF
                state ^= state >> 17
                state ^= state << 5 & 0xFFFFFFFF
                point.append(np.float32(state >> 8) / np.float32(2**24))
            hits += point[0] ** 2 + point[1] ** 2 <= 1
    assert run.arrays["inside"] == hits
    assert abs(4 * hits / (threads * trials) - math.pi) < 0.1


@under_both_schedules
def test_k_means(launch):
    random = np.random.default_rng(19)
    places = random.integers(0, 100, (K, 2)).repeat(20, axis=0)
    points = places + random.integers(-9, 10, (20 * K, 2))
    centers = expected = points[[0, 1, 2]].astype(float)
    for _ in range(3):
        zeros = np.zeros(20 * K, int), np.zeros((K, 2), int), np.zeros(K, int)
        run = launch(assign_clusters, points, centers, *zeros, threads=64, block_size=16).arrays
        run = launch(move_centers, centers, run["sums"], run["sizes"], threads=K).arrays
        centers = run["centers"]
        nearest = ((points[:, None] - expected) ** 2).sum(2).argmin(1)
        expected = np.array([points[nearest == k].mean(0) for k in range(K)])
        assert (centers == expected).all()
    assert np.bincount(nearest).min() > 0
