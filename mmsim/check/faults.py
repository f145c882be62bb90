"""Errors of a program as findings."""

from __future__ import annotations

from mmsim.engines.lines import found_access, index_of
from mmsim.engines.watch import Watch
from mmsim.errors import (
    AddressError,
    ArithmeticFault,
    BarrierError,
    EndlessError,
    ProgramError,
    TypeFault,
    UnassignedError,
)
from mmsim.launch import Launch
from mmsim.results.findings import Deed, Finding, FindingKind, FoundAccess

KINDS: dict[type[ProgramError], FindingKind] = {
    AddressError: "out-of-range",
    ArithmeticFault: "arithmetic",
    UnassignedError: "unassigned",
    TypeFault: "type",
    EndlessError: "endless",
    BarrierError: "barrier",
}


def finding_of(error: ProgramError, launch: Launch, watch: Watch, time: int) -> Finding:
    """An error that ended a run at `time`, as a finding."""
    if isinstance(error, EndlessError):
        return _endless(error, launch, watch, time)
    if isinstance(error, BarrierError):
        accesses = (
            _deed(error, launch, error.other, time, "barrier"),
            watch.meetings.last(error.thread or 0),
        )
        return Finding("barrier", None, None, None, accesses)
    array = launch.arrays.get(error.array or "")
    thread = error.thread or 0
    whole = error.index is not None and all(isinstance(part, int) for part in error.index)
    return Finding(
        KINDS[type(error)] if whole or error.index is None else "type",
        error.array,
        tuple(map(int, error.index or ())) if whole else None,
        int(launch.grid.block[thread]) if array is not None and array.shared else None,
        (_deed(error, launch, thread, time),),
        note=error.message,
    )


def finding_before(error: ProgramError) -> Finding:
    """An error that types and shapes tell before any thread has begun: thread 0 stands for all."""
    assert error.place is not None
    deed = found_access(error.place, "statement", 0, 0)
    return Finding(KINDS[type(error)], error.array, None, None, (deed,), note=error.message)


def _endless(error: ProgramError, launch: Launch, watch: Watch, time: int) -> Finding:
    """A deadlock if nothing changes any more while a warp reads on, else a program without end."""
    standstill = watch.standstill
    assert standstill is not None
    if not standstill.reached:
        thread = error.thread or 0
        deed = _deed(error, launch, thread, time)
        return Finding("endless", None, None, None, (deed,), note=error.message)
    first, *others = standstill.readers()
    array = launch.arrays[first.site.array]
    also = [
        found_access(one.site.place, "waits", one.thread, one.block, one.time) for one in others
    ]
    waiting = watch.meetings.waiting()
    return Finding(
        "deadlock",
        array.name,
        index_of(array, first.element),
        first.copy if array.shared else None,
        (
            found_access(first.site.place, "read", first.thread, first.block, first.time),
            *(also if waiting is None else [waiting]),
        ),
        note="it reads this again and again, and nobody changes anything",
    )


def _deed(
    error: ProgramError, launch: Launch, thread: int | None, time: int, kind: Deed = "statement"
) -> FoundAccess:
    assert error.place is not None
    thread = thread or 0
    block = int(launch.grid.block[thread])
    return found_access(error.place, kind, thread, block, time)
