"""Figures show themselves in notebooks, and say what is seen in them."""

import base64
import re
from html import unescape

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

import mmsim as mm
from mmsim.claims import Claim
from mmsim.claims.claim import Curve, Series
from mmsim.claims.fit import fit_numbers
from mmsim.view.figures.files import alt_text
from mmsim.view.figures.paper import DARK_FIRST, MOST
from mmsim.view.figures.times import curve_svg, draw_curve
from mmsim.view.tables import CODE


@mm.program
def stride(T, a, s):
    a[T.id * s % len(a)]


def strided(s, machine=None, threads=8, **options):
    return (machine or mm.DMM(4, 3)).run(stride, np.zeros(64), s, threads=threads, **options)


RUN = strided(2, trace=True)
FIT = fit_numbers([{"n": n} for n in range(1, 9)], [3 * n * n + n for n in range(1, 9)])
TILE = mm.conflicts("(32,32):(32,1)", lambda thread, value: (thread, value))
FIGURES = {
    "plot": (
        lambda **axes: RUN.plot(**axes),
        "3 pipeline registers of DMM(width=4, latency=3) from time 0 to 6: W(0) sends 2 stages to "
        "memory at time 0; W(1) sends 2 stages to memory at time 2",
    ),
    "access": (
        lambda **axes: mm.figures.access(RUN, 1, **axes),
        "4 banks of memory: W(1) asks for 8, 10, 12, 14 in 2 stages",
    ),
    "access of groups": (
        lambda **axes: mm.figures.access(strided(2, mm.UMM(4, 3), trace=True), 1, **axes),
        "address groups of 4 words of memory: W(1) asks for 8, 10, 12, 14 in 2 stages",
    ),
    "warps": (
        lambda **axes: mm.figures.warps(RUN, **axes),
        "what 2 warps of stride did from time 0 to 6, time units of all warps together: sending 4; "
        "latency 4; turn 2; round 2",
    ),
    "banks": (
        lambda **axes: mm.figures.banks(RUN, over="round", **axes),
        "words that memory served over 1 round, at most 4 of a bank at a time: bank 0: 4; "
        "bank 1: 0; bank 2: 4; bank 3: 0",
    ),
    "rounds": (
        lambda **axes: mm.figures.rounds(RUN, **axes),
        "stages of each round of stride: round 0: 4, 2 of them wasted",
    ),
    "lines": (
        lambda **axes: mm.figures.lines(RUN, **axes),
        f"stages of each line of stride: line {RUN.accesses[0].line}: 4, 2 of them wasted",
    ),
    "conflicts": (
        lambda **axes: TILE.plot(**axes),
        "words that one request wants of 32 banks, 32 stages, 1 at best: phase 0: 32 threads want "
        "several words of 1 bank",
    ),
    "layout": (
        lambda **axes: mm.layout.Padded(1).plot((2, 4), banks=4, **axes),
        "tile of 2 × 4 elements, each in the colour of its bank: row 0 begins in banks 0, 1, 2, 3; "
        "row 1 begins in banks 1, 2, 3, 0",
    ),
    "times": (
        lambda **axes: mm.figures.times(
            [1, 2], [3, 4], lambda s: s + 2, symbol="s", name="$s + l$", **axes
        ),
        "time units against s: simulated is 3 at 1, 4 at 2; s + l is 3 at 1, 4 at 2",
    ),
    "sweep": (
        lambda **axes: mm.figures.sweep([{"w": w, "time": 64 // w} for w in (4, 8)], "w", **axes),
        "time units against w: simulated is 16 at 4, 8 at 8",
    ),
    "formulas": (
        lambda **axes: mm.figures.formulas({"naive": FIT}, "n", (2, 4), **axes),
        "time units against n: naive: T = 3*n^2 + n is 14 at 2, 52 at 4",
    ),
    "terms": (
        lambda **axes: mm.figures.terms(FIT, "n", (1, 3), **axes),
        "share of the time against n, from 1 to 3: 3*n^2 from 75% to 90%; n from 25% to 10%",
    ),
}


@pytest.mark.parametrize("name", FIGURES)
def test_axes_show_the_figure_with_what_is_seen(name):
    draw, text = FIGURES[name]
    assert alt_text(draw().figure) == text
    svg, html = draw()._repr_svg_(), draw()._repr_html_()
    assert svg == draw().figure._repr_svg_()
    assert unescape(re.search("<title>(.*?)</title>", svg)[1]) == text
    (alt, picture) = re.fullmatch(
        '<img alt="(.*)" src="data:image/svg.xml;base64,(.*)">', html
    ).groups()
    assert unescape(alt) == text
    assert base64.b64decode(picture).decode() == svg


def test_a_figure_is_not_drawn_twice():
    """IPython shows the figures of pyplot of its own accord at the end of a cell."""
    before = pyplot.get_fignums()
    for draw, _ in FIGURES.values():
        draw()
    assert pyplot.get_fignums() == before
    own = Figure().subplots()  # the user's, which is shown as any other of Matplotlib's
    assert FIGURES["rounds"][0](axes=own) is own
    assert not hasattr(own, "_repr_svg_")
    assert not hasattr(own, "_repr_html_")
    assert "round 0: 4" in alt_text(own.figure)


def test_parts_of_a_figure_are_described_in_order():
    text = alt_text(mm.compare(RUN, strided(1, trace=True), names=["two", "one"]).plot())
    assert re.fullmatch(
        "two: what 2 warps .* sending 4; .*. one: what 2 warps .* sending 2; .*", text
    )


def test_of_many_parts_the_first_ones_are_described():
    text = alt_text(mm.figures.banks(strided(1, mm.UMM(4, 3), 64, trace=True)).figure)
    assert text.endswith(f"address group {MOST - 1}: 4; and 8 more")


def test_a_converted_notebook_has_the_text_and_monospaced_code():
    nbformat = pytest.importorskip("nbformat", reason="the notebooks' tools aren't installed")
    nbconvert = pytest.importorskip("nbconvert", reason="the notebooks' tools aren't installed")
    from IPython.core.formatters import DisplayFormatter

    shown = [DisplayFormatter().format(one)[0] for one in (RUN.plot(), RUN.profile(), RUN.rounds)]
    outputs = [nbformat.v4.new_output("display_data", data=data) for data in shown]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("", outputs=outputs)])
    page, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    assert "No description" not in page
    assert f'alt="{FIGURES["plot"][1]}"' in page
    assert f'<pre style="{CODE}">    a[T.id * s' in page
    assert page.count("<table") == 2
    assert "RoundRow(" not in page


def test_code_in_a_notebook_is_monospaced_and_titles_stand_above_their_columns(browser):
    """With the style sheet of JupyterLab, which sets both otherwise."""
    nbformat = pytest.importorskip("nbformat", reason="the notebooks' tools aren't installed")
    nbconvert = pytest.importorskip("nbconvert", reason="the notebooks' tools aren't installed")
    output = nbformat.v4.new_output("display_data", data={"text/html": RUN.profile()._repr_html_()})
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("", outputs=[output])])
    page = browser.new_page()
    page.route(re.compile("^https?:"), lambda route: route.abort())
    page.set_content(nbconvert.HTMLExporter().from_notebook_node(notebook)[0], wait_until="commit")
    page.wait_for_selector("td pre")
    wide = page.locator("td pre").first.evaluate(
        """pre => ["i", "M"].map(letter => {
            const text = document.createElement("span");
            text.textContent = letter.repeat(10);
            pre.append(text);
            return text.getBoundingClientRect().width;
        })"""
    )
    assert wide[0] == wide[1] > 0
    sides = "cells => cells.map(cell => getComputedStyle(cell).textAlign)"
    titles = page.locator("th").evaluate_all(sides)
    assert titles == page.locator("tr:nth-child(3) td").evaluate_all(sides)
    assert titles[-1] == "left"
    page.close()


