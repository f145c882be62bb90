"""Finds deadlocks: memory doesn't change any more, and a warp goes on reading.

A write or an atomic that changes memory is *progress*. So is every access outside of `while` loops,
because a `for` loop ends. Within a `while` loop, a line makes progress by an access to elements
that it hasn't touched since memory changed last, as in the search for the end of a list. The reads
must be a wait (`Waits`): a loop that no other thread could end is an endless program.
"""

from __future__ import annotations

from typing import NamedTuple, TypeGuard

import numpy as np
import numpy.typing as npt

from mmsim.ir.needs import Waits
from mmsim.meaning.frame import Site
from mmsim.meaning.launch import Launch
from mmsim.meaning.memory_budget import Growth
from mmsim.monitors.listener import Access, Listener

OF_A_CELL = 200  # bytes of a number in a set that grows


class Read(NamedTuple):
    """A request that reads: its first lane, and the requests without progress before it."""

    site: Site
    copy: int
    element: int
    thread: int
    block: int
    time: int
    number: int

    @property
    def access(self) -> tuple[Site, int, int, int]:
        """Its site, thread, block and time."""
        return self.site, self.thread, self.block, self.time


class DeadlockCheck(Listener):
    """Counts the requests without progress, and records the threads that have read since.

    `waiting` has the last read of each thread that waits, for each line of its waits, the
    latest last; `idle` is the last read that waits for nothing.
    """

    def __init__(self, launch: Launch) -> None:
        self.enough = launch.meaning.max_accesses // 4
        self.waits = launch.once("waits", lambda: Waits(launch.code))
        self.touched: set[int] = set()  # accesses and elements since memory changed last
        self.growth = Growth(launch, "the list of those that wait for a change")
        self.taken: dict[tuple[str, int, int], Read] = {}  # elements that an atomic waits for
        self.lock_step, self.warp = launch.schedule == "synchronous", launch.grid.warp
        self.requests = 0
        self.waiting: dict[tuple[int, int], Read] = {}  # by thread and site
        self.idle: Read | None = None

    def accessed(self, access: Access) -> None:
        if self._progress(access):
            self.requests, self.idle = 0, None
            self.waiting.clear()
            return
        self.requests += 1
        if access.writes:
            return
        read = self._read(access, 0)
        if not self.waits.is_wait[access.site.number]:
            self.idle = read
            return
        self.waiting.pop((read.thread, read.site.number), None)
        self.waiting[read.thread, read.site.number] = read

    def _taken(self, access: Access, lanes: npt.NDArray[np.int64]) -> None:
        """Record the thread that changed an element for which others wait by the same atomic."""
        for lane in reversed(lanes.tolist()):  # the first lane won it
            copy, element = access.of_lane(access.copies, lane), int(access.elements[lane])
            self.taken[access.site.array, copy, element] = self._read(access, lane)
        self.growth.need(OF_A_CELL * len(self.taken), OF_A_CELL * len(self.taken))

    def _read(self, access: Access, lane: int) -> Read:
        """One lane of a request."""
        return Read(
            access.site,
            copy=access.of_lane(access.copies, lane),
            element=int(access.elements[lane]),
            thread=int(access.threads[lane]),
            block=access.of_lane(access.blocks, lane),
            time=access.of_lane(access.times, lane),
            number=self.requests,
        )

    def holder(self, one: Read) -> Read | None:
        """The holder of the lock that a thread waits for, if their warp can't go on without it.

        The lanes of a warp leave a loop together, under the synchronous schedule those of all
        warps.
        """
        holder = self.taken.get((one.site.array, one.copy, one.element))
        if holder is None or self.lock_step:
            return holder
        return holder if self.warp[holder.thread] == self.warp[one.thread] else None

    def _progress(self, access: Access) -> bool:
        """Return whether this request changed anything."""
        site = access.site
        if site.kind != "read":
            changed = np.flatnonzero(access.changes)
            if len(changed):
                self.touched.clear()
                if self.waits.is_wait[site.number]:
                    self._taken(access, changed)
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
        """Return whether no progress has been made for too long, and a thread reads."""
        return self.requests >= self.enough and bool(self.readers())

    def readers(self) -> list[Read]:
        """The threads that wait, the latest first."""
        return [one for one in reversed(self.waiting.values()) if self._reads_on(one)]

    def idler(self) -> Read | None:
        """A thread that reads but waits for nothing; None if there was progress, or none reads."""
        return self.idle if self.requests >= self.enough and self._reads_on(self.idle) else None

    def _reads_on(self, one: Read | None) -> TypeGuard[Read]:
        return one is not None and self.requests - one.number < self.enough // 2
