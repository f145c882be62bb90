"""A run that leaves wrong words in its arrays is no evidence for a claim: each claim looks."""

import pytest

import mmsim_algorithms
from mmsim.api.machines import Machine
from mmsim.claims import ClaimError
from mmsim.errors import AddressError

OF_FIVE_PAPERS = ("SMM", "CFP", "ICPP", "IEICE", "RAP")
"""Their tests have wrong results of their own, and many of their claims are about reads alone."""
CLAIMS = {
    (getattr(claim.run, "func", claim.run), *getattr(claim.run, "args", ())): claim
    for claim in reversed(mmsim_algorithms.claims())
    if claim.paper not in OF_FIVE_PAPERS
}
"""A claim for each way to run something: of those that share one, the first."""


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=lambda claim: claim.id)
def test_a_claim_refuses_a_run_that_left_wrong_words(claim, monkeypatch):
    right = Machine.run

    def run(self, *arguments, **how):
        left = right(self, *arguments, **how)
        for array in left.arrays.values():
            array += 1
        return left

    cases = claim.cases()
    by_ways = {tuple(x for x in case.values() if isinstance(x, str)): case for case in cases[::-1]}
    for case in by_ways.values():
        claim.run(schedule="synchronous", **case)
    monkeypatch.setattr(Machine, "run", run)
    for case in by_ways.values():
        # a later program may use a wrong word as an index
        with pytest.raises((ClaimError, AddressError)):
            claim.run(schedule="synchronous", **case)
