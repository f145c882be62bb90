"""Which blocks have begun: a DMM holds so many threads at a time (docs/machines.md)."""

from __future__ import annotations

from collections.abc import Iterator

from mmsim.model.threads import Grid


class Residency:
    """Lets the blocks of each DMM begin, in order, as soon as those before leave room.

    >>> blocks = Residency(Grid(threads=40, block_size=8, width=8, dmms=2), 16)
    >>> list(blocks.first()), blocks.left
    ([0, 1, 2, 3], 1)
    >>> list(blocks.ended(1)), list(blocks.ended(0))
    ([], [4])
    """

    def __init__(self, grid: Grid, resident: int | None) -> None:
        self.grid = grid
        used = min(grid.dmms, grid.blocks)
        self.room = [grid.threads if resident is None else resident] * used
        self.next = list(range(used))
        self.left = grid.blocks

    def first(self) -> Iterator[int]:
        """The blocks that begin at time 0, in order."""
        yield from sorted(block for dmm in range(len(self.next)) for block in self._of(dmm))

    def ended(self, block: int) -> Iterator[int]:
        """The blocks that begin when a block has ended."""
        dmm = self.grid.dmm_of_block(block)
        self.room[dmm] += self._threads(block)
        yield from self._of(dmm)

    def _of(self, dmm: int) -> Iterator[int]:
        """The blocks for which a DMM has room now."""
        while (block := self.next[dmm]) < self.grid.blocks:
            threads = self._threads(block)
            if threads > self.room[dmm]:
                return
            self.room[dmm] -= threads
            self.next[dmm] += self.grid.dmms
            self.left -= 1
            yield block

    def _threads(self, block: int) -> int:
        size = self.grid.block_size
        return min(size, self.grid.threads - block * size)
