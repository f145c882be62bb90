"""Sums of an array, by the last step of "Optimizing Parallel Reduction in CUDA" (M. Harris).

A block leaves the sum of its part. Warps have eight threads, so the last warp begins with sixteen
values.
"""

import numpy as np

import mmsim as mm
from tests.kit.runs.kernel_launches import under_both_schedules

BLOCK = 64
VALUES = 8
"""As many a thread adds."""


def warp_sum(s, t):
    """Adds 16 values of s: each lane reads, then each writes, as lanes must since Volta."""
    x = s[t]
    for distance in (8, 4, 2, 1):
        x += s[t + distance]
        mm.warp.sync()
        s[t] = x
        mm.warp.sync()


def block_sum(T, s, t):
    """Adds the values of s, one for each thread of the block; all steps are written out."""
    if T.block_size >= 128:
        if t < 64:
            s[t] += s[t + 64]
        T.barrier()
    if T.block_size >= 64:
        if t < 32:
            s[t] += s[t + 32]
        T.barrier()
    if T.block_size >= 32:
        if t < 16:
            s[t] += s[t + 16]
        T.barrier()
    if t < 8:
        warp_sum(s, t)


@mm.program
def several_values_each(T, data, sums):
    s = mm.shared(T.block_size, dtype=int)
    t = T.index
    i = T.block * T.block_size * 2 + t
    s[t] = 0
    while i < len(data):
        s[t] += data[i] + data[i + T.block_size]
        i += T.blocks * T.block_size * 2
    T.barrier()
    block_sum(T, s, t)
    if t == 0:
        sums[T.block] = s[0]


@under_both_schedules
def test_the_last_step_of_the_lecture(launch):
    data = np.random.default_rng(1).integers(-100, 100, 1024)
    blocks = len(data) // (BLOCK * VALUES)
    sums = np.zeros(blocks, int)
    run = launch(several_values_each, data, sums, threads=blocks * BLOCK, block_size=BLOCK)
    assert run.arrays["sums"].sum() == data.sum()
