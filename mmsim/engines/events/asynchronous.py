"""The asynchronous schedule: only the rule of turns (docs/machines.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import numpy as np
from simpy import Event

from mmsim.engines.cached_launch import Waits, waits
from mmsim.engines.events.barriers import Barriers
from mmsim.engines.events.driver import Driver
from mmsim.engines.events.moment import BEGIN, COMPLETION
from mmsim.engines.events.units import Job
from mmsim.errors import MMSimError
from mmsim.ir.dtypes import Integers
from mmsim.ir.operators import Mask
from mmsim.meaning.barriers import tests_of
from mmsim.meaning.frame import Reading, Request, Site, Spinning, Waiting
from mmsim.meaning.launch import Launch
from mmsim.meaning.spinning import refuse
from mmsim.model.byte_banks import fewest_stages
from mmsim.model.cache import cluster_of_each
from mmsim.model.machines import Unit
from mmsim.model.memory import ArrayInMemory
from mmsim.model.rounds import all_done, next_request, reading, sent, trip
from mmsim.model.turns import GroupsInTurn, Turns, WarpsInTurn
from mmsim.monitors.listener import Access, Listener


class Residency:
    """Lets the blocks begin, in order, as soon as earlier blocks leave room on one of the DMMs.

    A DMM has room for `room`, of which each block takes its number of `taken`.

    >>> blocks = Residency(2, 16, [8] * 6)
    >>> list(blocks.first()), blocks.left
    ([0, 1, 2, 3], 2)
    >>> list(blocks.ended(1)), list(blocks.ended(3)), blocks.dmm
    ([4], [5], [0, 1, 0, 1, 1, 1])
    """

    def __init__(self, dmms: int, room: int, taken: list[int]) -> None:
        self.room = [room] * dmms
        self.taken = taken
        self.dmm: list[int] = []
        """The DMM of each block that has begun."""

    @property
    def left(self) -> int:
        """The number of blocks that have not begun."""
        return len(self.taken) - len(self.dmm)

    def first(self) -> Iterator[int]:
        """Begin blocks at time 0, in order: on the DMMs in turn."""
        while self.left and self._begins(len(self.dmm) % len(self.room)):
            yield len(self.dmm) - 1

    def ended(self, block: int) -> Iterator[int]:
        """Begin the blocks that fit when a block has ended: on its DMM."""
        self.room[self.dmm[block]] += self.taken[block]
        while self.left and self._begins(self.dmm[block]):
            yield len(self.dmm) - 1

    def _begins(self, dmm: int) -> bool:
        """Begin the next block on a DMM if there is room; return whether it began."""
        taken = self.taken[len(self.dmm)]
        if taken > self.room[dmm]:
            return False
        self.room[dmm] -= taken
        self.dmm.append(dmm)
        return True


class Asynchronous(Driver):
    """Every warp has its own sequencer and runs as soon as it can."""

    def __init__(self, launch: Launch, listeners: Sequence[Listener]) -> None:
        super().__init__(launch, listeners)
        self.sites = [self.about(site) for site in launch.meaning.sites]
        self.barriers = Barriers(self.grid, self.listeners)
        room, taken = launch.room
        self.residency = Residency(self.grid.dmms_used, room, taken.tolist())
        self.spinning: dict[int, int] = {}  # by warp, its requests when a loop first repeated
        self.spinning_at = -1  # the changes of memory then; the next one lets them go on
        self.ended_now: list[int] = []  # blocks that have not made room yet
        self.waits = Waits(*(part.tolist() for part in waits(launch)))
        self.running = [0] * self.grid.blocks  # warps of each block that have begun and not ended
        self.soon(COMPLETION, lambda _: self.begin_blocks(list(self.residency.first())))

    def begin_blocks(self, blocks: Iterable[int]) -> None:
        """Begin blocks now; each may end immediately."""
        ahead = self.launch.machine.under_way > 1 or any(self.waits.pauses)
        kind = Ahead if ahead else Warp
        for block in blocks:
            first = block * self.grid.warps_per_block
            end = min(first + self.grid.warps_per_block, self.grid.warps)
            self.running[block] = end - first
            for number in range(first, end):
                kind(self, number).begin()

    def warp_ended(self, block: int) -> None:
        """Note that a warp has ended; after the last one of a block, others may begin."""
        self.running[block] -= 1
        if not self.running[block] and self.residency.left:
            if not self.ended_now:
                self.soon(BEGIN, self.make_room)  # after all warps have gone on
            self.ended_now.append(block)

    def make_room(self, _: Event) -> None:
        """Let the ended blocks make room, in order, and begin the next ones there."""
        ended, self.ended_now = sorted(self.ended_now), []
        for block in ended:
            self.begin_blocks(self.residency.ended(block))

    def spins(self, warp: Warp, at: Spinning) -> None:
        """Note that a warp repeats a loop; refuse it if no other warp can change memory."""
        assert self.changes is not None
        if self.changes.count != self.spinning_at:
            self.spinning, self.spinning_at = {}, self.changes.count
        if warp.warp not in self.spinning:
            self.spinning[warp.warp], warp.read = warp.sent, None
        elif self.spinning[warp.warp] == warp.sent:
            refuse(self.launch, warp.frame, at, None)
        elif self.all_spin:
            refuse(self.launch, warp.frame, at, warp.read)

    @property
    def all_spin(self) -> bool:
        """Return whether every warp repeats a loop, or waits at a barrier for those that do."""
        moving = sum(self.running) - sum(map(len, self.barriers.waiting))
        return len(self.spinning) == moving and not self.ended_now

    def dmm_of_warp(self, warp: int) -> int:
        """The DMM of a warp's block."""
        return self.residency.dmm[self.grid.block_of_warp(warp)]

    def about(self, site: Site) -> tuple[ArrayInMemory, bool, bool]:
        """The array of a site; whether it has units of its own, and its stages depend on lanes."""
        array, counts = self.launch.arrays[site.array], self.launch.machine.by_lane
        return array, array.own_units, counts or site.kind == "atomic" or site.vector > 1

    def ended(self) -> None:
        self.barriers.refuse_waiting(self.launch.program.name)
        super().ended()

    def turns(self, unit: Unit) -> Turns:
        machine = self.launch.machine
        if machine.shared and unit.dmm is None:
            if sizes := machine.clusters_of(self.grid.dmms_used):
                cluster_of_dmm = cluster_of_each(sizes).tolist()
                dmms = partial(GroupsInTurn, self.dmm_of_warp)
                return GroupsInTurn(lambda warp: cluster_of_dmm[self.dmm_of_warp(warp)], dmms)
            return GroupsInTurn(self.dmm_of_warp)
        return WarpsInTurn()


