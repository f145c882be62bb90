"""Threads, blocks and warps of one launch (docs/machines.md, *Threads, warps, blocks*).

Thread ids are 0..p-1. A block is `block_size` consecutive threads; the last one may be smaller. A
warp is w consecutive threads of one block; the last one of a block may be partly filled. Warps are
numbered over all blocks in order. Block b lives on DMM b mod d.

A launch may have a *shape*: its grid of blocks and its blocks of threads have extents along x, y
and z. Blocks of a grid, and threads of a block, are numbered x first, then y, then z, as CUDA does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mmsim.errors import LaunchError, Position, RoomError, shown
from mmsim.host.arguments import whole
from mmsim.ir.dtypes import Integers
from mmsim.ir.nodes import AXES
from mmsim.ir.shapes import Sides

Extents = tuple[int, int, int]
"""Numbers along x, y and z."""
MOST = 2**59
"""From this many threads on, the bytes of their numbers can't be counted."""


@dataclass(frozen=True)
class Shape:
    """The extents of a launch: `grid` counts blocks, `block` the threads of each block.

    >>> shape = Shape(grid=(2, 3, 1), block=(4, 2, 1))
    >>> shape.blocks, shape.block_size, shape.position(11)
    (6, 8, ((3, 0, 0), (1, 0, 0)))
    """

    grid: Extents
    block: Extents

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return math.prod(self.grid)

    @property
    def block_size(self) -> int:
        """Threads of a block."""
        return math.prod(self.block)

    @property
    def is_line(self) -> bool:
        """Return whether it has no extent along y and z: then a thread's number is enough."""
        return self.grid[1:] == self.block[1:] == (1, 1)

    def position(self, thread: int) -> Position:
        """threadIdx and blockIdx of the thread with this id."""
        block, index = divmod(thread, self.block_size)
        return _along(index, self.block), _along(block, self.grid)

    def __str__(self) -> str:
        if self.blocks == 1:
            return f"one block of {written(self.block)}"
        return f"a grid of {written(self.grid)} blocks of {written(self.block)}"


def written(extents: Extents) -> str:
    """Return extents as a text, without the last axes that have one place.

    >>> written((16, 16, 1)), written((8, 1, 1)), written((2, 1, 4))
    ('16 x 16', '8', '2 x 1 x 4')
    """
    used = max((axis for axis, extent in enumerate(extents) if extent > 1), default=0)
    return " x ".join(map(str, extents[: used + 1]))


def launched(threads: int, block_size: int, shape: Shape | None) -> str:
    """Return the threads of a launch as a text.

    >>> launched(12, 4, None), launched(12, 4, Shape((3, 1, 1), (2, 2, 1)))
    ('12 threads in blocks of 4', '12 threads in a grid of 3 blocks of 2 x 2')
    """
    return f"{threads} threads in {shape or f'blocks of {block_size}'}"


def _sides(extents: Extents) -> Sides:
    x, y, z = extents
    return x > 1, y > 1, z > 1


def _along(number: int, extents: Extents) -> Extents:
    """The place of a number along x, y and z."""
    rest, x = divmod(number, extents[0])
    z, y = divmod(rest, extents[1])
    return x, y, z


