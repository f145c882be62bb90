"""All warps at once: the program interpreted on NumPy, one memory access after the other.

The synchronous sequencer runs all p lanes, so that its rounds come one by one. For the asynchronous
schedule the same run gives every warp's sequence of requests and barriers, because what a race-free
program reads doesn't depend on when the other warps run; the time follows from the sequences alone
(see `schedule`). One thing lock step gets wrong there: it would let some warps of a block pass a
barrier before others have come near it. Such a program is run warp by warp, barrier to barrier.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.conflicts import stage_counts
from mmsim.engines.operations import BARRIER, Operations
from mmsim.engines.progress import Progress
from mmsim.engines.room import check_room, copies
from mmsim.engines.scheduled import scheduled
from mmsim.engines.tally import Tally
from mmsim.engines.watch import Watch, dispatch_times
from mmsim.errors import BarrierError, EndlessError
from mmsim.language.frame import Frame, Request, Waiting, frame_fields
from mmsim.language.meaning import Steps
from mmsim.launch import Launch
from mmsim.memory import ArrayInMemory

Integers = npt.NDArray[np.int64]
TEMPORARIES = 180
"""Bytes a thread for its numbers in the grid and for what one access computes on the way: 130 to
170 where all threads make it, more under a mask."""
MANY = 1 << 14
"""Lanes from which a request's conflicts are counted by the compiled counter."""


class NotInStep(Exception):
    """Some warps of a block are at a barrier and others are not: lock step is the wrong order."""


class Counted:
    """One SIMD request of many warps, with what it costs each.

    `warps` are the warps that it concerns, in order, `stages` their stages, `firsts` where in the
    lanes each begins. `lanes` are the active lanes' threads, `lane_warps` and `lane_blocks` where
    those belong.
    """

    def __init__(self, launch: Launch, request: Request, lanes: Integers | None) -> None:
        grid = launch.grid
        self.array: ArrayInMemory = launch.arrays[request.site.array]
        self.lanes = grid.id if lanes is None else lanes
        self.lane_warps, self.lane_blocks = grid.warp, grid.block
        if lanes is not None:
            self.lane_warps, self.lane_blocks = grid.warp[lanes], grid.block[lanes]
        addresses = self.array.addresses(request.elements, self.lane_blocks)
        turns = np.flatnonzero(self.lane_warps[1:] != self.lane_warps[:-1]) + 1
        self.firsts = np.concatenate([[0], turns])
        self.warps = self.lane_warps[self.firsts]
        unit = launch.machine.units[int(self.array.unit_of_copy[0])]
        self.stages = _stages(addresses, self.firsts, launch.machine.width, unit.conflict)
        self.latency = unit.latency
        self.own_units = bool(self.array.shared and launch.machine.shared)


def _stages(addresses: Integers, firsts: Integers, width: int, conflict: Any) -> Integers:
    """The stages of requests that follow one another in `addresses`."""
    ends = np.append(firsts[1:], len(addresses))
    if len(addresses) < MANY:
        warps = np.repeat(np.arange(len(firsts)), ends - firsts)
        return stage_counts(addresses, warps, len(firsts), width, conflict)
    from mmsim.cores import on_all_cores
    from mmsim.engines.counting import count_stages, scratch

    stages = np.empty(len(firsts), dtype=np.int64)
    lanes = int((ends - firsts).max())

    def count(first: int, last: int) -> None:
        group = conflict == "group"
        count_stages(addresses, ends, first, last, width, group, scratch(lanes), stages)

    on_all_cores(count, len(firsts))
    return stages


