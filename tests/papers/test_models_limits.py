"""The models on machines of width 1, which few grids have: a warp is one thread."""

import pytest
from models import cost
from test_models import CLAIMS, MODELS, allowed, check

from mmsim_algorithms.errors import PreconditionError

TWO_LANES = sorted(
    id_ for id_ in MODELS if "w >= 2" in {condition.text for condition in CLAIMS[id_].requires}
)
REFUSED = ("SCAN-async", "SCAN-TCU", "SUM-async")
"""Here a warp of one thread leaves as many sums as it got, so these programs refuse it."""


def narrow(claim, count=3):
    """The first cases of the grid, with width 1."""
    return [{**case, "w": 1} for case in claim.cases()[:count] if "w" in case]


@pytest.mark.parametrize("id_", sorted(MODELS))
def test_a_claim_that_allows_width_1_holds_there(id_):
    check(id_, [case for case in narrow(CLAIMS[id_], count=2) if allowed(CLAIMS[id_], case)])


@pytest.mark.parametrize("id_", [id_ for id_ in TWO_LANES if not id_.startswith(REFUSED)])
def test_a_claim_that_needs_two_lanes_fails_with_one(id_):
    claim = CLAIMS[id_]
    agreed = []
    for case in narrow(claim):
        time = claim.measure(claim.run(schedule="synchronous", **case))
        assert cost.time(MODELS[id_](**case)) == time
        agreed.append(claim.agrees(time, claim.evaluate(case)))
    assert not (any if claim.kind == "exact" else all)(agreed)


@pytest.mark.parametrize("id_", [id_ for id_ in TWO_LANES if id_.startswith(REFUSED)])
def test_what_one_lane_does_not_reduce_is_refused(id_):
    for case in narrow(CLAIMS[id_]):
        with pytest.raises(PreconditionError, match=r"two (threads|words) or more"):
            CLAIMS[id_].run(schedule="synchronous", **case)
