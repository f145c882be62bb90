"""The part of a trace that the player needs, as plain data that JSON can hold.

The data have only the facts that don't follow from others: memory and variables at the start,
dispatches and changes of variables in columns, waits. In the page, `state.js` computes the state of
the machine at each time unit.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.errors import LaunchError, MMSimError, shown
from mmsim.host.arguments import whole
from mmsim.ir.nodes import Scalar
from mmsim.model.conflicts import Conflict
from mmsim.model.machines import Machine
from mmsim.model.threads import launched
from mmsim.printable import printable, printable_lines
from mmsim.results.events import Dispatch, Reason, TracedArray, Variables
from mmsim.results.findings import Finding
from mmsim.results.trace import Replay, Trace

MOST = 1_000_000
"""The most that one page holds of each: requests of threads, waits, words of memory, values of
variables, registers, warps."""

REASONS: tuple[Reason, ...] = ("turn", "latency", "round", "barrier")

SAFE = 2**53
"""The largest exact integer of JavaScript; larger ones are sent as text."""


class TooLargeError(MMSimError, ValueError):
    """A trace that is too large for one page."""


def run_data(
    traces: Sequence[Trace],
    start: int = 0,
    end: int | None = None,
    findings: Sequence[Finding] = (),
) -> dict[str, Any]:
    """The data of a run of one or several launches, from time unit `start` to `end`, inclusive.

    `findings` are those of a check of a launch.

    Raises `TooLargeError` for more than `MOST` of anything, `LaunchError` for a window that the
    run doesn't have.
    """
    time = sum(trace.time for trace in traces)
    start, end = window(start, end, time, "run")
    windows = []
    before = 0
    for number, trace in enumerate(traces):
        after = before + trace.time
        if before <= end and (start < after or number == len(traces) - 1):
            windows.append((trace, max(start - before, 0), min(end - before, trace.time), before))
        before = after
    _refuse_too_large(sum((_counts(*window[:3]) for window in windows), Counter()), time)
    launches = [_launch_data(*window, findings) for window in windows]
    if len(traces) == 1:
        return launches[0]
    programs = dict.fromkeys(trace.program for trace in traces)
    return {
        "program": printable(" + ".join(programs)),
        "machine": repr(traces[0].machine),
        "start": start,
        "end": end,
        "time": time,
        "launches": launches,
        "first": traces.index(windows[0][0]),
        "count": len(traces),
    }


def window(start: int, end: int | None, time: int, run: str) -> tuple[int, int]:
    """The first and the last time unit to show. Raises `LaunchError` if `run` doesn't have them."""
    whole("start", start, None)
    last = time if end is None else end
    whole("end", last, None)
    if not 0 <= start <= last <= time:
        raise LaunchError(
            f"a player from start={shown(start)} to end={shown(last)}, but the {run} has time "
            f"units 0 to {time}, and start comes before end"
        )
    return int(start), int(last)


ALWAYS = (
    "words of memory",
    "columns of memory",
    "pipeline registers",
    "warps",
    "variables of threads",
)
"""The data of a run that don't depend on the window."""


def _counts(trace: Trace, start: int, end: int) -> Counter[str]:
    """The amounts of data that a page needs for a launch in a window."""
    grid = trace.grid
    always = (
        sum(array.data.size for array in trace.arrays),
        trace.machine.width,
        sum(unit.latency for unit in trace.units),
        grid.warps,
        grid.threads * sum(one.elements for one in trace.variables),
    )
    return Counter(
        {
            **dict(zip(ALWAYS, always, strict=True)),
            "requests of threads": sum(
                len(one.threads)
                for one in trace.dispatches
                if one.time <= end and one.completion >= start
            ),
            "waits": sum(one.start <= end and one.end > start for one in trace.waits),
            "values of variables": sum(
                len(one.values) for one in trace.changes if start <= one.time <= end
            ),
        }
    )


