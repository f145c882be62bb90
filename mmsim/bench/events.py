"""The event engine compared with bare SimPy."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import simpy

import mmsim as mm
from mmsim.bench.benchmark import Benchmark, Row, Settings
from mmsim.bench.repetitions import alternately
from mmsim.bench.start import permute
from mmsim.model.machines import Schedule

WIDTH, LATENCY, THREADS = 32, 5, 4096
BARE = "bare SimPy, one process"


def rows(settings: Settings) -> Iterator[Row]:
    warps = THREADS // WIDTH
    tasks: dict[str, Callable[[], float]] = {
        BARE: simpy_events,
        f"bare SimPy, {warps} processes": partial(simpy_events, warps),
        "synchronous": partial(warp_accesses, "synchronous"),
        "asynchronous": partial(warp_accesses, "asynchronous"),
        "asynchronous, traced": partial(warp_accesses, "asynchronous", trace=True),
    }
    for task in tasks.values():
        task()  # imports and first uses
    rates = alternately(tasks, settings.repetitions(9), "/s", settings.say)
    for what, rate in rates.items():
        yield {
            "what": what,
            "unit": "events" if what.startswith("bare") else "warp accesses",
            "rate": rate,
            "bare SimPy events for each": rates[BARE].median / rate.median,
        }


def simpy_events(processes: int = 1, events: int = 100_000) -> float:
    """Events per second of SimPy alone: processes that only wait, one time unit at a time."""
    env = simpy.Environment()

    def process() -> Any:
        for _ in range(events // processes):
            yield env.timeout(1)

    for _ in range(processes):
        env.process(process())
    start = time.perf_counter()
    env.run()
    return events / (time.perf_counter() - start)


def warp_accesses(schedule: Schedule, trace: bool = False) -> float:
    """Warp accesses per second of a whole run of b[p[i]] = a[i] for a random permutation."""
    a = np.arange(THREADS)
    p = np.random.RandomState(0).permutation(THREADS)
    b = np.zeros_like(a)
    machine = mm.DMM(WIDTH, LATENCY)
    start = time.perf_counter()
    run = machine.run(
        permute, a, p, b, threads=THREADS, schedule=schedule, engine="events", trace=trace
    )
    return run.requests / (time.perf_counter() - start)


BENCHMARK = Benchmark(
    "events",
    f"the event engine: b[p[i]] = a[i] on DMM({WIDTH}, {LATENCY}), {THREADS} threads, "
    "compared with bare SimPy",
    "Whole calls of Machine.run, and bare SimPy processes that only wait, alternately; medians.",
    rows,
)
