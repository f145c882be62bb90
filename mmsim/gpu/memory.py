"""What a GPU's global memory charges: the asynchronous UMM, with 8-byte words as two of 4 bytes.

An address group is 32 words of 4 bytes. A request for words of 8 bytes takes twice the stages that
it takes on the UMM, since 32 of them are two such groups.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mmsim.engines.fused.accesses import BARRIER_SITE
from mmsim.engines.fused.execute import Execution
from mmsim.engines.progress import Progress
from mmsim.engines.schedule import asynchronous_time
from mmsim.language.program import Program
from mmsim.launch import Launch
from mmsim.machines import HMM


def time_units(
    machine: HMM, program: Program, *args: Any, threads: int, block_size: int | None = None
) -> int:
    """The time of a program on the asynchronous HMM whose 8-byte words cost twice.

    Raises `CannotFuse` for programs that can only be interpreted. Where all words have 4 bytes it
    is the time that `machine.run` gives:

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
    execution = Execution(launch, Progress(program.name))
    with np.errstate(all="ignore"):
        _, _, operations = execution.counted()
    if operations.dtype == np.uint8 and 4 * machine.width + 1 >= 1 << 8:
        operations = operations.astype(np.uint16)
    for step, site in enumerate(execution.sites):
        if site != BARRIER_SITE:
            array = launch.arrays[launch.meaning.sites[site].array]
            if array.dtype.itemsize == 8:
                of_a_request = operations[:, step]  # 2 k, or 2 k + 1 in shared memory
                operations[:, step] += of_a_request - of_a_request % 2
    start = np.arange(launch.grid.warps + 1, dtype=np.int64) * len(execution.sites)
    return asynchronous_time(machine, launch.grid, operations.ravel(), start)
