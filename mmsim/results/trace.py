"""The record of a run: facts, and all that follows from them by the rules of the model.

The event engine records the facts, and a file keeps them. Nothing here runs a program.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from mmsim.host.guesses import instead, unknown
from mmsim.ir.dtypes import Integers
from mmsim.ir.nodes import Source
from mmsim.model.byte_banks import served
from mmsim.model.conflicts import Conflict
from mmsim.model.layout import RAW, Layout, place
from mmsim.model.machines import Machine
from mmsim.model.memory import ArrayInMemory, Parameter, SharedArray, fill, lay_out
from mmsim.model.rounds import completion
from mmsim.model.threads import Grid, Shape, make_grid
from mmsim.results import events

T = TypeVar("T")
_MAKING = RLock()
MANY_UNITS = 1 << 12
"""A trace of a machine with more units names only the units that the run can reach."""

INSTEAD = instead(
    {
        "plot": "run.plot(), mm.figures.warps(run) or mm.figures.banks(run)",
        "events": "trace.dispatches, trace.waits, trace.arrivals and trace.releases",
        "to_dataframe": "pandas.DataFrame(trace.dispatches)",
        "save": "trace.to_chrome(path), or run.to_json() for all of it as text",
    }
)
"""Names of other tools' traces, with this trace's name for each."""


@dataclass(frozen=True, eq=False)
class Trace:
    """The record of a run. Its fields are facts; all else follows from them, at its first use.

    `asked` are the facts of `dispatches`. `rounds` are the time units at which the rounds of the
    synchronous schedule began, `lived` the number of rounds at whose end each warp was unfinished.
    `sources` are the texts of the program and of its functions. `variables` are the threads'
    variables, and `changes` all of their changes in order.
    """

    machine: Machine
    program: str
    threads: int
    block_size: int
    schedule: str
    time: int
    sources: tuple[Source, ...]
    parameters: tuple[events.Given, ...]
    shared: tuple[SharedArray, ...]
    sites: tuple[events.Site, ...]
    asked: tuple[events.Asked, ...]
    arrivals: tuple[events.Arrival, ...]
    releases: tuple[events.Release, ...]
    rounds: tuple[int, ...]
    lived: tuple[int, ...]
    variables: tuple[events.TracedVariable, ...]
    changes: tuple[events.Change, ...]
    shape: Shape | None = field(default_factory=lambda: None)

    @classmethod
    def later(cls, make: Callable[[], Trace]) -> Trace:
        """A trace that is made at its first use, as many runs never need theirs."""
        trace = object.__new__(cls)
        trace.__dict__["_make"] = make
        return trace

    def made(self) -> Trace:
        """The trace itself, made if necessary."""
        _ = self.time
        return self

    if not TYPE_CHECKING:  # a type checker knows the attributes

        def __getattr__(self, name: str) -> Any:
            """Make the trace. Python calls it only for a missing attribute.

            So no field has a default, which would be an attribute of the class.
            """
            with _MAKING:
                make = self.__dict__.pop("_make", None)
                if make is not None:
                    self.__dict__.update(make().__dict__)
            if name not in self.__dict__:
                if name.startswith("_"):
                    raise AttributeError(f"a trace has no attribute {name!r}")
                raise unknown("Trace", name, dir(self), INSTEAD)
            return self.__dict__[name]

    def __getstate__(self) -> dict[str, Any]:
        """The state to copy and to pickle: the trace, made if necessary."""
        return self.made().__dict__

    @cached_property
    def grid(self) -> Grid:
        """The threads, cut into blocks and warps."""
        dmms = max(len(self.machine.shared), 1)
        return make_grid(self.threads, self.block_size, self.machine.width, dmms, self.shape)

    @cached_property
    def warps(self) -> list[range]:
        """The threads of each warp."""
        return [self.grid.warp_threads(warp) for warp in range(self.grid.warps)]

    @cached_property
    def units(self) -> tuple[events.TracedUnit, ...]:
        """The memory units, idle ones too.

        Of a machine with thousands of DMMs: the memory of all, and the DMMs that hold a block.
        """
        count = len(self.machine.units)
        count = count if count <= MANY_UNITS else min(count, 1 + self.grid.blocks)
        units = self.machine.units[:count]
        return tuple(
            events.TracedUnit(unit.name, unit.conflict.name, unit.latency) for unit in units
        )

    @cached_property
    def in_memory(self) -> dict[str, ArrayInMemory]:
        """The arrays at the addresses that a launch gives them."""
        parameters = []
        for one in self.parameters:
            layout: Layout = RAW() if one.offsets is None else RecordedLayout(one.name, one.offsets)
            words = place(one.data, layout).words
            parameters.append(Parameter(one.name, one.data, layout, False, words))
        return fill(lay_out(self.machine, self.grid, parameters, self.shared), parameters)

    @cached_property
    def arrays(self) -> tuple[events.TracedArray, ...]:
        """The arrays at the start of the run, with the address of every element."""
        made = []
        for array in self.in_memory.values():
            copies, size = array.data.shape
            elements = np.arange(size, dtype=np.int64)
            addresses = np.stack([array.addresses(elements, copy) for copy in range(copies)])
            units = tuple(self.machine.units[unit].name for unit in array.unit_of_copy.tolist())
            own = (array.name, array.shape, array.shared)
            made.append(events.TracedArray(*own, array.data.copy(), addresses, units))
        return tuple(made)

    @cached_property
    def dispatches(self) -> tuple[events.Dispatch, ...]:
        """All requests in order of dispatch, with all that follows by the rules of their units."""
        memory = {one.name: one.data.copy() for one in self.arrays}
        return tuple(self._dispatch(one, memory) for one in self.asked)

    def _dispatch(
        self, asked: events.Asked, memory: dict[str, npt.NDArray[Any]]
    ) -> events.Dispatch:
        """The dispatch of a request, which takes effect on memory."""
        site = self.sites[asked.site]
        array, block = self.in_memory[site.array], self.grid.block_of_warp(asked.warp)
        copy = block if array.shared else 0
        unit = self.machine.units[array.unit_of_copy[copy].item()]
        rule = served(unit.conflict, array.dtype.itemsize, site.served_as, site.vector)
        own = self.grid.warp_threads(asked.warp)
        threads = np.array(asked.threads or own).repeat(site.vector)
        elements = (np.array(asked.elements)[:, None] + np.arange(site.vector)).ravel()
        addresses = array.addresses(elements, block)
        where, lanes = addresses.tolist(), threads - own.start if rule.by_lane else None
        stages = tuple(rule.stage_of(where, lanes))
        words = memory[site.array][copy]
        values = words[elements] if site.kind == "read" else np.array(asked.values, words.dtype)
        made = events.Dispatch(
            asked.time,
            unit.name,
            asked.warp,
            site.function,
            site.line,
            site.array,
            site.kind,
            copy,
            tuple(threads.tolist()),
            tuple(elements.tolist()),
            tuple(where),
            tuple(rule.cells(addresses).tolist()),
            stages,
            tuple(values.tolist()),
            completion(asked.time, max(stages) + 1, unit.latency),
            tuple(rule.phase_of(where, lanes)),
            site.swap,
            site.matrix,
        )
        made.take_effect(words)
        return made

    @cached_property
    def waits(self) -> tuple[events.Wait, ...]:
        """All waits, in order of their beginning and of warps."""
        return events.waits_of(
            self.dispatches, self.arrivals, self.releases, self.rounds, self.lived
        )

    def conflict(self, unit: str) -> Conflict:
        """The rule of conflicts of a unit, by name."""
        number = [one.name for one in self.units].index(unit)
        return self.machine.units[number].conflict

    def rule(self, dispatch: events.Dispatch) -> Conflict:
        """The rule that served a request, for words of its array's size."""
        unit, site = self.conflict(dispatch.unit), dispatch.site
        size = self.in_memory[dispatch.array].dtype.itemsize
        return served(unit, size, site.served_as, site.vector)

    @cached_property
    def completions(self) -> tuple[events.Dispatch, ...]:
        """The dispatches in order of completion."""
        return tuple(sorted(self.dispatches, key=lambda dispatch: dispatch.completion))

    def __repr__(self) -> str:
        return (
            f"<trace of {self.time} time units: {len(self.dispatches)} dispatches, "
            f"{len(self.waits)} waits, {len(self.releases)} barrier releases>"
        )

    def cycles(self) -> Iterator[events.Cycle]:
        """Yield the machine at time units 0, 1, ..., `time`. At the last, all requests are done.

        Each `Cycle` is separate plain data.
        """
        replay = Replay(self)
        shapes = {
            array.name: (array.data.shape[0], *array.shape) if array.shared else array.shape
            for array in self.arrays
        }
        starting = _by_time(lambda one: one.time, self.dispatches)
        ending = _by_time(lambda one: one.completion, self.dispatches)
        beginning = _by_time(lambda one: one.start, self.waits)
        waiting: list[events.Wait] = []
        numbers = {id(dispatch): number for number, dispatch in enumerate(self.dispatches)}
        pipelines: dict[str, list[events.Stage | None]] = {
            unit.name: [None] * unit.latency for unit in self.units
        }
        entering: dict[str, list[events.Stage]] = {unit.name: [] for unit in self.units}
        for time in range(self.time + 1):
            waiting = [wait for wait in waiting if wait.end > time] + beginning.get(time, [])
            for dispatch in starting.get(time, ()):
                own = numbers[id(dispatch)], dispatch.warp
                stages = range(dispatch.stage_count)  # in the order in which they enter
                made = [events.Stage(*own, stage, dispatch.in_stage(stage)) for stage in stages]
                entering[dispatch.unit] = made
            replay.advance(time + 1)
            for name, registers in pipelines.items():
                registers.insert(0, entering[name].pop(0) if entering[name] else None)
                registers.pop()
            yield events.Cycle(
                time,
                {name: tuple(registers) for name, registers in pipelines.items()},
                tuple(waiting),
                tuple(starting.get(time, ())),
                tuple(ending.get(time, ())),
                {name: data.reshape(shapes[name]).copy() for name, data in replay.memory.items()},
                replay.variables.snapshot(),
            )


