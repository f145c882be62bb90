"""Growth of wall time and memory with n.

Run as a module (program, schedule, n, repetitions, folder), it is the measured process. It takes
its arguments from files, so that only the simulation raises the peak of its memory.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

import numpy as np

import mmsim as mm
from mmsim.bench import Benchmark, Measured, Row, Settings, compiled_first, exponent, timed
from mmsim.bench.benchmark import LEAST
from mmsim.bench.repetitions import forget_peak, json_output, peak_memory
from mmsim_algorithms import permutations
from mmsim_algorithms.bench.contestants.setting import BLOCK, MACHINE, SCHEDULES, WIDTH, same
from mmsim_algorithms.dmm_permutation.programs import destination_designated
from mmsim_algorithms.hmm_permutation.programs import Plan, plan, scheduled

LARGEST = {"D-designated": 2**26, "scheduled": 2**24}
SMALLEST = {"D-designated": 2**12, "scheduled": LEAST}  # smaller runs compile nothing
FIRST = 2**16


def rows(settings: Settings) -> Iterator[Row]:
    for program, largest in LARGEST.items():
        sizes = settings.sizes(FIRST, largest)
        if len(sizes) == 1:  # growth needs two points
            sizes = [n for n in (sizes[0] // 4, *sizes) if n >= SMALLEST[program]]
        found: dict[str, dict[int, Row]] = {schedule: {} for schedule in SCHEDULES}
        for n in sizes:
            with tempfile.TemporaryDirectory() as folder:
                settings.say(f"{program}, n = {n:,}: preparing")
                save(program, n, Path(folder))
                for schedule in SCHEDULES:
                    settings.say(f"{program}, n = {n:,}, {schedule}")
                    row = measured(program, schedule, n, settings.repetitions(3), folder)
                    found[schedule][n] = row
                    yield row
        if len(sizes) > 1:
            for schedule in SCHEDULES:
                yield fitted(program, schedule, found[schedule])


def measured(program: str, schedule: str, n: int, repetitions: int, folder: str) -> Row:
    facts = json_output("mmsim_algorithms.bench.growth", program, schedule, n, repetitions, folder)
    return {
        "program": program,
        "schedule": schedule,
        "n": n,
        "engine": facts["engine"],
        "wall time": Measured(tuple(facts["seconds"]), "s"),
        "bytes per thread": facts["bytes"] / n,
    }


def fitted(program: str, schedule: str, found: dict[int, Row]) -> Row:
    """The exponents of the medians."""
    times = [cast(Measured, row["wall time"]).median for row in found.values()]
    sizes = list(found)
    return {
        "program": program,
        "schedule": schedule,
        "n": f"{sizes[0]:,} to {sizes[-1]:,}",
        "exponent of time": exponent(sizes, times),
    }


def save(program: str, n: int, folder: Path) -> None:
    """Prepare the arguments and keep them in files."""
    P = permutations.random(n)
    np.save(folder / "P.npy", P)
    if program == "scheduled":
        steps = plan(P, WIDTH)
        for step in fields(steps):
            for number, table in enumerate(getattr(steps, step.name)):
                np.save(folder / f"{step.name}{number}.npy", table)


def load(program: str, folder: Path) -> tuple[Any, Callable[[mm.Schedule], mm.Run]]:
    """P, and the run along it."""
    P = np.load(folder / "P.npy")
    a = np.arange(P.size)
    if program == "scheduled":
        steps = Plan(
            *(
                (np.load(folder / f"{step.name}0.npy"), np.load(folder / f"{step.name}1.npy"))
                for step in fields(Plan)
            )
        )
        return P, lambda schedule: scheduled(MACHINE, a, steps, schedule=schedule)
    return P, lambda schedule: MACHINE.run(
        destination_designated,
        a,
        np.zeros_like(a),
        P,
        threads=P.size,
        block_size=BLOCK,
        schedule=schedule,
    )


def main(program: str, schedule: mm.Schedule, n: int, repetitions: int, folder: Path) -> None:
    """Make a tiny run, load the arguments, and run repeatedly."""
    with tempfile.TemporaryDirectory() as tiny, compiled_first():
        save(program, SMALLEST[program], Path(tiny))
        load(program, Path(tiny))[1](schedule)
    P, simulate = load(program, folder)
    forget_peak()
    before = peak_memory()
    facts: dict[str, object] = {}

    def look(run: mm.Run) -> None:
        if not facts:
            facts.update(engine=run.engine, bytes=peak_memory() - before)
            same(np.arange(n), run.arrays["b"][P])

    work = timed(lambda: simulate(schedule), look)
    seconds = [work() for _ in range(repetitions)]
    print(json.dumps({**facts, "seconds": seconds}))


BENCHMARK = Benchmark(
    "growth",
    f"wall time and memory on {MACHINE} as n grows, a random P, a thread for each word",
    "A process of its own for each line makes a tiny run, loads its arguments and then runs; the "
    "time is the median of its runs, below it the range. Bytes per thread: the peak of the "
    "process's memory in the first run less what it held before, over n, so that the caller's own "
    "arguments don't count. Exponents: least squares on the logarithms of n and time.",
    rows,
)
BENCHMARKS = [BENCHMARK]

if __name__ == "__main__":
    main(
        sys.argv[1],
        cast(mm.Schedule, sys.argv[2]),
        int(sys.argv[3]),
        int(sys.argv[4]),
        Path(sys.argv[5]),
    )
