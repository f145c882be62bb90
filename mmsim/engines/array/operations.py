"""The operations of every warp: the whole input of the asynchronous schedule.

An operation is one number: 0 for nothing, `BARRIER`, or 2k for a request of k stages at the unit in
front of the array parameters, 2k + 1 for one at the shared memory of the warp's own DMM. There are
as many as accesses, so they are kept in the narrowest type that holds them.
"""

from __future__ import annotations

from array import array
from collections import deque
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.engines.array.asynchronous_time import copies
from mmsim.engines.array.turns_compiled import BARRIER
from mmsim.ir.dtypes import Integers
from mmsim.meaning.memory_budget import Growth

NOTE = 400
"""Bytes of a note in addition to its numbers: two small arrays, a pair, a place in a queue."""


def narrowest(most: int) -> np.dtype[np.integer]:
    """The type for operations up to `most`: the schedule is compiled for these three only."""
    return np.dtype(np.uint8 if most < 1 << 8 else np.uint16 if most < 1 << 16 else np.int64)


class InStep:
    """Collects the operations of warps that run in lock step, for many warps at a time."""

    def __init__(self, growth: Growth) -> None:
        self.growth = growth
        self.warps = growth.launch.grid.warps
        self.copies = 1 + copies(growth.launch)
        self.lengths = np.zeros(self.warps, dtype=np.int64)
        self.most = BARRIER  # the largest operation
        self._notes: deque[tuple[npt.NDArray[np.integer] | int | None, Any]] = deque()
        self._held = self._operations = 0  # bytes of the notes, operations in them

    def requests(self, warps: Integers, stages: Integers, own_units: bool) -> None:
        """Note a request of each of these warps, with its stages."""
        operations = 2 * stages + own_units
        most = int(operations.max())
        self.most = max(self.most, most)
        same = most == int(operations.min())
        self._note(warps, most if same else operations.astype(narrowest(most)))

    def numbered(self, warps: Integers, first: int) -> None:
        """Note a request of each of these warps; the operations are consecutive numbers."""
        self.most = max(self.most, first + len(warps) - 1)
        self._note(warps, np.arange(first, first + len(warps), dtype=narrowest(self.most)))

    def barrier(self, warps: Integers) -> None:
        """Note that these warps came to a barrier."""
        self._note(warps, BARRIER)

    def sequence(self, warp: int, operations: npt.NDArray[np.uint8]) -> None:
        """Note several operations of one warp."""
        self.lengths[warp] += len(operations)
        self._notes.append((warp, operations))
        self._grown(len(operations), len(operations))

    def _note(self, warps: Integers, operation: npt.NDArray[np.integer] | int) -> None:
        here = None if len(warps) == self.warps else _packed(warps, self.warps)
        if here is None:
            self.lengths += 1
        else:
            self.lengths[warps] += 1
        self._notes.append((here, operation))
        noted = sum(x.nbytes for x in (here, operation) if isinstance(x, np.ndarray))
        self._grown(len(warps), noted)

    def _grown(self, operations: int, noted: int) -> None:
        self._operations += operations
        self._held += NOTE + noted
        flat = self._operations * narrowest(self.most).itemsize
        self.growth.need(self._held + int(self.copies * flat), self._held)

    def by_warp(self) -> tuple[npt.NDArray[np.integer], Integers]:
        """All operations, warp after warp, and the first of each warp (and the last one's end).

        The notes are discarded.
        """
        start = np.concatenate([[0], np.cumsum(self.lengths)])
        operations = np.zeros(start[-1], narrowest(self.most))
        at = start[:-1].copy()
        while self._notes:
            here, operation = self._notes.popleft()
            if here is None:
                operations[at] = operation
                at += 1
            elif isinstance(here, int):
                end = at[here] + len(operation)
                operations[at[here] : end] = operation
                at[here] = end
            else:
                warps = _unpacked(here, self.warps)
                operations[at[warps]] = operation
                at[warps] += 1
        return operations, start


def _packed(warps: Integers, of: int) -> npt.NDArray[np.integer]:
    """The shorter note of some warps: a bit for each existing warp, or the warps' numbers."""
    if 32 * len(warps) < of:
        return warps.astype(np.int32)
    here = np.zeros(of, dtype=bool)
    here[warps] = True
    return np.packbits(here)


def _unpacked(packed: npt.NDArray[Any], of: int) -> npt.NDArray[Any]:
    """The numbers of the noted warps."""
    if packed.dtype == np.uint8:
        return np.flatnonzero(np.unpackbits(packed, count=of))
    return packed


class ByWarp:
    """Collects the operations of warps that run independently, block by block."""

    def __init__(self, growth: Growth) -> None:
        self.growth = growth
        self.copies = 2 + copies(growth.launch)
        self._dtype = narrowest(BARRIER)
        self._all = array(self._dtype.char)  # of the blocks that have ended
        self._first = 0
        self._own: list[array[int]] = []  # of the warps of the block that runs
        self._lengths = [0]
        self._operations = 0

    def begin(self, warps: range) -> None:
        """Begin the warps of a block; those of the previous block have ended."""
        self.end()
        self._first = warps.start
        self._own = [array(self._dtype.char) for _ in warps]

    def end(self) -> None:
        """Note that the running warps have ended."""
        for own in self._own:
            self._all.extend(own)
            self._lengths.append(len(own))
        self._own = []

    def append(self, warp: int, operation: int) -> None:
        """Note one warp's next operation."""
        try:
            self._own[warp - self._first].append(operation)
        except OverflowError:
            self._dtype = narrowest(operation)
            self._all = array(self._dtype.char, self._all)
            self._own = [array(self._dtype.char, own) for own in self._own]
            self._own[warp - self._first].append(operation)
        self._operations += 1
        if not self._operations & 0xFFF:
            held = self._operations * self._dtype.itemsize
            self.growth.need(int(self.copies * held), held)

    def sequence(self, warp: int, operations: npt.NDArray[np.uint8]) -> None:
        """Note several operations of one warp."""
        for operation in operations.tolist():
            self.append(warp, operation)

    def by_warp(self) -> tuple[npt.NDArray[np.integer], Integers]:
        """All operations, warp after warp, and the first of each warp (and the last one's end)."""
        self.end()
        return np.frombuffer(self._all, self._dtype), np.cumsum(self._lengths)
