"""The page of proofs is made from the kept outcomes, which are those of the claims.

`make proofs` makes both anew: it proves every claim.
"""

from dataclasses import replace
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from mmsim.claims.claim import Precondition
from mmsim.errors import FormatError
from mmsim.host import plugins
from mmsim.proof.kept import digest, from_json, kept_outcomes
from mmsim.proof.prove import prove
from mmsim.proof.shown import opening
from mmsim_algorithms import claims
from mmsim_algorithms.reports.proofs import page
from mmsim_algorithms.transpose import straightforward

ROOT = Path(__file__).parents[2]
KEPT = (ROOT / "algorithms" / "proofs.json").read_text(encoding="utf-8")
_, PROOFS = from_json(KEPT)


def test_the_page_is_made_from_the_kept_outcomes():
    assert (ROOT / "docs" / "proofs.md").read_text(encoding="utf-8") == page(KEPT)


def test_the_outcomes_are_those_of_the_claims():
    known = claims()
    assert [one.claim for one in PROOFS] == [claim.id for claim in known]
    for claim, one in zip(known, PROOFS, strict=True):
        assert one.checked == len(claim.cases())
        assert one.against is None
        assert bool(one.why) != one.proved, claim.id


def test_what_is_proved_can_be_opened():
    opened = [one for one in PROOFS if one.proved and not one.covered]
    assert len(opened) > 100
    for one in opened:
        assert one.shown.startswith(f"{one.claim}, "), one.claim
        assert "\nCase 1." in one.shown, one.claim
        assert one.shown.endswith("\n  The difference is 0"), one.claim


KNOWN = {claim.id: claim for claim in claims()}
CLAIM = KNOWN["SMM-L5.1"]


def test_an_outcome_counts_for_the_claim_as_it_was_only():
    (known,) = kept_outcomes([CLAIM]).values()
    assert known.known == "proved for each w up to 64"
    assert known.shown == opening(CLAIM, [4], float("inf"))
    more = Precondition("n > 4", lambda n: n > 4)
    for other in (
        {"formula": lambda n, p, w, l: 2 * n / p * (p / w + l)},
        {"requires": (*CLAIM.requires, more)},
        {"measure": lambda run: run.stages},
        {"launches": partial(CLAIM.launches.func, straightforward)},
        {"id": "SMM-L5.1.printed"},
    ):
        assert kept_outcomes([replace(CLAIM, **other)]) == {}, other
    assert kept_outcomes([replace(CLAIM, title="another")]) != {}
    assert known.digest == digest(CLAIM)


def test_a_width_without_a_case_is_no_proof():
    """The width of this claim is a power of two. Its domain is empty at 3, whatever the formula."""
    claim = KNOWN["SUM-tree"]
    assert prove(claim, [3, 4]).widths == [4]
    wrong = prove(replace(claim, formula=lambda n: n), [3, 4])
    assert (wrong.widths, wrong.known) == ([], "")


def test_a_package_may_keep_outcomes(tmp_path, monkeypatch):
    folder = tmp_path / "has_claims"
    folder.mkdir()
    (folder / "__init__.py").write_text("raise ImportError")  # it isn't imported for that
    (folder / "proofs.json").write_text(KEPT)
    monkeypatch.syspath_prepend(tmp_path)
    points = [
        EntryPoint(name, value, "mmsim.algorithms")
        for name, value in (("a", "has_claims.part:claims"), ("b", "absent:claims"))
    ]
    monkeypatch.setattr(plugins, "entry_points", lambda group: points)
    assert list(kept_outcomes([CLAIM])) == ["SMM-L5.1"]
    (folder / "proofs.json").write_text("{")
    with pytest.raises(FormatError, match="these are not proofs"):
        kept_outcomes([CLAIM])
