"""The engines compared on the same programs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import get_args

from mmsim.bench import Benchmark, Row, Settings, alternately, compiled_first
from mmsim.bench.benchmark import LEAST
from mmsim.model.machines import Engine
from mmsim_algorithms.bench.contestants.setting import LAUNCHES, SCHEDULES, rate

ENGINES: tuple[str, ...] = get_args(Engine)


def rows(settings: Settings) -> Iterator[Row]:
    for program, make in LAUNCHES.items():
        for n in settings.sizes(LEAST, 2**18):
            launch = make(n)
            for schedule in SCHEDULES:
                tasks = {
                    engine: partial(rate, launch, schedule, engine=engine, trace=False)
                    for engine in ENGINES
                }
                if n == LEAST:
                    with compiled_first():
                        for task in tasks.values():
                            task()  # imports, compilers and the like
                what = f"{program}, n = {n:,}, {schedule}"
                rates = alternately(tasks, settings.repetitions(5), "/s", settings.about(what))
                row: Row = {"program": program, "schedule": schedule, "n": n, **rates}
                if {"array", "events"} <= set(rates):
                    row["array/events"] = rates["array"].median / rates["events"].median
                yield row


BENCHMARK = Benchmark(
    "engines",
    "thread accesses per second of each engine",
    "Whole calls of Machine.run without a trace, alternately, medians; below them the ranges.",
    rows,
)
BENCHMARKS = [BENCHMARK]
