"""Finds reads of memory that nobody has written.

What an `mm.shared` array holds at first is zero on the simulator and anything on a GPU. The
parameters come from the caller and are written, except those named as `unset`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.engines.lines import Lines, found_access, index_of
from mmsim.language.frame import Site
from mmsim.launch import Launch
from mmsim.results.findings import Finding

Integers = npt.NDArray[Any]


class UnwrittenReads:
    """Notes what has been written, and the first of the reads of everything else, line by line."""

    def __init__(self, launch: Launch, lines: Lines, unset: Collection[str] = ()) -> None:
        self.lines = lines
        self.arrays = {
            name: array for name, array in launch.arrays.items() if array.shared or name in unset
        }
        self.forget()

    def forget(self) -> None:
        """Forget all accesses: the run begins anew."""
        self.written = {
            name: np.zeros((len(array.bases), array.size), dtype=bool)
            for name, array in self.arrays.items()
        }
        self.read: dict[int, npt.NDArray[np.bool_]] = {}  # by line, the elements found
        self.first: dict[int, tuple[int, ...]] = {}  # and the first: cell, thread, block, time

    def access(
        self,
        site: Site,
        copies: Integers | int,
        elements: Integers,
        threads: Integers,
        blocks: Integers | int,
        values: npt.NDArray[Any] | None,
        times: Integers | int,
    ) -> None:
        """One memory instruction, in the order in which memory takes effect."""
        written = self.written.get(site.array)
        if written is None:
            return
        if values is not None:
            written[copies, elements] = True
            return
        unknown = np.flatnonzero(~written[copies, elements])
        if not len(unknown):
            return
        line = int(self.lines.of_site[site.number])
        cells = np.broadcast_to(copies, len(elements))[unknown] * written.shape[1]
        cells = cells + elements[unknown]
        self.read.setdefault(line, np.zeros(written.size, dtype=bool))[cells] = True
        at = np.lexsort((threads[unknown], cells))[0]
        lane = unknown[at]
        block, time = (int(np.broadcast_to(one, len(elements))[lane]) for one in (blocks, times))
        found = (int(cells[at]), int(threads[lane]), block, time)
        self.first[line] = min(self.first.get(line, found), found, key=lambda one: one[:2])

    def findings(self) -> Iterator[Finding]:
        """A finding for each line that read what nobody has written, in the order of the text."""
        for line, (cell, thread, block, time) in sorted(self.first.items()):
            site = self.lines.sites[line]
            array = self.arrays[site.array]
            copy, element = divmod(cell, array.size)
            yield Finding(
                "unwritten",
                array.name,
                index_of(array, element),
                copy if array.shared else None,
                (found_access(site.place, "read", thread, block, time),),
                elements=int(np.count_nonzero(self.read[line])),
            )
