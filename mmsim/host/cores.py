"""Watched, interruptible work on all cores. It mustn't hold Python's global lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

T = TypeVar("T")
WATCHED = 0.5  # seconds between two looks at the progress


def cores() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor  # not loaded by a short run

    return ThreadPoolExecutor(workers, thread_name_prefix="mmsim")


if hasattr(os, "register_at_fork"):  # a child process has none of its parent's threads
    os.register_at_fork(after_in_child=_pool.cache_clear)


def nothing() -> None:
    """Do nothing."""


def on_all_cores(
    work: Callable[[int, int], None],
    count: int,
    pieces: int | None = None,
    watch: Callable[[], None] = nothing,
    stop: Callable[[], None] = nothing,
) -> None:
    """Call `work(first, last)` for pieces of 0 .. count-1, in any order, on all cores.

    It calls `watch()` now and then. An error of a piece, or Ctrl-C, calls `stop()`, which should
    end the running pieces soon. Other pieces don't begin, and the error is raised when all have
    ended. Work of one piece that can't be stopped is done directly, without another thread.
    """
    workers = cores()
    pieces = min(pieces or workers, count)
    if pieces <= 1 and stop is nothing:
        work(0, count)
        return
    bounds = [count * piece // pieces for piece in range(pieces + 1)]
    pool = _pool(workers)
    _finish([pool.submit(work, first, last) for first, last in pairwise(bounds)], watch, stop)


def in_thread(
    work: Callable[[], T],
    watch: Callable[[], None] = nothing,
    stop: Callable[[], None] = nothing,
) -> T:
    """Run `work()` in another thread, so that Ctrl-C still works; return its result."""
    future = _pool(cores()).submit(work)
    _finish([future], watch, stop)
    return future.result()


def _finish(futures: list[Future[T]], watch: Callable[[], None], stop: Callable[[], None]) -> None:
    from concurrent.futures import FIRST_COMPLETED, wait

    left = set(futures)
    try:
        while left:
            done, left = wait(left, timeout=WATCHED, return_when=FIRST_COMPLETED)
            for future in done:
                future.result()
            watch()
    except BaseException:
        stop()
        raise
    finally:
        for future in left:
            future.cancel()
        wait(left)
