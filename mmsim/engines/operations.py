"""What every warp did, one operation after the other: all that the asynchronous schedule asks.

An operation is one number: 0 for nothing, `BARRIER`, or 2k for a request of k stages at the unit in
front of the array parameters, 2k + 1 for one at the shared memory of the warp's own DMM.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
BARRIER = 1


class Operations:
    """Collects the operations of `warps` warps, of any number of them at a time."""

    def __init__(self, warps: int) -> None:
        self.lengths = np.zeros(warps, dtype=np.int64)
        self._notes: list[tuple[npt.NDArray[np.int32], Integers | int]] = []

    def requests(self, warps: Integers, stages: Integers, own_units: bool) -> None:
        """Each of some warps made a request, of so many stages."""
        self._note(warps, 2 * stages + own_units)

    def barrier(self, warps: Integers) -> None:
        """Some warps came to a barrier."""
        self._note(warps, BARRIER)

    def append(self, warp: int, operation: int) -> None:
        """One warp's next operation."""
        self._note(np.array([warp]), operation)

    def _note(self, warps: Integers, operation: Integers | int) -> None:
        self.lengths[warps] += 1
        if isinstance(operation, np.ndarray):
            operation = narrow(operation)
        self._notes.append((warps.astype(np.int32), operation))

    def by_warp(self) -> tuple[npt.NDArray[np.integer], Integers]:
        """All operations, warp after warp, and where each warp's begin (and the last one's end)."""
        start = np.concatenate([[0], np.cumsum(self.lengths)])
        kinds = {stages.dtype for _, stages in self._notes if isinstance(stages, np.ndarray)}
        operations = np.zeros(start[-1], np.result_type(np.uint16, *kinds))
        at = start[:-1].copy()
        for warps, operation in self._notes:
            operations[at[warps]] = operation
            at[warps] += 1
        return operations, start


def narrow(numbers: Integers) -> Integers:
    """Numbers from 0 on in 16 bits if those are enough."""
    return numbers.astype(np.uint16) if numbers.max(initial=0) < 1 << 16 else numbers
