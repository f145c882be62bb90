"""All pairs of bodies."""

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
    random = np.random.default_rng(17)
    position, mass = (random.random(size).astype(np.float32) for size in ((3 * TILE, 3), 3 * TILE))
    args = position, mass, np.zeros_like(position)
    run = launch(accelerations_in_single_precision, *args, threads=48, block_size=TILE)
    assert run.arrays["acceleration"].dtype == np.float32
    assert (run.arrays["acceleration"] == pulled(position, mass)).all()
