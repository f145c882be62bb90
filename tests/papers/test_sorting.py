"""Sorting: what comes out, steps by hand, and inputs that are worst for one merge sort only."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import mmsim as mm
from mmsim.claims import verify_claim
from mmsim_algorithms.errors import PreconditionError
from mmsim_algorithms.sorting import (
    bitonic,
    bitonic_without_conflicts,
    merge_sorted,
    merging,
    worst,
)
from mmsim_algorithms.sorting.claims import (
    CLAIMS,
    compared,
    last_pass,
    merging_stages,
    moving_stages,
)

schedules = pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])


def inputs(n):
    random = np.random.default_rng(n)
    yield from (random.permutation(n), random.integers(0, 3, n), np.arange(n)[::-1], np.zeros(n))


@schedules
@pytest.mark.parametrize("n", [1, 2, 8, 32])
def test_bitonic_sort_sorts_and_has_no_race(n, schedule):
    for machine in (mm.DMM(4, 2), mm.UMM(4, 2)):
        for a in inputs(n):
            for p in (3, max(1, n // 2)):
                launch = {"threads": p, "schedule": schedule, "check": True}
                one = machine.run(bitonic, a, **launch)
                two = machine.run(bitonic_without_conflicts, a, 4, **launch)
                assert (one.arrays["a"] == np.sort(a)).all()
                assert (two.arrays["a"] == np.sort(a)).all()
                assert one.findings == two.findings == ()


@schedules
@pytest.mark.parametrize("conflicts", [True, False])
@pytest.mark.parametrize(("w", "E", "p"), [(4, 1, 1), (4, 3, 8), (8, 5, 16), (2, 7, 4), (5, 2, 8)])
def test_merge_sort_sorts(w, E, p, conflicts, schedule):
    for a in inputs(p * E):
        run = merge_sorted(mm.DMM(w, 2), a, E, conflicts, schedule=schedule)
        assert (run.arrays["b"] == np.sort(a)).all()


@pytest.mark.parametrize(
    ("w", "E"),
    [
        *((4, 2), (8, 3), (12, 5), (16, 7), (32, 15), (32, 16)),
        *((3, 2), (4, 3), (12, 7), (12, 10), (17, 9), (32, 31)),
    ],
)
def test_the_worst_input_begins_each_row_of_banks_or_every_second_thread(w, E):
    """Parts of more than half a row begin a row with every second thread."""
    first = merging.from_first(w, E)
    assert (len(first), first.sum() % w) == (w * E, 0)
    begun = 0
    for count, own in ((np.cumsum(first), first), (np.cumsum(~first), ~first)):
        before = count.reshape(w, E)[:, -1] - own.reshape(w, E).sum(axis=1)
        begun += int(((before % w == 0) & own.reshape(w, E).all(axis=1)).sum())
    assert begun == min(E, -(-w // 2))


def test_a_bad_input_by_hand():
    """w = 3, E = 2: threads take BB AA BA, of two runs of rows of 3 words.

    At the first read BB and AA meet in bank 1, where BA reads bank 0; at the second BB and AA meet
    in bank 2. That is two stages each, four for the six words of a warp.
    """
    assert merging.from_first(3, 2).tolist() == [False, False, True, True, False, True]
    run = last_pass("synchronous", n=12, w=3, E=2, run=6, l=1)
    assert merging_stages(run) == 2 * 4


def test_the_worst_input_hurts_the_serial_merge_in_each_later_pass():
    """w = 16, E = 7, 4 warps' words twice over: in passes 5 and later E stages instead of one."""
    n, w, E = 8 * 16 * 7, 16, 7
    bad, good = worst(n, w, E), np.random.default_rng(0).permutation(n)
    assert sorted(bad) == list(range(n))
    run = merge_sorted(mm.DMM(w, 1), bad, E)
    assert merging_stages(run) >= 3 * n * E // w
    assert merging_stages(run) > merging_stages(merge_sorted(mm.DMM(w, 1), good, E))
    for words in (bad, good):
        free = merge_sorted(mm.DMM(w, 1), words, E, conflicts=False)
        assert moving_stages(free) == 2 * n // w * 8  # 7 passes, and the runs


@pytest.mark.parametrize(
    ("n", "E", "conflicts"),
    [(10, 3, True), (9, 3, True), (8, 2, False), (0, 1, True), (4, 0, True)],
)
def test_what_merge_sort_does_not_take_is_refused(n, E, conflicts):
    with pytest.raises(PreconditionError, match="SORT"):
        merge_sorted(mm.DMM(4, 1), np.arange(n), E, conflicts)


@pytest.mark.parametrize(("n", "w", "E"), [(64, 4, 4), (36, 4, 3), (24, 4, 2), (8, 4, 0)])
def test_there_is_no_worst_input_of_other_sizes(n, w, E):
    with pytest.raises(PreconditionError, match="SORT"):
        worst(n, w, E)


def test_the_lower_bound_by_hand():
    """4 words have 24 orders, which take 5 comparisons: 5 + 4 - 2 words by two threads, l = 3."""
    time, reads = (claim for claim in CLAIMS if claim.id.startswith("SORT-LB"))
    assert time.evaluate({"n": 4, "p": 2, "w": 2, "l": 3}) == Fraction(21, 2)
    assert time.evaluate({"n": 4, "p": 2, "w": 1, "l": 1}) == 7
    assert reads.evaluate({"n": 4, "w": 2}) == Fraction(5, 2)


@pytest.mark.parametrize("id_", ["SORT-LB", "SORT-LB.reads"])
def test_the_lower_bounds_notice_a_sort_that_leaves_words_out(id_):
    (claim,) = (claim for claim in CLAIMS if claim.id == id_)
    one = [{"by": "bitonic", "on": "DMM", "n": 256, "p": 128, "w": 4, "l": 1}]
    assert verify_claim(replace(claim, grid=lambda: one)).result == "holds"

    def fewer(schedule, n, p, **case):
        return compared(schedule, n=n // 8, p=p // 8, **case)

    assert verify_claim(replace(claim, grid=lambda: one, run=fewer)).result == "fails"
