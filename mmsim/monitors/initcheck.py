"""Finds reads of uninitialized memory.

An `mm.shared` array is zero at first on the simulator, and has any contents on a GPU. The
parameters come from the caller and are initialized, except those named as `unset`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from mmsim.meaning.launch import Launch
from mmsim.monitors.lines import Concerned, Lines, access_of, element_finding
from mmsim.monitors.listener import Access, Listener
from mmsim.results.findings import Finding


class UnwrittenReads(Listener):
    """Records what has been written, and the first read of anything else, line by line."""

    def __init__(self, launch: Launch, lines: Lines, unset: Collection[str] = ()) -> None:
        self.lines = lines
        shared = {one.name for one in launch.code.locals if one.kind == "shared"}
        self.arrays = {
            name: array for name, array in launch.arrays.items() if name in shared or name in unset
        }
        self.forget()

    def forget(self) -> None:
        self.written = {
            name: np.zeros((len(array.bases), array.size), dtype=bool)
            for name, array in self.arrays.items()
        }
        self.read = Concerned()  # cell, thread, block, time

    def accessed(self, access: Access) -> None:
        written = self.written.get(access.site.array)
        if written is None:
            return
        elements, copies = access.elements, access.copies
        if access.writes or access.site.part:
            written[copies, elements] = True
            return
        unknown = np.flatnonzero(~written[copies, elements])
        if len(unknown):
            line = int(self.lines.of_site[access.site.number])
            columns = access.cells, access.threads, access.blocks, access.times
            self.read.note(line, access.array, *access.columns(unknown, *columns))
        if access.site.kind == "atomic":
            written[copies, elements] = True

    def findings(self) -> Iterator[Finding]:
        """A finding for each line that read uninitialized memory, in the order of the text."""
        for line, (cell, thread, block, time) in sorted(self.read.first.items()):
            site = self.lines.sites[line]
            array, elements = self.arrays[site.array], self.read.count(line)
            access = access_of(site, thread, block, time)
            yield element_finding("unwritten", array, cell, [access], elements=elements)
