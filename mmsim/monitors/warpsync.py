"""Finds lanes that exchange through memory without `mm.warp.sync()`.

In the models the lanes of a warp run together: an earlier statement has been done by all of them.
The threads of a GPU run independently (since Volta, CUDA C++ Programming Guide, "Independent
Thread Scheduling"). So two lanes that touch one element in different requests, at least one of them
writing, do so in no order, unless a barrier, a sync of both lanes or an atomic by which one follows
the other lies between (`LaneOrder`). Nothing is needed between

- two atomics, though an atomic is a write and a read;
- two writes of the same value;
- a write and a read that waits for it in a loop (`Waits`);
- a write and a read by a lane that has itself written the element, in the same request.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.ir.operators import Mask
from mmsim.ir.waits import Waits
from mmsim.meaning.launch import Launch
from mmsim.meaning.memory_budget import Growth
from mmsim.monitors.lane_order import LaneOrder
from mmsim.monitors.latest_lanes import NO_THREAD, OF_A_CELL, LatestLanes
from mmsim.monitors.lines import Lines, bits_of, found_access, index_of
from mmsim.monitors.listener import Access, Listener
from mmsim.results.findings import Finding

Integers = npt.NDArray[Any]
EARLIER = {
    "read": ("write", "atomic"),
    "write": ("read", "write", "atomic"),
    "atomic": ("read", "write"),
}
"""For each kind of access the kinds that may not follow it without a sync."""

OF_A_PAIR = 200  # bytes of an element in a set that grows


class WarpSyncCheck(Listener):
    """Records which lane has touched each element last, and whether another lane does so
    next.

        For warps that run independently. `first` has for each pair of lines that meet the first
        element with its threads, times and block, `cells` all the elements.
    """

    def __init__(self, launch: Launch, lines: Lines) -> None:
        self.grid, self.lines = launch.grid, lines
        self.waits = launch.program.kept("waits", lambda: Waits(launch.program.code))
        sites = launch.meaning.sites
        written = {site.array for site in sites if site.kind != "read"}
        plain = {site.array for site in sites if site.kind != "atomic"}
        self.arrays = {name: launch.arrays[name] for name in written & plain}
        self.latest: dict[tuple[str, str], LatestLanes] = {}  # by array and kind of access
        # Of each request its line, how many barriers and how many events of `LaneOrder` its warp
        # had passed, and its time.
        self.requests = np.zeros((4, 1), np.int64)
        self.count = 0
        # Of each thread its latest plain write: the number of the request, and the elements.
        self.own = np.full((launch.grid.threads, 3), NO_THREAD, np.int64)
        self.order = LaneOrder(launch)
        self.first: dict[tuple[int, int], tuple[int, ...]] = {}
        self.cells: dict[tuple[int, int], set[int]] = {}
        self.growth = Growth(launch, "the list of the latest accesses")

    def synced(self, warp: int, here: Mask) -> None:
        """Lanes of a warp come to a sync together."""
        self.order.synced(warp, here)

    def accessed(self, access: Access) -> None:
        if not self.arrays:
            return
        kind, array = access.site.kind, access.site.array
        events = self.order.events[access.of_lane(access.warps, 0)]
        if kind == "atomic":
            self.order.accessed(access)
        if array not in self.arrays:
            return
        waits = self.waits.is_wait[access.site.number]
        cells = access.copies * access.array.size + access.elements
        for earlier in () if waits else EARLIER[kind]:
            if (array, earlier) in self.latest:
                self._look(access, cells, earlier)
        if kind != "read" or not waits:
            self._note(access, cells, events)

    def _note(self, access: Access, cells: Integers, events: int) -> None:
        """A warp touches such elements, after so many events of its lanes."""
        kind = access.site.kind
        key = access.site.array, kind
        if key not in self.latest:
            size = access.array.size * len(access.array.bases)
            self.latest[key] = LatestLanes(size, alone=kind == "write")
            self._ask()
        if self.count == self.requests.shape[1]:
            self.requests = np.concatenate((self.requests, self.requests), axis=1)
            self._ask()
        line, time = self.lines.of_site[access.site.number], access.of_lane(access.times, 0)
        self.requests[:, self.count] = line, access.of_lane(access.intervals, 0), events, time
        self.latest[key].note(cells, access.threads, self.count)
        if kind == "write":
            first = slice(None, None, access.site.vector)
            own = access.threads[first]
            self.own[own, 0] = self.count
            self.own[own, 1] = cells[first]
            self.own[own, 2] = cells[first] + access.site.vector
        self.count += 1

    def _look(self, access: Access, cells: Integers, earlier: str) -> None:
        """Whether another lane of the warp touched the elements before, unordered with this one."""
        kind, threads = access.site.kind, access.threads
        warp, interval = access.of_lane(access.warps, 0), access.of_lane(access.intervals, 0)
        lanes = self.grid.warp_threads(warp)
        needs = np.ones(len(cells), dtype=bool)
        if kind == earlier == "write":
            assert access.values is not None
            stands = access.array.read(access.elements, access.blocks)
            needs = bits_of(stands) != bits_of(access.values.astype(stands.dtype, copy=False))
        for others, requests in self.latest[access.site.array, earlier].of(cells):
            bad = needs & (others >= lanes.start) & (others < lanes.stop) & (others != threads)
            if not bad.any():
                continue
            lines, intervals, events, times = self.requests[:, requests]
            bad &= intervals == interval
            if earlier == "write" and kind != "write":
                of_others = (cells < self.own[threads, 1]) | (cells >= self.own[threads, 2])
                bad &= (self.own[threads, 0] != requests) | of_others
            known = self.order.latest(
                warp, np.where(bad, others, lanes.start) - lanes.start, threads - lanes.start
            )
            bad &= known <= events
            self._found(access, np.flatnonzero(bad), cells, others, lines, times)

    def _found(
        self,
        access: Access,
        bad: Integers,
        cells: Integers,
        others: Integers,
        lines: Integers,
        times: Integers,
    ) -> None:
        """Such lanes of an access follow others without a sync."""
        line = int(self.lines.of_site[access.site.number])
        now, block = access.of_lane(access.times, 0), access.of_lane(access.blocks, 0)
        for at in bad.tolist():
            cell, pair = int(cells[at]), (int(lines[at]), line)
            found = (cell, int(others[at]), int(access.threads[at]), int(times[at]), now, block)
            self.first[pair] = min(self.first.get(pair, found), found, key=lambda one: one[:3])
            self.cells.setdefault(pair, set()).add(cell)
        if len(bad):
            self._ask()

    def _ask(self) -> None:
        taken = sum(OF_A_CELL * latest.thread.shape[1] for latest in self.latest.values())
        taken += self.requests.nbytes + OF_A_PAIR * sum(map(len, self.cells.values()))
        self.growth.need(taken, taken)

    def findings(self) -> Iterator[Finding]:
        """A finding for each pair of lines, in the order of the text."""
        for pair, (cell, *threads, before, now, block) in sorted(self.first.items()):
            sites = [self.lines.sites[line] for line in pair]
            array = self.arrays[sites[0].array]
            copy, element = divmod(cell, array.size)
            yield Finding(
                "warp-sync",
                array.name,
                index_of(array, element),
                copy if array.shared else None,
                tuple(
                    found_access(site.place, site.kind, thread, block, time)
                    for site, thread, time in zip(sites, threads, (before, now), strict=True)
                ),
                elements=len(self.cells[pair]),
            )