class Interpreted:
    """One launch, interpreted."""

    def __init__(self, launch: Launch, progress: Progress, watch: Watch | None = None) -> None:
        self.launch = launch
        self.grid = launch.grid
        self.progress = progress
        self.watch = watch
        self.now = -1  # when the round begins, if that is known
        self._begin()

    def _begin(self) -> None:
        """Forget all that has been counted; `intervals` are the barriers that each warp has passed,
        or the rounds."""
        self.tally = Tally(self.launch)
        self.intervals = np.zeros(self.grid.warps, dtype=np.int64)
        if self.watch is not None:
            self.watch.forget()

    def needed(self) -> int:
        """Bytes that running it takes, roughly, beyond the arguments."""
        launch, threads = self.launch, self.grid.threads
        meaning, blocks = launch.meaning, self.grid.blocks
        lane = sum(type_.itemsize for type_ in meaning.typing.variables.values())
        for local in meaning.code.locals:
            size = (
                math.prod(meaning.locals[local.name]) * meaning.typing.arrays[local.name].itemsize
            )
            lane += size * blocks // threads if local.kind == "shared" else size
        return copies(launch) + (lane + TEMPORARIES) * threads

    def run(self) -> int:
        """Run to the end; the time. Memory and `tally` hold the rest."""
        check_room(self.launch, self.needed())
        if self.launch.schedule == "synchronous":
            return self.synchronous()
        return self.asynchronous()

    def synchronous(self) -> int:
        """Round by round: each takes the largest sum of stages of a unit, plus latency - 1."""
        time = self.now = 0
        for request, counted in self.lock_step():
            if counted.own_units:
                dmms = counted.lane_blocks[counted.firsts] % self.grid.dmms
                busiest = int(np.bincount(dmms, weights=counted.stages).max())
            else:
                busiest = int(counted.stages.sum())
            took = busiest + counted.latency - 1
            self.tally.round(
                request.site, time, took, len(counted.warps), int(counted.stages.sum())
            )
            time += took
            self.now = time
            self.intervals += 1
        return time

    def asynchronous(self) -> int:
        """Every warp's operations first, in lock step if that is right, then the time they take."""
        try:
            operations = self.operations_in_step()
        except (NotInStep, EndlessError, BarrierError):
            # A sequencer of its own for every warp: the limit of accesses is a warp's too.
            for array in self.launch.arrays.values():
                array.rewind()
            self._begin()
            operations = self.operations_by_warp()
        return scheduled(self.launch, *operations.by_warp(), self.progress)

    def operations_in_step(self) -> Operations:
        """The warps' operations, from a run in lock step."""
        operations = Operations(self.grid.warps)
        for request, counted in self.lock_step(operations):
            operations.requests(counted.warps, counted.stages, counted.own_units)
            self.tally.count(request.site, len(counted.warps), int(counted.stages.sum()))
        return operations

    def lock_step(self, operations: Operations | None = None) -> Iterator[tuple[Request, Counted]]:
        """The program over all threads; barriers idle, or are noted in `operations`."""
        meaning = self.launch.meaning
        frame = meaning.frame(*frame_fields(self.grid, None, meaning.fields))
        steps = meaning.start(frame)
        values: Any = None
        try:
            while True:
                want = steps.send(values)
                values = None
                if isinstance(want, Request):
                    counted = Counted(self.launch, want, want.lanes)
                    values = self.move(want, counted)
                    self.progress.requested(len(want.elements))
                    yield want, counted
                elif operations is None:
                    if self.watch is not None:
                        self.watch.round(want.place, want.lanes, frame.live, self.now)
                else:
                    waiting = self.warps_waiting(want, frame.live)
                    operations.barrier(waiting)
                    self.intervals[waiting] += 1
        except StopIteration:
            return

    def move(self, request: Request, counted: Counted) -> Any:
        """Read, or write in order of warp id; the values read."""
        if self.watch is not None:
            self.report(self.watch, request, counted)
        if request.values is None:
            return counted.array.read(request.elements, counted.lane_blocks)
        counted.array.write(
            request.elements, counted.lane_blocks, request.values, counted.lane_warps
        )
        return None

    def report(self, watch: Watch, request: Request, counted: Counted) -> None:
        """Tell what a request touches."""
        blocks = counted.lane_blocks
        times: Integers | int = -1
        if self.now >= 0:
            units = blocks % self.grid.dmms if counted.own_units else np.zeros_like(blocks)
            times = dispatch_times(self.now, counted.stages, units[counted.firsts])
            times = np.repeat(times, np.diff(counted.firsts, append=len(blocks)))
        watch.access(
            request.site,
            blocks if counted.array.shared else 0,
            request.elements,
            counted.lanes,
            counted.lane_warps,
            blocks,
            self.intervals[counted.lane_warps],
            request.values,
            times,
        )

    def warps_waiting(self, at: Waiting, live: Any) -> Integers:
        """The warps at a barrier: of every block all that live, or none, else `NotInStep`."""
        grid = self.grid
        if at.lanes is True and live is True:
            return np.arange(grid.warps)
        here = np.broadcast_to(at.lanes, grid.threads)
        missing = np.broadcast_to(live, grid.threads) & ~here
        if np.isin(grid.block[missing], grid.block[here]).any():
            raise NotInStep
        return np.unique(grid.warp[here])

    def operations_by_warp(self) -> Operations:
        """The warps' operations, each run by itself from barrier to barrier."""
        operations = Operations(self.grid.warps)
        for block in range(self.grid.blocks):
            first = block * self.grid.warps_per_block
            last = min(first + self.grid.warps_per_block, self.grid.warps)
            running = {warp: self.start(warp) for warp in range(first, last)}
            while running:
                for warp in list(running):
                    if not self.to_barrier(warp, running[warp], operations):
                        del running[warp]
        return operations

    def start(self, warp: int) -> tuple[Frame, Steps]:
        """A warp's own sequencer."""
        meaning = self.launch.meaning
        frame = meaning.frame(*frame_fields(self.grid, warp, meaning.fields))
        return frame, meaning.start(frame)

    def to_barrier(self, warp: int, sequencer: tuple[Frame, Steps], operations: Operations) -> bool:
        """Run a warp to its next barrier; False if it ends before."""
        frame, steps = sequencer
        begin = self.grid.warp_threads(warp).start
        values: Any = None
        try:
            while True:
                want = steps.send(values)
                if isinstance(want, Waiting):
                    if self.watch is not None:
                        self.watch.arrived(warp, want.place, want.lanes)
                    operations.append(warp, BARRIER)
                    self.intervals[warp] += 1
                    return True
                lanes = begin + (
                    np.arange(len(want.elements)) if want.lanes is None else want.lanes
                )
                counted = Counted(self.launch, want, lanes)
                values = self.move(want, counted)
                self.progress.requested(len(want.elements))
                operations.requests(counted.warps, counted.stages, counted.own_units)
                self.tally.count(want.site, 1, int(counted.stages[0]))
        except StopIteration:
            if self.watch is not None:
                self.watch.ended(warp, frame.live)
            return False
