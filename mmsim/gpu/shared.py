"""The cost of a GPU's shared memory: the asynchronous DMM, with its rule for 8-byte words.

The rule is `mmsim.gpu.words.CardBanks`.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mmsim.api.machines import DMM
from mmsim.cuda_c.kernels import WARP
from mmsim.cuda_c.writer import waits_between_repetitions
from mmsim.engines.array.asynchronous_time import asynchronous_time
from mmsim.engines.array.turns_compiled import BARRIER
from mmsim.frontend.program import Program
from mmsim.gpu.calibrated import Calibration
from mmsim.gpu.words import CardDMM
from mmsim.model.threads import Grid
from mmsim.results.trace import Trace


@dataclass(frozen=True)
class Repetition:
    """The work of each warp of one block in one run of a program: stages of requests, barriers.

    `warps` are as in `asynchronous_time`. `alone` means that no repetition may begin before
    all threads have ended the last one, which the kernel ensures.
    """

    grid: Grid
    warps: tuple[tuple[int, ...], ...]
    alone: bool

    @property
    def stages(self) -> int:
        """Stages of all requests of a repetition: its time if latency is hidden."""
        return sum(op // 2 for warp in self.warps for op in warp if op != BARRIER)

    def time(self, latency: int, repetitions: int = 1, blocks: int = 1) -> int:
        """Time units of repetitions of blocks on one asynchronous DMM."""
        between = (BARRIER,) if self.alone else ()
        sequences = [(warp + between) * repetitions for warp in self.warps] * blocks
        operations = np.array([op for sequence in sequences for op in sequence], dtype=np.int64)
        start = np.cumsum([0, *map(len, sequences)])
        grid = replace(self.grid, threads=self.grid.threads * blocks)
        return asynchronous_time(DMM(WARP, latency), grid, operations, start)

    def cycles(self, known: Calibration, repetitions: int) -> float:
        """Clock cycles of one of several repetitions, by the machine of a calibration."""
        units = self.time(known.shared_latency, repetitions)
        return units / repetitions * known.cycles_per_stage


def repetition(program: Program, *args: Any, **how: Any) -> Repetition:
    """One repetition of a program whose arrays lie in the shared memory of one block.

    `how` gives its threads, as for `Machine.run`. The result is for the first repetition. Later
    ones count as the same, even if the program's writes lead them to other addresses.

    >>> import mmsim as mm
    >>> @mm.program
    ... def copy(T, a, b):
    ...     b[T.id] = a[T.id]
    >>> data = np.arange(64, dtype=np.int32)
    >>> repetition(copy, data, np.zeros_like(data), threads=64).warps
    ((2, 2), (2, 2))
    >>> repetition(copy, data, np.zeros(64), threads=64).warps  # doubles are written
    ((2, 4), (2, 4))
    """
    trace = (
        CardDMM(WARP, 1).run(program, *args, **how, schedule="asynchronous", engine="events").trace
    )
    return Repetition(trace.grid, _operations(trace), waits_between_repetitions(program.code))


def _operations(trace: Trace) -> tuple[tuple[int, ...], ...]:
    """The operations of each warp, in order, as for `asynchronous_time`."""
    done: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for arrival in trace.arrivals:
        done[arrival.warp].append((arrival.time, 0, BARRIER))
    for one in trace.dispatches:
        # A warp that leaves a barrier may be dispatched in the same instant.
        done[one.warp].append((one.time, 1, 2 * one.stage_count))
    return tuple(tuple(op for _, _, op in sorted(done[warp])) for warp in range(trace.grid.warps))
