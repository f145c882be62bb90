"""The summed area table in one launch: what it leaves, by hand, how often it looks, and races."""

import numpy as np
import pytest

import mmsim as mm
from mmsim_algorithms.errors import PreconditionError
from mmsim_algorithms.summed_area import by_1r1w, by_bands

schedules = pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])


def matrix(side):
    return np.random.default_rng(side).integers(-9, 9, (side, side))


@schedules
def test_each_word_is_the_sum_of_what_is_above_and_left_of_it(schedule):
    for w, m, d in ((1, 1, 1), (1, 5, 2), (2, 3, 1), (4, 2, 3), (3, 4, 2)):
        a = matrix(w * m)
        run = by_bands(mm.HMM(d, w, 20, 2), a, schedule=schedule)
        expected = [[a[: x + 1, : y + 1].sum() for y in range(w * m)] for x in range(w * m)]
        assert run.arrays["b"].tolist() == expected


def test_no_access_is_casual_and_each_word_of_the_matrix_is_read_and_written_once():
    run = by_bands(mm.HMM(2, 4, 20), matrix(16))
    assert {row.access_class for row in run.accesses} == {"coalesced", "conflict-free"}
    words = {(row.array, row.kind): 4 * row.requests for row in run.accesses if row.array in "ab"}
    assert words == {("a", "read"): 256, ("b", "write"): 256}
    borders = [row.requests for row in run.accesses if row.array == "border"]
    assert borders == [12, 12]  # 3 borders of 4 tiles


def test_one_launch_has_fewer_rounds_than_a_launch_for_each_wave():
    machine, a = mm.HMM(4, 4, 100), matrix(16)
    assert by_bands(machine, a).time < by_1r1w(machine, a).time


@pytest.mark.parametrize("a", [np.zeros((4, 8), int), np.zeros((6, 6), int), np.zeros((4, 4))])
def test_what_is_not_taken_is_refused(a):
    with pytest.raises(PreconditionError, match="SAT"):
        by_bands(mm.HMM(1, 4, 9), a)
