"""A chart of each warp's requests and waits over time, of one run or of two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mmsim.errors import MMSimError
from mmsim.host.guesses import advised
from mmsim.printable import counted
from mmsim.results import Run
from mmsim.view.figures import paper
from mmsim.view.palette import EDGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mmsim.view.figures.notebook import Figure

MOST = 64

FRAMED = 400
"""The most time units with frames around all bars; with more, frames would cover everything."""

STYLES = {
    "sending": ("#0072B2", ""),
    "latency": ("#9BCDEE", ""),
    "turn": ("#FFFFFF", "////"),
    "round": ("#E4E4E4", "...."),
    "barrier": ("#E69F00", "xxxx"),
}
"""Colour and hatch of each activity of a warp; the two without a hatch differ in lightness."""


def intervals(run: Run) -> dict[str, list[tuple[int, int, int]]]:
    """Return (warp, start, end) of all intervals of the warps, by activity.

    A warp is "sending" while the stages of its request enter the pipeline. Then it waits for its
    "latency", and for its "turn", the "round" or a "barrier" (`run.trace.waits`). Several launches
    follow each other.
    """
    does: dict[str, list[tuple[int, int, int]]] = {name: [] for name in STYLES}
    before = 0  # time units of the previous launches
    for trace in run.traces:
        for dispatch in trace.dispatches:
            begun, done = before + dispatch.time, before + dispatch.completion
            sent = begun + dispatch.stage_count
            does["sending"].append((dispatch.warp, begun, sent))
            if sent < done:
                does["latency"].append((dispatch.warp, sent, done))
        for wait in trace.waits:
            if wait.reason != "latency":
                does[wait.reason].append((wait.warp, before + wait.start, before + wait.end))
        before += trace.time
    return {name: found for name, found in does.items() if found}


@advised()
def warps(run: Run, start: int = 0, end: int | None = None, *, axes: Axes | None = None) -> Axes:
    """Draw a row for each warp: the times at which it sends its stages, and its waits.

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
    >>> axes = mm.figures.warps(run)
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['sending', 'latency', 'turn', 'round']
    """
    paper.check_run(run)
    does = intervals(run)
    names = sorted({warp for found in does.values() for warp, _, _ in found})
    if not names:
        raise MMSimError(f"the warps of {run.program!r} sent no request; there is nothing to draw")
    if len(names) > MOST:
        raise MMSimError(f"{len(names)} warps are too many for this figure ({MOST})")
    start, end = paper.window(run, start, end)
    row_of = {warp: row for row, warp in enumerate(names)}
    with paper.drawing(axes, paper.COLUMN, 0.75 + 0.15 * len(names)) as drawn:
        for name, found in does.items():
            colour, hatch = STYLES[name]
            spans: dict[int, list[tuple[int, int]]] = {}
            for warp, begun, done in found:
                if begun < end and done > start:
                    spans.setdefault(warp, []).append((begun, done - begun))
            for number, (warp, own) in enumerate(spans.items()):
                drawn.broken_barh(
                    own,
                    (row_of[warp] - 0.4, 0.8),
                    facecolor=colour,
                    edgecolor=EDGE,
                    hatch=hatch,
                    linewidth=0.4 if end - start <= FRAMED else 0,
                    label=None if number else name,
                ).set_gid(f"{name}-{warp}")
        drawn.set_yticks(range(len(names)), [f"W({warp})" for warp in names])
        drawn.tick_params(axis="y", length=0)
        drawn.set(xlim=(start, end), ylim=(len(names) - 0.5, -0.5), xlabel="time unit")
        paper.whole_numbers(drawn.xaxis)
        paper.legend_above(drawn, columns=5)
        paper.describe(
            drawn,
            f"what {counted(len(names), 'warp')} of {run.program} did from time {start} to {end}, "
            "time units of all warps together",
            (
                f"{name} {sum(min(done, end) - max(begun, start) for _, begun, done in inside)}"
                for name, found in does.items()
                if (inside := [one for one in found if one[1] < end and one[2] > start])
            ),
        )
    return drawn


def compare(first: Run, second: Run, *, names: Sequence[str]) -> Figure:
    """Draw the warps of two runs with traces over the same time, with the time of each run."""
    import matplotlib

    from mmsim.view.figures.notebook import Figure

    rows = [
        len({warp for found in intervals(run).values() for warp, _, _ in found})
        for run in (first, second)
    ]
    with matplotlib.rc_context(paper.STYLE):
        figure = Figure(figsize=(paper.COLUMN, 1.3 + 0.15 * sum(rows)), layout="constrained")
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=rows)
        for axes, run, name in zip((upper, lower), (first, second), names, strict=True):
            warps(run, axes=axes)
            axes.set_label(f"{name}: {axes.get_label()}")
            axes.set_xlim(0, max(first.time, second.time))
            axes.axvline(run.time, color="black", linewidth=0.8, linestyle="--")
            axes.set_ylabel(f"{paper.words(name)}\n{run.time} time units", fontsize=paper.LETTERS)
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
