"""Banks of two words, as on CFP's card (Table II).

The papers' banks give one word at a time. The shared memory of a GeForce GTX 680, of compute
capability 3.0, has 32 banks of 8 bytes. Successive words of 4 bytes still lie in successive banks,
but a bank gives two of its words in one time unit if they are the words i and i + w of 2w words
from a multiple of 2w on (CUDA C Programming Guide, compute capability 3.x, shared memory, 32-bit
mode).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim.model.conflicts import Banks, Conflict

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class WideBanks(Conflict):
    """By bank, in pairs of words: the most distinct pairs of one bank are the stages.

    >>> banks = WideBanks(4)
    >>> banks.stages([0, 4, 2, 6]), banks.stages([4, 8, 2, 6]), banks.stages([0, 4, 8, 12])
    (1, 2, 2)
    """

    name = "wide bank"
    place = "bank"
    free = "conflict-free"

    met = Banks.met

    @property
    def title(self) -> str:
        return f"{self.width} banks of two words"

    def cells(self, addresses: Integers) -> Integers:
        return addresses % self.width

    def stage_of(self, addresses: list[int], lanes: Integers | None = None) -> list[int]:
        """Within a bank the stages are filled in ascending order of the pairs."""
        pairs = self.pairs(np.array(addresses)).tolist()
        return Banks(self.width).stage_of(pairs)

    def stages(self, addresses: list[int], lanes: Integers | None = None) -> int:
        return Banks(self.width).stages(self.pairs(np.array(addresses)).tolist())

    def stage_counts(
        self, addresses: Integers, warps: Integers, count: int, lanes: Integers | None = None
    ) -> Integers:
        return Banks(self.width).stage_counts(self.pairs(addresses), warps, count)

    def pairs(self, addresses: Integers) -> Integers:
        """Pairs, numbered as the words of a memory of half the size: by rows, bank after bank."""
        pairs: Integers = addresses // (2 * self.width) * self.width + addresses % self.width
        return pairs


@dataclass(frozen=True)
class WideBankDMM(mm.DMM):
    """The DMM with banks of two words.

    >>> WideBankDMM(32, 1).memory.conflict
    WideBanks(width=32)
    """

    @cached_property
    def memory(self) -> mm.Unit:
        return mm.Unit("memory", WideBanks(self.width), self.latency)
