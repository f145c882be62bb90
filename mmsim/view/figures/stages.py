"""The figure that says most about a run; the stages of each line and of each round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mmsim.errors import MMSimError
from mmsim.host.guesses import advised
from mmsim.printable import printable
from mmsim.results import Run
from mmsim.results.rows import Stages
from mmsim.view.figures import paper
from mmsim.view.figures.pipeline import depth, fits, pipeline
from mmsim.view.palette import EDGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHORT, FLAT, FEW = 40, 16, 40
"""The most time units, pipeline registers and rounds of a run that has a figure of these."""
MOST_LINES, MOST_ROUNDS = 30, 500
LONGEST, LONGEST_NAME = 46, 10
"""The most letters of a line's text and of an array's name."""
SIDE_BY_SIDE, NAMED = 4, 12
"""The most rounds with names side by side, and the most rounds with names."""


@advised()
def plot(run: Run, *, axes: Axes | None = None) -> Axes:
    """Draw a run: the pipeline of a short one with a trace, else its stages by round or by line.

    >>> import numpy as np, mmsim as mm
    >>> @mm.program
    ... def read(T, a):
    ...     a[T.id]
    >>> machine = mm.DMM(4, 3)
    >>> machine.run(read, np.arange(16), threads=16, trace=True).plot().get_xlabel()
    'time unit'
    >>> machine.run(read, np.arange(16), threads=16).plot().get_xlabel()
    'round'
    >>> machine.run(read, np.arange(16), threads=16, schedule="asynchronous").plot().get_xlabel()
    'stages'
    """
    paper.check_run(run)
    short = run.record is not None and 0 < run.time <= min(SHORT, fits(run, paper.PAGE))
    if short and depth(run) <= FLAT:
        return pipeline(run, axes=axes)
    if 0 < len(run.rounds) <= FEW:
        return rounds(run, axes=axes)
    return lines(run, axes=axes)


@advised()
def lines(run: Run, *, axes: Axes | None = None) -> Axes:
    """Draw a bar for each source line that accesses memory: the least stages, and the wasted ones.

    Of a long program the 30 lines with the most stages are drawn.

    Parameters
    ----------
    run
        Any run; it needs no trace.
    axes
        Where to draw.

    Examples
    --------
    >>> import numpy as np, mmsim as mm
    >>> @mm.program
    ... def stride(T, a, b):
    ...     x = a[T.id]
    ...     b[4 * T.id % 16] = x
    >>> run = mm.DMM(4, 3).run(stride, np.arange(16), np.zeros(16), threads=4)
    >>> axes = mm.figures.lines(run)
    >>> for least, wasted in zip(*axes.containers):
    ...     print(int(least.get_width()), int(wasted.get_width()))
    1 0
    1 3
    """
    paper.check_run(run)
    every = [line for line in run.profile().lines if line.requests]
    if not every:
        raise MMSimError(f"{run.program!r} made no memory access; there is nothing to draw")
    costly = sorted(every, key=lambda line: -line.stages)[:MOST_LINES]
    shown = [line for line in every if line in costly]
    rows = range(len(shown))
    with paper.drawing(axes, paper.COLUMN, 0.75 + 0.33 * len(shown)) as drawn:
        _bars(drawn.barh, rows, shown, "left", height=0.4, edgecolor=EDGE)
        for row, line in enumerate(shown):
            drawn.annotate(
                paper.shortened(printable(line.text.strip()), LONGEST),
                (0, row - 0.24),
                xytext=(2, 0),
                textcoords="offset points",
                va="bottom",
                family="monospace",
                parse_math=False,
            )
            note = f" {line.stages}" + (f", {line.wasted} wasted" if line.wasted else "")
            drawn.text(line.stages, row, note, va="center")
        drawn.set_yticks(rows, [str(line.line) for line in shown])
        room = 1.45 * max(line.stages for line in shown)  # for text right of the longest bar
        left_out = len(every) - len(shown)
        others = f" (the other {left_out} lines take fewer)" if left_out else ""
        drawn.set(ylabel="line", xlabel=f"stages{others}")
        drawn.set(xlim=(0, room), ylim=(len(shown) - 0.6, -0.85))
        drawn.tick_params(axis="y", length=0)
        paper.whole_numbers(drawn.xaxis)
        paper.legend_above(drawn, columns=2)
        paper.describe(
            drawn,
            f"stages of each line of {run.program}",
            (f"line {one.line}: {paper.wasting(one.stages, one.wasted)}" for one in shown),
        )
    return drawn


@advised()
def rounds(run: Run, *, axes: Axes | None = None) -> Axes:
    """Draw a bar for each round: the least stages of its requests, and on top the wasted ones.

    Parameters
    ----------
    run
        A run under the synchronous schedule; it needs no trace.
    axes
        Where to draw.

    Examples
    --------
    >>> import numpy as np, mmsim as mm
    >>> @mm.program
    ... def transpose(T, a, b):
    ...     i, j = T.id // a.shape[1], T.id % a.shape[1]
    ...     b[j, i] = a[i, j]
    >>> a = np.arange(16).reshape(4, 4)
    >>> run = mm.DMM(4, 3).run(transpose, a, np.zeros_like(a), threads=16)
    >>> axes = mm.figures.rounds(run)
    >>> for least, wasted in zip(*axes.containers):
    ...     print(int(least.get_height()), int(wasted.get_height()))
    4 0
    4 12
    """
    paper.check_run(run)
    rows = run.rounds
    if not rows:
        reason = "made no memory access"
        if run.schedule == "asynchronous":
            reason = "has no rounds, without lock step; draw lines(run)"
        raise MMSimError(f"this run of {run.program!r} {reason}")
    if len(rows) > MOST_ROUNDS:
        raise MMSimError(
            f"{len(rows)} rounds are too many for this figure ({MOST_ROUNDS}); draw lines(run)"
        )
    numbers = [row.number for row in rows]
    edge = EDGE if len(rows) <= 60 else "none"
    turned = SIDE_BY_SIDE < len(rows) <= NAMED
    with paper.drawing(axes, paper.COLUMN, 2.5 if turned else 2.0) as drawn:
        _bars(drawn.bar, numbers, rows, "bottom", width=0.8, edgecolor=edge)
        drawn.margins(x=0.02)
        most = max(row.stages for row in rows)
        drawn.set(xlabel="round", ylabel="stages", ylim=(0, 1.06 * most))
        if len(rows) <= NAMED:
            arrays = [paper.shortened(printable(row.array), LONGEST_NAME) for row in rows]
            named = zip(rows, map(paper.words, arrays), strict=True)
            names = [f"{row.number}: {row.kind} {array}" for row, array in named]
            drawn.set_xticks(numbers, names, rotation=90 if turned else 0)
        else:
            paper.whole_numbers(drawn.xaxis)
        paper.whole_numbers(drawn.yaxis)
        paper.legend_above(drawn, columns=2)
        paper.describe(
            drawn,
            f"stages of each round of {run.program}",
            (f"round {one.number}: {paper.wasting(one.stages, one.wasted)}" for one in rows),
        )
    return drawn


def _bars(
    bars: Callable[..., object],
    places: Sequence[int],
    rows: Sequence[Stages],
    above: str,
    **style: Any,
) -> None:
    """Draw the least stages of each row, and `above` them the wasted ones."""
    least = [row.least for row in rows]
    bars(places, least, color=paper.LEAST, label="least possible", linewidth=0.4, **style)
    style |= {"color": paper.WASTED, "hatch": paper.HATCH, "label": "wasted", above: least}
    bars(places, [row.wasted for row in rows], linewidth=0.4, **style)
