"""Loops that can never end: after some trips all is again as it was, and nothing else can change.

The trips of a loop depend on the variables of its lanes and on the memory that they read. If a trip
leaves all variables as an earlier one has, and memory has not changed in between, then every
further trip is the same, until another sequencer changes memory. If none does, the loop is endless.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.ir.operators import Mask
from mmsim.meaning.frame import Changes, Frame

FEW = 8
"""Trips after which a loop may be one that waits; most loops end earlier, or change something."""


class Trips:
    """The trips of one loop of a sequencer; the state before an earlier one is kept.

    Another is kept now and then, ever more rarely, so that a cycle of any length is found.
    """

    def __init__(self, changes: Changes) -> None:
        self.changes = changes
        self.trips = 0
        self.until = FEW  # the trip whose state is kept next
        self.since = -1  # the changes of memory before the kept one
        self.state: list[Any] = []
        self.first = 0  # the number of a variable that differed, the likeliest to do so again

    def repeat(self, frame: Frame, mask: Mask) -> bool:
        """Return whether all is as it was before the kept trip."""
        self.trips += 1
        if self.trips >= self.until:
            self.until = self.trips + max(FEW, self.trips // 4)
            self.since = self.changes.count
            registers = {name: one.copy() for name, one in frame.registers.items()}
            self.state = _state(frame, mask, registers)
            return False
        return self.changes.count == self.since and self._is_kept(frame, mask)

    def _is_kept(self, frame: Frame, mask: Mask) -> bool:
        kept, first = self.state, self.first
        if first < min(len(frame.variables), len(kept)) and not _is_same(
            frame.variables[first], kept[first]
        ):
            return False
        state = _state(frame, mask, frame.registers)
        if len(state) != len(kept):
            return False
        for place in range(len(state)):
            if not _is_same(state[place], kept[place]):
                self.first = place
                return False
        return True


def _state(frame: Frame, mask: Mask, registers: dict[str, npt.NDArray[Any]]) -> list[Any]:
    """All that the further way of a sequencer depends on, but for memory.

    Only registers are written in place.
    """
    partial = (part for slot in sorted(frame.partial) for part in (slot, frame.partial[slot]))
    return [*frame.variables, mask, frame.live, frame.idle, *registers.values(), *partial]


def _is_same(one: Any, other: Any) -> bool:
    """Return whether two values are equal, bit for bit."""
    if one is other:
        return True
    if one is None or other is None:
        return False
    a, b = np.asarray(one), np.asarray(other)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
