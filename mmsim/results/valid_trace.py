"""Validity of a trace from a file: all that it names exists, and nothing contradicts.

A valid trace can be stepped through, drawn and exported. Every check here raises a `ValueError`
that says what is wrong, and where. A file may hold anything, so every number is checked before its
use.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from mmsim.ir.nodes import VECTORS, Source
from mmsim.ir.promotion import supported
from mmsim.model.conflicts import Conflict
from mmsim.model.machines import Machine, Schedule
from mmsim.model.rounds import completion
from mmsim.results.trace import (
    Dispatch,
    Trace,
    TracedArray,
    as_traced,
    served_by,
    units_named,
)
from mmsim.results.variables import TracedVariable

Integers = npt.NDArray[np.int64]

LATEST = 2**62
"""No run takes as long, and sums of times stay within 64 bits."""
MOST_VALUES = 2**28
"""The most values of all threads' variables: `Trace.cycles` holds one for each thread."""


def check_trace(trace: Trace) -> None:
    """Refuse a trace that contradicts itself."""
    check_machine(trace)
    check_sources(trace.sources)
    _check_arrays(trace)
    if trace.dispatches:
        _check_dispatches(trace)
        _check_order(trace)
    elif trace.time != 0:
        raise ValueError(f"it takes {trace.time} time units, but nothing happens in them")
    _check_waits(trace)
    _check_barriers(trace)
    _check_rounds(trace)
    _check_variables(trace)
    _check_changes(trace)


# ------------------------------------------------------------ the launch


def check_schedule(schedule: str) -> None:
    """Refuse an unknown schedule."""
    if schedule not in get_args(Schedule):
        raise ValueError(f"there is no schedule {schedule!r:.80}")


def check_sources(sources: Iterable[Source]) -> None:
    """Refuse a source whose lines cannot be numbered."""
    for source in sources:
        if not 1 <= source.first < LATEST:
            raise ValueError(f"the source of {source.function!r:.80} begins at {source.first}")


def check_machine(trace: Trace) -> None:
    """The machine has these units, its schedule exists and its threads can be launched."""
    machine = trace.machine
    count = len(trace.units)  # known before more units are made than the file has
    blocks = trace.grid.blocks  # a LaunchError is a ValueError
    right = count in (len(machine.units), units_named(machine, blocks))
    if not right or trace.units != as_traced(machine.units[:count]):
        raise ValueError(f"its memory units are not those of {machine}")
    check_schedule(trace.schedule)
    if not 0 <= trace.time < LATEST:
        raise ValueError(f"it takes {trace.time} time units")


# ------------------------------------------------------------ the arrays


