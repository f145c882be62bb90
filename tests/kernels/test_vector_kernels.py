"""Stream compaction, and a kernel with a mistake."""

import numpy as np
import pytest

import mmsim as mm
from tests.kit.runs.kernel_launches import Launcher, under_both_schedules


@mm.program
def keep_positive(T, data, kept, count):
    """Stream compaction: a warp takes room for all its values by one atomic."""
    i = T.id
    x = data[i] if i < len(data) else 0
    keep = mm.warp.ballot(x > 0)
    first = 0
    if T.lane == 0:
        first = mm.atomic.add(count, 0, mm.popc(keep))
    first = mm.warp.shuffle(first, 0)
    if x > 0:
        kept[first + mm.popc(keep & ((1 << T.lane) - 1))] = x


@mm.program
def reverse_without_a_barrier(T, data):
    s = mm.shared(T.block_size, dtype=int)
    s[T.index] = data[T.id]
    data[T.id] = s[T.block_size - 1 - T.index]


@under_both_schedules
def test_compaction(launch):
    data = np.random.default_rng(23).integers(-9, 10, 90)
    run = launch(
        keep_positive, data, np.zeros(90, int), np.zeros(1, int), threads=96, block_size=32
    )
    (count,) = run.arrays["count"]
    assert sorted(run.arrays["kept"][:count]) == sorted(data[data > 0])


def test_a_kernel_with_a_mistake_does_not_pass():
    launch = Launcher("asynchronous")
    with pytest.raises(AssertionError, match=r"data race on s\[0\]"):
        launch(reverse_without_a_barrier, np.arange(32), threads=32)