class Replay:
    """The contents of memory and of the threads' variables, as a run goes on."""

    def __init__(self, trace: Trace) -> None:
        self.memory = {array.name: array.data.copy() for array in trace.arrays}
        self.variables = events.Variables(trace.variables, trace.grid)
        self._dispatches, self._changes = deque(trace.dispatches), deque(trace.changes)

    def advance(self, time: int) -> None:
        """Let all dispatches and changes before a time unit take effect."""
        while self._dispatches and self._dispatches[0].time < time:
            dispatch = self._dispatches.popleft()
            dispatch.take_effect(self.memory[dispatch.array][dispatch.copy])
        while self._changes and self._changes[0].time < time:
            self.variables.change(self._changes.popleft())


def _by_time(time: Callable[[T], int], records: Iterable[T]) -> dict[int, list[T]]:
    """Records by time."""
    found: dict[int, list[T]] = {}
    for one in records:
        found.setdefault(time(one), []).append(one)
    return found


@dataclass(frozen=True)
class RecordedLayout:
    """The layout of a trace's array: it has only these offsets."""

    name: str
    words: Integers

    def offsets(self, shape: tuple[int, ...]) -> Integers:
        return self.words.reshape(shape)

    def __str__(self) -> str:
        return f"the layout of {self.name!r:.80}"
