"""The benchmarks' common parts: the machine, the programs with their arguments, the check."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.bench import BenchmarkError
from mmsim_algorithms import permutations
from mmsim_algorithms.dmm_permutation.programs import destination_designated, moved
from mmsim_algorithms.hmm_permutation.programs import row_wise, rows_example

WIDTH = 32
BLOCK = 1024
MACHINE = mm.HMM(dmms=16, width=WIDTH, global_latency=300)
SCHEDULES: tuple[mm.Schedule, ...] = ("synchronous", "asynchronous")


@dataclass(frozen=True, eq=False)
class Launch:
    """A program with all arguments of a run; `b` is the right result."""

    program: mm.Program
    arguments: tuple[Any, ...]
    block_size: int
    b: Any

    @property
    def threads(self) -> int:
        return int(self.b.size)

    def run(self, schedule: mm.Schedule, **options: Any) -> mm.Run:
        return MACHINE.run(
            self.program,
            *self.arguments,
            threads=self.threads,
            block_size=self.block_size,
            schedule=schedule,
            **options,
        )

    def check(self, run: mm.Run) -> None:
        same(self.b, run.arrays["b"])


def designated_launch(n: int) -> Launch:
    """D-designated of a random permutation of n words, in global memory."""
    P, a = permutations.random(n), np.arange(n)
    return Launch(destination_designated, (a, np.zeros_like(a), P), BLOCK, moved(a, P))


def row_wise_launch(n: int) -> Launch:
    """The row-wise permutation of a square matrix of n words, each row at random."""
    example = rows_example(WIDTH, n)
    a, _, s, d = example.arguments
    b = np.empty_like(a)
    np.put_along_axis(b, d, np.take_along_axis(a, s, axis=1), axis=1)
    assert example.block_size is not None
    return Launch(row_wise, example.arguments, example.block_size, b)


LAUNCHES: dict[str, Callable[[int], Launch]] = {
    "D-designated": designated_launch,
    "row-wise": row_wise_launch,
}


def same(expected: Any, found: Any) -> None:
    """Raises `BenchmarkError` unless the arrays are equal: a wrong result has no speed."""
    if not np.array_equal(expected, found):
        raise BenchmarkError("a contestant computed a wrong array")


def rate(launch: Launch, schedule: mm.Schedule, **options: Any) -> float:
    """Thread accesses per second of one run, whose result is checked."""
    start = time.perf_counter()
    run = launch.run(schedule, **options)
    seconds = time.perf_counter() - start
    launch.check(run)
    return thread_accesses(run) / seconds


def thread_accesses(run: mm.Run) -> int:
    """Count the words that a thread read or wrote, if all warps are full and none diverges."""
    return run.requests * WIDTH
