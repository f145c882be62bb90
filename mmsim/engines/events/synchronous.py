"""The synchronous schedule: one sequencer drives all threads, round by round (docs/machines.md)."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.engines.events.driver import Driver
from mmsim.engines.events.moment import COMPLETION, Moment
from mmsim.engines.events.units import Job
from mmsim.errors import MMSimError
from mmsim.ir.dtypes import Integers
from mmsim.meaning.barriers import in_lock_step
from mmsim.meaning.frame import Reading, Request, Site, Spinning
from mmsim.meaning.launch import Launch
from mmsim.meaning.spinning import refuse
from mmsim.model.machines import Unit
from mmsim.model.rounds import dispatch_times, reading
from mmsim.model.turns import Turns, WarpsInOrder
from mmsim.monitors.listener import Access, Listener


@dataclass(eq=False)
class Round:
    """A round: the access, the stages of each warp with an active lane, and their least sum.

    The lanes of such a warp ask for the addresses from its place in `firsts` on. `missing` is the
    number of warps whose requests have not completed, `over` the last completion. `access` is the
    report to the listeners, if there are any.
    """

    site: Site
    addresses: Integers
    firsts: Integers
    stages: Integers
    least: int
    over: Moment
    missing: int
    access: Access | None = None


class Part(Job):
    """A warp's part of a round, of some of its lanes; its data have moved before."""

    round: Round
    lanes: slice

    def __init__(self, driver: Synchronous, warp: int) -> None:
        super().__init__(driver.env, warp)
        self.listeners = driver.listeners

    def happen(self) -> None:
        self.round.missing -= 1
        if self.round.missing == 0:
            self.round.over.after(0, COMPLETION)

    def asks(self) -> tuple[Site, list[int]]:
        return self.round.site, self.round.addresses[self.lanes].tolist()

    def dispatched(self, unit: Unit, delay: int) -> None:
        if self.round.access is not None:
            part = self.round.access.of_lanes(self.lanes)
            for listener in self.listeners:
                listener.dispatched(part, unit, self.ready, self.stages)
        self.after(delay, COMPLETION)


class Synchronous(Driver):
    """One sequencer drives all threads; each memory instruction is a round."""

    def __init__(self, launch: Launch, listeners: Sequence[Listener]) -> None:
        super().__init__(launch, listeners)
        self.frame = launch.frame(None, self.changes)
        self.round: Round
        self.parts: dict[int, Part] = {}
        self.env.process(self.sequencer())

    def turns(self, unit: Unit) -> Turns:
        return WarpsInOrder()

    def sequencer(self) -> Generator[Moment, Any, None]:
        """Run the program over all threads, round by round; barriers do nothing."""
        frame, listeners = self.frame, self.listeners
        steps = self.launch.meaning.start(frame)
        for listener in listeners:
            listener.began(frame, range(self.grid.warps))
        values: Any = None
        spun, last = False, None  # the latest read since a loop was first seen to repeat
        clock_read = -1
        try:
            while True:
                want = steps.send(values)
                values = None
                if isinstance(want, Spinning):
                    if spun:
                        refuse(self.launch, frame, want, last)
                    spun, last = True, None
                    continue
                if isinstance(want, Reading):
                    values = clock_read = int(reading(self.now, clock_read, want.count))
                    later = Moment(self.env)
                    later.after(clock_read - self.now, COMPLETION)
                    yield later
                    continue
                for listener in listeners:
                    listener.worked(frame, self.now)
                if not isinstance(want, Request):
                    for listener in listeners:
                        listener.met(want.place, want.lanes, frame.live, self.now, want.scope)
                    if want.op is not None:
                        values = in_lock_step(want, self.grid.block)
                    continue
                start = self.now
                if want.site.kind != "write":
                    last = want
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
        launch, grid, site = self.launch, self.grid, request.site
        array = launch.arrays[site.array]
        here = slice(None) if request.lanes is None else request.lanes
        warps, blocks = grid.warp[here], grid.block[here]
        lanes = grid.lane[here] if launch.machine.by_lane else None
        addresses = array.addresses(request.elements, blocks)
        counts = launch.stage_counts(site, blocks, addresses, warps, grid.warps, lanes)
        active = np.flatnonzero(counts)
        firsts, stages = np.searchsorted(warps, active), counts[active]
        least = launch.least(site, blocks, addresses, firsts, lanes, stages)
        units = array.units(blocks[firsts])
        self.round = Round(site, addresses, firsts, stages, least, Moment(self.env), len(active))
        values, left = request.evaluate(array, blocks)
        if self.listeners:
            each = np.array([self.units[unit].unit.stage_time for unit in units])
            sizes = np.diff(firsts, append=len(warps))
            times = np.repeat(dispatch_times(self.now, stages * each, units), sizes)
            self.round.access = Access(
                site,
                array,
                grid.id[here],
                warps,
                blocks,
                request.elements,
                values if left is None else left,
                len(self.tally.rounds),
                times,
                addresses,
            )
            for listener in self.listeners:
                listener.accessed(self.round.access)
        if left is not None:
            self.write(request, array, blocks, warps, left)
        round_, start, parts = self.round, self.now, self.parts
        begins = firsts.tolist()
        own = map(slice, begins, [*begins[1:], len(warps)])
        columns = active.tolist(), stages.tolist(), units.tolist(), own
        for warp, stages_of_warp, unit, of_warp in zip(*columns, strict=True):
            part = parts.get(warp)
            if part is None:
                part = parts[warp] = Part(self, warp)
            part.round, part.lanes, part.stages = round_, of_warp, stages_of_warp
            part.ready = start
            self.units[unit].submit(part)
        return values

    def end(self, request: Request, start: int) -> None:
        """Note that the round is over."""
        round_ = self.round
        cost = len(round_.firsts), int(round_.stages.sum()), round_.least
        self.tally.round(request.site, start, self.now - start, *cost)
        if round_.access is not None:
            for listener in self.listeners:
                listener.round_ended(round_.access, start, self.now, self.frame.live)
