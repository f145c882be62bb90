"""Permutations on the UMM: results, access classes, counts, refused input, verdicts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mmsim as mm
from mmsim_algorithms.colouring.schedules import three_steps
from mmsim_algorithms.errors import PreconditionError
from mmsim_algorithms.umm_permutation import (
    one_pass,
    one_pass_tables,
    permutation,
    permute,
    steps,
)
from mmsim_algorithms.umm_permutation.cases import time_of_data
from mmsim_algorithms.umm_permutation.programs import Transpose
from tests.kit.generators.draws import draws

SCHEDULES = ("synchronous", "asynchronous")


def moved(a, P):
    b = np.empty_like(a)
    b[P] = a
    return b


@settings(deadline=None, max_examples=draws(15))
@given(st.sampled_from([2, 3, 4, 7, 8]), st.integers(0, 999), st.sampled_from(SCHEDULES))
def test_any_permutation_of_a_matrix(w, seed, schedule):
    a, P = np.arange(w * w), np.random.RandomState(seed).permutation(w * w)
    machine, square = mm.UMM(w, 3), a.reshape(w, w)
    for program, tables in ((permutation, three_steps), (one_pass, one_pass_tables)):
        arguments = (square, np.zeros_like(square), *tables(P, w))
        run = machine.run(program, *arguments, threads=w, schedule=schedule)
        assert (run.arrays["b"].reshape(-1) == moved(a, P)).all()
        assert (run.arrays["a"] == square).all()


@settings(deadline=None, max_examples=draws(12))
@given(
    st.sampled_from([(2, 2), (2, 4), (3, 2), (3, 4), (4, 2), (5, 2)]),
    st.integers(0, 999),
    st.sampled_from(SCHEDULES),
    st.booleans(),
    st.data(),
)
def test_any_permutation_with_any_number_of_warps(w_and_power, seed, schedule, improved, data):
    w, power = w_and_power
    a, P = np.arange(w**power), np.random.RandomState(seed).permutation(w**power)
    warps = data.draw(st.integers(1, w ** (power - 2)))
    run = permute(
        mm.UMM(w, 2), a, steps(P, w, improved), warps * w, schedule=schedule, improved=improved
    )
    assert (run.arrays["b"].reshape(-1) == moved(a, P)).all()


@pytest.mark.parametrize(("w", "power"), [(2, 1), (2, 3), (2, 5), (3, 3), (3, 5), (4, 3), (5, 3)])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_by_groups_every_power_will_do(w, power, schedule):
    P = np.random.RandomState(0).permutation(w**power)
    prepared = steps(P, w, improved=True)
    transposes = [step for step in prepared if isinstance(step, Transpose)]
    assert (len(prepared), len(transposes)) == (4 * power - 3, 2 * power - 2)
    if power > 1:
        a = np.arange(P.size)
        run = permute(mm.UMM(w, 2), a, prepared, w, schedule=schedule, improved=True)
        assert (run.arrays["b"].reshape(-1) == moved(a, P)).all()


@pytest.mark.parametrize(("w", "k"), [(2, 0), (2, 1), (2, 2), (2, 3), (3, 2)])
def test_by_squares_there_are_3_to_the_k_row_wise_permutations(w, k):
    prepared = steps(np.random.RandomState(0).permutation(w ** (2**k)), w)
    transposes = [step for step in prepared if isinstance(step, Transpose)]
    assert (len(prepared) - len(transposes), len(transposes)) == (3**k, 3**k - 1)


@pytest.mark.parametrize("r", [16, 4, 1])
@pytest.mark.parametrize("improved", [False, True])
def test_with_fewer_registers(r, improved):
    a, P = np.arange(256), np.random.RandomState(3).permutation(256)
    run = permute(mm.UMM(16, 5), a, steps(P, 16, improved), 16, r, improved=improved)
    assert (run.arrays["b"].reshape(-1) == moved(a, P)).all()


@mm.program
def row_wise_as_printed(T, a, b, d):
    w = a.shape[1]
    for t in range(T.count // w):
        i, j = t * (T.count // w) + T.id // w, T.id % w
        b[i, d[i, j]] = a[i, j]


def test_erratum_13_the_printed_loop_leaves_rows_out():
    """t <- 0 to p/w - 1 reaches (p/w)^2 rows; w^2/p - 1 is meant."""
    a = np.arange(1, 17).reshape(4, 4)
    d = np.tile([3, 2, 1, 0], (4, 1))
    run = mm.UMM(4, 5).run(row_wise_as_printed, a, np.zeros_like(a), d, threads=4)
    assert (run.arrays["b"][0] == a[0, ::-1]).all()
    assert (run.arrays["b"][1:] == 0).all()


@pytest.mark.parametrize("program", [permutation, one_pass], ids=lambda program: program.name)
def test_every_access_is_coalesced_whatever_the_permutation(program):
    P = np.random.RandomState(5).permutation(64)
    tables = (three_steps if program is permutation else one_pass_tables)(P, 8)
    a = np.arange(64).reshape(8, 8)
    run = mm.UMM(8, 5).run(program, a, np.zeros_like(a), *tables, threads=8)
    assert {row.access_class for row in run.accesses} == {"coalesced"}


def test_launches_cost_what_the_single_program_costs():
    P = np.random.RandomState(7).permutation(64)
    a = np.arange(64)
    square = a.reshape(8, 8)
    run = permute(mm.UMM(8, 5), a, steps(P, 8), 8)
    whole = mm.UMM(8, 5).run(
        permutation, square, np.zeros_like(square), *three_steps(P, 8), threads=8
    )
    assert run.time == whole.time == 13 * 8 * 5
    assert time_of_data(run) == time_of_data(whole) == 10 * 8 * 5


@pytest.mark.parametrize(
    "P", [[0, 1, 2, 2], [[0, 1], [2, 3]], [1, 2, 3, 4], [-1, 0, 1, 2], [0.0, 1.5]]
)
def test_what_is_no_permutation_is_refused(P):
    with pytest.raises(PreconditionError, match="P is a permutation"):
        steps(P, 2)


@pytest.mark.parametrize(
    ("n", "w", "improved", "text"),
    [
        (8, 2, False, "each row has w^(2^k) words, not 8 (w = 2) (SMM section 7)"),
        (36, 4, False, "each row has w^(2^k) words, not 6 (w = 4)"),
        (2, 4, False, "each row has w^(2^k) words, not 2 (w = 4)"),
        (36, 4, True, "each row has w^m words; in the end 9 are left (w = 4)"),
        (4, 1, False, "each row has w^(2^k) words, not 4 (w = 1)"),
    ],
)
def test_sizes_that_are_no_such_power_are_refused(n, w, improved, text):
    with pytest.raises(PreconditionError) as error:
        steps(np.arange(n), w, improved)
    assert text in str(error.value)


@pytest.mark.parametrize(
    ("p", "r", "text"),
    [
        (6, None, "the number p of threads is a multiple of w = 4, not 6 (SMM Lemma 7.5)"),
        (8, None, "w <= p <= n/w = 4, not 8"),
        (0, None, "w <= p <= n/w = 4, not 0"),
        (20, 1, "w <= p <= n/r = 16, not 20 (SMM Theorem 7.6)"),
        (4, 2, "rw and w/r are square numbers"),
        (4, 0, "1 <= r <= w registers, not r = 0, w = 4"),
        (4, 9, "1 <= r <= w registers, not r = 9, w = 4"),
    ],
)
def test_threads_and_registers_that_the_lemmas_do_not_take_are_refused(p, r, text):
    with pytest.raises(PreconditionError) as error:
        permute(mm.UMM(4, 1), np.arange(16), steps(np.arange(16)[::-1], 4), p, r)
    assert text in str(error.value)


def test_steps_for_another_array_or_width_are_refused():
    with pytest.raises(PreconditionError, match="the steps are for 16 words in rows of 4"):
        permute(mm.UMM(4, 1), np.arange(256), steps(np.arange(16), 4), 4)
    with pytest.raises(PreconditionError, match="in rows of 4, the array has 16, w = 2"):
        permute(mm.UMM(2, 1), np.arange(16), steps(np.arange(16), 4), 2)
