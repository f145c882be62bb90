"""The pipelines in space and time: the warp whose stage each register holds at each time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmsim.errors import MMSimError
from mmsim.host.guesses import advised
from mmsim.printable import counted
from mmsim.results import Dispatch, Run
from mmsim.results.events import TracedUnit
from mmsim.view.figures import paper
from mmsim.view.palette import WARPS, ink

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DEEPEST = 40
"""The most registers that fit a page."""

NAMES, DIGIT, MARGIN = 72, 4.6, 1.6
"""Widths in points: of the registers' names, of a digit, of the gap between two numbers."""


def units_used(run: Run) -> list[TracedUnit]:
    """The units that dispatched something, in the order of the figure."""
    used = {dispatch.unit for dispatch in run.trace.dispatches}
    return [unit for unit in run.trace.units if unit.name in used]


def depth(run: Run) -> int:
    """Count the pipeline registers that a run used."""
    return sum(unit.latency for unit in units_used(run))


def registers(run: Run) -> list[tuple[str, int]]:
    """The pipeline registers that a run used, as (unit, register), in the order of the figure."""
    return [(unit.name, one) for unit in units_used(run) for one in range(unit.latency)]


def fits(run: Run, width: float) -> int:
    """The most time units whose warp numbers can be read on so many inches."""
    digits = max((len(str(dispatch.warp)) for dispatch in run.trace.dispatches), default=1)
    return int((72 * width - NAMES) / (DIGIT * digits + MARGIN))


@advised()
def pipeline(run: Run, start: int = 0, end: int | None = None, *, axes: Axes | None = None) -> Axes:
    """Draw the pipeline registers over time, each with the number of its warp.

    A warp's stages enter the first register in consecutive time units and move on by one register
    in each time unit; a request is complete when its last stage has left the last register. A frame
    surrounds the stages of one request.

    Parameters
    ----------
    run
        A run with a trace.
    start, end
        The time units to draw, up to and not including `end` (default: all).
    axes
        Where to draw.

    Examples
    --------
    >>> import numpy as np, mmsim as mm
    >>> @mm.program
    ... def read(T, a):
    ...     a[2 * T.id]
    >>> run = mm.DMM(4, 3).run(read, np.arange(16), threads=8, trace=True)
    >>> axes = mm.figures.pipeline(run)
    >>> [text.get_text() for text in axes.texts]  # two stages of each warp, three registers
    ['0', '0', '0', '0', '0', '0', '1', '1', '1', '1', '1', '1']
    """
    paper.check_run(run)
    trace = run.trace
    start, end = paper.window(run, start, end)
    longest = fits(run, paper.PAGE)
    if end - start > longest:
        raise MMSimError(
            f"{end - start} time units are too many for this figure ({longest}): give start and "
            "end, or draw warps(run) or banks(run)"
        )
    if depth(run) > DEEPEST:
        raise MMSimError(
            f"{depth(run)} pipeline registers are too many for this figure ({DEEPEST}): lower the "
            "latency, or draw warps(run)"
        )
    rows = registers(run)
    width = paper.COLUMN if end - start <= fits(run, paper.COLUMN) else paper.PAGE
    with paper.drawing(axes, width, 0.5 + 0.17 * len(rows)) as drawn:
        for dispatch in trace.dispatches:
            for row, (unit, register) in enumerate(rows):
                if unit == dispatch.unit:
                    first = dispatch.time + register
                    last = first + dispatch.stage_count
                    _bar(drawn, row, max(first, start), min(last, end), dispatch.warp)
        for row in range(1, len(rows)):
            if rows[row][1] == 0:
                drawn.axhline(row, color="black", linewidth=0.8)
        names = [str(one + 1) if one else f"{unit}, register 1" for unit, one in rows]
        drawn.set_yticks([row + 0.5 for row in range(len(rows))], names)
        drawn.tick_params(axis="y", length=0)
        drawn.set(xlim=(start, end), ylim=(len(rows), 0), xlabel="time unit")
        paper.whole_numbers(drawn.xaxis)
        registers_of = f"{counted(len(rows), 'pipeline register')} of {run.machine}"
        sent = (one for one in trace.dispatches if start <= one.time < end)
        paper.describe(drawn, f"{registers_of} from time {start} to {end}", map(_said, sent))
    return drawn


def _said(one: Dispatch) -> str:
    stages = counted(one.stage_count, "stage")
    return f"W({one.warp}) sends {stages} to {one.unit} at time {one.time}"


def _bar(axes: Axes, row: int, first: int, last: int, warp: int) -> None:
    """Draw a request in one register: each stage is a time unit, with the warp's number."""
    from matplotlib.patches import Rectangle

    if first >= last:
        return
    colour = WARPS[warp % len(WARPS)]
    bar = Rectangle((first, row), last - first, 1, facecolor=colour, edgecolor="black")
    bar.set_linewidth(0.5)
    axes.add_patch(bar)
    for time in range(first, last):
        axes.text(time + 0.5, row + 0.53, str(warp), ha="center", va="center", color=ink(colour))
