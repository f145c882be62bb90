"""The synchronous schedule: one sequencer drives all threads, round by round (docs/machines.md)."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
import numpy.typing as npt
from simpy import Environment, Event

from mmsim.conflicts import stage_counts
from mmsim.engines.driver import Driver, Failure, Process
from mmsim.engines.recorder import Detail, Recorder
from mmsim.engines.turns import Turns, WarpsInOrder
from mmsim.engines.units import COMPLETION, Job, Moment
from mmsim.engines.watch import Watch, dispatch_times
from mmsim.errors import MMSimError
from mmsim.language.frame import Request, Site, frame_fields
from mmsim.launch import Launch
from mmsim.machines import Unit
from mmsim.memory import ArrayInMemory


class Synchronous(Driver):
    """One sequencer drives all threads; each memory instruction is a round."""

    def __init__(self, launch: Launch, recorder: Recorder | None, watch: Watch | None) -> None:
        super().__init__(launch, recorder, watch)
        meaning = launch.meaning
        self.frame = meaning.frame(*frame_fields(self.grid, None, meaning.fields))
        self.env.process(self.sequencer())

    def turns(self, unit: Unit) -> Turns:
        return WarpsInOrder()

    def sequencer(self) -> Process:
        """The program over all threads, one round after the other; barriers idle."""
        steps = self.launch.meaning.start(self.frame)
        if self.recorder is not None:
            steps = self.recorder.watched(
                steps, self.frame, range(self.grid.warps), lambda: self.now
            )
        values: Any = None
        try:
            while True:
                want = steps.send(values)
                values = None
                if isinstance(want, Request):
                    values = yield from self.round(want)
                elif self.watch is not None:
                    self.watch.round(want.place, want.lanes, self.frame.live, self.now)
        except StopIteration:
            return
        except MMSimError as error:
            raise Failure(error) from error

    def round(self, request: Request) -> Generator[Event, Any, Any]:
        """Dispatch every warp with an active lane once, in order of warp id; wait for the last.

        Within a round all requests read, or all write and take effect in order of warp id, so the
        data move at once.
        """
        grid, site = self.grid, request.site
        array = self.launch.arrays[site.array]
        warps, blocks = grid.warp, grid.block
        if request.lanes is not None:
            warps, blocks = warps[request.lanes], blocks[request.lanes]
        addresses = array.addresses(request.elements, blocks)
        units = array.unit_of_copy[blocks if array.shared else np.zeros_like(blocks)]
        conflict = self.units[int(units[0])].unit.conflict
        counts = stage_counts(addresses, warps, grid.warps, self.width, conflict)
        values = None
        if request.values is None:
            values = array.read(request.elements, blocks)
        active = np.flatnonzero(counts)
        firsts = np.searchsorted(warps, active)
        start = self.now
        if self.watch is not None:
            times = dispatch_times(start, counts[active], units[firsts])
            self.watch.access(
                site,
                blocks if array.shared else 0,
                request.elements,
                grid.id if request.lanes is None else request.lanes,
                warps,
                blocks,
                len(self.tally.rounds),
                request.values,
                np.repeat(times, np.diff(firsts, append=len(warps))),
            )
        round_ = _Round(self.env, len(active))
        details: list[Detail | None] = [None] * len(active)
        if self.recorder is not None:
            details = list(self.details(request, array, warps, blocks, addresses, firsts, values))
        for warp, count, unit, detail in zip(
            active.tolist(), counts[active].tolist(), units[firsts].tolist(), details, strict=True
        ):
            job = Job(self.env, warp, request, addresses, None, count, detail)
            job.callbacks.append(round_.complete)
            self.units[unit].submit(job)
        if request.values is not None:
            self.write(request, array, blocks, warps)
        yield round_.over
        self.tally.round(site, start, self.now - start, len(active), int(counts.sum()))
        if self.recorder is not None:
            self._record_waits(site, start)
        return values

    def details(
        self,
        request: Request,
        array: ArrayInMemory,
        warps: npt.NDArray[np.int64],
        blocks: npt.NDArray[np.int64],
        addresses: npt.NDArray[np.int64],
        firsts: npt.NDArray[np.int64],
        values: npt.NDArray[Any] | None,
    ) -> Generator[Detail, None, None]:
        """What the trace tells of each warp's part of a round."""
        threads = np.arange(self.grid.threads) if request.lanes is None else request.lanes
        moved = request.values if values is None else values
        for first, end in zip(firsts, [*firsts[1:], len(warps)], strict=True):
            part = slice(first, end)
            assert moved is not None
            yield Detail(
                request.site,
                int(blocks[first]) if array.shared else 0,
                threads[part],
                request.elements[part],
                addresses[part],
                moved[part],
            )

    def observe(self, unit: Unit, job: Job, values: Any) -> None:
        super().observe(unit, job, job.detail.values)

    def _record_waits(self, site: Site, start: int) -> None:
        """Lock step: every warp that hasn't ended waits until the round is over."""
        assert self.recorder is not None
        live = np.broadcast_to(self.frame.live, self.grid.threads)
        for warp in np.unique(self.grid.warp[live]).tolist():
            since = max(self.recorder.completed.get(warp, 0), start)
            self.recorder.waited(warp, "round", since, self.now, None, site.place.line)


class _Round:
    """Counts the completions of a round; `over` is the event of the last one."""

    def __init__(self, env: Environment, requests: int) -> None:
        self.missing = requests
        self.over = Moment(env)

    def complete(self, _: Event) -> None:
        """One of the round's requests has completed."""
        self.missing -= 1
        if self.missing == 0:
            self.over.after(0, COMPLETION)
