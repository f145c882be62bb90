"""The memory units of the event engine (docs/machines.md, *The pipeline*).

A unit takes one stage per time unit: a request of k stages dispatched at t keeps it busy until
t + k and completes at t + k + l - 1. At one instant completions and barriers come before
dispatches: this is the order of the two priorities of `moment`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from simpy import Environment

from mmsim.engines.cached_launch import asked, in_arrays, leave, plain_state
from mmsim.engines.events.moment import COMPLETION, DISPATCH, Recurring
from mmsim.engines.tally import Tally
from mmsim.ir.dtypes import Integers
from mmsim.meaning.frame import Site
from mmsim.meaning.launch import Launch
from mmsim.model import cache
from mmsim.model.machines import Unit
from mmsim.model.memory import ArrayInMemory
from mmsim.model.rounds import completion
from mmsim.model.turns import Turns

FEW = 4  # requests below which counting them one by one is faster


class Job(Recurring):
    """A warp's job at a unit, one request at a time; the event is the completion.

    A warp of block `block` requests `elements` of an `array`, one for each active lane (at least
    one). `stages` is 0 until they are counted; `least` is the number of stages at best. `ready` is
    when the warp became ready; it is noted for listeners, if there are any. `values` are the words
    that the request has read, or the results of a barrier.
    """

    least = 1
    array: ArrayInMemory
    block: int
    elements: Integers
    stages: int
    ready: int
    values: Any = None

    def __init__(self, env: Environment, warp: int) -> None:
        super().__init__(env)
        self.warp = warp

    @property
    def addresses(self) -> Integers:
        """The addresses of the elements."""
        return self.array.addresses(self.elements, self.block)

    def dispatched(self, unit: Unit, delay: int) -> None:
        """Dispatch the request: it takes effect on memory, and completes `delay` later."""
        self.after(delay, COMPLETION)

    def asks(self) -> tuple[Site, list[int]]:
        """The access of the request, and its addresses."""
        raise NotImplementedError


class MemoryUnit(Recurring):
    """One memory unit: takes jobs, dispatches them in turn, completes them.

    The event is that the unit becomes free, or that a job comes to the idle unit.
    """

    def __init__(self, env: Environment, unit: Unit, turns: Turns) -> None:
        super().__init__(env)
        self.unit = unit
        self.turns = turns
        self.jobs: dict[int, Job] = {}
        self.uncounted: list[Job] = []
        self.idle = True
        self.beyond = completion(0, 0, unit.latency)  # a request's time beyond its stages

    def submit(self, job: Job) -> None:
        """Note that a warp is ready from now on."""
        self.jobs[job.warp] = job
        self.turns.push(job.warp)
        if not job.stages:
            self.uncounted.append(job)
        if self.idle:
            self.idle = False
            self.after(0, DISPATCH)

    def happen(self) -> None:
        """Dispatch the next ready warp, when the unit is free."""
        warp = self.turns.pop()
        if warp is None:
            self.idle = True
            return
        job = self.jobs.pop(warp)
        if not job.stages:
            self._count()
        busy, delay = self.serve(job)
        job.dispatched(self.unit, delay)
        self.after(busy, DISPATCH)

    def serve(self, job: Job) -> tuple[int, int]:
        """The delays until the unit is free again and until a request dispatched now completes."""
        busy = job.stages * self.unit.stage_time
        return busy, busy + self.beyond

    def leave(self) -> None:
        """Leave the cache, if there is one, to the next launch."""

    def _count(self) -> None:
        """Count the stages of all ready requests: many together cost little more than one."""
        waiting, self.uncounted = self.uncounted, []
        if len(waiting) < FEW:
            for job in waiting:
                job.stages = self.unit.conflict.stages(job.addresses.tolist())
            return
        lanes = [len(job.elements) for job in waiting]
        counts = self.unit.conflict.stage_counts(
            _addresses(waiting, lanes), np.arange(len(waiting)).repeat(lanes), len(waiting)
        )
        for job, count in zip(waiting, counts.tolist(), strict=True):
            job.stages = count


def _addresses(jobs: list[Job], lanes: list[int]) -> Integers:
    """The addresses of all elements of jobs with `lanes` lanes."""
    copies = {(job.array, job.block) for job in jobs}
    elements = np.concatenate([job.elements for job in jobs])
    if len(copies) == 1:
        array, block = copies.pop()
        return array.addresses(elements, block)
    if any(array.offsets is not None for array, _ in copies):
        return np.concatenate([job.addresses for job in jobs])
    elements += np.repeat([job.array.base(job.block) for job in jobs], lanes)
    return elements


class CachedUnit(MemoryUnit):
    """The global memory: the cache's rule says when a request completes."""

    def __init__(
        self,
        env: Environment,
        unit: Unit,
        turns: Turns,
        launch: Launch,
        tally: Tally,
        dmm_of_warp: Callable[[int], int],
    ) -> None:
        super().__init__(env, unit, turns)
        self.launch = launch
        self.numbers, self.asked = asked(launch)
        self.state = plain_state(launch)
        self.dmm_of_warp = dmm_of_warp
        self.taken = tally.taken

    def serve(self, job: Job) -> tuple[int, int]:
        site, addresses = job.asks()
        of = self.asked[site.number]
        sectors, places = of.sectors(addresses)
        who, now = (self.dmm_of_warp(job.warp), of.kind), self.now
        how = *who, job.stages, sectors, places, 0, len(sectors)
        done = cache.serve(self.numbers, self.state, now, *how)
        counts = self.taken[site.number]
        cache.add_counts(self.numbers, self.state, counts, *who, sectors, 0, len(sectors))
        return self.state.free[cache.TAGS] - now, done - now

    def leave(self) -> None:
        """Leave the cache if this launch began with an earlier one's."""
        if self.launch.left is not None:
            leave(self.launch, in_arrays(self.state, cache.widened(self.launch.left)))
