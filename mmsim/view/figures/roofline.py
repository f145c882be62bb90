"""The bounds on a run on `mm.Cached`: the time of each resource, compared with the run's time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmsim.errors import MMSimError
from mmsim.host.guesses import advised
from mmsim.results import Run
from mmsim.results.roofline import LATENCY, Roofline
from mmsim.results.roofline import roofline as bounds_of
from mmsim.view.figures import paper
from mmsim.view.figures.terms import HATCHES
from mmsim.view.palette import EDGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST = 36
"""The most letters of a line's text in the legend."""
MOST = 150
"""The end of the axis, in percent. The mark of what binds stands right of the run's end."""


@advised()
def roofline(run: Run, *, axes: Axes | None = None) -> Axes:
    """Draw the least time of a `Cached` run by each resource alone, as a share of its time.

    A bar is the time for which the requests occupy a resource. Its parts are the program's lines;
    the legend says what binds each line. No bar is longer than the run. Of several ports, wires or
    slices, the bar shows the one that the run occupies longest. A mark shows what binds the run.
    The bar of the latency is the sum over the requests, divided by the number of requests that may
    be under way; the latency takes longer if requests wait for each other's values. Of many lines,
    only the six that occupy most have their own parts.

    Parameters
    ----------
    run
        A run on `Cached`; it needs no trace.
    axes
        Where to draw.

    Examples
    --------
    >>> import numpy as np, mmsim as mm
    >>> @mm.program
    ... def scatter(T, a, b, d):
    ...     b[d[T.id]] = a[T.id]
    >>> machine = mm.Cached(2, 4, 9, sectors=2, sector_time=2, memory_time=9, capacity=64, ways=2)
    >>> n = 64
    >>> d = np.arange(n) * 5 % n
    >>> run = machine.run(scatter, np.arange(n), np.zeros(n), d, threads=n, schedule="asynchronous")
    >>> axes = mm.figures.roofline(run)
    >>> [text.get_text() for text in axes.get_yticklabels()]
    ['tags', 'sectors', 'memory', 'latency']
    >>> [text.get_text() for text in axes.texts]
    ['13%', '31%', '99%, binds', '≥ 3.2%']
    """
    paper.check_run(run)
    found = bounds_of(run)
    if found is None:
        raise MMSimError(
            f"{run.program!r} ran on {run.machine}, which has no resources to draw; "
            "run it on mm.Cached, or draw lines(run)"
        )
    if not found.lines:
        raise MMSimError(f"{run.program!r} made no memory access; there is nothing to draw")
    named = _longest(found)
    places = range(len(found.bounds))
    with paper.drawing(
        axes, paper.COLUMN, 0.75 + 0.13 * len(named) + 0.2 * len(found.bounds)
    ) as drawn:
        left = [0.0 for _ in places]
        for number, (label, chosen) in enumerate(named):
            widths = [
                float(100 * sum(bound.parts[one] for one in chosen) / run.time)
                for bound in found.bounds
            ]
            drawn.barh(
                places,
                widths,
                left=left,
                height=0.62,
                color=paper.COLOURS[number],
                hatch=HATCHES[number],
                edgecolor=EDGE,
                linewidth=0.4,
                label=paper.words(label),
            )
            left = [one + width for one, width in zip(left, widths, strict=True)]
        shares = [share(width) for width in left]
        for place, bound in enumerate(found.bounds):
            binds = bound.resource == found.binds
            least = "≥ " if bound.resource == LATENCY else ""
            drawn.annotate(
                least + shares[place] + (", binds" if binds else ""),
                (left[place], place),
                xytext=(2, 0),
                textcoords="offset points",
                va="center",
                weight="bold" if binds else "normal",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
            )
        drawn.axvline(100, color="black", linewidth=0.8)
        drawn.set_xticks(range(0, 101, 20))
        drawn.set_yticks(places, [bound.resource for bound in found.bounds])
        drawn.invert_yaxis()
        drawn.tick_params(axis="y", length=0)
        drawn.set(xlim=(0, MOST), xlabel=f"% of the run's {run.time:,} time units")
        paper.legend_above(drawn, columns=1)
        paper.describe(
            drawn,
            f"how much of the time of {run.program} each resource is occupied; {found.binds} binds",
            (f"{one.resource} {of}" for one, of in zip(found.bounds, shares, strict=True)),
        )
    return drawn


def share(percent: float) -> str:
    """A share as a figure says it.

    >>> share(0), share(0.004), share(7.25), share(93.6)
    ('0%', '<0.1%', '7.2%', '94%')
    """
    if 0 < percent < 0.1:
        return "<0.1%"
    return f"{percent:.1f}%" if 0 < percent < 10 else f"{percent:.0f}%"


def _longest(found: Roofline) -> list[tuple[str, tuple[int, ...]]]:
    """The lines that occupy most, and the others as one: their names and their numbers."""
    every = range(len(found.lines))
    weight = [max(bound.parts[number] for bound in found.bounds) for number in every]
    most = len(paper.COLOURS) if len(every) <= len(paper.COLOURS) else len(paper.COLOURS) - 1
    chosen = sorted(sorted(every, key=lambda number: -weight[number])[:most])
    named: list[tuple[str, tuple[int, ...]]] = []
    for number, line in ((number, found.lines[number]) for number in chosen):
        bound = f" ({line.bound})" if line.bound else ""
        name = f"line {line.line}: {paper.shortened(line.text.strip(), LONGEST)}{bound}"
        named.append((name, (number,)))
    others = tuple(number for number in every if number not in chosen)
    return [*named, *([(f"the other {len(others)} lines", others)] if others else [])]
