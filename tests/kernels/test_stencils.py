"""Stencils in one and three dimensions, and Jacobi."""

import numpy as np
import pytest

import mmsim as mm
from tests.kit.runs.kernel_launches import under_both_schedules

RADIUS = 3
WEIGHTS = np.array([1, -2, 3, 10, 3, -2, 1])


def numbers(*shape):
    return np.random.default_rng(5).integers(-9, 10, shape)


@mm.program
def stencil_1d(T, a, b):
    """A tile with RADIUS more elements on either side; outside is 0."""
    s = mm.shared(T.block_size + 2 * RADIUS, dtype=int)
    g, t = T.id, T.index
    local = t + RADIUS
    s[local] = a[g]
    if t < RADIUS:
        s[local - RADIUS] = a[g - RADIUS] if g >= RADIUS else 0
        right = g + T.block_size
        s[local + T.block_size] = a[right] if right < len(a) else 0
    T.barrier()
    result = 0
    for offset in range(-RADIUS, RADIUS + 1):
        result += WEIGHTS[offset + RADIUS] * s[local + offset]
    b[g] = result


@mm.program
def blocks_of_three_dimensions(T, a, b):
    """The largest of a cell and its 26 neighbours, straight from global memory."""
    x = T.blockIdx.x * T.blockDim.x + T.threadIdx.x
    y = T.blockIdx.y * T.blockDim.y + T.threadIdx.y
    z = T.blockIdx.z * T.blockDim.z + T.threadIdx.z
    depth, rows, columns = a.shape
    if x >= columns or y >= rows or z >= depth:
        return
    largest = a[z, y, x]
    for k in range(max(z - 1, 0), min(z + 2, depth)):
        for i in range(max(y - 1, 0), min(y + 2, rows)):
            for j in range(max(x - 1, 0), min(x + 2, columns)):
                largest = max(largest, a[k, i, j])
    b[z, y, x] = largest


@mm.program
def jacobi(T, u, v, f, steps):
    """-u'' = f with u = 0 at both ends, in one block; an even number of steps ends in u."""
    i = T.index + 1
    for _ in range(steps):
        v[i] = 0.5 * (u[i - 1] + u[i + 1] + f[i])
        T.barrier()
        u, v = v, u


@mm.program
def jacobi_in_many_blocks(T, u, v, f, steps):
    """The same in one launch of several blocks, with a barrier of the grid."""
    i = T.id + 1
    for _ in range(steps):
        v[i] = 0.5 * (u[i - 1] + u[i + 1] + f[i])
        T.grid_barrier()
        u, v = v, u


@under_both_schedules
def test_one_dimension(launch):
    a = numbers(64)
    run = launch(stencil_1d, a, np.zeros_like(a), threads=64, block_size=16)
    assert (run.arrays["b"] == np.correlate(a, WEIGHTS, "same")).all()


@under_both_schedules
def test_three_dimensions_in_blocks(launch):
    a = numbers(5, 6, 7)
    run = launch(blocks_of_three_dimensions, a, np.zeros_like(a), grid=(2, 3, 2), block=(4, 2, 4))
    padded = np.pad(a, 1, constant_values=a.min())
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3, 3))
    assert (run.arrays["b"] == windows.max((3, 4, 5))).all()


def one_step(u, f):
    after = u.copy()
    after[1:-1] = 0.5 * (u[:-2] + u[2:] + f[1:-1])
    return after


@under_both_schedules
@pytest.mark.parametrize(("kernel", "block"), [(jacobi, 32), (jacobi_in_many_blocks, 8)])
def test_jacobi(launch, kernel, block):
    f = np.random.default_rng(6).random(34)
    expected = np.zeros(34)
    run = launch(kernel, np.zeros(34), np.zeros(34), f, 10, threads=32, block_size=block)
    for _ in range(10):
        expected = one_step(expected, f)
    assert (run.arrays["u"] == expected).all()
