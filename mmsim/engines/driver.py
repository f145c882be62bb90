"""What both schedules of the event engine share: the clock, the memory units, the counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from typing import Any

from simpy import Environment, Event

from mmsim.engines.races import RaceDetector
from mmsim.engines.recorder import Recorder
from mmsim.engines.tally import Tally
from mmsim.engines.turns import Turns
from mmsim.engines.units import Job, MemoryUnit
from mmsim.errors import MMSimError
from mmsim.launch import Launch
from mmsim.machines import Unit

Process = Generator[Event, Any, None]


class Failure(Exception):
    """Carries an error out of a SimPy process, which raises a copy of what it is given."""

    def __init__(self, error: MMSimError) -> None:
        super().__init__(error)
        self.error = error


class Driver(ABC):
    """What both schedules share: the clock, the memory units, the counts."""

    def __init__(
        self, launch: Launch, recorder: Recorder | None, races: RaceDetector | None
    ) -> None:
        self.launch = launch
        self.grid = launch.grid
        self.width = launch.machine.width
        self.recorder = recorder
        self.races = races
        self.env = Environment()
        observe = None if recorder is None else self.observe
        self.units = [
            MemoryUnit(self.env, unit, self.width, self.turns(unit), observe)
            for unit in launch.machine.units
        ]
        self.tally = Tally(launch)

    @abstractmethod
    def turns(self, unit: Unit) -> Turns:
        """The order in which a unit dispatches ready warps."""

    def now(self) -> int:
        """The time, whole because every delay is."""
        return int(self.env.now)

    def observe(self, unit: Unit, job: Job, values: Any) -> None:
        """Record a dispatch."""
        assert self.recorder is not None
        now: int = self.env.now  # type: ignore[assignment]
        self.recorder.dispatched(unit, now, job.ready, job.warp, job.detail, values)
