"""Conflict-free schedules and three steps: what they promise, and that they move a along P."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmsim.model.conflicts import Banks
from mmsim_algorithms import permutations
from mmsim_algorithms.colouring import schedules
from mmsim_algorithms.errors import PreconditionError


def conflicts(addresses, w):
    """The congestion of each warp."""
    return {Banks(w).stages(warp) for warp in addresses.reshape(-1, w).tolist()}


def test_the_worked_example_of_cfp():
    P = permutations.transpose(16, columns=4)
    S, D = schedules.conflict_free(P, 4)
    assert conflicts(P, 4) == {4}
    assert conflicts(S, 4) == conflicts(D, 4) == {1}
    assert (D[permutations.inverse(S)] == P).all()


def test_the_schedule_that_cfp_prints_has_the_same_properties():
    S = np.array([0, 5, 10, 15, 1, 6, 11, 12, 2, 7, 8, 13, 3, 4, 9, 14])
    D = np.array([0, 5, 10, 15, 4, 9, 14, 3, 8, 13, 2, 7, 12, 1, 6, 11])
    assert conflicts(S, 4) == conflicts(D, 4) == {1}
    assert (D[permutations.inverse(S)] == permutations.transpose(16, columns=4)).all()


@pytest.mark.parametrize("name", permutations.NAMED)
@pytest.mark.parametrize(("n", "w"), [(16, 4), (64, 4), (64, 64), (1024, 32), (4096, 1)])
def test_conflict_free(name, n, w):
    P = permutations.NAMED[name](n, 1)
    S, D = schedules.conflict_free(P, w)
    assert S.dtype == D.dtype == np.int64
    assert conflicts(S, w) == conflicts(D, w) == {1}
    assert (S.reshape(-1, w) % w == np.arange(w)).all()
    b = np.empty(n, dtype=int)
    b[D] = np.arange(n)[S]
    assert (b[P] == np.arange(n)).all()


@given(st.data())
def test_conflict_free_for_any_width(data):
    w, warps = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 9))
    P = np.array(data.draw(st.permutations(range(w * warps))))
    S, D = schedules.conflict_free(P, w)
    assert conflicts(S, w) == conflicts(D, w) == {1}
    assert (P[S] == D).all()
    assert sorted(S) == list(range(w * warps))


@pytest.mark.parametrize(("rows", "m", "w"), [(1, 8, 4), (5, 12, 4), (64, 64, 8), (3, 6, 6)])
def test_conflict_free_rows(rows, m, w):
    P = np.array([permutations.random(m, seed) for seed in range(rows)])
    s, d = schedules.conflict_free_rows(P, w)
    assert s.shape == d.shape == (rows, m)
    assert s.dtype == d.dtype == np.int64
    for i in range(rows):
        S, D = schedules.conflict_free(P[i], w)
        assert (s[i] == S).all()
        assert (d[i] == D).all()


@pytest.mark.parametrize("name", permutations.NAMED)
@pytest.mark.parametrize("side", [1, 2, 4, 16, 32])
def test_three_steps_move_each_element_to_its_place(name, side):
    P = permutations.NAMED[name](side * side, 3)
    first, second, third = schedules.three_steps(P, side)
    for step in (first, second, third):
        assert step.dtype == np.int64
        assert (np.sort(step, axis=1) == np.arange(side)).all()
    assert (schedules.compose(first, second, third) == P).all()
    a = np.arange(side * side).reshape(side, side)
    x, y, b = np.empty_like(a), np.empty_like(a), np.empty_like(a)
    for i in range(side):
        x[i, first[i]] = a[i]
    for j in range(side):
        y[second[j], j] = x[:, j]
    for i in range(side):
        b[i, third[i]] = y[i]
    assert (b.ravel()[P] == a.ravel()).all()


@given(st.data())
def test_three_steps_for_any_side(data):
    side = data.draw(st.integers(1, 8))
    P = np.array(data.draw(st.permutations(range(side * side))))
    assert (schedules.compose(*schedules.three_steps(P, side)) == P).all()


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: schedules.conflict_free(range(6), 4), r"w divides n; 4 .* 6 \(CFP, section IV\)"),
        (lambda: schedules.conflict_free(range(6), 0), "w divides n"),
        (lambda: schedules.conflict_free([0, 0], 1), r"doubled: 0 \(2 times\)"),
        (lambda: schedules.conflict_free_rows([[0, 1, 2]], 2), r"2 .* 3 \(ICPP, section VI\)"),
        (lambda: schedules.conflict_free_rows([0, 1], 2), r"the shape is \(2,\)"),
        (lambda: schedules.conflict_free_rows([[0, 1], [1, 1]], 2), "row 1: .*missing: 0"),
        (lambda: schedules.conflict_free_rows([[0.0, 1.0]], 2), "row 0: .*integers"),
        (lambda: schedules.three_steps(range(6), 2), "6 are not 2 x 2"),
        (lambda: schedules.three_steps([0, 0, 1, 2], 2), r"doubled: 0 \(2 times\)"),
    ],
)
def test_what_does_not_fit_is_refused(make, text):
    with pytest.raises(PreconditionError, match=text):
        make()


def test_a_schedule_with_a_conflict_would_be_noticed():
    S = np.arange(8)
    schedules._check_banks(S, S, 4)
    with pytest.raises(PreconditionError, match="each warp of D touches 4 banks"):
        schedules._check_banks(S, S[::-1] // 2, 4)
