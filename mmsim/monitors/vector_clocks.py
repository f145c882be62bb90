"""The order by atomics: a warp that receives another warp's word knows all that this had done.

So a lock orders the work under it, and a counter orders the work before each count. An atomic that
changes a word *releases* it. An atomic whose old value is used *acquires* it. Barriers order
the warps of a block, and pass on the knowledge of each.

Each warp counts its releases. Its vector clock holds the releases of every other warp that come
before it. An access comes before another one exactly if, at the second access, its warp knew of a
release that the first warp made at the first access or later.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from mmsim.meaning.launch import Launch
from mmsim.meaning.memory_budget import Growth
from mmsim.monitors.lines import bits_of
from mmsim.monitors.listener import Access

Integers = npt.NDArray[np.int64]


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
        if access.site.kind != "atomic":
            return int(self.releases[warp]), self.view[warp]
        copy = access.of_lane(access.copies, 0)
        cells = [(access.site.array, copy, one) for one in access.elements.tolist()]
        if access.site.returns:
            self._learn(warp, (self.left[cell] for cell in set(cells) if cell in self.left))
        count, view = int(self.releases[warp]), self.view[warp]
        assert access.values is not None
        before = access.array.read(access.elements, access.blocks)
        changed = np.flatnonzero(bits_of(before) != bits_of(access.values)).tolist()
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
