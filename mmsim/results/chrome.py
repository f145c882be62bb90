"""A trace as Chrome's trace events, which Perfetto and chrome://tracing show on a time line.

A time unit is shown as a microsecond. The first process has a track for each warp: its requests
from dispatch to completion, and its waits between them. Each memory unit is a process with one
track: the stages that it takes, one in each time unit.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mmsim.printable import printable
from mmsim.results import Dispatch, Trace

Event = dict[str, Any]

WARPS = 1
"""The number of the warps' process; those of the memory units follow."""


def save_chrome(trace: Trace, path: str | Path) -> None:
    """Write the events of a trace as a JSON file, an event a line."""
    about = {
        "machine": str(trace.machine),
        "threads": trace.threads,
        "block_size": trace.block_size,
        **({} if trace.shape is None else {"grid": trace.shape.grid, "block": trace.shape.block}),
        "schedule": trace.schedule,
        "time": trace.time,
    }
    with open(path, "w", encoding="utf-8") as file:
        head = json.dumps({"displayTimeUnit": "ms", "otherData": about})[:-1]
        file.write(f'{head}, "traceEvents": [')
        for number, event in enumerate(events(trace)):
            file.write((",\n" if number else "\n") + json.dumps(event))
        file.write("\n]}\n")


def events(trace: Trace) -> Iterator[Event]:
    """All events of a trace.

    No two numbers of processes and tracks are the same: viewers would group equal ones.
    """
    count = len(trace.units)
    numbers = {unit.name: WARPS + 1 + number for number, unit in enumerate(trace.units)}
    units = {name: (number, number + count) for name, number in numbers.items()}
    first = WARPS + 1 + 2 * count  # the track of warp 0
    yield from _names(trace, units, first)
    for dispatch in trace.dispatches:
        about = {
            "function": printable(dispatch.function),
            "line": dispatch.line,
            "array": printable(dispatch.array),
            "kind": dispatch.kind,
            **({"phases": dispatch.phase_count} if dispatch.phases else {}),
        }
        accessed = f"line {dispatch.line}: {dispatch.kind} {about['array']}"
        request = {
            **about,
            "unit": dispatch.unit,
            "stages": dispatch.stage_count,
            "threads": dispatch.threads,
            "addresses": dispatch.addresses,
            "reason": "latency",
        }
        lasts = {"ts": dispatch.time, "dur": dispatch.completion - dispatch.time}
        track = WARPS, first + dispatch.warp
        yield _event("X", accessed, track, request, cat="request", **lasts)
        name = f"W({dispatch.warp}) {accessed}"
        requests = map(dispatch.in_stage, range(dispatch.stage_count))
        served = [sorted({address for _, address in of_stage}) for of_stage in requests]
        stages = {**about, "warp": dispatch.warp, "stages": served}
        lasts = {"ts": dispatch.time, "dur": dispatch.stage_count}
        yield _event("X", name, units[dispatch.unit], stages, cat="stages", **lasts)
    for wait in trace.waits:
        if wait.reason != "latency":  # the request itself shows it
            about = {"reason": wait.reason, "unit": wait.unit, "line": wait.line}
            name, track = f"waits: {wait.reason}", (WARPS, first + wait.warp)
            lasts = {"ts": wait.start, "dur": wait.end - wait.start}
            yield _event("X", name, track, about, cat="wait", **lasts)
    for number, (time, begins) in enumerate(round_starts(trace)):
        name = f"round {number}: {begins.kind} {printable(begins.array)}"
        about = {"round": number, "line": begins.line}
        yield _event("i", name, (WARPS, 0), about, cat="round", ts=time, s="g")
    for release in trace.releases:
        name = f"barrier of block {release.block} opens"
        about = {"block": release.block, "warps": release.warps}
        yield _event("i", name, (WARPS, 0), about, cat="barrier", ts=release.time, s="p")


def round_starts(trace: Trace) -> list[tuple[int, Dispatch]]:
    """The time at which each round of the synchronous schedule begins, and its first dispatch."""
    times = [dispatch.time for dispatch in trace.dispatches]
    return [(start, trace.dispatches[bisect_left(times, start)]) for start in trace.rounds]


def _names(trace: Trace, units: dict[str, tuple[int, int]], first: int) -> Iterator[Event]:
    """The names of the processes and of the tracks, and their order."""
    yield _event("M", "process_name", (WARPS, 0), {"name": f"warps of {trace.machine}"})
    yield _event("M", "process_sort_index", (WARPS, 0), {"sort_index": WARPS})
    warps = {dispatch.warp for dispatch in trace.dispatches} | {wait.warp for wait in trace.waits}
    for warp in sorted(warps):
        track = WARPS, first + warp
        yield _event("M", "thread_name", track, {"name": f"W({warp})"})
        yield _event("M", "thread_sort_index", track, {"sort_index": first + warp})
    for unit in trace.machine.units[: len(trace.units)]:
        process, stages = units[unit.name]
        about = f"{unit.name} unit ({unit.conflict.place}s, latency {unit.latency})"
        yield _event("M", "process_name", (process, 0), {"name": about})
        yield _event("M", "process_sort_index", (process, 0), {"sort_index": process})
        yield _event("M", "thread_name", (process, stages), {"name": "stages"})


def _event(phase: str, name: str, track: tuple[int, int], args: Event, **more: Any) -> Event:
    """An event in a process and its track; `phase` is Chrome's letter for its kind."""
    process, thread = track
    return {"ph": phase, "name": name, **more, "pid": process, "tid": thread, "args": args}
