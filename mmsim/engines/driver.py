"""What both schedules of the event engine share: the clock, the memory units, the counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from simpy import Environment, Event

from mmsim.engines.collisions import Other, write_otherwise
from mmsim.engines.recorder import Recorder
from mmsim.engines.tally import Tally
from mmsim.engines.turns import Turns
from mmsim.engines.units import Job, MemoryUnit
from mmsim.engines.watch import Watch
from mmsim.errors import MMSimError
from mmsim.language.frame import Request
from mmsim.launch import Launch
from mmsim.machines import Unit
from mmsim.memory import ArrayInMemory
from mmsim.results import Run
from mmsim.results.trace import Trace

Process = Generator[Event, Any, None]


class Failure(Exception):
    """Carries an error out of a SimPy process, which raises a copy of what it is given."""

    def __init__(self, error: MMSimError) -> None:
        super().__init__(error)
        self.error = error


class Driver(ABC):
    """What both schedules share: the clock, the memory units, the counts."""

    def __init__(self, launch: Launch, recorder: Recorder | None, watch: Watch | None) -> None:
        self.launch = launch
        self.grid = launch.grid
        self.width = launch.machine.width
        self.recorder = recorder
        self.watch = watch
        self.others: Mapping[int, Other] = {}  # at which sites another concurrent write wins
        self.env = Environment()
        observe = None if recorder is None else self.observe
        self.units = [
            MemoryUnit(self.env, unit, self.width, self.turns(unit), observe)
            for unit in launch.machine.units
        ]
        self.tally = Tally(launch)

    @property
    def now(self) -> int:
        """The time, whole because every delay is."""
        return int(self.env.now)

    def write(
        self,
        request: Request,
        array: ArrayInMemory,
        blocks: npt.NDArray[np.int64] | int,
        warps: npt.NDArray[np.int64] | int,
    ) -> None:
        """Store what a request sends."""
        assert request.values is not None
        if request.site.number in self.others:
            other = self.others[request.site.number]
            write_otherwise(array, request.elements, blocks, request.values, warps, other)
        else:
            several = warps if isinstance(warps, np.ndarray) else None
            array.write(request.elements, blocks, request.values, several)

    @abstractmethod
    def turns(self, unit: Unit) -> Turns:
        """The order in which a unit dispatches ready warps."""

    def observe(self, unit: Unit, job: Job, values: Any) -> None:
        """Record a dispatch."""
        assert self.recorder is not None
        self.recorder.dispatched(unit, self.now, job.ready, job.warp, job.detail, values)

    def result(self) -> Run:
        """The run, after its end."""
        time = max(unit.last_completion for unit in self.units)
        return self.tally.result(
            "events",
            time,
            findings=None if self.watch is None else self.watch.findings(),
            record=None if self.recorder is None else self.record(time),
        )

    def record(self, time: int) -> Trace:
        """The trace of what has happened up to `time`."""
        assert self.recorder is not None
        return self.recorder.trace(time, tuple(row.start for row in self.tally.rounds))
