"""Claims that are curves: their data, and how the page of verdicts draws them."""

import re

import numpy as np

import mmsim as mm
from mmsim.claims import Curve, Series
from mmsim.view.figures.paper import COLOURS, LETTERS
from mmsim.view.figures.times import curve_svg, draw_curve
from mmsim_algorithms.dmm_permutation.many_arrays_claims import figure_7
from mmsim_algorithms.gpu.plots import predicted_against_measured, svg


def test_figure_7_is_flat_up_to_the_number_of_dmms_and_then_proportional():
    line = figure_7().series[0]
    assert line.x == tuple(range(1, 13))
    assert line.y == (32,) * 4 + (64,) * 4 + (96,) * 4  # 4 ceil(k/4) n/w, n/w = 8, l = 1


def test_a_curve_is_drawn_with_its_names_and_nothing_from_outside():
    curve = Curve("a < b", "w", "stages", (Series("x & y", (1, 2), (3, 4)),))
    axes = draw_curve(curve)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("w", "stages")
    svg = curve_svg(curve)
    assert svg.startswith("<svg")
    assert "x &amp; y" in svg
    assert "a &lt; b" in svg
    assert svg == curve_svg(curve)


def test_what_stands_next_to_the_figures_of_runs_looks_like_them():
    @mm.program
    def read(T, a):
        a[T.id]

    run = mm.DMM(4, 3).run(read, np.arange(8), threads=8)
    curve = Curve("a", "w", "stages", (Series("b", (1, 2), (3, 4)),))
    rows = [{"algorithm": "copy", "measured": 100.0, "predicted": 98.0}]
    for axes in (run.plot(), draw_curve(curve), predicted_against_measured(rows)):
        words = (axes.title, axes.xaxis.label, axes.yaxis.label, *axes.get_legend().get_texts())
        ticks = [
            tick.label1 for tick in (*axes.xaxis.get_major_ticks(), *axes.yaxis.get_major_ticks())
        ]
        assert {text.get_fontsize() for text in (*words, *ticks)} == {LETTERS}
        assert {spine.get_linewidth() for spine in axes.spines.values()} == {0.6}
    assert {line.get_color() for line in draw_curve(curve).lines} <= set(COLOURS)


def test_letters_are_text_in_a_page_and_curves_in_a_file():
    curve = Curve("a title", "w", "stages", (Series("b", (1, 2), (3, 4)),))
    assert re.search(r"<text[^>]*>a title</text>", curve_svg(curve))
    drawn = svg(lambda figure: figure.subplots().set_title("a title"))
    assert "<text" not in drawn
    assert drawn == svg(lambda figure: figure.subplots().set_title("a title"))
