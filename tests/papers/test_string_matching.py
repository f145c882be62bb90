"""Approximate string matching: what it finds, by hand, and where blanks and parts matter."""

import numpy as np
import pytest

import mmsim as mm
from mmsim_algorithms.string_matching import in_one_memory, in_shared_memory
from mmsim_algorithms.string_matching.programs import BLANK, edits


def least_edits(x, part):
    """The edits between a pattern and the whole of a part of the text, by the definition."""
    row = list(range(len(part) + 1))
    for i, letter in enumerate(x):
        below = [i + 1]
        for j, other in enumerate(part):
            below.append(min(below[j] + 1, row[j + 1] + 1, row[j] + (letter != other)))
        row = below
    return row[-1]


def test_the_table_by_rows_is_the_least_over_all_parts_of_the_text():
    random = np.random.default_rng(3)
    x, y = random.integers(0, 3, 4), random.integers(0, 3, 12)
    for j, found in enumerate(edits(x, y)):
        assert found == min(least_edits(x, y[k : j + 1]) for k in range(j + 2))


@pytest.mark.parametrize("letter", [0, 1])
def test_every_letter_of_the_text_equal_or_different(letter):
    """m edits where no letter fits, none where all do, from the m-th on."""
    m, n = 4, 16
    y = np.concatenate([np.full(2 * m, BLANK), np.zeros(n, int)])
    run = mm.HMM(2, 2, 9).run(
        *(in_shared_memory, np.full(m, letter), y, np.zeros(n, int)), threads=16, block_size=8
    )
    expected = [4] * 16 if letter else [3, 2, 1, 0] + [0] * 12
    assert run.arrays["e"].tolist() == expected


def test_parts_that_are_begun_too_late_find_too_many_edits():
    """The first columns of a part are not right yet: e is written from the 2m-th on."""
    m, n = 4, 64
    x = np.arange(m)
    y = np.concatenate([np.full(2 * m, BLANK), np.resize(x, n)])
    right = edits(x, y[2 * m :])
    late = np.concatenate([edits(x, part) for part in y[2 * m :].reshape(4, -1)])
    assert (late[: n // 4] == right[: n // 4]).all()
    assert (late > right).any()
    run = mm.DMM(4, 2).run(
        in_one_memory, x, y, np.zeros((2, 16), int), np.zeros(n, int), threads=16
    )
    assert (run.arrays["e"] == right).all()
