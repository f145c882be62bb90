"""Concurrent writes of different values, and the result with another winner.

If several writes of one request go to one element, the lowest-numbered thread's value stays
(docs/machines.md). A GPU promises only that one of them stays.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from mmsim.meaning.launch import Launch
from mmsim.meaning.memory_budget import Growth
from mmsim.model.memory import ArrayInMemory
from mmsim.monitors.lines import (
    Concerned,
    Integers,
    Lines,
    access_of,
    element_finding,
    row_starts,
)
from mmsim.monitors.listener import Access, Listener, bits_of
from mmsim.results.findings import Finding

Other = Literal["lowest", "highest"]  # which thread with another value


class ConcurrentWrites(Listener):
    """Records the first concurrent writes of different values of each line."""

    def __init__(self, launch: Launch, lines: Lines) -> None:
        self.arrays, self.lines = launch.arrays, lines
        self.found = Concerned()  # cell, winner, loser, block, time
        self.growth = Growth(launch, "the list of elements that several threads write")

    def accessed(self, access: Access) -> None:
        if not access.writes:
            return
        threads, cells, lanes = access.threads, access.cells, len(access.elements)
        warps = np.broadcast_to(access.warps, lanes)
        bits = access.bits
        order = np.lexsort((threads, cells, warps))  # the winner first
        firsts = row_starts(warps[order], cells[order])
        winners = order[np.repeat(firsts, np.diff(firsts, append=lanes))]
        losing = np.flatnonzero(bits[order] != bits[winners])
        if not len(losing):
            return
        line, losers = int(self.lines.of_site[access.site.number]), order[losing]
        columns = access.columns(losers, threads, access.blocks, access.times)
        self.found.note(line, access.array, cells[losers], threads[winners[losing]], *columns)
        self.growth.need(self.found.bytes_taken, self.found.bytes_taken)

    def finding(self, line: int, note: str) -> Finding:
        """A finding that the results depend on the winner in a line."""
        site = self.lines.sites[line]
        cell, winner, loser, block, time = self.found.first[line]
        array, elements = self.arrays[site.array], self.found.count(line)
        writes = (access_of(site, one, block, time) for one in (winner, loser))
        return element_finding("winner", array, cell, writes, elements=elements, note=note)


def write_otherwise(
    array: ArrayInMemory,
    elements: Integers,
    blocks: Integers | int,
    values: npt.NDArray[Any],
    warps: Integers | int,
    other: Other,
) -> None:
    """`ArrayInMemory.write`, but another one of concurrent writes of different values stays.

    It is that of the lowest- or the highest-numbered thread with another value than the rule's.
    """
    of_lane = np.broadcast_to(warps, len(elements))
    for warp in np.unique(of_lane):
        own = of_lane == warp
        mine = int(blocks[own][0]) if isinstance(blocks, np.ndarray) else blocks
        array.write(elements[own], mine, values[own])
        kept = bits_of(array.read(elements[own], mine))
        losing = np.flatnonzero(bits_of(values[own].astype(array.dtype, copy=False)) != kept)
        if other == "highest":
            losing = losing[::-1]  # the first of them stays
        if len(losing):
            array.write(elements[own][losing], mine, values[own][losing])
