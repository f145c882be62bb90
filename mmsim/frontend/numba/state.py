"""The data of a kernel while it is lowered, and the parameters of its launch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mmsim.errors import Place
from mmsim.frontend.python.scope import Alias, Unit
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
class KernelUnit(Unit):
    """The data of one kernel, for all its functions.

    `records` has the arrays of the fields of arrays of records, and `ranks` the numbers of axes of
    arrays. `block` are the statements of the block at work. `dynamic_bytes` of shared memory come
    from the launch. With `debug`, exceptions that a kernel raises are errors of the launch.
    """

    array_from_outside: Callable[[str, Any, Any, Place], Alias] | None = None
    memory_of: Callable[[Any], Any] = no_memory  # of an array of the device from outside
    debug: bool = False
    dynamic_bytes: int = 0
    records: dict[str, dict[str, str]] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)
    block: list[ir.Stmt] = field(default_factory=list)
