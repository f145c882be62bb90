"""The cost of whole launches on a GPU: the asynchronous HMM, with its rule for 8-byte words."""

from __future__ import annotations

from typing import Any

from mmsim.api.machines import HMM
from mmsim.frontend.program import Program
from mmsim.gpu.words import CardHMM


def time_units(machine: HMM, program: Program, *args: Any, **how: Any) -> int:
    """The time of a program on the asynchronous HMM that serves 8-byte words by half-warps.

    `how` gives its threads, as for `Machine.run`.
    If all words have 4 bytes, the time is that of `machine.run`:

    >>> import numpy as np, mmsim as mm
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
    card = CardHMM(machine.dmms, machine.width, machine.global_latency, machine.shared_latency)
    return card.run(program, *args, **how, schedule="asynchronous", engine="array").time