def lines_by_label(axes):
    return {line.get_label(): line for line in axes.get_lines()}


def test_points_over_whole_numbers_are_marks_that_nothing_joins():
    strides = [1, 2, 3, 4]
    runs = [strided(s, threads=4) for s in strides]
    rows = [{"s": s, "time": run.time} for s, run in zip(strides, runs, strict=True)]
    series = (Series("read", (1, 2), (3, 4)), Series("claimed", (1, 2), (3, 4)))
    for axes in (
        mm.figures.times(strides, runs, lambda s: np.gcd(s, 4) + 2, symbol="s"),
        mm.figures.sweep(rows, "s"),
        draw_curve(Curve("X", "s", "stages", series)),
    ):
        every = axes.get_lines()
        assert every
        assert {line.get_linestyle() for line in every} == {"None"}
        shapes = {(one.get_marker(), one.get_fillstyle(), one.get_color()) for one in every}
        assert len(shapes) == len(every)
        assert all(one.get_markersize() >= 4 for one in every)


def test_a_curve_in_a_page_says_what_is_seen():
    svg = curve_svg(Curve("X", "s", "stages", (Series("read", (1, 2), (3, 4)),)))
    assert "<title>X, stages against s: read is 3 at 1, 4 at 2</title>" in svg


def bound(name, formula, kind):
    return Claim(name, "a paper", "reading", formula, kind, grid=list, run=None)


def test_bounds_differ_in_formula_dash_and_colour(monkeypatch):
    from mmsim_algorithms.drawings import measured

    known = {
        "A": bound("A", lambda n: 2 * n**2, "upper"),
        "B": bound("B", lambda n: 3 * n**2, "upper"),
        "C": bound("C", lambda n: n, "lower"),
        "D": bound("D", lambda n: n + 1, "exact"),
    }
    monkeypatch.setattr(measured, "claim_of", known.__getitem__)
    monkeypatch.setattr(measured, "confirmed", lambda claim, cases: [one["n"] + 1 for one in cases])
    cases = measured.cases("n", (2, 4, 8))
    ways = tuple(measured.Way(f"way {name}", name, cases) for name in known)
    axes = Figure().subplots()
    measured.Times(ways).draw(axes)
    lines = lines_by_label(axes)
    bounds = [lines[label] for label in ("T ≤ 2*n^2 (A)", "T ≤ 3*n^2 (B)", "T ≥ n (C)")]
    drawn = [line._dash_pattern for line in bounds]
    assert len({repr(one) for one in drawn}) == 3
    assert [line.get_color() for line in bounds] == list(DARK_FIRST[:3])
    for name, line in zip("ABC", bounds, strict=True):
        assert lines[f"way {name}"].get_color() == line.get_color()
        assert lines[f"way {name}"].get_linestyle() == "None"
    assert lines["way D (D)"].get_linestyle() == "-"


def test_the_formula_of_a_sweep_is_its_label():
    rows = [{"n": n, "time": 2 * n} for n in (8, 16)]
    lines = lines_by_label(mm.figures.sweep(rows, "n", bound("A", lambda n: 2 * n, "upper")))
    assert set(lines) == {"simulated", "A: T ≤ 2*n"}
    assert list(lines["A: T ≤ 2*n"].get_ydata()) == [16, 32]
