"""The memory of the device: a file that the program maps too, and its allocations."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator

import numpy as np

from mmsim.errors import MMSimError
from mmsim.frontend.ptx.arrays import WIDEST
from mmsim.frontend.ptx.heap import HEAP_BYTES
from mmsim.frontend.ptx.raw import Allocation, Calls
from mmsim.frontend.ptx.space import ALIGNMENT, Extents

BASE = 64 << 40
"""The address of the first byte; that of `runtime.cpp`."""
SIZE = 2 << 40
"""Bytes of addresses; only what is written takes memory."""
PLACED = BASE + (1 << 40) - (1 << 38)
"""The first address of the memory that no request asks for; that of `runtime.cpp`."""


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
        self._allocations: Extents[Allocation] = Extents()
        self._next = PLACED
        self.heap_bytes = HEAP_BYTES
        self.heap: dict[str, Allocation] = {}
        """The variables of the heap, which all modules share, after a kernel has used it."""

    def add(self, address: int, size: int, calls: Calls = ()) -> None:
        """Add an allocation that `calls` of the host make, behind all earlier ones of its kind."""
        end = address - BASE + -(-size // WIDEST) * WIDEST
        memory = self._bytes[address - BASE : end]
        self._allocations.add(Allocation(address, size, memory, calls=calls))

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

    def free(self, address: int, calls: Calls = ()) -> None:
        """Free an allocation, as `calls` of the host do."""
        found = self._allocations[address]
        self._allocations[address] = found._replace(is_freed=True, freed=calls)

    def live(self) -> Iterator[Allocation]:
        """All allocations that aren't freed."""
        return (one for one in self._allocations.values() if not one.is_freed)

    def find(self, address: int) -> Allocation | None:
        """The allocation in which an address lies, or at whose end."""
        return self._allocations.find(address)

    def nearest(self, address: int) -> Allocation | None:
        """The allocation that is nearest to an address; None if no memory is there."""
        return self._allocations.nearest(address) if BASE <= address < BASE + SIZE else None

    def close(self) -> None:
        """Give the file back; the memory lives as long as an array is in it."""
        os.close(self.file)
