"""The scheduled and the D-designated permutation compared with the same data movements in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.bench import Benchmark, Row, Settings, alternately, compiled_first, timed
from mmsim.bench.benchmark import LEAST
from mmsim_algorithms import permutations
from mmsim_algorithms.bench.contestants.movements import DestinationDesignated, Scheduled
from mmsim_algorithms.bench.contestants.setting import (
    MACHINE,
    SCHEDULES,
    WIDTH,
    designated_launch,
    same,
)
from mmsim_algorithms.dmm_permutation.programs import moved
from mmsim_algorithms.hmm_permutation.programs import plan, scheduled

NUMPY = "NumPy"


def scheduled_rows(settings: Settings) -> Iterator[Row]:
    for number, n in enumerate((LEAST, *settings.sizes(LEAST, 2**24))):
        settings.say(f"n = {n:,}: colouring the plan")
        P, a = permutations.random(n), np.arange(n)
        steps = plan(P, WIDTH)
        movements = partial(Scheduled(steps, WIDTH), a)
        simulate = {
            schedule: partial(scheduled, MACHINE, a, steps, schedule=schedule)
            for schedule in SCHEDULES
        }
        if number == 0:
            warm_up(n, moved(a, P), movements, simulate, settings)
        else:
            yield beside_numpy(n, moved(a, P), movements, simulate, settings)


def designated_rows(settings: Settings) -> Iterator[Row]:
    for number, n in enumerate((LEAST, settings.size(2**24))):
        launch = designated_launch(n)
        a, _, P = launch.arguments
        movements = partial(DestinationDesignated(P), a)
        simulate = {schedule: partial(launch.run, schedule) for schedule in SCHEDULES}
        if number == 0:
            warm_up(n, launch.b, movements, simulate, settings)
        else:
            yield beside_numpy(n, launch.b, movements, simulate, settings)


def warm_up(
    n: int,
    b: Any,
    movements: Callable[[], Any],
    simulate: Mapping[mm.Schedule, Callable[[], mm.Run]],
    settings: Settings,
) -> None:
    """Run the same without measuring: for imports, compilers and the like."""
    with compiled_first():
        beside_numpy(n, b, movements, simulate, settings)


def beside_numpy(
    n: int,
    b: Any,
    movements: Callable[[], Any],
    simulate: Mapping[mm.Schedule, Callable[[], mm.Run]],
    settings: Settings,
) -> Row:
    """NumPy and both schedules alternately; each must compute b."""
    engines: set[str] = set()

    def check(run: mm.Run) -> None:
        engines.add(run.engine)
        same(b, run.arrays["b"])

    tasks = {NUMPY: timed(movements, partial(same, b))}
    for schedule, work in simulate.items():
        tasks[schedule] = timed(work, check)
    found = alternately(tasks, settings.repetitions(5), "s", settings.about(f"n = {n:,}"))
    bare, synchronous, asynchronous = (measured.median for measured in found.values())
    return {
        "n": n,
        "engine": ", ".join(sorted(engines)),
        **found,
        "synchronous/NumPy": synchronous / bare,
        "asynchronous/NumPy": asynchronous / bare,
        "asynchronous/synchronous - 1": asynchronous / synchronous - 1,
    }


METHOD = (
    "Wall time, alternately, medians; below them the ranges. NumPy does each read and each write "
    "of the programs as one fancy-indexing statement on flat arrays; its index arrays, the plan "
    "and the permutation are made beforehand and not timed. Every result is compared with b[P] = a."
)
SCHEDULED = Benchmark(
    "scheduled",
    f"the scheduled permutation on {MACHINE}, random P, against its 32 data movements in NumPy",
    METHOD,
    scheduled_rows,
)
DESIGNATED = Benchmark(
    "designated",
    f"the D-designated permutation on {MACHINE}, random P, against its 3 data movements in NumPy",
    METHOD,
    designated_rows,
)
BENCHMARKS = [SCHEDULED, DESIGNATED]
