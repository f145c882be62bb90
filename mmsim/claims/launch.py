"""A launch with symbols where a real one has numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mmsim.frontend.program import Program
    from mmsim.model.machines import Machine

Size = Any
"""A number, or an expression of SymPy in the symbols of sizes."""


@dataclass(frozen=True)
class SymbolicLaunch:
    """A launch whose sizes are numbers or expressions of SymPy.

    Parameters
    ----------
    program
        The program.
    arguments
        By parameter: the shape of an array, a tuple, or a number.
    threads, block_size
        As for `Machine.run`.
    machine
        A machine whose width and latencies may be symbols.
    contents
        By array that only is read: a function of an element's index, the element's value. For
        arrays from which the program reads indices.
    stages
        By array: the stages of a warp's request to it, where the index is read from memory. A
        number is that of each request. A symbol is the sum over all requests of the launch.
    """

    program: Program
    arguments: Mapping[str, Size | tuple[Size, ...]]
    threads: Size
    machine: Machine
    block_size: Size | None = None
    contents: Mapping[str, Callable[..., Size]] = field(default_factory=dict)
    stages: Mapping[str, Size] = field(default_factory=dict)
