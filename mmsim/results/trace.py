"""The record of a run, and the state of the machine at each time unit.

The event engine records; `Trace.cycles` replays the record. Nothing here runs a program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from mmsim.host.guesses import instead, unknown
from mmsim.ir.nodes import Scalar, Source
from mmsim.model.conflicts import Conflict
from mmsim.model.machines import Machine, Unit
from mmsim.model.threads import Grid, Shape, make_grid
from mmsim.results.rows import Kind
from mmsim.results.variables import Change, Held, TracedVariable, Variables

Reason = Literal["turn", "latency", "round", "barrier"]

MANY_UNITS = 1 << 12
"""A trace of a machine with more units names only the units that the run can reach."""

_MAKING = RLock()


@dataclass(frozen=True)
class Dispatch:
    """One warp's request, dispatched at `time` by `unit`; entry j belongs to thread `threads[j]`.

    A thread that accesses a vector has consecutive entries for its elements.

    `elements` are row-major element numbers in the array, `addresses` word addresses, `places` the
    bank or the address group of each, `stages` the stage in which each travels, counted from 0.
    `values` are the values read or written; for an atomic, the value after each lane. `copy` is the
    block of a shared array, else 0.

    A unit's rule may serve a request in several phases in turn, as a GPU serves long words.
    `phases` has the phase in which each thread's request travels, counted from 0.
    """

    time: int
    unit: str
    warp: int
    function: str
    line: int
    array: str
    kind: Kind
    copy: int
    threads: tuple[int, ...]
    elements: tuple[int, ...]
    addresses: tuple[int, ...]
    places: tuple[int, ...]
    stages: tuple[int, ...]
    values: tuple[Scalar, ...]
    completion: int
    phases: tuple[int, ...] = ()

    @property
    def phase_count(self) -> int:
        """The number of phases of the request: 1 if its rule has no phases."""
        return max(self.phases) + 1 if self.phases else 1

    @property
    def vector(self) -> int:
        """The number of adjacent elements that each thread accesses together; usually 1."""
        return self.threads.count(self.threads[0])

    @property
    def stage_count(self) -> int:
        """Stages that the request occupies: the congestion, or the number of address groups."""
        return max(self.stages) + 1

    def take_effect(self, words: npt.NDArray[Any]) -> None:
        """Apply the request to the words of the array's copy.

        Of several writes to one element, that of the lowest-numbered thread stays; of atomics, that
        of the last lane.
        """
        if self.kind != "read":
            last = slice(None) if self.kind == "atomic" else slice(None, None, -1)
            words[list(self.elements[last])] = self.values[last]


@dataclass(frozen=True)
class Wait:
    """Warp `warp` waited from `start` up to, not including, `end`.

    `reason` is "turn" (ready, but the unit served other warps), "latency" (its own request was
    under way), "round" (lock step: other warps weren't done) or "barrier". `unit` is the awaited
    unit, if any; `line` is the source line of the wait.
    """

    warp: int
    reason: Reason
    start: int
    end: int
    unit: str | None
    line: int


@dataclass(frozen=True)
class Arrival:
    """A warp came to a barrier."""

    time: int
    warp: int
    block: int
    line: int


@dataclass(frozen=True)
class Release:
    """A barrier released its block's waiting warps."""

    time: int
    block: int
    warps: tuple[int, ...]


@dataclass(frozen=True)
class TracedUnit:
    """A memory unit in a trace: its name, its rule's name, its latency."""

    name: str
    conflict: str
    latency: int


def units_named(machine: Machine, blocks: int) -> int:
    """The number of units in the trace of so many blocks: all units, idle ones too.

    For a machine with thousands of DMMs: only the DMMs that hold a block, and the memory of all.
    """
    count = len(machine.units)
    return count if count <= MANY_UNITS else min(count, 1 + blocks)


def traced_units(machine: Machine, blocks: int) -> tuple[TracedUnit, ...]:
    """The units that the trace of so many blocks names."""
    return as_traced(machine.units[: units_named(machine, blocks)])


def as_traced(units: Iterable[Unit]) -> tuple[TracedUnit, ...]:
    """The trace's data of these units."""
    return tuple(TracedUnit(unit.name, unit.conflict.name, unit.latency) for unit in units)


@dataclass(frozen=True, eq=False)
class TracedArray:
    """An array at the start of the run: `data` and `addresses` have one row for each copy.

    An `mm.shared` array has a copy for each block, a parameter has one. `units` names the unit in
    front of each copy.
    """

    name: str
    shape: tuple[int, ...]
    shared: bool
    data: npt.NDArray[Any]
    addresses: npt.NDArray[np.int64]
    units: tuple[str, ...]


@dataclass(frozen=True)
class Stage:
    """The contents of one pipeline register: a stage of a dispatched request.

    `dispatch` is the number of the dispatch in `Trace.dispatches`; `requests` are the (thread,
    address) pairs that travel in this stage.
    """

    dispatch: int
    warp: int
    number: int
    requests: tuple[tuple[int, int], ...]


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
class Cycle:
    """The machine during one time unit.

    `registers[unit]` are the pipeline registers of a unit in order, None if empty. A stage
    dispatched at time t is in register j during time unit t + j. `waiting` are the waits that cover
    this time unit. `dispatched` and `completed` are the dispatches that began and completed at its
    start. `memory[name]` has the contents of each array after the dispatches of this time unit.
    Shared arrays have one more dimension, the block.

    `variables[name]` has one value, or one `mm.registers` array, for each thread, masked if the
    thread hasn't assigned it. These are the values while the warp waits for its turn, for its
    request or at a barrier, after all local work up to this time; local work takes no time. A
    thread holds the result of a read from the completion of its request on; in lock step, from the
    end of its round on.
    """

    time: int
    registers: dict[str, tuple[Stage | None, ...]]
    waiting: tuple[Wait, ...]
    dispatched: tuple[Dispatch, ...]
    completed: tuple[Dispatch, ...]
    memory: dict[str, npt.NDArray[Any]]
    variables: dict[str, Held]

    def thread(self, number: int) -> dict[str, Any]:
        """The variables of a thread: a number, an array of its registers, or None (not assigned).

        >>> import numpy as np, mmsim as mm
        >>> @mm.program
        ... def twice(T, a):
        ...     x = a[T.id]
        ...     a[T.id] = 2 * x
        >>> run = mm.DMM(2, 1).run(twice, np.arange(4), threads=4, trace=True)
        >>> [cycle.thread(3) for cycle in run.trace.cycles()]
        [{'x': None}, {'x': None}, {'x': 3}, {'x': 3}, {'x': 3}]
        """
        return {
            name: held.data[number].copy() if held.ndim > 1 else held.tolist()[number]
            for name, held in self.variables.items()
        }


def served_by(conflict: Conflict, size: int, dispatch: Dispatch, grid: Grid) -> Conflict:
    """The rule of a unit for a request for words of so many bytes.

    A dispatch doesn't name the operation of an atomic access. Its stages show it if the rule takes
    more stages for a compare and swap. The entries of a thread show how many adjacent elements a
    lane accesses together.
    """
    if dispatch.vector > 1:
        return conflict.of_vectors(size, dispatch.kind, dispatch.vector)
    rule = conflict.of_access(size, dispatch.kind)
    if dispatch.kind != "atomic":
        return rule
    swap = conflict.of_access(size, "cas")
    if swap == rule:
        return rule
    stages = swap.stage_of(list(dispatch.addresses), grid.lane[[*dispatch.threads]])
    return swap if list(dispatch.stages) == stages else rule


@dataclass(frozen=True, eq=False)
class Trace:
    """The record of a run: dispatches in dispatch order, waits, barriers, memory at the start.

    `rounds` are the time units at which the rounds of the synchronous schedule began. `sources` are
    the texts of the program and of its functions. `variables` are the threads' variables, and
    `changes` all of their changes in order.
    """

    machine: Machine
    threads: int
    block_size: int
    schedule: str
    time: int
    units: tuple[TracedUnit, ...]
    arrays: tuple[TracedArray, ...]
    dispatches: tuple[Dispatch, ...]
    waits: tuple[Wait, ...]
    arrivals: tuple[Arrival, ...]
    releases: tuple[Release, ...]
    rounds: tuple[int, ...] = field(default_factory=tuple)
    program: str = field(default_factory=str)
    sources: tuple[Source, ...] = field(default_factory=tuple)
    variables: tuple[TracedVariable, ...] = field(default_factory=tuple)
    changes: tuple[Change, ...] = field(default_factory=tuple)
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

    def conflict(self, unit: str) -> Conflict:
        """The rule of conflicts of a unit, by name."""
        number = [one.name for one in self.units].index(unit)
        return self.machine.units[number].conflict

    def rule(self, dispatch: Dispatch) -> Conflict:
        """The rule that served a request, for words of its array's size."""
        array = next(one for one in self.arrays if one.name == dispatch.array)
        return served_by(
            self.conflict(dispatch.unit), array.data.dtype.itemsize, dispatch, self.grid
        )

    @cached_property
    def completions(self) -> tuple[Dispatch, ...]:
        """The dispatches in order of completion."""
        return tuple(sorted(self.dispatches, key=lambda dispatch: dispatch.completion))

    def __repr__(self) -> str:
        return (
            f"<trace of {self.time} time units: {len(self.dispatches)} dispatches, "
            f"{len(self.waits)} waits, {len(self.releases)} barrier releases>"
        )

    def cycles(self) -> Iterator[Cycle]:
        """Yield the machine at time units 0, 1, ..., `time`. At the last, all requests are done.

        Each `Cycle` is separate plain data.
        """
        memory = {array.name: array.data.copy() for array in self.arrays}
        shapes = {
            array.name: (array.data.shape[0], *array.shape) if array.shared else array.shape
            for array in self.arrays
        }
        starting: dict[int, list[Dispatch]] = {}
        ending: dict[int, list[Dispatch]] = {}
        for dispatch in self.dispatches:
            starting.setdefault(dispatch.time, []).append(dispatch)
            ending.setdefault(dispatch.completion, []).append(dispatch)
        beginning: dict[int, list[Wait]] = {}
        for wait in self.waits:
            beginning.setdefault(wait.start, []).append(wait)
        waiting: list[Wait] = []
        changing: dict[int, list[Change]] = {}
        for change in self.changes:
            changing.setdefault(change.time, []).append(change)
        variables = Variables(self.variables, self.grid)
        numbers = {id(dispatch): number for number, dispatch in enumerate(self.dispatches)}
        pipelines: dict[str, list[Stage | None]] = {
            unit.name: [None] * unit.latency for unit in self.units
        }
        entering: dict[str, list[Stage]] = {unit.name: [] for unit in self.units}
        for time in range(self.time + 1):
            waiting = [wait for wait in waiting if wait.end > time] + beginning.get(time, [])
            for dispatch in starting.get(time, ()):
                entering[dispatch.unit] = _stages(numbers[id(dispatch)], dispatch)
                dispatch.take_effect(memory[dispatch.array][dispatch.copy])
            for change in changing.get(time, ()):
                variables.change(change)
            for name, registers in pipelines.items():
                registers.insert(0, entering[name].pop(0) if entering[name] else None)
                registers.pop()
            yield Cycle(
                time,
                {name: tuple(registers) for name, registers in pipelines.items()},
                tuple(waiting),
                tuple(starting.get(time, ())),
                tuple(ending.get(time, ())),
                {name: data.reshape(shapes[name]).copy() for name, data in memory.items()},
                variables.held(),
            )


def _stages(number: int, dispatch: Dispatch) -> list[Stage]:
    """The stages of a request, in the order in which they enter the pipeline."""
    return [
        Stage(
            number,
            dispatch.warp,
            stage,
            tuple(
                (thread, address)
                for thread, address, travels in zip(
                    dispatch.threads, dispatch.addresses, dispatch.stages, strict=True
                )
                if travels == stage
            ),
        )
        for stage in range(dispatch.stage_count)
    ]
