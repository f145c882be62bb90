"""Dispatch and completion times (docs/machines.md, *One warp's access*, *Two schedules*).

A request of k stages that a unit of latency l dispatches at time t keeps the unit until t + k, and
is done at t + k + l - 1. In a round of the synchronous schedule each unit dispatches its warps'
requests in turn, and all units work at the same time.

Under the asynchronous schedule each warp has a fixed number of places for requests under way. A
place holds the completion of its request and the number of its access. Time 0 stands for a place
that has never been taken. The functions of these places run unchanged on lists, and compiled by
Numba on arrays.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from mmsim.ir.dtypes import Integers

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


def sent(times: Any, sites: Any, first: int, places: int, site: int, done: int) -> None:
    """Note a dispatched request and its completion, in a place whose request has completed."""
    place = first
    for one in range(first, first + places):
        if times[one] < times[place]:
            place = one
    times[place] = done
    sites[place] = site


def next_request(
    times: Any, sites: Any, first: int, places: int, needed: Any, site: int, most: int, now: int
) -> int:
    """Return when the warp may send its next request after one that was dispatched `now`.

    That is at least a time unit later. A place must be free, all requests of the sites that are
    `needed` (by number of the site, true or false) must have completed, and all of its own `site`
    if `most` of these are under way; 0 is no bound.

    >>> times, sites = [9, 20, 0], [0, 1, -1]
    >>> [next_request(times, sites, 0, 3, needed, 0, 0, 4) for needed in ([0, 0], [1, 0])]
    [5, 9]
    >>> [next_request(times, sites, 0, 3, [0, 0], site, 1, 4) for site in (0, 1)]
    [9, 20]
    >>> sent(times, sites, 0, 3, 1, 30)
    >>> next_request(times, sites, 0, 3, [0, 0], 0, 0, 5), all_done(times, 0, 3)
    (9, 30)
    >>> [next_request([9, 20, 0], [0, 0, -1], 0, 3, [0], 0, most, 4) for most in (2, 3)]
    [20, 5]
    """
    soonest = times[first]
    least = now + 1
    own = 0
    last = 0
    for one in range(first, first + places):
        time = times[one]
        soonest = min(soonest, time)
        if time > least and needed[sites[one]]:
            least = time
        if time > now and sites[one] == site:
            own += 1
            last = max(last, time)
    if own > 0 and own == most:
        least = max(least, last)
    return max(least, soonest)  # type: ignore[no-any-return]


def reading(now: int, before: Number, count: int = 1) -> Number:
    """Return the time of the last of `count` readings of the clock in a row, at `now` or later.

    Each is at least a time unit after the sequencer's one `before`, -1 if there was none.

    >>> [int(reading(10, before)) for before in (-1, 4, 10)]
    [10, 10, 11]
    >>> int(reading(10, 10, count=3))
    13
    """
    latest: Number = np.maximum(now - 1, before)
    return latest + count


def all_done(times: Any, first: int, places: int) -> int:
    """Return when all requests of the warp have completed."""
    last = times[first]
    for one in range(first, first + places):
        last = max(last, times[one])
    return last  # type: ignore[no-any-return]


PARTS = (sent, next_request, all_done)
"""The functions of the places for requests under way."""
