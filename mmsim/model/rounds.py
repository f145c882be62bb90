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


ALWAYS, FIRST = 1, 2
"""The ways in which an access waits for another one's requests: always, or in the first one of the
trips that are unrolled together."""


def sent(times: Any, sites: Any, first: int, places: int, site: int, done: int) -> None:
    """Note a dispatched request and its completion, in a place whose request has completed."""
    place = first
    for one in range(first, first + places):
        if times[one] < times[place]:
            place = one
    times[place] = done
    sites[place] = site


def next_request(
    times: Any, sites: Any, first: int, places: int, needed: Any, begins: bool, now: int
) -> int:
    """Return when the warp may send its next request after one that was dispatched `now`.

    That is at least a time unit later. A place must be free, and all requests of the sites that are
    `needed` must have completed: by number of the site `ALWAYS`, or `FIRST` if the request `begins`
    trips that are unrolled together.

    >>> times, sites = [9, 20, 0], [0, 1, -1]
    >>> needs = [0, 0], [ALWAYS, 0], [0, FIRST]
    >>> [next_request(times, sites, 0, 3, needed, False, 4) for needed in needs]
    [5, 9, 5]
    >>> [next_request(times, sites, 0, 3, needed, True, 4) for needed in needs]
    [5, 9, 20]
    >>> sent(times, sites, 0, 3, 1, 30)
    >>> next_request(times, sites, 0, 3, [0, 0], False, 5), all_done(times, 0, 3)
    (9, 30)
    """
    soonest = times[first]
    least = now + 1
    for one in range(first, first + places):
        time = times[one]
        soonest = min(soonest, time)
        if time > least:
            how = needed[sites[one]]
            if how == ALWAYS or (how == FIRST and begins):
                least = time
    return max(least, soonest)  # type: ignore[no-any-return]


def trip(within: int, before: int, loop: int, site: int, together: int) -> int:
    """Return the trip of a warp's request in its `loop`, the first of each `together` being 0.

    The loop is that of `site`, named by its first site, and the warp's request `before` was in that
    trip of the loop `within`. With 0 all trips are together.

    >>> trip(-1, 0, 5, 6, 4), trip(5, 1, 5, 6, 4), [trip(5, 3, 5, 5, most) for most in (4, 16, 0)]
    (0, 1, [0, 4, 4])
    """
    if loop != within:
        return 0
    if site != loop:
        return before
    return 0 if before + 1 == together else before + 1


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


PARTS = (sent, next_request, trip, all_done)
"""The functions of the places for requests under way."""
