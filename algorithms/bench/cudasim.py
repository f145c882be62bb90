"""mmsim compared with Numba's CUDA simulator: thread accesses per second of the same programs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from mmsim.bench import Benchmark, BenchmarkError, Row, Settings, alternately, compiled_first
from mmsim.bench.benchmark import LEAST
from mmsim.bench.repetitions import json_output
from mmsim_algorithms.bench.contestants.setting import LAUNCHES, SCHEDULES, rate

LIMIT = 4.0  # seconds for one run of the CUDA simulator


def rows(settings: Settings) -> Iterator[Row]:
    n = settings.size(2**20)
    launches = {program: make(n) for program, make in LAUNCHES.items()}
    found: list[dict[str, Any]] = []
    tasks = {"Numba's CUDA simulator": partial(_cuda_simulator, found)}
    for program, launch in launches.items():
        small = LAUNCHES[program](LEAST)
        for schedule in SCHEDULES:
            with compiled_first():
                rate(small, schedule)  # imports, compilers and the like
            tasks[f"{program}, {schedule}"] = partial(rate, launch, schedule)
    rates = alternately(tasks, settings.repetitions(3), "/s", settings.say)
    for program in launches:
        best = max((one for one in found if one["program"] == program), key=lambda one: one["rate"])
        for schedule in SCHEDULES:
            own = rates[f"{program}, {schedule}"]
            yield {
                "program": program,
                "schedule": schedule,
                "n": n,
                "mmsim": own,
                "CUDA simulator's best": best["rate"],
                "at n": best["n"],
                "in blocks of": best["block"],
                "mmsim/CUDA simulator": own.median / best["rate"],
            }


def _cuda_simulator(found: list[dict[str, Any]]) -> float:
    """Try all sizes in a new process; put the rates into `found` and return the best."""
    module = "mmsim_algorithms.bench.contestants.cuda_kernels"
    new = json_output(module, LIMIT, NUMBA_ENABLE_CUDASIM="1")
    if not all(one["right"] for one in new):
        raise BenchmarkError("the CUDA simulator computed a wrong array")
    found += new
    return float(max(one["rate"] for one in new))


BENCHMARK = Benchmark(
    "cudasim",
    "thread accesses per second, against Numba's CUDA simulator on the same programs",
    "A thread for each word on both sides; a thread access is a word of memory read or written. "
    f"The CUDA simulator runs at growing sizes, as far as a run takes about {LIMIT:g} s, and in "
    "blocks of several sizes; the best rate of all its runs counts. That of mmsim is the median of "
    "repetitions taken with it, whole calls of Machine.run.",
    rows,
)
BENCHMARKS = [BENCHMARK]
