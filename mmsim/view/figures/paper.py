"""The size, fonts, colours and files of all figures.

Every figure that mmsim draws gets its axes from `drawing`, and its file from `save` or `as_svg`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mmsim.errors import LaunchError, MMSimError, shown
from mmsim.host.arguments import file_path, whole
from mmsim.host.guesses import advised
from mmsim.printable import printable
from mmsim.results import Run
from mmsim.view.palette import GREY, GRID, ink

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, FigureBase

COLUMN, PAGE = 3.3, 6.9
"""The width of a column and of a page, in inches."""

LETTERS = 7
"""The smallest font, in points."""

COLOURS = ("#56B4E9", "#E69F00", "#009E73", "#F0E442", "#CC79A7", "#D55E00", "#0072B2")
"""Okabe and Ito's colours, which the colour-blind can distinguish, for everything except warps."""

DARK_FIRST = tuple(COLOURS[number] for number in (6, 5, 2, 4, 1, 0, 3))
"""The same for points and lines on white."""

MARKERS = "osD^vP*X"
"""The markers of series: different colours have different markers."""

LEAST, WASTED = COLOURS[0], COLOURS[1]
HATCH = "////"
"""Marks waste, so that it shows without colour."""

STYLE: Any = {
    **dict.fromkeys(("font.size", "axes.labelsize", "axes.titlesize", "legend.fontsize"), LETTERS),
    "axes.linewidth": 0.6,
    "hatch.linewidth": 0.5,
    "lines.linewidth": 1.0,
}
"""Matplotlib's settings while a figure is drawn."""

DOTS = 300
"""Dots per inch of a .png, and of large maps in any file."""


SAVING: dict[str, dict[str, Any]] = {
    ".svg": {"metadata": {"Date": None}},
    ".pdf": {"metadata": {"CreationDate": None}},
    ".png": {},
}

MOST = 8
"""The most things of several that are named."""


@contextlib.contextmanager
def drawing(axes: Axes | None, width: float, height: float) -> Iterator[Axes]:
    """The axes to draw on, new ones if none are given, with fonts that fit a paper."""
    import matplotlib
    from matplotlib.axes import Axes

    from mmsim.view.figures.notebook import Figure

    if axes is not None and not isinstance(axes, Axes):
        raise LaunchError(f"axes must be Matplotlib's Axes, not {shown(axes)}")
    with matplotlib.rc_context(STYLE):
        if axes is None:
            axes = Figure(figsize=(width, height), layout="constrained").subplots()
        small_ticks(axes)
        yield axes


def small_ticks(axes: Axes) -> None:
    """Ticks that match the fonts."""
    axes.tick_params(labelsize=LETTERS, width=0.6, length=2.5)


def check_run(run: object) -> None:
    """Refuse to draw anything except a run."""
    if not isinstance(run, Run):
        raise LaunchError(f"this figure is drawn of a Run, as machine.run gives, not {shown(run)}")


def window(run: Run, start: int, end: int | None) -> tuple[int, int]:
    """The time units of a run to draw, up to and not including the second one."""
    whole("start", start, None)
    if end is not None:
        whole("end", end, None)
    last = run.time if end is None else min(end, run.time)
    if not 0 <= start < last:
        raise MMSimError(
            f"no time units from {shown(start)} to {shown(last)} in a run of {run.time}"
        )
    return start, last


