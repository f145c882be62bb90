"""Everything that happened in a run, and the machine as it stood at each time unit.

The event engine records; `Trace.cycles` replays the record. Nothing here runs a program.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from mmsim.conflicts import Conflict
from mmsim.language.ir import Source
from mmsim.machines import HMM, Machine
from mmsim.results.rows import Kind
from mmsim.results.variables import Change, Held, TracedVariable, Variables, check_changes
from mmsim.threads import make_grid

if TYPE_CHECKING:
    from mmsim.player import Player

Reason = Literal["turn", "latency", "round", "barrier"]


@dataclass(frozen=True)
class Dispatch:
    """One warp's request, dispatched at `time` by `unit`; entry j belongs to thread `threads[j]`.

    `elements` are row-major element numbers in the array, `addresses` word addresses, `places` the
    bank or the address group of each, `stages` the stage in which each travels, counted from 0,
    `values` what was read or written. `copy` is the block whose shared array it is, else 0.
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
    values: tuple[int | float | bool, ...]
    completion: int

    @property
    def stage_count(self) -> int:
        """Stages that the request occupies: the congestion, or the number of address groups."""
        return max(self.stages) + 1


@dataclass(frozen=True)
class Wait:
    """Warp `warp` waited from `start` up to, not including, `end`.

    `reason` is "turn" (ready, but the unit served others), "latency" (its own request was under
    way), "round" (lock step: others weren't done) or "barrier". `unit` is the unit waited for, if
    any, `line` the source line that the warp waited in.
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
    """A barrier let its block's waiting warps go on."""

    time: int
    block: int
    warps: tuple[int, ...]


