"""Finds a deadlock where a program does not merely go on: nothing changes, and a warp reads on.

A write that changes memory is *progress*; so is every access outside of `while` loops, for a `for`
loop comes to its end, and within one that of a line to elements that it hasn't touched since memory
changed last, as in the search for the end of a list. What reads on must wait (`Waits`): a loop that
no other thread could end is a program without an end.
"""

from __future__ import annotations

from typing import NamedTuple, TypeGuard

import numpy as np

from mmsim.ir.waits import Waits
from mmsim.meaning.frame import Site
from mmsim.meaning.launch import Launch
from mmsim.meaning.memory_budget import Growth
from mmsim.monitors.lines import bits_of
from mmsim.monitors.listener import Access, Listener
from mmsim.monitors.winners import OF_A_CELL


class Read(NamedTuple):
    """A request that reads: its first lane, and how many before it were no progress either."""

    site: Site
    copy: int
    element: int
    thread: int
    block: int
    time: int
    number: int


class DeadlockCheck(Listener):
    """Notes for how many requests there was no progress, and the last that read since.

    `last` is the last that waits, `other` the last one of another thread than that; `idle` is the
    last that waits for nothing.
    """

    def __init__(self, launch: Launch) -> None:
        self.enough = launch.meaning.max_accesses // 4
        self.waits = launch.program.kept("waits", lambda: Waits(launch.program.code))
        self.touched: set[int] = set()  # what went to which elements since memory changed last
        self.growth = Growth(launch, "the list of those that wait for a change")
        self.requests = 0
        self.last: Read | None = None
        self.other: Read | None = None
        self.idle: Read | None = None

    def accessed(self, access: Access) -> None:
        if self._progress(access):
            self.requests, self.last, self.other, self.idle = 0, None, None, None
            return
        self.requests += 1
        if access.writes:
            return
        read = Read(
            access.site,
            copy=access.of_lane(access.copies, 0),
            element=int(access.elements[0]),
            thread=int(access.threads[0]),
            block=access.of_lane(access.blocks, 0),
            time=access.of_lane(access.times, 0),
            number=self.requests,
        )
        if not self.waits.is_wait[access.site.number]:
            self.idle = read
            return
        if self.last is not None and self.last.thread != read.thread:
            self.other = self.last
        self.last = read

    def _progress(self, access: Access) -> bool:
        """Whether anything is otherwise after this request."""
        site, array = access.site, access.array
        if access.writes:
            assert access.values is not None
            old = array.read(access.elements, access.blocks)
            new = access.values.astype(array.dtype, copy=False)
            if not np.array_equal(bits_of(old), bits_of(new)):
                self.touched.clear()
                return True
        if self.waits.loop[site.number] is None:
            return True
        request = hash((site.number, access.threads.tobytes(), access.elements.tobytes()))
        known = request in self.touched
        self.touched.add(request)
        self.growth.need(OF_A_CELL * len(self.touched), OF_A_CELL * len(self.touched))
        return not known

    @property
    def reached(self) -> bool:
        """Whether there was no progress for so long that none will be, and somebody reads on."""
        return self.requests >= self.enough and bool(self.readers())

    def readers(self) -> list[Read]:
        """Who waits: the last, and another one if it does so too."""
        return [one for one in (self.last, self.other) if self._reads_on(one)]

    def idler(self) -> Read | None:
        """Who reads on and waits for nothing; None if there was progress, or no thread reads."""
        return self.idle if self.requests >= self.enough and self._reads_on(self.idle) else None

    def _reads_on(self, one: Read | None) -> TypeGuard[Read]:
        return one is not None and self.requests - one.number < self.enough // 2
