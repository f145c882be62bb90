"""Errors of a program as findings."""

from __future__ import annotations

import numpy as np

from mmsim import errors
from mmsim.meaning.launch import Launch
from mmsim.monitors.deadlock import Read
from mmsim.monitors.lines import access_of, element_finding, found_access, index_of
from mmsim.monitors.watch import Monitors
from mmsim.results.findings import Action, Finding, FindingKind, FoundAccess

KINDS: dict[type[errors.ProgramError], FindingKind] = {
    errors.AddressError: "out-of-range",
    errors.ArithmeticFault: "arithmetic",
    errors.UnassignedError: "unassigned",
    errors.TypeFault: "type",
    errors.RaisedError: "exception",
    errors.VectorError: "vector",
    errors.EndlessError: "endless",
    errors.BarrierError: "barrier",
    errors.ExchangeError: "exchange",
}


def finding_of(
    error: errors.ProgramError, launch: Launch, monitors: Monitors, time: int
) -> Finding:
    """An error that ended a run at `time`, as a finding."""
    if isinstance(error, errors.EndlessError):
        return _endless(error, launch, monitors, time)
    if isinstance(error, errors.BarrierError):
        accesses = (
            _action(error, launch, error.other, time, "barrier"),
            monitors.barriers.last(error.thread or 0),
        )
        return Finding("barrier", None, None, None, accesses)
    if isinstance(error, errors.ExchangeError):
        asks = _action(error, launch, error.thread, time)
        asked = () if error.other is None else (monitors.barriers.last(error.other),)
        return Finding("exchange", None, None, None, (asks, *asked), note=error.message)
    array = launch.arrays.get(error.array or "")
    thread = error.thread or 0
    whole = error.index is not None and all(isinstance(part, int) for part in error.index)
    return Finding(
        KINDS[type(error)] if whole or error.index is None else "type",
        error.array,
        tuple(map(int, error.index or ())) if whole else None,
        int(launch.grid.block[thread]) if array is not None and array.shared else None,
        (_action(error, launch, thread, time),),
        note=error.message,
    )


def finding_before(error: errors.ProgramError) -> Finding:
    """An error found from types and shapes before any thread has begun: thread 0 stands for all."""
    assert error.place is not None
    action = found_access(error.place, "statement", 0, 0)
    return Finding(KINDS[type(error)], error.array, None, None, (action,), note=error.message)


def _endless(error: errors.ProgramError, launch: Launch, monitors: Monitors, time: int) -> Finding:
    """A deadlock if memory doesn't change any more while a warp waits, else an endless program."""
    deadlock = monitors.deadlock
    assert deadlock is not None
    if not deadlock.reached:
        action, note = _action(error, launch, error.thread, time), error.message
        idler = deadlock.idler()
        if idler is not None:
            array, loop = launch.arrays[idler.site.array], deadlock.waits.loop[idler.site.number]
            assert loop is not None
            action = found_access(loop, "statement", idler.thread, idler.block, idler.time)
            index = ", ".join(map(str, index_of(array, idler.element)))
            value = array.read(np.array([idler.element]), idler.block)[0]
            note += (
                f"; it reads {array.name}[{index}], which is {value}, in line "
                f"{idler.site.place.line} again and again, and no write could end the loop"
            )
        return Finding("endless", None, None, None, (action,), note=note)
    readers = deadlock.readers()
    for one in readers:
        holder = deadlock.holder(one)
        if holder is not None:
            return _spin(one, holder, launch)
    first = readers[0]
    array = launch.arrays[first.site.array]
    others = [one for one in readers if one.thread != first.thread]
    also = [
        found_access(one.site.place, "waits", one.thread, one.block, one.time) for one in others[:1]
    ]
    waiting = monitors.barriers.waiting()
    return element_finding(
        "deadlock",
        array,
        first.copy * array.size + first.element,
        (access_of(*first.access), *(also if waiting is None else [waiting])),
        note="it reads this again and again, and no thread changes anything",
    )


def _spin(waiting: Read, holder: Read, launch: Launch) -> Finding:
    """A wait for a lock whose holder can't go on before the wait is over."""
    array = launch.arrays[waiting.site.array]
    return element_finding(
        "spin",
        array,
        waiting.copy * array.size + waiting.element,
        (access_of(*waiting.access), access_of(*holder.access)),
        note=(
            f"thread {waiting.thread} tries again and again what thread {holder.thread} has done, "
            "which can't go on: the lanes of a warp leave a loop together"
        ),
    )


def _action(
    error: errors.ProgramError,
    launch: Launch,
    thread: int | None,
    time: int,
    kind: Action = "statement",
) -> FoundAccess:
    assert error.place is not None
    thread = thread or 0
    block = int(launch.grid.block[thread])
    return found_access(error.place, kind, thread, block, time)
