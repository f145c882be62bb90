"""The discrete-event engine: warps, memory units, turns, rounds and barriers as SimPy processes.

It takes every dispatch and every completion as an event of its own, so that it is exact for any
program, races included, and can tell all that happened. The two schedules of DESIGN section 1 are
two ways to drive the same memory units: `Asynchronous` lets every warp run for itself,
`Synchronous` has one sequencer that waits for each round.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
import numpy.typing as npt
from simpy import Environment, Event

from mmsim.conflicts import stage_counts
from mmsim.engines.recorder import Detail, Recorder
from mmsim.engines.turns import DMMsInTurn, Turns, WarpsInOrder, WarpsInTurn
from mmsim.engines.units import COMPLETION, Job, MemoryUnit, Moment
from mmsim.errors import MMSimError
from mmsim.language.frame import Request, Site, Waiting, frame_fields
from mmsim.launch import Launch
from mmsim.machines import HMM, Unit
from mmsim.memory import ArrayInMemory
from mmsim.results import AccessRow, RoundRow, Run
from mmsim.results.rows import classify

Process = Generator[Event, Any, None]


def run(launch: Launch, recording: bool) -> Run:
    """Run a launch to its end."""
    recorder = Recorder(launch) if recording else None
    driver = (Synchronous if launch.schedule == "synchronous" else Asynchronous)(launch, recorder)
    with np.errstate(all="ignore"):  # inactive lanes may compute nonsense
        try:
            driver.env.run()
        except _Failure as failure:
            raise failure.error from None
    time = max(unit.last_completion for unit in driver.units)
    return Run(
        machine=launch.machine,
        program=launch.program.name,
        threads=launch.grid.threads,
        block_size=launch.grid.block_size,
        schedule=launch.schedule,
        engine="events",
        time=time,
        arrays=launch.results(),
        accesses=driver.tally.rows(),
        rounds=tuple(driver.rounds),
        sources=launch.program.code.sources,
        record=None if recorder is None else recorder.trace(time),
    )


class _Failure(Exception):
    """Carries an error out of a SimPy process, which raises a copy of what it is given."""

    def __init__(self, error: MMSimError) -> None:
        super().__init__(error)
        self.error = error


class Tally:
    """Counts requests and stages of every access of the program's text."""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.requests = [0] * len(launch.meaning.sites)
        self.stages = [0] * len(launch.meaning.sites)

    def rows(self) -> tuple[AccessRow, ...]:
        """One row for each line, array and kind that was executed."""
        merged: dict[tuple[Any, ...], list[int]] = {}
        sites: dict[tuple[Any, ...], Site] = {}
        for site, requests, stages_ in zip(
            self.launch.meaning.sites, self.requests, self.stages, strict=True
        ):
            if requests:
                place = site.place
                key = (place.file, place.line, place.function, site.array, site.kind)
                sums = merged.setdefault(key, [0, 0])
                sums[0] += requests
                sums[1] += stages_
                sites.setdefault(key, site)
        return tuple(
            self._row(sites[key], requests, stages_) for key, (requests, stages_) in merged.items()
        )

    def _row(self, site: Site, requests: int, stages_: int) -> AccessRow:
        space, conflict = space_of(self.launch, site.array)
        return AccessRow(
            site.place.function,
            site.place.file,
            site.place.line,
            site.array,
            site.kind,
            space,
            requests,
            stages_,
            requests,
            classify(conflict, requests, stages_),
        )


def space_of(launch: Launch, array: str) -> tuple[str, str]:
    """The space that an array lies in, and what its units conflict by."""
    machine = launch.machine
    if not isinstance(machine, HMM):
        return "memory", machine.memory.conflict
    return ("shared", "bank") if launch.arrays[array].shared else ("global", "group")


class Driver:
    """What both schedules share: the clock, the memory units, the counts."""

    def __init__(self, launch: Launch, recorder: Recorder | None) -> None:
        self.launch = launch
        self.grid = launch.grid
        self.width = launch.machine.width
        self.recorder = recorder
        self.env = Environment()
        observe = None if recorder is None else self._observe
        self.units = [
            MemoryUnit(self.env, unit, self.width, self.turns(unit), observe)
            for unit in launch.machine.units
        ]
        self.tally = Tally(launch)
        self.rounds: list[RoundRow] = []

    def turns(self, unit: Unit) -> Turns:
        """The order in which a unit dispatches ready warps."""
        raise NotImplementedError

    def _observe(self, unit: Unit, job: Job, values: Any) -> None:
        assert self.recorder is not None
        now: int = self.env.now  # type: ignore[assignment]
        self.recorder.dispatched(unit, now, job.ready, job.warp, job.detail, values)


