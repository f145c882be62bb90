"""What a GPU's shared memory charges: the asynchronous DMM, with a rule for 8-byte words.

A word of 4 bytes, or less, lies in one of 32 banks: a warp's request takes as many stages as on the
DMM. An array of 8-byte words is served in two half-warps of 16 lanes each. Each half meets 16 banks
of 8 bytes and takes as many stages as on a DMM of width 16; the request takes both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mmsim.engines.schedule import asynchronous_time
from mmsim.gpu.kernels import WARP
from mmsim.gpu.traced import BARRIER, sequences
from mmsim.gpu.words import served
from mmsim.gpu.writer import waits_between_turns, word_type
from mmsim.language.program import Program
from mmsim.launch import Launch
from mmsim.machines import DMM
from mmsim.results.trace import Dispatch
from mmsim.threads import Grid


@dataclass(frozen=True)
class Turn:
    """What each warp of one block does in one turn of a program: stages of requests, and barriers.

    `warps` are as `asynchronous_time` takes them. `alone` says that no turn may begin before all
    threads have ended the last one, as the kernel sees to it.
    """

    grid: Grid
    warps: tuple[tuple[int, ...], ...]
    alone: bool

    @property
    def stages(self) -> int:
        """Stages of all requests of a turn: its time where latency is hidden."""
        return sum(op // 2 for warp in self.warps for op in warp if op != BARRIER)

    def time(self, latency: int, turns: int = 1, blocks: int = 1) -> int:
        """Time units that `turns` turns of so many blocks take on one asynchronous DMM."""
        between = (BARRIER,) if self.alone else ()
        sequences = [(warp + between) * turns for warp in self.warps] * blocks
        operations = np.array([op for sequence in sequences for op in sequence], dtype=np.int64)
        start = np.cumsum([0, *map(len, sequences)])
        grid = replace(self.grid, threads=self.grid.threads * blocks)
        return asynchronous_time(DMM(WARP, latency), grid, operations, start)


def turn(program: Program, *args: Any, threads: int) -> Turn:
    """One turn of a program whose arrays lie in the shared memory of one block.

    It is the first: a later one counts as the same, even if what the program wrote leads it to
    other addresses then.

    >>> import mmsim as mm
    >>> @mm.program
    ... def copy(T, a, b):
    ...     b[T.id] = a[T.id]
    >>> data = np.arange(64, dtype=np.int32)
    >>> turn(copy, data, np.zeros_like(data), threads=64).warps
    ((2, 2), (2, 2))
    >>> turn(copy, data, np.zeros(64), threads=64).warps  # doubles are written
    ((2, 4), (2, 4))
    """
    machine = DMM(WARP, 1)
    run = machine.run(
        program, *args, threads=threads, schedule="asynchronous", engine="events", trace=True
    )
    launch = Launch(machine, program, args, threads, None, "asynchronous", 1)
    arrays = launch.arrays
    size = {name: word_type(array.dtype, shared=True).itemsize for name, array in arrays.items()}

    def request(one: Dispatch) -> int:
        lanes = [thread % WARP for thread in one.threads]
        return 2 * served("shared", size[one.array], one.addresses, lanes)

    warps = sequences(run, launch.grid, request)
    return Turn(launch.grid, warps, waits_between_turns(program.code))
