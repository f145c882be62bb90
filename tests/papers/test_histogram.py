"""Counting by atomics in shared memory: a histogram of each block, and a sort by the counts."""

import numpy as np
import pytest

import mmsim as mm
from mmsim_algorithms.histogram import by_lanes, counting_sort, histogram, in_place

MACHINES = (mm.DMM(8, 3), mm.UMM(8, 3), mm.HMM(2, 8, 5, 2))


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
