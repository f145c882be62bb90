"""Records a run for its trace. An engine that isn't asked for a trace has no recorder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.conflicts import stage_of
from mmsim.engines.variables import Watch, traced_variables, watched
from mmsim.language.frame import Frame, Site
from mmsim.language.meaning import Steps
from mmsim.launch import Launch
from mmsim.machines import Unit
from mmsim.results.trace import (
    Arrival,
    Dispatch,
    Reason,
    Release,
    Trace,
    TracedArray,
    TracedUnit,
    Wait,
)
from mmsim.results.variables import Change


@dataclass(frozen=True, eq=False)
class Detail:
    """What a request says beyond its stages; one entry of the arrays for each active lane."""

    site: Site
    copy: int
    threads: npt.NDArray[np.int64]
    elements: npt.NDArray[np.int64]
    addresses: npt.NDArray[np.int64]
    values: npt.NDArray[Any] | None


class Recorder:
    """Collects dispatches, waits, barriers and changes of variables in the order they come in."""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.dispatches: list[Dispatch] = []
        self.waits: list[Wait] = []
        self.arrivals: list[Arrival] = []
        self.releases: list[Release] = []
        self.variables = traced_variables(launch)
        self.changes: list[Change] = []
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

    def watched(self, steps: Steps, frame: Frame, warps: range, clock: Callable[[], int]) -> Steps:
        """The steps of a frame of such warps; what changes in its variables is recorded."""
        grid = self.launch.grid
        origin = grid.warp_threads(warps[0]).start
        firsts = [grid.warp_threads(warp).start - origin for warp in warps]
        watch = Watch(self.launch, self.variables, frame, list(warps), firsts, self.changes)
        return watched(steps, watch, clock)

    def dispatched(
        self, unit: Unit, now: int, ready: int, warp: int, detail: Detail, values: Any
    ) -> None:
        """A unit has dispatched a request."""
        width = self.launch.machine.width
        site, addresses = detail.site, detail.addresses.tolist()
        stages = stage_of(addresses, width, unit.conflict)
        completion = now + max(stages) + unit.latency
        self.completed[warp] = completion
        moved: Any = detail.values if site.kind == "write" else values
        self.dispatches.append(
            Dispatch(
                now,
                unit.name,
                warp,
                site.place.function,
                site.place.line,
                site.array,
                site.kind,
                detail.copy,
                tuple(detail.threads.tolist()),
                tuple(detail.elements.tolist()),
                tuple(addresses),
                tuple(
                    address % width if unit.conflict == "bank" else address // width
                    for address in addresses
                ),
                tuple(stages),
                tuple(moved.tolist()),
                completion,
            )
        )
        self.waited(warp, "turn", ready, now, unit.name, site.place.line)
        self.waited(warp, "latency", now, completion, unit.name, site.place.line)

    def waited(
        self, warp: int, reason: Reason, start: int, end: int, unit: str | None, line: int
    ) -> None:
        """A warp has waited; not at all if it went on at once."""
        if end > start:
            self.waits.append(Wait(warp, reason, start, end, unit, line))

    def trace(self, time: int, rounds: tuple[int, ...]) -> Trace:
        """The finished record of a run that took `time` and whose rounds began at `rounds`."""
        launch = self.launch
        return Trace(
            launch.machine,
            launch.grid.threads,
            launch.grid.block_size,
            launch.schedule,
            time,
            tuple(
                TracedUnit(unit.name, unit.conflict, unit.latency) for unit in launch.machine.units
            ),
            self.arrays,
            tuple(self.dispatches),
            tuple(sorted(self.waits, key=lambda wait: (wait.start, wait.warp))),
            tuple(self.arrivals),
            tuple(self.releases),
            rounds,
            launch.program.name,
            launch.program.code.sources,
            self.variables,
            tuple(self.changes),
        )


def _addresses(array: Any) -> npt.NDArray[np.int64]:
    """The address of every element of every copy."""
    elements = np.arange(array.data.shape[1], dtype=np.int64)
    return np.stack([array.addresses(elements, copy) for copy in range(array.data.shape[0])])
