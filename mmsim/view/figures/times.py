"""The time of runs against n, p, w or l, with the formula that predicts it, and other curves."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from mmsim.claims.claim import Curve, Series
from mmsim.errors import LaunchError, MMSimError, shown
from mmsim.host.arguments import several
from mmsim.host.guesses import advised
from mmsim.printable import printable
from mmsim.results import Run
from mmsim.view.figures.files import alt_text, as_svg
from mmsim.view.figures.paper import COLUMN, RING, drawing, legend_above, marks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, HEIGHT = 4.4, 2.9
"""The size, in inches, of a curve in a page of text."""
MANY = 20
"""With so many values or more, the points are small."""
FEW = 8
"""The most values that each have a tick."""
MOST_TICKS = 20
"""The ticks for which an axis has room; of nearer values, not each has a tick."""


@advised()
def times(
    values: Sequence[int],
    runs: Sequence[Run | int],
    formula: Callable[[int], Any] | None = None,
    *,
    symbol: str = "n",
    name: str = "formula",
    axes: Axes | None = None,
) -> Axes:
    """Draw the time of each run against a parameter, with the times of a formula.

    Parameters
    ----------
    values, runs
        The parameter's values, and for each the run (or its time). Both axes are logarithmic if the
        largest value is at least eight times the smallest. The axis of evenly spaced values stays
        linear.
    formula
        A function of a value that returns the claimed time. It is evaluated at the values only, as
        it may not hold between them (w must divide n).
    symbol
        The name of the parameter.
    name
        The name of the formula in the legend. Text between dollar signs is set as mathematics.
    axes
        Where to draw.

    Examples
    --------
    >>> import numpy as np, mmsim as mm
    >>> @mm.program
    ... def read(T, a):
    ...     a[T.id]
    >>> sizes = [32, 64, 128, 256]
    >>> runs = [mm.UMM(32, 5).run(read, np.zeros(n), threads=n) for n in sizes]
    >>> axes = mm.figures.times(sizes, runs, lambda n: n / 32 + 4, name="$n/w + l - 1$")
    >>> [[int(y) for y in line.get_ydata()] for line in axes.lines]
    [[5, 6, 8, 12], [5, 6, 8, 12]]
    """

    values, runs = several("values are numbers", values), several("runs are several", runs)
    if len(values) != len(runs) or not values:
        raise MMSimError(f"{len(values)} values and {len(runs)} runs; give a run for each value")
    measured = [run.time if isinstance(run, Run) else run for run in runs]
    x = _numbers("values", values)
    heights = _numbers("runs", measured)
    series = [Series("simulated", x, heights)]
    if formula is not None:
        if not callable(formula):
            raise LaunchError(f"formula must be a function of a value, not {shown(formula)}")
        claimed = _numbers("formula", [formula(value) for value in values])
        series.append(Series(name, x, claimed))
    with drawing(axes, COLUMN, 2.2) as drawn:
        draw_curve(Curve("", symbol, "time units", tuple(series)), drawn)
        points, *line = drawn.get_lines()[-len(series) :]
        points.set(zorder=3)
        for one in line:
            one.set(**RING)
        if len(x) > MANY:
            for one in (points, *line):
                one.set_markersize(0.7 * one.get_markersize())
        drawn.set_xlabel(printable(symbol), style="italic")
        scale(drawn, x, heights)
        legend_above(drawn, columns=2)
    return drawn


def draw_curve(curve: Curve, axes: Axes | None = None) -> Axes:
    """Draw a curve; measured and claimed points differ in marker, not only in colour.

    Returns the axes, new ones if none are given.
    """
    with drawing(axes, WIDTH, HEIGHT) as drawn:
        for number, series in enumerate(curve.series):
            drawn.plot(series.x, series.y, **marks(number), label=printable(series.name))
        labels = {"title": curve.title, "xlabel": curve.x_label, "ylabel": curve.y_label}
        drawn.set(**{name: printable(text) for name, text in labels.items()})
        drawn.grid(alpha=0.3)
        drawn.legend(frameon=False)
    return drawn


def curve_svg(curve: Curve) -> str:
    """Return a curve as an SVG element for HTML. Text stays text, and the page fetches nothing."""
    figure: Any = draw_curve(curve).figure
    text = as_svg(figure, letters="none", salt=curve.title, title=alt_text(figure))
    return text[text.index("<svg") :]


def _numbers(what: str, values: Sequence[Any]) -> tuple[float, ...]:
    try:
        if any(isinstance(one, np.ma.MaskedArray) and np.ma.is_masked(one) for one in values):
            raise TypeError("float() makes nan of a masked value, and warns")
        return tuple(map(float, values))
    except (TypeError, ValueError, OverflowError):
        text = f"{what}: a figure of times is drawn of numbers, not of {shown(values)}"
        raise LaunchError(text) from None


def scale(drawn: Axes, x: Sequence[float], measured: Sequence[float]) -> None:
    """Set axes, and a grid, for times over a parameter: logarithmic if its largest value is at
    least eight times its smallest; a tick for each value if there are few. The axis of evenly
    spaced values, such as strides 1, 2, 3, ..., stays linear.
    """
    if min(x) > 0 and min(measured) > 0 and max(x) >= 8 * min(x):
        steps = {after - one for one, after in pairwise(sorted(set(x)))}
        if len(steps) > 1 or len(set(x)) == 2:
            drawn.set_xscale("log", base=2)
        base = 2 if max(measured) < 64 * min(measured) else 10
        drawn.set_yscale("log", base=base)
        drawn.set_ylim(
            0.9 * base ** math.floor(math.log(min(measured), base)),
            1.1 * base ** math.ceil(math.log(max(measured), base)),
        )
        in_full(drawn.yaxis)
        drawn.minorticks_off()
    else:
        drawn.ticklabel_format(axis="y", useMathText=True)
    few_ticks(drawn, x)
    drawn.grid(alpha=0.3)


def few_ticks(drawn: Axes, x: Sequence[float]) -> None:
    """Set a tick for each value of the horizontal axis if they are few, with its number in full."""
    low, high = drawn.get_xlim()
    measure = math.log if drawn.get_xscale() == "log" else float
    span = measure(high) - measure(low)
    apart = (measure(b) - measure(a) for a, b in pairwise(sorted(set(x))))
    if len(x) <= FEW and min(apart, default=span) >= span / MOST_TICKS:
        drawn.set_xticks(x)
        drawn.xaxis.minorticks_off()
    in_full(drawn.xaxis)


def in_full(axis: Any) -> None:
    """Give an axis its ticks' numbers in full, or all as powers of one base if they are and one of
    them is from 2^17 on.
    """

    def text(value: float, position: float) -> str:
        low, high = axis.get_view_interval()
        seen = [tick for tick in axis.get_majorticklocs() if low <= tick <= high]
        if seen and min(seen) > 0 and max(seen) >= 2**17:
            for base in (2, 10):
                powers = {tick: round(math.log(tick, base)) for tick in (*seen, value)}
                if all(tick == base**power for tick, power in powers.items()):
                    return f"${base}^{{{powers[value]}}}$"
        return f"{value:g}" if value < 10**6 else f"{value:.1e}"

    axis.set_major_formatter(text)
