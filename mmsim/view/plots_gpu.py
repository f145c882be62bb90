"""What a GPU measured beside what the model predicted, drawn with matplotlib.

Each function takes rows of an experiment (`mmsim.gpu.record.Record.rows`) and returns the axes.
What is told apart by colour is also told apart by marker, and the colours are those that
colour-blind readers can tell apart (Okabe and Ito).
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mmsim.view.gpu import error

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mmsim.gpu.record import Row

MARKERS = "osD^vP"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#000000", "#CC79A7", "#E69F00")
COLUMN = 3.5
"""The width in inches of a column of a paper."""
STYLE = {
    "font.size": 8.0,
    "axes.titlesize": 8.0,
    "axes.labelsize": 8.0,
    "legend.fontsize": 7.0,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "axes.linewidth": 0.6,
}


def new_figure(plots: int = 1) -> Figure:
    """A figure with room for so many plots side by side, each as wide as a column."""
    from matplotlib.figure import Figure

    return Figure(figsize=(COLUMN * plots, 3.0), layout="constrained")


def predicted_against_measured(
    rows: Sequence[Row],
    ax: Axes | None = None,
    *,
    by: str = "algorithm",
    hollow: Callable[[Row], bool] | None = None,
    classes: tuple[str, str] = ("", ""),
    unit: str = "",
    title: str = "",
) -> Axes:
    """Each row a point at its measured and its predicted time, beside the line where they agree.

    Rows of one value of the field `by` share marker and colour. Those for which `hollow` holds are
    hollow, and `classes` are the names of the filled and of the hollow ones. The title ends with
    the mean absolute error, of each class where there are two. Both axes are logarithmic.
    Returns the axes, new ones if none are given.
    """
    if ax is None:
        ax = new_figure().subplots()
    shown = [row for row in rows if error(row) is not None]
    kinds = list(dict.fromkeys(str(row[by]) for row in shown))
    for number, kind in enumerate(kinds):
        marker, colour = MARKERS[number % len(MARKERS)], COLOURS[number % len(COLOURS)]
        size = max(2.5, 7 - 1.5 * number)  # so that those before show where points coincide
        for empty in (False, True):
            own = [
                row
                for row in shown
                if str(row[by]) == kind and (hollow is not None and hollow(row)) == empty
            ]
            ax.plot(
                [_number(row, "measured") for row in own],
                [_number(row, "predicted") for row in own],
                linestyle="none",
                marker=marker,
                markersize=size,
                markerfacecolor="none" if empty else colour,
                markeredgecolor=colour,
                markeredgewidth=0.8,
            )
        ax.plot([], [], linestyle="none", marker=marker, color=colour, markersize=5, label=kind)
    if hollow is not None:
        for name, face in zip(classes, ("0.4", "none"), strict=True):
            ax.plot(
                [],
                [],
                linestyle="none",
                marker="o",
                markersize=5,
                markerfacecolor=face,
                markeredgecolor="0.4",
                label=name,
            )
    _identity(ax, shown)
    suffix = f" [{unit}]" if unit else ""
    ax.set_xlabel(f"measured{suffix}")
    ax.set_ylabel(f"predicted{suffix}")
    ax.set_title("\n".join(line for line in (title, _mean_errors(shown, hollow, classes)) if line))
    ax.legend(frameon=False, loc="lower right", handletextpad=0.2, borderaxespad=0.2)
    return ax


def time_of_arrays(
    rows: Sequence[Row],
    multiprocessors: int,
    ax: Axes | None = None,
    *,
    unit: str = "",
    title: str = "",
) -> Axes:
    """The time of so many arrays, a block each: measured points on the steps that are predicted.

    Rows of one algorithm share marker, dash and colour. A step is as wide as there are
    multiprocessors. Returns the axes, new ones if none are given.
    """
    if ax is None:
        ax = new_figure().subplots()
    for number, algorithm in enumerate(dict.fromkeys(str(row["algorithm"]) for row in rows)):
        own = [row for row in rows if row["algorithm"] == algorithm]
        colour = COLOURS[number % len(COLOURS)]
        heights = {-(-int(_number(row, "arrays")) // multiprocessors): row for row in own}
        for step, row in sorted(heights.items()):
            ax.plot(
                [(step - 1) * multiprocessors + 0.5, step * multiprocessors + 0.5],
                [_number(row, "predicted")] * 2,
                color=colour,
                linewidth=1,
                linestyle=("-", "--")[number % 2],
                label=f"{algorithm}, predicted" if step == min(heights) else None,
            )
        ax.plot(
            [_number(row, "arrays") for row in own],
            [_number(row, "measured") for row in own],
            linestyle="none",
            marker=MARKERS[number % len(MARKERS)],
            markersize=4,
            markerfacecolor="none",
            markeredgecolor=colour,
            label=f"{algorithm}, measured",
        )
    most = max((int(_number(row, "arrays")) for row in rows), default=0)
    ax.set_xticks(range(0, most + 1, multiprocessors))
    ax.set_ylim(bottom=0)
    ax.set_xlabel("arrays")
    ax.set_ylabel(f"time [{unit}]" if unit else "time")
    ax.set_title("\n".join(line for line in (title, _mean_errors(rows)) if line))
    ax.legend(frameon=False, loc="upper left")
    return ax


def svg(draw: Callable[[Figure], object], plots: int = 1, salt: str = "mmsim") -> str:
    """The figure that `draw` fills, as the text of an SVG file: the same text every time.

    Letters are drawn as curves, so that the file looks alike wherever it is shown.
    """
    import matplotlib

    settings: Any = {**STYLE, "svg.fonttype": "path", "svg.hashsalt": salt}
    with matplotlib.rc_context(settings):
        figure = new_figure(plots)
        draw(figure)
        target = io.StringIO()
        figure.savefig(target, format="svg", metadata={"Date": None})
    return "\n".join(line.rstrip() for line in target.getvalue().splitlines()) + "\n"


def _identity(ax: Axes, rows: Sequence[Row]) -> None:
    """Logarithmic axes of equal length, and the line where both times are the same."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    times = [_number(row, field) for row in rows for field in ("measured", "predicted")]
    low, high = (min(times) / 1.6, max(times) * 1.6) if times else (1.0, 10.0)
    ax.plot([low, high], [low, high], color="0.6", linewidth=0.8, zorder=0)
    steps = (1.0,) if high > 50 * low else (1.0, 2.0, 5.0)
    for scale, limit in ((ax.set_xscale, ax.set_xlim), (ax.set_yscale, ax.set_ylim)):
        scale("log")
        limit(low, high)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(LogLocator(subs=steps))
        axis.set_major_formatter(FuncFormatter(lambda value, place: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    ax.set_aspect("equal")


def _mean_errors(
    rows: Sequence[Row],
    hollow: Callable[[Row], bool] | None = None,
    classes: tuple[str, str] = ("", ""),
) -> str:
    parts = []
    for empty, name in enumerate(classes):
        own = [row for row in rows if (hollow is not None and hollow(row)) == bool(empty)]
        errors = [abs(off) for off in map(error, own) if off is not None]
        if errors:
            parts.append(f"{sum(errors) / len(errors):.1%} {name}".rstrip())
    return "mean absolute error " + ", ".join(parts) if parts else ""


def _number(row: Row, field: str) -> float:
    value = row[field]
    assert isinstance(value, int | float), (field, value)
    return value
