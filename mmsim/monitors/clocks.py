"""The order by atomics: a warp that receives another warp's word knows all that this had done.

So a lock orders the work under it, and a counter orders the work before each count. An atomic that
changes a word *releases* it. An atomic whose old value is used *acquires* it. Barriers order
the warps of a block, and pass on the knowledge of each. A strong store is such a release, and a
strong load acquires.

Each warp counts its releases. Its vector clock holds the releases of every other warp that come
before it. An access comes before another one exactly if, at the second access, its warp knew of a
release that the first warp made at the first access or later.

A GPU runs the lanes of a warp independently, too. `LaneClocks` does the same for them: a lane that
receives by an atomic the word that another lane left, knows all that this lane had done. Lanes that
come to `mm.warp.sync()` know all that each of them had done and known.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from mmsim.ir.dtypes import Integers
from mmsim.meaning.launch import Launch
from mmsim.meaning.memory_budget import Growth
from mmsim.monitors.lines import row_starts
from mmsim.monitors.listener import Access


class VectorClocks:
    """The vector clocks of a run's warps, updated request by request.

    `needed` says whether the program has an atomic that could order anything: one with a used old
    value, under the asynchronous schedule. Otherwise all stays at 0.
    """

    def __init__(self, launch: Launch) -> None:
        sites = launch.meaning.sites
        asynchronous = launch.schedule == "asynchronous"
        self.needed = asynchronous and any(site.returns for site in sites)
        self.warps = launch.grid.warps
        self.growth = Growth(launch, "the list of what its warps know of each other")
        self.forget()

    def forget(self) -> None:
        """Discard all: the run begins again."""
        self.releases = np.zeros(self.warps, np.int32)
        # All earlier states of knowledge: rows of releases by warp, and each warp's present row.
        self.views = [np.full(self.warps, -1, np.int32)]
        self.view = [0] * self.warps
        self.left: dict[tuple[str, int, int], npt.NDArray[np.int32]] = {}  # by element

    def accessed(self, access: Access) -> tuple[int, int]:
        """Note a warp's request; return the warp's count of releases and the number of its view."""
        if not self.needed:
            return 0, 0
        warp = access.of_lane(access.warps, 0)
        if not access.site.orders:
            return int(self.releases[warp]), self.view[warp]
        copy = access.of_lane(access.copies, 0)
        cells = [(access.site.array, copy, one) for one in access.elements.tolist()]
        if access.site.returns:
            self._learn(warp, (self.left[cell] for cell in set(cells) if cell in self.left))
        count, view = int(self.releases[warp]), self.view[warp]
        changed = np.flatnonzero(access.changes).tolist()
        if changed:
            own = self.views[view].copy()
            own[warp] = count
            for lane in changed:
                left = self.left.get(cells[lane])
                self.left[cells[lane]] = own if left is None else np.maximum(left, own)
            self.releases[warp] += 1
            self._ask()
        return count, view

    def released(self, warps: Iterable[int]) -> None:
        """Note that a barrier has released these warps: each now knows all that they knew."""
        if self.needed:
            rows = np.stack([self._own(warp) for warp in warps])
            joined: npt.NDArray[np.int32] = rows.max(axis=0)
            for warp in warps:
                self._learn(warp, [joined])

    def happened_before(
        self, view: Integers, warp: Integers, count: Integers
    ) -> npt.NDArray[np.bool_]:
        """Return whether accesses with these views come after those of these warps and counts."""
        known = np.stack(self.views)
        result: npt.NDArray[np.bool_] = known[view, warp] >= count
        return result

    def _own(self, warp: int) -> npt.NDArray[np.int32]:
        """The knowledge of a warp, its own work included."""
        own = self.views[self.view[warp]].copy()
        own[warp] = self.releases[warp]
        return own

    def _learn(self, warp: int, rows: Iterable[npt.NDArray[np.int32]]) -> None:
        """Add the knowledge of others to a warp's."""
        old = self.views[self.view[warp]]
        new = np.maximum.reduce([old, *rows])
        if not np.array_equal(old, new):
            self.view[warp] = len(self.views)
            self.views.append(new)
            self._ask()

    def _ask(self) -> None:
        held = 4 * self.warps * (len(self.views) + len(self.left))
        self.growth.need(held, held)


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
        """Note an atomic or strong access, the lanes of a warp in ascending order."""
        if not self.acquires:
            return
        if isinstance(access.warps, np.ndarray):  # of several warps together
            starts = [*row_starts(access.warps).tolist(), len(access.elements)]
            for begin, end in pairwise(starts):
                self.accessed(access.of_lanes(slice(begin, end)))
            return
        warp, copy = access.of_lane(access.warps, 0), access.of_lane(access.copies, 0)
        self.events[warp] += 1
        known = self._known(warp)
        lanes = (access.threads - self.grid.warp_threads(warp).start).tolist()
        of_lanes = zip(lanes, access.elements.tolist(), access.changes, strict=True)
        for lane, element, changed in of_lanes:
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
