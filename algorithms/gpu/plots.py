"""Measurements of a GPU and predictions of the model, drawn with matplotlib.

Each function takes rows of an experiment (`mmsim.gpu.record.Record.rows`) and returns the axes.
Different colours also have different markers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mmsim.reports.gpu import error
from mmsim.view.figures.files import as_svg
from mmsim.view.figures.paper import COLUMN, DARK_FIRST, MARKERS, STYLE, drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mmsim.gpu.record import Row

HEIGHT = 3.0


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
    """Draw each row as a point (measured time, predicted time), and the line where they agree.

    Rows with the same value of the field `by` share marker and colour. Rows that satisfy `hollow`
    are hollow. `classes` has the names of the filled and of the hollow rows. The title ends with
    the mean absolute error, of each class if there are two. Both axes are logarithmic. Returns the
    axes, new ones if none are given.
    """
    shown = [row for row in rows if error(row) is not None]
    suffix = f" [{unit}]" if unit else ""
    with drawing(ax, COLUMN, HEIGHT) as drawn:
        for number, kind in enumerate(dict.fromkeys(str(row[by]) for row in shown)):
            own = [row for row in shown if str(row[by]) == kind]
            _points(drawn, own, number, kind, hollow)
        if hollow is not None:
            style: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 5}
            for name, face in zip(classes, ("0.4", "none"), strict=True):
                drawn.plot([], [], markerfacecolor=face, markeredgecolor="0.4", label=name, **style)
        _identity(drawn, shown)
        titles = filter(None, (title, _mean_errors(shown, hollow, classes)))
        names = {"xlabel": f"measured{suffix}", "ylabel": f"predicted{suffix}"}
        drawn.set(**names, title="\n".join(titles))
        drawn.legend(frameon=False, loc="lower right", handletextpad=0.2, borderaxespad=0.2)
    return drawn


def _points(
    axes: Axes, rows: Sequence[Row], number: int, kind: str, hollow: Callable[[Row], bool] | None
) -> None:
    """Draw the rows of one kind, filled and hollow, and the kind's name in the legend."""
    marker, colour = MARKERS[number % len(MARKERS)], DARK_FIRST[number % len(DARK_FIRST)]
    size = max(2.5, 7 - 1.5 * number)  # so that earlier points show where points coincide
    for empty in (False, True):
        own = [row for row in rows if (hollow is not None and hollow(row)) == empty]
        axes.plot(
            [_number(row, "measured") for row in own],
            [_number(row, "predicted") for row in own],
            linestyle="none",
            marker=marker,
            markersize=size,
            markerfacecolor="none" if empty else colour,
            markeredgecolor=colour,
            markeredgewidth=0.8,
        )
    axes.plot([], [], linestyle="none", marker=marker, color=colour, markersize=5, label=kind)


def time_of_arrays(
    rows: Sequence[Row],
    multiprocessors: int,
    ax: Axes | None = None,
    *,
    unit: str = "",
    title: str = "",
) -> Axes:
    """Draw the time of a number of arrays, one block each: measured points on predicted steps.

    Rows of one algorithm share marker, dash and colour. The width of a step is the number of
    multiprocessors. Returns the axes, new ones if none are given.
    """
    with drawing(ax, COLUMN, HEIGHT) as drawn:
        for number, algorithm in enumerate(dict.fromkeys(str(row["algorithm"]) for row in rows)):
            own = [row for row in rows if row["algorithm"] == algorithm]
            _steps(drawn, own, number, algorithm, multiprocessors)
        most = max((int(_number(row, "arrays")) for row in rows), default=0)
        drawn.set_xticks(range(0, most + 1, multiprocessors))
        drawn.set_ylim(bottom=0)
        drawn.set(xlabel="arrays", ylabel=f"time [{unit}]" if unit else "time")
        drawn.set_title("\n".join(filter(None, (title, _mean_errors(rows)))))
        drawn.legend(frameon=False, loc="upper left")
    return drawn


def _steps(
    axes: Axes, rows: Sequence[Row], number: int, algorithm: str, multiprocessors: int
) -> None:
    """Draw the rows of one algorithm: predicted steps and measured points."""
    colour = DARK_FIRST[number % len(DARK_FIRST)]
    heights = {-(-int(_number(row, "arrays")) // multiprocessors): row for row in rows}
    for step, row in sorted(heights.items()):
        axes.plot(
            [(step - 1) * multiprocessors + 0.5, step * multiprocessors + 0.5],
            [_number(row, "predicted")] * 2,
            color=colour,
            linestyle=("-", "--")[number % 2],
            label=f"{algorithm}, predicted" if step == min(heights) else None,
        )
    axes.plot(
        [_number(row, "arrays") for row in rows],
        [_number(row, "measured") for row in rows],
        linestyle="none",
        marker=MARKERS[number % len(MARKERS)],
        markersize=4,
        markerfacecolor="none",
        markeredgecolor=colour,
        label=f"{algorithm}, measured",
    )


def svg(draw: Callable[[Figure], object], plots: int = 1, salt: str = "mmsim") -> str:
    """Return the figure that `draw` fills, with `plots` plots side by side, as SVG text."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(COLUMN * plots, HEIGHT), layout="constrained")
        draw(figure)
    return "\n".join(line.rstrip() for line in as_svg(figure, salt=salt).splitlines()) + "\n"


def _identity(ax: Axes, rows: Sequence[Row]) -> None:
    """Set logarithmic axes of equal length, and draw the line where both times are equal."""
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
