"""The rows and the columns of a w^2 x w^2 matrix on the UMM: by hand, races, what is refused."""

import numpy as np
import pytest

import mmsim as mm
from mmsim_algorithms.errors import PreconditionError
from mmsim_algorithms.umm_permutation import steps
from mmsim_algorithms.umm_permutation.cases import permuted
from mmsim_algorithms.umm_permutation.squares import (
    columns_permuted,
    fourth_power,
    long_rows,
    row_tables,
    rows_permuted,
)

SCHEDULES = ("synchronous", "asynchronous")
schedules = pytest.mark.parametrize("schedule", SCHEDULES)


def matrix(w):
    """A w^2 x w^2 matrix and a permutation for each of its rows."""
    random = np.random.RandomState(w)
    return np.arange(w**4).reshape(w * w, w * w), random.rand(w * w, w * w).argsort(axis=1)


@schedules
@pytest.mark.parametrize(("w", "warps"), [(2, 1), (2, 3), (3, 2), (3, 9), (4, 5)])
def test_each_word_goes_where_its_row_or_column_says(w, warps, schedule):
    a, P = matrix(w)
    machine = mm.UMM(w, 3)
    rows = rows_permuted(machine, a, P, warps * w, schedule).arrays["b"].reshape(a.shape)
    columns = columns_permuted(machine, a, P, warps * w, schedule).arrays["b"]
    for i in range(w * w):
        for j in range(w * w):
            assert rows[i, P[i, j]] == a[i, j]
            assert columns[P[j, i], j] == a[i, j]


def test_a_machine_of_width_1_moves_its_word():
    run = rows_permuted(mm.UMM(1, 5), np.array([[7]]), [[0]], 1)
    assert run.arrays["b"].tolist() == [[7]]
    assert run.time == 13 * 5


def test_columns_are_two_transposes_more():
    """w = 2, l = 3, one warp: a transpose has 4 tiles of 4 accesses, and swaps 4 pairs by twos."""
    a, P = matrix(2)
    machine = mm.UMM(2, 3)
    rows, columns = rows_permuted(machine, a, P, 2), columns_permuted(machine, a, P, 2)
    assert columns.time == rows.time + 2 * (4 * 4 + 2 * 4) * 3


@pytest.mark.parametrize("w", [2, 3])
def test_the_whole_takes_as_long_as_the_recursion(w):
    """The row-wise permutations of w words are launches there, and steps of one launch here."""
    P = np.random.RandomState(0).permutation(w**4)
    for warps in (1, w, w * w):
        case = {"n": w**4, "p": warps * w, "w": w, "l": 5}
        run = fourth_power(mm.UMM(w, 5), np.arange(w**4), P, warps * w)
        assert run.time == permuted("synchronous", **case).time
        assert (run.launches, len(steps(P, w))) == (5, 17)


@schedules
def test_no_access_is_casual_and_none_races(schedule):
    for w in (2, 3, 4):
        a, P = matrix(w)
        words = a.reshape(-1, w)
        arguments = (words, np.zeros_like(words), *row_tables(P, w))
        run = mm.UMM(w, 3).run(long_rows, *arguments, threads=2 * w, schedule=schedule, check=True)
        assert run.findings == ()
        assert {row.access_class for row in run.accesses} == {"coalesced"}
        assert run.registers.data == w


def test_what_is_not_taken_is_refused():
    a, P = matrix(2)
    machine = mm.UMM(2, 3)
    for threads in (3, 1, 10):
        with pytest.raises(PreconditionError, match=r"w <= p <= w\^3"):
            rows_permuted(machine, a, P, threads)
    for move in (rows_permuted, columns_permuted):
        with pytest.raises(PreconditionError, match="rows of w"):
            move(machine, a[:2], P, 4)
        with pytest.raises(PreconditionError, match=r"permutation of 0\.\.3"):
            move(machine, a, np.zeros((4, 4), int), 4)
    with pytest.raises(PreconditionError, match="16 words"):
        fourth_power(machine, np.arange(8), np.arange(8), 4)
