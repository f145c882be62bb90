"""The page of proofs is made from the kept outcomes, which are those of the claims.

`make proofs` makes both anew: it proves every claim.
"""

from pathlib import Path

from mmsim.proof.kept import from_json
from mmsim_algorithms import claims
from mmsim_algorithms.reports.proofs import page

DOCS = Path(__file__).parents[2] / "docs"
KEPT = (DOCS / "proofs.json").read_text(encoding="utf-8")
_, PROOFS = from_json(KEPT)


def test_the_page_is_made_from_the_kept_outcomes():
    assert (DOCS / "proofs.md").read_text(encoding="utf-8") == page(KEPT)


def test_the_outcomes_are_those_of_the_claims():
    known = claims()
    assert [one.claim for one in PROOFS] == [claim.id for claim in known]
    for claim, one in zip(known, PROOFS, strict=True):
        assert one.checked == len(claim.cases())
        assert one.against is None
        assert bool(one.why) != one.proved, claim.id
