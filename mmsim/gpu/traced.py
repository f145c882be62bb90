"""What the warps of a traced run did, as `asynchronous_time` takes it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from mmsim.results import Run
from mmsim.results.trace import Dispatch
from mmsim.threads import Grid

BARRIER = 1


def sequences(
    run: Run, grid: Grid, operation: Callable[[Dispatch], int]
) -> tuple[tuple[int, ...], ...]:
    """What each warp did, one thing after the other; `operation` is the number of a request."""
    done: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for arrival in run.trace.arrivals:
        done[arrival.warp].append((arrival.time, 0, BARRIER))
    for one in run.trace.dispatches:
        done[one.warp].append((one.time, 1, operation(one)))
    # A warp that leaves a barrier may be dispatched in the same instant.
    return tuple(tuple(op for _, _, op in sorted(done[warp])) for warp in range(grid.warps))
