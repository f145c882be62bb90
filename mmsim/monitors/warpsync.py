"""Finds lanes that exchange through memory without `mm.warp.sync()`.

In the models the lanes of a warp run together: all of them have done the earlier statements.
The threads of a GPU run independently (since Volta, CUDA C++ Programming Guide, "Independent
Thread Scheduling"). So two lanes that touch one element in different requests, at least one of them
writing, are unordered unless one of these lies between: a barrier, a sync of both lanes, an atomic
by which one follows the other (`LaneClocks`). Nothing is needed between

- two atomics, though an atomic is a write and a read; a strong load or store counts as one;
- two writes of the same value;
- a write and a read that waits for it in a loop (`Waits`);
- a write and a read by a lane that has itself written the element, in the same request.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mmsim.ir.needs import Waits
from mmsim.meaning.launch import Launch
from mmsim.meaning.memory_budget import Growth
from mmsim.monitors.clocks import LaneClocks
from mmsim.monitors.lines import (
    Concerned,
    Integers,
    Lines,
    access_of,
    element_finding,
    first_rows,
)
from mmsim.monitors.listener import Access, Listener
from mmsim.results.findings import Finding

EARLIER = {
    "read": ("write", "atomic"),
    "write": ("read", "write", "atomic"),
    "atomic": ("read", "write"),
}
"""For each kind of access the kinds that may not follow it without a sync."""

NO_THREAD = -1
OF_A_CELL = 32  # bytes of two threads and two requests


def _kind(access: Access) -> str:
    """The kind of an access: one that is strong between threads counts as an atomic."""
    return "atomic" if access.site.strong == "threads" else access.site.kind


class WarpSyncCheck(Listener):
    """Records the lane that touched each element last, and whether another lane does so next.

    For warps that run independently. `found` has an entry for each pair of lines that meet, of its
    first element with threads, times and block.
    """

    def __init__(self, launch: Launch, lines: Lines) -> None:
        self.launch, self.grid, self.lines = launch, launch.grid, lines
        self.waits = launch.once("waits", lambda: Waits(launch.code))
        sites = launch.meaning.sites
        written = {site.array for site in sites if site.kind != "read"}
        plain = {site.array for site in sites if site.kind != "atomic" and site.strong != "threads"}
        self.arrays = {name: launch.arrays[name] for name in written & plain}
        self.growth = Growth(launch, "the list of the latest accesses")
        self.forget()

    def forget(self) -> None:
        self.latest: dict[tuple[str, str], LatestLanes] = {}  # by array and kind of access
        # For each request its line, how many barriers and how many events of `LaneClocks` its warp
        # had passed, and its time.
        self.requests = np.zeros((4, 1), np.int64)
        self.count = 0
        self.warps: Integers | int = -1  # of the latest access, and where its requests begin
        self.starts = np.zeros(0, bool)
        # The latest plain write of each thread: the number of the request, and the elements.
        self.own = np.full((self.grid.threads, 3), NO_THREAD, np.int64)
        self.clocks = LaneClocks(self.launch)
        self.found = Concerned()

    def synced(self, threads: Integers) -> None:
        """Note that lanes come to a sync, each with those of its warp."""
        self.clocks.synced(threads)
        self._ask()

    def accessed(self, access: Access) -> None:
        if not self.arrays:
            return
        kind, array = _kind(access), access.site.array
        events = self.clocks.events[access.warps].copy()
        if kind == "atomic":
            self.clocks.accessed(access)
        if array not in self.arrays:
            return
        waits = self.waits.is_wait[access.site.number]
        cells = access.cells
        for earlier in () if waits else EARLIER[kind]:
            if (array, earlier) in self.latest:
                self._look(access, cells, earlier)
        if kind != "read" or not waits:
            self._note(access, cells, events)

    def _note(self, access: Access, cells: Integers, events: Integers) -> None:
        """Note that warps touch these elements, each lane after so many events."""
        kind = _kind(access)
        key = access.site.array, kind
        if key not in self.latest:
            size = access.array.size * len(access.array.bases)
            self.latest[key] = LatestLanes(size, alone=kind == "write")
            self._ask()
        lanes = len(cells)
        if access.warps is not self.warps or lanes != len(self.starts):
            self.warps = access.warps  # often the same array again
            self.starts = first_rows(np.broadcast_to(access.warps, lanes))
            self.order = np.cumsum(self.starts) - 1
        numbers = self.count + self.order
        end = int(numbers[-1]) + 1
        if end > self.requests.shape[1]:
            more = np.zeros((4, max(end - self.count, self.count)), np.int64)
            self.requests = np.concatenate((self.requests[:, : self.count], more), axis=1)
            self._ask()
        line = self.lines.of_site[access.site.number]
        columns = line, access.intervals, events, access.times
        for row, column in zip(self.requests, columns, strict=True):
            row[self.count : end] = (
                column[self.starts] if isinstance(column, np.ndarray) else column
            )
        self.latest[key].note(cells, access.threads, numbers)
        if kind == "write":
            first = slice(None, None, access.site.vector)
            own = access.threads[first]
            self.own[own, 0] = numbers[first]
            self.own[own, 1] = cells[first]
            self.own[own, 2] = cells[first] + access.site.vector
        self.count = end

    def _look(self, access: Access, cells: Integers, earlier: str) -> None:
        """Return whether other lanes of the warps touched the elements before, unordered."""
        kind, threads = _kind(access), access.threads
        latest = self.latest[access.site.array, earlier]
        for other, request in zip(latest.thread, latest.request, strict=True):
            others = other[cells]
            bad = others != threads
            if not bad.any():
                continue  # each lane meets itself only
            bad &= others >= self.grid.warp_ends[access.warps]
            bad &= others < self.grid.warp_ends[access.warps + 1]
            if kind == earlier == "write":
                bad &= access.changes
            if not bad.any():
                continue
            requests = request[cells]
            lines, intervals, events, times = self.requests[:, requests]
            bad &= intervals == access.intervals
            if earlier == "write" and kind != "write":
                of_others = (cells < self.own[threads, 1]) | (cells >= self.own[threads, 2])
                bad &= (self.own[threads, 0] != requests) | of_others
            at = np.flatnonzero(bad)
            at = at[self.clocks.latest(others[at], threads[at]) <= events[at]]
            self._found(access, at, cells[at], others[at], lines[at], times[at])

    def _found(
        self,
        access: Access,
        bad: Integers,
        cells: Integers,
        others: Integers,
        lines: Integers,
        times: Integers,
    ) -> None:
        """Note that lanes `bad` of an access follow others, at these lines, without a sync."""
        line = int(self.lines.of_site[access.site.number])
        threads, now, block = access.columns(bad, access.threads, access.times, access.blocks)
        for earlier in np.unique(lines).tolist():
            columns = cells, others, threads, times, now, block
            own = (column[lines == earlier] for column in columns)
            self.found.note((earlier, line), access.array, *own)
            self._ask()

    def _ask(self) -> None:
        taken = sum(OF_A_CELL * latest.thread.shape[1] for latest in self.latest.values())
        taken += self.requests.nbytes + self.found.bytes_taken + self.clocks.bytes_taken
        self.growth.need(taken, taken)

    def findings(self) -> Iterator[Finding]:
        """A finding for each pair of lines, in the order of the text."""
        for pair, (cell, *threads, before, now, block) in sorted(self.found.first.items()):
            sites = [self.lines.sites[line] for line in pair]
            accesses = (
                access_of(site, thread, block, time)
                for site, thread, time in zip(sites, threads, (before, now), strict=True)
            )
            array, elements = self.arrays[sites[0].array], self.found.count(pair)
            yield element_finding("warp-sync", array, cell, accesses, elements=elements)


class LatestLanes:
    """The lowest and the highest thread of the latest request that touched each element.

    If this is one thread, the second is the latest other thread of an earlier request. With
    `alone`, a request replaces all earlier ones.
    """

    def __init__(self, cells: int, *, alone: bool) -> None:
        self.alone = alone
        self.thread = np.full((2, cells), NO_THREAD, np.int64)
        self.request = np.zeros((2, cells), np.int64)

    def note(self, cells: Integers, threads: Integers, requests: Integers) -> None:
        """Note requests, of lanes in ascending order."""
        if not self.alone:
            if (self.thread[0, cells] == threads).all():  # so no two touch one element
                self.request[0, cells] = requests
                return
            thread, number = self.thread[:, cells], self.request[:, cells]
        self.thread[0, cells[::-1]] = threads[::-1]  # the last of equal indices stays
        self.request[0, cells[::-1]] = requests[::-1]
        self.thread[1, cells] = threads
        self.request[1, cells] = requests
        if self.alone:
            return
        single = np.flatnonzero(self.thread[0, cells] == self.thread[1, cells])
        older = (thread[0, single] == threads[single]).astype(np.intp)
        self.thread[1, cells[single]] = thread[older, single]
        self.request[1, cells[single]] = number[older, single]
