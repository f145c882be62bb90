"""Curves drawn with matplotlib."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from mmsim.claims.curve import Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = "osD^vP*X"


def draw_curve(curve: Curve, axes: Axes | None = None) -> Axes:
    """Draw a curve; measured and claimed lines are told apart by marker and dash, not only colour.

    Returns the axes, new ones if none are given.
    """
    if axes is None:
        from matplotlib.figure import Figure

        axes = Figure(figsize=(5.2, 3.4), layout="constrained").subplots()
    for number, series in enumerate(curve.series):
        axes.plot(
            series.x,
            series.y,
            marker=MARKERS[number % len(MARKERS)],
            linestyle=("-", "--", ":", "-.")[number % 4],
            markersize=4,
            label=series.name,
        )
    axes.set_title(curve.title)
    axes.set_xlabel(curve.x_label)
    axes.set_ylabel(curve.y_label)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    return axes


def curve_svg(curve: Curve) -> str:
    """A curve as an SVG element for an HTML page; text stays text, and nothing is fetched."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": curve.title}):
        figure = Figure(figsize=(5.2, 3.4), layout="constrained")
        draw_curve(curve, figure.subplots())
        target = io.StringIO()
        figure.savefig(target, format="svg", metadata={"Date": None})
    text = target.getvalue()
    return text[text.index("<svg") :]
