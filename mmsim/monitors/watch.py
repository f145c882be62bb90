"""Watches a running program, and reports its mistakes at the end.

The engines report each memory instruction to `Monitors`, in the order of their effects, and each
barrier (`listener`).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from mmsim.frontend.ptx.heap import HEAP
from mmsim.meaning.launch import Launch
from mmsim.monitors.deadlock import DeadlockCheck
from mmsim.monitors.heapcheck import HeapCheck
from mmsim.monitors.initcheck import UnwrittenReads
from mmsim.monitors.lines import Lines
from mmsim.monitors.listener import Listener
from mmsim.monitors.racecheck import RaceDetector
from mmsim.monitors.synccheck import SyncCheck
from mmsim.monitors.updates import LostUpdates
from mmsim.monitors.warpsync import WarpSyncCheck
from mmsim.monitors.winners import ConcurrentWrites
from mmsim.results.findings import Finding

OF_A_THREAD = 72  # bytes: its last place and time, its latest write, and an access reported


def _passed_on(event: str) -> Any:
    """A method that passes an event on to every monitor."""

    def pass_on(self: Monitors, *facts: Any) -> None:
        for one in self._every:
            getattr(one, event)(*facts)

    return pass_on


class Monitors(Listener):
    """Looks for races, reads of uninitialized memory, divergent barriers and missing syncs.

    With `thorough`, it also notes concurrent writes and whether the program is deadlocked, for
    `Machine.check`. The first contents of the parameters `unset` mean nothing.
    """

    def __init__(
        self, launch: Launch, unset: Collection[str] = (), *, thorough: bool = False
    ) -> None:
        lines = Lines(launch)
        self.lines = lines
        self.races = RaceDetector(launch, lines)
        self.unwritten = UnwrittenReads(launch, lines, unset)
        self.updates = LostUpdates(launch, lines)
        self.barriers = SyncCheck(launch)
        self.concurrent_writes = ConcurrentWrites(launch, lines) if thorough else None
        self.deadlock = DeadlockCheck(launch) if thorough else None
        self.finds_deadlocks = thorough
        independent = launch.schedule == "asynchronous"
        self.warp_syncs = WarpSyncCheck(launch, lines) if independent else None
        self.heap = HeapCheck(launch, lines) if HEAP in launch.arrays else None
        some = (self.concurrent_writes, self.deadlock, self.warp_syncs, self.heap)
        self._every: list[Listener] = [self.races, self.unwritten, self.updates, self.barriers]
        self._every += [one for one in some if one is not None]

    forget, accessed, met, synced, arrived, released, ended = map(
        _passed_on, ("forget", "accessed", "met", "synced", "arrived", "released", "ended")
    )

    def findings(self) -> tuple[Finding, ...]:
        """All findings, races first.

        A line that reads too early, in a race, is reported once, as the race. So are lanes that
        meet in a line that races as well, or whose updates get lost.
        """
        races = self.races.findings()
        racing = {(race.array, access.where) for race in races for access in race.accesses}
        unwritten = [
            found
            for found in self.unwritten.findings()
            if (found.array, found.accesses[0].where) not in racing
        ]
        lost = tuple(self.updates.findings())
        named = racing | {(found.array, one.where) for found in lost for one in found.accesses}
        syncs = [
            found
            for found in (() if self.warp_syncs is None else self.warp_syncs.findings())
            if not any((found.array, one.where) in named for one in found.accesses)
        ]
        heap = () if self.heap is None else self.heap.findings()
        return (*races, *lost, *unwritten, *heap, *self.barriers.findings(), *syncs)


def bytes_watched(launch: Launch) -> int:
    """Bytes of `Monitors`, without data that grow with the accesses."""
    arrays = launch.arrays
    sites = [site for site in launch.meaning.sites if site.kind != "write"]
    noted = {name: 1 for name in arrays}  # what is written, and for each line what is not
    for site in sites:
        noted[site.array] += 1
    cells = sum(noted[name] * array.size * len(array.bases) for name, array in arrays.items())
    return cells + OF_A_THREAD * launch.grid.threads
