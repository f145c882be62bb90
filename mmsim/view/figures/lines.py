"""The lines of a program, with the stages that each needs and wastes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mmsim.errors import MMSimError
from mmsim.host.guesses import advised
from mmsim.printable import printable
from mmsim.results import Run
from mmsim.view.figures.alt_text import describe, wasting
from mmsim.view.figures.paper import (
    COLUMN,
    HATCH,
    LEAST,
    WASTED,
    check_run,
    drawing,
    legend_above,
    whole_numbers,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 30
LONGEST = 46


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
    check_run(run)
    every = [line for line in run.profile().lines if line.requests]
    if not every:
        raise MMSimError(f"{run.program!r} made no memory access; there is nothing to draw")
    costly = sorted(every, key=lambda line: -line.stages)[:MOST]
    shown = [line for line in every if line in costly]
    rows = range(len(shown))
    least, wasted = [line.least for line in shown], [line.wasted for line in shown]
    with drawing(axes, COLUMN, 0.75 + 0.33 * len(shown)) as drawn:
        style: dict[str, Any] = {"height": 0.4, "edgecolor": "#333333", "linewidth": 0.4}
        drawn.barh(rows, least, color=LEAST, label="least possible", **style)
        drawn.barh(rows, wasted, left=least, color=WASTED, hatch=HATCH, label="wasted", **style)
        for row, line in enumerate(shown):
            text = printable(line.text.strip())
            text = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
            drawn.annotate(
                text,
                (0, row - 0.24),
                xytext=(2, 0),
                textcoords="offset points",
                va="bottom",
                family="monospace",
                parse_math=False,
            )
            note = f" {line.stages}" + (f", {line.wasted} wasted" if line.wasted else "")
            drawn.text(line.stages, row, note, va="center")
        # Room for text at the right of the longest bar.
        drawn.set_xlim(0, 1.45 * max(line.stages for line in shown))
        drawn.set_yticks(rows, [str(line.line) for line in shown])
        drawn.set_ylim(len(shown) - 0.6, -0.85)
        drawn.set_ylabel("line")
        left_out = len(every) - len(shown)
        drawn.set_xlabel(
            "stages" + (f" (the other {left_out} lines take fewer)" if left_out else "")
        )
        drawn.tick_params(axis="y", length=0)
        whole_numbers(drawn.xaxis)
        legend_above(drawn, columns=2)
        describe(
            drawn,
            f"stages of each line of {run.program}",
            (f"line {one.line}: {wasting(one.stages, one.wasted)}" for one in shown),
        )
    return drawn
