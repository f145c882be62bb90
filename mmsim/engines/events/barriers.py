"""The barriers of a run whose warps run independently: of each block, and of the whole grid."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from simpy import Environment

from mmsim.engines.events.moment import COMPLETION
from mmsim.errors import BarrierError
from mmsim.ir.nodes import BarrierOp
from mmsim.meaning.barriers import together
from mmsim.meaning.frame import Waiting
from mmsim.model.threads import Grid
from mmsim.monitors.listener import Listener, Stay

Bools = npt.NDArray[np.bool_]


class Waiter(Protocol):
    """Continues after an opened barrier, with the `values` that the barrier gives."""

    values: Any

    def after(self, delay: int, priority: int) -> None:
        """Go on `delay` time units from now."""


class Arrival(NamedTuple):
    """A warp at a barrier, its arrival, the tests of its lanes, and its continuation."""

    warp: int
    at: Waiting
    since: int
    tests: Bools
    waiter: Waiter


class Barriers:
    """Opens a block's barrier when every unfinished warp of the block is there.

    The grid's barrier opens when every unfinished warp of all blocks is there. A warp that waits at
    one of them has not come to the other.
    """

    def __init__(self, grid: Grid, env: Environment, listeners: Sequence[Listener]) -> None:
        self.grid = grid
        self.env = env
        self.listeners = listeners
        blocks = [grid.block_of_warp(warp) for warp in range(grid.warps)]
        self.unfinished = np.bincount(blocks, minlength=grid.blocks).tolist()
        self.left = grid.warps
        self.waiting: list[list[Arrival]] = [[] for _ in range(grid.blocks)]
        self.of_grid: list[Arrival] = []

    def arrive(self, warp: int, at: Waiting, tests: Bools, waiter: Waiter) -> None:
        """Let a warp wait at a barrier."""
        arrival = Arrival(warp, at, self.now, tests, waiter)
        if at.scope == "grid":
            self.of_grid.append(arrival)
            self._open_grid()
        else:
            block = self.grid.block_of_warp(warp)
            self.waiting[block].append(arrival)
            self._open(block)

    def finish(self, block: int) -> None:
        """Note that a warp of the block has ended; no barrier waits for it any longer."""
        self.unfinished[block] -= 1
        self.left -= 1
        self._open(block)
        self._open_grid()

    @property
    def now(self) -> int:
        """The time."""
        return self.env.now  # type: ignore[return-value]

    def _open(self, block: int) -> None:
        waiting = self.waiting[block]
        if waiting and len(waiting) == self.unfinished[block]:
            self.waiting[block] = []
            self._release(waiting)

    def _open_grid(self) -> None:
        waiting = self.of_grid
        if waiting and len(waiting) == self.left:
            self.of_grid = []
            self._release(waiting)

    def _release(self, waiting: list[Arrival]) -> None:
        """Let warps go on, in order of their numbers, with the result of their tests."""
        waiting.sort(key=_number)
        for block, own in groupby(waiting, lambda one: self.grid.block_of_warp(one.warp)):
            stays = [Stay(one.warp, one.since, one.at.place.line) for one in own]
            for listener in self.listeners:
                listener.released(block, stays, self.now)
        tests: dict[BarrierOp | None, list[Bools]] = {}
        for one in waiting:
            tests.setdefault(one.at.op, []).append(one.tests)
        for one in waiting:
            if one.at.op is not None:
                one.waiter.values = together(one.at.op, tests[one.at.op])
            one.waiter.after(0, COMPLETION)

    def refuse_waiting(self, program: str) -> None:
        """Report a warp that still waits at the end of a run: it waits forever."""
        blocks = [one for waiting in self.waiting for one in waiting]
        if not self.of_grid or not blocks:
            return
        first, other = min(self.of_grid, key=_number), min(blocks, key=_number)
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


def _number(arrival: Arrival) -> int:
    return arrival.warp
