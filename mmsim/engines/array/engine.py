"""The array engine: all warps together, the same times at any scale, for race-free programs.

Two paths lead to the same result. A program whose loops are the same for all threads, or count,
can be *fused*: one function that Numba compiles. Every other launch is *interpreted* on
NumPy. So is a launch for which compiling takes longer (see `fused.tiering`), or one on a machine
with sectors and a cache. If an error occurs on the first path, the second runs the launch again,
because only the interpreter knows the language's errors. Under the asynchronous
schedule the event engine runs a program in which a warp waits in a loop for what another does,
warps meet in a word where their order matters (`meetings`), or only some threads come to a barrier
of the grid.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Literal

import numpy as np

from mmsim.engines.array.interpreted import Interpreted, Spins
from mmsim.engines.array.lazy_compilation import Pays
from mmsim.engines.array.meetings import Meet
from mmsim.engines.tally import result
from mmsim.errors import RoomError
from mmsim.host.progress import Progress
from mmsim.meaning.alone import NotAlone
from mmsim.meaning.launch import Launch
from mmsim.results import Run

if TYPE_CHECKING:
    from mmsim.monitors.watch import Monitors

Path = Literal["fused", "plain", "interpreted"]
FEW = 1 << 12
"""Launches of fewer threads are not fused at first: interpreting them is fast."""
LONG = 0.2
"""Seconds of interpreting a few threads after which it is time to look for something faster."""


def run(launch: Launch, check: bool = False, path: Path | None = None) -> Run:
    """Run a launch to its end; `check` looks for mistakes, and interprets several threads.

    The tests choose a `path`: with "plain", Python runs a fused program without compiling it. They
    get `CannotFuse` for a program without such a path.
    """
    progress = Progress(launch.program.name)
    try:
        meets = launch.schedule == "asynchronous" and launch.meets_as_grid
        if not meets or (launch.in_phases and not check):
            try:
                return _checked(launch, progress) if check else _run(launch, progress, path)
            except Spins:
                pass
            except Meet:
                launch.met()
            launch.rewind()
        from mmsim.engines.events import engine as events  # loads SimPy

        return events.run(launch, recording=False, checking=check)
    finally:
        progress.close()


def _checked(launch: Launch, progress: Progress) -> Run:
    from mmsim.monitors.watch import Monitors  # a run without a check loads none

    monitors = Monitors(launch)
    is_alone = launch.grid.threads == 1 and monitors.heap is None  # it meets no other thread
    if is_alone and not monitors.unwritten.arrays:
        return replace(_run(launch, progress, None), findings=())
    return _interpreted(launch, progress, monitors=monitors)


class _Patience:
    """Interprets a few threads, unless they take so many steps that compiling pays."""

    def __init__(self, launch: Launch, progress: Progress) -> None:
        self.launch, self.progress = launch, progress
        self.end = perf_counter() + LONG
        self.step_of: Callable[[int], None] | None = None

    def step(self, steps: int) -> None:
        """Note that `steps` steps have been interpreted; raise `Pays` to fuse instead."""
        if self.step_of:
            self.step_of(steps)
        elif perf_counter() > self.end:
            self.step_of = self._weighed(steps)

    def _weighed(self, steps: int) -> Callable[[int], None]:
        from mmsim.engines.array.fused import execute as fused  # loads Numba

        try:
            tiering = fused.Execution(self.launch, self.progress).tiering()
        except fused.CannotFuse:
            return lambda steps: None
        if tiering is None or tiering.at_once():
            raise Pays
        tiering.last_step = steps
        return tiering.step


def _run(launch: Launch, progress: Progress, path: Path | None) -> Run:
    few = path is None and launch.grid.threads < FEW
    if few:
        try:
            return _interpreted(launch, progress, _Patience(launch, progress).step)
        except Pays:
            launch.rewind()
    if path != "interpreted":
        from mmsim.engines.array.fused import execute as fused  # loads Numba

        try:
            execution = fused.Execution(launch, progress)
            tiering = None if path or few else execution.tiering()
            if tiering and not tiering.at_once():
                try:
                    return _interpreted(launch, progress, tiering.step)
                except (Pays, RoomError):  # the compiled program needs less memory
                    launch.rewind()
                finally:
                    tiering.tried()
            return execution.run(plain=path == "plain")
        except (fused.CannotFuse, fused.NotCompiled):
            if path is not None:
                raise
        except fused.GaveUp:
            launch.rewind()
    return _interpreted(launch, progress)


def _interpreted(
    launch: Launch,
    progress: Progress,
    step: Callable[[int], None] | None = None,
    monitors: Monitors | None = None,
) -> Run:
    with np.errstate(all="ignore"):  # inactive lanes may compute nonsense
        interpreted = Interpreted(launch, progress, monitors, step=step)
        try:
            time = interpreted.run()
        except NotAlone:
            launch.rewind()
            interpreted = Interpreted(launch, progress, monitors, step=step, lends=False)
            time = interpreted.run()
    found = monitors.findings() if monitors else None
    return result(launch, "array", time, interpreted.tally.tables(), found)
