"""Finds mistakes with memory that kernels allocate by `malloc`, which only PTX has.

An access of the heap is one of an allocation: of its bytes, before `free`. A read of a word that
nothing has written since `malloc` is one of uninitialized memory. The words in front of each
allocation (`mmsim.frontend.ptx.heap`) also show those of earlier launches, whose words count as
written.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from mmsim.frontend.ptx.heap import FREED, HALF, HEADER, HEAP, LIVE, SIZE_BITS
from mmsim.frontend.ptx.space import beside
from mmsim.ir.dtypes import Integers
from mmsim.meaning.launch import Launch
from mmsim.monitors.lines import Lines, access_of, element_finding, found_access
from mmsim.monitors.listener import Access, Listener
from mmsim.results.findings import Action, Finding, FindingKind, FoundAccess

WORD = 8
"""The bytes of each of the two words in front of an allocation."""
Key = tuple[FindingKind, int, int]
"""The kind of a mistake, the line of the access, and the line that allocated."""


@dataclass
class Allocation:
    """Bytes of the heap: where they begin, their number, and the line that allocated them.

    `freed` is the line that freed them, 0 without one. `given` and `freeing` are the actions of
    threads of this launch. `written` marks the elements that are initialized; None for all.
    """

    address: int
    size: int
    line: int
    freed: int = 0
    given: FoundAccess | None = None
    freeing: FoundAccess | None = None
    written: npt.NDArray[np.bool_] | None = None

    def __str__(self) -> str:
        earlier = "" if self.given else " in an earlier launch"
        text = f"{self.size} bytes, allocated in line {self.line}{earlier}"
        return f"{text}, freed in line {self.freed}" if self.freed else text


class HeapCheck(Listener):
    """Follows the allocations of a run, and notes the first mistake of each line with them."""

    def __init__(self, launch: Launch, lines: Lines) -> None:
        self.lines = lines
        self.array = launch.arrays[HEAP]
        self.bytes = self.array.dtype.itemsize
        sites = launch.meaning.sites
        of_parts = any(one.array == HEAP and one.kind == "atomic" for one in sites)
        self.least = 1 if of_parts else self.bytes
        """The bytes of an access, of which atomics may take more."""
        self.before = self.array.contents().copy()
        self.forget()

    def forget(self) -> None:
        self.allocations: list[Allocation] = []
        self.addresses: list[int] = []
        self.table: Integers | None = None
        self.found: dict[Key, tuple[tuple[int, int], Finding]] = {}
        self.counts: dict[Key, int] = {}
        words = self.before.reshape(-1).view(np.uint8)
        words = words[: len(words) // WORD * WORD].view(np.uint64)
        at = 0
        while at + 1 < len(words):
            size, state = divide(int(words[at])), int(words[at + 1])
            freed = state >> 32 if state & HALF == FREED else 0
            if state != LIVE and not freed:
                break
            self._add(Allocation(at * WORD + HEADER, size[1], size[0], freed))
            at += 2 + -(-size[1] // HEADER) * HEADER // WORD

    def _add(self, new: Allocation) -> None:
        """Add an allocation, in the place of earlier ones of a heap that began anew."""
        self.table = None
        end = new.address + new.size
        first = bisect_left(self.addresses, new.address)
        last = bisect_left(self.addresses, max(end, new.address + 1))
        self.allocations[first:last] = [new]
        self.addresses[first:last] = [new.address]

    def accessed(self, access: Access) -> None:
        if access.array is not self.array:
            return
        match access.site.heap:
            case "allocates":
                self._allocate(access)
            case "frees":
                self._free(access)
            case "other" if access.site.kind == "read":  # by `free`, which looks whether it may
                self._use(access, is_free=True)
            case "":
                self._use(access)

    def _actions(self, access: Access, does: Action) -> Iterator[tuple[int, int, FoundAccess]]:
        """The place, the word and the action of each lane that writes in front of an allocation."""
        assert access.values is not None
        pieces = access.site.vector
        values = np.ascontiguousarray(access.values.astype(self.array.dtype, copy=False))
        words = values.view(np.uint64).tolist()
        elements = access.elements[::pieces] * self.bytes
        columns = access.threads, access.blocks, access.times
        every = np.arange(0, len(access.elements), pieces)
        for at, word, thread, block, time in zip(
            elements.tolist(), words, *access.columns(every, *columns), strict=True
        ):
            place = access.site.place
            yield at, word, found_access(place, does, int(thread), int(block), int(time))

    def _allocate(self, access: Access) -> None:
        for at, word, action in self._actions(access, "allocates"):
            line, size = divide(word)
            unset = np.zeros(-(-size // self.bytes), bool)
            self._add(Allocation(at + HEADER, size, line, given=action, written=unset))

    def _free(self, access: Access) -> None:
        for at, word, action in self._actions(access, "frees"):
            found = self._at(at + WORD)
            if found is not None:
                found.freed, found.freeing = word >> 32, action

    def _at(self, offset: int) -> Allocation | None:
        """The allocation to which a byte of the heap belongs, or the words in front of it."""
        place = bisect_right(self.addresses, offset + HEADER)
        return self.allocations[place - 1] if place else None

    def _use(self, access: Access, is_free: bool = False) -> None:
        """Note the mistakes of an access of the program, or of `free`."""
        if self.table is None:
            self.table = np.array(self.addresses, np.int64) - HEADER
        offsets = access.elements * self.bytes
        places = np.searchsorted(self.table, offsets, "right") - 1
        for place in np.unique(places[places >= 0]).tolist():
            own = self.allocations[place]
            lanes = np.flatnonzero(places == place)
            inside = offsets[lanes] - own.address
            if own.freed:
                self._note("freed", access, lanes, own)
            elif not is_free:
                wrong = (inside < 0) | (inside + self.least > own.size)
                self._note("out-of-range", access, lanes[wrong], own)
                self._touch(access, lanes[~wrong], inside[~wrong] // self.bytes, own)

    def _touch(self, access: Access, lanes: Integers, elements: Integers, own: Allocation) -> None:
        """Note what is read before it is written, and what is written."""
        if own.written is None:
            return
        if access.site.kind != "write" and not access.site.part:
            self._note("unwritten", access, lanes[~own.written[elements]], own)
        if access.site.kind != "read":
            own.written[elements] = True

    def _note(self, kind: FindingKind, access: Access, lanes: Integers, own: Allocation) -> None:
        """Note a mistake of some lanes of an access."""
        if not len(lanes):
            return
        line = int(self.lines.of_site[access.site.number])
        key = kind, line, own.line
        self.counts[key] = self.counts.get(key, 0) + len(lanes)
        columns = access.elements, access.threads, access.blocks, access.times
        element, thread, block, time = min(
            zip(*(one.tolist() for one in access.columns(lanes, *columns)), strict=True)
        )
        if key in self.found and self.found[key][0] <= (element, thread):
            return
        other = own.freeing if kind == "freed" else own.given
        accesses = (access_of(access.site, thread, block, time), *([other] if other else []))
        note = beside(element * self.bytes, own, f"an allocation of {own}")
        finding = element_finding(kind, self.array, element, accesses, note=note)
        self.found[key] = (element, thread), finding

    def findings(self) -> Iterator[Finding]:
        """A finding for each kind of mistake, line and line that allocated."""
        for key, (_, finding) in sorted(self.found.items()):
            yield replace(finding, elements=self.counts[key])


def divide(word: int) -> tuple[int, int]:
    """The line and the size that the first word in front of an allocation has.

    >>> divide(7 << 40 | 16)
    (7, 16)
    """
    return word >> SIZE_BITS, word & ((1 << SIZE_BITS) - 1)
