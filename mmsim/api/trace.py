"""A trace that can be stepped through and exported."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mmsim.errors import MMSimError
from mmsim.results import trace

if TYPE_CHECKING:
    from mmsim.view.lab import Laboratory
    from mmsim.view.player import Player


@dataclass(frozen=True, eq=False, repr=False)
class Trace(trace.Trace):
    """The record of a run, with methods to show and save it."""

    @classmethod
    def of(cls, plain: trace.Trace) -> Trace:
        """Return an engine's trace, with the methods for users."""
        made = cls.later(plain.made)
        assert isinstance(made, Trace)
        return made

    def __getstate__(self) -> dict[str, Any]:
        """The trace as data, without the program and the arguments that `lab` needs."""
        return {name: value for name, value in super().__getstate__().items() if name != "launched"}

    def to_chrome(self, path: str | Path) -> None:
        """Write the trace as Chrome's trace events (JSON). Open it with https://ui.perfetto.dev.

        A time unit shows as a microsecond. Each warp has a track with its requests and waits. Each
        memory unit has a track with its stages.
        """
        from mmsim.results.chrome import save_chrome

        save_chrome(self, path)

    def player(
        self, *, start: int = 0, end: int | None = None, preset: str | None = None
    ) -> Player:
        """Return a page to step through the run in a browser or notebook, from `start` to `end`.

        `preset` is "conflict", "coalescing", "latency" or "barrier": the page begins at the first
        such moment, and stops at all of them.

        Raises `mmsim.view.player.TooLargeError` if a page can't draw so much. Choose a smaller
        window.

        >>> import numpy as np, mmsim as mm
        >>> @mm.program
        ... def copy(T, a, b):
        ...     b[T.id] = a[T.id]
        >>> run = mm.DMM(4, 3).run(copy, np.arange(8), np.zeros(8), threads=8, trace=True)
        >>> run.trace.player()
        <player of copy, time units 0 to 8>
        """
        from mmsim.view.player import Player

        return Player(self, start, end, preset=preset, lab=self.lab)

    def lab(self) -> Laboratory:
        """Return a page in which one changes the program of the run; see `Run.lab`."""
        from mmsim.view.lab import Laboratory

        if "launched" not in self.__dict__:
            raise MMSimError(
                "this run doesn't hold its program and its arguments: a run of one launch with "
                "trace=True does; write mm.lab(program, ..., threads=, machine=)"
            )
        program, args, how, schedule = self.__dict__["launched"]
        return Laboratory(program, args, self.machine, how, schedule)
