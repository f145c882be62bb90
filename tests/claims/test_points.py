"""Random points of a claim's domain: what they satisfy, and that verification runs them."""

import pytest

import mmsim_algorithms
from mmsim.claims import Claim, ClaimError, Precondition, verify_claim
from mmsim.claims.claim import call_with
from mmsim.claims.points import LARGE, points
from mmsim.claims.points import POINTS as INITIAL
from mmsim.cli.commands import make_parser

CLAIMS = mmsim_algorithms.claims()
POINTS = 20
MANY = 500


class Done:
    """The result of a run that takes this time."""

    def __init__(self, time):
        self.time = time


def claim(**changes):
    facts = {
        "id": "X-1",
        "source": "a paper",
        "title": "reading",
        "formula": lambda n, w: n / w,
        "kind": "exact",
        "grid": lambda: [{"on": "DMM", "n": n * w, "w": w} for n in (1, 8) for w in (2, 3, 64)],
        "run": lambda schedule, on, n, w: Done(n // w),
        "requires": (Precondition("w divides n", lambda n, w: n % w == 0),),
    }
    return Claim(**{**facts, **changes})


def test_points_are_new_and_different_cases_of_the_domain():
    one = claim()
    found = points(one, POINTS)
    assert len(found) == POINTS
    assert all(case["n"] % case["w"] == 0 and case["on"] == "DMM" for case in found)
    assert all(1 <= case["n"] <= LARGE and 1 <= case["w"] <= 64 for case in found)
    assert not [case for case in found if case in one.cases() or found.count(case) > 1]
    assert [case["w"] for case in found[:3]] == [1, 1, 1]
    assert found == points(one, POINTS) != points(one, POINTS, seed=1)


def test_a_small_domain_has_fewer_points_and_a_misprint_none():
    few = Precondition("n < 5", lambda n: n < 5)
    grid = [{"on": "DMM", "n": n, "w": w} for n, w in ((2, 2), (4, 4))]
    found = points(claim(requires=(*claim().requires, few), grid=lambda: grid), POINTS)
    every = {(n, w) for n in range(1, 5) for w in range(1, 5) if n % w == 0} - {(2, 2), (4, 4)}
    assert {(case["n"], case["w"]) for case in found} == every
    assert points(claim(printed=True), POINTS) == []
    assert points(claim(grid=lambda: [{}], requires=()), POINTS) == []


def test_derived_parameters_follow_from_the_others():
    def grid():
        return [{"n": n, "w": 2, "C": n // 2} for n in (2, 40, 80)]

    one = claim(grid=grid, derived={"C": lambda n, w: n // w})
    found = points(one, POINTS)
    assert len(found) == POINTS
    assert all(case["C"] == case["n"] // case["w"] for case in found)


def test_a_claim_that_holds_on_its_grid_alone_fails():
    wrong = claim(run=lambda schedule, on, n, w: Done(n // w if w > 1 else n + 1))
    verdict = verify_claim(wrong, points=POINTS)
    assert (verdict.result, verdict.points, verdict.cases) == ("fails", POINTS, 6 + POINTS)
    assert verdict.worst.case["w"] == 1
    assert verify_claim(wrong).result == "holds"


def test_a_point_that_cannot_run_asks_for_the_missing_condition():
    def run(schedule, on, n, w):
        if n % 3 == 1:
            raise ValueError("no such array")
        return Done(n // w)

    with pytest.raises(ClaimError, match=r"on=DMM, n=\d+, w=\d+.*no such array.*add .*requires"):
        verify_claim(claim(run=run, grid=lambda: claim().grid()[4:5]), points=POINTS)


def test_the_command_takes_as_many_points():
    arguments = make_parser(["verify"]).parse_args(["verify"])
    assert arguments.points == INITIAL


def test_a_trend_is_of_the_grid_alone():
    """Random points are no family along a parameter: their largest ratio says nothing of growth."""
    grown = claim(
        kind="upper",
        constant=100,
        grid=lambda: [{"on": "DMM", "n": 2**k, "w": 2} for k in range(1, 11)],
        run=lambda schedule, on, n, w: Done(n // w * (1 if n & (n - 1) == 0 else 2)),
    )
    verdict = verify_claim(grown, points=POINTS)
    assert verdict.points > 0
    assert "n^0.00" in verdict.growth


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_the_points_of_each_claim_are_of_its_domain(claim):
    for case in points(claim, 4):
        assert all(call_with(condition.holds, case) for condition in claim.requires)
        assert {*claim.parameters} <= {*case}
        assert all(type(case[name]) is type(claim.cases()[0][name]) for name in claim.derived)
    for name, follows in claim.derived.items():
        assert all(case[name] == call_with(follows, case) for case in claim.cases())


@pytest.mark.long
@pytest.mark.parametrize(
    "claim", [one for one in CLAIMS if not one.printed], ids=lambda claim: claim.id
)
def test_no_point_of_the_domain_breaks_the_claim(claim):
    for case in points(claim, MANY, seed=1):
        synchronous, asynchronous, claimed = claim.both(case)
        assert claim.agrees(claim.measure(synchronous), claimed), case
        assert asynchronous.time <= synchronous.time, case
        assert claim.kind != "lower" or claim.agrees(claim.measure(asynchronous), claimed), case
