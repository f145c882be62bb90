"""O() claims: refuted by a ratio that grows without bound, and held to one that does not grow."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy

import mmsim as mm
import mmsim_algorithms
from mmsim.claims import Claim, ClaimError, Growth, verify_claim
from mmsim.claims.growth import POWER, SIZES, SPAN, steepest, trend
from mmsim.claims.verify import from_json, to_json
from mmsim.reports.verdicts import verdicts_page

CLAIMS = {claim.id: claim for claim in mmsim_algorithms.claims()}
GROWING = [claim for claim in CLAIMS.values() if claim.growth is not None]
WIDTHS = (2, 4, 8, 16, 32)


@mm.program
def read_column(T, a):
    a[T.id * T.count]


def one_bank(schedule, w, l):
    """w words of one bank: w + l - 1 time units."""
    return mm.DMM(w, l).run(read_column, np.zeros(w * w), threads=w, schedule=schedule)


def printed(**changes):
    """That reading a column takes O(l): the ratio is (w + l - 1)/l."""
    facts = {
        "id": "X-1",
        "source": "a paper",
        "title": "reading a column",
        "formula": lambda l: l,
        "kind": "upper",
        "grid": lambda: [{"w": w, "l": 2} for w in WIDTHS],
        "run": one_bank,
        "printed": True,
        "growth": Growth("w", lambda w, l: (w + l - 1) / l),
    }
    return Claim(**{**facts, **changes})


# A printed O().


def test_an_o_is_refuted_by_a_ratio_without_bound():
    verdict = verify_claim(printed())
    assert (verdict.result, verdict.good, verdict.cases) == ("refuted", True, 5)
    assert verdict.reason == (
        "over w = 2 .. 32 (5 sizes) the ratio goes from 1.5 to 16.5, like w^0.94; it is (w + 1)/2, "
        "which has no bound"
    )
    assert verdict.statement == "T <= c*l"


def test_the_ratios_are_the_curve_of_the_verdict():
    verdict = verify_claim(printed())
    (series,) = verdict.curve.series
    assert series.x == WIDTHS
    assert series.y == (1.5, 2.5, 4.5, 8.5, 16.5)
    assert from_json(to_json([verdict])) == [verdict]
    page = verdicts_page([verdict])
    assert "<svg" in page
    assert "growth: over w = 2 .. 32" in page


@pytest.mark.parametrize("off", [1, -1, sympy.Rational(1, 1000)])
def test_a_ratio_that_is_not_as_derived_refutes_nothing(off):
    wrong = printed(growth=Growth("w", lambda w, l: (w + l - 1) / l + off))
    verdict = verify_claim(wrong)
    assert (verdict.result, verdict.good) == ("not refuted", False)
    assert verdict.reason.startswith("w=2, l=2: the ratio is 3/2, derived ")


def test_a_ratio_with_a_limit_refutes_nothing():
    """O(w) holds for it: (w + 1)/w tends to 1, and 2 - 1/w, which increases, to 2."""
    falling = printed(formula=lambda w: w, growth=Growth("w", lambda w: (w + 1) / w))
    assert verify_claim(falling).reason.endswith("does not grow with every size")
    rising = printed(
        formula=lambda w: w * (w + 1) / (2 * w - 1), growth=Growth("w", lambda w: (2 * w - 1) / w)
    )
    assert verify_claim(rising).result == "not refuted"


def test_a_ratio_that_grows_on_the_range_and_has_a_limit_refutes_nothing():
    """w + 1 against (w + 1)(1 + w/100)/w: the ratio grows like w at first and tends to 100."""
    late = printed(
        formula=lambda w: (w + 1) * (1 + w / sympy.Integer(100)) / w,
        growth=Growth("w", lambda w: w / (1 + w / sympy.Integer(100))),
    )
    verdict = verify_claim(late)
    assert verdict.result == "not refuted"
    assert verdict.reason.endswith("which tends to 100")


@pytest.mark.parametrize("sizes", [WIDTHS[1:], (4, 6, 8, 10, 12, 14)])
def test_few_sizes_or_near_ones_refute_nothing(sizes):
    verdict = verify_claim(printed(grid=lambda: [{"w": w, "l": 2} for w in sizes]))
    assert verdict.result == "not refuted"
    assert verdict.reason == "fewer than 5 sizes, or less than a factor of 8 between them"


def test_a_family_is_of_one_parameter():
    with pytest.raises(ClaimError, match="X-1: l changes along w and is in the ratio"):
        verify_claim(printed(grid=lambda: [{"w": w, "l": w} for w in WIDTHS]))
    with pytest.raises(ClaimError, match="do not increase along w"):
        verify_claim(printed(grid=lambda: [{"w": w, "l": 2} for w in (*WIDTHS, 12)]))


@pytest.mark.parametrize("change", [{"printed": False}, {"kind": "lower"}, {"constant": 3}])
def test_growth_is_for_printed_bounds_without_a_constant(change):
    with pytest.raises(ClaimError, match="growth refutes a printed O"):
        printed(**change)


# An O() that holds.


def holding(**changes):
    """That it takes 10^6 l at most."""
    return printed(printed=False, growth=None, constant=10**6, **changes)


def test_an_o_whose_ratio_grows_fails_however_large_its_constant_is():
    verdict = verify_claim(holding())
    assert verdict.result == "fails"
    assert verdict.reason == (
        "the ratio grows: least constant 4.5 for w <= 8, 16.5 for w <= 32: like w^0.94"
    )


def test_an_o_whose_ratio_has_a_limit_holds_and_says_how_it_changes():
    verdict = verify_claim(holding(formula=lambda w: w))
    assert verdict.result == "holds"
    assert verdict.growth == "least constant 1.5 for w <= 8, 1.5 for w <= 32: like w^0.00"
    assert "growth: least constant 1.5 for w &lt;= 8, 1.5" in verdicts_page([verdict])


def test_the_exponent_is_compared_in_whole_numbers():
    exact = [(16**i, Fraction(2**i)) for i in range(SIZES)]  # like the fourth root: not above it
    assert trend("n", exact).exponent == pytest.approx(float(POWER))
    assert not trend("n", exact).grows
    assert trend("n", [*exact[:-1], (16**4, Fraction(2**4) + Fraction(1, 10**9))]).grows


def test_a_trend_takes_the_largest_ratio_of_all_sizes_so_far():
    ratios = [(1, 3), (2, 1), (4, 5), (4, 2), (8, 4), (9, 0), (16, 4)]
    found = trend("n", [(size, Fraction(ratio)) for size, ratio in ratios])
    assert found.sizes == (1, 2, 4, 8, 16)
    assert found.constants == (3, 3, 5, 5, 5)
    assert found.sizes[found.middle] == 4
    assert trend("n", [(1, Fraction(1)), (SPAN, Fraction(1))]) is None


def test_the_steepest_trend_is_the_one_that_counts():
    ratios = [({"n": i * i, "w": i}, Fraction(i)) for i in (1, 2, 4, 8, 16)]
    assert steepest(ratios).along == "w"
    named = [
        ({"on": "DMM", "seed": i - 1, **case}, ratio) for i, (case, ratio) in enumerate(ratios, 1)
    ]
    assert steepest(named).along == "w"
    assert steepest([({"k": 1}, Fraction(1))]) is None


# The papers' claims.


def test_every_printed_o_is_refuted_by_growth():
    """All but a number of its own, which is printed as an upper bound too: RAP's "only 3.53"."""
    bounds = {claim.id for claim in CLAIMS.values() if claim.printed and claim.kind == "upper"}
    assert bounds - {claim.id for claim in GROWING} == {"RAP-TH2.any.printed"}
    assert all(claim.printed and claim.constant == 1 for claim in GROWING)


@pytest.mark.parametrize("claim", GROWING, ids=lambda claim: claim.id)
def test_the_growth_of_a_paper_is_as_derived_and_not_otherwise(claim):
    assert verify_claim(claim).result == "refuted"
    other = replace(claim, formula=lambda **case: 2 * claim.formula(**case))
    vars(other)["parameters"] = claim.parameters
    assert verify_claim(other).result == "not refuted"
