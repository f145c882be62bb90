"""mmsim compared with numba-cuda's simulator: seconds of the same kernels."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from statistics import median

from mmsim.bench import Benchmark, BenchmarkError, Row, Settings, alternately
from mmsim.bench.repetitions import json_output
from mmsim_algorithms.bench.contestants.numba_kernels import CASES

SIZES = {"tiled matrix product": 64 * 64}
"""Elements of an array, if not as many as usual."""
USUAL = 2**16
CALLS = 201
MODULE = "mmsim_algorithms.bench.contestants.numba_kernels"


def rows(settings: Settings) -> Iterator[Row]:
    for name in CASES:
        n = settings.size(SIZES.get(name, USUAL))
        tasks = {
            "simulator": partial(_seconds, name, "numba", n, 1),
            "first": partial(_seconds, name, "mmsim", n, 1),
            "later": partial(_seconds, name, "mmsim", n, CALLS),
        }
        say = settings.about(name)
        found = alternately(tasks, settings.repetitions(1), "s", say)
        simulator, first, later = (found[task] for task in tasks)
        yield {
            "kernel": name,
            "n": n,
            "simulator": simulator,
            "first call": first,
            "later call": later,
            "simulator/first": simulator.median / first.median,
            "simulator/later": simulator.median / later.median,
        }


def _seconds(name: str, package: str, n: int, calls: int) -> float:
    """The median of the calls in a new process with an empty directory of machine code."""
    with tempfile.TemporaryDirectory() as empty:
        try:
            seconds = json_output(
                MODULE, name, package, n, calls, NUMBA_ENABLE_CUDASIM="1", MMSIM_CACHE_DIR=empty
            )
        except BenchmarkError as error:
            if package == "numba" and "No module" in str(error):
                raise BenchmarkError(f"{error}; pip install numba-cuda") from None
            raise
    return float(median(seconds))


BENCHMARK = Benchmark(
    "cuda",
    "kernels of numba.cuda on mmsim and on numba-cuda's simulator, seconds of a launch",
    "A process of its own for each. The first call stands in a process that has compiled nothing, "
    "with an empty cache, and includes all that it loads and compiles. A later call is the median "
    f"of {CALLS} that follow one which has compiled the kernel. Arrays are compared with NumPy's.",
    rows,
)
BENCHMARKS = [BENCHMARK]
