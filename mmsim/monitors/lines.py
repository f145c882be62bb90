"""The lines of a program that access memory, and the names of a check's findings there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.errors import Place
from mmsim.meaning.frame import Site
from mmsim.meaning.launch import Launch
from mmsim.model.memory import ArrayInMemory
from mmsim.results.findings import Action, Finding, FindingKind, FoundAccess

Integers = npt.NDArray[Any]


class Lines:
    """Accesses of one kind to one array in one source line count as one line.

    `sites` are the first access of each line, `of_site` the line of each access of the text.
    """

    def __init__(self, launch: Launch) -> None:
        sites = launch.meaning.sites
        numbers: dict[tuple[Any, ...], int] = {}
        self.sites: list[Site] = []
        self.of_site = np.zeros(len(sites), dtype=np.int32)
        for site in sites:
            place = site.place
            key = (place.file, place.line, place.function, site.array, site.kind)
            if key not in numbers:
                numbers[key] = len(self.sites)
                self.sites.append(site)
            self.of_site[site.number] = numbers[key]


def found_access(
    place: Place, kind: Action, thread: int, block: int, time: int | None = None
) -> FoundAccess:
    """The work of a thread at a place of the text; a `time` below 0 isn't known."""
    known = time if time is not None and time >= 0 else None
    return FoundAccess(thread, block, kind, place.function, place.file, place.line, known)


def access_of(site: Site, thread: int, block: int, time: int) -> FoundAccess:
    """An access of a thread at a site of the text."""
    return found_access(site.place, site.kind, thread, block, time)


def element_finding(
    kind: FindingKind,
    array: ArrayInMemory,
    cell: int,
    accesses: Iterable[FoundAccess],
    **more: Any,
) -> Finding:
    """A finding for an element; `cell` is its number, counted over all copies of the array."""
    copy, element = divmod(cell, array.size)
    of_block = copy if array.shared else None
    return Finding(kind, array.name, index_of(array, element), of_block, tuple(accesses), **more)


def index_of(array: ArrayInMemory, element: int) -> tuple[int, ...]:
    """The logical index of an element."""
    return tuple(map(int, np.unravel_index(element, array.shape)))


class Concerned:
    """The elements that a line, or a pair of lines, concerns, and the first of them, by line.

    `first` has its cell, two numbers by which elements are in order, and further numbers.
    """

    def __init__(self) -> None:
        self.first: dict[Any, tuple[int, ...]] = {}
        self.cells: dict[Any, npt.NDArray[np.bool_]] = {}

    def note(self, line: Any, array: ArrayInMemory, cells: Integers, *numbers: Integers) -> None:
        """Note elements of an array, with the numbers of each."""
        if line not in self.cells:
            self.cells[line] = np.zeros(array.size * len(array.bases), bool)
        self.cells[line][cells] = True
        columns = cells, *numbers
        at = np.lexsort(columns[2::-1])[0]
        found = tuple(int(column[at]) for column in columns)
        self.first[line] = min(self.first.get(line, found), found, key=lambda one: one[:3])

    def count(self, line: Any) -> int:
        """The number of elements."""
        return int(np.count_nonzero(self.cells[line]))

    @property
    def bytes_taken(self) -> int:
        """Bytes of the marks of elements."""
        return sum(cells.nbytes for cells in self.cells.values())


def row_starts(*columns: Integers) -> Integers:
    """The positions of the rows that differ from those before them."""
    return np.flatnonzero(first_rows(*columns))


def first_rows(*columns: Integers) -> npt.NDArray[np.bool_]:
    """Mark the rows that differ from those before them."""
    first = np.ones(len(columns[0]), dtype=bool)
    if len(first):
        first[1:] = False
        for column in columns:
            first[1:] |= column[1:] != column[:-1]
    return first


class Numbering:
    """Numbers for values of 128 bits: equal ones if all bits are equal."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, int], int] = {}

    def of(self, bits: Integers) -> Integers:
        """One integer for each value of `bits_of`."""
        if bits.dtype.names is None:
            return bits
        distinct, which = np.unique(bits, return_inverse=True)
        numbers = [self.known.setdefault(one, len(self.known)) for one in distinct.tolist()]
        return np.array(numbers, np.uint64)[which]
