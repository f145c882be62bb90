"""Arrays and matrices drawn as cells, as in most of the papers' figures.

A sheet is as wide as its contents. Lengths are counted in cells, from the left and from the top.
Panels stand on the sheet, with arrows between them. Colour and hatch show a cell's kind, and the
cell's text names it, so that nothing depends on colour alone.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from mmsim.view.figures.paper import COLOURS, LETTERS, drawing
from mmsim.view.palette import ink

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CELL = 0.34
"""The side of a cell in inches: "(3,3)" fits in 7 points, and so do two lines."""

PLAIN = "#FFFFFF"
LINE = "#555555"
HATCHES = ("", "////", "----", "\\\\\\\\", "||||", "xxxx", "++++")
"""Each with the colour of the same number."""

LINE_OF_TEXT = 0.42
"""The height of a line of text, in cells."""

Labels = Sequence[Sequence[Any]] | npt.NDArray[Any]


@contextlib.contextmanager
def sheet(width: float, height: float) -> Iterator[Axes]:
    """An empty sheet, so many cells wide and high; (0, 0) is its upper left corner.

    >>> with sheet(4, 2) as axes:
    ...     cells(axes, "a", 0, 0, [["x", "y"]])
    >>> [text.get_text() for text in axes.texts]
    ['x', 'y']
    """
    with drawing(None, width * CELL, height * CELL) as axes:
        axes.set(xlim=(0, width), ylim=(height, 0), aspect="equal")
        axes.set_axis_off()
        yield axes


def whole(axes: Axes) -> Figure:
    """The figure of these axes, for a `Drawing` to return."""
    figure: Any = axes.figure
    root: Figure = figure.figure
    return root


def cells(
    axes: Axes,
    name: str,
    left: float,
    top: float,
    labels: Labels,
    *,
    kinds: Labels | None = None,
    title: str = "",
    caption: str = "",
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
) -> None:
    """Draw a matrix of cells, its upper left corner at (left, top).

    Parameters
    ----------
    name
        Of the array; the text in cell (i, j) has the mark `name-i-j`, by which tests find it.
    labels
        The text in each cell, row by row; "" leaves it empty.
    kinds
        The kind of each cell, a whole number; it gives the colour and the hatch; -1 is plain.
    title, caption
        Above and below the cells.
    rows, columns
        The names of the rows, on the left, and of the columns, above.
    """
    from matplotlib.patches import Rectangle

    height, width = len(labels), len(labels[0])
    for i, row in enumerate(labels):
        for j, label in enumerate(row):
            kind = -1 if kinds is None else int(kinds[i][j])
            colour, hatch = look(kind)
            cell = Rectangle((left + j, top + i), 1, 1, facecolor=colour, edgecolor=LINE)
            cell.set(linewidth=0.5, hatch=hatch)
            axes.add_patch(cell)
            if str(label):
                middle = (left + j + 0.5, top + i + 0.52)
                text = write(axes, *middle, str(label), colour=ink(colour), gid=f"{name}-{i}-{j}")
                if hatch:  # so that the lines do not cross the letters
                    text.set_bbox({"facecolor": colour, "edgecolor": "none", "pad": 0.6})
    for i, text_ in enumerate(rows):
        write(axes, left - 0.15, top + i + 0.52, text_, align="right")
    for j, text_ in enumerate(columns):
        write(axes, left + j + 0.5, top - 0.3, text_)
    above = 0.3 + (LINE_OF_TEXT + 0.1) * bool(columns)
    if title:
        write(axes, left + width / 2, top - above, title)
    if caption:
        write(axes, left + width / 2, top + height + 0.4, caption)


def look(kind: int) -> tuple[str, str]:
    """The colour and the hatch of a kind."""
    if kind < 0:
        return PLAIN, ""
    return COLOURS[kind % len(COLOURS)], HATCHES[kind % len(HATCHES)]


def arrow(
    axes: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    words: str = "",
    *,
    below: str = "",
) -> None:
    """Draw an arrow between two points, with words above its middle and below it."""
    line = {"arrowstyle": "-|>", "color": "black", "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, start, arrowprops={**line, "mutation_scale": 7})
    x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
    if words:
        write(axes, x, y - 0.35 - LINE_OF_TEXT / 2 * words.count("\n"), words)
    if below:
        write(axes, x, y + 0.35 + LINE_OF_TEXT / 2 * below.count("\n"), below)


def write(
    axes: Axes,
    x: float,
    y: float,
    words: str,
    *,
    align: str = "center",
    colour: str = "black",
    gid: str | None = None,
) -> Any:
    """Write words at a point of the sheet; returns Matplotlib's `Text`."""
    return axes.text(
        x,
        y,
        words,
        ha=align,
        va="center",
        color=colour,
        fontsize=LETTERS,
        linespacing=1.05,
        gid=gid,
    )
