"""Consecutive launches on a machine with a cache: each finds the cache that the last one left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mmsim.api.machines import Cached
from mmsim.engines.array.cached_time import swept
from mmsim.engines.selection import launch
from mmsim.meaning.launch import Launch
from mmsim.model.cache import State
from mmsim.results.cache import CacheRow
from mmsim_algorithms.gpu.steps import Arrays, Step

MOST = 1 << 40
"""Accesses of a thread that are not taken for an endless program."""


@dataclass(frozen=True)
class Taken:
    """The cost of one launch: time units, and the items of each access to global memory."""

    time: int
    rows: tuple[CacheRow, ...]


def taken(machine: Cached, steps: Sequence[Step], arrays: Arrays, timed: bool) -> list[Taken]:
    """The cost of each of the steps in turn. All arrays lie in global memory from the beginning.

    If they are `timed`, as in `replay_steps`, each launch begins with the cache and the known
    pages that the last one left; before the first one another array is written. Otherwise each
    begins with an empty cache, as under the profiler.

    >>> import numpy as np, mmsim as mm
    >>> @mm.program
    ... def copy(T, a, b):
    ...     b[T.id] = a[T.id]
    >>> machine = mm.Cached(2, 8, 20, sectors=4, miss_latency=100, capacity=64)
    >>> arrays = {"a": np.arange(16), "b": np.arange(16)}
    >>> steps = [Step(copy, ("a", "b"), 16, 8)] * 2
    >>> [one.time for one in taken(machine, steps, arrays, timed=False)]
    [141, 141]
    """
    now = dict(arrays)
    places = _places(machine, arrays)
    left = State._make(part.copy() for part in swept(machine)) if timed else None
    found = []
    for step in steps:
        one = Launch(
            machine, step.program, step.given(now), step.threads, step.block_size,
            "asynchronous", MOST,
        )  # fmt: skip
        names = dict(zip(one.parameters, step.arrays, strict=True))
        one.arrays = {
            own: replace(
                array,
                bases=np.array(
                    [places[names[own]] // machine.room(now[names[own]].dtype.itemsize)]
                ),
            )
            if own in names
            else array
            for own, array in one.arrays.items()
        }
        one.left = left
        run = launch(one, "array", None, False)
        left = one.left if timed else None
        now |= {names[own]: run.arrays[own] for own in names if one.arrays[own].written}
        found.append(Taken(run.time, run.cache))
    return found


def _places(machine: Cached, arrays: Arrays) -> dict[str, int]:
    """The first word or byte of each array: each begins at a line, in turn."""
    found, free = {}, 0
    for name, array in arrays.items():
        found[name] = free
        free += -(-array.size * machine.room(array.dtype.itemsize) // machine.line) * machine.line
    return found
