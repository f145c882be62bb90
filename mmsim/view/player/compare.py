"""Two runs side by side, in step: one time, the panels of both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mmsim.errors import LaunchError, shown
from mmsim.host.arguments import several
from mmsim.printable import printable
from mmsim.results.run import Run
from mmsim.view.player.data import run_data, window
from mmsim.view.player.page import Player, origin

if TYPE_CHECKING:
    from mmsim.view.figures.notebook import Figure

NAMED = ("machine", "program", "schedule")
"""The settings that name two runs if they differ."""


class Comparison(Player):
    """Two runs to step through side by side. A notebook shows it, `save` writes it to a file.

    `names` are the names of the runs. Default: the settings in which they differ.
    """

    def __init__(
        self,
        first: Run,
        second: Run,
        names: Sequence[str] | None = None,
        start: int = 0,
        end: int | None = None,
    ) -> None:
        for run in (first, second):
            if not isinstance(run, Run):
                raise LaunchError(f"compare takes two runs, not {shown(run)}")
        self.runs = first, second
        self.names = names_of(first, second) if names is None else _given(names)
        longest = max(first.time, second.time)
        start, last = window(start, end, longest, "longer run")
        runs = [
            {"name": name, **run_data(run.traces, min(start, run.time), min(last, run.time))}
            for name, run in zip(self.names, self.runs, strict=True)
        ]
        self.data = {"runs": runs, "start": start, "end": last, **origin()}

    @property
    def title(self) -> str:
        """The title of the page."""
        return " and ".join(self.names)

    def __repr__(self) -> str:
        return f"<{self.title}, time units {self.data['start']} to {self.data['end']}>"

    def plot(self) -> Figure:
        """Draw the warps of both runs, one above the other, over the same time."""
        from mmsim.view.figures.warps import compare

        return compare(*self.runs, names=self.names)


def names_of(first: Run, second: Run) -> tuple[str, str]:
    """Names for two runs: the settings in which they differ, else their order.

    >>> import numpy as np, mmsim as mm
    >>> @mm.program
    ... def read(T, a):
    ...     a[T.id]
    >>> runs = [kind(4, 3).run(read, np.arange(8), threads=8) for kind in (mm.DMM, mm.UMM)]
    >>> names_of(*runs)
    ('DMM(width=4, latency=3)', 'UMM(width=4, latency=3)')
    """
    differ = [name for name in NAMED if getattr(first, name) != getattr(second, name)]
    if not differ:
        return "first run", "second run"
    one, other = (
        ", ".join(printable(str(getattr(run, name))) for name in differ) for run in (first, second)
    )
    return one, other


def _given(names: Sequence[str]) -> tuple[str, str]:
    texts = [printable(str(name)) for name in several("names are two texts", names)]
    if len(texts) != 2:
        raise LaunchError(f"names has {len(texts)} texts; give one for each of the two runs")
    return texts[0], texts[1]
