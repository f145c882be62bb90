"""The data of a kernel's parsing that programs of other dialects don't have."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mmsim.errors import Place
from mmsim.frontend.python.function import Function
from mmsim.frontend.python.scope import Alias, Captured, Entity, Known, Unit
from mmsim.frontend.python.tables import is_large
from mmsim.ir import nodes as ir


def no_memory(value: Any) -> None:
    """The memory of an array of the device, if there is no device."""


class Options(NamedTuple):
    """The parameters of a launch: the bytes of dynamic shared memory in each block, and more.

    With `debug`, exceptions that it raises are errors. `memory_of` gives the NumPy array
    that is the memory of an array of the device; None for anything else.
    """

    dynamic_bytes: int = 0
    debug: bool = False
    memory_of: Callable[[Any], Any] = no_memory


class Parsed(NamedTuple):
    """A kernel for some arguments, and the additional arguments of each launch."""

    code: ir.Code
    from_outside: tuple[Any, ...]


@dataclass
class KernelKnown(Known):
    """The knowledge of a kernel from earlier parsing.

    `of_complex` are the places of functions whose arguments turned out to be complex. `apart` are
    the names in functions that have a separate meaning in each of several loops.
    """

    of_complex: set[Place] = field(default_factory=set)
    apart: set[tuple[ir.Source, str]] = field(default_factory=set)


@dataclass
class KernelUnit(Unit):
    """The data of one kernel's parsing, for all its functions.

    `around` has the function around each inner one, `records` the arrays of the fields of arrays of
    records, and `ranks` the numbers of axes of parameters. `dynamic_bytes` of shared memory come
    from the launch. With `debug`, exceptions that a kernel raises are errors of the launch.
    """

    known: KernelKnown = field(default_factory=KernelKnown)
    array_from_outside: Callable[[str, Any, Any, Place], Alias] | None = None
    memory_of: Callable[[Any], Any] = no_memory  # of an array of the device from outside
    around: dict[types.FunctionType, KernelFunction] = field(default_factory=dict)
    debug: bool = False
    dynamic_bytes: int = 0
    records: dict[str, dict[str, str]] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)


class KernelFunction(Function):
    """A kernel or a device function; free names of an inner function are those around it."""

    unit: KernelUnit

    def entity(self, name: str) -> Entity:
        """The meaning of a name here; a large array from outside is one of the launch's."""
        around = self.unit.around.get(self.python)
        if around and name not in self.bound and name in self.python.__code__.co_freevars:
            return around.entity(name)
        found = super().entity(name)
        take = self.unit.array_from_outside
        if take is not None and isinstance(found, Captured) and name not in self.bound:
            memory = self.unit.memory_of(found.value)
            if memory is not None or is_large(found.value):
                return take(name, found.value, memory, self.place(self.text.node))
        return found


def kernel(function: Function) -> KernelUnit:
    """The data of the kernel that a function belongs to."""
    assert isinstance(function, KernelFunction)
    return function.unit
