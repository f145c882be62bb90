"""The common part of the event engine's schedules: the clock, the memory units, the counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from simpy import Environment, Event

from mmsim.engines.events.moment import COMPLETION, Moment
from mmsim.engines.events.units import CachedUnit, MemoryUnit
from mmsim.engines.tally import Tally
from mmsim.errors import MMSimError
from mmsim.meaning.frame import Request
from mmsim.meaning.launch import Launch
from mmsim.model.machines import Unit
from mmsim.model.memory import ArrayInMemory
from mmsim.model.turns import Turns
from mmsim.monitors.listener import Listener
from mmsim.monitors.winners import Other, write_otherwise


class Driver(ABC):
    """The common part of both schedules: the clock, the memory units, the counts."""

    def __init__(self, launch: Launch, listeners: Sequence[Listener]) -> None:
        self.launch = launch
        self.grid = launch.grid
        self.listeners = listeners
        finds_deadlocks = any(one.finds_deadlocks for one in listeners)
        self.changes = None if finds_deadlocks else launch.changes()
        self.others: Mapping[int, Other] = {}  # the sites where another concurrent write wins
        self.env = Environment()
        self.tally = Tally(launch)
        self.units = [
            self._unit(unit)
            for unit in launch.machine.units[: 1 + self.grid.blocks]  # the others hold no block
        ]

    def _unit(self, unit: Unit) -> MemoryUnit:
        if unit.dmm is None and self.launch.machine.cache is not None:
            own = self.launch, self.tally, self.dmm_of_warp
            return CachedUnit(self.env, unit, self.turns(unit), *own)
        return MemoryUnit(self.env, unit, self.turns(unit))

    def dmm_of_warp(self, warp: int) -> int:
        """The DMM on which a warp runs."""
        return self.grid.dmm_of_warp(warp)

    @property
    def now(self) -> int:
        """The time, a whole number like every delay; after the run that of its last completion."""
        return self.env.now  # type: ignore[return-value]

    @abstractmethod
    def turns(self, unit: Unit) -> Turns:
        """The order in which a unit dispatches ready warps."""

    def ended(self) -> None:
        """End the run without further events; raise an error if the program is unfinished."""
        self.units[0].leave()

    def fail(self, error: MMSimError) -> None:
        """End the run with an error, after all earlier events of this instant."""

        def end(_: Event) -> None:
            raise error from None

        self.soon(COMPLETION, end)

    def soon(self, priority: int, happen: Callable[[Event], None]) -> None:
        """Call a function at this instant, by its priority."""
        moment = Moment(self.env)
        moment.callbacks = [happen]
        moment.after(0, priority)

    def write(
        self,
        request: Request,
        array: ArrayInMemory,
        blocks: npt.NDArray[np.int64] | int,
        warps: npt.NDArray[np.int64] | int,
        left: npt.NDArray[Any],
    ) -> None:
        """Store the words that a request leaves."""
        if self.changes is not None:
            self.changes.note(request, array, blocks, left)
        if request.site.kind == "atomic":
            array.leave(request.elements, blocks, left)
        elif request.site.number in self.others:
            other = self.others[request.site.number]
            write_otherwise(array, request.elements, blocks, left, warps, other)
        else:
            several = isinstance(warps, np.ndarray)
            firsts = np.flatnonzero(np.diff(warps, prepend=-1)) if several else None
            array.write(request.elements, blocks, left, firsts)