def _launch_data(
    trace: Trace, start: int, end: int, before: int, findings: Sequence[Finding]
) -> dict[str, Any]:
    """The data of a launch from its time unit `start` to `end`, after launches of time `before`."""
    numbered = [
        (number, dispatch)
        for number, dispatch in enumerate(trace.dispatches)
        if dispatch.time <= end and dispatch.completion >= start
    ]
    dispatches = [dispatch for _, dispatch in numbered]
    waits = [wait for wait in trace.waits if wait.start <= end and wait.end > start]
    changes = [change for change in trace.changes if start <= change.time <= end]
    grid = trace.grid
    replay = Replay(trace)
    replay.advance(start)
    variables = [variable.name for variable in trace.variables]
    arrays = {array.name: array for array in trace.arrays}
    names = list(arrays)
    units = [unit.name for unit in trace.units]
    sites: dict[tuple[Any, ...], int] = {}  # of the accesses in the program's text
    accesses = [
        (printable(one.function), one.line, names.index(one.array), one.kind) for one in dispatches
    ]
    phased = any(dispatch.phases for dispatch in dispatches)
    phases = [phase for one in dispatches for phase in one.phases or (0,) * len(one.threads)]
    return {
        "program": printable(trace.program),
        "machine": repr(trace.machine),
        "width": trace.machine.width,
        **({} if trace.machine.bank_bytes is None else {"bankBytes": trace.machine.bank_bytes}),
        "threads": trace.threads,
        "blockSize": trace.block_size,
        "launched": launched(trace.threads, trace.block_size, trace.shape),
        "shape": None if trace.shape is None else [trace.shape.block, trace.shape.grid],
        "warps": [
            [threads.start, len(threads), grid.block_of_warp(warp)]
            for warp, threads in enumerate(map(grid.warp_threads, range(grid.warps)))
        ],
        "schedule": trace.schedule,
        "start": before + start,
        "end": before + end,
        "time": before + trace.time,
        "units": [
            {
                "name": unit.name,
                "conflict": unit.conflict.name,
                "place": unit.conflict.place,
                "title": unit.conflict.title,
                "met": unit.conflict.met,
                "latency": unit.latency,
                **_table(unit.conflict, trace.machine.width),
            }
            for unit in trace.machine.units[: len(trace.units)]
        ],
        "arrays": [
            _array(array, replay.memory[array.name], units, trace) for array in trace.arrays
        ],
        "sources": [
            {
                "function": printable(source.function),
                "file": printable(_file_name(source.file)),
                "first": source.first,
                "lines": list(map(printable, source.lines)),
            }
            for source in trace.sources
        ],
        "reasons": REASONS,
        "dispatches": {
            "number": [number for number, _ in numbered],
            "time": [before + dispatch.time for dispatch in dispatches],
            "completion": [before + dispatch.completion for dispatch in dispatches],
            "unit": [units.index(dispatch.unit) for dispatch in dispatches],
            "warp": [dispatch.warp for dispatch in dispatches],
            "copy": [dispatch.copy for dispatch in dispatches],
            "site": [sites.setdefault(site, len(sites)) for site in accesses],
            "lanes": [len(dispatch.threads) for dispatch in dispatches],
            "stages": [dispatch.stage_count for dispatch in dispatches],
            **({"phases": [one.phase_count for one in dispatches]} if phased else {}),
        },
        "sites": list(sites),
        "lanes": {
            "thread": [thread for dispatch in dispatches for thread in dispatch.threads],
            "element": [element for dispatch in dispatches for element in dispatch.elements],
            "stage": [stage for dispatch in dispatches for stage in dispatch.stages],
            **({"phase": phases} if phased else {}),
        },
        "moved": [value for one in dispatches for value in _moved(one, arrays[one.array])],
        "variables": _variables(trace, replay.variables),
        "changes": {
            "time": [before + change.time for change in changes],
            "warp": [change.warp for change in changes],
            "variable": [variables.index(change.name) for change in changes],
            "element": [change.element for change in changes],
        },
        "held": [_plain_value(value) for change in changes for value in change.values],
        "waits": {
            "warp": [wait.warp for wait in waits],
            "reason": [REASONS.index(wait.reason) for wait in waits],
            "start": [before + wait.start for wait in waits],
            "end": [before + wait.end for wait in waits],
            "unit": [-1 if wait.unit is None else units.index(wait.unit) for wait in waits],
            "line": [wait.line for wait in waits],
        },
        "findings": [_finding(finding, trace.arrays, units, trace.machine) for finding in findings],
        "rounds": [before + time for time in trace.rounds if start <= time <= end],
        "releases": [
            [before + release.time, release.block]
            for release in trace.releases
            if start <= release.time <= end
        ],
    }


def _file_name(file: str) -> str:
    """The name of a source file for readers; a notebook's cell is a number.

    >>> _file_name("/home/me/sort.py"), _file_name("/tmp/ipykernel_77/2268659247.py")
    ('sort.py', 'a cell of the notebook')
    """
    path = Path(file)
    return "a cell of the notebook" if path.parent.name.startswith("ipykernel_") else path.name


