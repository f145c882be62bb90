"""Histograms: in global memory, in shared memory, private to each thread."""

import numpy as np
import pytest

import mmsim as mm
from tests.kit.runs.kernel_launches import under_both_schedules

BINS = 16


@mm.program
def in_global_memory(T, data, bins):
    for i in range(T.id, len(data), T.count):
        mm.atomic.add(bins, data[i], 1)


@mm.program
def in_shared_memory(T, data, bins):
    s = mm.shared(BINS, dtype=int)
    for b in range(T.index, BINS, T.block_size):
        s[b] = 0
    T.barrier()
    for i in range(T.id, len(data), T.count):
        mm.atomic.add(s, data[i], 1)
    T.barrier()
    for b in range(T.index, BINS, T.block_size):
        mm.atomic.add(bins, b, s[b])


@mm.program
def private_to_threads(T, data, bins):
    """Counters in shared memory, one column for each thread: no atomics, no conflicts."""
    s = mm.shared((BINS, T.block_size), dtype=int)
    t = T.index
    for b in range(BINS):
        s[b, t] = 0
    for i in range(T.id, len(data), T.count):
        s[data[i], t] += 1
    T.barrier()
    for b in range(t, BINS, T.block_size):
        total = 0
        for k in range(T.block_size):
            total += s[b, (k + t) % T.block_size]
        mm.atomic.add(bins, b, total)


@mm.program
def once_for_each_value(T, data, bins):
    """Lanes with the same value add together, by the lowest of them."""
    for i in range(T.id, len(data), T.count):
        x = data[i]
        peers = mm.warp.match_any(x)
        if T.lane == mm.ffs(peers) - 1:
            mm.atomic.add(bins, x, mm.popc(peers))


KERNELS = (in_global_memory, in_shared_memory, private_to_threads, once_for_each_value)


def values():
    return np.random.default_rng(14).integers(0, 100, 300) ** 2 * BINS // 10**4


@under_both_schedules
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_histograms(launch, kernel):
    data = values()
    run = launch(kernel, data, np.zeros(BINS, int), threads=64, block_size=32)
    assert (run.arrays["bins"] == np.bincount(data, minlength=BINS)).all()
