"""Threads, blocks and warps of one launch (docs/machines.md, *Threads, warps, blocks*).

Thread ids are 0..p-1. A block is `block_size` consecutive threads, the last one may be smaller. A
warp is w consecutive threads of one block, the last one of a block may be partly filled. Warps are
numbered over all blocks in order. Block b lives on DMM b mod d.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from mmsim.errors import LaunchError, RoomError, shown
from mmsim.host.arguments import whole

Integers = npt.NDArray[np.int64]
MOST = 2**59
"""Threads from which on their numbers can't be counted in bytes."""


@dataclass(frozen=True)
class Grid:
    """How `threads` threads are cut into blocks and warps of `width`, on `dmms` DMMs.

    >>> grid = Grid(threads=10, block_size=6, width=4, dmms=2)
    >>> grid.blocks, grid.warps, grid.warp_threads(1), grid.dmm_of_warp(2)
    (2, 3, range(4, 6), 1)
    """

    threads: int
    block_size: int
    width: int
    dmms: int = 1

    @cached_property
    def blocks(self) -> int:
        """Number of blocks."""
        return -(-self.threads // self.block_size)

    @cached_property
    def warps_per_block(self) -> int:
        """Warps of a full block."""
        return -(-self.block_size // self.width)

    @cached_property
    def warps(self) -> int:
        """Number of warps of the launch."""
        full, rest = divmod(self.threads, self.block_size)
        return full * self.warps_per_block + -(-rest // self.width)

    def block_of_warp(self, warp: int) -> int:
        """The block that a warp belongs to."""
        return warp // self.warps_per_block

    def dmm_of_block(self, block: int) -> int:
        """The DMM that a block lives on."""
        return block % self.dmms

    def dmm_of_warp(self, warp: int) -> int:
        """The DMM that a warp lives on."""
        return self.dmm_of_block(self.block_of_warp(warp))

    def warp_threads(self, warp: int) -> range:
        """The thread ids of a warp."""
        block, position = divmod(warp, self.warps_per_block)
        start = block * self.block_size + position * self.width
        end = min((block + 1) * self.block_size, start + self.width, self.threads)
        return range(start, end)

    @cached_property
    def warp_ends(self) -> Integers:
        """Where warps begin and end: warp x has the threads from number x on, before x + 1.

        >>> Grid(threads=10, block_size=6, width=4).warp_ends.tolist()
        [0, 4, 6, 10]
        """
        block, position = np.divmod(np.arange(self.warps), self.warps_per_block)
        return np.append(block * self.block_size + position * self.width, self.threads)

    def unused(self) -> Grid:
        """The same grid, without the numbers of every thread that have been asked for."""
        return Grid(self.threads, self.block_size, self.width, self.dmms)

    @cached_property
    def id(self) -> Integers:
        """The id of every thread."""
        return np.arange(self.threads, dtype=np.int64)

    @cached_property
    def block(self) -> Integers:
        """The block of every thread."""
        return np.arange(self.threads, dtype=np.int64) // self.block_size

    @cached_property
    def index(self) -> Integers:
        """The index of every thread in its block."""
        return np.arange(self.threads, dtype=np.int64) % self.block_size

    @cached_property
    def warp(self) -> Integers:
        """The warp of every thread."""
        return self.block * self.warps_per_block + self.index // self.width

    @cached_property
    def lane(self) -> Integers:
        """The lane of every thread: its place in its warp."""
        return self.index % self.width


def make_grid(threads: int, block_size: int | None, width: int, dmms: int) -> Grid:
    """The `Grid` of a launch, or a `LaunchError` that says which number can't be.

    Without a `block_size` all threads are one block.
    """
    whole("threads", threads)
    if threads >= MOST:
        raise RoomError(f"threads={shown(threads)} are more threads than any memory holds")
    if block_size is None:
        block_size = threads
    whole("block_size", block_size)
    if block_size > threads:
        raise LaunchError(
            f"block_size={shown(block_size)} is larger than threads={threads}; "
            f"give a block_size of at most {threads}, or none for one block"
        )
    return Grid(int(threads), int(block_size), width, dmms)
