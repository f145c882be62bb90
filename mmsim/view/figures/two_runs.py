"""The warps of two runs, one above the other, over the same time."""

from __future__ import annotations

from collections.abc import Sequence

from mmsim.results import Run
from mmsim.view.figures.notebook import Figure
from mmsim.view.figures.paper import COLUMN, LETTERS, STYLE, words
from mmsim.view.figures.warps import intervals, warps


def compare(first: Run, second: Run, *, names: Sequence[str]) -> Figure:
    """Draw the warps of two runs over the same time, with the time of each run.

    Parameters
    ----------
    first, second
        Runs with traces.
    names
        The names of the runs.
    """
    import matplotlib

    rows = [
        len({warp for found in intervals(run).values() for warp, _, _ in found})
        for run in (first, second)
    ]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(COLUMN, 1.3 + 0.15 * sum(rows)), layout="constrained")
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=rows)
        for axes, run, name in zip((upper, lower), (first, second), names, strict=True):
            warps(run, axes=axes)
            axes.set_label(f"{name}: {axes.get_label()}")
            axes.set_xlim(0, max(first.time, second.time))
            axes.axvline(run.time, color="black", linewidth=0.8, linestyle="--")
            axes.set_ylabel(f"{words(name)}\n{run.time} time units", fontsize=LETTERS)
        upper.set_xlabel("")
        legends = [axes.get_legend() for axes in (upper, lower)]
        known = {
            text.get_text(): handle
            for legend in legends
            if legend is not None
            for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True)
        }
        for legend in legends:
            if legend is not None:
                legend.remove()
        figure.legend(
            list(known.values()), list(known), loc="outside upper center", ncols=5, frameon=False
        )
    return figure
