"""The time of a warp's next request while others of it are under way.

Each warp has a fixed number of places for requests under way. A place holds the completion of its
request and the number of its access. Time 0 stands for a place that has never been taken. The
functions run unchanged on lists, and compiled by Numba on arrays.
"""

from __future__ import annotations

from typing import Any


def sent(times: Any, sites: Any, first: int, places: int, site: int, done: int) -> None:
    """Note a dispatched request and its completion, in a place whose request has completed."""
    place = first
    for one in range(first, first + places):
        if times[one] < times[place]:
            place = one
    times[place] = done
    sites[place] = site


def next_request(times: Any, sites: Any, first: int, places: int, needed: Any, now: int) -> int:
    """Return when the warp may send its next request after one that was dispatched `now`.

    That is at least a time unit later. A place must be free, and all requests of the sites that are
    `needed` (by number of the site, true or false) must have completed.

    >>> times, sites = [9, 20, 0], [0, 1, -1]
    >>> [next_request(times, sites, 0, 3, needed, 4) for needed in ([0, 0], [1, 0])]
    [5, 9]
    >>> sent(times, sites, 0, 3, 1, 30)
    >>> next_request(times, sites, 0, 3, [False, False], 5), all_done(times, 0, 3)
    (9, 30)
    """
    soonest = times[first]
    least = now + 1
    for one in range(first, first + places):
        time = times[one]
        soonest = min(soonest, time)
        if time > least and needed[sites[one]]:
            least = time
    return max(least, soonest)  # type: ignore[no-any-return]


def all_done(times: Any, first: int, places: int) -> int:
    """Return when all requests of the warp have completed."""
    last = times[first]
    for one in range(first, first + places):
        last = max(last, times[one])
    return last  # type: ignore[no-any-return]


PARTS = (sent, next_request, all_done)
"""All functions here."""
