"""The schedulers of a card's multiprocessors, among which the warps of a launch are spread."""

from __future__ import annotations

import heapq

import numpy as np
import numpy.typing as npt

from mmsim.model.card import SCHEDULERS
from mmsim.model.threads import Grid

Numbers = npt.NDArray[np.float64]


class Schedulers:
    """The schedulers of all DMMs, and the places for warps of each.

    A DMM has room for `at_once` blocks. The first blocks go to the DMMs in turn; each further one
    takes the place of the block that ends first, if all go on equally. The warps of a DMM have its
    schedulers in turn. `work` is what each warp has to do.
    """

    def __init__(self, grid: Grid, at_once: int, work: Numbers) -> None:
        blocks, self.dmms = np.arange(grid.blocks), grid.dmms
        of_blocks = np.add.reduceat(work, np.arange(0, grid.warps, grid.warps_per_block))
        own, number = blocks % grid.dmms, blocks // grid.dmms
        there = grid.dmms * at_once
        if grid.blocks > there and of_blocks.min() < of_blocks.max():
            begun = of_blocks[:there], own[:there], number[:there]
            queue = [*zip(*(each.tolist() for each in begun), strict=True)]
            heapq.heapify(queue)
            for block, load in enumerate(of_blocks[there:].tolist(), there):
                end, dmm, place = queue[0]
                heapq.heapreplace(queue, (end + load, dmm, place))
                own[block], number[block] = dmm, place
        at_most = min(at_once, int(number.max()) + 1)
        self.room = -(-at_most * grid.warps_per_block // SCHEDULERS) * SCHEDULERS
        first = own * self.room + number % at_most * grid.warps_per_block
        places = first[:, None] + np.arange(grid.warps_per_block)
        self.places = places.ravel()[: grid.warps]

    def spread(self, of_warps: Numbers) -> Numbers:
        """The sums of numbers of warps: of each DMM, of each place, of each scheduler."""
        found = np.bincount(self.places, of_warps, self.dmms * self.room).astype(np.float64)
        return found.reshape(self.dmms, -1, SCHEDULERS)

    def busiest(self, of_warps: Numbers) -> float:
        """The largest sum of numbers of warps that a scheduler has."""
        return float(self.spread(of_warps).sum(axis=1).max())

    def longest(self, alone: Numbers, issued: Numbers) -> float:
        """The time until the last scheduler has issued all of its warps' operations.

        By itself a warp takes the time `alone`, in which its scheduler issues for `issued`. Several
        warps go on equally, as fast as alone unless their scheduler has to issue more than it can.
        """
        lasts, shares = self.spread(alone), self.spread(issued)
        shares = np.divide(shares, lasts, out=np.zeros_like(shares), where=lasts > 0)
        order = np.argsort(lasts, axis=1)
        lasts = np.take_along_axis(lasts, order, 1)
        left = np.take_along_axis(shares, order, 1)[:, ::-1].cumsum(axis=1)[:, ::-1]
        steps = np.diff(lasts, axis=1, prepend=0)
        return float((steps * np.maximum(left, 1)).sum(axis=1).max())
