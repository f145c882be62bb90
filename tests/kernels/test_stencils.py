"""Jacobi."""

import numpy as np
import pytest

import mmsim as mm
from tests.kit.runs.kernel_launches import under_both_schedules


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
