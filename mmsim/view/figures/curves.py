"""Curves drawn with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mmsim.printable import printable
from mmsim.results.curve import Curve
from mmsim.view.figures.alt_text import alt_text
from mmsim.view.figures.files import as_svg
from mmsim.view.figures.paper import drawing, marks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, HEIGHT = 4.4, 2.9
"""The size, in inches, of a figure in a page of text."""


def draw_curve(curve: Curve, axes: Axes | None = None) -> Axes:
    """Draw a curve; measured and claimed points differ in marker, not only in colour.

    Returns the axes, new ones if none are given.
    """
    with drawing(axes, WIDTH, HEIGHT) as drawn:
        for number, series in enumerate(curve.series):
            drawn.plot(
                series.x,
                series.y,
                **marks(number),
                label=printable(series.name),
            )
        drawn.set_title(printable(curve.title))
        drawn.set_xlabel(printable(curve.x_label))
        drawn.set_ylabel(printable(curve.y_label))
        drawn.grid(alpha=0.3)
        drawn.legend(frameon=False)
    return drawn


def curve_svg(curve: Curve) -> str:
    """Return a curve as an SVG element for HTML. Text stays text, and the page fetches nothing."""
    figure: Any = draw_curve(curve).figure
    text = as_svg(figure, letters="none", salt=curve.title, title=alt_text(figure))
    return text[text.index("<svg") :]
