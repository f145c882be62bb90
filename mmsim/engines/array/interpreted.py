"""All warps together: the program interpreted on NumPy, one memory access at a time.

The synchronous sequencer runs all p lanes, so that its rounds come one by one. For the asynchronous
schedule the same run gives every warp's sequence of requests and barriers: the values that a
race-free program reads don't depend on the speed of the other warps. The time follows from the
sequences alone (see `schedule`). Lock step is wrong in one case: it would let some warps of a block
pass a barrier before others arrive. Such a program is run warp by warp, barrier to barrier.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from mmsim.engines.array.asynchronous_time import Phases, bytes_prepared, scheduled
from mmsim.engines.array.cached_compiled import REQUEST
from mmsim.engines.array.cached_time import Requests, Rounds, bytes_played
from mmsim.engines.array.clocks import Clocks
from mmsim.engines.array.lazy_compilation import LazilyCompiled
from mmsim.engines.array.meetings import Meetings
from mmsim.engines.array.operations import ByWarp, InStep, Note
from mmsim.engines.array.turns_compiled import BARRIER
from mmsim.engines.footprint import ACCESS, OBJECT, SEQUENCER, bytes_per_lane
from mmsim.engines.tally import Tally
from mmsim.errors import BarrierError, EndlessError
from mmsim.host.cores import on_all_cores
from mmsim.host.progress import Progress
from mmsim.ir.atomics import UFUNCS
from mmsim.ir.dtypes import Integers
from mmsim.ir.operators import Mask, without
from mmsim.meaning.alone import Lent
from mmsim.meaning.barriers import in_lock_step, results, tests_of
from mmsim.meaning.frame import Frame, Reading, Request, Site, Spinning, Steps, Waiting, Words
from mmsim.meaning.launch import Launch
from mmsim.meaning.memory_budget import Growth, check_memory, copies, shared
from mmsim.meaning.spinning import refuse
from mmsim.model.byte_banks import Long, fewest_of_distinct
from mmsim.model.conflicts import Conflict, Groups
from mmsim.model.memory import ArrayInMemory
from mmsim.model.rounds import completion, dispatch_times, round_time
from mmsim.monitors.listener import Access, Listener

OF_A_WARP, OF_A_BLOCK = 64, 40
"""Bytes of one access's counts by warp, and of the places of shared arrays' copies."""
SMALL, OF_A_PATTERN, ALL_PATTERNS = 1 << 10, 500, 1 << 24
"""The most lanes of a request whose costs are kept, and the bytes of one's costs, and of all."""
COUNTED = ("bank", "group")  # the rules that the compiled counter knows
MANY = 1 << 14
"""The least number of lanes for which the compiled counter counts a request's conflicts."""
COUNTER = LazilyCompiled("counting.count_stages", 1 << 24)
"""The lanes whose conflicts NumPy counts in about the time that the counter takes to compile."""


class NotInStep(Exception):
    """Some warps of a block are at a barrier and others are not: lock step is the wrong order."""


class Spins(Exception):
    """A warp repeats a loop: the warps that may end it run at the same time."""


class Costs(NamedTuple):
    """The common part of requests of one pattern: their warps in order, and the cost for each.

    `firsts` are the first lanes of the warps, `stages` their stages, `total` the sum of these,
    `least` the least stages of all. `meet` says that two lanes access one word; `note` is for the
    schedule.
    """

    firsts: Integers
    warps: Integers
    stages: Integers
    total: int
    least: int
    meet: bool
    note: Note


class Patterns:
    """The costs of small requests, by their lanes and where their words lie, relative to a line."""

    def __init__(self) -> None:
        self.found: dict[Any, Costs] = {}
        self.held = 0
        self.rules: dict[int, tuple[Conflict | None, int]] = {}

    def rule(self, launch: Launch, site: Site) -> tuple[Conflict | None, int]:
        """The rule for an access of the text, and the words of a line; 0 if lines differ."""
        if (found := self.rules.get(site.number)) is None:
            conflict = launch.conflict(site.array, site.served_as, site.vector)
            line = launch.machine.line // launch.machine.room(
                launch.arrays[site.array].dtype.itemsize
            )
            is_regular = conflict is not None and conflict.lone is not None
            found = self.rules[site.number] = conflict, max(line, 1) if is_regular else 0
        return found

    def keep(self, key: tuple[Any, bytes, bytes], costs: Costs) -> None:
        """Keep costs, and discard the others if they are too many."""
        self.held += OF_A_PATTERN + 4 * len(key[-1])
        if self.held > ALL_PATTERNS:
            self.found, self.held = {}, 0
        self.found[key] = costs


