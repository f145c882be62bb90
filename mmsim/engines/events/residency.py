"""The blocks that have begun, and their DMMs: each holds a number of threads (docs/machines.md)."""

from __future__ import annotations

from collections.abc import Iterator

from mmsim.model.threads import Grid


class Residency:
    """Lets the blocks begin, in order, as soon as earlier blocks leave room.

    >>> blocks = Residency(Grid(threads=48, block_size=8, width=8, dmms=2), 16)
    >>> list(blocks.first()), blocks.left
    ([0, 1, 2, 3], 2)
    >>> list(blocks.ended(1)), list(blocks.ended(3)), blocks.dmm
    ([4], [5], [0, 1, 0, 1, 1, 1])
    """

    def __init__(self, grid: Grid, resident: int | None) -> None:
        self.grid = grid
        self.room = [grid.threads if resident is None else resident] * grid.dmms_used
        self.dmm: list[int] = []
        """The DMM of each block that has begun."""

    @property
    def left(self) -> int:
        """The number of blocks that have not begun."""
        return self.grid.blocks - len(self.dmm)

    def first(self) -> Iterator[int]:
        """Begin blocks at time 0, in order: on the DMMs in turn."""
        while self.left and self._begins(len(self.dmm) % len(self.room)):
            yield len(self.dmm) - 1

    def ended(self, block: int) -> Iterator[int]:
        """Begin the blocks that fit when a block has ended: on its DMM."""
        self.room[self.dmm[block]] += self._threads(block)
        while self.left and self._begins(self.dmm[block]):
            yield len(self.dmm) - 1

    def _begins(self, dmm: int) -> bool:
        """Begin the next block on a DMM if there is room; return whether it began."""
        threads = self._threads(len(self.dmm))
        if threads > self.room[dmm]:
            return False
        self.room[dmm] -= threads
        self.dmm.append(dmm)
        return True

    def _threads(self, block: int) -> int:
        size = self.grid.block_size
        return min(size, self.grid.threads - block * size)
