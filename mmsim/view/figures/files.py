"""Figures as files, the same bytes for the same figure, and in words for who doesn't see them."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import numpy as np

from mmsim.printable import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def alt_text(figure: Figure) -> str:
    """Return a figure's description: that of its axes, else the first and last of its points.

    >>> from matplotlib.figure import Figure
    >>> axes = Figure().subplots()
    >>> _ = axes.plot([1, 2, 4], [5, 7, 6], label="$n/w$")
    >>> _ = axes.set(xlabel="n", ylabel="time units")
    >>> alt_text(axes.figure)
    'time units against n: n/w is 5 at 1, 6 at 4'
    """
    parts = [
        str(axes.get_label()) or _plotted(axes)
        for axes in figure.axes
        if axes.get_label() != "<colorbar>"
    ]
    return plain(". ".join(filter(None, parts)))


def _plotted(axes: Axes) -> str:
    named = " against ".join(filter(None, (axes.get_ylabel(), axes.get_xlabel())))
    about = ", ".join(filter(None, (axes.get_title(), named)))
    return ": ".join(filter(None, (about, "; ".join(_series(axes)))))


def _series(axes: Axes) -> Iterator[str]:
    for line in axes.get_lines():
        points = np.asarray(line.get_xydata())
        name = str(line.get_label())
        if len(points) and not name.startswith("_"):
            ends = points[:: max(1, len(points) - 1)][:2]
            yield f"{name} is {', '.join(f'{y:g} at {x:g}' for x, y in ends)}"


def plain(text: str) -> str:
    r"""Text of a figure without the marks of mathematics, and in one line.

    >>> plain("$\\gcd(s, w)$,\na \\$")
    'gcd(s, w), a $'
    """
    without = re.sub(r"(?<!\\)\$|\\(?=[a-zA-Z$])|[{}]", "", text)
    return printable(" ".join(without.split()))


def as_svg(
    figure: Figure,
    letters: Literal["none", "path"] = "path",
    salt: str = "mmsim",
    title: str | None = None,
) -> str:
    """A figure as SVG, the same text for the same figure.

    Text is drawn as curves ("path"), which look the same everywhere, or stays text ("none").
    Figures of one page need different salts, which make their names differ. The title is not
    visible; it describes the figure.
    """
    import matplotlib

    target = io.StringIO()
    about = {} if title is None else {"Title": title}
    with matplotlib.rc_context({"svg.fonttype": letters, "svg.hashsalt": salt}):
        figure.savefig(target, format="svg", metadata={"Date": None, **about})
    return target.getvalue()
