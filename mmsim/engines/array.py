"""The array engine: all warps at once, the same times at any scale, for programs without a race.

Two roads lead to the same result. A program whose loops are the same for all threads can be
*fused*: written out as one function that Numba compiles, which pays for large grids. Every other
launch is *interpreted* on NumPy. What goes wrong on the first road is run again on the second,
which alone knows the language's errors.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from mmsim.engines.interpreted import Interpreted
from mmsim.engines.progress import Progress
from mmsim.engines.tally import Tally
from mmsim.engines.watch import Watch
from mmsim.launch import Launch
from mmsim.results import Run

Road = Literal["fused", "plain", "interpreted"]
FEW = 1 << 12
"""Threads below which nothing is fused unasked: interpreting takes a moment."""


def run(launch: Launch, check: bool = False, road: Road | None = None) -> Run:
    """Run a launch to its end; `check` looks for mistakes, which takes the interpreter.

    The tests take a `road`: "plain" is a fused program that Python runs without compiling it. They
    get `CannotFuse` for a program that has no such road.
    """
    progress = Progress(launch.program.name)
    try:
        with np.errstate(all="ignore"):  # inactive lanes may compute nonsense
            if check:
                watch = Watch(launch)
                checked = Interpreted(launch, progress, watch)
                time = checked.run()
                return checked.tally.result("array", time, watch.findings())
            tally, time = _run(launch, progress, road)
    finally:
        progress.close()
    return tally.result("array", time)


def _run(launch: Launch, progress: Progress, road: Road | None) -> tuple[Tally, int]:
    if road in ("fused", "plain") or (road is None and launch.grid.threads >= FEW):
        from mmsim.engines.fused.execute import CannotFuse, Execution, GaveUp, NotCompiled

        try:
            execution = Execution(launch, progress)
            if road is not None or execution.worthwhile():
                time = execution.run(plain=road == "plain")
                return execution.tally, time
        except (CannotFuse, NotCompiled):
            if road is not None:
                raise
        except GaveUp:
            for array in launch.arrays.values():
                array.rewind()
    interpreted = Interpreted(launch, progress)
    time = interpreted.run()
    return interpreted.tally, time
