"""The two lanes that touched each element of an array last, in one kind of access."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
NO_THREAD = -1
OF_A_CELL = 32  # bytes of two threads and two requests


class LatestLanes:
    """The lowest and the highest thread of the latest request that touched each element.

    If this is one thread, the second is the latest other thread of an earlier request. With
    `alone`, a request replaces all earlier ones.
    """

    def __init__(self, cells: int, *, alone: bool) -> None:
        self.alone = alone
        self.thread = np.full((2, cells), NO_THREAD, np.int64)
        self.request = np.zeros((2, cells), np.int64)

    def note(self, cells: Integers, threads: Integers, requests: Integers) -> None:
        """Note requests, of lanes in ascending order."""
        if not self.alone:
            thread, number = self.thread[:, cells], self.request[:, cells]
        self.thread[0, cells[::-1]] = threads[::-1]  # the last of equal indices stays
        self.request[0, cells[::-1]] = requests[::-1]
        self.thread[1, cells] = threads
        self.request[1, cells] = requests
        if self.alone:
            return
        single = np.flatnonzero(self.thread[0, cells] == self.thread[1, cells])
        older = (thread[0, single] == threads[single]).astype(np.intp)
        self.thread[1, cells[single]] = thread[older, single]
        self.request[1, cells[single]] = number[older, single]

    def of(self, cells: Integers) -> Iterator[tuple[Integers, Integers]]:
        """The threads that touched the elements, `NO_THREAD` without one, and their requests."""
        yield from zip(self.thread[:, cells], self.request[:, cells], strict=True)