def whole_numbers(axis: Any) -> None:
    """Let an axis have its ticks at whole numbers."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(nbins="auto", steps=[1, 2, 5, 10], integer=True))


def marks(number: int) -> dict[str, Any]:
    """The style of a series' points: different from other series, and not joined.

    The first series is filled and the others aren't, so that equal points show one in the other.
    """
    return {
        "linestyle": "none",
        "marker": MARKERS[number % len(MARKERS)],
        "markersize": 4 if number == 0 else 5.5,
        "fillstyle": "full" if number == 0 else "none",
        "color": DARK_FIRST[number % len(DARK_FIRST)],
    }


RING: Any = {
    "linestyle": "none",
    "marker": "o",
    "markersize": 7,
    "fillstyle": "none",
    "color": "black",
    "markeredgewidth": 0.8,
}
"""The style of a formula's values: a ring around a run that agrees. No line joins them: a formula
may not hold between them, as where w must divide n."""


def legend_above(axes: Axes, columns: int) -> None:
    """Draw a legend above the axes, where it hides nothing."""
    axes.legend(
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=columns,
        frameon=False,
        handlelength=1.4,
        columnspacing=1.2,
        borderaxespad=0.2,
    )


def describe(axes: Axes, what: str, parts: Iterable[str] = ()) -> None:
    """Describe axes that have no description yet; of many parts, name the first ones.

    >>> from matplotlib.figure import Figure
    >>> from mmsim.view.figures.files import alt_text
    >>> axes = Figure().subplots()
    >>> describe(axes, "stages of each round", [f"round {number}: 1" for number in range(9)])
    >>> alt_text(axes.figure)[:48], alt_text(axes.figure)[-22:]
    ('stages of each round: round 0: 1; round 1: 1; ro', 'round 7: 1; and 1 more')
    """
    named = list(parts)
    if len(named) > MOST:
        named[MOST:] = [f"and {len(named) - MOST} more"]
    if not axes.get_label():
        axes.set_label(f"{what}: {'; '.join(named)}" if named else what)


def wasting(stages: int, wasted: int) -> str:
    """So many stages, and how many of them are wasted, if any.

    >>> wasting(4, 0), wasting(4, 3)
    ('4', '4, 3 of them wasted')
    """
    return f"{stages}, {wasted} of them wasted" if wasted else str(stages)


def shortened(text: str, most: int) -> str:
    """Text of at most so many letters; "…" stands for the others.

    >>> shortened("matrix", 6), shortened("matrices", 6)
    ('matrix', 'matri…')
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def cell(
    axes: Axes, left: float, top: float, text: str, colour: str, spacing: float = 0, **style: Any
) -> None:
    """Draw a cell with a text in its middle; `style` has that of its rectangle."""
    from matplotlib.patches import Rectangle

    shape = {"facecolor": colour, "edgecolor": GRID, "linewidth": 0.5, **style}
    axes.add_patch(Rectangle((left, top), 1, 1, **shape))
    if text:
        shade = GREY if colour == "#FFFFFF" else ink(colour)
        middle: Any = {"ha": "center", "va": "center", "color": shade}
        middle |= {"linespacing": spacing} if spacing else {}
        axes.text(left + 0.5, top + 0.53, text, **middle)


def columns_above(axes: Axes, places: Sequence[float], names: Sequence[str]) -> None:
    """Name the columns of cells above them, and draw no ticks."""
    axes.set_xticks(places, names)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.tick_params(length=0)


def words(text: str) -> str:
    """Text for a figure: without mathematics and unprintable characters."""
    return printable(text).replace("$", r"\$")


@advised("mm.figures.save(axes, path)")
def save(axes: Axes | FigureBase, path: str | Path) -> None:
    """Save a figure, or the figure of axes, as .svg, .pdf or .png, by the file's name.

    Text stays text. The same figure gives the same file.

    >>> import numpy as np, mmsim as mm
    >>> @mm.program
    ... def read(T, a):
    ...     a[T.id]
    >>> run = mm.DMM(4, 3).run(read, np.arange(8), threads=8)
    >>> mm.figures.save(run.plot(), "read.docx")
    Traceback (most recent call last):
    mmsim.errors.MMSimError: read.docx: figures are saved as .svg, .pdf or .png
    """
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

    if not isinstance(axes, Axes | FigureBase):
        kind = type(axes).__name__
        advice = "mm.figures.save(axes, path)"
        if hasattr(axes, "plot"):
            advice = f"mm.figures.save({kind.lower()}.plot(), path)"
        elif hasattr(axes, "save"):
            advice = f"{kind.lower()}.save(path)"
        raise LaunchError(f"a figure or its Axes are saved, not a {kind}; write {advice}")
    path = file_path("path", path)
    check_suffix(path)
    figure: Any = axes.figure
    save_figure(figure.figure, path)  # the whole figure if this is a part of one


def save_figure(figure: Figure, path: Path) -> None:
    """`save` for a whole figure, to a file that `check_suffix` accepts."""
    import matplotlib

    options: Any = {"svg.fonttype": "none", "svg.hashsalt": "mmsim", "pdf.fonttype": 42}
    with matplotlib.rc_context(options):
        figure.savefig(path, dpi=DOTS, **SAVING[path.suffix.lower()])


def check_suffix(path: Path) -> None:
    """Refuse a file of a format other than those of figures."""
    if path.suffix.lower() not in SAVING:
        raise MMSimError(f"{path}: figures are saved as .svg, .pdf or .png")
