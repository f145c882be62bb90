"""One program on one size, launched with few repetitions and with many."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from mmsim.api.kernels import kernel
from mmsim.cuda_c.kernels import MOST_THREADS as BLOCK
from mmsim.cuda_c.kernels import Kernel
from mmsim.frontend.program import Program
from mmsim.gpu.record import Row

LINE = 32
"""Words of 4 bytes in a line of the cache."""

Before = Literal["itself", "written", "read"]


@dataclass(frozen=True)
class Point:
    """One program with its numbers p[1], p[2] ...; `times` are few and many, for p[0].

    `wide` means words of 8 bytes. `accesses` are those of a thread in one repetition. `array` is
    the accessed array: the long one, one of zeros, or a chain (`chained`).
    """

    number: str
    about: Row
    program: Program
    numbers: tuple[int, ...]
    times: tuple[int, int]
    threads: int
    before: Before = "itself"
    wide: bool = False
    array: Literal["scratch", "zeros", "chain"] = "scratch"
    constants: tuple[int, ...] = ()
    accesses: int = 1

    @property
    def block(self) -> int:
        return min(BLOCK, self.threads)

    @property
    def between(self) -> int:
        """The accesses of all threads by which many repetitions exceed few."""
        few, many = self.times
        return (many - few) * self.threads * self.accesses

    @property
    def counted(self) -> int:
        """The accesses of the longer launch, which the profiler counts."""
        return self.times[1] * self.threads * self.accesses

    def p(self, times: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        """The argument p for `times` repetitions."""
        return np.array([times, *self.numbers], np.int32)

    @property
    def kernel(self) -> Kernel:
        """Its kernel, which is the same for all numbers and sizes of the arrays."""
        words = np.dtype(np.int64 if self.wide else np.int32)
        other = self.array != "scratch"
        return _kernel(self.program, words, other, self.constants, self.threads, self.block)


@cache
def _kernel(
    program: Program,
    words: np.dtype[np.int32] | np.dtype[np.int64],
    other: bool,
    constants: tuple[int, ...],
    threads: int,
    block: int,
) -> Kernel:
    a, b, p = np.zeros(LINE, words), np.zeros(LINE, np.int32), np.zeros(5, np.int32)
    arrays = (a, b, p) if other else (a, p)
    return kernel(program, *arrays, *constants, threads=threads, block_size=block)
