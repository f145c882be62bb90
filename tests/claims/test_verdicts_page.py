"""The page of `mmsim verify --html` in a real Chromium: every verdict is in sight."""

import re
from pathlib import Path

import pytest

from mmsim.claims.registry import paper_names
from mmsim.claims.verify import from_json
from mmsim.proof.kept import from_json as proofs_from_json
from mmsim.reports.verdicts import verdicts_page, with_proofs
from tests.kit.views import axe

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "docs" / "verdicts.json"
PROOFS = {
    one.claim: one
    for one in proofs_from_json((ROOT / "algorithms" / "proofs.json").read_text("utf-8"))[1]
}
SEEN = """() => [...document.querySelectorAll("tbody tr")].map(row => {
  const cell = row.querySelector(".verdict"), range = document.createRange()
  range.selectNodeContents(cell)
  const text = range.getBoundingClientRect(), claim = row.getBoundingClientRect()
  return [row.id, cell.innerText, text.left, text.right, text.top - claim.top]
})"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The page of all claims: the longest formulas and the longest cases are among them."""
    kept = from_json(KEPT.read_text("utf-8"))
    verdicts = with_proofs((one for one in kept if one.curve is None), PROOFS)
    page = tmp_path_factory.mktemp("page") / "verify.html"
    page.write_text(verdicts_page(verdicts, paper_names(), PROOFS), encoding="utf-8")
    return page.as_uri(), {one.id: one.outcome for one in verdicts}


@pytest.mark.parametrize("width", [1280, 390])
def test_every_verdict_is_in_sight_without_scrolling_sideways(new_page, address, width):
    url, results = address
    shown = new_page(viewport={"width": width, "height": 800})
    shown.goto(url)
    rows = shown.evaluate(SEEN)
    assert {id_: result for id_, result, *_ in rows} == results
    headings = shown.locator("h2").all_inner_texts()
    assert len(headings) > 5
    assert [heading for heading in headings if not re.fullmatch(r"[A-Z]+ \(.+\)", heading)] == []
    assert [row for row in rows if row[2] < 0 or row[3] > width] == []
    assert [row for row in rows if not 0 <= row[4] <= 20] == []  # next to the claim's name
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    cut = shown.evaluate(
        """() => [...document.querySelectorAll("th, td")]
          .filter(cell => cell.offsetParent && cell.scrollWidth > cell.clientWidth + 1)
          .map(cell => cell.innerText)"""
    )
    assert cut == []  # a formula that is longer than its column scrolls within it
    proof = shown.locator("[id='proof-SMM-L5.1'] pre")
    assert not proof.is_visible()
    shown.locator("[id='SMM-L5.1']").get_by_text("proved for each w up to 64").click()
    proof.get_by_text("The difference is 0").wait_for(timeout=5000)
    assert shown.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_barrier(new_page, scheme):
    """Verdicts of each kind of claim, with and without a curve."""
    every = from_json(KEPT.read_text("utf-8"))
    kinds = {(one.kind, one.result, one.curve is None): one for one in every}
    assert len(kinds) > 4
    script = axe.needed()
    shown = new_page(color_scheme=scheme)
    verdicts = with_proofs(kinds.values(), PROOFS)
    assert any(one.proof for one in verdicts)
    shown.set_content(verdicts_page(verdicts, paper_names(), PROOFS))
    assert axe.violations(shown, script) == []
