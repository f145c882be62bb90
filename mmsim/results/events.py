"""The contents of a trace: requests, waits, barriers, units, arrays, variables, time units.

The waits of warps follow from dispatches, barriers and rounds (docs/machines.md). A warp is ready
for its next request when its last one has completed, when a barrier releases it, or when a round
begins. From then on it waits for its turn, and from its dispatch on for its request.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from mmsim.ir.dtypes import Integers
from mmsim.ir.nodes import Scalar
from mmsim.model.threads import Grid
from mmsim.results.rows import Kind

Reason = Literal["turn", "latency", "round", "barrier"]

MaskedValues: TypeAlias = "np.ma.MaskedArray[Any, np.dtype[Any]]"
"""A text: a run without a trace doesn't load `numpy.ma`."""


@dataclass(frozen=True, eq=False)
class Given:
    """An array parameter: its contents, and the word offset of each element (None: row-major)."""

    name: str
    data: npt.NDArray[Any]
    offsets: npt.NDArray[np.int64] | None = None


@dataclass(frozen=True)
class Site:
    """An access in the program's text: its line, and how each lane accesses its array.

    A lane accesses `vector` adjacent elements together, usually one. `swap` is True for an atomic
    compare and swap, `matrix` for a read of rows of matrices (ldmatrix).
    """

    function: str
    line: int
    array: str
    kind: Kind
    vector: int = 1
    swap: bool = False
    matrix: bool = False

    @property
    def served_as(self) -> str:
        """The kind of access for a unit's rule: see `Conflict.of_access`."""
        return "cas" if self.swap else "ldmatrix" if self.matrix else self.kind


@dataclass(frozen=True)
class Asked:
    """The facts of a dispatch: when, by which warp, and at which of the trace's sites.

    `threads` are those that ask, empty for all of the warp. Each has an element, the first one of
    its vector. `values` are the values written, without those of a read.
    """

    time: int
    warp: int
    site: int
    threads: tuple[int, ...]
    elements: tuple[int, ...]
    values: tuple[Scalar, ...]


@dataclass(frozen=True)
class Dispatch:
    """One warp's request, dispatched at `time` by `unit`; entry j belongs to thread `threads[j]`.

    A thread that accesses a vector has consecutive entries for its elements.

    `elements` are row-major element numbers in the array, `addresses` word addresses, `places` the
    bank or the address group of each, `stages` the stage in which each travels, counted from 0.
    `values` are the values read or written; for an atomic, the value after each lane. `copy` is the
    block of a shared array, else 0.

    A unit's rule may serve a request in several phases in turn, as a GPU serves long words.
    `phases` has the phase in which each thread's request travels, counted from 0. `swap` is True
    for an atomic compare and swap, `matrix` for a read of rows of matrices (ldmatrix), which some
    rules serve otherwise than other atomics and reads.
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
    swap: bool = False
    matrix: bool = False

    @property
    def site(self) -> Site:
        """The access in the program's text."""
        about = (self.function, self.line, self.array, self.kind)
        return Site(*about, self.vector, self.swap, self.matrix)

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

    def in_stage(self, stage: int) -> tuple[tuple[int, int], ...]:
        """The threads whose requests travel in a stage, each with its address."""
        of_lanes = zip(self.threads, self.addresses, self.stages, strict=True)
        return tuple((thread, address) for thread, address, own in of_lanes if own == stage)

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
    addresses: Integers
    units: tuple[str, ...]


@dataclass(frozen=True)
class TracedVariable:
    """A variable, or an `mm.registers` array; every thread has its own.

    `text` is its name in `function`. `name` is unique in the program: it has a number if a
    parameter has the same name, or if several places call the function, as each place has its own
    variables. `shape` is None except for an `mm.registers` array.
    """

    name: str
    text: str
    function: str
    dtype: str
    shape: tuple[int, ...] | None

    @property
    def elements(self) -> int:
        """Values that a thread holds in it."""
        return 1 if self.shape is None else math.prod(self.shape)


