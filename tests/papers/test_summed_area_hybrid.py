"""(1+r)R1W: what it leaves, accesses, the time by hand, races, and when it is the fastest."""

import numpy as np
import pytest

import mmsim as mm
from mmsim_algorithms.errors import PreconditionError
from mmsim_algorithms.summed_area import by_1r1w, by_2r1w, by_hybrid, hybrid_claims

schedules = pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])


def matrix(side):
    return np.random.default_rng(side).integers(-9, 9, (side, side))


@schedules
@pytest.mark.parametrize(("w", "m", "d"), [(1, 4, 1), (2, 2, 1), (2, 5, 3), (3, 3, 2), (4, 3, 4)])
def test_each_word_is_the_sum_of_what_is_above_and_left_of_it(w, m, d, schedule):
    a = matrix(w * m)
    expected = [[a[: x + 1, : y + 1].sum() for y in range(w * m)] for x in range(w * m)]
    for k in range(1, m):
        run = by_hybrid(mm.HMM(d, w, 20, 2), a, k, schedule=schedule)
        assert run.arrays["b"].tolist() == expected
        assert run.launches == 8 + 2 * m - 1 - 2 * k


@pytest.mark.parametrize("k", [1, 2, 3])
def test_words_of_the_corners_are_read_twice_and_each_is_written_once(k):
    """16 tiles of 16 words, k(k + 1) of them in the corners."""
    run = by_hybrid(mm.HMM(2, 4, 20), matrix(16), k)
    words = {"read": 0, "write": 0}
    for row in run.accesses:
        if row.space == "global" and (row.array, row.kind) in (("a", "read"), ("b", "write")):
            words[row.kind] += 4 * row.requests
    assert words == {"read": 256 + 16 * k * (k + 1), "write": 256}


def test_it_is_the_fastest_where_latency_counts():
    """2R1W goes down all tiles in the global memory, 1R1W has a wave for each diagonal."""
    a, machine = matrix(64), mm.HMM(4, 4, 400)
    both = [way(machine, a).time for way in (by_1r1w, by_2r1w)]
    assert by_hybrid(machine, a, 12).time < min(both)
    fast = mm.HMM(4, 4, 1)
    assert by_1r1w(fast, a).time < by_hybrid(fast, a, 12).time


def test_no_shared_access_meets_a_conflict_and_no_other_is_casual():
    """But the corners, one word for each tile."""
    run = by_hybrid(mm.HMM(2, 4, 20), matrix(32), 5)
    casual = {row.function for row in run.accesses if row.access_class == "casual"}
    assert casual == {"corners"}


@pytest.mark.parametrize(("shape", "k"), [((4, 8), 1), ((6, 6), 1), ((8, 8), 0), ((8, 8), 2)])
def test_what_is_not_taken_is_refused(shape, k):
    with pytest.raises(PreconditionError, match="SAT"):
        by_hybrid(mm.HMM(1, 4, 9), np.zeros(shape), k)


def test_in_turns_is_a_sum():
    for x in range(9):
        for y in range(1, 6):
            assert hybrid_claims.in_turns(x, y) == sum(-(-c // y) for c in range(1, x + 1))
