"""What orders the lanes of one warp on a GPU, which runs them independently: syncs and atomics.

As
in
`order`, which does the same for warps: a lane that receives the word that another lane left by
an atomic knows all that this one had done. Lanes that come to `mm.warp.sync()` know all that
each of them had done and known.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mmsim.ir.operators import Mask
from mmsim.meaning.launch import Launch
from mmsim.monitors.lines import bits_of
from mmsim.monitors.listener import Access

Integers = npt.NDArray[np.int64]


class LaneOrder:
    """Counts the events of each warp, syncs and atomics, and keeps which of them each lane knows.

    `events[warp]` is the number of events up to now. `known[warp][i, j]` is the latest event of
    lane i that lane j knows of: all that i did before that event comes before what j does now.
    """

    def __init__(self, launch: Launch) -> None:
        self.grid = launch.grid
        self.acquires = any(site.returns for site in launch.meaning.sites)
        self.events = [0] * launch.grid.warps
        self.known: dict[int, Integers] = {}
        # What lanes of a warp left with an element: of each lane the latest event.
        self.left: dict[tuple[int, str, int, int], Integers] = {}

    def synced(self, warp: int, here: Mask) -> None:
        """Lanes of a warp come to a sync together."""
        self.events[warp] += 1
        known = self._known(warp)
        there = np.flatnonzero(np.broadcast_to(here, len(known)))
        known[:, there] = known[:, there].max(axis=1, keepdims=True)
        known[np.ix_(there, there)] = self.events[warp]

    def accessed(self, access: Access) -> None:
        """Take in an atomic of a warp, its lanes in ascending order."""
        if not self.acquires:
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

    def latest(self, warp: int, first: Integers, second: Integers) -> Integers:
        """Of pairs of lanes the latest event of the first that the second knows of."""
        found: Integers = self._known(warp)[first, second]
        return found

    def _known(self, warp: int) -> Integers:
        if warp not in self.known:
            lanes = len(self.grid.warp_threads(warp))
            self.known[warp] = np.zeros((lanes, lanes), np.int64)
        return self.known[warp]
