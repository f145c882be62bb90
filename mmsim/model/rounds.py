"""Dispatch and completion times (docs/machines.md, *One warp's access*, *Two schedules*).

A request of k stages that a unit of latency l dispatches at time t keeps the unit until t + k, and
is done at t + k + l - 1. In a round of the synchronous schedule each unit dispatches its warps'
requests in turn, and all units work at the same time.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Number = TypeVar("Number", int, Integers)


def completion(dispatched: Number, stages: Number, latency: Number) -> Number:
    """Return the time at which a request completes.

    >>> completion(10, stages=3, latency=5)
    17
    """
    return dispatched + stages + latency - 1


def round_time(stages: Integers, latency: Integers) -> int:
    """Return the time units of a round, from the sum of stages and the latency of each unit.

    >>> round_time(np.array([4, 0, 3]), np.array([5, 99, 9]))
    11
    """
    busy = stages > 0
    return completion(0, int((stages[busy] + latency[busy]).max()), 0)


def dispatch_times(start: int, stages: Integers, units: Integers) -> Integers:
    """Return when a round that begins at `start` dispatches the requests of its warps.

    Each unit dispatches its warps in order of warp id and takes one stage in each time unit.
    `stages` and `units` are those of the warps, in order.

    >>> dispatch_times(10, np.array([2, 1, 3]), np.array([0, 1, 0]))
    array([10, 10, 12])
    """
    times = np.empty(len(stages), dtype=np.int64)
    for unit in np.unique(units):
        own = units == unit
        times[own] = start + np.cumsum(stages[own]) - stages[own]
    return times
