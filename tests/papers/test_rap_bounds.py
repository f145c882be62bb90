"""RAP's bounds against plain counting, and that no bound is one that nothing could exceed."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations, permutations, product
from math import e, exp, factorial, sqrt

import numpy as np
import pytest

import mmsim as mm
import mmsim_algorithms
from mmsim_algorithms.rap import bounds, bounds_claims, ras_claims, simulation
from mmsim_algorithms.rap.cases import congestions_of
from mmsim_algorithms.rap.max_load import expected_max_load
from mmsim_algorithms.rap.programs import ACCESSES

CLAIMS = {claim.id: claim for claim in mmsim_algorithms.claims() if claim.paper == "RAP"}
UPPER = [claim for claim in CLAIMS.values() if claim.kind == "upper"]


def loads(w, requests):
    """All accesses to so many cells, and how full each bank is under each permutation.

    Shape (accesses, permutations, banks), counted as the paper puts it: cell (i, j) lies in bank
    (j + r_i) mod w.
    """
    accesses = list(combinations(range(w * w), requests))
    row, column = np.divmod(np.array(accesses), w)
    shifts = np.array(list(permutations(range(w))))
    bank = (column[:, None] + np.moveaxis(shifts[:, row], 0, 1)) % w
    return accesses, (bank[..., None] == np.arange(w)).sum(axis=2)


def in_rows(access, w):
    """Cells of each row that an access has, without the rows that it leaves out."""
    return tuple(sorted(Counter(cell // w for cell in access).values()))


@pytest.mark.parametrize("w", [2, 3, 4])
def test_no_access_at_all_exceeds_the_first_moment(w):
    """Every access of a warp to different cells, under every permutation."""
    accesses, found = loads(w, w)
    expected = found.max(axis=2).mean(axis=1)
    assert expected.max() <= float(bounds.first_moment(w)) + 1e-12
    diagonal = accesses.index(tuple(j * w + j for j in range(w)))
    assert expected[diagonal] == expected.max()  # section V: RAP's largest congestion


@pytest.mark.parametrize("w", [2, 3])
def test_no_access_at_all_exceeds_it_under_independent_shifts(w):
    """RAS: every access of a warp to different cells, under every choice of w shifts."""
    row, column = np.divmod(np.array(list(combinations(range(w * w), w))), w)
    shifts = np.array(list(product(range(w), repeat=w)))
    bank = (column[:, None] + np.moveaxis(shifts[:, row], 0, 1)) % w
    fullest = (bank[..., None] == np.arange(w)).sum(axis=2).max(axis=2)
    assert fullest.mean(axis=1).max() <= float(bounds.first_moment(w)) + 1e-12


@pytest.mark.parametrize(("w", "by_hand"), [(2, Fraction(3, 2)), (3, Fraction(17, 9))])
def test_a_stride_under_every_choice_of_shifts_by_hand(w, by_hand):
    """Two shifts are equal in two of four cases; three in 3 of 27, two in 18 of 27."""
    total = 0
    for shifts in product(range(w), repeat=w):
        a = mm.place(np.zeros((w, w), int), mm.layout.RAS(w, shifts=shifts))
        run = mm.DMM(w, 1).run(ACCESSES["stride"], a, threads=w)
        assert run.stages == max(Counter(shifts).values())
        total += run.stages
    assert Fraction(total, w**w) == by_hand
    assert float(ras_claims.FULLEST(w)) == pytest.approx(float(by_hand))


def test_the_largest_congestion_of_many_warps_is_improbable_beyond_the_claim():
    """m w / k! for the next whole number k, for sizes of the grid and far beyond."""
    for m, w in product((200, 1000, 10**6), (16, 32, 256, 2**16)):
        assert m * w / factorial(int(ras_claims.of_all(m, w)) + 1) < 1e-5
    run = ras_claims.stride("synchronous", w=16, m=200)
    assert ras_claims.largest(run) == max(congestions_of(run)) <= 16


def test_the_first_moment_by_hand():
    assert bounds.first_moment(4) == 1 + 1 + Fraction(4, 6) + Fraction(4, 24)
    assert bounds.first_moment(2) == 2
    assert float(bounds.first_moment(32)) == pytest.approx(4.318, abs=5e-4)


def test_balls_in_bins_stay_below_the_first_moment():
    for w in (3, 8, 32, 256):
        assert expected_max_load(w, w) < bounds.first_moment(w)


def test_twice_the_logarithms_is_enough_for_every_width():
    """c = 2: the sum of min(1, w/k!) is less, from w = 3 to numbers of 300 digits."""

    def first_moment(w):
        total, term, k = 0.0, w, 1.0
        while term > 1e-9:
            total, k = total + min(1.0, term), k + 1
            term /= k
        return total

    ratios = [
        first_moment(2 ** (x / 16)) / bounds.log_ratio(2 ** (x / 16)) for x in range(26, 16000)
    ]
    assert max(ratios) < 1.82 < bounds.CONSTANT
    assert first_moment(32) == pytest.approx(float(bounds.first_moment(32)))


# The proof of Theorem 2.


def last_vacuous(beyond):
    """The largest width at which the proof's bound is no less than w, the largest congestion."""
    return max(w for w in range(3, 1000) if bounds.of_the_proof(w, beyond) >= w)


