"""The waits of warps, which follow from dispatches, barriers and rounds (docs/machines.md).

A warp is ready for its next request when its last one has completed, when a barrier releases it, or
when a round begins. From then on it waits for its turn, and from its dispatch on for its request.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from itertools import pairwise

from mmsim.results.events import Arrival, Dispatch, Reason, Release, Wait


def ready_times(
    dispatches: Sequence[Dispatch], releases: Sequence[Release], rounds: Sequence[int]
) -> Iterator[int]:
    """Yield for each dispatch when its warp became ready. All are in order of time."""
    since: dict[int, int] = {}
    left = deque(releases)
    for one in dispatches:
        while left and left[0].time <= one.time:  # barriers come before dispatches
            release = left.popleft()
            since.update(dict.fromkeys(release.warps, release.time))
        round_ = bisect_right(rounds, one.time)
        yield max(since.get(one.warp, 0), rounds[round_ - 1] if round_ else 0)
        since[one.warp] = one.completion


def waits_of(
    dispatches: Sequence[Dispatch],
    arrivals: Sequence[Arrival],
    releases: Sequence[Release],
    rounds: Sequence[int],
    lived: Sequence[int],
) -> tuple[Wait, ...]:
    """Return all waits, in order of their beginning and of warps.

    `lived` is for lock step: the number of rounds at whose end each warp was unfinished.
    """
    waits: list[Wait] = []

    def wait(warp: int, reason: Reason, start: int, end: int, unit: str | None, line: int) -> None:
        if end > start:  # else the warp went on immediately
            waits.append(Wait(warp, reason, start, end, unit, line))

    for one, ready in zip(dispatches, ready_times(dispatches, releases, rounds), strict=True):
        wait(one.warp, "turn", ready, one.time, one.unit, one.line)
        wait(one.warp, "latency", one.time, one.completion, one.unit, one.line)

    came: defaultdict[int, deque[Arrival]] = defaultdict(deque)
    for arrival in arrivals:
        came[arrival.warp].append(arrival)
    for release in releases:
        for warp in release.warps:
            if not came[warp]:
                raise ValueError(
                    f"a barrier releases warp {warp} at {release.time} without its arrival"
                )
            arrival = came[warp].popleft()
            wait(warp, "barrier", arrival.time, release.time, None, arrival.line)

    times = [one.time for one in dispatches]
    firsts = [bisect_left(times, start) for start in rounds]
    for number, (first, end) in enumerate(pairwise([*firsts, len(times)])):
        done = {one.warp: one.completion for one in dispatches[first:end]}
        if not done:
            raise ValueError(f"nothing happens in round {number}")
        over, line = max(done.values()), dispatches[first].line
        for warp, count in enumerate(lived):
            if number < count:
                wait(warp, "round", done.get(warp, rounds[number]), over, None, line)
    return tuple(sorted(waits, key=lambda one: (one.start, one.warp)))
