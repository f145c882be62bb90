"""A program as a CUDA kernel: its text, and all data for a launch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from mmsim.cuda_c.body import Body, Space
from mmsim.cuda_c.layouts import Placement, placement
from mmsim.cuda_c.names import TAKEN, Names, identifier
from mmsim.cuda_c.text import comment, word_type
from mmsim.cuda_c.writer import Writer
from mmsim.errors import LaunchError
from mmsim.ir.nodes import AXES
from mmsim.meaning.launch import Launch
from mmsim.model.layout import Placed
from mmsim.model.memory import ArrayInMemory
from mmsim.model.threads import Extents, Shape

WARP = 32
"""Threads of a GPU's warp, and banks of its shared memory."""
MOST_THREADS = 1024
"""Threads of a GPU's block."""
DEEP = (1024, 1024, 64)
"""Threads of a block along x, y and z."""
MOST_BLOCKS = (2**31 - 1, 65535, 65535)
"""Blocks of a grid along x, y and z."""
OPTIONS = ("--fmad=false",)
"""The options with which a kernel computes the same as Python."""

Role = Literal["array", "offsets", "repeat", "cycles"]


@dataclass(frozen=True, eq=False)
class Argument:
    """One argument of a kernel.

    An "array" is a pointer to the words of a parameter of the program, in the order of their
    addresses: upload `words()`, and if it is `written`, pass the downloaded words to `elements`.
    The "offsets" of a layout are a pointer to a table, uploaded likewise. "repeat" is an `int`: the
    number of runs of the program between the two readings of the clock. "cycles" is a pointer to
    one int64, which receives the clock cycles between them. `type` is that of an array's numbers,
    if the program takes their words as smaller ones.
    """

    name: str
    role: Role
    dtype: np.dtype[Any]
    size: int
    written: bool = False
    memory: ArrayInMemory | None = None
    table: npt.NDArray[np.int32] | None = None
    type: str | None = None

    def words(self) -> npt.NDArray[Any]:
        """The words to upload before the launch."""
        if self.table is not None:
            return self.table
        words = np.zeros(self.size, self.dtype)
        if self.memory is not None and self.memory.source is not None:
            where = slice(None) if self.memory.offsets is None else self.memory.offsets
            words[where] = self.memory.source.reshape(-1)
        return words

    def elements(self, words: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """An array of the program, in logical order, from its words after the launch."""
        assert self.memory is not None
        where = slice(None) if self.memory.offsets is None else self.memory.offsets
        found = words[where].astype(self.memory.dtype).reshape(self.memory.shape)
        return found.view(self.type or found.dtype)


@dataclass(frozen=True, eq=False)
class Kernel:
    """The CUDA C of a program for certain arguments, and how to launch it.

    `source` holds one `extern "C"` kernel called `name`; compile it with `options`. Launch it with
    `arguments` in their order, a grid of `grid` blocks of `block` threads, each along x, y and z,
    and `shared_bytes` of dynamic shared memory. More than 48 KiB must be allowed first, by the
    attribute cudaFuncAttributeMaxDynamicSharedMemorySize. Launch a `cooperative` kernel by
    cudaLaunchCooperativeKernel, so that all its blocks are resident at the same time. The results
    are in the arguments that are written.
    """

    source: str
    name: str
    space: Space
    arguments: tuple[Argument, ...]
    grid: Extents
    block: Extents
    shared_bytes: int
    options: tuple[str, ...] = OPTIONS
    cooperative: bool = False


def written(
    launch: Launch, args: tuple[Any, ...], space: Space, clear_shared: bool, lock_step: bool
) -> Kernel:
    """The kernel of a launch, as `mmsim.gpu.kernel` documents."""
    grid = launch.grid
    if any(one.kind == "local" for one in launch.code.locals):
        raise LaunchError(
            f"CUDA C has no name for the local memory of {launch.program.name!r}; take its source"
        )
    if space == "shared" and grid.blocks > 1:
        raise LaunchError(
            f"{grid.blocks} blocks can't have their arrays in one shared memory; give one block, "
            "or space='global'"
        )
    if lock_step and grid.blocks > 1:
        raise LaunchError(
            f"{grid.blocks} blocks can't run in lock step, because a GPU's barrier takes the "
            "threads of one block; give one block"
        )
    if grid.block_size > MOST_THREADS:
        raise LaunchError(
            f"a block of {grid.block_size} threads, but a GPU's has at most {MOST_THREADS}; give "
            f"a block_size of at most {MOST_THREADS}"
        )
    _check_extents(grid.extents)
    numbers, variables = launch.meaning.numbers, launch.lowered.variables
    names = Names(launch.meaning.shapes, (*numbers, *variables))
    placements = _placements(launch, args, names)
    name = identifier(launch.program.name, TAKEN)
    body = Body(launch, space, names, placements, lock_step)
    writer = Writer(launch, name, body, clear_shared)
    source = writer.text()
    return Kernel(
        source,
        name,
        space,
        tuple(_arguments(launch, body)),
        grid.extents.grid,
        grid.extents.block,
        writer.dynamic_bytes,
        cooperative=body.cooperative,
    )


def _check_extents(shape: Shape) -> None:
    """Refuse extents that no GPU has (CUDA C++ Programming Guide, compute capabilities)."""
    for what, extents, most in (("grid", shape.grid, MOST_BLOCKS), ("block", shape.block, DEEP)):
        for axis, extent, limit in zip(AXES, extents, most, strict=True):
            if extent > limit:
                raise LaunchError(
                    f"a {what} of {extent} along {axis}, but a GPU's has at most {limit} there"
                )


def _placements(launch: Launch, args: tuple[Any, ...], names: Names) -> dict[str, Placement]:
    """The index functions of the arrays that don't lie in row-major order."""
    found = {}
    for parameter, value in zip(launch.code.parameters, args, strict=False):
        memory = launch.arrays.get(parameter.name)
        if isinstance(value, Placed) and memory is not None and memory.offsets is not None:
            title = comment(str(value.layout).split("\n")[0][:60])
            own = names.of(parameter.name)
            found[parameter.name] = placement(own, memory.shape, memory.offsets, title)
    return found


def _arguments(launch: Launch, body: Body) -> list[Argument]:
    arguments, types = [], {one.name: one.type for one in launch.code.parameters}
    for name in launch.parameters:
        memory = launch.arrays[name]
        dtype = word_type(memory.dtype, shared=False)
        written, type_ = name in body.written, types[name]
        arguments.append(Argument(name, "array", dtype, memory.words, written, memory, type=type_))
    for name, given in body.placements.items():
        if given.table is not None:
            table = given.table.astype(np.int32)
            arguments.append(Argument(name, "offsets", table.dtype, table.size, table=table))
    if body.space == "shared":
        arguments.append(Argument("repeat", "repeat", np.dtype(np.int32), 1))
        arguments.append(Argument("cycles", "cycles", np.dtype(np.int64), 1, written=True))
    return arguments
