"""Counting by atomics in shared memory: a histogram of each block, and a sort by the counts."""

import numpy as np
import pytest

import mmsim as mm
from mmsim_algorithms.histogram import by_lanes, counting_sort, histogram, in_place
from mmsim_algorithms.histogram.programs import repeated

MACHINES = (mm.DMM(8, 3), mm.UMM(8, 3), mm.HMM(2, 8, 5, 2))


def test_a_block_pays_for_the_fullest_bank_of_its_own_histogram():
    x = np.repeat([0, 1, 1, 3], 8)
    run = mm.HMM(1, 8, 5, 2).run(histogram, x, np.zeros(8, int), threads=8)
    (own,) = (row for row in run.accesses if (row.array, row.kind) == ("own", "atomic"))
    assert (own.space, own.requests, own.stages) == ("shared", 4, 4 * 8)


@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: type(machine).__name__)
@pytest.mark.parametrize(
    "program", [in_place, by_lanes, histogram, counting_sort], ids=lambda program: program.name
)
def test_values_are_counted_or_sorted_without_a_race(program, machine, schedule):
    for size in (0, 5, 100):
        example = program.prepare(8, size=size, seed=size)
        x = example.arguments[0]
        run = machine.run(
            program, *example.arguments, **example.launch, schedule=schedule, check=True
        )
        if program is counting_sort:
            assert (run.arrays["out"] == np.sort(x)).all()
        else:
            assert (run.arrays["h"] == np.bincount(x, minlength=8)).all()
        assert run.findings == ()


def atomics(run):
    return sum(row.stages for row in run.accesses if row.kind == "atomic")


@pytest.mark.parametrize("k", [1, 2, 3, 8])
def test_equal_values_wait_for_each_other_in_place_but_not_by_lanes(k):
    """w = 8, four warps."""
    x, h = repeated(32, k, 8), np.zeros(8, int)
    for machine in (mm.DMM(8, 3), mm.UMM(8, 3)):
        assert atomics(machine.run(in_place, x, h, threads=32)) == 4 * k
    run = mm.DMM(8, 3).run(by_lanes, x, np.zeros((8, 8), int), h, threads=32)
    assert atomics(run) == 4
    assert sum(row.stages for row in run.accesses if row.array == "c") == 4 + 8