class Warp(Job):
    """One warp: local work at no time, then the next request or barrier.

    It happens when the warp goes on: at a completion, at the release from a barrier. `passed`
    counts barriers, `passed_by_grid` those of the grid among them.
    """

    def __init__(self, driver: Asynchronous, number: int) -> None:
        super().__init__(driver.env, number)
        self.driver = driver
        self.block = driver.grid.block_of_warp(number)
        self.passed = 0
        self.passed_by_grid = 0
        self.sent = 0  # requests
        self.clock_read = -1  # when it read the clock last
        self.is_reading = False  # it reads the clock, later than now
        self.read: Request | None = None  # the latest one that is no plain write
        self.want: Request | Waiting | None
        self.request: Request

    def begin(self) -> None:
        """Make the warp's sequencer, and run it to its first request or barrier."""
        driver = self.driver
        self.frame = driver.launch.frame(self.warp, driver.changes)
        self.steps = driver.launch.meaning.start(self.frame)
        for listener in driver.listeners:
            listener.began(self.frame, range(self.warp, self.warp + 1))
        if driver.listeners:
            self.frame.synced = self.synced
        if self.work():
            self.go_on()

    def happen(self) -> None:
        if self.work():
            self.go_on()

    def work(self) -> bool:
        """Work up to the next request or barrier, `want`; return whether it is there now.

        It is not after an error, and while the warp waits until it can read the clock.
        """
        driver, values = self.driver, self.values
        self.values, self.is_reading = None, False
        try:
            want = self.steps.send(values)
            while isinstance(want, Spinning | Reading):
                if isinstance(want, Spinning):
                    driver.spins(self, want)
                    want = self.steps.send(None)
                    continue
                self.clock_read = time = int(reading(driver.now, self.clock_read, want.count))
                if time > driver.now:
                    self.values, self.is_reading = time, True
                    self.after(time - driver.now, COMPLETION)
                    return False
                want = self.steps.send(time)
            self.want = want
        except StopIteration:
            self.want = None
        except MMSimError as error:
            driver.fail(error)
            return False
        for listener in driver.listeners:
            listener.worked(self.frame, driver.now)
        return True

    def go_on(self) -> None:
        """Send the next request, come to a barrier, or end."""
        driver, want = self.driver, self.want
        if want is None:
            self.end()
            return
        if isinstance(want, Waiting):
            self.wait(want)
            return
        self.request, self.elements = want, want.elements
        self.sent += 1
        if want.site.kind != "write":
            self.read = want
        self.ready = self.now
        self.stages, self.least = 0, 1
        self.array, own_units, counts = driver.sites[want.site.number]
        unit = driver.units[1 + driver.residency.dmm[self.block] if own_units else 0]
        if counts:
            self.count(unit.unit)
        unit.submit(self)

    def count(self, unit: Unit) -> None:
        """Count the stages of its request at a unit whose rule may depend on the lanes."""
        site = self.request.site
        rule = self.driver.launch.rule(unit.conflict, site)
        if rule.lone is not None and len(self.addresses) == 1:
            self.stages = self.least = rule.lone
            return
        lanes = self.driver.grid.lane[self.threads()]
        addresses = self.addresses
        self.stages = rule.stages(addresses.tolist(), lanes)
        first, stages = np.zeros(1, np.int64), np.array([self.stages])
        self.least = fewest_stages(rule, site.vector, addresses, first, lanes, stages)

    def wait(self, at: Waiting) -> None:
        """Come to a barrier."""
        driver = self.driver
        for listener in driver.listeners:
            listener.arrived(self.warp, at.place, at.lanes, self.frame.live, driver.now, at.scope)
        self.passed += 1
        self.passed_by_grid += at.scope == "grid"
        driver.barriers.arrive(self.warp, at, tests_of(at, self.frame.lanes), self)

    def synced(self, lanes: Mask) -> None:
        """Note that lanes have come to `mm.warp.sync()`."""
        begin = self.driver.grid.warp_threads(self.warp).start
        threads = begin + np.flatnonzero(np.broadcast_to(lanes, self.frame.lanes))
        for listener in self.driver.listeners:
            listener.synced(threads)

    def end(self) -> None:
        """End the warp."""
        driver = self.driver
        for listener in driver.listeners:
            listener.ended(self.warp, self.frame.live)
        driver.barriers.finish(self.block)
        driver.warp_ended(self.block)

    def asks(self) -> tuple[Site, list[int]]:
        return self.request.site, self.addresses.tolist()

    def dispatched(self, unit: Unit, delay: int) -> None:
        """Move the data; the warp gets the words that it reads when the request has completed."""
        driver, request, array = self.driver, self.request, self.array
        driver.tally.count(request.site, 1, self.stages, self.least)
        self.values, left = request.evaluate(array, self.block)
        if driver.listeners:
            access = Access(
                request.site,
                array,
                self.threads(),
                self.warp,
                self.block,
                request.elements,
                left,
                self.passed,
                driver.now,
                self.addresses,
                self.passed_by_grid,
            )
            for listener in driver.listeners:
                listener.accessed(access)
        if left is not None:
            driver.write(request, array, self.block, 0, left)
        if driver.listeners:
            access.values = self.values if left is None else left
            for listener in driver.listeners:
                listener.dispatched(access, unit, self.ready, self.stages)
        self.served(delay)

    def served(self, delay: int) -> None:
        """Let the request dispatched now complete `delay` time units later."""
        self.after(delay, COMPLETION)

    def threads(self) -> Integers:
        """The threads whose lanes are active in its request."""
        grid, lanes = self.driver.grid, self.request.lanes
        own = grid.warp_threads(self.warp)
        threads = grid.id[own.start : own.stop]
        return threads if lanes is None else threads[lanes]


