"""The flat space of bytes in which the arrays of a process have their addresses.

An array gets its address when a launch first needs it, keeps it as long as it lives, and no other
array ever gets it. So an address that a launch stores is the same array in later launches.
"""

from __future__ import annotations

import weakref
from bisect import bisect_right, insort
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

ALIGNMENT = 256
"""The bytes of which each address of an allocation is a multiple, as with cudaMalloc."""
FIRST = 1 << 40
"""The address of the first array."""
MARGIN = 1 << 33
"""The bytes around an array in which no other one lies."""
MOST_ENDED = 1 << 16
"""The most arrays whose names are kept after their end."""


class Extent(Protocol):
    """Bytes from an address on."""

    @property
    def address(self) -> int:
        """The address of the first byte."""

    @property
    def size(self) -> int:
        """The number of bytes."""


T = TypeVar("T", bound=Extent)


class Extents(dict[int, T]):
    """Extents that don't overlap, by their addresses."""

    def __init__(self) -> None:
        super().__init__()
        self._addresses: list[int] = []

    def add(self, one: T) -> None:
        """Add an extent, or put it in the place of the one with this address."""
        if one.address not in self:
            insort(self._addresses, one.address)
        self[one.address] = one

    def drop(self, address: int) -> None:
        """Forget the extent at an address."""
        del self[address]
        del self._addresses[bisect_right(self._addresses, address) - 1]

    def find(self, address: int) -> T | None:
        """The extent in which an address lies, or at whose end."""
        place = bisect_right(self._addresses, address)
        found = self[self._addresses[place - 1]] if place else None
        return found if found is not None and address <= found.address + found.size else None

    def nearest(self, address: int) -> T | None:
        """The extent that is nearest to an address; None without any."""
        place = bisect_right(self._addresses, address)
        near = [self[one] for one in self._addresses[max(place - 1, 0) : place + 1]]
        away = partial(_away, address)
        return min(near, key=away, default=None)


def _away(address: int, one: Extent) -> int:
    return max(one.address - address, address - one.address - one.size)


def beside(address: int, one: Extent, what: str) -> str:
    """The place of an address in or beside an extent, which is `what`.

    >>> beside(104, Held(100, 8, "a", "k"), "an array")
    'byte 4 of an array'
    """
    inside, behind = address - one.address, address - one.address - one.size
    if inside < 0:
        return f"{-inside} bytes before {what}"
    if behind >= 0:
        return f"{behind} bytes past the end of {what}"
    return f"byte {inside} of {what}" if inside else f"the beginning of {what}"


@dataclass
class Held:
    """An array: its address, its size in bytes, and the launch that first needed the address.

    `name` is the array's in the kernel; a variable of a module has no kernel. `has_ended` is True
    if the array is no more.
    """

    address: int
    size: int
    name: str
    kernel: str
    has_ended: bool = False

    def __str__(self) -> str:
        ended = ", which no longer exists" if self.has_ended else ""
        where = f"in a launch of {self.kernel!r}" if self.kernel else "of a module"
        return f"{self.name!r} of {self.size} bytes {where}{ended}"


class Space:
    """The addresses of arrays of NumPy."""

    def __init__(self) -> None:
        self._next = FIRST
        self._extents: Extents[Held] = Extents()
        self._owners: dict[int, tuple[weakref.ref[Any], int, Held]] = {}
        self._ended: deque[int] = deque()

    def address(self, array: npt.NDArray[Any], name: str, kernel: str = "") -> int:
        """The address of an array; if it is a new one, messages give it this name."""
        owner, memory = owner_of(array)
        known = self._owners.get(id(owner))
        if known is None or known[0]() is not owner:
            held = Held(self._next, memory.nbytes, name, kernel)
            self._next += -(-(memory.nbytes + 2 * MARGIN) // ALIGNMENT) * ALIGNMENT
            self._extents.add(held)
            reference = weakref.ref(owner, self._end_of(id(owner), held))
            known = self._owners[id(owner)] = reference, _begin(memory), held
        return known[2].address + _begin(array) - known[1]

    def _end_of(self, number: int, held: Held) -> Callable[[object], None]:
        """The action at the end of an array."""

        def end(_: object) -> None:
            if number in self._owners and self._owners[number][2] is held:
                del self._owners[number]
            held.has_ended = True
            self._ended.append(held.address)
            if len(self._ended) > MOST_ENDED:
                self._extents.drop(self._ended.popleft())

        return end

    def explained(self, address: int) -> str:
        """The words for what is at an address, or near it; empty if no array ever was."""
        held = self._extents.nearest(address)
        if held is None or not -MARGIN <= address - held.address < held.size + MARGIN:
            return ""
        where = f"it is {beside(address, held, str(held))}"
        if not 0 <= address - held.address < held.size:
            return where
        if held.has_ended:
            return f"{where}; keep an array as long as its address is in memory"
        if not held.kernel:
            return f"{where}; name the variable in the kernel, which is in the same module"
        return f"{where}; pass this array to this launch, too"


SPACE = Space()
"""The space of this process."""


def owner_of(array: npt.NDArray[Any]) -> tuple[object, npt.NDArray[Any]]:
    """The object with the memory of an array, and the array that has all of it.

    Views have the memory of another array. Of another library's object, it is the last one to which
    a weak reference is possible.
    """
    if array.base is None:
        return array, array
    owner: Any = array
    whole = array
    while (base := getattr(owner, "base", None)) is not None and _can_end(base):
        owner = base
        whole = owner if isinstance(owner, np.ndarray) else whole
    begin = _begin(whole)
    inside = begin <= _begin(array) and _begin(array) + array.nbytes <= begin + whole.nbytes
    return (owner, whole) if inside else (array, array)


def related(arrays: Mapping[str, npt.NDArray[Any]]) -> frozenset[str]:
    """The names of arrays that are in the memory of one array with others of them."""
    owners = {name: id(owner_of(array)[0]) for name, array in arrays.items()}
    counts = Counter(owners.values())
    return frozenset(name for name, owner in owners.items() if counts[owner] > 1)


def _can_end(thing: object) -> bool:
    try:
        weakref.ref(thing)
    except TypeError:
        return False
    return True


def _begin(array: npt.NDArray[Any]) -> int:
    """The place of an array in the memory of this computer."""
    begin: int = array.__array_interface__["data"][0]
    return begin
