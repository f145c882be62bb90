"""Transposes on the UMM: results, access classes, counts, refused input, verdicts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mmsim as mm
from mmsim_algorithms.errors import PreconditionError
from mmsim_algorithms.transpose.umm import (
    apart,
    direct,
    local,
    local_as_printed,
    mirror,
    rotating,
    swap,
    tile,
    tiled,
    transpose,
)
from mmsim_algorithms.transpose.umm_claims import CLAIMS
from tests.kit.generators.draws import draws

W_AND_R = [(2, 2), (3, 3), (4, 4), (4, 1), (8, 2), (9, 1), (12, 3), (16, 4), (16, 1)]
SCHEDULES = ("synchronous", "asynchronous")


def matrix(rows, columns, seed=0):
    return np.random.RandomState(seed).randint(1000, size=(rows, columns))


@settings(deadline=None, max_examples=draws(20))
@given(
    st.sampled_from(W_AND_R),
    st.integers(1, 4),
    st.integers(0, 99),
    st.sampled_from(SCHEDULES),
    st.sampled_from([tiled, apart, direct]),
    st.data(),
)
def test_any_number_of_warps_transposes(w_and_r, m, seed, schedule, program, data):
    w, r = w_and_r
    if r == 1 and program is tiled:
        program = apart
    side, _ = tile(w, r)
    a = matrix(m * side, m * side, seed)
    warps = data.draw(st.integers(1, max(1, a.size // (r * w))))
    run = transpose(mm.UMM(w, 3), a, warps * w, r, schedule, program)
    assert (run.arrays["b"] == a.T).all()
    assert (run.arrays["a"] == a).all()


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("program", [tiled, direct], ids=lambda program: program.name)
def test_matrices_below_each_other_are_transposed_one_by_one(program, schedule):
    a = np.arange(3 * 8 * 8).reshape(3, 8, 8)
    run = transpose(mm.UMM(4, 2), a, 12, 4, schedule, program)
    assert (run.arrays["b"].reshape(3, 8, 8) == a.swapaxes(1, 2)).all()


def test_direct_takes_oblong_matrices():
    a = np.arange(2 * 12 * 4).reshape(2, 12, 4)
    run = transpose(mm.UMM(4, 2), a, 8, program=direct)
    assert (run.arrays["b"].reshape(2, 4, 12) == a.swapaxes(1, 2)).all()


@pytest.mark.parametrize("m", range(1, 8))
def test_swap_pairs_off_the_tiles_of_any_number(m):
    b = np.arange(9 * m * m).reshape(3 * m, 3 * m)
    run = mm.UMM(3, 1).run(swap, b, 3, threads=6)
    assert (run.arrays["b"] == b.reshape(m, 3, m, 3).swapaxes(0, 2).reshape(b.shape)).all()
    assert run.stages == 4 * 3 * m * (m - 1) // 2


@pytest.mark.parametrize("program", [tiled, direct], ids=lambda program: program.name)
def test_with_w_registers_every_access_is_coalesced(program):
    run = transpose(mm.UMM(8, 5), matrix(24, 24), 72, program=program)
    assert {row.access_class for row in run.accesses} == {"coalesced"}


def test_in_turn_the_local_transpose_is_coalesced_with_fewer_registers():
    a = matrix(16, 16)
    assert rows_of(transpose(mm.UMM(16, 1), a, 16, 1, program=local)) == {
        ("read", "coalesced", 1),
        ("write", "coalesced", 1),
    }


def test_whole_groups_together_meet_as_many_address_groups_as_a_group_has_threads():
    a = matrix(32, 32)
    assert rows_of(transpose(mm.UMM(16, 1), a, 16, 4, program=direct)) == {
        ("read", "casual", 2),
        ("write", "casual", 2),
    }


def test_erratum_4_the_printed_write_is_a_column():
    run = transpose(mm.UMM(16, 1), matrix(16, 16), 16, 4, program=local_as_printed)
    assert rows_of(run) == {("read", "coalesced", 1), ("write", "casual", 8)}


def rows_of(run):
    return {(row.kind, row.access_class, row.stages / row.requests) for row in run.accesses}


def test_a_swap_can_cost_more_than_a_copy_where_the_last_step_is_short():
    """n = 225, p = 75, w = 3: 90 pairs of words, first 75, then 15."""
    b = np.arange(225).reshape(15, 15)
    machine = mm.UMM(3, 30)
    swapped = machine.run(swap, b, 3, threads=75)
    copied = machine.run(mirror, b, np.zeros_like(b), 3, threads=75)
    assert (swapped.arrays["b"] == copied.arrays["b"]).all()
    assert (swapped.time, copied.time) == (4 * (30 + 2 * 29), 2 * (75 + 3 * 29))
    assert swapped.time > copied.time


def test_lemma_5_2_is_the_rotating_transpose_in_a_single_tile():
    a = matrix(8, 8)
    run = mm.UMM(8, 7).run(rotating, a, np.zeros_like(a), threads=8)
    assert run.time == transpose(mm.UMM(8, 7), a, 8).time == 2 * 8 * 7


@pytest.mark.parametrize(
    ("w", "shape", "p", "r", "text"),
    [
        (4, (8, 8), 8, 0, "1 <= r <= w registers, not r = 0, w = 4"),
        (4, (8, 8), 8, 5, "1 <= r <= w registers, not r = 5, w = 4"),
        (8, (8, 8), 8, 3, "rw and w/r are square numbers, not 24 and 8/3"),
        (18, (36, 36), 18, 8, "rw and w/r are square numbers, not 144 and 18/8"),
        (4, (6, 6), 4, 4, "tiles of 4 x 4 fill the matrix: 4 divides its sides, not 6 x 6"),
        (4, (0, 0), 4, 4, "fill the matrix"),
        (4, (4, 8), 4, 4, "the matrix is square, not 4 x 8"),
        (4, (16,), 4, 4, "the array has two dimensions, not 1"),
        (4, (8, 8), 6, 4, "the number p of threads is a multiple of w = 4, not 6"),
        (4, (8, 8), 20, 4, "w <= p <= n/w = 16, not p = 20 (SMM Lemma 5.2)"),
        (4, (8, 8), 68, 1, "w <= p <= n/r = 64, not p = 68 (SMM Lemma 5.3)"),
        (4, (8, 8), 0, 4, "w <= p <= n/w = 16, not p = 0"),
    ],
)
def test_input_that_the_lemmas_do_not_take_is_refused(w, shape, p, r, text):
    with pytest.raises(PreconditionError) as error:
        transpose(mm.UMM(w, 1), np.zeros(shape, dtype=int), p, r)
    assert text in str(error.value)


@pytest.mark.parametrize("w", [16, 25, 36])
def test_the_misprint_gets_worse_with_the_width(w):
    """No constant will do: the printed O() breaks by a factor that grows with the width."""
    (printed,) = [claim for claim in CLAIMS if claim.id == "SMM-L5.3.local.printed"]
    case = {"n": 4 * w * w, "p": 4 * w, "w": w, "l": 1, "r": w}
    assert printed.run(schedule="synchronous", **case).time >= case["n"]
