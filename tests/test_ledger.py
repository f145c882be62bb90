"""The ledger page is made from the claims, and is up to date."""

from pathlib import Path

from algorithms import claims
from algorithms.ledger import CHOICES, page


def test_the_page_is_what_the_claims_make_it():
    saved = Path(__file__).parent.parent / "docs" / "ledger.md"
    assert saved.read_text(encoding="utf-8") == page(), "run make ledger"


def test_the_page_has_every_claim_and_every_choice():
    text = page()
    assert all(f"| {claim.id} |" in text for claim in claims())
    assert all(question in text for question, _ in CHOICES)
