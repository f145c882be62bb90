"""Records a run for its trace. An engine has no recorder unless a trace is requested."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.engines.events.variables import Changes, Seen, traced_variables
from mmsim.errors import Place
from mmsim.ir.nodes import BarrierScope
from mmsim.ir.operators import Mask
from mmsim.meaning.frame import Frame
from mmsim.meaning.launch import Launch
from mmsim.meaning.memory_budget import Growth
from mmsim.model.machines import Unit
from mmsim.model.rounds import completion
from mmsim.monitors.listener import Access, Listener, Stay
from mmsim.results.trace import (
    Arrival,
    Dispatch,
    Reason,
    Release,
    Trace,
    TracedArray,
    Wait,
    traced_units,
)
from mmsim.results.variables import Change

OF_A_DISPATCH, OF_A_LANE = 900, 240
"""Bytes of a dispatch in a trace, and of each of its lanes."""
OF_A_WAIT, OF_A_VALUE = 240, 40
"""Bytes of a wait, of an event at a barrier, of a change, and of each value of a change."""


class Recorder(Listener):
    """Collects dispatches, waits, barriers and changes of variables in their order.

    It only notes the reports; `trace` makes the trace from them, which takes longer.
    """

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.lock_step = launch.schedule == "synchronous"
        self.dispatches: deque[tuple[Access, Unit, int, int]] = deque()
        self.waits: list[Wait] = []
        self.arrivals: list[Arrival] = []
        self.releases: list[Release] = []
        self.variables = traced_variables(launch)
        self.frames: dict[Frame, Changes] = {}
        self.seen: deque[tuple[Changes, int, Seen]] = deque()
        self.changes: list[Change] = []  # made from earlier reports
        self.growth = Growth(launch, "its trace")
        self.lanes = 0
        self.completed: dict[int, int] = {}  # the completion of each warp's latest request
        self.arrays = tuple(
            TracedArray(
                array.name,
                array.shape,
                array.shared,
                array.data.copy(),
                _addresses(array),
                tuple(launch.machine.units[unit].name for unit in array.unit_of_copy),
            )
            for array in launch.arrays.values()
        )

    def dispatched(self, access: Access, unit: Unit, ready: int, stages: int) -> None:
        self.dispatches.append((access, unit, ready, stages))
        self.lanes += len(access.elements)
        if self.lock_step:
            warp, time = access.of_lane(access.warps, 0), access.of_lane(access.times, 0)
            self.completed[warp] = completion(time, stages, unit.latency)
        self._ask()

    def round_ended(self, access: Access, start: int, time: int, live: Mask) -> None:
        """Note, in lock step, that every unfinished warp waits until the round is over."""
        grid, line = self.launch.grid, access.site.place.line
        for warp in np.unique(grid.warp[np.broadcast_to(live, grid.threads)]).tolist():
            since = max(self.completed.get(warp, 0), start)
            self._waited(warp, "round", since, time, None, line)

    def arrived(
        self, warp: int, place: Place, here: Mask, time: int = -1, scope: BarrierScope = "block"
    ) -> None:
        block = self.launch.grid.block_of_warp(warp)
        self.arrivals.append(Arrival(time, warp, block, place.line))

    def released(self, block: int, stays: Sequence[Stay], time: int) -> None:
        self.releases.append(Release(time, block, tuple(stay.warp for stay in stays)))
        for stay in stays:
            self._waited(stay.warp, "barrier", stay.since, time, None, stay.line)

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
        events = 2 * len(self.dispatches) + len(self.waits)
        events += len(self.arrivals) + len(self.releases)
        taken = OF_A_DISPATCH * len(self.dispatches) + OF_A_LANE * self.lanes + OF_A_WAIT * events
        lanes = min(self.launch.machine.width, self.launch.grid.threads)
        taken += (OF_A_WAIT + OF_A_VALUE * lanes) * (len(self.seen) + len(self.changes))
        self.growth.need(taken, taken)

    def _waited(
        self, warp: int, reason: Reason, start: int, end: int, unit: str | None, line: int
    ) -> None:
        """Note a warp's wait, unless the warp went on immediately."""
        if end > start:
            self.waits.append(Wait(warp, reason, start, end, unit, line))

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
        dispatches = []
        while self.dispatches:  # a note is dropped when its record is made
            dispatches.append(self._dispatch(*self.dispatches.popleft()))
        return Trace(
            launch.machine,
            launch.grid.threads,
            launch.grid.block_size,
            launch.schedule,
            time,
            traced_units(launch.machine, launch.grid.blocks),
            self.arrays,
            tuple(dispatches),
            tuple(sorted(self.waits, key=lambda wait: (wait.start, wait.warp))),
            tuple(self.arrivals),
            tuple(self.releases),
            rounds,
            launch.program.name,
            launch.program.code.sources,
            self.variables,
            tuple(self.changes),
            launch.grid.shape,
        )

    def _dispatch(self, access: Access, unit: Unit, ready: int, stages: int) -> Dispatch:
        """The record of a dispatch, with the warp's waits for its turn and for its request."""
        site, addresses = access.site, access.addresses
        now, warp = access.of_lane(access.times, 0), access.of_lane(access.warps, 0)
        assert addresses is not None
        assert access.values is not None
        done = completion(now, stages, unit.latency)
        self._waited(warp, "turn", ready, now, unit.name, site.place.line)
        self._waited(warp, "latency", now, done, unit.name, site.place.line)
        rule = self.launch.rule(unit.conflict, site)
        lanes = self.launch.grid.lane[access.threads] if rule.by_lane else None
        where = addresses.tolist()
        return Dispatch(
            now,
            unit.name,
            warp,
            site.place.function,
            site.place.line,
            site.array,
            site.kind,
            access.of_lane(access.copies, 0),
            tuple(access.threads.tolist()),
            tuple(access.elements.tolist()),
            tuple(where),
            tuple(rule.cells(addresses).tolist()),
            tuple(rule.stage_of(where, lanes)),
            tuple(access.values.tolist()),
            done,
            tuple(rule.phase_of(where, lanes)),
        )


def _addresses(array: Any) -> npt.NDArray[np.int64]:
    """The address of every element of every copy."""
    elements = np.arange(array.data.shape[1], dtype=np.int64)
    return np.stack([array.addresses(elements, copy) for copy in range(array.data.shape[0])])
