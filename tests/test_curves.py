"""Claims that are curves: their data, and how the page of verdicts draws them."""

from algorithms.many_arrays import figure_7
from mmsim.claims import Curve, Series
from mmsim.view.curves import curve_svg, draw_curve


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
