"""A list in fragments: what is read, and how many stages it takes."""

import numpy as np
import pytest

import mmsim as mm
from mmsim_algorithms.fragments import by_fragments, by_positions
from mmsim_algorithms.fragments.programs import listed, placed, shifts

schedules = pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])


@schedules
@pytest.mark.parametrize("lengths", [[1], [3, 1, 9, 2], [4, 4, 4, 4], [16]])
def test_the_list_is_read_in_its_order(lengths, schedule):
    a, start, first = placed(lengths, 4, offset=1, seed=3)
    wanted = [a[s + t] for s, m in zip(start, lengths, strict=True) for t in range(m)]
    assert listed(a, start, first).tolist() == wanted
    b = np.zeros(len(wanted), int)
    for machine in (mm.UMM(4, 3), mm.DMM(4, 3), mm.HMM(1, 4, 9)):
        for program, given, threads in (
            (by_positions, (shifts(start, first),), 8),
            (by_fragments, (start, first), len(lengths)),
        ):
            run = machine.run(program, a, *given, b, threads=threads, schedule=schedule, check=True)
            assert run.arrays["b"].tolist() == wanted
            assert run.findings == ()