def _check_arrays(trace: Trace) -> None:
    """Every array has its copies, its data, and the addresses that a launch gives it."""
    machine, grid = trace.machine, trace.grid
    if len({array.name for array in trace.arrays}) != len(trace.arrays):
        raise ValueError("two of its arrays have one name")
    parts: dict[str, list[tuple[int, int, str]]] = {}
    for array in trace.arrays:
        where = f"the array {array.name!r:.80}"
        copies, size = array.data.shape if array.data.ndim == 2 else (0, -1)
        if size != math.prod(array.shape) or array.addresses.shape != array.data.shape:
            raise ValueError(f"{where} has data of another shape")
        if not all(extent >= 0 for extent in array.shape) or not array.shape:
            raise ValueError(f"{where} has no shape {array.shape!r:.80}")
        if copies != (grid.blocks if array.shared else 1):
            raise ValueError(f"{where} has {copies} copies")
        if array.units != _units_of(array, machine, copies):
            raise ValueError(f"{where} lies in other units than {machine} has for it")
        room = machine.room(array.data.dtype.itemsize)
        if size:
            firsts, lasts = array.addresses.min(axis=1), array.addresses.max(axis=1)
            if (firsts < 0).any() or not _apart(array.addresses):
                raise ValueError(f"{where} has elements that share an address")
            for unit, first, last in zip(array.units, firsts.tolist(), lasts.tolist(), strict=True):
                part = (first * room, (last + 1 - first) * room, array.name)
                parts.setdefault(unit, []).append(part)
    for unit, own in parts.items():
        free = 0
        for first, size, name in sorted(own):
            if first != -(-free // machine.line) * machine.line:
                raise ValueError(f"the array {name!r:.80} begins at address {first} of {unit}")
            free = first + size


def _apart(addresses: Integers) -> bool:
    """Whether the addresses of each row differ."""
    ordered = np.sort(addresses, axis=1)
    return bool((ordered[:, 1:] != ordered[:, :-1]).all())


def _units_of(array: TracedArray, machine: Machine, copies: int) -> tuple[str, ...]:
    """The names of the units in front of an array's copies."""
    if not array.shared or not machine.shared:
        return (machine.memory.name,) * copies
    shared = machine.shared
    return tuple(shared[block % len(shared)].name for block in range(copies))


# ------------------------------------------------------------ the dispatches


def _check_dispatches(trace: Trace) -> None:
    """Every dispatch is of a warp, an array, its unit, and a line that exist."""
    dispatches, grid = trace.dispatches, trace.grid
    refuse = _refuser(dispatches, _of_dispatch)
    units = {unit.name: unit for unit in trace.machine.units[: len(trace.units)]}
    arrays = {array.name: array for array in trace.arrays}
    refuse(
        [one.unit not in units or one.array not in arrays for one in dispatches],
        "is of an unknown unit or array",
    )
    lanes = _column(len(one.threads) for one in dispatches)
    for part in ("elements", "addresses", "places", "stages", "values"):
        sizes = _column(len(getattr(one, part)) for one in dispatches)
        refuse((lanes == 0) | (sizes != lanes), "has entries for different threads")
    warp = _column(one.warp for one in dispatches)
    refuse((warp < 0) | (warp >= grid.warps), "is of an unknown warp")
    copies = (warp // grid.warps_per_block).tolist()
    refuse(
        [
            one.copy != (block if arrays[one.array].shared else 0)
            for one, block in zip(dispatches, copies, strict=True)
        ],
        "leaves its array: it is of another block's copy",
    )
    refuse(
        [one.unit != arrays[one.array].units[one.copy] for one in dispatches],
        "goes to another unit than its array lies behind",
    )
    rules = [
        served_by(units[one.unit].conflict, arrays[one.array].data.dtype.itemsize, one, grid)
        for one in dispatches
    ]
    lines = _lines(trace.sources)
    refuse(
        [(one.function, one.line) not in lines for one in dispatches],
        "is of a line that no source has",
    )
    _check_lanes(trace, rules)
    refuse(
        [
            list(one.stages) != rule.stage_of(list(one.addresses), grid.lane[[*one.threads]])
            for one, rule in zip(dispatches, rules, strict=True)
        ],
        "has stages that nothing travels in, or others than its addresses",
    )
    refuse(
        [
            one.phases != ()  # as it is in earlier files
            and list(one.phases) != rule.phase_of(list(one.addresses), grid.lane[[*one.threads]])
            for one, rule in zip(dispatches, rules, strict=True)
        ],
        "has other phases than its addresses",
    )
    refuse(
        [not _fit(one.values, arrays[one.array].data.dtype) for one in dispatches],
        "has values that its array can't hold",
    )


def _check_lanes(trace: Trace, rules: Sequence[Conflict]) -> None:
    """Each lane of a dispatch is a thread of its warp, with an element, its address and place.

    All lanes of all dispatches are checked together; `owner` is the number of a lane's dispatch.
    """
    dispatches, grid = trace.dispatches, trace.grid
    refuse_dispatch = _refuser(dispatches, _of_dispatch)
    owner = np.repeat(np.arange(len(dispatches)), [len(one.threads) for one in dispatches])

    def refuse(bad: npt.NDArray[np.bool_], what: str) -> None:
        refuse_dispatch(np.bincount(owner[bad], minlength=len(dispatches)) > 0, what)

    threads = _lanes(one.threads for one in dispatches)
    range_of = {warp: grid.warp_threads(warp) for warp in {one.warp for one in dispatches}}
    start = _column(range_of[one.warp].start for one in dispatches)
    stop = _column(range_of[one.warp].stop for one in dispatches)
    refuse((threads < start[owner]) | (threads >= stop[owner]), "has threads of another warp")
    falls = np.zeros(len(threads), np.bool_)
    falls[1:] = (np.diff(threads) < 0) & (np.diff(owner) == 0)
    refuse(falls, "has threads that are not in ascending order")
    elements = _lanes(one.elements for one in dispatches)
    vector = _column(one.vector for one in dispatches)[owner]
    at = np.arange(len(owner)) - np.searchsorted(owner, owner)  # the number of the entry
    head = np.arange(len(owner)) - at % vector
    of_another = (threads != threads[head]) | (elements - elements[head] != at % vector)
    again = np.zeros(len(threads), np.bool_)
    again[1:] = (threads[1:] == threads[:-1]) & (at % vector == 0)[1:] & (at[1:] > 0)
    lengths = np.array([1, *VECTORS])
    refuse(
        of_another | again | ~np.isin(vector, lengths),
        "has vectors that differ in length or are not adjacent",
    )

    numbers = {array.name: number for number, array in enumerate(trace.arrays)}
    array = _column(numbers[one.array] for one in dispatches)
    size = _column(one.data.shape[1] for one in trace.arrays)[array]
    refuse((elements < 0) | (elements >= size[owner]), "leaves its array")
    first = np.cumsum([0, *(one.addresses.size for one in trace.arrays)])[array]
    first += _column(one.copy for one in dispatches) * size
    known = np.concatenate([one.addresses.ravel() for one in trace.arrays])
    addresses = _lanes(one.addresses for one in dispatches)
    refuse(addresses != known[first[owner] + elements], "has other addresses than its array")

    places = np.zeros_like(addresses)
    for rule in set(rules):
        own = np.array([one == rule for one in rules])[owner]
        places[own] = rule.cells(addresses[own])
    refuse(_lanes(one.places for one in dispatches) != places, "has places of other addresses")


def _of_dispatch(dispatch: Dispatch) -> str:
    return f"the dispatch of warp {dispatch.warp} at {dispatch.time}"


def _check_order(trace: Trace) -> None:
    """Requests follow each other as units and warps allow, and without a gap."""
    dispatches = trace.dispatches
    refuse = _refuser(dispatches, _of_dispatch)
    time = _column(one.time for one in dispatches)
    done = _column(one.completion for one in dispatches)
    stages = _column(one.stage_count for one in dispatches)
    latency_of = {unit.name: unit.latency for unit in trace.units}
    latency = _column(latency_of[one.unit] for one in dispatches)
    refuse((time < 0) | (time > trace.time), "is at no time of the run")
    refuse(done != completion(time, stages, latency), "completes at another time than it takes")
    refuse(np.diff(time, prepend=0) < 0, "comes after a later one")
    before = np.maximum.accumulate(np.concatenate([[0], done[:-1]]))
    refuse(time > before, "comes after time in which nothing happens")
    if trace.time > done.max():
        raise ValueError(f"it takes {trace.time} time units, but all has ended before")

    numbers = {unit.name: number for number, unit in enumerate(trace.units)}
    unit = _column(numbers[one.unit] for one in dispatches)
    refuse(_overlaps(unit, time, time + stages), "takes a unit that serves another")
    warp = _column(one.warp for one in dispatches)
    refuse(_overlaps(warp, time, done), "comes before its warp's last one has completed")


def _overlaps(owner: Integers, start: Integers, end: Integers) -> npt.NDArray[np.bool_]:
    """Which spans begin before the one before them, of the same owner, ends."""
    order = np.lexsort((start, owner))
    late = np.zeros(len(order), np.bool_)
    late[1:] = (np.diff(owner[order]) == 0) & (start[order][1:] < end[order][:-1])
    found = np.zeros(len(order), np.bool_)
    found[order] = late
    return found


# ------------------------------------------------------------ waits, barriers, rounds


def _check_waits(trace: Trace) -> None:
    """Every wait is of a warp, within the run, for a unit and in a line that exist."""
    waits = trace.waits
    if not waits:
        return
    refuse = _refuser(waits, lambda one: f"the wait of warp {one.warp} from {one.start}")
    units = {unit.name for unit in trace.units}
    refuse([one.unit is not None and one.unit not in units for one in waits], "is for no unit")
    needs_unit = ("turn", "latency")
    refuse(
        [(one.unit is None) == (one.reason in needs_unit) for one in waits],
        "has a unit and a reason that do not go together",
    )
    lines = {line for _, line in _lines(trace.sources)}
    refuse([one.line not in lines for one in waits], "is in a line that no source has")
    warp = _column(one.warp for one in waits)
    refuse((warp < 0) | (warp >= trace.grid.warps), "is of an unknown warp")
    start, end = _column(one.start for one in waits), _column(one.end for one in waits)
    last = max((one.completion for one in trace.dispatches), default=0)
    refuse(
        (start < 0) | (start > trace.time) | (end <= start) | (end > last),
        "is at no time of the run",
    )
    refuse(np.diff(start, prepend=0) < 0, "comes after a later one")
    refuse(_overlaps(warp, start, end), "begins before the warp's last one has ended")


def _check_barriers(trace: Trace) -> None:
    """Warps come to barriers of their own block, and a barrier releases warps of that block."""
    grid = trace.grid
    lines = {line for _, line in _lines(trace.sources)}
    for arrival in trace.arrivals:
        where = f"the arrival of warp {arrival.warp} at {arrival.time}"
        if not 0 <= arrival.time <= trace.time:
            raise ValueError(f"{where} is at no time of the run")
        if not 0 <= arrival.warp < grid.warps or grid.block_of_warp(arrival.warp) != arrival.block:
            raise ValueError(f"{where} is of a warp that block {arrival.block} lacks")
        if arrival.line not in lines:
            raise ValueError(f"{where} is in a line that no source has")
    for release in trace.releases:
        where = f"the release of block {release.block} at {release.time}"
        if not 0 <= release.time <= trace.time:
            raise ValueError(f"{where} is at no time of the run")
        if not release.warps:
            raise ValueError(f"{where} lets no warp go")
        for warp in release.warps:
            if not 0 <= warp < grid.warps or grid.block_of_warp(warp) != release.block:
                raise ValueError(f"{where} lets warp {warp} go, which is of another block")
    for events in (trace.arrivals, trace.releases):
        _check_ascending([one.time for one in events], "its barriers")


def _check_rounds(trace: Trace) -> None:
    """Rounds begin in sequence within the run, and only in lock step."""
    if trace.rounds and trace.schedule != "synchronous":
        raise ValueError("it has rounds, which only the synchronous schedule has")
    if any(not 0 <= start <= trace.time for start in trace.rounds):
        raise ValueError("a round begins at no time of the run")
    _check_ascending(trace.rounds, "its rounds")


def _check_ascending(times: Sequence[int], what: str) -> None:
    if any(np.diff(times) < 0):
        raise ValueError(f"{what} are not in order of time")


# ------------------------------------------------------------ the threads' variables


def _check_variables(trace: Trace) -> None:
    """Every variable has a unique name and a type, and its values fit."""
    if len({one.name for one in trace.variables}) != len(trace.variables):
        raise ValueError("two of its variables have one name")
    for one in trace.variables:
        if not supported(one.dtype) or min(one.shape or (1,)) < 1:
            raise ValueError(f"the variable {one.name!r:.80} holds nothing that a variable can")
    values = trace.threads * sum(one.elements for one in trace.variables)
    if values > MOST_VALUES:
        raise ValueError(f"its threads hold {values} values, more than the {MOST_VALUES} possible")


def _check_changes(trace: Trace) -> None:
    """Every change is of a warp, a variable and an element that exist, at a time of the run."""
    changes, grid = trace.changes, trace.grid
    if not changes:
        return
    refuse = _refuser(changes, lambda one: f"the change of {one.name!r:.80} at {one.time}")
    known = {one.name: one for one in trace.variables}
    refuse(
        [
            one.name not in known or not 0 <= one.element < known[one.name].elements
            for one in changes
        ],
        "is of an unknown variable or element",
    )
    warp = _column(one.warp for one in changes)
    there = (warp >= 0) & (warp < grid.warps)
    sizes = {number: len(grid.warp_threads(number)) for number in set(warp[there].tolist())}
    refuse(
        [len(one.values) != sizes.get(one.warp) for one in changes],
        "is of other threads than its warp has",
    )
    time = _column(one.time for one in changes)
    refuse((time < 0) | (time > trace.time), "is at no time of the run")
    refuse(np.diff(time, prepend=0) < 0, "comes after a later one")
    dtypes = {one.name: np.dtype(one.dtype) for one in trace.variables}
    refuse(
        [not _held(one.values, known[one.name], dtypes[one.name]) for one in changes],
        "has values that its variable can't hold",
    )


def _held(values: Sequence[Any], variable: TracedVariable, dtype: np.dtype[Any]) -> bool:
    """Whether a variable can hold values; only registers have one from the start."""
    assigned = [value for value in values if value is not None]
    return _fit(assigned, dtype) and (variable.shape is None or len(assigned) == len(values))


# ------------------------------------------------------------ what these share


def _refuser(
    records: Sequence[Any], where: Callable[[Any], str]
) -> Callable[[Sequence[bool] | npt.NDArray[np.bool_], str], None]:
    """Refuses the first marked record, with its place and the mistake."""

    def refuse(bad: Sequence[bool] | npt.NDArray[np.bool_], what: str) -> None:
        marked = np.flatnonzero(bad)
        if len(marked):
            raise ValueError(f"{where(records[int(marked[0])])} {what}")

    return refuse


def _column(numbers: Iterable[int]) -> Integers:
    """Whole numbers, each of 64 bits at most, as an array."""
    return np.fromiter(numbers, np.int64)


def _lanes(parts: Iterable[Sequence[int]]) -> Integers:
    """The entries of all dispatches, joined."""
    return np.fromiter(chain.from_iterable(parts), np.int64)


def _lines(sources: Iterable[Source]) -> set[tuple[str, int]]:
    """The existing lines, each with its function."""
    return {
        (source.function, source.first + offset)
        for source in sources
        for offset in range(len(source.lines))
    }


def _fit(values: Sequence[Any], dtype: np.dtype[Any]) -> bool:
    """Whether numbers are values of a type: whole ones within its limits, no float too large."""
    if dtype.kind == "c":
        numbers = map(complex, values)
        parts = [part for number in numbers for part in (number.real, number.imag)]
        return _fit(parts, np.dtype(f"f{dtype.itemsize // 2}"))
    if any(isinstance(value, complex) for value in values):
        return False
    if dtype.kind == "f":
        most = float(np.finfo(dtype).max)
        return all(abs(value) <= most or not math.isfinite(value) for value in values)
    least, most = (0, 1) if dtype.kind == "b" else limits(dtype)
    return all(isinstance(value, int) and least <= value <= most for value in values)


def limits(dtype: np.dtype[Any]) -> tuple[int, int]:
    """The smallest and the largest value of an integer type."""
    found = np.iinfo(dtype.name)
    return int(found.min), int(found.max)
