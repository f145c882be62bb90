"""Permuting on the HMM: results, times, Table I's classes, the distribution, refusals."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mmsim as mm
from mmsim.claims import ClaimError
from mmsim_algorithms import permutations
from mmsim_algorithms.errors import PreconditionError
from mmsim_algorithms.hmm_permutation import (
    columns_permuted,
    plan,
    row_tables,
    rows_permuted,
    scheduled,
)
from mmsim_algorithms.reports import distributions
from mmsim_algorithms.reports import icpp_tables as reproduced
from mmsim_algorithms.transpose import hmm as hmm_transpose
from mmsim_algorithms.transpose.hmm import transposed
from tests.kit.generators.draws import draws

MACHINE = mm.HMM(dmms=2, width=4, global_latency=10)
SCHEDULES = ("synchronous", "asynchronous")


@st.composite
def squares(draw):
    """A width and a permutation of a square whose side it divides, and DMMs that fit."""
    w = draw(st.integers(2, 5))
    across = draw(st.integers(1, 2))
    side = w * across
    dmms = draw(st.sampled_from([d for d in (1, 2, 4) if side % d == 0 == across**2 % d]))
    return w, dmms, np.array(draw(st.permutations(range(side * side))))


@settings(max_examples=draws(10), deadline=None)
@given(square=squares(), L=st.integers(1, 40), schedule=st.sampled_from(SCHEDULES))
def test_any_permutation_is_scheduled(square, L, schedule):
    w, dmms, P = square
    machine, n = mm.HMM(dmms, w, L), P.size
    a = np.arange(n) * 2.5
    run = scheduled(machine, a, plan(P, w), schedule=schedule)
    assert (run.arrays["b"][P] == a).all()
    if schedule == "synchronous":
        assert run.time == 16 * n // w + 16 * n // (dmms * w) + 16 * L - 16
        assert run.launches == 5
        assert len(run.rounds) == 32
        assert "casual" not in {row.access_class for row in run.rounds}


@settings(max_examples=draws(6), deadline=None)
@given(
    w=st.integers(2, 4), rows=st.integers(1, 3), across=st.integers(1, 3), seed=st.integers(0, 99)
)
def test_rows_of_any_number_are_permuted(w, rows, across, seed):
    length = across * w
    a = np.arange(rows * length).reshape(rows, length)
    P = np.array([permutations.random(length, seed + i) for i in range(rows)])
    run = rows_permuted(mm.HMM(1, w, 7), a, row_tables(P, w))
    assert (np.take_along_axis(run.arrays["b"], P, axis=1) == a).all()


def test_columns_are_permuted():
    a = np.arange(8 * 12).reshape(8, 12)
    P = np.array([permutations.random(8, seed) for seed in range(12)])
    run = columns_permuted(MACHINE, a, row_tables(P, 4))
    for j in range(12):
        assert (run.arrays["b"][P[j], j] == a[:, j]).all()


def test_random_distributions_of_table_3():
    """ICPP Table III at the paper's n, w and number of permutations."""
    found = distributions.kept_distributions()
    assert (found.n, found.w, found.count) == (2**22, 32, 1000)
    expected = permutations.expected_distribution(found.n, found.w)
    assert f"{expected / found.n:.5f}" == "0.99989"  # 0.9998854, as printed just so
    assert abs(found.average - expected) < 3 * found.deviation / 1000**0.5
    assert found.n - expected == pytest.approx(31**2 / 2, rel=0.01)  # erratum 8
    seed = 617  # any: one that the table doesn't count again
    P = permutations.random(found.n, seed)
    assert permutations.distribution(P, found.w) == found.counts[seed]


def test_table_3_has_a_row_for_each_of_the_papers():
    figures = list(reproduced.icpp_table_3())
    assert [figure.row for figure in figures] == ["minimum", "average", "maximum"]
    assert [figure.printed for figure in figures] == ["0.99987", "0.99989", "0.99990"]
    assert all(figure.agrees for figure in figures)
    counts = distributions.kept_distributions().counts
    assert figures[0].computed == min(counts) / 2**22
    assert figures[2].computed == max(counts) / 2**22


def test_a_kept_count_that_is_wrong_is_reported():
    found = distributions.random_distributions(1024, 32, 3)
    found.check(3)
    wrong = replace(found, counts=(*found.counts[:2], found.counts[2] + 1))
    wrong.check(2)
    with pytest.raises(ClaimError, match=r"of random permutation 2 is \d+, but \d+ is kept in"):
        wrong.check(3)


def test_a_number_of_dmms_that_does_not_divide_costs_the_fullest_one():
    """Beyond the papers: 3 DMMs share 4 tiles as 2, 1, 1."""
    a = np.arange(64).reshape(8, 8)
    machine = mm.HMM(dmms=3, width=4, global_latency=10)
    run = machine.run(hmm_transpose.transpose, a, np.zeros_like(a), 4, threads=64, block_size=16)
    assert run.time == 2 * (16 + 10 - 1) + 2 * 2 * 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plan(np.arange(15), 4), "sqrt n is a whole number, but n=15"),
        (lambda: plan(np.arange(36), 4), "w divides sqrt n, but w=4 and sqrt n=6"),
        (lambda: plan([0, 0, 1, 2], 2), "0"),
        (lambda: row_tables(np.zeros((4, 4), int), 4), "0"),
        (lambda: row_tables(np.tile(np.arange(6), (2, 1)), 4), "length is 6"),
        (lambda: row_tables(np.arange(4), 4), "each row"),
        (lambda: transposed(MACHINE, np.zeros((8, 6))), "w=4 and the matrix is 8 x 6"),
        (lambda: transposed(MACHINE, np.zeros(16)), "matrix"),
        (lambda: transposed(MACHINE, np.zeros((4, 4))), "d=2 and n/w\\^2=1"),
        (
            lambda: scheduled(MACHINE, np.zeros(16), plan(np.arange(64), 4)),
            "the plan's 64 words, not 16",
        ),
        (
            lambda: scheduled(mm.HMM(3, 4, 5), np.zeros(64), plan(np.arange(64), 4)),
            "d divides the rows, but d=3 and there are 8",
        ),
        (
            lambda: rows_permuted(
                MACHINE, np.zeros((4, 8)), row_tables(np.tile(np.arange(4), (4, 1)), 4)
            ),
            "of one shape",
        ),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(PreconditionError, match=message):
        call()
