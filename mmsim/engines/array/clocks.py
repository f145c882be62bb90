"""Readings of the clock where nothing else takes time: no access, no barrier."""

from __future__ import annotations

import numpy as np

from mmsim.ir.operators import Mask, Value
from mmsim.meaning.launch import Launch
from mmsim.model.rounds import reading


class Clocks:
    """The latest reading of each sequencer of a launch, -1 if there was none."""

    def __init__(self, launch: Launch) -> None:
        grid = launch.grid
        is_lock_step = launch.schedule == "synchronous"
        self.warp = np.zeros(grid.threads, np.int64) if is_lock_step else grid.warp
        self.latest = np.full(1 if is_lock_step else grid.warps, -1)

    @property
    def time(self) -> int:
        """The time of the last reading; 0 if there was none."""
        return max(int(self.latest.max()), 0)

    def read(self, lanes: Mask, count: int) -> Value:
        """Let threads read the clock so many times; return the time of the last reading."""
        here = slice(None) if lanes is True else np.unique(self.warp[lanes])
        self.latest[here] = found = reading(0, self.latest[here], count)
        if (found == found[0]).all():
            return int(found[0])
        return self.latest[self.warp]
