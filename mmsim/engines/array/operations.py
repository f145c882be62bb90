"""The operations of every warp: the whole input of the asynchronous schedule.

An operation is one number: 0 for nothing, `BARRIER`, or 2k for a request of k stages at the unit in
front of the array parameters, 2k + 1 for one at the shared memory of the warp's own DMM. There are
as many as accesses, so they are kept in the narrowest type that holds them.
"""

from __future__ import annotations

from array import array
from collections import deque
from typing import Any, NamedTuple

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


class Note(NamedTuple):
    """The next operation of some warps: a number if it is the same for all.

    `here` are the warps, None for all; `size` is their number, `most` the largest operation.
    """

    here: npt.NDArray[np.integer] | None
    warps: Integers
    operation: npt.NDArray[np.integer] | int
    size: int
    most: int
    held: int

    @classmethod
    def of(cls, warps: Integers, operations: Integers | int, all_warps: int) -> Note:
        """The note for these warps of `all_warps`."""
        here = None if len(warps) == all_warps else _packed(warps, all_warps)
        operation: npt.NDArray[np.integer] | int
        if isinstance(operations, int):
            most = operation = operations
        else:
            most = int(operations.max())
            same = most == int(operations.min())
            operation = most if same else operations.astype(narrowest(most))
        held = NOTE + sum(x.nbytes for x in (here, operation) if isinstance(x, np.ndarray))
        return cls(here, warps, operation, len(warps), most, held)


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

    def numbered(self, warps: Integers, first: int) -> None:
        """Note a request of each of these warps; the operations are consecutive numbers."""
        most = first + len(warps) - 1
        numbers = np.arange(first, first + len(warps), dtype=narrowest(max(self.most, most)))
        self.note(Note.of(warps, numbers, self.warps))

    def barrier(self, warps: Integers) -> None:
        """Note that these warps came to a barrier."""
        self.note(Note.of(warps, BARRIER, self.warps))

    def sequence(self, warp: int, operations: npt.NDArray[np.uint8]) -> None:
        """Note several operations of one warp."""
        self.lengths[warp] += len(operations)
        self._notes.append((warp, operations))
        self._grown(len(operations), NOTE + len(operations))

    def note(self, note: Note) -> None:
        """Note the next operation of some warps."""
        if note.here is None:
            self.lengths += 1
        else:
            self.lengths[note.warps] += 1
        self.most = max(self.most, note.most)
        self._notes.append((note.here, note.operation))
        self._grown(note.size, note.held)

    def _grown(self, operations: int, noted: int) -> None:
        self._operations += operations
        self._held += noted
        flat = self._operations * narrowest(self.most).itemsize
        self.growth.need(self._held + int(self.copies * flat), self._held)

    def by_warp(self) -> tuple[npt.NDArray[np.integer], Integers]:
        """All operations, warp after warp, and the first of each warp (and the last one's end).

        The notes are discarded.
        """
        start = np.concatenate([[0], np.cumsum(self.lengths)])
        operations = np.zeros(start[-1], narrowest(self.most))
        at = start[:-1].copy()
        self.lengths[:] = self._held = self._operations = 0
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