@dataclass(frozen=True)
class Change:
    """From `time` on the threads of `warp` hold `values` in a variable, one value for each.

    None stands for a thread that hasn't assigned it. `element` is the row-major number of the
    element of an `mm.registers` array, 0 for a variable. Of several changes at one time, the last
    one stays.
    """

    time: int
    warp: int
    name: str
    element: int
    values: tuple[Scalar | None, ...]


class Variables:
    """The values of all threads, change by change. At first, registers are 0, and variables unset.

    `grid` says which threads a warp has.
    """

    def __init__(self, variables: tuple[TracedVariable, ...], grid: Grid) -> None:
        self.grid = grid
        self.changed: set[str] = set()
        """The names of the variables that have changed."""
        threads = grid.threads
        self.shapes = {one.name: (threads, *(one.shape or ())) for one in variables}
        self.values = {one.name: np.zeros((threads, one.elements), one.dtype) for one in variables}
        self.missing = {
            one.name: np.full((threads, one.elements), one.shape is None) for one in variables
        }

    def change(self, change: Change) -> None:
        """Let a change take effect."""
        self.changed.add(change.name)
        threads = self.grid.warp_threads(change.warp)
        place = slice(threads.start, threads.stop), change.element
        self.values[change.name][place] = [0 if value is None else value for value in change.values]
        self.missing[change.name][place] = [value is None for value in change.values]

    def snapshot(self) -> dict[str, MaskedValues]:
        """A copy for each variable: the threads along the first axis, masked where not assigned."""
        return {
            name: np.ma.MaskedArray(
                self.values[name].reshape(shape), self.missing[name].reshape(shape), copy=True
            )
            for name, shape in self.shapes.items()
        }


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
    variables: dict[str, MaskedValues]

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


def ready_times(
    dispatches: Sequence[Dispatch], releases: Sequence[Release], rounds: Sequence[int]
) -> Iterator[int]:
    """Yield for each dispatch when its warp became ready. All are in order of time."""
    since: dict[int, int] = {}
    left = deque(releases)
    for one in dispatches:
        while left and left[0].time <= one.time:  # barriers come before dispatches
            release = left.popleft()
            since.update(dict.fromkeys(release.warps, release.time))
        round_ = bisect_right(rounds, one.time)
        yield max(since.get(one.warp, 0), rounds[round_ - 1] if round_ else 0)
        since[one.warp] = one.completion


def waits_of(
    dispatches: Sequence[Dispatch],
    arrivals: Sequence[Arrival],
    releases: Sequence[Release],
    rounds: Sequence[int],
    lived: Sequence[int],
) -> tuple[Wait, ...]:
    """Return all waits, in order of their beginning and of warps.

    `lived` is for lock step: the number of rounds at whose end each warp was unfinished.
    """
    waits: list[Wait] = []

    def wait(warp: int, reason: Reason, start: int, end: int, unit: str | None, line: int) -> None:
        if end > start:  # else the warp went on immediately
            waits.append(Wait(warp, reason, start, end, unit, line))

    for one, ready in zip(dispatches, ready_times(dispatches, releases, rounds), strict=True):
        wait(one.warp, "turn", ready, one.time, one.unit, one.line)
        wait(one.warp, "latency", one.time, one.completion, one.unit, one.line)

    came: defaultdict[int, deque[Arrival]] = defaultdict(deque)
    for arrival in arrivals:
        came[arrival.warp].append(arrival)
    for release in releases:
        for warp in release.warps:
            if not came[warp]:
                raise ValueError(
                    f"a barrier releases warp {warp} at {release.time} without its arrival"
                )
            arrival = came[warp].popleft()
            wait(warp, "barrier", arrival.time, release.time, None, arrival.line)

    times = [one.time for one in dispatches]
    firsts = [bisect_left(times, start) for start in rounds]
    for number, (first, end) in enumerate(pairwise([*firsts, len(times)])):
        done = {one.warp: one.completion for one in dispatches[first:end]}
        if not done:
            raise ValueError(f"nothing happens in round {number}")
        over, line = max(done.values()), dispatches[first].line
        for warp, count in enumerate(lived):
            if number < count:
                wait(warp, "round", done.get(warp, rounds[number]), over, None, line)
    return tuple(sorted(waits, key=lambda one: (one.start, one.warp)))
