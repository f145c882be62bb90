"""The needed and the wasted stages of each round."""

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
    words,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 500
SIDE_BY_SIDE, NAMED = 4, 12
"""The most rounds with names side by side, and the most rounds with names."""


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
    check_run(run)
    rows = run.rounds
    if not rows:
        reason = "made no memory access"
        if run.schedule == "asynchronous":
            reason = "has no rounds, without lock step; draw lines(run)"
        raise MMSimError(f"this run of {run.program!r} {reason}")
    if len(rows) > MOST:
        raise MMSimError(
            f"{len(rows)} rounds are too many for this figure ({MOST}); draw lines(run)"
        )
    numbers = [row.number for row in rows]
    least, wasted = [row.least for row in rows], [row.wasted for row in rows]
    edge = "#333333" if len(rows) <= 60 else "none"
    turned = SIDE_BY_SIDE < len(rows) <= NAMED
    with drawing(axes, COLUMN, 2.5 if turned else 2.0) as drawn:
        style: dict[str, Any] = {"width": 0.8, "edgecolor": edge, "linewidth": 0.4}
        drawn.bar(numbers, least, color=LEAST, label="least possible", **style)
        drawn.bar(numbers, wasted, bottom=least, color=WASTED, hatch=HATCH, label="wasted", **style)
        drawn.set_ylabel("stages")
        drawn.set_xlabel("round")
        drawn.margins(x=0.02)
        drawn.set_ylim(0, 1.06 * max(row.stages for row in rows))
        if len(rows) <= NAMED:
            names = [f"{row.number}: {row.kind} {_short(row.array)}" for row in rows]
            drawn.set_xticks(numbers, names, rotation=90 if turned else 0)
        else:
            whole_numbers(drawn.xaxis)
        whole_numbers(drawn.yaxis)
        legend_above(drawn, columns=2)
        describe(
            drawn,
            f"stages of each round of {run.program}",
            (f"round {one.number}: {wasting(one.stages, one.wasted)}" for one in rows),
        )
    return drawn


def _short(name: str) -> str:
    name = printable(name)
    return words(name if len(name) <= 10 else f"{name[:9]}…")