class Ahead(Warp):
    """A warp that may have several requests under way, or computes before a request.

    It knows the words that a request reads from the dispatch on. So it works ahead to the next
    request, barrier or end, and goes on there as soon as it may.
    """

    def __init__(self, driver: Asynchronous, number: int) -> None:
        super().__init__(driver, number)
        self.places = driver.launch.machine.under_way
        self.times, self.sites = [0], [0]
        self.within, self.trip = -1, 0
        self.knows = False

    def served(self, delay: int) -> None:
        now = self.driver.now
        places = len(self.times)
        site = self.request.site.number
        sent(self.times, self.sites, 0, places, site, now + delay)
        self.trip, self.within = self.next_trip(site), self.driver.waits.loops[site]
        if places < self.places and min(self.times) > now:  # another place, on demand
            self.times.append(0)
            self.sites.append(0)
        if self.work():
            self.go_on_after(now)

    def next_trip(self, site: int) -> int:
        """The trip of its next request in its loop, of those that are unrolled together."""
        waits = self.driver.waits
        return trip(self.within, self.trip, waits.loops[site], site, waits.most[site])

    def go_on_after(self, before: int) -> None:
        """Go on later than `before`, and as soon as the requests under way let it."""
        self.knows = True
        if isinstance(self.want, Request):
            site, needs = self.want.site.number, self.driver.waits.needs
            under_way = self.times, self.sites, 0, len(self.times)
            time = next_request(*under_way, needs[site], self.next_trip(site) == 0, before)
        else:
            time = all_done(self.times, 0, len(self.times))
        if self.want is not None:
            time += self.driver.waits.pauses[self.warp]
        self.after(max(time - self.now, 0), COMPLETION)

    def happen(self) -> None:
        was_reading = self.is_reading
        if not self.knows and not self.work():  # the steps after a barrier aren't known
            return
        if was_reading:
            self.go_on_after(self.now - 1)
        else:
            self.knows = False
            self.go_on()
