"""What a GPU's global memory charges: the asynchronous UMM, where 8-byte words cost twice.

An address group is 32 words of 4 bytes. A request for words of 8 bytes takes twice the stages that
it takes on the UMM, since 32 of them are two such groups.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.engines.fused.accesses import BARRIER_SITE
from mmsim.engines.fused.execute import CannotFuse, Execution, GaveUp, NotCompiled
from mmsim.engines.progress import Progress
from mmsim.engines.schedule import asynchronous_time
from mmsim.gpu.traced import sequences
from mmsim.language.program import Program
from mmsim.launch import Launch
from mmsim.machines import HMM
from mmsim.results.trace import Dispatch

Operations = tuple[npt.NDArray[Any], npt.NDArray[np.int64]]
"""What all warps do, and where in it each begins: `operations` and `start` of a schedule."""


def time_units(
    machine: HMM, program: Program, *args: Any, threads: int, block_size: int | None = None
) -> int:
    """The time of a program on the asynchronous HMM whose 8-byte words cost twice.

    Where all words have 4 bytes it is the time that `machine.run` gives:

    >>> import mmsim as mm
    >>> @mm.program
    ... def copy(T, a, b):
    ...     b[T.id] = a[T.id]
    >>> data = np.arange(64, dtype=np.int32)
    >>> how = {"threads": 64, "block_size": 32}
    >>> machine = mm.HMM(dmms=2, width=32, global_latency=10)
    >>> time_units(machine, copy, data, data.copy(), **how)
    21
    >>> machine.run(copy, data, data.copy(), schedule="asynchronous", **how).time
    21
    >>> time_units(machine, copy, data.astype(float), np.zeros(64), **how)
    24
    """
    launch = Launch(machine, program, args, threads, block_size, "asynchronous", 100_000)
    try:
        operations, start = _fused(launch)
    except (CannotFuse, GaveUp, NotCompiled):
        run = machine.run(
            program,
            *args,
            threads=threads,
            block_size=block_size,
            schedule="asynchronous",
            engine="events",
            trace=True,
        )

        def request(one: Dispatch) -> int:
            array = launch.arrays[one.array]
            return 2 * one.stage_count * words(array.dtype) + bool(array.shared)

        warps = sequences(run, launch.grid, request)
        operations = np.array(list(chain.from_iterable(warps)), dtype=np.int64)
        start = np.cumsum([0, *map(len, warps)])
    return asynchronous_time(machine, launch.grid, operations, start)


def words(dtype: np.dtype[Any]) -> int:
    """How many words of 4 bytes an element is charged as."""
    return 2 if dtype.itemsize == 8 else 1


def _fused(launch: Launch) -> Operations:
    """All operations at once; raises what `Execution` does where there is no such way."""
    execution = Execution(launch, Progress(launch.program.name))
    with np.errstate(all="ignore"):
        _, _, operations = execution.counted()
    if operations.dtype == np.uint8 and 4 * launch.machine.width + 1 >= 1 << 8:
        operations = operations.astype(np.uint16)
    for step, site in enumerate(execution.sites):
        if site != BARRIER_SITE:
            array = launch.arrays[launch.meaning.sites[site].array]
            if words(array.dtype) == 2:
                of_a_request = operations[:, step]  # 2 k, or 2 k + 1 in shared memory
                operations[:, step] += of_a_request - of_a_request % 2
    start = np.arange(launch.grid.warps + 1, dtype=np.int64) * len(execution.sites)
    return operations.ravel(), start
