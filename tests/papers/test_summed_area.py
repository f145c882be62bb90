"""Summed area tables: what they leave, how often they read and write a word, and their waves."""

from collections import Counter

import numpy as np
import pytest

import mmsim as mm
from mmsim_algorithms.errors import PreconditionError
from mmsim_algorithms.summed_area import WAYS

schedules = pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
ways = pytest.mark.parametrize("way", WAYS)


def matrix(side):
    return np.random.default_rng(side).integers(-9, 9, (side, side))


@schedules
@ways
def test_each_word_is_the_sum_of_what_is_above_and_left_of_it(way, schedule):
    for w, m, d in ((2, 1, 1), (4, 2, 3), (3, 4, 2), (2, 6, 4)):
        a = matrix(w * m)
        machine = mm.HMM(d, w, 20, 2)
        if way == "4R4W" and m * m % d:
            continue
        run = WAYS[way](machine, a, schedule=schedule)
        expected = [[a[: x + 1, : y + 1].sum() for y in range(w * m)] for x in range(w * m)]
        assert run.arrays["b"].tolist() == expected


@ways
def test_words_are_read_and_written_as_often_as_the_name_says(way):
    """Words of the matrix and of the table; 4R4W and 2R2W have another matrix between."""
    run = WAYS[way](mm.HMM(2, 4, 20), matrix(16))
    words = Counter()
    for row in run.accesses:
        if row.array in ("a", "b") and row.space == "global":
            words[row.kind] += row.requests * 4
    assert words["read"] == int(way[0]) * 256
    assert words["write"] == int(way[2]) * 256


def test_no_shared_access_meets_a_conflict_and_no_other_is_casual():
    """But the rows of 2R2W, and the corners of 2R1W, one word for each tile."""
    for way in WAYS:
        run = WAYS[way](mm.HMM(2, 4, 20), matrix(16))
        casual = {row.function for row in run.accesses if row.access_class == "casual"}
        assert casual == {"2R2W": {"along"}, "2R1W": {"corners"}}.get(way, set())


@ways
@pytest.mark.parametrize("shape", [(4, 8), (6, 6), (0, 0), (16,)])
def test_what_is_not_taken_is_refused(way, shape):
    with pytest.raises(PreconditionError):
        WAYS[way](mm.HMM(1, 4, 9), np.zeros(shape))
