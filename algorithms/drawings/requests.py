"""Worked examples of requests: the requested cells, the stages, the pipeline registers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import mmsim as mm
from mmsim.view.figures.paper import COLUMN, STYLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CELLS, REGISTERS = 3.2, 1.5
"""Heights in inches of the memory with the stages, and of the pipeline registers over time."""


def requests(runs: Mapping[str, mm.Run]) -> Figure:
    """Draw all requests of some runs side by side, each run below its name.

    Above are the memory's cells, the requested ones with their threads, and the stages of each
    warp's requests; below are the pipeline registers over time, with their warps.

    Parameters
    ----------
    runs
        By their names, runs with a trace and the requests of one unit.

    Examples
    --------
    >>> import numpy as np
    >>> from mmsim_algorithms.access.figures import smm_figure_4
    >>> run = mm.DMM(4, 3).run(smm_figure_4, np.arange(16), threads=8, trace=True)
    >>> figure = requests({"DMM": run})
    >>> [axes.get_title() for axes in figure.axes]
    ['DMM', '5 time units']
    """
    import matplotlib

    from mmsim.view.figures.notebook import Figure as Shown

    with matplotlib.rc_context(STYLE):
        figure = Shown(figsize=(COLUMN * len(runs), CELLS + REGISTERS), layout="constrained")
        rows = figure.subplots(2, len(runs), squeeze=False, height_ratios=(CELLS, REGISTERS))
        for column, (name, run) in enumerate(runs.items()):
            above, below = rows[:, column]
            mm.figures.access(run, list(range(len(run.trace.dispatches))), axes=above)
            mm.figures.pipeline(run, axes=below)
            above.set_title(name)
            below.set_title(f"{run.time} time units")
        deepest = max(axes.get_ylim()[0] for axes in rows[0])
        for axes in rows[0]:  # so that cells are of one height
            axes.set_ylim(deepest, axes.get_ylim()[1])
    return figure
