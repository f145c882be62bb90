"""The cost of the first run: a fresh process with a small program, compiled before or not.

Run as a module with a schedule, this file is that process.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from typing import cast

import numpy as np

import mmsim as mm
from mmsim.bench.benchmark import Benchmark, Row, Settings
from mmsim.bench.repetitions import alternately, python, timed
from mmsim.model.machines import Schedule

THREADS = 1024
SCHEDULES: tuple[Schedule, ...] = ("synchronous", "asynchronous")


@mm.program
def permute(T: mm.Thread, a: mm.Array, p: mm.Array, b: mm.Array) -> None:
    i = T.id
    b[p[i]] = a[i]


def rows(settings: Settings) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as kept:
        tasks = {"Python and NumPy alone": timed(partial(python, "-c", "import numpy"))}
        for schedule in SCHEDULES:
            settings.say(f"compiling for {schedule}")
            process(schedule, kept)
            tasks[f"{schedule}, compiled before"] = timed(partial(process, schedule, kept))
            tasks[f"{schedule}, nothing compiled"] = timed(partial(uncompiled, schedule))
        for what, seconds in alternately(tasks, settings.repetitions(3), "s", settings.say).items():
            yield {"process": what, "wall time": seconds}


def process(schedule: Schedule, cache: str) -> None:
    """Run the program in a separate process; `cache` keeps Numba's compiled code."""
    python("-m", "mmsim.bench.start", schedule, MMSIM_CACHE_DIR=cache)


def uncompiled(schedule: Schedule) -> None:
    with tempfile.TemporaryDirectory() as empty:
        process(schedule, empty)


def main(schedule: Schedule) -> None:
    a = np.arange(THREADS)
    mm.DMM(32, 5).run(
        permute, a, a[::-1].copy(), np.zeros_like(a), threads=THREADS, schedule=schedule
    )


BENCHMARK = Benchmark(
    "start",
    f"the first run: a fresh process that runs b[p[i]] = a[i] with {THREADS} threads",
    "Wall time of the whole process, by the clock of the one that starts it. Numba's cache is a "
    "folder that an earlier process has filled, or an empty one.",
    rows,
)

if __name__ == "__main__":
    main(cast(Schedule, sys.argv[1]))
