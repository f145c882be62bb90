"""A memory unit as a SimPy process (docs/machines.md, *The pipeline*).

A unit takes one stage per time unit: a request of k stages dispatched at t keeps it busy until
t + k and completes at t + k + l - 1. At one instant completions and barriers come before
dispatches: that is the order of the two priorities below.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import numpy as np
import numpy.typing as npt
from simpy import Environment, Event

from mmsim.conflicts import stage_counts, stages
from mmsim.engines.turns import Turns
from mmsim.language.frame import Request
from mmsim.machines import Unit

COMPLETION, DISPATCH = 1, 2
FEW = 4  # requests below which counting them one by one is faster

Integers = npt.NDArray[np.int64]


class Moment(Event):
    """An event that is set off by scheduling it, with a delay and a priority.

    Like SimPy's own `Timeout` it sets the fields of an event that will succeed, and leaves out the
    rest: an engine makes one for each access.
    """

    def __init__(self, env: Environment) -> None:
        self.env = env
        self.callbacks = []
        self._ok = True
        self._value = None

    def after(self, delay: int, priority: int, value: Any = None) -> Moment:
        """Let the event happen `delay` time units from now and carry `value`."""
        self._value = value
        self.env.schedule(self, priority, delay)  # type: ignore[arg-type]  # any int is a priority
        return self


class Job(Moment):
    """A warp's request at a unit; as an event, the request's completion with the values read.

    `addresses` are those of its active lanes, at least one. `move`, called at the dispatch, moves
    the data and gives the values read; it is None where the data have moved before. `stages` is 0
    until they are counted. `ready` is when the warp became ready.
    """

    def __init__(
        self,
        env: Environment,
        warp: int,
        request: Request,
        addresses: Integers,
        move: Callable[[Job], Any] | None = None,
        stages: int = 0,
        detail: Any = None,
    ) -> None:
        self.env = env
        self.callbacks = []
        self._ok = True
        self._value = None
        self.warp = warp
        self.request = request
        self.addresses = addresses
        self.move = move
        self.stages = stages
        self.detail = detail
        self.ready = 0


class MemoryUnit:
    """One memory unit: takes jobs, dispatches them in turn, completes them.

    `observe(unit, job, values)`, if given, is called at each dispatch.
    """

    def __init__(
        self,
        env: Environment,
        unit: Unit,
        width: int,
        turns: Turns,
        observe: Callable[[Unit, Job, Any], None] | None,
    ) -> None:
        self.env = env
        self.unit = unit
        self.width = width
        self.turns = turns
        self.observe = observe
        self.jobs: dict[int, Job] = {}
        self.uncounted: list[Job] = []
        self.bell: Moment | None = None  # rung when a job comes to an idle unit
        self.last_completion = 0
        env.process(self._serve())

    def submit(self, job: Job) -> None:
        """A warp is ready from now on."""
        job.ready = self.env.now  # type: ignore[assignment]  # time is whole: every delay is
        self.jobs[job.warp] = job
        self.turns.push(job.warp)
        if not job.stages:
            self.uncounted.append(job)
        if self.bell is not None:
            self.bell.after(0, DISPATCH)
            self.bell = None

    def _serve(self) -> Generator[Event, Any, None]:
        """Whenever the unit is free, dispatch the next ready warp."""
        env, turns, jobs, latency = self.env, self.turns, self.jobs, self.unit.latency
        free = Moment(
            env
        )  # the unit is free, or has been woken: one event, set off again and again
        while True:
            free.callbacks = []
            warp = turns.pop()
            if warp is None:
                self.bell = free
                yield free
                continue
            job = jobs.pop(warp)
            if not job.stages:
                self._count()
            stages = job.stages
            values = None if job.move is None else job.move(job)
            job.after(stages + latency - 1, COMPLETION, values)
            self.last_completion = env.now + stages + latency - 1  # type: ignore[assignment]
            if self.observe is not None:
                self.observe(self.unit, job, values)
            yield free.after(stages, DISPATCH)

    def _count(self) -> None:
        """Count the stages of all ready requests: many at once cost little more than one."""
        waiting, self.uncounted = self.uncounted, []
        if len(waiting) < FEW:
            for job in waiting:
                job.stages = stages(job.addresses.tolist(), self.width, self.unit.conflict)
            return
        lanes = [len(job.addresses) for job in waiting]
        counts = stage_counts(
            np.concatenate([job.addresses for job in waiting]),
            np.repeat(np.arange(len(waiting)), lanes),
            len(waiting),
            self.width,
            self.unit.conflict,
        )
        for job, count in zip(waiting, counts.tolist(), strict=True):
            job.stages = count
