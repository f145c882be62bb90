"""The sums: what they leave, how long they take, and where their barriers are needed."""

import numpy as np
import pytest

import mmsim as mm
from mmsim.claims.claim import call_with
from mmsim_algorithms.errors import PreconditionError
from mmsim_algorithms.sums import (
    by_few_barriers,
    columns,
    hmm_claims,
    models_claims,
)
from mmsim_algorithms.sums.cases import barriers, by_columns, by_warps, on_hmm
from mmsim_algorithms.sums.claims import CLAIMS, few
from mmsim_algorithms.sums.programs import numbers, summed

MACHINES = (mm.DMM(4, 3), mm.UMM(4, 3))
schedules = pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
machines = pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: type(machine).__name__)


def test_the_checker_finds_the_race_of_a_single_row_of_sums():
    """Warps that read and write the sums in one row: a late warp reads what is no more there."""

    @mm.program
    def one_row(T, a, c, w):
        c[T.warp] = a[T.id]
        T.barrier()
        if T.id < 2 * w:
            s = c[T.id]
            c[T.warp] = s

    run = mm.DMM(2, 1).run(
        one_row, numbers(8), np.zeros(8, int), 2, threads=8, schedule="asynchronous", check=True
    )
    assert run.findings


@pytest.mark.parametrize("p", [1, 2, 3, 7, 12])
@pytest.mark.parametrize("share", [1, 2, 5])
def test_columns_take_any_number_of_threads(p, share):
    for machine in MACHINES:
        run = machine.run(columns, numbers(p * share), np.zeros(p, int), threads=p)
        assert run.arrays["c"][0] == numbers(p * share).sum()


@pytest.mark.parametrize(
    ("w", "l", "bound"), [(2, 8, 3), (4, 64, 4), (4, 2, 1), (16, 2, 2), (16, 256, 4), (4, 5, 2)]
)
def test_the_bound_of_the_barriers_is_a_quotient_and_a_double_logarithm(w, l, bound):
    """log l / log w + log log w, rounded down; at w = 4, l = 5 it is 1.16 + 1."""
    assert few(w, l) == bound
    assert barriers(by_warps("asynchronous", "UMM", w * l, w, l, trace=True)) <= bound


def test_where_two_lanes_exceed_the_bound_the_claim_does_not_ask():
    """w = 2, l = 3: log 3 is 1.58, and two barriers are needed; a power of two is met exactly."""
    claim = next(claim for claim in CLAIMS if claim.id == "SUM-async.barriers.O")
    assert barriers(by_warps("asynchronous", "UMM", 6, 2, 3, trace=True)) == 2 > few(2, 3)
    allowed = [
        (w, l)
        for w in (1, 2, 3, 4, 8)
        for l in (1, 2, 3, 4)
        if all(call_with(one.holds, {"n": w * l, "w": w, "l": l}) for one in claim.requires)
    ]
    assert allowed == [(2, 2), (2, 4), (4, 2), (4, 3), (4, 4), (8, 2), (8, 3), (8, 4)]


@schedules
@pytest.mark.parametrize("d", [1, 2, 4])
def test_an_hmm_adds_in_its_dmms_and_then_the_sums_of_these(d, schedule):
    run = on_hmm(schedule, 256, 64, 4, d, 100)
    assert len(run.arrays["b"]) == 1
    naive = mm.HMM(d, 4, 100).run(
        columns, numbers(256), np.zeros(64, int), threads=64, schedule=schedule
    )
    assert run.time < naive.time  # 4 waits for the global memory against 12


@pytest.mark.parametrize(
    ("d", "n", "p"), [(3, 96, 32), (2, 96, 24), (2, 100, 32), (4, 16, 4), (2, 0, 4)]
)
def test_what_the_hmm_sum_does_not_take_is_refused(d, n, p):
    with pytest.raises(PreconditionError, match="SUM"):
        summed(mm.HMM(d, 4, 10), np.arange(n), p)


@pytest.mark.parametrize(
    ("w", "n", "p", "match"),
    [
        (1, 8, 4, "two threads or more, but w = 1"),
        (1, 8, 1, "two threads or more, but w = 1"),
        (4, 24, 6, "w=4 divides p=6"),
        (4, 24, 0, "w=4 divides p=0"),
        (4, 20, 8, "p=8 divides n=20"),
        (4, 0, 8, "p=8 divides n=0"),
    ],
)
def test_what_the_sum_with_few_barriers_does_not_take_is_refused(w, n, p, match):
    with pytest.raises(PreconditionError, match=match):
        by_few_barriers(mm.UMM(w, 3), np.arange(n), p)
    with pytest.raises(PreconditionError, match="a row of numbers, not \\(2, 4\\)"):
        by_few_barriers(mm.UMM(4, 3), np.zeros((2, 4)), 4)


@schedules
@machines
@pytest.mark.parametrize("p", [4, 8, 20, 64])
def test_few_barriers_add_numbers_of_any_kind(machine, p, schedule):
    for a in (numbers(3 * p), numbers(3 * p) / 4):
        run = by_few_barriers(machine, a, p, schedule=schedule)
        assert run.arrays["c"].dtype == a.dtype
        assert run.arrays["c"][0, 0] == a.sum()


@schedules
def test_one_warp_pays_the_latency_of_each_transfer(schedule):
    """The bound of the TMM is the time if nothing hides a latency."""
    run = by_columns(schedule, "DMM", n=32, p=4, w=4, l=7)
    assert run.time == (8 + 1 + 2 * 2) * 7  # 8 reads, a write, two steps


@schedules
def test_the_upper_bound_of_the_tmm_needs_the_span(schedule):
    """A thread for each of 64 numbers: most steps of the tree have one warp, and hide no latency.

    8 transfers of the columns, 8 of the sums, two for each of six steps with 4, 2, 1, ... warps.
    """
    run = by_columns(schedule, "DMM", n=64, p=64, w=8, l=1000)
    transfers = models_claims.transfers("memory", run)
    assert transfers == 8 + 8 + 2 * (4 + 2 + 1 + 1 + 1 + 1)
    hidden = transfers * (1 + 1000 * 8 / 64)
    assert hidden < run.time < hidden + 2 * 1000 * 6


def test_one_thread_on_a_dmm_is_no_case_of_the_sum_on_an_hmm():
    with pytest.raises(PreconditionError, match="two threads or more"):
        summed(mm.HMM(1, 1, 5), np.arange(8), 1)
    assert not hmm_claims.WARPS.holds(n=8, p=1, w=1, d=1)
    assert hmm_claims.WARPS.holds(n=8, p=2, w=1, d=1)
