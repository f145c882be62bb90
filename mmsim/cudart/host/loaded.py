"""A module of a program: its kernels, and its variables in the memory of the device."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mmsim.cudart.facts import Facts, facts_of
from mmsim.cudart.host.device_memory import DeviceMemory
from mmsim.cudart.host.fatbin import WITHOUT, ptx_of, split
from mmsim.cudart.host.stacks import HEADERS, described, near
from mmsim.cudart.source import Source
from mmsim.errors import MMSimError
from mmsim.frontend.ptx.binding import size_of
from mmsim.frontend.ptx.flat import codes_of, with_codes
from mmsim.frontend.ptx.heap import HEAP, STATE, with_heap
from mmsim.frontend.ptx.kernel import PtxProgram
from mmsim.frontend.ptx.linking import linked
from mmsim.frontend.ptx.module import Function, Module
from mmsim.frontend.ptx.raw import Allocation, binder
from mmsim.frontend.ptx.slots import bytes_of


class LoadedModule:
    """The code of a fat binary, or of several that are linked, read when it is first needed."""

    def __init__(self, data: bytes, memory: DeviceMemory) -> None:
        self._data = data
        self._memory = memory
        self._variables: dict[str, npt.NDArray[np.uint8]] = {}
        self._addresses: dict[str, int] = {}
        self._programs: dict[tuple[str, int], PtxProgram] = {}
        self.named: dict[str, Allocation] = {}
        self.described = described

    @cached_property
    def source(self) -> Source:
        """The PTX."""
        return Source(linked([*map(ptx_of, split(self._data))]), "program.ptx", ())

    @cached_property
    def module(self) -> Module:
        """The module, whose files have names relative to the working directory."""
        module = self.source.module
        return replace(module, files={number: near(name) for number, name in module.files.items()})

    @cached_property
    def texts(self) -> dict[str, str]:
        """The text of each file of the program, as far as it is there."""
        found = {}
        for file in self.module.files.values():
            if not any(part in file for part in HEADERS):
                with suppress(OSError, ValueError):
                    found[file] = Path(file).read_text("utf-8")
        return found

    def kernel(self, name: str) -> Function:
        """A kernel."""
        found = self.module.functions.get(name)
        if found is None or found.body is None:
            raise MMSimError(f"the program's PTX has no kernel {name!r}; {WITHOUT}")
        return found

    def add_variable(self, name: str, address: int) -> None:
        """Let an allocation hold a variable, with the values with which it begins."""
        memory = self._memory.name(address, name).memory
        variable = self.module.variables.get(name)
        if variable is None:
            return  # no kernel uses it
        memory[:] = bytes_of(variable, {})
        self._variables[name] = memory
        self._addresses[name] = address

    @cached_property
    def linked(self) -> Module:
        """The module with the heap, if it allocates memory in kernels."""
        return with_heap(self.module, self._memory.heap_bytes)

    def address(self, variable: str) -> int | None:
        """The address of a variable; one that the host doesn't know gets it now."""
        if variable not in self._addresses:
            own = with_codes(self.linked.variables[variable], codes_of(self.module))
            if own.space != "global" or own.references:
                return None
            heap, memory = self._memory.heap, self._memory
            size = (own.count or 0) * size_of(own.type)
            found = heap.get(variable) or memory.place(variable, size)
            if variable in (HEAP, STATE):
                heap[variable] = found
            else:
                found.memory[:] = bytes_of(own, {})
            self._variables[variable] = found.memory
            self._addresses[variable] = found.address
        return self._addresses[variable]

    def find(self, address: int) -> Allocation | None:
        """The allocation of an address."""
        found = self._memory.find(address)
        return None if found is None else self._seen(found)

    def live(self) -> Iterator[Allocation]:
        """All allocations that aren't freed, but no variables that only others can access.

        Every module may access the heap.
        """
        own = {*self._addresses.values()}
        for one in self._memory.live():
            if not one.variable or one.address in own or one.variable == HEAP:
                yield one

    def _seen(self, found: Allocation) -> Allocation:
        """An allocation; one with a variable of another module is only memory."""
        is_own = self._addresses.get(found.variable) == found.address
        return found if is_own else found._replace(variable="")

    def program(self, name: str, dynamic_bytes: int) -> PtxProgram:
        """The program of a kernel for launches with so much dynamic shared memory."""
        key = name, dynamic_bytes
        if key not in self._programs:
            self.kernel(name)
            self._programs[key] = PtxProgram(
                self.linked,
                name,
                text=self.texts,
                ptx=self.source.code,
                file=self.source.file,
                dynamic_bytes=dynamic_bytes,
                memory=self._variables,
                binding=binder(self),
            )
        return self._programs[key]

    def facts(self, name: str) -> Facts:
        """The facts of a kernel."""
        return facts_of(self.module, self.kernel(name))
