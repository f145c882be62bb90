"""Measuring several things alternately, so that noise affects all of them equally."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

T = TypeVar("T")


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
