"""The models on machines of width 1, which no grid has: a warp is one thread."""

import pytest
from test_models import CLAIMS, MODELS, allowed, check, family

FAMILIES = ("BULK", "DP", "FFT", "HIST", "LIST", "POLY", "SPMV", "STENCIL")
TRIED = sorted(id_ for id_ in MODELS if family(id_) in FAMILIES)
TWO_LANES = sorted(
    id_ for id_ in TRIED if "w >= 2" in {condition.text for condition in CLAIMS[id_].requires}
)


def narrow(claim, count=3):
    """The first cases of the grid, with width 1."""
    return [{**case, "w": 1} for case in claim.cases()[:count] if "w" in case]


@pytest.mark.parametrize("id_", TRIED)
def test_a_claim_that_allows_width_1_holds_there(id_):
    check(id_, [case for case in narrow(CLAIMS[id_]) if allowed(CLAIMS[id_], case)])


@pytest.mark.parametrize("id_", TWO_LANES)
def test_a_claim_that_needs_two_lanes_fails_with_one(id_):
    claim = CLAIMS[id_]
    for case in narrow(claim):
        time = claim.measure(claim.run(schedule="synchronous", **case))
        assert MODELS[id_](**case) == time < claim.evaluate(case)
