"""Summed area tables in one memory: what they leave, the time by hand, and that nothing races."""

import numpy as np
import pytest

import mmsim as mm
from mmsim.claims.claim import call_with
from mmsim_algorithms.errors import PreconditionError
from mmsim_algorithms.summed_area import one_memory_claims as claims
from mmsim_algorithms.summed_area.one_memory import by_trees, in_one_memory

MACHINES = (mm.DMM(4, 3), mm.UMM(4, 3))
machines = pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: type(machine).__name__)
schedules = pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])


@schedules
@machines
def test_each_word_is_the_sum_of_what_is_above_and_left_of_it(machine, schedule):
    for m in (1, 2, 4, 8):
        a = np.random.default_rng(m).integers(-9, 9, (m, m))
        expected = [[a[: x + 1, : y + 1].sum() for y in range(m)] for x in range(m)]
        for p in (1, 3, 4, m * m):
            _, table = in_one_memory(machine, a, p, schedule=schedule)
            assert table.tolist() == expected


@schedules
@machines
def test_no_tree_has_a_race(machine, schedule):
    for m, p in ((4, 4), (8, 16), (8, 64)):
        run = machine.run(
            by_trees, np.arange(2 * m * m), m, threads=p, schedule=schedule, check=True
        )
        assert run.findings == ()


def test_the_claims_do_not_ask_for_what_they_do_not_hold_for():
    """One word has no time, one lane no stride; with w > sqrt n a warp has several rows."""
    exact = {one.id: one for one in claims.CLAIMS}["SAT-trees"]
    for n, p, w, asked in (
        (1, 2, 2, False),
        (4, 1, 1, False),
        (16, 16, 8, False),
        (4, 2, 2, True),
    ):
        case = {"n": n, "p": p, "w": w}
        assert all(call_with(one.holds, case) for one in exact.requires) == asked


@pytest.mark.parametrize("shape", [(4, 8), (6, 6), (0, 0), (16,), ()])
def test_what_is_not_taken_is_refused(shape):
    with pytest.raises(PreconditionError, match="power of two"):
        in_one_memory(mm.DMM(4, 1), np.zeros(shape), 4)
