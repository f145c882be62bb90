"""A memory unit as a SimPy process (DESIGN section 1, *Pipeline*).

A unit takes one stage per time unit: a request of k stages dispatched at t keeps it busy until
t + k and completes at t + k + l - 1. At one instant completions and barriers come before dispatches:
that is the order of the two priorities below.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from simpy import Environment, Event

from mmsim.engines.turns import Turns
from mmsim.machines import Unit

COMPLETION, DISPATCH = 1, 2


class Job:
    """A warp's request at a unit.

    `done` is the event of its completion. `effect`, called at the dispatch, moves the data and
    gives the values read, which `done` carries. `ready` is when the warp became ready.
    """

    __slots__ = ("detail", "done", "effect", "ready", "stages", "warp")

    def __init__(
        self,
        warp: int,
        stages: int,
        done: Moment,
        effect: Callable[[], Any] | None = None,
        detail: Any = None,
    ) -> None:
        self.warp = warp
        self.stages = stages
        self.done = done
        self.effect = effect
        self.detail = detail
        self.ready = 0


class Moment(Event):
    """An event that is set off by scheduling it, with a delay and a priority.

    Like SimPy's own `Timeout` it sets the fields of an event that will succeed, and leaves out the
    rest: an engine makes two for each access.
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


class MemoryUnit:
    """One memory unit: takes jobs, dispatches them in turn, completes them."""

    def __init__(
        self,
        env: Environment,
        unit: Unit,
        turns: Turns,
        observe: Callable[[Unit, Job, Any], None] | None,
    ) -> None:
        self.env = env
        self.unit = unit
        self.turns = turns
        self.observe = observe
        self.jobs: dict[int, Job] = {}
        self.bell: Moment | None = None  # rung when a job comes to an idle unit
        self.last_completion = 0
        env.process(self._serve())

    def submit(self, job: Job) -> None:
        """A warp is ready from now on."""
        job.ready = self.env.now  # type: ignore[assignment]  # time is whole: every delay is
        self.jobs[job.warp] = job
        self.turns.push(job.warp)
        if self.bell is not None:
            self.bell.after(0, DISPATCH)
            self.bell = None

    def _serve(self) -> Generator[Event, Any, None]:
        """Whenever the unit is free, dispatch the next ready warp."""
        env, turns, jobs, latency = self.env, self.turns, self.jobs, self.unit.latency
        while True:
            warp = turns.pop()
            if warp is None:
                self.bell = Moment(env)
                yield self.bell
                continue
            job = jobs.pop(warp)
            values = None if job.effect is None else job.effect()
            stages = job.stages
            job.done.after(stages + latency - 1, COMPLETION, values)
            self.last_completion = env.now + stages + latency - 1  # type: ignore[assignment]
            if self.observe is not None:
                self.observe(self.unit, job, values)
            yield Moment(env).after(stages, DISPATCH)
