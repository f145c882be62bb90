"""The barriers of a run whose warps run independently: of each block, and of the whole grid."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mmsim.engines.events.moment import COMPLETION
from mmsim.engines.events.units import Job
from mmsim.errors import BarrierError
from mmsim.meaning.barriers import results
from mmsim.meaning.frame import Waiting
from mmsim.model.threads import Grid
from mmsim.monitors.listener import Listener, Stay

Bools = npt.NDArray[np.bool_]
GRID = -1  # the place of the grid's barrier, behind those of the blocks


class Arrival(NamedTuple):
    """A warp at a barrier, its arrival, the tests of its lanes, and its continuation."""

    warp: int
    at: Waiting
    since: int
    tests: Bools
    waiter: Job


class Barriers:
    """Opens a block's barrier when every unfinished warp of the block is there.

    The grid's barrier opens when every unfinished warp of all blocks is there. A warp that waits at
    one of them has not come to the other.
    """

    def __init__(self, grid: Grid, listeners: Sequence[Listener]) -> None:
        self.grid = grid
        self.listeners = listeners
        blocks = [grid.block_of_warp(warp) for warp in range(grid.warps)]
        self.unfinished = [*np.bincount(blocks, minlength=grid.blocks).tolist(), grid.warps]
        self.waiting: list[list[Arrival]] = [[] for _ in self.unfinished]

    def arrive(self, warp: int, at: Waiting, tests: Bools, waiter: Job) -> None:
        """Let a warp wait at a barrier."""
        group = GRID if at.scope == "grid" else self.grid.block_of_warp(warp)
        self.waiting[group].append(Arrival(warp, at, waiter.now, tests, waiter))
        self._open(group)

    def finish(self, block: int) -> None:
        """Note that a warp of the block has ended; no barrier waits for it any longer."""
        for group in (block, GRID):
            self.unfinished[group] -= 1
            self._open(group)

    def _open(self, group: int) -> None:
        waiting = self.waiting[group]
        if waiting and len(waiting) == self.unfinished[group]:
            self.waiting[group] = []
            self._release(waiting)

    def _release(self, waiting: list[Arrival]) -> None:
        """Let warps go on, in order of their numbers, with the result of their tests."""
        waiting.sort(key=attrgetter("warp"))
        for block, own in groupby(waiting, lambda one: self.grid.block_of_warp(one.warp)):
            stays = [Stay(one.warp, one.since, one.at.place.line) for one in own]
            for listener in self.listeners:
                listener.released(block, stays, waiting[0].waiter.now)
        values = results([(one.at.op, one.tests) for one in waiting])
        for one, value in zip(waiting, values, strict=True):
            one.waiter.values = value
            one.waiter.after(0, COMPLETION)

    def refuse_waiting(self, program: str) -> None:
        """Report a warp that still waits at the end of a run: it waits forever."""
        *blocks, of_grid = self.waiting
        of_blocks = [one for waiting in blocks for one in waiting]
        if not of_grid or not of_blocks:
            return
        first, other = min(of_grid, key=attrgetter("warp")), min(of_blocks, key=attrgetter("warp"))
        waits, also = (self.grid.warp_threads(one.warp)[0] for one in (first, other))
        raise BarrierError(
            f"deadlock: thread {waits} waits at this barrier of the grid for all unfinished warps, "
            f"but thread {also} waits at the barrier of its block in line {other.at.place.line}; "
            "let all threads of the grid come to the same barriers",
            program=program,
            place=first.at.place,
            thread=also,
            other=waits,
        )
