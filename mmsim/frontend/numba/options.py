"""The options of a launch of a kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


def no_memory(value: Any) -> None:
    """The memory of an array of the device, if there is no device."""


class Options(NamedTuple):
    """The parameters of a launch: the bytes of dynamic shared memory in each block, and more.

    With `debug`, an exception that it raises is an error of the launch, `RaisedError`; else the
    thread ends. `memory_of` gives the NumPy array that is the memory of an array of the device;
    None for anything else.
    """

    dynamic_bytes: int = 0
    debug: bool = False
    memory_of: Callable[[Any], Any] = no_memory


DEFAULTS = Options()
