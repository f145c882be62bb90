"""The names that a program uses: `Thread`, `Array`, `shared`, `registers`, `vector`.

They exist for the reader, the type checker and the editor. A program is parsed, never called, so
nothing here runs. A call outside a program raises an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from mmsim.frontend.thread.intrinsics import outside


class Triple(Protocol):
    """Three numbers, in CUDA's words."""

    @property
    def x(self) -> int:
        """Along x, the axis that is counted first."""

    @property
    def y(self) -> int:
        """Along y."""

    @property
    def z(self) -> int:
        """Along z, the axis that is counted last."""


class Thread(Protocol):
    """The thread T, the first parameter of a program."""

    @property
    def id(self) -> int:
        """The thread's number, 0..p-1."""

    @property
    def index(self) -> int:
        """The thread's number in its block."""

    @property
    def block(self) -> int:
        """The number of the thread's block."""

    @property
    def lane(self) -> int:
        """The thread's place in its warp, 0..w-1."""

    @property
    def warp(self) -> int:
        """The number of the thread's warp, counted over all blocks."""

    @property
    def count(self) -> int:
        """p, the number of threads."""

    @property
    def block_size(self) -> int:
        """Threads of a block (the last block may have fewer)."""

    @property
    def blocks(self) -> int:
        """Number of blocks."""

    @property
    def threadIdx(self) -> Triple:
        """The thread's place in its block."""

    @property
    def blockIdx(self) -> Triple:
        """The place of the thread's block in the grid."""

    @property
    def blockDim(self) -> Triple:
        """Threads of a block along x, y and z."""

    @property
    def gridDim(self) -> Triple:
        """Blocks of the grid along x, y and z."""

    def barrier(self) -> None:
        """Wait until every unfinished warp of the block is at a barrier."""

    def barrier_or(self, test: Any) -> bool:
        """A barrier that returns to all its threads whether any thread's test is true."""

    def barrier_and(self, test: Any) -> bool:
        """A barrier that returns to all its threads whether all threads' tests are true."""

    def barrier_count(self, test: Any) -> int:
        """A barrier that returns to all its threads the number of threads with a true test."""

    def grid_barrier(self) -> None:
        """Wait until every unfinished warp of all blocks is at a barrier of the grid."""


class Array(Protocol):
    """An array parameter, an `mm.shared` or an `mm.registers` array, as a program sees it."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""

    @property
    def size(self) -> int:
        """Number of elements."""

    @property
    def dtype(self) -> Any:
        """The element type, for `mm.shared(..., dtype=a.dtype)`."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: Any) -> Any: ...

    def __setitem__(self, index: Any, value: Any) -> None: ...


def shared(shape: int | Sequence[int], dtype: Any = None) -> Array:
    """An array in shared memory, one for each block.

    On the HMM it lies in the shared memory of the block's DMM, on the DMM and the UMM in the
    machine's one memory. `shape` consists of numbers that are the same for all threads. Without a
    `dtype` the stored values decide the type. Its words hold 0 until they are written.
    """
    outside("mm.shared")


def registers(size: int | Sequence[int], dtype: Any = None) -> Array:
    """`size` local registers of each thread: reading and writing them costs no time.

    They hold 0 until they are written.
    """
    outside("mm.registers")


def vector(array: Array, count: int) -> Any:
    """The vectors of an array: `mm.vector(a, 4)[i]` accesses four adjacent elements together.

    Vector i holds the elements 4 * i .. 4 * i + 3. In an array of several axes the last index
    counts vectors. A read gives a tuple of `count` numbers, a write takes one. `count` is 2, 4, 8
    or 16. All the words are one access of the warp, as with CUDA's `float4`.

    >>> import numpy as np, mmsim as mm
    >>> @mm.program
    ... def doubled(T, a, b):
    ...     x, y, z, w = mm.vector(a, 4)[T.id]
    ...     mm.vector(b, 4)[T.id] = 2 * x, 2 * y, 2 * z, 2 * w
    >>> run = mm.DMM(4, 1).run(doubled, np.arange(16), np.zeros(16, int), threads=4)
    >>> run.arrays["b"][:8].tolist(), [(row.requests, row.stages) for row in run.accesses]
    ([0, 2, 4, 6, 8, 10, 12, 14], [(1, 4), (1, 4)])
    """
    outside("mm.vector")
