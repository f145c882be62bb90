"""The order of one warp's lanes on a GPU, which runs them independently: by syncs and atomics.

`vector_clocks` does the same for warps. If a lane receives by an atomic the word that another lane
left, it knows all that this other lane had done. Lanes that come to `mm.warp.sync()` know all that
each of them had done and known.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mmsim.meaning.launch import Launch
from mmsim.monitors.lines import bits_of
from mmsim.monitors.listener import Access

Integers = npt.NDArray[np.int64]


class LaneClocks:
    """Counts the events of each warp, syncs and atomics, and keeps those that each lane knows.

    `events[warp]` is the number of events up to now. `known[warp][i, j]` is the latest event of
    lane i that lane j knows of: the earlier work of lane i precedes the next work of lane j.
    If all lanes of a warp know of the same events, this is `all_know[warp]`, and the warp has no
    `known`.
    """

    def __init__(self, launch: Launch) -> None:
        self.grid = launch.grid
        self.acquires = any(site.returns for site in launch.meaning.sites)
        self.events = np.zeros(launch.grid.warps, np.int64)
        self.all_know = np.zeros(launch.grid.warps, np.int64)
        self.known: dict[int, Integers] = {}
        # For each element that lanes of a warp left: the latest event of each lane.
        self.left: dict[tuple[int, str, int, int], Integers] = {}

    @property
    def bytes_taken(self) -> int:
        """Bytes of the lanes' separate knowledge."""
        return sum(known.nbytes for known in self.known.values())

    def synced(self, threads: Integers) -> None:
        """Note that lanes come to a sync, each with those of its warp."""
        grid = self.grid
        begin, end = int(grid.warp[threads[0]]), int(grid.warp[threads[-1]]) + 1
        ends = grid.warp_ends[begin : end + 1]
        places = np.searchsorted(threads, ends)
        counts = np.diff(places)
        self.events[begin:end] += counts > 0
        whole = counts == np.diff(ends)
        self.all_know[begin:end][whole] = self.events[begin:end][whole]
        for warp in self.known.keys() & set((begin + np.flatnonzero(whole)).tolist()):
            del self.known[warp]
        for part in np.flatnonzero((counts > 0) & ~whole).tolist():
            known = self._known(begin + part)
            there = threads[places[part] : places[part + 1]] - ends[part]
            known[:, there] = known[:, there].max(axis=1, keepdims=True)
            known[np.ix_(there, there)] = self.events[begin + part]

    def accessed(self, access: Access) -> None:
        """Note an atomic of a warp, its lanes in ascending order."""
        if not self.acquires:  # only such atomics come for several warps together
            return
        warp, copy = access.of_lane(access.warps, 0), access.of_lane(access.copies, 0)
        self.events[warp] += 1
        known = self._known(warp)
        lanes = (access.threads - self.grid.warp_threads(warp).start).tolist()
        assert access.values is not None
        before = access.array.read(access.elements, access.blocks)
        changes = bits_of(before) != bits_of(access.values)
        for lane, element, changed in zip(lanes, access.elements.tolist(), changes, strict=True):
            cell = (warp, access.site.array, copy, element)
            left = self.left.get(cell)
            if left is not None and access.site.returns:
                np.maximum(known[:, lane], left, out=known[:, lane])
            if changed:
                own = known[:, lane].copy()
                own[lane] = self.events[warp]
                self.left[cell] = own if left is None else np.maximum(left, own)

    def latest(self, first: Integers, second: Integers) -> Integers:
        """For pairs of threads of one warp, the first's latest event that the second knows."""
        warps = self.grid.warp[second]
        found: Integers = self.all_know[warps]
        if self.known:
            start = self.grid.warp_ends[warps]
            for warp in set(np.unique(warps).tolist()) & self.known.keys():
                own = warps == warp
                known = self.known[warp]
                found[own] = known[(first - start)[own], (second - start)[own]]
        return found

    def _known(self, warp: int) -> Integers:
        if warp not in self.known:
            lanes = len(self.grid.warp_threads(warp))
            self.known[warp] = np.full((lanes, lanes), self.all_know[warp])
        return self.known[warp]
