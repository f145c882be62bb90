"""Work in pieces on all cores. What it runs must not hold Python's global lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from functools import cache
from itertools import pairwise


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers, thread_name_prefix="mmsim")


def on_all_cores(
    work: Callable[[int, int], None],
    count: int,
    pieces: int | None = None,
    told: Callable[[int], None] | None = None,
) -> None:
    """Call `work(first, last)` for pieces of 0 .. count-1, in any order, on all cores.

    An error of a piece is raised when the pieces at work have ended; those not begun are dropped.
    So it is with Ctrl-C. `told(n)` hears of every n that are done.
    """
    workers = min(cores(), count)
    if workers <= 1 and pieces is None:
        work(0, count)
        return
    pieces = min(pieces or workers, count)
    bounds = [count * piece // pieces for piece in range(pieces + 1)]
    futures = {
        _pool(workers).submit(work, first, last): last - first for first, last in pairwise(bounds)
    }
    left = set(futures)
    try:
        while left:
            done, left = wait(left, timeout=1, return_when=FIRST_COMPLETED)
            for future in done:
                future.result()
                if told is not None:
                    told(futures[future])
    finally:
        for future in left:
            future.cancel()
        wait(left)