@dataclass(frozen=True)
class TracedUnit:
    """A memory unit as the trace needs it."""

    name: str
    conflict: Conflict
    latency: int


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
    """What one pipeline register holds: a stage of a dispatched request.

    `dispatch` is the number of the dispatch in `Trace.dispatches`; `requests` are the (thread,
    address) pairs that travel in this stage.
    """

    dispatch: int
    warp: int
    number: int
    requests: tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class Cycle:
    """The machine during one time unit.

    `registers[unit]` are the pipeline registers of a unit, the first one first, None where empty:
    a stage dispatched at time t is in register j during time unit t + j. `waiting` are the waits
    that cover this time unit, `dispatched` and `completed` the dispatches that began and completed
    at its start. `memory[name]` are the contents of each array after the dispatches of this time
    unit, with one more dimension, the block, for shared arrays.

    `variables[name]` are the threads' own: one value, or one `mm.registers` array, for each thread,
    masked where the thread hasn't assigned it. They are those after the local work done up to
    this time, which takes no time: what a thread holds while its warp waits for its turn, for its
    request or at a barrier. What a request reads is held from its completion on; in lock step,
    from the end of its round on.
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


@dataclass(frozen=True, eq=False)
class Trace:
    """The record of a run: dispatches in dispatch order, waits, barriers, memory at the start.

    `rounds` are the time units at which the rounds of the synchronous schedule began, `sources` the
    texts of the program and of the functions that it calls, `variables` the threads' own, and
    `changes` all that these came to hold, in the order in which it happened.
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
    rounds: tuple[int, ...] = ()
    program: str = ""
    sources: tuple[Source, ...] = ()
    variables: tuple[TracedVariable, ...] = ()
    changes: tuple[Change, ...] = ()

    @cached_property
    def warps(self) -> list[range]:
        """The threads of each warp."""
        grid = make_grid(self.threads, self.block_size, self.machine.width, 1)
        return [grid.warp_threads(warp) for warp in range(grid.warps)]

    @cached_property
    def completions(self) -> tuple[Dispatch, ...]:
        """The dispatches in order of completion."""
        return tuple(sorted(self.dispatches, key=lambda dispatch: dispatch.completion))

    def __repr__(self) -> str:
        return (
            f"<trace of {self.time} time units: {len(self.dispatches)} dispatches, "
            f"{len(self.waits)} waits, {len(self.releases)} barrier releases>"
        )

    def to_chrome(self, path: str | Path) -> None:
        """Write the trace as Chrome's trace events (JSON), which https://ui.perfetto.dev opens.

        A time unit shows as a microsecond. There is a track for each warp, with its requests and
        its waits, and one for each memory unit, with the stages that it takes.
        """
        from mmsim.view.chrome import save_chrome

        save_chrome(self, path)

    def cycles(self) -> Iterator[Cycle]:
        """The machine at time units 0, 1, ..., `time`; at the last everything has drained.

        Each `Cycle` is plain data of its own.
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
        variables = Variables(self.variables, self.warps)
        numbers = {id(dispatch): number for number, dispatch in enumerate(self.dispatches)}
        pipelines: dict[str, list[Stage | None]] = {
            unit.name: [None] * unit.latency for unit in self.units
        }
        entering: dict[str, list[Stage]] = {unit.name: [] for unit in self.units}
        for time in range(self.time + 1):
            waiting = [wait for wait in waiting if wait.end > time] + beginning.get(time, [])
            for dispatch in starting.get(time, ()):
                entering[dispatch.unit] = _stages(numbers[id(dispatch)], dispatch)
                if dispatch.kind == "write":
                    # Within a warp the lowest-numbered thread's write stays.
                    target = memory[dispatch.array][dispatch.copy]
                    target[list(dispatch.elements[::-1])] = dispatch.values[::-1]
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

    def player(self, *, start: int = 0, end: int | None = None) -> Player:
        """A page to step through the run in a browser or a notebook, from `start` to `end`.

        Raises `mmsim.player.TooLargeError` for more than a page can draw; take a window then.

        >>> import numpy as np, mmsim as mm
        >>> @mm.program
        ... def copy(T, a, b):
        ...     b[T.id] = a[T.id]
        >>> run = mm.DMM(4, 3).run(copy, np.arange(8), np.zeros(8), threads=8, trace=True)
        >>> run.trace.player()
        <player of copy, time units 0 to 8>
        """
        from mmsim.player import Player

        return Player(self, start, end)


def check_trace(trace: Trace) -> None:
    """Refuse, with a `ValueError`, a record that contradicts itself: one read from a file may."""
    machine = trace.machine
    count = 1 + (machine.dmms if isinstance(machine, HMM) else 0)  # before that many are made
    known = machine.units if len(trace.units) == count else ()
    if trace.units != tuple(TracedUnit(one.name, one.conflict, one.latency) for one in known):
        raise ValueError(f"its memory units are not those of {machine}")
    units = {unit.name for unit in trace.units}
    arrays = {array.name: array for array in trace.arrays}
    for array in trace.arrays:
        copies, size = array.data.shape if array.data.ndim == 2 else (0, 0)
        if size != math.prod(array.shape) or array.addresses.shape != array.data.shape:
            raise ValueError(f"the array {array.name!r} has data of another shape")
        if len(array.units) != copies or (copies != 1 and not array.shared):
            raise ValueError(f"the array {array.name!r} has {copies} copies")
    for dispatch in trace.dispatches:
        where = f"the dispatch of warp {dispatch.warp} at {dispatch.time}"
        if dispatch.unit not in units or dispatch.array not in arrays:
            raise ValueError(f"{where} is of an unknown unit or array")
        copies, size = arrays[dispatch.array].data.shape
        lanes = len(dispatch.threads)
        parts = (dispatch.elements, dispatch.addresses, dispatch.places, dispatch.stages)
        if not lanes or any(len(part) != lanes for part in (*parts, dispatch.values)):
            raise ValueError(f"{where} has entries for different threads")
        if sorted(set(dispatch.stages)) != list(range(min(dispatch.stage_count, lanes + 1))):
            raise ValueError(f"{where} has stages that nothing travels in")
        if not 0 <= dispatch.copy < copies or not all(0 <= e < size for e in dispatch.elements):
            raise ValueError(f"{where} leaves its array")
        dtype = arrays[dispatch.array].data.dtype
        if dtype.kind != "f":
            least, most = (0, 1) if dtype.kind == "b" else _limits(dtype)
            if not all(isinstance(v, int) and least <= v <= most for v in dispatch.values):
                raise ValueError(f"{where} has values that its array can't hold")
    check_changes(trace.variables, trace.changes, trace.warps)


def _limits(dtype: np.dtype[Any]) -> tuple[int, int]:
    """The least and the largest value of an integer type."""
    limits = np.iinfo(dtype.name)
    return int(limits.min), int(limits.max)


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
