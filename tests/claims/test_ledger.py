"""The ledger page is made from the claims, and is up to date."""

from pathlib import Path

from mmsim_algorithms import claims
from mmsim_algorithms.reports.ledger import CHOICES, page

SAVED = (Path(__file__).parents[2] / "docs" / "ledger.md").read_text(encoding="utf-8")


def test_the_page_is_what_the_claims_make_it():
    assert page() == SAVED, "run make ledger"


def test_the_page_has_every_claim_and_every_choice():
    assert all(f"| {claim.id} |" in SAVED for claim in claims())
    assert all(question in SAVED for question, _ in CHOICES)