class Counted:
    """One SIMD request of many warps, with the cost for each.

    Values for each lane are computed on demand: for many threads this takes longer than counting.
    """

    def __init__(
        self, launch: Launch, request: Request, lanes: Integers | None, patterns: Patterns
    ) -> None:
        self.grid = launch.grid
        self.active = lanes
        self.array: ArrayInMemory = launch.arrays[request.site.array]
        self.addresses = addresses = self.array.addresses(request.elements, self.blocks)
        self.own_units = self.array.own_units
        site = request.site
        self.site = site.number
        conflict, line = patterns.rule(launch, site)
        if not line or len(addresses) > SMALL:
            costs = self._costs(launch, site, conflict)
        else:
            within = addresses - addresses.item(0) // line * line
            key = site.number, b"" if lanes is None else lanes.tobytes(), within.tobytes()
            if (costs := patterns.found.get(key)) is None:  # type: ignore[assignment]
                costs = self._costs(launch, site, conflict)
                patterns.keep(key, costs)
        self.firsts, self.warps, self.stages, self.total, self.least, self.meet, self.note = costs

    def _costs(self, launch: Launch, site: Site, conflict: Conflict | None) -> Costs:
        grid, lanes, addresses = self.grid, self.active, self.addresses
        if lanes is None:
            firsts, of = grid.warp_ends[:-1], np.arange(grid.warps)
        else:
            changes = np.flatnonzero(self.lane_warps[1:] != self.lane_warps[:-1]) + 1
            firsts = np.concatenate([[0], changes])
            of = self.lane_warps[firsts]
        numbers = None
        if conflict is None or conflict.by_lane:
            numbers = grid.lane if lanes is None else grid.lane[lanes]
        counted = conflict is not None and conflict.compiled in COUNTED and site.vector == 1
        if len(addresses) >= MANY and counted and COUNTER.pays(len(addresses)):
            assert conflict is not None
            parts = conflict.parts(firsts, numbers)
            stages: Integers = _compiled_count(addresses, parts, conflict)
            if len(parts) > len(firsts):
                stages = np.add.reduceat(stages, np.searchsorted(parts, firsts))
            least = len(parts)
            if isinstance(conflict, Long):
                distinct = _compiled_count(addresses, firsts, Groups(1))
                least = int(fewest_of_distinct(conflict, distinct, 1, stages).sum())
            return self._together(firsts, of, stages, least, True)
        count, blocks, warps = len(firsts), self.lane_blocks, grid.warp
        if lanes is not None:
            warps = np.arange(count).repeat(np.diff(firsts, append=len(addresses)))
        stages = launch.stage_counts(site, blocks, addresses, warps, count, numbers)
        least = launch.least(site, blocks, addresses, firsts, numbers, stages)
        meet = len(addresses) > SMALL or len(set(addresses.tolist())) < len(addresses)
        return self._together(firsts, of, stages, least, meet)

    def _together(
        self, firsts: Integers, warps: Integers, stages: Integers, least: int, meet: bool
    ) -> Costs:
        note = Note.of(warps, 2 * stages + self.own_units, self.grid.warps)
        return Costs(firsts, warps, stages, int(stages.sum()), least, meet, note)

    @cached_property
    def lane_warps(self) -> Integers:
        """The warp of each lane."""
        return self.grid.warp if self.active is None else self.grid.warp[self.active]

    @cached_property
    def lane_blocks(self) -> Integers:
        """The block of each lane."""
        return self.grid.block if self.active is None else self.grid.block[self.active]

    @property
    def blocks(self) -> Integers | int:
        """The block of each lane if each block has its own copy of the array, else 0."""
        return self.lane_blocks if self.array.shared else 0

    @property
    def asked(self) -> tuple[int, Integers, Integers, Integers]:
        """The note for `Requests`: the access, addresses, firsts of requests, stages."""
        return self.site, self.addresses, self.firsts, self.stages


def _compiled_count(addresses: Integers, firsts: Integers, conflict: Conflict) -> Integers:
    """The stages of requests that are consecutive in `addresses`."""
    ends = np.append(firsts[1:], len(addresses))
    from mmsim.engines.array.counting import count_stages, scratch

    stages = np.empty(len(firsts), dtype=np.int64)
    lanes = int((ends - firsts).max())

    def count(first: int, last: int) -> None:
        how = conflict.width, conflict.compiled == "group", scratch(lanes)
        count_stages(addresses, ends, first, last, *how, stages)

    on_all_cores(count, len(firsts))
    return stages


