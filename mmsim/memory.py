"""The memories of a machine: where arrays lie, what reading and writing does (DESIGN section 1).

A word holds one array element. Arrays lie in parameter order, each starting at the next multiple of
w; shared arrays lie in their DMM's memory in the order of its blocks, each again at the next
multiple of w. Where there is no shared memory (DMM, UMM) they follow the parameters in the
machine's one memory. The contents are kept in row-major order and a layout only decides addresses:
it gives each element a word of its own, so that nobody could tell the difference.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.layout import Layout, RowMajor, offsets_of
from mmsim.machines import Machine
from mmsim.threads import Grid

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ArrayInMemory:
    """One array parameter, or one shared array with a copy for each block.

    `data` has a row for each copy, `bases` the first address of each. `unit_of_copy` is the number
    of the unit in front of each copy, counted in `Machine.units`. `offsets` are a layout's word
    offsets in row-major order, None where they are 0, 1, 2, ...
    """

    name: str
    shape: tuple[int, ...]
    data: npt.NDArray[Any]
    bases: Integers
    unit_of_copy: Integers
    offsets: Integers | None
    shared: bool

    @cached_property
    def base_of_copy(self) -> list[Integers]:
        """The bases one by one, as arrays without a dimension: NumPy is quick to add those."""
        return [np.array(base) for base in self.bases]

    def addresses(self, elements: Integers, blocks: Integers | int) -> Integers:
        """The addresses of elements; `blocks` are the blocks of the threads that ask."""
        within = elements if self.offsets is None else self.offsets[elements]
        if self.shared and isinstance(blocks, np.ndarray):
            base: Integers = self.bases[blocks]
        else:
            base = self.base_of_copy[blocks if self.shared else 0]
        return within + base

    def read(self, elements: Integers, blocks: Integers | int) -> npt.NDArray[Any]:
        """The values of elements."""
        copy: npt.NDArray[Any] = self.data[0]
        if self.shared:
            values: npt.NDArray[Any] = self.data[blocks, elements]
            return values
        return copy[elements]

    def write(
        self,
        elements: Integers,
        blocks: Integers | int,
        values: npt.NDArray[Any],
        warps: Integers | None = None,
    ) -> None:
        """Store what the lanes of one warp send, or of several warps dispatched in order.

        Lanes come in order of thread number, `warps` says to which warp each belongs (None: all to
        one). Of several writes to one element within a warp the lowest-numbered thread's stays; of
        two warps the later one's. NumPy keeps the last of equal indices, hence the order below.
        """
        order: Integers | slice = slice(None, None, -1)
        if warps is not None:
            lanes = np.bincount(warps)
            ends = np.cumsum(lanes)
            order = np.repeat(2 * ends - lanes - 1, lanes) - np.arange(len(warps))
        copies = blocks[order] if self.shared and isinstance(blocks, np.ndarray) else blocks
        self.data[copies if self.shared else 0, elements[order]] = values[order]

    def contents(self) -> npt.NDArray[Any]:
        """The values in the array's shape (with one more dimension, the block, where shared)."""
        copies = self.data.shape[0]
        return self.data.reshape((copies, *self.shape) if self.shared else self.shape).copy()


@dataclass(frozen=True)
class Parameter:
    """What an array parameter brings: its data, which are copied, and its layout."""

    name: str
    data: npt.NDArray[Any]
    layout: Layout


@dataclass(frozen=True)
class SharedArray:
    """What an `mm.shared` array needs."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def lay_out(
    machine: Machine, grid: Grid, parameters: Iterable[Parameter], shared: Iterable[SharedArray]
) -> dict[str, ArrayInMemory]:
    """All arrays of a launch at their addresses."""
    width = machine.width
    cursor = [0] * len(machine.units)  # the first free address in front of each unit
    arrays: dict[str, ArrayInMemory] = {}

    def take(unit: int, size: int) -> int:
        base = -(-cursor[unit] // width) * width
        cursor[unit] = base + size
        return base

    for parameter in parameters:
        data = parameter.data
        offsets = None
        if not isinstance(parameter.layout, RowMajor):
            offsets = offsets_of(parameter.layout, data.shape).ravel()
        base = take(0, data.size)
        arrays[parameter.name] = ArrayInMemory(
            parameter.name,
            data.shape,
            data.reshape(1, -1).copy(),
            np.array([base], dtype=np.int64),
            np.zeros(1, dtype=np.int64),
            offsets,
            shared=False,
        )
    shared = list(shared)
    bases = {array.name: np.zeros(grid.blocks, dtype=np.int64) for array in shared}
    units = np.zeros(grid.blocks, dtype=np.int64)
    for block in range(grid.blocks if shared else 0):
        units[block] = 1 + grid.dmm_of_block(block) if machine.shared else 0
        for array in shared:
            bases[array.name][block] = take(int(units[block]), math.prod(array.shape))
    for array in shared:
        arrays[array.name] = ArrayInMemory(
            array.name,
            array.shape,
            np.zeros((grid.blocks, math.prod(array.shape)), array.dtype),
            bases[array.name],
            units,
            None,
            shared=True,
        )
    return arrays
