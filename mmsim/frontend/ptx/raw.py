"""The arguments of a launch as the bytes that the host gives to the driver.

Nothing says which of them are pointers: an address in an allocation is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from mmsim.errors import LaunchError, MMSimError
from mmsim.frontend.ptx.arrays import Array
from mmsim.frontend.ptx.binding import Binder, Binding, size_of
from mmsim.frontend.ptx.cpp import Places
from mmsim.frontend.ptx.heap import HEAP
from mmsim.frontend.ptx.mangled import plain_name
from mmsim.frontend.ptx.module import Function, Variable
from mmsim.frontend.ptx.pointers import lowest_bit

WORD = 8
"""The bytes of a pointer, and those of which its offset in a struct is a multiple."""
MOST_ALLOCATIONS = 64
"""The most allocations among which a kernel looks for an address."""
MOST_ALIGNED = 16
"""The bytes of the widest access, which need no better alignment."""


Calls = tuple[tuple[str, int], ...]
"""Calls of the host, the innermost first: a file of code, and the place of the call in it."""


class Allocation(NamedTuple):
    """Memory of the device: `size` bytes from an address on, and a few more to a multiple of 16.

    `variable` is the module's that it holds, if any. `is_freed` is True for memory that was freed.
    `calls` made it, and `freed` are those that freed it.
    """

    address: int
    size: int
    memory: npt.NDArray[np.uint8]
    variable: str = ""
    is_freed: bool = False
    calls: Calls = ()
    freed: Calls = ()


class Memory(Protocol):
    """The memory of the device, as a module sees it.

    `named` are the allocations that the last launch accesses, by the names of its arrays.
    """

    named: dict[str, Allocation]

    def find(self, address: int) -> Allocation | None:
        """The allocation in which an address lies, or at whose end."""

    def live(self) -> Iterable[Allocation]:
        """All allocations that aren't freed."""

    def described(self, found: Allocation) -> str:
        """The size of an allocation, and the host's line that made it."""

    def address(self, variable: str) -> int | None:
        """The address of a variable of the module; None if the host doesn't know the variable."""


def binder(memory: Memory) -> Binder:
    """The `binding` of a `PtxProgram` whose arguments are bytes."""
    return partial(RawBinding, memory)


class RawBinding(Binding):
    """The arguments of a launch, each as its bytes."""

    is_raw = True

    def __init__(
        self, memory: Memory, kernel: Function, places: Places, args: Sequence[bytes]
    ) -> None:
        self._device = memory
        self._found: dict[int, str] = {}
        self._is_wide = False
        memory.named.clear()
        super().__init__(kernel, places, args)

    def address(self, variable: str) -> int | None:
        """The address of a variable of the module, if the host knows the variable."""
        return self._device.address(variable)

    def widen(self) -> bool:
        """Let the kernel access all allocations, for pointers that it reads in memory."""
        if self._is_wide:
            return False
        self._is_wide = True
        new = [one for one in self._device.live() if one.address not in self._found]
        room = MOST_ALLOCATIONS - len(self._found)
        if len(new) > room:  # a library has hundreds of variables, to which pointers seldom lead
            new = [one for one in new if one.variable in ("", HEAP)]
        if len(new) > room:
            raise MMSimError(
                f"the kernel {plain_name(self.kernel.name)!r} follows pointers that it reads in "
                f"memory, and there are more than {MOST_ALLOCATIONS} allocations; make one array "
                "of many small allocations"
            )
        for number, one in enumerate(new, 1):
            self._add(one, plain_name(one.variable) if one.variable else f"memory_{number}")
        self.key = (*self.key, *(one.address for one in new))
        return bool(new)

    def _add(self, found: Allocation, name: str) -> str:
        """Add an allocation as an array."""
        while name in self.own:
            name += "_"
        self._found[found.address] = name
        self._device.named[name] = found
        self.arrays.append(Array(name, "global", found.address, found.size))
        self.own[name] = found.memory
        self.sizes[name] = found.size
        if found.variable:
            self.variables[found.variable] = name
        return name

    def _bind(self, parameter: Variable, name: str, value: bytes) -> Any:
        where = f"argument {name!r} of the kernel {plain_name(self.kernel.name)!r}"
        size = size_of(parameter.type) * (parameter.count or 0)
        if len(value) != size:
            raise LaunchError(f"{where} has {size} bytes, not {len(value)}")
        kinds: list[Any] = [parameter.type, size]
        for at in range(0, size - WORD + 1, WORD):
            address = int.from_bytes(value[at : at + WORD], "little")
            kinds.append(self._pointer(parameter, name, at, address, where))
        if parameter.is_array:
            self.structs[parameter.name] = value
        elif (parameter.name, 0) not in self.pointers:
            kind = "f" if parameter.type[0] == "f" and size > 2 else "i"
            self.numbers[parameter.name] = np.frombuffer(value, f"{kind}{size}")[0].item()
        return tuple(kinds)

    def _pointer(self, parameter: Variable, name: str, at: int, address: int, where: str) -> Any:
        """Bind what may be a pointer, at an offset of a parameter, if it is one."""
        found = self._device.find(address)
        if found is None or (found.is_freed and parameter.is_array):
            return None  # what a struct holds need not be a pointer, nor one that is used
        if found.is_freed:
            raise LaunchError(
                f"{where} points into memory that was freed before the launch, "
                f"{self._device.described(found)}; free it after the last kernel that uses it"
            )
        own = self._found.get(found.address)
        if own is None:
            name = f"{name}_{at}" if parameter.is_array else name
            own = self._add(found, HEAP if found.variable == HEAP else name)
        offset = address - found.address
        factor = min(lowest_bit(offset), MOST_ALIGNED)
        self.pointers[parameter.name, at] = own
        if offset:
            self.offsets[parameter.name, at] = offset, factor
        return own, found.address, found.variable, factor, bool(found.size)