@dataclass(frozen=True)
class Grid:
    """The partition of `threads` threads into blocks and warps of `width`, on `dmms` DMMs.

    `shape` is None for a launch without extents along y and z.

    >>> grid = Grid(threads=10, block_size=6, width=4, dmms=2)
    >>> grid.blocks, grid.warps, grid.warp_threads(1), grid.dmm_of_warp(2)
    (2, 3, range(4, 6), 1)
    """

    threads: int
    block_size: int
    width: int
    dmms: int = 1
    shape: Shape | None = None

    @cached_property
    def blocks(self) -> int:
        """Number of blocks."""
        return -(-self.threads // self.block_size)

    @property
    def dmms_used(self) -> int:
        """The number of DMMs with a block: the first ones."""
        return min(self.dmms, self.blocks)

    @cached_property
    def warps_per_block(self) -> int:
        """Warps of a full block."""
        return -(-self.block_size // self.width)

    @cached_property
    def warps(self) -> int:
        """Number of warps of the launch."""
        full, rest = divmod(self.threads, self.block_size)
        return full * self.warps_per_block + -(-rest // self.width)

    @cached_property
    def extents(self) -> Shape:
        """The shape of the launch; (blocks, 1, 1) of (block_size, 1, 1) if none was given."""
        return self.shape or Shape((self.blocks, 1, 1), (self.block_size, 1, 1))

    @cached_property
    def sides(self) -> tuple[Sides, Sides]:
        """The axes along which a block, and the grid, have more than one place."""
        return _sides(self.extents.block), _sides(self.extents.grid)

    @cached_property
    def uniform(self) -> dict[str, int]:
        """The fields of T that all threads share (`mmsim.ir.nodes.UNIFORM_FIELDS`), by name."""
        fields = {"count": self.threads, "block_size": self.block_size, "blocks": self.blocks}
        for name, extents in (("blockDim", self.extents.block), ("gridDim", self.extents.grid)):
            fields |= {f"{name}.{axis}": along for axis, along in zip(AXES, extents, strict=True)}
        return fields

    def block_of_warp(self, warp: int) -> int:
        """The block of a warp."""
        return warp // self.warps_per_block

    def dmm_of_block(self, block: int) -> int:
        """The DMM of a block."""
        return block % self.dmms

    def dmm_of_warp(self, warp: int) -> int:
        """The DMM of a warp."""
        return self.dmm_of_block(self.block_of_warp(warp))

    def warp_threads(self, warp: int) -> range:
        """The thread ids of a warp."""
        block, position = divmod(warp, self.warps_per_block)
        start = block * self.block_size + position * self.width
        end = min((block + 1) * self.block_size, start + self.width, self.threads)
        return range(start, end)

    @cached_property
    def warp_ends(self) -> Integers:
        """The bounds of the warps: warp x has the threads from number x to before number x + 1.

        >>> Grid(threads=10, block_size=6, width=4).warp_ends.tolist()
        [0, 4, 6, 10]
        """
        block, position = np.divmod(np.arange(self.warps), self.warps_per_block)
        return np.append(block * self.block_size + position * self.width, self.threads)

    def position(self, thread: int | None) -> Position | None:
        """threadIdx and blockIdx of a thread, if the launch has a shape."""
        if self.shape is None or thread is None:
            return None
        return self.shape.position(thread)

    def unused(self) -> Grid:
        """The same grid, without the cached numbers of every thread."""
        return Grid(self.threads, self.block_size, self.width, self.dmms, self.shape)

    @cached_property
    def id(self) -> Integers:
        """The id of every thread."""
        return np.arange(self.threads, dtype=np.int64)

    @cached_property
    def block(self) -> Integers:
        """The block of every thread."""
        return np.arange(self.threads, dtype=np.int64) // self.block_size

    @cached_property
    def index(self) -> Integers:
        """The index of every thread in its block."""
        return np.arange(self.threads, dtype=np.int64) % self.block_size

    @cached_property
    def warp(self) -> Integers:
        """The warp of every thread."""
        return self.block * self.warps_per_block + self.index // self.width

    @cached_property
    def lane(self) -> Integers:
        """The lane of every thread: its place in its warp."""
        return self.index % self.width


def make_grid(
    threads: int, block_size: int | None, width: int, dmms: int, shape: Shape | None = None
) -> Grid:
    """Return the `Grid` of a launch, or raise a `LaunchError` that names the wrong number.

    Without a `block_size` all threads are one block.
    """
    whole("threads", threads)
    if threads >= MOST:
        raise RoomError(f"threads={shown(threads)} are more threads than any memory holds")
    if block_size is None:
        block_size = threads
    whole("block_size", block_size)
    if block_size > threads:
        raise LaunchError(
            f"block_size={shown(block_size)} is larger than threads={threads}; "
            f"give a block_size of at most {threads}, or none for one block"
        )
    if shape is not None:
        _check_shape(shape, threads, block_size)
        shape = None if shape.is_line else shape
    return Grid(int(threads), int(block_size), width, dmms, shape)


def _check_shape(shape: Shape, threads: int, block_size: int) -> None:
    """Refuse a shape with other numbers of threads."""
    for extents in (shape.grid, shape.block):
        if len(extents) != len(AXES) or any(extent < 1 for extent in extents):
            raise LaunchError(f"there is no shape {shape}")
    if shape.block_size != block_size or shape.blocks * shape.block_size != threads:
        raise LaunchError(f"{shape} does not have {threads} threads in blocks of {block_size}")


Given = int | Sequence[int]
"""Extents in the user's form: a number along x, or up to three along x, y and z."""


def asked(
    threads: int | None = None,
    block_size: int | None = None,
    grid: Given | None = None,
    block: Given | None = None,
) -> tuple[int, int | None, Shape | None]:
    """Return threads, block size and shape of a launch, given in one of two ways.

    Raises a `LaunchError` for both ways, for neither, and for impossible extents.

    >>> asked(grid=(2, 3), block=32)
    (192, 32, Shape(grid=(2, 3, 1), block=(32, 1, 1)))
    >>> asked(threads=64, block_size=32)
    (64, 32, None)
    """
    if grid is None and block is None:
        if threads is None:
            raise LaunchError("threads are missing; give threads=, or grid= and block=")
        return threads, block_size, None
    if threads is not None or block_size is not None:
        raise LaunchError(
            "a launch is given by threads= and block_size=, or by grid= and block=, not by both"
        )
    if grid is None or block is None:
        missing, there = ("grid", "block") if grid is None else ("block", "grid")
        raise LaunchError(f"{there}= goes with {missing}=; give both")
    shape = Shape(extents_of("grid", grid), extents_of("block", block))
    return shape.blocks * shape.block_size, shape.block_size, shape


def extents_of(name: str, given: Given) -> Extents:
    """Return three extents from up to three given ones; the others are 1.

    >>> extents_of("block", 32), extents_of("block", (8, 4))
    ((32, 1, 1), (8, 4, 1))
    """
    along = list(given) if isinstance(given, Sequence | np.ndarray) else [given]
    if isinstance(given, str) or not 1 <= len(along) <= len(AXES):
        raise LaunchError(f"{name}={shown(given)}, but {name} is one to three numbers: x, y, z")
    for axis, extent in zip(AXES, along, strict=False):
        whole(f"{name} along {axis}", extent)
    x, y, z = (*map(int, along), *[1] * (len(AXES) - len(along)))
    return x, y, z
