"""Measuring several things alternately, so that noise affects all of them equally.

Separate Python processes serve for measurements from the start; `peak_memory` is of this one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from mmsim.errors import MMSimError

T = TypeVar("T")


class BenchmarkError(MMSimError):
    """A benchmark can't run here, or one of its contestants is wrong."""


@dataclass(frozen=True)
class Measured:
    """One quantity, measured once in each repetition: seconds, or something for each second.

    >>> Measured((3.0, 1.0, 2.0), "s").median
    2.0
    """

    values: tuple[float, ...]
    unit: str

    @property
    def median(self) -> float:
        return float(np.median(self.values))

    @property
    def least(self) -> float:
        return min(self.values)

    @property
    def most(self) -> float:
        return max(self.values)


def alternately(
    tasks: Mapping[str, Callable[[], float]],
    repetitions: int,
    unit: str,
    say: Callable[[str], None] = lambda text: None,
) -> dict[str, Measured]:
    """Each task's result in each repetition; a repetition runs each task once, in order."""
    values: dict[str, list[float]] = {name: [] for name in tasks}
    for repetition in range(repetitions):
        for name, task in tasks.items():
            say(f"repetition {repetition + 1} of {repetitions}: {name}")
            values[name].append(task())
    return {name: Measured(tuple(found), unit) for name, found in values.items()}


def timed(work: Callable[[], T], check: Callable[[T], None] | None = None) -> Callable[[], float]:
    """A task that returns the seconds of `work`; `check` sees the result, untimed."""

    def task() -> float:
        start = time.perf_counter()
        result = work()
        seconds = time.perf_counter() - start
        if check is not None:
            check(result)
        return seconds

    return task


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """The exponent e of the c * n^e nearest to the values: least squares on the logarithms.

    >>> round(exponent([1, 10, 100], [7, 70, 700]), 6)
    1.0
    """
    if len(set(sizes)) < 2:
        raise BenchmarkError(f"growth is seen from two sizes on, not {len(set(sizes))}")
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


@contextmanager
def compiled_first() -> Iterator[None]:
    """Compile every program at its first launch in here, even if interpreting it would be quicker.

    A benchmark runs each of its programs once in here, and measures it afterwards.
    """
    from mmsim.engines.array import lazy_compilation

    before, lazy_compilation.eager = lazy_compilation.eager, True
    try:
        yield
    finally:
        lazy_compilation.eager = before


STATUS = Path("/proc/self/status")


def python(*arguments: str, **environment: str) -> str:
    """Python's output for these arguments. Raises `BenchmarkError` if it fails."""
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        called = " ".join(arguments)
        why = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        if done.returncode < 0:
            why = f"ended by signal {-done.returncode}; with 9, memory may have run out"
        raise BenchmarkError(f"python {called}: {why}")
    return done.stdout


def json_output(module: str, *arguments: object, **environment: str) -> Any:
    """The JSON output of a module."""
    return json.loads(python("-m", module, *map(str, arguments), **environment))


def peak_memory() -> int:
    """The peak memory of this process in bytes, with all its threads and libraries.

    On Linux the figure is the kernel's VmHWM. Elsewhere it is ru_maxrss; on Linux this would be
    at least the memory of the *parent* process when it started this one.
    """
    if STATUS.exists():
        for line in STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError:
        raise BenchmarkError("this system doesn't report how much memory a process took") from None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def forget_peak() -> None:
    """Let `peak_memory` count from here on, if the system can (Linux)."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
