"""The sectors of requests (docs/machines.md, *Sectors, a cache, and several requests*).

`gather` runs unchanged on lists, and compiled by Numba on arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from mmsim.model.cache import ATOMIC, OWN_READ, READ, Numbers, quotient
from mmsim.model.machines import Machine


class Asked(NamedTuple):
    """The requests of one access for sectors: the input of `gather`."""

    kind: int
    """`OWN_READ`, `READ`, `WRITE`, `ATOMIC` or `OF_FLOATS` of `mmsim.model.cache`."""
    size: int
    """Places of an element."""
    sector: int
    """Places of a sector."""
    masked: bool
    """Return whether the touched places of a sector matter."""
    turns: bool = False
    """Return whether an atomic's lanes take turns at an element."""

    @staticmethod
    def by(
        machine: Machine, numbers: Numbers, place: int, kind: int, itemsize: int, merged: bool
    ) -> Asked:
        """The accesses of a kind to elements of `size` bytes; lanes of a `merged` one are one.

        `place` is the size of a place in words, or bytes.
        """
        masked = kind == OWN_READ or (kind > READ and numbers.sets > 0)
        turns = kind >= ATOMIC and not merged
        return Asked(kind, machine.room(itemsize) // place, numbers.sector, masked, turns)

    def most(self, lanes: int) -> int:
        """The most sectors of a request of `lanes` lanes."""
        return lanes * (1 + -(-self.size // self.sector))

    def sectors(self, addresses: Sequence[int]) -> tuple[list[int], list[int]]:
        """The sectors of one request, and its touched places of each.

        >>> Asked(ATOMIC, 1, 4, True, True).sectors([9, 4, 1, 4])
        ([0, 1, 1, 2], [2, 1, 1, 2])
        """
        count = len(addresses)
        most = self.most(count)
        found, touched = [0] * most, [0] * most
        end = gather(self, addresses, 0, count, [0] * count, found, touched, 0)
        return found[:end], touched[:end]


def sort(numbers: Any, count: int) -> None:
    """Sort the first numbers, in place, for lists; `cached_time` compiles it to fast code.

    >>> numbers = [3, 9, 1, 2, 0]
    >>> sort(numbers, 4)
    >>> numbers
    [1, 2, 3, 9, 0]
    """
    by_steps(numbers, count)


def by_steps(numbers: Any, count: int) -> None:
    """Sort the first numbers by Shell's method, in place, for lists and arrays."""
    gap = 1
    while 3 * gap + 1 < count:
        gap = 3 * gap + 1
    while gap > 0:
        for at in range(gap, count):
            number = numbers[at]
            place = at
            while place >= gap and numbers[place - gap] > number:
                numbers[place] = numbers[place - gap]
                place -= gap
            numbers[place] = number
        gap //= 3


def gather(
    asked: Asked,
    addresses: Any,
    begin: int,
    end: int,
    scratch: Any,
    sectors: Any,
    places: Any,
    at: int,
) -> int:
    """Write the sectors of one request from place `at` on; return the place after the last one.

    The request has the elements ``addresses[begin:end]``. Sectors come in ascending order, each
    once. An atomic has each sector once for every request of its most requested element. If it
    matters, `places` gets a bit for each touched place of each sector.

    >>> found, touched = [0] * 4, [0] * 4
    >>> gather(Asked(ATOMIC, 1, 4, True, True), [9, 4, 1, 4], 0, 4, [0] * 4, found, touched, 0)
    4
    >>> found, touched
    ([0, 1, 1, 2], [2, 1, 1, 2])
    """
    size, sector, masked = asked.size, asked.sector, asked.masked
    atomic = asked.turns
    count = end - begin
    before = addresses[begin] if count > 0 else 0
    ascending = True
    for k in range(count):
        address = addresses[begin + k]
        scratch[k] = address
        ascending &= address >= before
        before = address
    if not ascending:
        sort(scratch, count)
    current, bits, turns = -1, 0, 0
    k = 0
    while k < count:
        address = scratch[k]
        k += 1
        same = 1
        while k < count and scratch[k] == address:
            same += atomic
            k += 1
        low = address * size
        high = low + size
        while low < high:
            offset = low - current * sector
            if current < 0 or offset >= sector:
                for _ in range(turns):
                    sectors[at] = current
                    if masked:
                        places[at] = bits
                    at += 1
                current = quotient(low, sector)
                offset = low - current * sector
                bits, turns = 0, 0
            turns = max(turns, same)
            length = min(high - low, sector - offset)
            if masked:
                bits |= ((1 << length) - 1) << offset
            low += length
    for _ in range(turns):
        sectors[at] = current
        if masked:
            places[at] = bits
        at += 1
    return at


PARTS = (by_steps, gather)
"""All functions here but `sort`; each comes after those that it calls."""
