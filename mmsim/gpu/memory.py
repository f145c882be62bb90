"""What a GPU charges for whole launches: the asynchronous HMM, with a rule for 8-byte words.

An address group is 32 words of 4 bytes. A warp's request for words of 8 bytes is served as that of
two half-warps, each on groups of 16 words, or on 16 banks of shared memory, and takes the stages of
both (`mmsim.gpu.words`). Smaller words count as 4 bytes.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.engines.fused.accesses import BARRIER_SITE
from mmsim.engines.fused.execute import CannotFuse, Execution, GaveUp, NotCompiled
from mmsim.engines.progress import Progress
from mmsim.engines.schedule import asynchronous_time
from mmsim.gpu.traced import sequences
from mmsim.gpu.words import WORD_BYTES, Memory, served
from mmsim.language import ir
from mmsim.language.program import Program
from mmsim.language.walk import expressions, parts, statements
from mmsim.launch import Launch
from mmsim.machines import HMM
from mmsim.memory import ArrayInMemory
from mmsim.results.trace import Dispatch

Operations = tuple[npt.NDArray[Any], npt.NDArray[np.int64]]
"""What all warps do, and where in it each begins: `operations` and `start` of a schedule."""


def time_units(
    machine: HMM, program: Program, *args: Any, threads: int, block_size: int | None = None
) -> int:
    """The time of a program on the asynchronous HMM that serves 8-byte words by half-warps.

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
        operations, start = _fused(launch, args)
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
            lanes = launch.grid.lane[list(one.threads)].tolist()
            space: Memory = "shared" if array.shared else "global"
            size = WORD_BYTES * (1 + is_wide(array))
            took = served(space, size, one.addresses, lanes, machine.width)
            return 2 * took + bool(array.shared)

        warps = sequences(run, launch.grid, request)
        operations = np.array(list(chain.from_iterable(warps)), dtype=np.int64)
        start = np.cumsum([0, *map(len, warps)])
    return asynchronous_time(machine, launch.grid, operations, start)


def is_wide(array: ArrayInMemory) -> bool:
    """Whether a word of an array takes 8 bytes."""
    return array.dtype.itemsize > WORD_BYTES


def _fused(launch: Launch, args: tuple[Any, ...]) -> Operations:
    """All operations at once; raises what `Execution` does where there is no such way."""
    operations, sites = _counted(launch)
    arrays = [
        None if site == BARRIER_SITE else launch.arrays[launch.meaning.sites[site].array]
        for site in sites
    ]
    wide = [step for step, array in enumerate(arrays) if array is not None and is_wide(array)]
    if wide:
        halves = _of_half_warps(launch, args).reshape(len(operations), 2, len(sites))
        for step in wide:
            stages = (halves[:, :, step] >> 1).sum(axis=1, dtype=np.int64)
            operations[:, step] = 2 * stages + operations[:, step] % 2
    start = np.arange(launch.grid.warps + 1, dtype=np.int64) * len(sites)
    return operations.ravel(), start


def _counted(launch: Launch) -> tuple[npt.NDArray[Any], list[int]]:
    """Operations by warp and access, and the site of each access."""
    execution = Execution(launch, Progress(launch.program.name))
    with np.errstate(all="ignore"):
        _, _, operations = execution.counted()
    return operations, execution.sites


def _of_half_warps(launch: Launch, args: tuple[Any, ...]) -> npt.NDArray[Any]:
    """The operations of the same launch in half-warps on a machine of half the width."""
    width, grid = launch.machine.width, launch.grid
    fields = {
        part.field
        for one in statements(launch.program.code.body)
        for value in expressions(one)
        for part in parts(value)
        if isinstance(part, ir.ThreadField)
    }
    if width % 2 or grid.block_size % width or grid.threads % grid.block_size:
        raise CannotFuse("its warps are no two halves each")
    if fields & {"lane", "warp"}:
        raise CannotFuse("it asks for its warp or its lane, which half-warps have too")
    assert isinstance(launch.machine, HMM)
    machine = replace(launch.machine, width=width // 2)
    arguments = (machine, launch.program, args, grid.threads, grid.block_size)
    return _counted(Launch(*arguments, launch.schedule, launch.meaning.max_accesses))[0]