def test_the_proofs_bound_says_something_from_43_on_or_with_one_slip_corrected_from_45():
    assert last_vacuous(beyond=1 / 2) == 42
    assert last_vacuous(beyond=1) == 44


def test_lemma_4_says_something_from_42_on():
    """X has w/2 trials at most, and cannot exceed them."""
    assert max(w for w in range(3, 1000) if bounds.threshold(w) >= w // 2) == 41
    assert bounds.threshold(32) == pytest.approx(e**2 * np.log(32) / np.log(np.log(32)))


@pytest.mark.parametrize("w", [4, 6])
def test_a_half_warp_in_a_bank_and_in_any(w):
    """Section IV: X bounds the load of one bank; and w banks, not w/2, have to be summed up."""
    accesses, found = loads(w, w // 2)
    equal = defaultdict(list)
    for number, access in enumerate(accesses):
        equal[in_rows(access, w)].append(number)
    for rows, numbers in equal.items():
        trials = [Fraction(2 * count, w) for count in rows]
        for t in range(w // 2):
            limit = float(bounds.exceeds(trials, t)) + 1e-12
            above = found[numbers] > t
            assert (above.mean(axis=1) <= limit).all()  # of each bank
            assert (above.any(axis=2).mean(axis=1) <= w * limit).all()  # of any
    assert found.max() == w // 2  # so that Y <= w/2


def test_trials_have_mean_1():
    for w, in_row in product((8, 16, 64), (1, 2, 4)):
        assert sum(bounds.trials(w, in_row)) == 1


@pytest.mark.parametrize("p", [[], ["1/3"], ["1/2", "1/3", "1/6"], ["1/2"] * 5])
def test_tails_by_enumeration(p):
    chances = [Fraction(one) for one in p]
    for t in (-1, 0, 1, 1.5, 2, 9):
        total = Fraction(0)
        for outcome in product((0, 1), repeat=len(p)):
            share = Fraction(1)
            for success, one in zip(outcome, chances, strict=True):
                share *= one if success else 1 - one
            total += share * (sum(outcome) > t)
        assert bounds.exceeds(chances, t) == total


# What no access could exceed is not a claim.


@pytest.mark.parametrize("claim", UPPER, ids=lambda claim: claim.id)
def test_every_upper_bound_could_fail(claim):
    """It is below w stages for each warp, or below the probability 1."""
    for case in [*claim.cases(), *claim.own_cases()]:
        if claim.quantity == "Pr":
            worst = bounds_claims.UNIT
        elif claim.quantity == "outcomes":
            worst = case["N"] ** case["N"]
        else:
            warps = case["m"] if "m" in case else case["p"] // case["w"]
            worst = case["w"] if claim.quantity == "congestion" else warps * case["w"]
        assert claim.evaluate(case) < worst, case


def test_a_probability_is_counted_up_to_a_whole_number():
    (run,) = {CLAIMS["RAP-TH3"].run}
    counted = run("synchronous", w=8, in_row=1, t=2)
    assert counted.probability == Fraction(13, 256)  # of four trials of 1/4, three or four
    assert CLAIMS["RAP-TH3"].measure(counted) == -(-13 * bounds_claims.UNIT // 256)
    assert CLAIMS["RAP-TH3.count"].measure(counted) == 13  # of 4^4 outcomes
    assert CLAIMS["RAP-TH3.count"].evaluate({"N": 4, "t": 2}) == 16
    assert counted.time == 0


# The abstract's 3.53.


def test_the_diagonal_is_beyond_what_rounds_to_the_abstracts_figure():
    """200,000 permutations, counted without the machine.

    By Hoeffding's inequality a mean of m samples from 1 .. 6 exceeds its expectation by d with
    probability at most exp(-2 m (d/5)^2). Counting a congestion above 6 as 6 makes the mean less.
    """
    m, printed = 200_000, 3.53 + 0.005
    found = simulation.congestions("diagonal", "RAP", 32, m, np.random.RandomState(0))
    error = found.std(ddof=1) / sqrt(m)
    assert found.mean() - printed > 40 * error
    assert abs(found.mean() - 3.61) < 0.005 + 3 * error  # Table II
    beyond = np.minimum(found, 6).mean() - printed
    assert exp(-2 * m * (beyond / 5) ** 2) < 1e-30
