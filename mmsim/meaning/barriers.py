"""Barriers: the threads that must reach them, and the values that they compute together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.errors import BarrierError, Place
from mmsim.ir.nodes import BarrierOp
from mmsim.ir.operators import Mask, without
from mmsim.meaning.frame import Frame, Waiting


def parted(frame: Frame, mask: Mask) -> tuple[int, int] | None:
    """Two lanes of one warp: one at a barrier, the other elsewhere and not at its end.

    Every lane of a warp that has more to do must be there, or none.
    """
    missing = without(without(frame.live, mask), frame.idle)
    if missing is False:
        return None
    warps = np.broadcast_to(frame.fields["warp"], frame.lanes)
    here = np.broadcast_to(mask, frame.lanes)
    absent = np.broadcast_to(missing, frame.lanes) & np.isin(warps, warps[here])
    if not absent.any():
        return None
    lane = int(np.argmax(absent))
    return int(np.argmax(here & (warps == warps[lane]))), lane


def refuse_parted(frame: Frame, mask: Mask, place: Place, fault: Callable[..., None]) -> None:
    """Refuse a barrier that only some of a warp's live lanes reach, by `fault`."""
    apart = parted(frame, mask)
    if apart is None:
        return
    here, elsewhere = apart
    warp = int(np.broadcast_to(frame.fields["warp"], frame.lanes)[elsewhere])
    present = frame.thread(here)
    fault(
        BarrierError,
        f"thread {present} waits at this barrier but thread {frame.thread(elsewhere)} of the same "
        f"warp {warp} is elsewhere; move the barrier to a place that all threads of a warp reach",
        place,
        frame,
        elsewhere,
        other=present,
    )


def together(op: BarrierOp, tests: Sequence[npt.NDArray[np.bool_]]) -> int | bool:
    """The results of `T.barrier_or`, `_and` and `_count`: whether any, whether all, how many.

    `tests` are those of the waiting threads, some threads at a time. (CUDA C++ Programming Guide,
    "Synchronization Functions".)

    >>> tests = [np.array([True, False]), np.array([True])]
    >>> together("or", tests), together("and", tests), together("count", tests)
    (True, False, 2)
    """
    true = sum(int(np.count_nonzero(test)) for test in tests)
    if op == "count":
        return true
    return true > 0 if op == "or" else true == sum(map(len, tests))


def results(waiting: Sequence[tuple[BarrierOp | None, npt.NDArray[np.bool_]]]) -> list[Any]:
    """The value that an opened barrier gives to each of its warps, None without an operation."""
    found = {
        op: together(op, [tests for other, tests in waiting if other == op])
        for op in dict(waiting)
        if op is not None
    }
    return [None if op is None else found[op] for op, _ in waiting]


def tests_of(waiting: Waiting, lanes: int) -> npt.NDArray[np.bool_]:
    """The tests of the waiting lanes, for a sequencer of `lanes` lanes."""
    test = np.broadcast_to(waiting.test, lanes)
    return test if waiting.lanes is True else test[waiting.lanes]


def in_lock_step(waiting: Waiting, blocks: npt.NDArray[np.int64]) -> Any:
    """The result for each of all threads in lock step, from the tests of its block."""
    assert waiting.op is not None
    here = np.broadcast_to(waiting.lanes, len(blocks))
    true = np.bincount(blocks, np.broadcast_to(waiting.test, len(blocks)) & here).astype(np.int64)
    if waiting.op == "count":
        return true[blocks]
    least = np.bincount(blocks, here) if waiting.op == "and" else 1
    return (true >= least)[blocks]