def _finding(
    finding: Finding, arrays: tuple[TracedArray, ...], units: list[str], machine: Machine
) -> dict[str, Any]:
    """A finding; `cell` is its element's unit and its place there, as `placeIn` gives it."""
    cell = None
    array = next((one for one in arrays if one.name == finding.array), None)
    if array is not None and finding.index is not None and _within(finding.index, array.shape):
        copy = finding.copy or 0
        element = int(np.ravel_multi_index(finding.index, array.shape))
        place = int(array.addresses[copy, element]) * machine.room(array.data.dtype.itemsize)
        cell = [units.index(array.units[copy]), place]
    return {
        "title": finding.title,
        "element": finding.element,
        "note": printable_lines(finding.note),
        "advice": finding.advice,
        "cell": cell,
        "accesses": [
            {"text": str(access), "thread": access.thread, "time": access.time}
            for access in finding.accesses
        ],
    }


def _within(index: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    fit = (0 <= part < extent for part, extent in zip(index, shape, strict=False))
    return len(index) == len(shape) and all(fit)


def _refuse_too_large(counts: Counter[str], time: int) -> None:
    for what, count in counts.items():
        if count > MOST:
            window = (
                f"take a window of the time units 0 to {time}: player(start=..., end=...), "
                "or --start and --end of mmsim step"
            )
            advice = "run it smaller, or on a smaller machine" if what in ALWAYS else window
            raise TooLargeError(
                f"this trace has {count} {what}, and a page draws at most {MOST}; {advice}"
            )


def _table(rule: Conflict, width: int) -> dict[str, Any]:
    """The table of a rule for a memory drawn in rows of `width` words: `Conflict.table`."""
    return dict(zip(("columns", "rows"), rule.table(width), strict=True))


def _array(
    array: TracedArray, memory: npt.NDArray[Any], units: list[str], trace: Trace
) -> dict[str, Any]:
    """The data of an array; consecutive addresses of a copy are one number.

    `table` is the table of its elements. A row has as many elements as w words hold. Other arrays
    of the unit may have other tables.
    """
    size, machine = array.data.dtype.itemsize, trace.machine
    rule = trace.conflict(array.units[0]).of_words(size)
    own = {} if machine.bank_bytes is None else {"bytes": size}
    row = machine.width * (machine.bank_bytes or size) // size
    return {
        "table": _table(rule, max(row, 1)),
        **own,
        "name": printable(array.name),
        "shape": list(array.shape),
        "shared": array.shared,
        "float": array.data.dtype.kind == "f",
        "units": [units.index(unit) for unit in array.units],
        "addresses": [
            int(row[0]) if len(row) and (np.diff(row) == 1).all() else row.tolist()
            for row in array.addresses
        ],
        "data": [plain(row) for row in memory],
    }


def _variables(trace: Trace, variables: Variables) -> list[dict[str, Any]]:
    """The variables, with each thread's value at the start if any has changed before."""
    held = variables.snapshot()
    return [
        {
            "name": printable(one.name),
            "text": printable(one.text),
            "function": printable(one.function),
            "float": one.dtype.startswith("float"),
            "shape": None if one.shape is None else list(one.shape),
            "start": list(map(_plain_value, held[one.name].ravel().tolist()))
            if one.name in variables.changed
            else None,
        }
        for one in trace.variables
    ]


def _moved(dispatch: Dispatch, array: TracedArray) -> list[Any]:
    """The values that a request reads from its array, or writes into it."""
    values = np.empty(len(dispatch.values), dtype=array.data.dtype)
    values[:] = dispatch.values
    return plain(values)


def plain(values: npt.NDArray[Any]) -> list[Any]:
    """Values as exact JSON: text for a value that isn't a JSON number, pairs for complex values.

    >>> plain(np.array([1.5, np.nan, -np.inf])), plain(np.array([7, 2**60]))
    ([1.5, 'nan', '-inf'], [7, '1152921504606846976'])
    >>> plain(np.array([1 - 2j]))
    [[1.0, -2.0]]
    """
    return list(map(_plain_value, values.tolist()))


def _plain_value(value: Scalar | None) -> Any:
    if isinstance(value, complex):
        return [_plain_value(value.real), _plain_value(value.imag)]
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return str(value) if value is not None and abs(value) > SAFE else value
