"""The pictures on the pages of the field's algorithms: for each page and for sections."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from mmsim.claims import ClaimError
from mmsim_algorithms.drawings import measured
from mmsim_algorithms.drawings.families import HISTOGRAM, PICTURES
from mmsim_algorithms.drawings.measured import Parts, Times, Way, cases
from mmsim_algorithms.drawings.sections import EVERY_PICTURE
from tests.kit.views.legible import faults

PAGES = Path(__file__).parents[2] / "docs" / "algorithms"

each = pytest.mark.parametrize("picture", EVERY_PICTURE, ids=lambda picture: picture.name)
QUICK = {"histogram", "fragments", "sum-models"}
"""Pages whose pictures take a moment; the long tests and `make docs` draw the others, too."""
each_drawn = pytest.mark.parametrize(
    "picture",
    [
        pytest.param(one, id=one.name, marks=() if one.name in QUICK else pytest.mark.long)
        for one in EVERY_PICTURE
    ],
)


@cache
def drawn(picture):
    return picture.draw()


def test_every_page_has_a_place_for_its_pictures():
    pages = {path.stem: path.read_text(encoding="utf-8") for path in PAGES.glob("*.md")}
    assert sorted(one.page for one in PICTURES) == sorted(pages.keys() - {"index"})
    for name, text in pages.items():
        marks = [line for line in text.splitlines() if line.startswith("<!-- picture")]
        assert sorted(marks) == sorted(one.mark for one in EVERY_PICTURE if one.page == name)


@each_drawn
def test_it_can_be_read(picture):
    assert list(faults(drawn(picture))) == []
    assert len(picture.alt) > 30
    assert picture.caption.endswith(".")


@each
def test_it_is_of_claims_that_its_page_names(picture):
    text = (PAGES / f"{picture.page}.md").read_text(encoding="utf-8")
    for panel in picture.panels:
        named = [panel.claim] if isinstance(panel, Parts) else [way.claim for way in panel.ways]
        for claim in named:
            assert claim in text


@each_drawn
def test_it_shows_what_runs_measure_and_claims_say(picture):
    for panel, axes in zip(picture.panels, drawn(picture).axes, strict=True):
        assert axes.get_xlabel() == panel.over
        if isinstance(panel, Parts):
            assert len(axes.collections) == len(panel.parts)
            continue
        lines = iter(axes.get_lines())
        for way in panel.ways:
            claim = measured.claim_of(way.claim)
            least = claim.measure(claim.run(schedule="synchronous", **way.cases[0]))
            claimed = [int(claim.evaluate(case)) for case in way.cases]
            if claim.kind == "exact" or way.name:
                x, shown = next(lines).get_data()
                assert list(x) == [case[panel.over] for case in way.cases]
                assert shown[0] == least
            if claim.kind == "exact":
                assert list(shown) == claimed
                continue
            assert [int(y) for y in next(lines).get_ydata()] == claimed
            if way.name:
                assert all(one < bound for one, bound in zip(shown, claimed, strict=True))
            assert claim.agrees(least, claimed[0])
        assert list(lines) == []


def test_a_claim_that_fails_is_not_drawn(monkeypatch):
    right = measured.claim_of("HIST-atomic")
    wrong = replace(right, formula=lambda n, p, w, l, k: right.formula(n, p, w, l, k) + k // 32)
    assert HISTOGRAM.panels[0].ways[0].claim == wrong.id
    monkeypatch.setitem(measured.every_claim(), wrong.id, wrong)
    with pytest.raises(ClaimError, match=r"HIST-atomic: n=1024, .*k=32 took 1064"):
        HISTOGRAM.draw()


def test_a_case_that_a_claim_excludes_is_not_drawn():
    odd = Times((Way("tree", "SUM-tree", cases("n", (48,), on="DMM", p=16, w=4, l=1)),))
    with pytest.raises(ClaimError, match="breaks 'n, p and w are powers of two'"):
        replace(HISTOGRAM, panels=(odd,)).draw()


def test_parts_that_are_not_the_whole_are_not_drawn():
    some = cases("n", (16, 32), on="DMM", p=8, w=4, l=1)
    parts = Parts("SUM-tree", some, {"n/w": lambda n, w: 3 * n / w})
    with pytest.raises(ClaimError, match=r"SUM-tree: the parts are 12\.0, not 15: n=16"):
        replace(HISTOGRAM, panels=(parts,)).draw()
