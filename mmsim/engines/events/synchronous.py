"""The synchronous schedule: one sequencer drives all threads, round by round (docs/machines.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from simpy import Environment, Event

from mmsim.engines.events.driver import Driver, Process
from mmsim.engines.events.moment import COMPLETION, Moment
from mmsim.engines.events.units import Job
from mmsim.errors import MMSimError
from mmsim.meaning.barriers import in_lock_step
from mmsim.meaning.frame import Request, Site
from mmsim.meaning.launch import Launch
from mmsim.model.machines import Unit
from mmsim.model.memory import ArrayInMemory
from mmsim.model.rounds import dispatch_times
from mmsim.model.turns import Turns, WarpsInOrder
from mmsim.monitors.listener import Access, Listener

Integers = npt.NDArray[np.int64]


class Round:
    """A round: number, stages and unit of each warp with an active lane.

    The lanes of such a warp begin at `firsts`, and ask for `addresses`. `least` is the sum of the
    least stages of all requests. `over` is the last completion.
    """

    def __init__(
        self,
        env: Environment,
        warps: Integers,
        stages: Integers,
        units: Integers,
        firsts: Integers,
        least: int,
    ) -> None:
        self.warps = warps
        self.stages = stages
        self.units = units
        self.firsts = firsts
        self.least = least
        self.missing = len(warps)  # completions
        self.over = Moment(env)
        self.listeners: Sequence[Listener] = ()
        self.access: Access | None = None
        self.site: Site
        self.addresses: Integers

    def asked(self, number: int) -> tuple[Site, list[int]]:
        """The request of the warp of that number."""
        part = slice(*[*self.firsts[number : number + 2].tolist(), len(self.addresses)][:2])
        return self.site, self.addresses[part].tolist()

    def completed(self) -> None:
        """Note that one of its requests has completed."""
        self.missing -= 1
        if self.missing == 0:
            self.over.after(0, COMPLETION)

    def dispatched(self, number: int, unit: Unit, job: Job) -> None:
        """Note that a unit has dispatched the request of that number."""
        if self.access is None:
            return
        first, end = [*self.firsts[number : number + 2].tolist(), len(self.access.threads)][:2]
        part = self.access.of_lanes(slice(first, end))
        for listener in self.listeners:
            listener.dispatched(part, unit, job.ready, job.stages)


class Part(Job):
    """A warp's part of a round, of number `number`; its data have moved before."""

    round: Round
    number: int

    def happen(self, _: Event) -> None:
        self.round.completed()

    def asks(self) -> tuple[Site, list[int]]:
        return self.round.asked(self.number)

    def dispatched(self, unit: Unit) -> None:
        self.round.dispatched(self.number, unit, self)


class Synchronous(Driver):
    """One sequencer drives all threads; each memory instruction is a round."""

    def __init__(self, launch: Launch, listeners: Sequence[Listener]) -> None:
        super().__init__(launch, listeners)
        self.frame = launch.frame(None)
        self.round: Round
        self.parts: dict[int, Part] = {}
        self.env.process(self.sequencer())

    def ended(self) -> None:
        """Nothing waits in lock step."""

    def turns(self, unit: Unit) -> Turns:
        return WarpsInOrder()

    def sequencer(self) -> Process:
        """Run the program over all threads, round by round; barriers do nothing."""
        frame, listeners = self.frame, self.listeners
        steps = self.launch.meaning.start(frame)
        for listener in listeners:
            listener.began(frame, range(self.grid.warps))
        values: Any = None
        try:
            while True:
                want = steps.send(values)
                values = None
                for listener in listeners:
                    listener.worked(frame, self.now)
                if not isinstance(want, Request):
                    for listener in listeners:
                        listener.met(want.place, want.lanes, frame.live, self.now, want.scope)
                    if want.op is not None:
                        values = in_lock_step(want, self.grid.block)
                    continue
                start = self.now
                values = self.begin(want)
                yield self.round.over
                self.end(want, start)
        except StopIteration:
            for listener in listeners:
                listener.worked(frame, self.now)
        except MMSimError as error:
            self.fail(error)

    def begin(self, request: Request) -> npt.NDArray[Any] | None:
        """Dispatch every warp with an active lane once, in order of warp id; return values read.

        In a round either all requests read, or all change memory and take effect in order of warp
        id, so the data move immediately.
        """
        array = self.launch.arrays[request.site.array]
        warps, blocks = self.grid.warp, self.grid.block
        if request.lanes is not None:
            warps, blocks = warps[request.lanes], blocks[request.lanes]
        addresses = array.addresses(request.elements, blocks)
        lanes = None
        if self.launch.machine.by_lane:
            lanes = self.grid.lane if request.lanes is None else self.grid.lane[request.lanes]
        self.round = round_ = self.cost(request.site, array, addresses, warps, blocks, lanes)
        round_.site, round_.addresses = request.site, addresses
        values, left = request.evaluate(array, blocks)
        if self.listeners:
            moved = values if left is None else left
            self.report(request, array, addresses, warps, blocks, moved)
        if left is not None:
            self.write(request, array, blocks, warps, left)
        start = self.now
        columns = round_.warps.tolist(), round_.stages.tolist(), round_.units.tolist()
        for number, (warp, stages, unit) in enumerate(zip(*columns, strict=True)):
            part = self.parts.get(warp)
            if part is None:
                part = self.parts[warp] = Part(self.env, warp)
            part.round, part.number, part.stages = round_, number, stages
            part.ready = start
            self.units[unit].submit(part)
        return values

    def cost(
        self,
        site: Site,
        array: ArrayInMemory,
        addresses: Integers,
        warps: Integers,
        blocks: Integers,
        lanes: Integers | None,
    ) -> Round:
        """The stages of each warp's request, and the unit of each."""
        units = array.unit_of_copy[blocks if array.shared else np.zeros_like(blocks)]
        counts = self.launch.stage_counts(site, units, addresses, warps, self.grid.warps, lanes)
        active = np.flatnonzero(counts)
        firsts = np.searchsorted(warps, active)
        stages = counts[active]
        least = self.launch.least(site, units, addresses, firsts, lanes, stages)
        return Round(self.env, active, stages, units[firsts], firsts, least)

    def report(
        self,
        request: Request,
        array: ArrayInMemory,
        addresses: Integers,
        warps: Integers,
        blocks: Integers,
        values: npt.NDArray[Any] | None,
    ) -> None:
        """Report the round to the listeners."""
        round_ = self.round
        stage_times = np.array([self.units[unit].unit.stage_time for unit in round_.units])
        stages = round_.stages * stage_times
        times = dispatch_times(self.now, stages, round_.units)
        round_.access = Access(
            request.site,
            array,
            self.grid.id if request.lanes is None else request.lanes,
            warps,
            blocks,
            request.elements,
            values,
            len(self.tally.rounds),
            np.repeat(times, np.diff(round_.firsts, append=len(warps))),
            addresses,
        )
        round_.listeners = self.listeners
        for listener in self.listeners:
            listener.accessed(round_.access)

    def end(self, request: Request, start: int) -> None:
        """Note that the round is over."""
        round_ = self.round
        stages = int(round_.stages.sum())
        self.tally.round(
            request.site, start, self.now - start, len(round_.warps), stages, round_.least
        )
        if round_.access is not None:
            for listener in self.listeners:
                listener.round_ended(round_.access, start, self.now, self.frame.live)
