"""The values of the threads' variables in a run, recorded by a trace as changes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from mmsim.ir.nodes import Scalar
from mmsim.model.threads import Grid

MaskedValues: TypeAlias = "np.ma.MaskedArray[Any, np.dtype[Any]]"
"""A text: a run without a trace doesn't load `numpy.ma`."""


@dataclass(frozen=True)
class TracedVariable:
    """A variable, or an `mm.registers` array; every thread has its own.

    `text` is its name in `function`. `name` is unique in the program: it has a number if a
    parameter has the same name, or if several places call the function, as each place has its own
    variables. `shape` is None except for an `mm.registers` array.
    """

    name: str
    text: str
    function: str
    dtype: str
    shape: tuple[int, ...] | None

    @property
    def elements(self) -> int:
        """Values that a thread holds in it."""
        return 1 if self.shape is None else math.prod(self.shape)


@dataclass(frozen=True)
class Change:
    """From `time` on the threads of `warp` hold `values` in a variable, one value for each.

    None stands for a thread that hasn't assigned it. `element` is the row-major number of the
    element of an `mm.registers` array, 0 for a variable. Of several changes at one time, the last
    one stays.
    """

    time: int
    warp: int
    name: str
    element: int
    values: tuple[Scalar | None, ...]


class Variables:
    """The values of all threads, change by change. At first, registers are 0, and variables unset.

    `grid` says which threads a warp has.
    """

    def __init__(self, variables: tuple[TracedVariable, ...], grid: Grid) -> None:
        self.grid = grid
        self.changed: set[str] = set()
        """The names of the variables that have changed."""
        threads = grid.threads
        self.shapes = {one.name: (threads, *(one.shape or ())) for one in variables}
        self.values = {one.name: np.zeros((threads, one.elements), one.dtype) for one in variables}
        self.missing = {
            one.name: np.full((threads, one.elements), one.shape is None) for one in variables
        }

    def change(self, change: Change) -> None:
        """Let a change take effect."""
        self.changed.add(change.name)
        threads = self.grid.warp_threads(change.warp)
        place = slice(threads.start, threads.stop), change.element
        self.values[change.name][place] = [0 if value is None else value for value in change.values]
        self.missing[change.name][place] = [value is None for value in change.values]

    def snapshot(self) -> dict[str, MaskedValues]:
        """A copy for each variable: the threads along the first axis, masked where not assigned."""
        return {
            name: np.ma.MaskedArray(
                self.values[name].reshape(shape), self.missing[name].reshape(shape), copy=True
            )
            for name, shape in self.shapes.items()
        }
