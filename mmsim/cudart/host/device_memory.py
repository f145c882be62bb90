"""The memory of the device: a file that the program maps too, and its allocations."""

from __future__ import annotations

import mmap
import os
from bisect import bisect_right
from collections.abc import Iterator

import numpy as np

from mmsim.errors import MMSimError
from mmsim.frontend.ptx.heap import HEAP_BYTES
from mmsim.frontend.ptx.kernel import WIDEST
from mmsim.frontend.ptx.raw import Allocation, Calls

BASE = 64 << 40
"""The address of the first byte; that of `runtime.cpp`."""
SIZE = 2 << 40
"""Bytes of addresses; only what is written takes memory."""
PLACED = BASE + (1 << 40) - (1 << 38)
"""The first address of the memory that no request asks for; that of `runtime.cpp`."""
ALIGNMENT = 256


class DeviceMemory:
    """All allocations, those that were freed too: an address never belongs to two of them."""

    def __init__(self) -> None:
        if not hasattr(os, "memfd_create"):
            raise MMSimError(
                "a whole program of CUDA C++ runs on Linux only; elsewhere take mm.RawModule"
            )
        self.file = os.memfd_create("mmsim")
        os.ftruncate(self.file, SIZE)
        self._bytes = np.frombuffer(mmap.mmap(self.file, SIZE), np.uint8)
        self._allocations: dict[int, Allocation] = {}
        self._addresses: list[int] = []
        self._next = PLACED
        self.heap_bytes = HEAP_BYTES
        self.heap: dict[str, Allocation] = {}
        """The variables of the heap, which all modules share, after a kernel has used it."""

    def add(self, address: int, size: int, calls: Calls = ()) -> None:
        """Add an allocation that `calls` of the host make, behind all earlier ones of its kind."""
        end = address - BASE + -(-size // WIDEST) * WIDEST
        memory = self._bytes[address - BASE : end]
        self._allocations[address] = Allocation(address, size, memory, calls=calls)
        self._addresses.insert(bisect_right(self._addresses, address), address)

    def place(self, variable: str, size: int) -> Allocation:
        """Make an allocation for a variable that the host doesn't know."""
        address = self._next
        self._next += (size // ALIGNMENT + 1) * ALIGNMENT
        self.add(address, size)
        return self.name(address, variable)

    def name(self, address: int, variable: str) -> Allocation:
        """Let an allocation be a variable of a module; return it."""
        found = self._allocations[address] = self._allocations[address]._replace(variable=variable)
        return found

    def free(self, address: int) -> None:
        """Free an allocation."""
        self._allocations[address] = self._allocations[address]._replace(is_freed=True)

    def live(self) -> Iterator[Allocation]:
        """All allocations that aren't freed."""
        return (one for one in self._allocations.values() if not one.is_freed)

    def find(self, address: int) -> Allocation | None:
        """The allocation in which an address lies, or at whose end."""
        place = bisect_right(self._addresses, address)
        if not place:
            return None
        found = self._allocations[self._addresses[place - 1]]
        return found if address <= found.address + found.size else None

    def nearest(self, address: int) -> Allocation | None:
        """The allocation that is nearest to an address; None if no memory is there."""
        place = bisect_right(self._addresses, address)
        near = [self._allocations[one] for one in self._addresses[max(place - 1, 0) : place + 1]]
        if not BASE <= address < BASE + SIZE or not near:
            return None
        return min(
            near, key=lambda one: max(one.address - address, address - one.address - one.size)
        )

    def close(self) -> None:
        """Give the file back; the memory lives as long as an array is in it."""
        os.close(self.file)
