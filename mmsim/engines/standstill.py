"""Tells a deadlock from a program that merely goes on: nothing changes, and a warp reads on.

A write that changes memory is *progress*; so is every access outside of `while` loops, for a `for`
loop comes to its end, and within one that of a line to elements that it hasn't touched since memory
changed last, as in the search for the end of a list.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mmsim.engines.lines import bits_of
from mmsim.language import ir
from mmsim.language.frame import Site
from mmsim.language.walk import accesses, statements
from mmsim.launch import Launch

Integers = npt.NDArray[Any]


class Read(NamedTuple):
    """A request that reads: its first lane, and how many before it were no progress either."""

    site: Site
    copy: int
    element: int
    thread: int
    block: int
    time: int
    number: int


class Standstill:
    """Notes for how many requests there was no progress, and the last that read since.

    `other` is the last one by another thread than `last`.
    """

    def __init__(self, launch: Launch) -> None:
        self.arrays = launch.arrays
        self.enough = launch.meaning.max_accesses // 4
        body = launch.program.code.body
        waits = {
            id(access)
            for loop in statements(body)
            if isinstance(loop, ir.While)
            for access in accesses((loop,))
        }
        self.in_while = [id(access) in waits for access in accesses(body)]  # by number of the site
        self.touched: set[int] = set()  # what went to which elements since memory changed last
        self.requests = 0
        self.last: Read | None = None
        self.other: Read | None = None

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
        """One memory instruction, before it takes effect."""
        if self._progress(site, elements, threads, blocks, values):
            self.requests, self.last, self.other = 0, None, None
            return
        self.requests += 1
        if values is None:
            copy, block, time = (
                int(one[0]) if isinstance(one, np.ndarray) else one
                for one in (copies, blocks, times)
            )
            thread = int(threads[0])
            if self.last is not None and self.last.thread != thread:
                self.other = self.last
            self.last = Read(site, copy, int(elements[0]), thread, block, time, self.requests)

    def _progress(
        self,
        site: Site,
        elements: Integers,
        threads: Integers,
        blocks: Integers | int,
        values: npt.NDArray[Any] | None,
    ) -> bool:
        """Whether anything is otherwise after this request."""
        if values is not None:
            array = self.arrays[site.array]
            old = array.read(elements, blocks)
            if not np.array_equal(bits_of(old), bits_of(values.astype(array.dtype, copy=False))):
                self.touched.clear()
                return True
        if not self.in_while[site.number]:
            return True
        request = hash((site.number, threads.tobytes(), elements.tobytes()))
        known = request in self.touched
        self.touched.add(request)
        return not known

    @property
    def reached(self) -> bool:
        """Whether there was no progress for so long that none will be, and somebody reads on."""
        return self.requests >= self.enough and bool(self.readers())

    def readers(self) -> list[Read]:
        """Who reads on: the last, and another one if it does so too."""
        both = [one for one in (self.last, self.other) if one is not None]
        return [one for one in both if self.requests - one.number < self.enough // 2]
