"""Permuting on the DMM: results, times, classes, CFP's tables, refusals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mmsim as mm
from mmsim.claims import choose
from mmsim_algorithms import permutations
from mmsim_algorithms.dmm_permutation import (
    ALGORITHMS,
    cases,
    colouring_claims,
    many_arrays,
    many_arrays_claims,
    permute,
    tables,
)
from mmsim_algorithms.dmm_permutation import claims as dmm_permutation_claims
from mmsim_algorithms.errors import PreconditionError
from mmsim_algorithms.printed import table
from mmsim_algorithms.reports import cfp_tables as reproduced
from tests.kit.generators.draws import draws

CLAIMS = [
    *dmm_permutation_claims.CLAIMS,
    *colouring_claims.CLAIMS,
    *many_arrays_claims.CLAIMS,
]
SCHEDULES = ("synchronous", "asynchronous")


@st.composite
def permuted_words(draw):
    """A width and a permutation of a multiple of it."""
    w = draw(st.integers(2, 9))
    n = w * draw(st.integers(1, 6))
    return w, np.array(draw(st.permutations(range(n))))


@pytest.mark.parametrize("algorithm", [name for name in ALGORITHMS if name != "copy"])
@settings(max_examples=draws(10), deadline=None)
@given(
    words=permuted_words(),
    l=st.integers(1, 6),
    threads=st.none() | st.integers(1, 20),
    schedule=st.sampled_from(SCHEDULES),
)
def test_any_number_of_threads_carries_out_any_permutation(algorithm, words, l, threads, schedule):
    w, P = words
    a = np.arange(P.size) * 3 + 1
    run = permute(mm.DMM(w, l), algorithm, P, a, schedule=schedule, threads=threads)
    assert (run.arrays["b"][P] == a).all()


def test_the_worked_example():
    """CFP section III; the times are those of the acceptance list."""
    times = {
        l: tuple(
            cases.example(algorithm, "synchronous", l).time
            for algorithm in ("D-designated", "conflict-free", "as printed")
        )
        for l in (1, 2, 5)
    }
    assert times == {1: (24, 16, 16), 2: (27, 20, 20), 5: (36, 32, 32)}


def test_the_papers_tables_of_the_example_are_a_colouring():
    S, D, P = (getattr(cases, f"EXAMPLE_{name}") for name in "SDP")
    for warp in range(4):
        assert sorted(S[4 * warp : 4 * warp + 4] % 4) == [0, 1, 2, 3]
        assert sorted(D[4 * warp : 4 * warp + 4] % 4) == [0, 1, 2, 3]
    back = permutations.inverse(S)
    assert back.tolist() == [0, 4, 8, 12, 13, 1, 5, 9, 10, 14, 2, 6, 7, 11, 15, 3]  # as printed
    assert (D[back] == P).all()
    assert (back[D] == P).sum() == 1  # erratum 5


@pytest.mark.parametrize(
    ("algorithm", "P", "w", "message"),
    [
        ("D-designated", [0, 0, 1, 2], 2, "0"),
        ("S-designated", [0, 1, 2, 4], 2, "4|permutation"),
        ("conflict-free", [0, 1, 2, 3, 4], 2, "w divides n, but w=2 and n=5"),
        ("fast", [0, 1], 2, "'fast' is not one of copy, D-designated"),
    ],
)
def test_bad_input_is_refused(algorithm, P, w, message):
    with pytest.raises(PreconditionError, match=message):
        tables(algorithm, P, w)


def test_an_array_of_another_size_is_refused():
    with pytest.raises(PreconditionError, match="a has n=4 words"):
        permute(mm.DMM(2, 1), "D-designated", [0, 1, 2, 3], np.zeros(5))


def test_table_2_with_its_stages():
    computed = {
        (cell.row, cell.column[:1]): int(cell.computed) for cell in reproduced.cfp_table_2()
    }
    for name, stages in (("identical", 32), ("shuffle", 64), ("transpose", 1024)):
        assert (computed[name, "D"], computed[name, "S"], computed[name, "c"]) == (
            stages,
            stages,
            32,
        )
    assert computed["bit_reversal", "D"] == computed["bit_reversal", "S"] == 1024
    assert 100 < computed["random", "D"] < 125


def test_printed_tables_are_read_without_their_comments():
    assert [row["permutation"] for row in table("cfp_table2")][:2] == ["identical", "random"]


def test_many_arrays_are_flat_up_to_the_dmms_then_proportional():
    machine, P = mm.HMM(dmms=8, width=8, global_latency=50), permutations.random(64, 3)
    times = [point.time for point in many_arrays.curve(machine, P, (1, 7, 8, 9, 16, 24, 80))]
    assert times == [32, 32, 32, 64, 64, 96, 320]


def test_many_arrays_refuse_rows_of_another_length():
    machine = mm.HMM(dmms=2, width=2, global_latency=5)
    with pytest.raises(PreconditionError, match="every array has n=4 words"):
        many_arrays.permute_many(machine, "D-designated", [3, 2, 1, 0], np.zeros((2, 5)))


@pytest.mark.parametrize("algorithm", ["D-designated", "S-designated"])
@pytest.mark.parametrize(
    ("name", "n", "w", "stages"),
    [
        ("transpose", 1024, 32, 1024),
        ("transpose", 64, 32, 4),  # a matrix of two rows: congestion 2 in two warps
        ("bit-reversal", 64, 16, 16),
        ("bit-reversal", 16, 16, 1),
        ("shuffle", 1024, 32, 64),
        ("shuffle", 32, 32, 1),
        ("shuffle", 8, 1, 8),
        ("transpose", 8, 1, 8),
    ],
)
def test_the_stages_of_table_2_at_other_powers_of_two(algorithm, name, n, w, stages):
    (claim,) = choose(CLAIMS, f"CFP-T2.{name}")
    case = {"algorithm": algorithm, "permutation": name, "n": n, "w": w, "l": 1}
    assert claim.measure(claim.run("synchronous", **case)) == stages == claim.evaluate(case)
