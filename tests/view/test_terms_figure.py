"""The terms of formulas, and formulas over each other, as figures."""

import pytest

import mmsim as mm
from mmsim.claims.fit import fit_numbers
from mmsim.errors import LaunchError, MMSimError
from mmsim.view.figures.files import alt_text

CASES = [{"n": n, "w": w, "l": l} for n in (16, 32, 64) for w in (2, 4, 8) for l in (1, 3, 4, 9)]


def found(formula):
    return fit_numbers(CASES, [formula(**case) for case in CASES])


GOOD = found(lambda n, w, l: n // w + 2 * l - 2)
NAIVE = found(lambda n, w, l: n * l)


def heights(area):
    """The upper and lower edges of an area at its first value."""
    points = area.get_paths()[0].vertices
    return sorted({round(y, 6) for x, y in points if x == points[:, 0].min()})


def test_terms_are_areas_of_their_shares():
    axes = mm.figures.terms(GOOD, "n", (16, 64, 256), w=4, l=6)
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert names == ["n/w", "2*l"]
    first, second = axes.collections
    assert heights(first)[-1] == pytest.approx(100 * 4 / (4 + 12))
    assert heights(second)[-1] == pytest.approx(100)
    assert axes.get_ylabel() == "share of the time without -2 (%)"
    assert axes.get_xlabel() == "n"
    assert first.get_hatch() != second.get_hatch()


def test_shares_are_of_the_time_only_if_all_terms_are_drawn():
    """Of n - l = 20 time units at n = 21 the term n is not 100%, and so it doesn't say so."""
    whole, rest = (found(lambda n, w, l, by=by: n + by * l) for by in (1, -1))
    for fit, said in ((whole, "the time"), (rest, "the time without -l")):
        axes = mm.figures.terms(fit, "n", (21, 42), w=4, l=1)
        assert axes.get_ylabel() == f"share of {said} (%)"
        assert alt_text(axes.figure).startswith(f"share of {said} against n, from 21 to 42: ")


def test_formulas_lie_over_each_other():
    axes = mm.figures.formulas({"naive": NAIVE, "good": GOOD}, "n", (16, 64), w=4, l=6)
    assert [[int(y) for y in line.get_ydata()] for line in axes.lines] == [[96, 384], [14, 26]]
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert texts == ["naive: T = l*n", "good: T = n/w + 2*l - 2"]


def test_what_can_not_be_drawn_is_refused():
    with pytest.raises(MMSimError, match="the formula has the parameters l, w, too; give them"):
        mm.figures.terms(GOOD, "n", (16, 64))
    with pytest.raises(MMSimError, match="at least two values of n"):
        mm.figures.terms(GOOD, "n", (16,), w=4, l=1)
    with pytest.raises(LaunchError, match=r"drawn of what mmsim\.fit found, not of 3"):
        mm.figures.formulas({"three": 3}, "n", (16, 64))
    with pytest.raises(LaunchError, match="a dictionary of names and fits"):
        mm.figures.formulas([GOOD], "n", (16, 64))
    with pytest.raises(MMSimError, match="no term of this formula has a positive"):
        mm.figures.terms(found(lambda n, w, l: -l), "l", (1, 2))
