"""Finds reads of uninitialized memory.

An `mm.shared` array is zero at first on the simulator, and has any contents on a GPU. The
parameters come from the caller and are initialized, except those named as `unset`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
import numpy.typing as npt

from mmsim.meaning.launch import Launch
from mmsim.monitors.lines import Lines, element_finding, found_access
from mmsim.monitors.listener import Access, Listener
from mmsim.results.findings import Finding


class UnwrittenReads(Listener):
    """Records what has been written, and the first read of anything else, line by line."""

    def __init__(self, launch: Launch, lines: Lines, unset: Collection[str] = ()) -> None:
        self.lines = lines
        self.arrays = {
            name: array for name, array in launch.arrays.items() if array.shared or name in unset
        }
        self.forget()

    def forget(self) -> None:
        self.written = {
            name: np.zeros((len(array.bases), array.size), dtype=bool)
            for name, array in self.arrays.items()
        }
        self.read: dict[int, npt.NDArray[np.bool_]] = {}  # by line, the elements found
        self.first: dict[int, tuple[int, ...]] = {}  # and the first: cell, thread, block, time

    def accessed(self, access: Access) -> None:
        written = self.written.get(access.site.array)
        if written is None:
            return
        elements, copies = access.elements, access.copies
        if access.writes:
            written[copies, elements] = True
            return
        self._read(access, written)
        if access.site.kind == "atomic":
            written[copies, elements] = True

    def _read(self, access: Access, written: npt.NDArray[np.bool_]) -> None:
        """Record the elements that are read before they have been written."""
        elements, copies, threads = access.elements, access.copies, access.threads
        unknown = np.flatnonzero(~written[copies, elements])
        if not len(unknown):
            return
        line = int(self.lines.of_site[access.site.number])
        cells = access.cells[unknown]
        self.read.setdefault(line, np.zeros(written.size, dtype=bool))[cells] = True
        at = np.lexsort((threads[unknown], cells))[0]
        lane = int(unknown[at])
        block, time = access.of_lane(access.blocks, lane), access.of_lane(access.times, lane)
        found = (int(cells[at]), int(threads[lane]), block, time)
        self.first[line] = min(self.first.get(line, found), found, key=lambda one: one[:2])

    def findings(self) -> Iterator[Finding]:
        """A finding for each line that read uninitialized memory, in the order of the text."""
        for line, (cell, thread, block, time) in sorted(self.first.items()):
            site = self.lines.sites[line]
            access = found_access(site.place, site.kind, thread, block, time)
            elements = int(np.count_nonzero(self.read[line]))
            array = self.arrays[site.array]
            yield element_finding("unwritten", array, cell, [access], elements=elements)
