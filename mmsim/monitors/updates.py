"""Finds lost updates: threads read an element, and each writes a value computed from the old one.

Only one of them takes effect, whether or not the words that they write are equal. If eight threads
add 1 to an element in one request, seven add nothing. Two updates of one element meet

- in one request of a warp, and under the synchronous schedule in one round;
- under the synchronous schedule also if a thread writes after another one, and had read before
  that.

Under the asynchronous schedule, unordered updates of different warps are data races.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mmsim.ir.dtypes import Integers
from mmsim.ir.needs import Update, updates
from mmsim.meaning.launch import Launch
from mmsim.meaning.memory_budget import Growth
from mmsim.monitors.lines import Concerned, Lines, access_of, element_finding
from mmsim.monitors.listener import Access, Listener
from mmsim.results.findings import Finding


class LostUpdates(Listener):
    """Records the last read of each thread, and the first updates that meet in each line."""

    def __init__(self, launch: Launch, lines: Lines) -> None:
        self.lines, self.arrays = lines, launch.arrays
        self.synchronous = launch.schedule == "synchronous"
        self.threads, self.blocks = launch.grid.threads, launch.grid.block
        self.growth = Growth(launch, "the list of elements whose updates get lost")
        self.updates = launch.once("updates", lambda: updates(launch.code))
        self.sites = launch.meaning.sites
        self.reads = {site for one in self.updates.values() for site in one.reads}
        self.forget()

    def forget(self) -> None:
        self.now = 0
        # By the site of a read, for each thread: the cells of its last read, and the time.
        self.cell = {
            site: np.full((self.threads, self.sites[site].vector), -1) for site in self.reads
        }
        self.when = {site: np.zeros(self.threads, np.int64) for site in self.reads}
        # By array, for each cell: the time, the thread and the bits of its last update.
        self.updated: dict[str, tuple[Integers, Integers, Integers]] = {}
        self.lost = Concerned()  # cell, two threads, their times

    def accessed(self, access: Access) -> None:
        self.now += 1
        site = access.site.number
        if site in self.reads:
            vector = access.site.vector
            self.cell[site][access.threads[::vector]] = access.cells.reshape(-1, vector)
            self.when[site][access.threads] = self.now
        elif site in self.updates:
            self._update(access, self.updates[site])

    def _update(self, access: Access, update: Update) -> None:
        """Note a write of this kind: its lanes that have read the same element are updates."""
        cells, threads = access.cells, access.threads
        if not self.synchronous and (cells[1:] > cells[:-1]).all():
            return  # no two lanes touch one element
        read = np.zeros(len(cells), np.int64)
        for site in update.reads:
            same = (self.cell[site][threads] == cells[:, None]).any(axis=1)
            read[same] = np.maximum(read[same], self.when[site][threads[same]])
        lanes = np.flatnonzero(read)
        if not len(lanes):
            return
        bits = access.bits
        warps = np.broadcast_to(access.warps, len(cells))
        request = np.zeros(len(cells), np.int64) if self.synchronous else warps
        order = lanes[np.lexsort((threads[lanes], cells[lanes], request[lanes]))]
        first, second = order[:-1], order[1:]
        meet = (cells[first] == cells[second]) & (request[first] == request[second])
        if update.harmless:
            meet &= bits[first] != bits[second]
        times = np.broadcast_to(access.times, len(cells))
        self._found(access, cells, first[meet], threads[second[meet]], times[second[meet]])
        if self.synchronous:
            self._stale(access, update, cells, order, read, bits)

    def _stale(
        self,
        access: Access,
        update: Update,
        cells: Integers,
        order: Integers,
        read: Integers,
        bits: Integers,
    ) -> None:
        """Look for lanes that write a value computed from a word that was updated meanwhile."""
        array, threads = access.array, access.threads
        size = array.size * len(array.bases)
        if array.name not in self.updated:
            numbers = np.zeros((2, size), np.int64)
            self.updated[array.name] = numbers[0], numbers[1], np.zeros(size, bits.dtype)
        when, who, what = self.updated[array.name]
        stale = order[(when[cells[order]] > read[order]) & (who[cells[order]] != threads[order])]
        if update.harmless:
            stale = stale[what[cells[stale]] != bits[stale]]
        self._found(access, cells, stale, who[cells[stale]], np.full(len(stale), -1))
        last = order[::-1]  # of one element the lowest-numbered thread's value stays
        when[cells[last]], who[cells[last]], what[cells[last]] = self.now, threads[last], bits[last]

    def _found(
        self, access: Access, cells: Integers, lanes: Integers, others: Integers, times: Integers
    ) -> None:
        """Note updates by these lanes of an access, and by others at these times."""
        if not len(lanes):
            return
        line = int(self.lines.of_site[access.site.number])
        own, when = access.columns(lanes, access.threads, access.times)
        self.lost.note(line, access.array, cells[lanes], own, others, when, times)
        self.growth.need(self.lost.bytes_taken, self.lost.bytes_taken)

    def findings(self) -> Iterator[Finding]:
        """A finding for each line whose updates get lost, in the order of the text."""
        for line, (cell, *threads, time, other_time) in sorted(self.lost.first.items()):
            site = self.lines.sites[line]
            accesses = (
                access_of(site, one, int(self.blocks[one]), when)
                for one, when in zip(threads, (time, other_time), strict=True)
            )
            array, elements = self.arrays[site.array], self.lost.count(line)
            yield element_finding("lost-update", array, cell, accesses, elements=elements)
