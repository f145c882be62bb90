"""The asynchronous schedule: the rule of turns and nothing more (docs/machines.md)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.engines.driver import Driver, Failure, Process
from mmsim.engines.recorder import Detail, Recorder
from mmsim.engines.turns import DMMsInTurn, Turns, WarpsInTurn
from mmsim.engines.units import COMPLETION, Job, Moment
from mmsim.engines.watch import Watch
from mmsim.errors import MMSimError
from mmsim.language.frame import Request, Waiting, frame_fields
from mmsim.launch import Launch
from mmsim.machines import Unit
from mmsim.memory import ArrayInMemory
from mmsim.results.trace import Arrival, Release


class Asynchronous(Driver):
    """Every warp has its own sequencer and runs as soon as it may."""

    def __init__(self, launch: Launch, recorder: Recorder | None, watch: Watch | None) -> None:
        super().__init__(launch, recorder, watch)
        self.passed = [0] * self.grid.warps  # barriers
        self.barriers = [Barrier(self, block) for block in range(self.grid.blocks)]
        for warp in range(self.grid.warps):
            self.barriers[self.grid.block_of_warp(warp)].unfinished += 1
        for warp in range(self.grid.warps):
            self.env.process(self.warp(warp))

    def turns(self, unit: Unit) -> Turns:
        if self.launch.machine.shared and unit.dmm is None:
            return DMMsInTurn(self.grid.dmm_of_warp)
        return WarpsInTurn()

    def warp(self, number: int) -> Process:
        """One warp: local work at no time, then the next request or barrier."""
        grid, meaning = self.grid, self.launch.meaning
        block = grid.block_of_warp(number)
        barrier = self.barriers[block]
        values: Any = None
        try:
            frame = meaning.frame(*frame_fields(grid, number, meaning.fields))
            steps = meaning.start(frame)
            if self.recorder is not None:
                own = range(number, number + 1)
                steps = self.recorder.watched(steps, frame, own, lambda: self.now)
            while True:
                want = steps.send(values)
                if isinstance(want, Waiting):
                    if self.watch is not None:
                        self.watch.arrived(number, want.place, want.lanes, self.now)
                    yield barrier.arrive(number, want)
                    values = None
                    self.passed[number] += 1
                else:
                    values = yield self.submit(number, block, want)
        except StopIteration:
            if self.watch is not None:
                self.watch.ended(number, frame.live)
            barrier.finish()
        except MMSimError as error:
            raise Failure(error) from error

    def threads(self, warp: int, request: Request) -> npt.NDArray[np.int64]:
        """The threads whose lanes are active in a request."""
        own = self.grid.warp_threads(warp)
        threads = self.grid.id[own.start : own.stop]
        return threads if request.lanes is None else threads[request.lanes]

    def submit(self, warp: int, block: int, request: Request) -> Moment:
        """Make a warp ready with its request; the event of the request's completion."""
        array = self.launch.arrays[request.site.array]
        addresses = array.addresses(request.elements, block)
        detail = None
        if self.recorder is not None:
            detail = self.detail(warp, block, array, request, addresses)
        job = Job(self.env, warp, request, addresses, self.move, 0, detail)
        self.units[array.unit_of_copy[block if array.shared else 0]].submit(job)
        return job

    def move(self, job: Job) -> Any:
        """What a request does at its dispatch; the values that it reads."""
        request, site = job.request, job.request.site
        self.tally.count(site, 1, job.stages)
        array, block = self.launch.arrays[site.array], self.grid.block_of_warp(job.warp)
        if self.watch is not None:
            self.watch.access(
                site,
                block if array.shared else 0,
                request.elements,
                self.threads(job.warp, request),
                job.warp,
                block,
                self.passed[job.warp],
                request.values,
                self.now,
            )
        if request.values is None:
            return array.read(request.elements, block)
        self.write(request, array, block, 0)
        return None

    def detail(
        self,
        warp: int,
        block: int,
        array: ArrayInMemory,
        request: Request,
        addresses: npt.NDArray[np.int64],
    ) -> Detail:
        """What the trace tells of a request."""
        return Detail(
            request.site,
            block if array.shared else 0,
            self.threads(warp, request),
            request.elements,
            addresses,
            request.values,
        )


class Barrier:
    """The barrier of one block: it opens when every unfinished warp is there."""

    def __init__(self, driver: Driver, block: int) -> None:
        self.driver = driver
        self.block = block
        self.unfinished = 0
        self.waiting: dict[int, tuple[int, int, Moment]] = {}  # warp: since when, line, event

    def arrive(self, warp: int, at: Waiting) -> Moment:
        """A warp is here; the event of its release."""
        now = self.driver.now
        moment = Moment(self.driver.env)
        self.waiting[warp] = (now, at.place.line, moment)
        if self.driver.recorder is not None:
            self.driver.recorder.arrivals.append(Arrival(now, warp, self.block, at.place.line))
        self._open()
        return moment

    def finish(self) -> None:
        """A warp of the block has ended and is waited for no more."""
        self.unfinished -= 1
        self._open()

    def _open(self) -> None:
        if not self.waiting or len(self.waiting) < self.unfinished:
            return
        waiting, self.waiting = self.waiting, {}
        recorder = self.driver.recorder
        now = self.driver.now
        if recorder is not None:
            recorder.releases.append(Release(now, self.block, tuple(sorted(waiting))))
        for warp, (since, line, moment) in sorted(waiting.items()):
            if recorder is not None:
                recorder.waited(warp, "barrier", since, now, None, line)
            moment.after(0, COMPLETION)
