"""A kernel on some data: its launches and its right results.

Sizes follow from the side of the largest matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mmsim.gpu.record import Row
from mmsim_algorithms.gpu.permuting import Arrays
from mmsim_algorithms.gpu.steps import Step

SIDE, QUICK = 4096, 256
"""The side of the largest matrix, and of a quick test's; a side is a power of two."""
SOME = 256
"""Threads of a block, if the kernel has no shared memory."""


@dataclass(frozen=True)
class Launched:
    """The launches of a case, in order, and the right contents of some arrays."""

    steps: list[Step]
    arrays: Arrays
    expected: Arrays


@dataclass(frozen=True)
class Case:
    """A kernel on some data, made by `make`."""

    kernel: str
    data: str
    make: Callable[[], Launched]

    @property
    def about(self) -> Row:
        return {"kernel": self.kernel, "data": self.data}
