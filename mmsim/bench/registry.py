"""The list of benchmarks: every installed package may register its own.

A package names a function that returns its benchmarks in the entry point group `mmsim.benchmarks`:

    [project.entry-points."mmsim.benchmarks"]
    mine = "my_algorithms:benchmarks"
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mmsim.bench import cached, events, start
from mmsim.bench.benchmark import Benchmark
from mmsim.bench.repetitions import BenchmarkError
from mmsim.host.guesses import nearest
from mmsim.host.plugins import registered_in

GROUP = "mmsim.benchmarks"


def registered_benchmarks() -> list[Benchmark]:
    """All benchmarks of all installed packages, and the library's own."""
    return [*registered_in(GROUP), events.BENCHMARK, start.BENCHMARK, cached.BENCHMARK]


def choose_benchmarks(known: Sequence[Benchmark], names: Iterable[str]) -> list[Benchmark]:
    """The benchmarks of these names, or all. Raises `BenchmarkError` for an unknown name."""
    by_name = {benchmark.name: benchmark for benchmark in known}
    wanted = list(dict.fromkeys(names))
    for name in wanted:
        if name not in by_name:
            raise BenchmarkError(f"no benchmark is called {name!r}; {nearest(name, by_name)}")
    return [by_name[name] for name in wanted] or list(known)
