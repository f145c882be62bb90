"""The ledger is made from kept verdicts, and those are of the claims as they are.

`make ledger` makes both anew: it verifies every claim.
"""

import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from mmsim.claims import verify_claim
from mmsim.claims.growth import POWER
from mmsim.claims.points import POINTS
from mmsim.claims.verify import fingerprint, from_json, provenance_from_json, to_json
from mmsim.host.version import VERSION
from mmsim_algorithms import claims
from mmsim_algorithms.reports.ledger import CHOICES, page

DOCS = Path(__file__).parents[2] / "docs"
KEPT = (DOCS / "verdicts.json").read_text(encoding="utf-8")
LEDGER = (DOCS / "ledger.md").read_text(encoding="utf-8")
CLAIMS = claims()
VERDICTS = from_json(KEPT)
MADE = provenance_from_json(KEPT)
QUICK = 4
"""A claim of so many cases at most is verified again here, except for one that takes seconds."""
FEW = {verdict.id for verdict in VERDICTS if verdict.cases - verdict.points <= QUICK}


def said(claim):
    requires = tuple(condition.text for condition in claim.requires)
    about = claim.id, claim.source, claim.title, claim.note
    return *about, claim.text, claim.kind, claim.constant, requires, claim.printed


def repeated(verdict):
    about = verdict.id, verdict.source, verdict.title, verdict.note
    return (
        *about,
        verdict.statement,
        verdict.kind,
        verdict.constant,
        verdict.requires,
        (verdict.printed),
    )


def differences(claims, verdicts):
    """Verdicts that are not of these claims, or are not as they must be."""
    if [claim.id for claim in claims] != [verdict.id for verdict in verdicts]:
        yield "the ids"
    for claim, verdict in zip(claims, verdicts, strict=False):
        if said(claim) != repeated(verdict):
            yield f"what {claim.id} says"
        if [one.case for one in verdict.own] != claim.own_cases() or verdict.left_out:
            yield f"the cases of {claim.id} of its paper's own size"
        if verdict.cases != len(claim.cases()) + verdict.points + len(verdict.own):
            yield f"the number of cases of {claim.id}"
        expected = "holds in part" if claim.only else "refuted" if claim.printed else "holds"
        if verdict.result != expected:
            yield f"{claim.id}: {verdict.result}"


def test_the_kept_verdicts_are_of_the_claims_as_they_are():
    assert list(differences(CLAIMS, VERDICTS)) == []
    assert fingerprint(CLAIMS) == MADE.claims


def test_they_say_when_and_from_which_sources_they_were_made():
    assert datetime.fromisoformat(MADE.date).tzinfo is not None
    assert re.fullmatch("[0-9a-f]{40}", MADE.commit), "commit the sources, then run make ledger"
    assert MADE.version == VERSION


def test_the_page_is_what_the_kept_verdicts_make_it():
    assert page(KEPT) == LEDGER


def test_the_page_shows_each_verdict_as_it_was_given():
    rows = dict(re.findall(r"^\| ([\w.-]+) \| .* \| (.*) \|$", LEDGER, re.MULTILINE))
    for verdict in VERDICTS:
        shown = rows[verdict.id]
        assert shown == (
            f"{verdict.outcome}: {verdict.reason}" if verdict.printed else verdict.outcome
        )
    assert all(question in LEDGER for question, _ in CHOICES)
    for fact in (MADE.date, MADE.commit, MADE.version, MADE.claims):
        assert fact in LEDGER


@pytest.mark.parametrize(
    "claim",
    [
        one
        for one in CLAIMS
        if not one.has_own_size and one.id in FEW and one.id != "RAP-TH2.any.printed"
    ],
    ids=lambda claim: claim.id,
)
def test_a_claim_verified_again_gets_the_kept_verdict(claim):
    (kept,) = (verdict for verdict in VERDICTS if verdict.id == claim.id)
    assert from_json(to_json([verify_claim(claim, points=POINTS)])) == [kept]


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"id": "SMM-E2"}, "the ids"),
        ({"statement": "T = 6"}, "what SMM-E1.DMM says"),
        ({"printed": True}, "what SMM-E1.DMM says"),
        ({"cases": 2}, "the number of cases of SMM-E1.DMM"),
        ({"result": "fails"}, "SMM-E1.DMM: fails"),
        ({"result": "refuted"}, "SMM-E1.DMM: refuted"),
        ({"left_out": "n=4096"}, "the cases of SMM-E1.DMM of its paper's own size"),
    ],
)
def test_a_verdict_that_is_not_the_claims_is_seen(change, difference):
    claim, verdict = CLAIMS[0], VERDICTS[0]
    assert claim.id == verdict.id == "SMM-E1.DMM"
    assert difference in differences([claim], [replace(verdict, **change)])


def test_a_missing_verdict_is_seen():
    assert list(differences(CLAIMS[:2], VERDICTS[:1])) == ["the ids"]


@pytest.mark.parametrize("papers", [True, False], ids=["the papers", "the field"])
def test_the_page_of_claims_names_the_steepest_bounds_that_hold(papers):
    """Their numbers are those of the kept verdicts, and the limit is above them."""
    text = " ".join((DOCS / "claims.md").read_text(encoding="utf-8").split())
    found = []
    for verdict in VERDICTS:
        family = verdict.id.partition("-")[0]
        if verdict.result != "holds" or not verdict.growth:
            continue
        if (family in ("SMM", "CFP", "ICPP", "IEICE", "RAP")) == papers:
            numbers = re.fullmatch(
                r"least constant (\S+) for (\w+) <= (\d+), (\S+) for \w+ <= (\d+): like \w+\^(\S+)",
                verdict.growth,
            )
            found.append((float(numbers[6]), verdict.id, numbers.groups()))
    power, id_, (least, along, half, most, size, shown) = max(found)
    assert power < POWER
    range_ = f"from {least} for {along} ≤ {half} to {most} for {along} ≤ {size}."
    assert f"{id_} with {along}^{shown}, {range_}" in text


def test_the_pages_count_claims_and_misprints_as_they_are():
    """Several claims may show one misprint."""
    right = [claim for claim in CLAIMS if not claim.printed]
    exact = sum(claim.kind == "exact" for claim in right)
    misprints = [claim.misprint or claim.id for claim in CLAIMS if claim.printed]
    readme, index, page_of_claims = (
        " ".join((DOCS / name).read_text(encoding="utf-8").split())
        for name in ("../README.md", "index.md", "claims.md")
    )
    number = len(set(misprints))
    for text in (
        f"{len(right)} claims, {exact} exact and {len(right) - exact} bounds,",
        f"confirms {number} misprints",
    ):
        assert text in readme
    assert f"{exact} exact claims, {len(right) - exact} bounds and {number} misprints" in index
    for text in (
        f"{number} misprints are confirmed, in {len(misprints)} places",
        f"{exact} exact claims and {len(right) - exact} bounds besides",
    ):
        assert text in page_of_claims
