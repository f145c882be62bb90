"""The figure that says most about a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmsim.host.guesses import advised
from mmsim.results import Run
from mmsim.view.figures.paper import PAGE, check_run
from mmsim.view.figures.pipeline import depth, fits, pipeline
from mmsim.view.figures.stages import lines, rounds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHORT = 40
FLAT = 16
FEW = 40


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
    check_run(run)
    short = run.record is not None and 0 < run.time <= min(SHORT, fits(run, PAGE))
    if short and depth(run) <= FLAT:
        return pipeline(run, axes=axes)
    if 0 < len(run.rounds) <= FEW:
        return rounds(run, axes=axes)
    return lines(run, axes=axes)
