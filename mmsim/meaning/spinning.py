"""The error of a loop that can never end: see `trips`."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from mmsim.errors import EndlessError
from mmsim.meaning.frame import Frame, Request, Spinning
from mmsim.meaning.launch import Launch


def refuse(launch: Launch, frame: Frame, at: Spinning, last: Request | None) -> NoReturn:
    """Refuse a loop that never ends; `last` is the latest read or atomic in it, if there is one."""
    waiting = np.flatnonzero(np.broadcast_to(at.lanes, frame.lanes))
    thread, several = frame.thread(int(waiting[0])), len(waiting) > 1
    who = f"thread {thread}" + (f" and {len(waiting) - 1} more repeat" if several else " repeats")
    facts: dict[str, Any] = {}
    again = "nothing changes in it; correct the condition that ends it"
    if last is not None:
        array = launch.arrays[last.site.array]
        lane = 0 if last.lanes is None else int(last.lanes[0])
        block = int(launch.grid.block[frame.thread(lane)]) if array.shared else 0
        element = last.elements[:1]
        index = tuple(int(one) for one in np.unravel_index(int(element[0]), array.shape))
        value = array.read(element, np.full(1, block))[0]
        facts = {"array": array.name, "index": index}
        again = (
            f"line {last.site.place.line} finds {array.name}[{', '.join(map(str, index))}] = "
            f"{value} again and again, and "
        )
        gone = np.flatnonzero(np.broadcast_to(at.gone, frame.lanes))
        if len(gone):
            is_lock_step = launch.schedule == "synchronous"
            together = "in lock step all threads leave a loop together"
            if not is_lock_step:
                together = "the lanes of a warp leave a loop together"
            again += (
                f"thread {frame.thread(int(gone[0]))}, which has left the loop, waits for the "
                f"others: {together}; let one thread of each warp take the lock, or do the work "
                "and free the lock inside the loop"
            )
            if launch.code.arithmetic == "numba":
                again += "; cuda.lenient() lets that thread go on first, as cards do"
        else:
            again += (
                "no thread can change it: all others have ended, or wait too; write before you "
                "wait, or wait at a barrier"
            )
    raise EndlessError(
        f"{who} this loop forever: {again}",
        program=launch.program.name,
        place=at.place,
        thread=thread,
        **facts,
    )