class Asynchronous(Driver):
    """Every warp has its own sequencer and runs as soon as it may."""

    def __init__(self, launch: Launch, recorder: Recorder | None) -> None:
        super().__init__(launch, recorder)
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
        steps = meaning.start(*frame_fields(grid, number, meaning.fields))
        values: Any = None
        try:
            while True:
                want = steps.send(values)
                if isinstance(want, Waiting):
                    yield barrier.arrive(number, want)
                    values = None
                else:
                    values = yield self.submit(number, block, want)
        except StopIteration:
            barrier.finish()
        except MMSimError as error:
            raise _Failure(error) from error

    def submit(self, warp: int, block: int, request: Request) -> Moment:
        """Make a warp ready with its request; the event of the request's completion."""
        array = self.launch.arrays[request.site.array]
        addresses = array.addresses(request.elements, block)
        detail = None
        if self.recorder is not None:
            detail = self.detail(warp, block, array, request, addresses)
        done = Moment(self.env)
        unit = self.units[array.unit_of_copy[block if array.shared else 0]]
        unit.submit(Job(warp, request, addresses, done, self.move, 0, detail))
        return done

    def move(self, job: Job) -> Any:
        """What a request does at its dispatch; the values that it reads."""
        request, site = job.request, job.request.site
        self.tally.requests[site.number] += 1
        self.tally.stages[site.number] += job.stages
        array, block = self.launch.arrays[site.array], self.grid.block_of_warp(job.warp)
        if request.values is None:
            return array.read(request.elements, block)
        array.write(request.elements, block, request.values)
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
        threads = np.array(self.grid.warp_threads(warp), dtype=np.int64)
        return Detail(
            request.site,
            block if array.shared else 0,
            threads if request.lanes is None else threads[request.lanes],
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
        now: int = self.driver.env.now  # type: ignore[assignment]
        moment = Moment(self.driver.env)
        self.waiting[warp] = (now, at.place.line, moment)
        if self.driver.recorder is not None:
            from mmsim.results.trace import Arrival

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
        now: int = self.driver.env.now  # type: ignore[assignment]
        if recorder is not None:
            from mmsim.results.trace import Release

            recorder.releases.append(Release(now, self.block, tuple(sorted(waiting))))
        for warp, (since, line, moment) in sorted(waiting.items()):
            if recorder is not None:
                recorder.waited(warp, "barrier", since, now, None, line)
            moment.after(0, COMPLETION)


class Synchronous(Driver):
    """One sequencer drives all threads; each memory instruction is a round."""

    def __init__(self, launch: Launch, recorder: Recorder | None) -> None:
        super().__init__(launch, recorder)
        self.env.process(self.sequencer())

    def turns(self, unit: Unit) -> Turns:
        return WarpsInOrder()

    def sequencer(self) -> Process:
        """The program over all threads, one round after the other; barriers idle."""
        meaning = self.launch.meaning
        steps = meaning.start(*frame_fields(self.grid, None, meaning.fields))
        values: Any = None
        try:
            while True:
                want = steps.send(values)
                values = None
                if isinstance(want, Request):
                    values = yield from self.round(want)
        except StopIteration:
            return
        except MMSimError as error:
            raise _Failure(error) from error

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
        start: int = self.env.now  # type: ignore[assignment]
        round_ = _Round(self.env, len(active))
        details: list[Detail | None] = [None] * len(active)
        if self.recorder is not None:
            details = list(self.details(request, array, warps, blocks, addresses, firsts, values))
        for warp, count, unit, detail in zip(
            active.tolist(), counts[active].tolist(), units[firsts].tolist(), details, strict=True
        ):
            job = Job(warp, request, addresses, round_.expect(), None, count, detail)
            self.units[unit].submit(job)
        if request.values is not None:
            array.write(request.elements, blocks, request.values, warps)
        yield round_.over
        self._count(site, start, len(active), int(counts.sum()))
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

    def _observe(self, unit: Unit, job: Job, values: Any) -> None:
        super()._observe(unit, job, job.detail.values)

    def _count(self, site: Site, start: int, requests: int, stages_: int) -> None:
        self.tally.requests[site.number] += requests
        self.tally.stages[site.number] += stages_
        space, conflict = space_of(self.launch, site.array)
        now: int = self.env.now  # type: ignore[assignment]
        self.rounds.append(
            RoundRow(
                len(self.rounds),
                start,
                now - start,
                site.place.function,
                site.place.file,
                site.place.line,
                site.array,
                site.kind,
                space,
                requests,
                stages_,
                classify(conflict, requests, stages_),
            )
        )

    def _record_waits(self, site: Site, start: int) -> None:
        """Lock step: every warp waits until the round is over."""
        assert self.recorder is not None
        now: int = self.env.now  # type: ignore[assignment]
        for warp in range(self.grid.warps):
            since = max(self.recorder.completed.get(warp, 0), start)
            self.recorder.waited(warp, "round", since, now, None, site.place.line)


class _Round:
    """Counts the completions of a round; `over` is the event of the last one."""

    def __init__(self, env: Environment, requests: int) -> None:
        self.env = env
        self.missing = requests
        self.over = Moment(env)

    def expect(self) -> Moment:
        """The completion of one of the round's requests."""
        moment = Moment(self.env)
        assert moment.callbacks is not None
        moment.callbacks.append(self._complete)
        return moment

    def _complete(self, _: Event) -> None:
        self.missing -= 1
        if self.missing == 0:
            self.over.after(0, COMPLETION)
