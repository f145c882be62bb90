"""The memories of a machine: where arrays lie, what reading and writing does.

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

from mmsim.cores import on_all_cores
from mmsim.errors import RoomError
from mmsim.language.frame import zeros
from mmsim.layout import Layout, RowMajor, offsets_of
from mmsim.machines import Machine
from mmsim.threads import Grid

Integers = npt.NDArray[np.int64]
MANY = 1 << 16
"""Bytes above which results share memory where nobody has written it."""
LARGEST_ADDRESS = 2**62
"""Words of all shared arrays together: far beyond any memory, and well within 64 bits."""
SOON = 1 << 22
"""Bytes that one core has copied before another one is awake."""


@dataclass(frozen=True, eq=False)
class ArrayInMemory:
    """One array parameter, or one shared array with a copy for each block.

    `bases` are the first addresses of the copies, `unit_of_copy` the numbers of the units in front
    of them, counted in `Machine.units`. `offsets` are a layout's word offsets in row-major order,
    None where they are 0, 1, 2, ... `source` is the caller's array, None for a shared one.
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    bases: Integers
    unit_of_copy: Integers
    offsets: Integers | None
    source: npt.NDArray[Any] | None
    written: bool

    @property
    def shared(self) -> bool:
        """Whether each block has a copy of its own."""
        return self.source is None

    @property
    def size(self) -> int:
        """Elements of one copy."""
        return math.prod(self.shape)

    @cached_property
    def data(self) -> npt.NDArray[Any]:
        """The contents, a row for each copy: made when it is first asked for.

        Where the program doesn't write a parameter this is the caller's own array, else a copy.
        """
        if self.source is None:
            return zeros((len(self.bases), self.size), self.dtype)
        flat = self.source.reshape(-1)
        if self.written and np.may_share_memory(flat, self.source):
            flat = _copy(flat)
        return flat.reshape(1, -1)

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
        two warps the later one's. NumPy keeps the last of equal indices, hence the order below, in
        full: where all indices are reversed views, NumPy turns them around again.
        """
        if warps is None:
            order = np.arange(len(elements) - 1, -1, -1)
        else:
            lanes = np.bincount(warps)
            ends = np.cumsum(lanes)
            order = np.repeat(2 * ends - lanes - 1, lanes) - np.arange(len(warps))
        copies = blocks[order] if self.shared and isinstance(blocks, np.ndarray) else blocks
        self.data[copies if self.shared else 0, elements[order]] = values[order]

    def contents(self) -> npt.NDArray[Any]:
        """A parameter's values in its shape.

        Where the program doesn't write them they are the caller's: a copy of those, or a read-only
        view if they are many.
        """
        values = self.data.reshape(self.shape)
        if self.written:
            return values
        if values.nbytes <= MANY:
            return values.copy()
        values.flags.writeable = False
        return values

    def rewind(self) -> None:
        """Make the contents again what they were before the launch."""
        self.__dict__.pop("data", None)


def _copy(flat: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A copy, made on all cores if there is much to copy."""
    if flat.nbytes <= SOON:
        return flat.copy()
    new = np.empty_like(flat)

    def copy(first: int, last: int) -> None:
        new[first:last] = flat[first:last]

    on_all_cores(copy, flat.size)
    return new


@dataclass(frozen=True)
class Parameter:
    """What an array parameter brings: its data, copied if they are to be written, its layout."""

    name: str
    data: npt.NDArray[Any]
    layout: Layout
    written: bool


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
    free = 0  # the first free address among the parameters
    arrays: dict[str, ArrayInMemory] = {}

    for parameter in parameters:
        data = parameter.data
        offsets = None
        if not isinstance(parameter.layout, RowMajor):
            offsets = offsets_of(parameter.layout, data.shape).ravel()
        base = -(-free // width) * width
        free = base + data.size
        arrays[parameter.name] = ArrayInMemory(
            parameter.name,
            data.shape,
            data.dtype,
            np.array([base], dtype=np.int64),
            np.zeros(1, dtype=np.int64),
            offsets,
            data,
            parameter.written,
        )
    shared = list(shared)
    sizes = [-(-math.prod(array.shape) // width) * width for array in shared]
    if grid.blocks * sum(sizes) > LARGEST_ADDRESS:
        raise RoomError(
            f"the shared arrays of {grid.blocks:,} blocks have more words than can be numbered; "
            "take smaller arrays"
        )
    block = np.arange(grid.blocks if shared else 0)
    if machine.shared:
        units, before, base = 1 + block % grid.dmms, block // grid.dmms, 0
    else:
        units, before, base = np.zeros_like(block), block, -(-free // width) * width
    for number, array in enumerate(shared):
        bases = base + before * sum(sizes) + sum(sizes[:number])
        arrays[array.name] = ArrayInMemory(
            array.name, array.shape, array.dtype, bases, units, None, None, True
        )
    return arrays
