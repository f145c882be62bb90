"""Finds lanes that exchange through memory without `mm.warp.sync()`.

In the models the lanes of a warp run together, so that a lane reads what another lane of its warp
has written in an earlier statement. The threads of a GPU run each for itself (since Volta, CUDA C++
Programming Guide, "Independent Thread Scheduling"): the write need not have happened, unless a
barrier, a sync of both lanes or an atomic by which one follows the other lies between
(`LaneOrder`). A read that waits for the write in a loop (`Waits`) needs none of these. An atomic is
a write and a read; two atomics need nothing between.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mmsim.ir.operators import Mask
from mmsim.ir.waits import Waits
from mmsim.meaning.launch import Launch
from mmsim.meaning.memory_budget import Growth
from mmsim.monitors.lane_order import LaneOrder
from mmsim.monitors.lines import Lines, found_access, index_of
from mmsim.monitors.listener import Access, Listener
from mmsim.results.findings import Finding

Integers = npt.NDArray[Any]
NOBODY = -1
OF_A_CELL, OF_A_PAIR = 40, 200
"""Bytes of an element's latest write, and of an element in a set that grows."""


class Writes(NamedTuple):
    """Of each element of an array its latest write: who, in which line, when, and what came before.

    `request` is the number of the write among all, `interval` how many barriers the writer's warp
    had passed, `events` how many that `LaneOrder` counts.
    """

    thread: Integers
    line: Integers
    request: Integers
    interval: Integers
    events: Integers
    time: Integers


class WarpSyncCheck(Listener):
    """Notes each element's latest write, and the reads by other lanes of that writer's warp.

    For warps that run for themselves. `first` has for each pair of lines that write and read the
    first element with its threads and times, `cells` all the elements.
    """

    def __init__(self, launch: Launch, lines: Lines) -> None:
        self.grid, self.lines = launch.grid, lines
        self.waits = launch.program.kept("waits", lambda: Waits(launch.program.code))
        sites = launch.meaning.sites
        written = {site.array for site in sites if site.kind != "read"}
        read = {site.array for site in sites if site.kind != "write"}
        plain = {site.array for site in sites if site.kind != "atomic"}
        self.arrays = {name: launch.arrays[name] for name in written & read & plain}
        self.atomic = np.array([site.kind == "atomic" for site in lines.sites], dtype=bool)
        self.writes: dict[str, Writes] = {}
        self.requests = 0
        # Of each thread its latest plain write: the number of the request, and the element.
        self.own = np.full((launch.grid.threads, 2), NOBODY, np.int64)
        self.order = LaneOrder(launch)
        self.first: dict[tuple[int, int], tuple[int, ...]] = {}
        self.cells: dict[tuple[int, int], set[int]] = {}
        self.growth = Growth(launch, "the list of the latest writes")

    def synced(self, warp: int, here: Mask) -> None:
        """Lanes of a warp come to a sync together."""
        self.order.synced(warp, here)

    def accessed(self, access: Access) -> None:
        kind = access.site.kind
        if not self.arrays:
            return
        before = self.order.events[access.of_lane(access.warps, 0)]
        if kind == "atomic":
            self.order.accessed(access)
        if access.site.array in self.arrays:
            cells = access.copies * access.array.size + access.elements
            if kind != "write" and not self.waits.is_wait[access.site.number]:
                self._look(access, cells)
            if kind != "read":
                self._note(access, cells, before)

    def _note(self, access: Access, cells: Integers, events: int) -> None:
        """A warp writes, after so many events of its lanes.

        Of several writes to one element the first lane's stays. Of several atomics the last lane's
        counts here: one that reads the element later reads what all of them have left.
        """
        name = access.site.array
        if name not in self.writes:
            size = access.array.size * len(access.array.bases)
            self.writes[name] = Writes(*(np.full(size, NOBODY, np.int64) for _ in Writes._fields))
            self._ask()
        self.requests += 1
        noted, atomic = self.writes[name], access.site.kind == "atomic"
        if not atomic:
            self.own[access.threads, 0] = self.requests
            self.own[access.threads, 1] = cells
        stays = slice(None) if atomic else slice(None, None, -1)
        noted.thread[cells[stays]] = access.threads[stays]
        noted.line[cells] = self.lines.of_site[access.site.number]
        noted.request[cells] = self.requests
        noted.interval[cells] = access.intervals
        noted.events[cells] = events
        noted.time[cells] = access.times

    def _look(self, access: Access, cells: Integers) -> None:
        """A warp reads: what was written by another of its lanes, since both met?"""
        noted, warp = self.writes.get(access.site.array), access.of_lane(access.warps, 0)
        if noted is None:
            return
        threads, writers = access.threads, noted.thread[cells]
        own = self.grid.warp_threads(warp)
        bad = (writers >= own.start) & (writers < own.stop) & (writers != threads)
        bad &= noted.interval[cells] == access.intervals
        bad &= (self.own[threads, 0] != noted.request[cells]) | (self.own[threads, 1] != cells)
        if access.site.kind == "atomic":
            bad &= ~self.atomic[noted.line[cells]]
        others = np.where(bad, writers, own.start) - own.start
        known = self.order.latest(warp, others, threads - own.start)
        bad &= known <= noted.events[cells]
        line = int(self.lines.of_site[access.site.number])
        block, time = access.of_lane(access.blocks, 0), access.of_lane(access.times, 0)
        for at in np.flatnonzero(bad).tolist():
            cell = int(cells[at])
            pair = int(noted.line[cell]), line
            found = (cell, int(writers[at]), int(threads[at]), block, int(noted.time[cell]), time)
            self.first[pair] = min(self.first.get(pair, found), found, key=lambda one: one[:3])
            self.cells.setdefault(pair, set()).add(cell)
        if bad.any():
            self._ask()

    def _ask(self) -> None:
        taken = sum(OF_A_CELL * len(one.thread) for one in self.writes.values())
        taken += OF_A_PAIR * sum(map(len, self.cells.values()))
        self.growth.need(taken, taken)

    def findings(self) -> Iterator[Finding]:
        """A finding for each pair of lines, in the order of the text."""
        for pair, (cell, writer, reader, block, wrote, time) in sorted(self.first.items()):
            write, read = (self.lines.sites[line] for line in pair)
            array = self.arrays[write.array]
            copy, element = divmod(cell, array.size)
            yield Finding(
                "warp-sync",
                array.name,
                index_of(array, element),
                copy if array.shared else None,
                (
                    found_access(write.place, write.kind, writer, block, wrote),
                    found_access(read.place, read.kind, reader, block, time),
                ),
                elements=len(self.cells[pair]),
            )
