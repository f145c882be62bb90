"""Counting by atomics in shared memory: a histogram of each block, and a sort by the counts."""

import numpy as np
import pytest

import mmsim as mm
from mmsim_algorithms.histogram import counting_sort, histogram

MACHINES = (mm.DMM(8, 3), mm.UMM(8, 3), mm.HMM(2, 8, 5, 2))


@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: type(machine).__name__)
def test_values_are_counted_and_sorted(machine, schedule):
    for size in (0, 5, 100):
        example = histogram.prepare(8, size=size, seed=size)
        x = example.arguments[0]
        run = machine.run(histogram, *example.arguments, **example.launch, schedule=schedule)
        assert (run.arrays["h"] == np.bincount(x, minlength=8)).all()
        example = counting_sort.prepare(8, size=size, seed=size)
        x = example.arguments[0]
        run = machine.run(counting_sort, *example.arguments, **example.launch, schedule=schedule)
        assert (run.arrays["out"] == np.sort(x)).all()


def test_a_block_pays_for_the_fullest_bank_of_its_own_histogram():
    x = np.repeat([0, 1, 1, 3], 8)
    run = mm.HMM(1, 8, 5, 2).run(histogram, x, np.zeros(8, int), threads=8)
    (own,) = (row for row in run.accesses if (row.array, row.kind) == ("own", "atomic"))
    assert (own.space, own.requests, own.stages) == ("shared", 4, 4 * 8)
