"""Records a run for its trace. An engine has no recorder unless a trace is requested."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from mmsim.engines.events.variables import Changes, Seen, traced_variables
from mmsim.errors import Place
from mmsim.ir.nodes import BarrierScope
from mmsim.ir.operators import Mask
from mmsim.meaning.frame import Frame
from mmsim.meaning.launch import Launch
from mmsim.meaning.memory_budget import Growth
from mmsim.model.machines import Unit
from mmsim.model.memory import SharedArray
from mmsim.monitors.listener import Access, Listener, Stay
from mmsim.results.events import Arrival, Asked, Change, Given, Release, Site
from mmsim.results.trace import Trace

OF_A_DISPATCH, OF_A_LANE = 900, 240  # bytes of a dispatch in a trace, and of each of its lanes
OF_A_WAIT, OF_A_VALUE = 240, 40
"""Bytes of a wait, of an event at a barrier, of a change, and of each value of a change."""


class Recorder(Listener):
    """Notes all that happens, in order; `trace` makes the trace from it, which takes longer."""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.lock_step = launch.schedule == "synchronous"
        self.dispatches: deque[Access] = deque()
        self.rounds = 0
        self.lived = np.zeros(launch.grid.warps, np.int64)  # in lock step: see `waits_of`
        self.waits = 0  # of rounds and barriers
        self.arrivals: list[Arrival] = []
        self.releases: list[Release] = []
        self.variables = traced_variables(launch)
        self.frames: dict[Frame, Changes] = {}
        self.seen: deque[tuple[Changes, int, Seen]] = deque()
        self.changes: list[Change] = []  # made from earlier reports
        self.growth = Growth(launch, "its trace")
        self.lanes = 0
        arrays = launch.arrays.values()
        local = {one.name for one in launch.code.locals if one.kind == "local"}
        self.shared = tuple(
            SharedArray(one.name, one.shape, one.dtype.name, one.name in local)
            for one in arrays
            if one.shared
        )
        self.parameters = tuple(
            Given(
                one.name,
                one.data.reshape(one.shape).copy(),
                None if one.offsets is None else one.offsets.reshape(one.shape),
            )
            for one in arrays
            if not one.shared
        )

    def dispatched(self, access: Access, unit: Unit, ready: int, stages: int) -> None:
        self.dispatches.append(access)
        self.lanes += len(access.elements)
        self._ask()

    def round_ended(self, access: Access, start: int, time: int, live: Mask) -> None:
        """Note, in lock step, which warps wait until the round is over: the unfinished ones."""
        grid = self.launch.grid
        warps = np.unique(grid.warp[np.broadcast_to(live, grid.threads)])
        self.rounds += 1
        self.lived[warps] = self.rounds
        self.waits += len(warps)

    def arrived(
        self,
        warp: int,
        place: Place,
        here: Mask,
        live: Mask,
        time: int = -1,
        scope: BarrierScope = "block",
    ) -> None:
        block = self.launch.grid.block_of_warp(warp)
        self.arrivals.append(Arrival(time, warp, block, place.line))

    def released(self, block: int, stays: Sequence[Stay], time: int) -> None:
        self.releases.append(Release(time, block, tuple(stay.warp for stay in stays)))
        self.waits += len(stays)

    def began(self, frame: Frame, warps: range) -> None:
        grid = self.launch.grid
        origin = grid.warp_threads(warps[0]).start
        firsts = [grid.warp_threads(warp).start - origin for warp in warps]
        self.frames[frame] = Changes(self.launch, self.variables, frame, warps, firsts)

    def worked(self, frame: Frame, time: int) -> None:
        changes = self.frames[frame]
        for seen in changes.look():
            self.seen.append((changes, time, seen))
        if self.lock_step:  # all threads' values are too many to keep for each change
            self._compare()

    def _ask(self) -> None:
        events = 2 * len(self.dispatches) + self.waits
        events += len(self.arrivals) + len(self.releases)
        taken = OF_A_DISPATCH * len(self.dispatches) + OF_A_LANE * self.lanes + OF_A_WAIT * events
        lanes = min(self.launch.machine.width, self.launch.grid.threads)
        taken += (OF_A_WAIT + OF_A_VALUE * lanes) * (len(self.seen) + len(self.changes))
        self.growth.need(taken, taken)

    def _compare(self) -> None:
        """Make changes from the reports."""
        while self.seen:
            changes, time, seen = self.seen.popleft()
            self.changes += changes.compare(time, seen)

    def trace(self, time: int, rounds: tuple[int, ...]) -> Trace:
        """The record of a run of `time` time units with rounds that began at `rounds`."""
        return Trace.later(lambda: self._trace(time, rounds))

    def _trace(self, time: int, rounds: tuple[int, ...]) -> Trace:
        launch = self.launch
        self._compare()
        sites: dict[Site, int] = {}
        asked = []
        while self.dispatches:  # a note is dropped when its record is made
            asked.append(self._asked(self.dispatches.popleft(), sites))
        return Trace(
            launch.machine,
            launch.program.name,
            launch.grid.threads,
            launch.grid.block_size,
            launch.schedule,
            time,
            launch.code.sources,
            self.parameters,
            self.shared,
            tuple(sites),
            tuple(asked),
            tuple(self.arrivals),
            tuple(self.releases),
            rounds,
            tuple(self.lived.tolist()) if rounds else (),
            self.variables,
            tuple(self.changes),
            launch.grid.shape,
        )

    def _asked(self, access: Access, sites: dict[Site, int]) -> Asked:
        """The facts of a dispatch, with the number of its site, perhaps a new one."""
        site, place = access.site, access.site.place
        about = (place.function, place.line, site.array, site.kind, site.vector)
        of_text = (*about, site.served_as == "cas", site.matrix)
        warp, threads = access.of_lane(access.warps, 0), access.threads[:: site.vector].tolist()
        assert access.values is not None
        return Asked(
            access.of_lane(access.times, 0),
            warp,
            sites.setdefault(Site(*of_text), len(sites)),
            () if len(threads) == len(self.launch.grid.warp_threads(warp)) else tuple(threads),
            tuple(access.elements[:: site.vector].tolist()),
            () if site.kind == "read" else tuple(access.values.tolist()),
        )
