"""Concurrent writes: where they store different values, and what another winner would leave.

Of several writes to one element in one request the lowest-numbered thread's stays
(docs/machines.md). A GPU promises only that one of them does.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from mmsim.engines.lines import Lines, bits_of, found_access, index_of, row_starts
from mmsim.language.frame import Site
from mmsim.launch import Launch
from mmsim.memory import ArrayInMemory
from mmsim.results.findings import Finding

Integers = npt.NDArray[Any]
Other = Literal["lowest", "highest"]  # which thread with another value


class Collisions:
    """Notes the first concurrent writes of different values of each line."""

    def __init__(self, launch: Launch, lines: Lines) -> None:
        self.arrays, self.lines = launch.arrays, lines
        self.first: dict[int, tuple[int, ...]] = {}  # cell, winner, loser, block, time
        self.cells: dict[int, set[int]] = {}

    def access(
        self,
        site: Site,
        copies: Integers | int,
        elements: Integers,
        threads: Integers,
        warps: Integers | int,
        blocks: Integers | int,
        values: npt.NDArray[Any] | None,
        times: Integers | int,
    ) -> None:
        """One memory instruction."""
        if values is None:
            return
        lanes = len(elements)
        array = self.arrays[site.array]
        cells = np.broadcast_to(copies, lanes) * array.size + elements
        warps = np.broadcast_to(warps, lanes)
        bits = bits_of(values.astype(array.dtype, copy=False))
        order = np.lexsort((threads, cells, warps))  # the winner first
        firsts = row_starts(warps[order], cells[order])
        winners = order[np.repeat(firsts, np.diff(firsts, append=lanes))]
        losing = np.flatnonzero(bits[order] != bits[winners])
        if not len(losing):
            return
        line = int(self.lines.of_site[site.number])
        self.cells.setdefault(line, set()).update(cells[order[losing]].tolist())
        at = losing[np.lexsort((threads[order[losing]], cells[order[losing]]))[0]]
        loser, winner = order[at], winners[at]
        block, time = (int(np.broadcast_to(one, lanes)[loser]) for one in (blocks, times))
        found = (int(cells[loser]), int(threads[winner]), int(threads[loser]), block, time)
        self.first[line] = min(self.first.get(line, found), found, key=lambda one: one[:3])

    def finding(self, line: int, note: str) -> Finding:
        """That the results depend on the winner in a line."""
        site = self.lines.sites[line]
        cell, winner, loser, block, time = self.first[line]
        array = self.arrays[site.array]
        copy, element = divmod(cell, array.size)
        return Finding(
            "winner",
            array.name,
            index_of(array, element),
            copy if array.shared else None,
            tuple(found_access(site.place, "write", one, block, time) for one in (winner, loser)),
            elements=len(self.cells[line]),
            note=note,
        )


def write_otherwise(
    array: ArrayInMemory,
    elements: Integers,
    blocks: Integers | int,
    values: npt.NDArray[Any],
    warps: Integers | int,
    other: Other,
) -> None:
    """`ArrayInMemory.write`, but of concurrent writes of different values another one stays.

    It is that of the lowest- or the highest-numbered thread whose value differs from the rule's.
    """
    of_lane = np.broadcast_to(warps, len(elements))
    for warp in np.unique(of_lane):
        own = of_lane == warp
        mine = blocks[own] if isinstance(blocks, np.ndarray) else blocks
        array.write(elements[own], mine, values[own])
        kept = bits_of(array.read(elements[own], mine))
        losing = np.flatnonzero(bits_of(values[own].astype(array.dtype, copy=False)) != kept)
        if other == "highest":
            losing = losing[::-1]  # the first of them stays
        if len(losing):
            theirs = mine[losing] if isinstance(mine, np.ndarray) else mine
            array.write(elements[own][losing], theirs, values[own][losing])
