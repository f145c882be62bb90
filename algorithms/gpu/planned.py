"""Permutations with the tables of their algorithms, made before a GPU needs them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from multiprocessing import get_context
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.host.cores import cores
from mmsim_algorithms import permutations
from mmsim_algorithms.gpu.permuting import PAPER, WARP
from mmsim_algorithms.hmm_permutation.programs import Plan, Tables, plan

AHEAD = 2
"""Plans made or waiting for each core: enough to keep all cores busy, few enough for the memory."""


@dataclass(frozen=True, eq=False)
class Task:
    """A permutation, its inverse and its plan, each made on its first use.

    `made` is an earlier plan, if any.
    """

    P: npt.NDArray[np.signedinteger[Any]]
    made: Plan | None = None

    @cached_property
    def inverse(self) -> npt.NDArray[np.int64]:
        return permutations.inverse(self.P)

    @cached_property
    def plan(self) -> Plan:
        return plan(self.P, WARP) if self.made is None else self.made


class RandomTasks:
    """Tasks along random permutations of n words, seed after seed, planned on all cores.

    >>> tasks = RandomTasks(1024, 3)
    >>> task = tasks[1]  # from here on the others are made too
    >>> (task.P == permutations.random(1024, 1)).all(), task.plan.side
    (np.True_, 32)
    """

    def __init__(self, n: int, count: int) -> None:
        self._made = _random_tasks(n, count)
        self._last: tuple[int, Task] | None = None

    def __getitem__(self, seed: int) -> Task:
        """The task of a seed; it must not be smaller than the last one."""
        while self._last is None or self._last[0] < seed:
            self._last = next(self._made)
        return self._last[1]


def _random_tasks(n: int, count: int) -> Iterator[tuple[int, Task]]:
    # New processes: a forked one couldn't use this one's GPU.
    pool = ProcessPoolExecutor(min(cores(), count), get_context("spawn"))
    waiting: deque[tuple[int, Future[Task]]] = deque()
    try:
        for seed in range(count):
            waiting.append((seed, pool.submit(_random_task, n, seed)))
            if len(waiting) >= AHEAD * cores():
                first, made = waiting.popleft()
                yield first, made.result()
        for first, made in waiting:
            yield first, made.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _random_task(n: int, seed: int) -> Task:
    """A task with its plan, in the shortest integers, to be sent between processes."""
    P = permutations.random(n, seed)
    long = plan(P, WARP)
    short = Plan(_short(long.first), _short(long.second), _short(long.third))
    return Task(P.astype(np.int32), short)


def _short(tables: Tables) -> Tables:
    s, d = tables
    return s.astype(PAPER.tables), d.astype(PAPER.tables)
