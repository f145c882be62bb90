"""The summed area table in one launch: what it leaves, by hand, how often it looks, and races."""

import numpy as np
import pytest

import mmsim as mm
from mmsim.claims import ClaimError
from mmsim_algorithms.errors import PreconditionError
from mmsim_algorithms.summed_area import bands, by_1r1w, by_bands, single_claims

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


@schedules
def test_the_examples_have_no_race(schedule):
    for width, size in ((1, 9), (2, 0), (4, 150)):
        example = bands.prepare(width, size=size)
        for d in (1, 2, 3):
            run = mm.HMM(d, width, 9).run(
                bands, *example.arguments, **example.launch, schedule=schedule, check=True
            )
            assert run.findings == ()


def test_a_matrix_of_2_x_2_tiles_by_hand():
    """w = 2, L = 10, l = 1, d = 2: steps of 1, 2 and 1 tiles, and a border between the bands.

    A border of two tiles is written at steps 0 and 1, and read at steps 1 and 2.
    """
    run = by_bands(mm.HMM(2, 2, 10), matrix(4))
    step = 2 * 2 + 2 * 9 + 6 * 2  # a tile is read and written; it has 6w shared stages
    border = 1 + 9
    assert run.time == (step + border) + (step + 2 * 2 + 2 * border) + (step + border)


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


def test_a_wrong_table_is_refused(monkeypatch):
    monkeypatch.setattr(single_claims, "by_bands", lambda m, a, schedule: by_bands(m, a + 1))
    with pytest.raises(ClaimError, match="wrong result in 'b'"):
        single_claims.table("synchronous", n=16, w=2, d=1, L=5, l=1)
