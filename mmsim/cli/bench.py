"""`mmsim bench`: how fast the simulator is, beside a yardstick of the same run."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "bench",
        help="measure the simulator's speed",
        description="Measure the simulator. `events` compares warp accesses per second of the "
        "event engine with bare SimPy events per second, measured in turns in the same run.",
    )
    parser.add_argument("what", choices=("events",))
    parser.add_argument("--repeat", type=int, default=9, help="turns of each (default: 9)")
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    from rich.table import Table
    from rich.text import Text

    from mmsim.cli.output import console

    width, threads = 32, 4096
    rates = measure(
        {
            "bare SimPy, one process": simpy_events,
            f"bare SimPy, {threads // width} processes": lambda: simpy_events(threads // width),
            "synchronous": lambda: warp_accesses("synchronous", width, threads),
            "asynchronous": lambda: warp_accesses("asynchronous", width, threads),
            "asynchronous, traced": lambda: warp_accesses("asynchronous", width, threads, True),
        },
        max(arguments.repeat, 1),
    )
    bare = rates["bare SimPy, one process"]
    title = Text(f"b[p[i]] = a[i] on DMM({width}, 5), {threads} threads; whole runs, median")
    table = Table(title=title, title_justify="left")
    for column in ("what", "per second", "bare SimPy events for each"):
        table.add_column(column, justify="left" if column == "what" else "right")
    for what, rate in rates.items():
        unit = "events" if what.startswith("bare") else "warp accesses"
        table.add_row(f"{what}", f"{rate:,.0f} {unit}", f"{bare / rate:.1f}")
    console().print(table)
    return 0


def measure(tasks: dict[str, Callable[[], float]], turns: int) -> dict[str, float]:
    """The median rate of each task, all measured in turns so that a noisy machine can't decide."""
    rates: dict[str, list[float]] = {name: [] for name in tasks}
    for task in tasks.values():
        task()  # imports and first uses
    for _ in range(turns):
        for name, task in tasks.items():
            rates[name].append(task())
    return {name: statistics.median(values) for name, values in rates.items()}


def simpy_events(processes: int = 1, events: int = 100_000) -> float:
    """Events per second of SimPy alone: processes that wait one time unit after the other."""
    import simpy

    env = simpy.Environment()

    def process() -> Any:
        for _ in range(events // processes):
            yield env.timeout(1)

    for _ in range(processes):
        env.process(process())
    start = time.perf_counter()
    env.run()
    return events / (time.perf_counter() - start)


def warp_accesses(schedule: Any, width: int, threads: int, trace: bool = False) -> float:
    """Warp accesses per second of a whole run of b[p[i]] = a[i] for a random permutation."""
    import numpy as np

    import mmsim as mm

    a = np.arange(threads)
    p = np.random.RandomState(0).permutation(threads)
    b = np.zeros_like(a)
    machine = mm.DMM(width, 5)
    start = time.perf_counter()
    run = machine.run(_permute(), a, p, b, threads=threads, schedule=schedule, trace=trace)
    return run.requests / (time.perf_counter() - start)


def _permute() -> Any:
    """The benchmark's program, parsed at its first use."""
    global _program
    if _program is None:
        import mmsim as mm

        @mm.program
        def permute(T: mm.Thread, a: mm.Array, p: mm.Array, b: mm.Array) -> None:
            i = T.id
            b[p[i]] = a[i]

        _program = permute
    return _program


_program: Any = None
