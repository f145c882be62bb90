"""A trace as Chrome's trace events, which Perfetto and chrome://tracing show on a time line.

A time unit is shown as a microsecond. The first process has a track for each warp: its requests
from dispatch to completion, and its waits between them. Each memory unit is a process with one
track: the stages that it takes, one in each time unit.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mmsim.printable import printable
from mmsim.results import Dispatch, Trace

Event = dict[str, Any]

WARPS = 1
"""The number of the warps' process; those of the memory units follow."""


class Tracks:
    """The numbers of processes and tracks. No two are the same: viewers would group equal ones."""

    def __init__(self, trace: Trace) -> None:
        names = [unit.name for unit in trace.units]
        self.process = {name: WARPS + 1 + number for number, name in enumerate(names)}
        self.unit = {name: number + len(names) for name, number in self.process.items()}
        self.first_warp = WARPS + 1 + 2 * len(names)

    def warp(self, warp: int) -> int:
        """The track of a warp."""
        return self.first_warp + warp


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
    """All events of a trace."""
    tracks = Tracks(trace)
    yield from _names(trace, tracks)
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
        time, lasts = dispatch.time, dispatch.completion - dispatch.time
        track = WARPS, tracks.warp(dispatch.warp)
        yield _event("X", accessed, "request", time, track, request, dur=lasts)
        name = f"W({dispatch.warp}) {accessed}"
        stages = {**about, "warp": dispatch.warp, "stages": _stages(dispatch)}
        track = tracks.process[dispatch.unit], tracks.unit[dispatch.unit]
        yield _event("X", name, "stages", time, track, stages, dur=dispatch.stage_count)
    for wait in trace.waits:
        if wait.reason != "latency":  # the request itself shows it
            about = {"reason": wait.reason, "unit": wait.unit, "line": wait.line}
            name, track = f"waits: {wait.reason}", (WARPS, tracks.warp(wait.warp))
            yield _event("X", name, "wait", wait.start, track, about, dur=wait.end - wait.start)
    for number, (time, first) in enumerate(round_starts(trace)):
        name = f"round {number}: {first.kind} {printable(first.array)}"
        about = {"round": number, "line": first.line}
        yield _event("i", name, "round", time, (WARPS, 0), about, s="g")
    for release in trace.releases:
        name = f"barrier of block {release.block} opens"
        about = {"block": release.block, "warps": release.warps}
        yield _event("i", name, "barrier", release.time, (WARPS, 0), about, s="p")


def round_starts(trace: Trace) -> list[tuple[int, Dispatch]]:
    """The time at which each round of the synchronous schedule begins, and its first dispatch.

    At that time all its warps are ready. A warp that isn't dispatched immediately waits for its
    turn.
    """
    if trace.schedule != "synchronous":
        return []
    ready = {(wait.warp, wait.end): wait.start for wait in trace.waits if wait.reason == "turn"}
    starts: dict[int, Dispatch] = {}
    for dispatch in trace.dispatches:
        starts.setdefault(ready.get((dispatch.warp, dispatch.time), dispatch.time), dispatch)
    return sorted(starts.items(), key=lambda start: start[0])


def _stages(dispatch: Dispatch) -> list[list[int]]:
    """The addresses that travel in each stage."""
    served: list[list[int]] = [[] for _ in range(dispatch.stage_count)]
    for address, stage in sorted(set(zip(dispatch.addresses, dispatch.stages, strict=True))):
        served[stage].append(address)
    return served


def _names(trace: Trace, tracks: Tracks) -> Iterator[Event]:
    """The names of the processes and of the tracks, and their order."""
    yield _metadata("process_name", WARPS, 0, {"name": f"warps of {trace.machine}"})
    yield _metadata("process_sort_index", WARPS, 0, {"sort_index": WARPS})
    warps = {dispatch.warp for dispatch in trace.dispatches} | {wait.warp for wait in trace.waits}
    for warp in sorted(warps):
        track = tracks.warp(warp)
        yield _metadata("thread_name", WARPS, track, {"name": f"W({warp})"})
        yield _metadata("thread_sort_index", WARPS, track, {"sort_index": track})
    for unit in trace.machine.units[: len(trace.units)]:
        process = tracks.process[unit.name]
        about = f"{unit.name} unit ({unit.conflict.place}s, latency {unit.latency})"
        yield _metadata("process_name", process, 0, {"name": about})
        yield _metadata("process_sort_index", process, 0, {"sort_index": process})
        yield _metadata("thread_name", process, tracks.unit[unit.name], {"name": "stages"})


def _metadata(name: str, process: int, thread: int, args: dict[str, Any]) -> Event:
    return {"ph": "M", "name": name, "pid": process, "tid": thread, "args": args}


def _event(
    phase: str,
    name: str,
    category: str,
    time: int,
    track: tuple[int, int],
    args: Event,
    **more: Any,
) -> Event:
    """An event in a process and its track; `phase` is Chrome's letter for its kind."""
    process, thread = track
    what = {"ph": phase, "name": name, "cat": category, "ts": time, **more}
    return {**what, "pid": process, "tid": thread, "args": args}
