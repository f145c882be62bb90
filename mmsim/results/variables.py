"""What the threads of a run hold in their variables, as a trace tells it: by its changes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mmsim.language.types import supported

Held = np.ma.MaskedArray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class TracedVariable:
    """A variable, or an `mm.registers` array, of which every thread has its own.

    `text` is what `function` calls it. `name` is unique in the program: it has a number where a
    parameter is called so too, and where a function is called at several places, which gives it
    variables for each. `shape` is None but for an `mm.registers` array.
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
    element of an `mm.registers` array, 0 for a variable. Of several changes at one time the later
    one stays.
    """

    time: int
    warp: int
    name: str
    element: int
    values: tuple[int | float | bool | None, ...]


class Variables:
    """What all threads hold, change after change; at first nothing in a variable, 0 in registers.

    `warps` are the threads of each warp.
    """

    def __init__(self, variables: tuple[TracedVariable, ...], warps: list[range]) -> None:
        self.warps = warps
        threads = warps[-1].stop
        self.shapes = {one.name: (threads, *(one.shape or ())) for one in variables}
        self.values = {one.name: np.zeros((threads, one.elements), one.dtype) for one in variables}
        self.missing = {
            one.name: np.full((threads, one.elements), one.shape is None) for one in variables
        }

    def change(self, change: Change) -> None:
        """Let a change take effect."""
        threads = self.warps[change.warp]
        place = slice(threads.start, threads.stop), change.element
        self.values[change.name][place] = [value or 0 for value in change.values]
        self.missing[change.name][place] = [value is None for value in change.values]

    def held(self) -> dict[str, Held]:
        """A copy for each variable: the threads along the first axis, masked where not assigned."""
        return {
            name: np.ma.MaskedArray(
                self.values[name].reshape(shape), self.missing[name].reshape(shape), copy=True
            )
            for name, shape in self.shapes.items()
        }


def check_changes(
    variables: tuple[TracedVariable, ...], changes: Iterable[Change], warps: list[range]
) -> None:
    """Refuse, with a `ValueError`, what contradicts itself."""
    known = {one.name: one for one in variables}
    for one in known.values():
        if not supported(one.dtype) or min(one.shape or (1,)) < 1:
            raise ValueError(f"the variable {one.name!r} holds nothing that a variable can")
    for change in changes:
        where = f"the change of {change.name!r} at {change.time}"
        if change.name not in known or not 0 <= change.element < known[change.name].elements:
            raise ValueError(f"{where} is of an unknown variable or element")
        if not 0 <= change.warp < len(warps) or len(change.values) != len(warps[change.warp]):
            raise ValueError(f"{where} is of other threads than warp {change.warp} has")
        try:
            np.array([value or 0 for value in change.values], known[change.name].dtype)
        except OverflowError:
            raise ValueError(f"{where} doesn't fit {known[change.name].dtype}") from None
