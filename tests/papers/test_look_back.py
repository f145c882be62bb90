"""Prefix sums on the HMM by look-back and by three launches: sums, looks, times and races."""

import numpy as np
import pytest

import mmsim as mm
from mmsim_algorithms.errors import PreconditionError
from mmsim_algorithms.prefix_sums.look_back import (
    WAYS,
    by_look_back,
)

schedules = pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
ways = pytest.mark.parametrize("way", WAYS)


@schedules
@ways
def test_the_sums_are_right_for_any_tiles_and_dmms(way, schedule):
    for w, r, tiles, d in ((1, 1, 7, 1), (1, 3, 5, 2), (4, 2, 9, 3), (3, 1, 20, 4), (8, 2, 1, 2)):
        a = np.arange(w * r * tiles)[::-1] - 5
        run = WAYS[way](mm.HMM(d, w, 7), a, r, schedule=schedule)
        assert (run.arrays["b"] == np.cumsum(a)).all()


def test_a_block_that_comes_late_is_waited_for():
    """d = 2: the first DMM has the most blocks, so that others look in vain. The sums are right."""
    a = np.arange(35)
    run = by_look_back(mm.HMM(2, 1, 1), a, 7, schedule="asynchronous")
    looks = {row.line: row.requests for row in run.accesses if row.kind == "atomic"}
    in_rounds = by_look_back(mm.HMM(2, 1, 1), a, 7)
    assert sum(looks.values()) > sum(
        row.requests for row in in_rounds.accesses if row.kind == "atomic"
    )
    assert (run.arrays["b"] == np.cumsum(a)).all()


@ways
@pytest.mark.parametrize(
    ("w", "a", "r"),
    [
        *((4, np.arange(12), 2), (4, np.arange(8), 0), (4, np.zeros((4, 4), int), 1)),
        *((4, np.zeros(8), 1), (65, np.arange(65), 1), (4, np.arange(0), 1)),
    ],
)
def test_what_is_not_taken_is_refused(way, w, a, r):
    with pytest.raises(PreconditionError, match="SCAN"):
        WAYS[way](mm.HMM(1, w, 9), a, r)