class Interpreted:
    """One launch, interpreted; `step` is called at each step in lock step, see `Frame`.

    It `lends` its arrays to loops of single lanes, if nothing else needs to see each access.
    """

    def __init__(
        self,
        launch: Launch,
        progress: Progress,
        monitors: Listener | None = None,
        step: Callable[[int], None] | None = None,
        lends: bool = True,
    ) -> None:
        self.launch = launch
        self.grid = launch.grid
        self.progress = progress
        self.is_watched = monitors is not None
        self.monitors = Listener() if monitors is None else monitors
        self.growth = Growth(launch, "the list of its warps' requests")
        self.step = step
        grid, types = launch.grid, launch.meaning.typing.arrays
        key = "patterns", launch.machine, grid.threads, grid.block_size, *types.items()
        self.patterns = launch.once(key, Patterns)
        self.changes = launch.changes()
        self.lone = self._lone() if lends else None
        self.now = -1  # when the round begins, if that is known
        self._begin()

    def _begin(self) -> None:
        """Discard all counts; `intervals` are the barriers that each warp has passed, or rounds."""
        self.tally = Tally(self.launch)
        self.intervals = np.zeros(self.grid.warps, dtype=np.int64)
        has_cache = self.launch.machine.cache is not None
        is_apart = self.launch.schedule == "asynchronous"
        self.phases = Phases(self.launch) if is_apart and self.launch.meets_as_grid else None
        self.requests = Requests(self.launch, self.growth) if has_cache else None
        self.meetings = Meetings(self.launch)
        self.clocks = Clocks(self.launch) if self.launch.meaning.reads_clock else None
        self.monitors.forget()

    def _lone(self) -> list[int] | None:
        """The stages of a single lane's request of each access, None if some need to be counted."""
        launch, found = self.launch, []
        if launch.machine.cache is not None or launch.schedule != "asynchronous":
            return None
        if self.is_watched or launch.lenient is not None or launch.in_turn:
            return None
        for site in launch.meaning.sites:
            rule = launch.conflict(site.array, site.served_as, site.vector)
            stages = None if rule is None else rule.lone
            if stages is None:
                return None
            found.append(stages)
        return found

    def lent(self, operations: InStep | ByWarp) -> Lent | None:
        """The arrays for the loops of single lanes, whose requests become `operations`."""
        if self.lone is None:
            return None
        grid, sites, tally, lone = self.grid, self.launch.meaning.sites, self.tally, self.lone

        def ran(thread: int, accesses: list[int], noted: bytearray) -> None:
            table = bytearray(256)
            for place, number in enumerate(accesses):
                site, stages, requests = sites[number], lone[number], noted.count(place)
                tally.count(site, requests, requests * stages, requests * stages)
                own = self.launch.arrays[site.array].own_units
                table[place] = 2 * stages + own
            made = np.frombuffer(noted.translate(table), np.uint8)
            operations.sequence(grid.warp.item(thread), made)
            self.progress.requested(len(noted))

        return Lent(self.launch.arrays, grid.block.item, ran)

    def needed(self) -> int:
        """The approximate bytes of a run, beyond the arguments and data that grow with accesses."""
        launch, grid = self.launch, self.grid
        of_lanes = grid.threads * (bytes_per_lane(launch) + ACCESS)
        most = of_lanes + OF_A_WARP * grid.warps + OF_A_BLOCK * grid.blocks
        if self.requests is not None:
            most = max(most, bytes_played(launch))
        elif launch.schedule == "asynchronous":
            most = max(most, bytes_prepared(launch.machine, grid))
        needed = copies(launch) + shared(launch) + most + self.meetings.needed(grid.threads)
        if self.is_watched:
            from mmsim.monitors.watch import bytes_watched  # loaded with them

            needed += bytes_watched(launch)
        return needed

    def needed_by_warp(self) -> int:
        """The same if every warp runs independently: a block's warps are active together."""
        launch, grid = self.launch, self.grid
        warps = min(grid.warps_per_block, grid.warps)
        of_lanes = min(grid.block_size, grid.threads) * bytes_per_lane(launch)
        objects = SEQUENCER + OBJECT * len(launch.meaning.typing.variables)
        return self.needed() + of_lanes + warps * objects

    def run(self) -> int:
        """Run to the end; return the time. Memory and `tally` hold the rest."""
        check_memory(self.launch, self.needed())
        is_lock_step = self.launch.schedule == "synchronous"
        time = self.synchronous() if is_lock_step else self.asynchronous()
        return time if self.clocks is None else self.clocks.time

    def synchronous(self) -> int:
        """Run round by round."""
        time = self.now = 0
        machine = self.launch.machine
        units_used = 1 + min(len(machine.shared), self.grid.blocks)
        latencies = machine.latencies(units_used)
        self.stage_times = machine.times_of_stages(units_used)
        cached = None if self.requests is None else Rounds(self.requests)
        for request, counted in self.lock_step():
            stages = counted.total
            blocks = counted.warps // self.grid.warps_per_block
            if cached is not None and not counted.own_units:
                note, taken = cached.requests.made(*counted.asked), self.tally.taken[counted.site]
                took = cached.serve(note, time, blocks % self.grid.dmms, taken) - time
            elif not counted.own_units:
                took = completion(0, stages * int(self.stage_times[0]), int(latencies[0]))
            else:
                units = counted.array.units(blocks)
                sums = np.bincount(units, weights=counted.stages).astype(np.int64)
                sums *= self.stage_times[: len(sums)]
                took = round_time(sums, latencies[: len(sums)])
            cost = len(counted.warps), stages, counted.least
            self.tally.round(request.site, time, took, *cost)
            time += took
            self.now = time
            self.intervals += 1
        return time

    def asynchronous(self) -> int:
        """First find every warp's operations, in lock step if that is right, then their time."""
        operations: InStep | ByWarp | None = None
        with suppress(NotInStep, EndlessError, BarrierError):
            operations = self.operations_in_step()
        if operations is None:
            if self.phases is not None:
                raise Spins
            # Every warp has its own sequencer: the limit of accesses is a warp's too.
            self.launch.rewind()
            self._begin()
            operations = self.operations_by_warp()
        found = operations.by_warp()
        if self.requests is not None:
            return self.requests.asynchronous(*found, self.progress, self.tally.taken)
        if self.phases is not None:
            self.phases.add(*found)
            return self.phases.time
        return scheduled(self.launch, *found, self.progress)

    def operations_in_step(self) -> InStep:
        """The warps' operations, from a run in lock step."""
        operations = InStep(self.growth)
        for request, counted in self.lock_step(operations):
            if self.requests is None:
                operations.note(counted.note)
            else:
                operations.numbered(counted.warps, REQUEST + self.requests.note(*counted.asked))
            stages = counted.total
            self.tally.count(request.site, len(counted.warps), stages, counted.least)
        return operations

    def lock_step(self, operations: InStep | None = None) -> Iterator[tuple[Request, Counted]]:
        """Run all threads; barriers do nothing, or are noted in `operations`."""
        frame = self.launch.frame(None, self.changes)
        frame.watched = self.step
        frame.lent = None if operations is None else self.lent(operations)
        frame.synced = self.hears_of_syncs(frame, 0)
        steps = self.launch.meaning.start(frame)
        values: Any = None
        spun, last = False, None  # the latest read since a loop was first seen to repeat
        try:
            while True:
                want = steps.send(values)
                values = None
                if isinstance(want, Spinning):
                    if operations is not None:
                        raise NotInStep
                    if spun:
                        refuse(self.launch, frame, want, last)
                    spun, last = True, None
                    continue
                if isinstance(want, Reading):
                    assert self.clocks is not None
                    values = self.clocks.read(want.lanes, want.count)
                    continue
                if isinstance(want, Request):
                    if want.site.kind != "write":
                        last = want
                    counted = Counted(self.launch, want, want.lanes, self.patterns)
                    values = self.move(want, counted)
                    self.progress.requested(len(want.elements))
                    yield want, counted
                    continue
                if want.op is not None:
                    values = in_lock_step(want, self.grid.block)
                if self.phases is not None and want.scope == "grid":
                    assert operations is not None
                    self.refuse_parted(want.lanes, without(frame.live, frame.idle))
                    self.phases.add(*operations.by_warp())
                elif operations is not None:
                    waiting = self.warps_waiting(want, frame.live)
                    operations.barrier(waiting)
                    self.intervals[waiting] += 1
                else:
                    self.monitors.met(want.place, want.lanes, frame.live, self.now, want.scope)
        except StopIteration:
            return

    def move(self, request: Request, counted: Counted) -> Any:
        """Read, or write in order of warp id; return the values received."""
        site, array, blocks = request.site, counted.array, counted.blocks
        if site.array in self.meetings.sizes:
            here = counted.lane_blocks, counted.lane_warps
            self.meetings.note(request, *here, self.intervals)
        if not self.is_watched and site.op in UFUNCS and not site.returns:
            assert request.values is not None
            if self.changes is not None:
                self.changes.count += 1
            array.gather(site.op, request.elements, blocks, request.values)
            return None
        received, left = request.evaluate(array, blocks)
        if self.is_watched:
            self.report(request, counted, left)
        if left is not None and self.changes is not None:
            self.changes.note(request, array, blocks, left)
        if left is not None and site.kind == "atomic":
            array.leave(request.elements, blocks, left)
        elif left is not None:
            array.write(request.elements, blocks, left, counted.firsts, counted.meet)
        return received

    def report(self, request: Request, counted: Counted, left: Words) -> None:
        """Report the elements of a request, and the words that it leaves."""
        blocks = counted.lane_blocks
        times: Integers | int = -1
        if self.now >= 0:
            units = counted.array.units(blocks[counted.firsts])
            times = dispatch_times(self.now, counted.stages * self.stage_times[units], units)
            times = np.repeat(times, np.diff(counted.firsts, append=len(blocks)))
        self.monitors.accessed(
            Access(
                request.site,
                counted.array,
                self.grid.id if counted.active is None else counted.active,
                counted.lane_warps,
                blocks,
                request.elements,
                left,
                self.intervals[counted.lane_warps],
                times,
            )
        )

    def refuse_parted(self, here: Mask, live: Mask) -> None:
        """Raise `NotInStep` unless all live lanes of the grid are at its barrier."""
        if without(live, here) is not False:
            raise NotInStep

    def warps_waiting(self, at: Waiting, live: Any) -> Integers:
        """The warps at a barrier: all live warps of a block or none, else `NotInStep`."""
        grid = self.grid
        if at.lanes is True and live is True:
            return np.arange(grid.warps)
        here = np.broadcast_to(at.lanes, grid.threads)
        missing = np.broadcast_to(live, grid.threads) & ~here
        if np.isin(grid.block[missing], grid.block[here]).any():
            raise NotInStep
        return np.unique(grid.warp[here])

    def operations_by_warp(self) -> ByWarp:
        """The warps' operations, from runs of each warp from barrier to barrier."""
        check_memory(self.launch, self.needed_by_warp())
        operations = ByWarp(self.growth)
        for block in range(self.grid.blocks):
            first = block * self.grid.warps_per_block
            warps = range(first, min(first + self.grid.warps_per_block, self.grid.warps))
            operations.begin(warps)
            lent = self.lent(operations)
            running = {warp: self.start(warp, lent) for warp in warps}
            waiting: dict[int, Waiting] = {}
            while running:
                tests = (
                    (at.op, tests_of(at, running[warp][0].lanes)) for warp, at in waiting.items()
                )
                given = dict(zip(waiting, results(list(tests)), strict=True))
                waiting = {}
                for warp in list(running):
                    at = self.to_barrier(warp, running[warp], operations, given.get(warp))
                    if at is None:
                        del running[warp]
                    else:
                        waiting[warp] = at
        return operations

    def start(self, warp: int, lent: Lent | None) -> tuple[Frame, Steps]:
        """A warp's own sequencer."""
        frame = self.launch.frame(warp, self.changes)
        frame.lent = lent
        frame.synced = self.hears_of_syncs(frame, self.grid.warp_threads(warp).start)
        return frame, self.launch.meaning.start(frame)

    def hears_of_syncs(self, frame: Frame, begin: int) -> Callable[[Mask], None] | None:
        """The function that a frame with first thread `first` calls at each sync within warps."""
        monitors, lanes = self.monitors, frame.lanes
        if not self.is_watched:
            return None
        return lambda here: monitors.synced(begin + np.flatnonzero(np.broadcast_to(here, lanes)))

    def to_barrier(
        self, warp: int, sequencer: tuple[Frame, Steps], operations: ByWarp, values: Any
    ) -> Waiting | None:
        """Run a warp to its next barrier, None if it ends before; its last one gave it `values`."""
        frame, steps = sequencer
        begin = self.grid.warp_threads(warp).start
        try:
            while True:
                want = steps.send(values)
                if isinstance(want, Spinning):
                    raise Spins
                assert not isinstance(want, Reading)  # such a launch runs in lock step
                if isinstance(want, Waiting):
                    self.monitors.arrived(warp, want.place, want.lanes, frame.live)
                    operations.append(warp, BARRIER)
                    self.intervals[warp] += 1
                    return want
                own = np.arange(len(want.elements)) if want.lanes is None else want.lanes
                counted = Counted(self.launch, want, begin + own, self.patterns)
                values = self.move(want, counted)
                self.progress.requested(len(want.elements))
                stages = int(counted.stages[0])
                operation = 2 * stages + counted.own_units
                if self.requests is not None:
                    operation = REQUEST + self.requests.note(*counted.asked)
                operations.append(warp, operation)
                self.tally.count(want.site, 1, stages, counted.least)
        except StopIteration:
            self.monitors.ended(warp, frame.live)
            return None
