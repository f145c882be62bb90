"""The memories of a machine: where arrays lie, and how they are read and written.

A word holds one array element. Arrays lie in parameter order, each starting at the next multiple of
w; shared arrays lie in their DMM's memory in the order of its blocks, each again at the next
multiple of w. Where there is no shared memory (DMM, UMM) they follow the parameters in the
machine's one memory. If banks have bytes (`bank_bytes`), all this holds for bytes: every array
begins at bank 0, and an element's address is that of its first byte, divided by its bytes.

The contents are kept in row-major order. A layout only decides addresses: it gives each element its
own word, so the contents don't depend on it. The unused words of a layout hold
nothing.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.errors import RoomError
from mmsim.host.cores import on_all_cores
from mmsim.ir.atomics import UFUNCS, in_turn
from mmsim.ir.dtypes import Integers
from mmsim.ir.nodes import AtomicOp
from mmsim.model.layout import RAW, Layout, offsets_of
from mmsim.model.machines import Machine
from mmsim.model.threads import Grid

MANY = 1 << 16
"""The bytes from which on results share memory that no thread has written."""
LARGEST_ADDRESS = 2**62
"""The most words of all shared arrays together: beyond any memory, well within 64 bits."""
TOGETHER = 1 << 11
"""The warps whose writes are ordered together: their numbers stay in the cache."""
SOON = 1 << 22
"""The bytes below which another core takes longer to start than to copy."""


@dataclass(frozen=True, eq=False)
class ArrayInMemory:
    """One array parameter, or one shared array with a copy for each block.

    `bases` are the first addresses of the copies, `unit_of_copy` the numbers of their units in
    `Machine.units`. `offsets` are a layout's word offsets in row-major order, None for 0, 1, 2, ...
    `source` is the caller's array, None for a shared one. A copy takes `words` words, the unused
    words of its layout among them.
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    bases: Integers
    unit_of_copy: Integers
    written: bool
    words: int
    offsets: Integers | None = None
    source: npt.NDArray[Any] | None = None

    def holding(self, source: npt.NDArray[Any] | None, offsets: Integers | None) -> ArrayInMemory:
        """The same array for another launch; a faster `dataclasses.replace`."""
        new = object.__new__(ArrayInMemory)
        new.__dict__.update(self.__dict__, source=source, offsets=offsets)
        return new

    @property
    def shared(self) -> bool:
        """Return whether each block has a copy of its own."""
        return self.source is None

    @property
    def own_units(self) -> bool:
        """Return whether each copy is in the shared memory of its block's DMM."""
        return self.unit_of_copy.item(0) > 0

    def units(self, blocks: Integers) -> Integers:
        """The numbers of the units in front of these blocks' copies."""
        return self.unit_of_copy[blocks if self.shared else np.zeros_like(blocks)]

    @property
    def size(self) -> int:
        """Elements of one copy."""
        return math.prod(self.shape)

    @property
    def data(self) -> npt.NDArray[Any]:
        """The contents, a row for each copy, created on first access.

        If the program doesn't write a parameter, this is the caller's array, else a copy.
        """
        found: npt.NDArray[Any] | None = self.__dict__.get("made")
        if found is None:  # `cached_property` would take a lock
            found = self.__dict__["made"] = self._made()
        return found

    def _made(self) -> npt.NDArray[Any]:
        if self.source is None:
            return zeros((len(self.bases), self.size), self.dtype)
        return self.flat.reshape(1, -1)

    @property
    def flat(self) -> npt.NDArray[Any]:
        """The contents of a parameter as a view of one dimension."""
        found: npt.NDArray[Any] | None = self.__dict__.get("in_a_row")
        if found is None:
            assert self.source is not None
            found = self.source.reshape(-1)
            if self.written and np.may_share_memory(found, self.source):
                found = _copy(found)
            self.__dict__["in_a_row"] = found
        return found

    @cached_property
    def base_of_copy(self) -> list[Integers]:
        """The bases one by one, as arrays without a dimension, which NumPy adds quickly."""
        return [np.array(base) for base in self.bases]

    def base(self, block: int) -> int:
        """The first address of a block's copy."""
        return self.bases.item(0 if self.source is not None else block)

    def addresses(self, elements: Integers, blocks: Integers | int) -> Integers:
        """The addresses of elements; `blocks` are the blocks of the requesting threads."""
        within = elements if self.offsets is None else self.offsets[elements]
        if self.source is not None:
            return within + self.base_of_copy[0]
        if isinstance(blocks, np.ndarray):
            return within + self.bases[blocks]
        return within + self.base_of_copy[blocks]

    def read(self, elements: Integers, blocks: Integers | int) -> npt.NDArray[Any]:
        """The values of elements."""
        values: npt.NDArray[Any]
        values = self.flat[elements] if self.source is not None else self.data[blocks, elements]
        return values

    def in_turn(
        self,
        op: AtomicOp,
        elements: Integers,
        blocks: Integers | int,
        values: npt.NDArray[Any],
        compare: npt.NDArray[Any] | None,
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """The old and the new values of an atomic access's lanes; `leave` stores the new ones.

        Lanes come in the order of their turns, as for `write`.
        """
        before = self.read(elements, blocks)
        return in_turn(op, before, self._cells(elements, blocks), values, compare)

    def leave(self, elements: Integers, blocks: Integers | int, words: npt.NDArray[Any]) -> None:
        """Store the new values of an atomic access; of one element the last lane's stays."""
        if self.source is None:
            self.data[blocks, elements] = words
        else:
            self.flat[elements] = words

    def gather(
        self,
        op: AtomicOp,
        elements: Integers,
        blocks: Integers | int,
        values: npt.NDArray[Any],
    ) -> None:
        """Perform an atomic access of one of `UFUNCS` whose old values are not used."""
        UFUNCS[op].at(self.data.reshape(-1), self._cells(elements, blocks), values)

    def _cells(self, elements: Integers, blocks: Integers | int) -> Integers:
        """The numbers of elements, counted over all copies."""
        return elements if self.source is not None else elements + self.size * blocks

    def write(
        self,
        elements: Integers,
        blocks: Integers | int,
        values: npt.NDArray[Any],
        firsts: Integers | None = None,
        meet: bool = True,
    ) -> None:
        """Store the values of the lanes of one warp, or of several warps dispatched in order.

        Lanes come in order of thread number. For several warps `blocks` gives the block of each
        lane, and `firsts` the first lane of each warp; for one, `blocks` is its block. If lanes of
        one warp write the same element, the lowest-numbered thread's value stays; for two warps,
        that of the later one. NumPy keeps the last of equal indices, hence the order below. The
        arrays are copied in full: NumPy turns indices around again if all are reversed views. If no
        two lanes `meet` at an element, there is no order.
        """
        if not meet:
            self.leave(elements, blocks, values)
            return
        if firsts is None:
            copy = self.data[blocks] if self.source is None else self.flat
            copy[elements[::-1].copy()] = values[::-1].copy()
            return
        ends = np.append(firsts[1:], len(elements))
        for first in range(0, len(firsts), TOGETHER):
            begins, own = firsts[first : first + TOGETHER], ends[first : first + TOGETHER]
            part = slice(int(begins[0]), int(own[-1]))
            order = np.repeat(begins + own - 1, own - begins) - np.arange(part.start, part.stop)
            if self.shared:
                # Lanes that change places belong to one block.
                copies = blocks[part] if isinstance(blocks, np.ndarray) else blocks
                self.data[copies, elements[order]] = values[order]
            else:
                self.flat[elements[order]] = values[order]

    def contents(self) -> npt.NDArray[Any]:
        """A parameter's values in its shape.

        If the program doesn't write them, they are a copy of the caller's, or a read-only view if
        they are many.
        """
        values = self.flat.reshape(self.shape)
        if self.written:
            return values
        if values.nbytes <= MANY:
            return values.copy()
        values.flags.writeable = False
        return values

    def rewind(self) -> None:
        """Restore the contents from before the launch."""
        self.__dict__.pop("made", None)
        self.__dict__.pop("in_a_row", None)


def zeros(shape: tuple[int, int], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return zeros; a size beyond any address is a `MemoryError`, unlike in NumPy."""
    if math.prod(shape) * dtype.itemsize > sys.maxsize:
        raise MemoryError(f"an array of {shape[0]:,} times {shape[1]:,} elements")
    return np.zeros(shape, dtype)


def _copy(flat: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a copy, made on all cores if it is large."""
    if flat.nbytes <= SOON:
        return flat.copy()
    new = np.empty_like(flat)

    def copy(first: int, last: int) -> None:
        new[first:last] = flat[first:last]

    on_all_cores(copy, flat.size)
    return new


@dataclass(frozen=True)
class Parameter:
    """An array parameter's data, copied if they will be written, and its layout."""

    name: str
    data: npt.NDArray[Any]
    layout: Layout
    written: bool
    words: int


@dataclass(frozen=True)
class SharedArray:
    """The description of an `mm.shared` array, which begins with zeros.

    A `local` one has a copy for each block, too, but in global memory.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    local: bool = False


def lay_out(
    machine: Machine, grid: Grid, parameters: Iterable[Parameter], shared: Iterable[SharedArray]
) -> dict[str, ArrayInMemory]:
    """Return all arrays of a launch at their addresses, still empty; see `fill`."""
    line = machine.line
    free = 0  # the first free word, or byte, among the parameters
    arrays: dict[str, ArrayInMemory] = {}

    for parameter in parameters:
        data = parameter.data
        room = machine.room(data.dtype.itemsize)
        begin = -(-free // machine.alignment) * machine.alignment
        base = begin // room
        free = begin + parameter.words * room
        where = np.array([base], dtype=np.int64), np.zeros(1, dtype=np.int64)
        arrays[parameter.name] = ArrayInMemory(
            parameter.name, data.shape, data.dtype, *where, parameter.written, parameter.words
        )
    shared = list(shared)
    apart = [array for array in shared if machine.shared and not array.local]
    behind = [array for array in shared if array not in apart]
    block = np.arange(grid.blocks if shared else 0)
    units, before = 1 + block % grid.dmms, block // grid.dmms
    of_dmms = _copies(machine, grid, apart, (units, before, 0))
    of_all = _copies(machine, grid, behind, (np.zeros_like(block), block, -(-free // line) * line))
    arrays.update({array.name: array for array in (*of_dmms, *of_all)})
    return arrays


def _copies(
    machine: Machine,
    grid: Grid,
    shared: Sequence[SharedArray],
    where: tuple[Integers, Integers, int],
) -> Iterator[ArrayInMemory]:
    """The arrays with a copy for each block.

    `where` gives the unit of each block, the number of blocks before it there, and the first
    address.
    """
    line = machine.line
    units, before, base = where
    dtypes = [np.dtype(array.dtype) for array in shared]
    rooms = [machine.room(dtype.itemsize) for dtype in dtypes]
    sizes = [
        -(-math.prod(array.shape) * room // line) * line
        for array, room in zip(shared, rooms, strict=True)
    ]
    if grid.blocks * sum(sizes) > LARGEST_ADDRESS:
        raise RoomError(
            f"the shared arrays of {grid.blocks:,} blocks have more words than can be numbered; "
            "take smaller arrays"
        )
    for number, array in enumerate(shared):
        bases = (base + before * sum(sizes) + sum(sizes[:number])) // rooms[number]
        words = math.prod(array.shape)
        yield ArrayInMemory(array.name, array.shape, dtypes[number], bases, units, True, words)


def fill(
    arrays: dict[str, ArrayInMemory], parameters: Iterable[Parameter]
) -> dict[str, ArrayInMemory]:
    """Return the arrays of `lay_out` with the parameters' data of one launch."""
    filled = {}
    for parameter in parameters:
        offsets = None
        if not isinstance(parameter.layout, RAW):
            offsets = offsets_of(parameter.layout, parameter.data.shape).ravel()
        filled[parameter.name] = arrays[parameter.name].holding(parameter.data, offsets)
    return {name: filled.get(name) or array.holding(None, None) for name, array in arrays.items()}
