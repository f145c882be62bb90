"""The summed area table of a matrix on the HMM: 2R2W, 2R1W and 1R1W.

Kasagi, Nakano, Ito, "Parallel Algorithms for the Summed Area Table on the Asynchronous Hierarchical
Memory Machine, with GPU Implementations", ICPP 2014. The names count, for each word of the matrix,
the reads from the global memory and the writes to it. The programs are written from these names and
the abstract. b[x][y] is the sum of a[i][j] over i <= x, j <= y.

Tiles of w x w words lie in the shared memory in the diagonal arrangement: element (i, j) at column
(i + j) mod w, so that neither a row nor a column meets a bank conflict.
"""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm


@mm.program
def down(T: mm.Thread, a: mm.Array, b: mm.Array) -> None:
    """Prefix sums of the columns of a, a thread for each column: coalesced."""
    j = T.id
    s = 0
    for i in range(a.shape[0]):
        s += a[i, j]
        b[i, j] = s


@mm.program
def along(T: mm.Thread, b: mm.Array) -> None:
    """Prefix sums of the rows of b in place, a thread for each row: a group for each word."""
    i = T.id
    s = 0
    for j in range(b.shape[1]):
        s += b[i, j]
        b[i, j] = s


@mm.program
def borders(T: mm.Thread, a: mm.Array, above: mm.Array, left: mm.Array, w: int) -> None:
    """2R1W, first launch: the sums that each tile adds to the tiles below and to the right of it.

    A block of w^2 threads for tile (I, J). above[I, J w + j] is the sum of the tile's column j,
    left[J, I w + i] that of its rows up to row i.
    """
    tile = mm.shared((w, w), dtype=a.dtype)
    m = a.shape[1] // w
    I, J = T.block // m, T.block % m
    i, j = T.index // w, T.index % w
    tile[i, (i + j) % w] = a[I * w + i, J * w + j]
    T.barrier()
    if i == 0:
        s = 0
        for x in range(w):
            s += tile[x, (x + j) % w]
            tile[x, (x + j) % w] = s
        above[I, J * w + j] = s
    T.barrier()
    if i == 0:
        s = 0
        for y in range(w):
            s += tile[j, (j + y) % w]
        left[J, I * w + j] = s


@mm.program
def before(T: mm.Thread, above: mm.Array, left: mm.Array) -> None:
    """2R1W, second launch: the sums before each tile, a thread for each column and row."""
    s = 0
    for I in range(above.shape[0]):
        x = above[I, T.id]
        above[I, T.id] = s
        s += x
    s = 0
    for J in range(left.shape[0]):
        x = left[J, T.id]
        left[J, T.id] = s
        s += x


@mm.program
def corners(T: mm.Thread, left: mm.Array, corner: mm.Array, w: int) -> None:
    """2R1W, third launch: corner[I, J] is the sum of all words above and left of tile (I, J)."""
    J = T.id
    s = 0
    for I in range(corner.shape[0]):
        x = left[J, I * w + w - 1]
        corner[I, J] = s
        s += x


@mm.program
def finished(
    T: mm.Thread,
    a: mm.Array,
    b: mm.Array,
    above: mm.Array,
    left: mm.Array,
    corner: mm.Array,
    w: int,
) -> None:
    """2R1W, last launch: the table of each tile, begun with the sums before it."""
    tile = mm.shared((w, w), dtype=a.dtype)
    m = a.shape[1] // w
    I, J = T.block // m, T.block % m
    i, j = T.index // w, T.index % w
    tile[i, (i + j) % w] = a[I * w + i, J * w + j]
    T.barrier()
    if i == 0:
        s = above[I, J * w + j]
        for x in range(w):
            s += tile[x, (x + j) % w]
            tile[x, (x + j) % w] = s
    T.barrier()
    if i == 0:
        s = left[J, I * w + j] + corner[I, J]
        for y in range(w):
            s += tile[j, (j + y) % w]
            tile[j, (j + y) % w] = s
    T.barrier()
    b[I * w + i, J * w + j] = tile[i, (i + j) % w]


@mm.program
def wave(
    T: mm.Thread,
    a: mm.Array,
    b: mm.Array,
    above: mm.Array,
    left: mm.Array,
    w: int,
    first: int,
    k: int,
) -> None:
    """1R1W, launch k: the tiles (I, J) with I + J = k, from I = first on, a block for each.

    above[y] is the sum of column y down to the tile, left[x] the table's word left of the tile in
    row x. The block leaves both for the tiles of the next launch.
    """
    tile = mm.shared((w, w), dtype=a.dtype)
    I, J = first + T.block, k - first - T.block
    i, j = T.index // w, T.index % w
    tile[i, (i + j) % w] = a[I * w + i, J * w + j]
    T.barrier()
    if i == 0:
        s = above[J * w + j]
        for x in range(w):
            s += tile[x, (x + j) % w]
            tile[x, (x + j) % w] = s
        above[J * w + j] = s
    T.barrier()
    if i == 0:
        s = left[I * w + j]
        for y in range(w):
            s += tile[j, (j + y) % w]
            tile[j, (j + y) % w] = s
        left[I * w + j] = s
    T.barrier()
    b[I * w + i, J * w + j] = tile[i, (i + j) % w]


# What `mmsim run` starts from.


def square(width: int, size: int) -> tuple[npt.NDArray[Any], int]:
    """A square matrix of at least `size` words (default: 2w x 2w), and its tiles on a side."""
    m = -(-isqrt(size or 4 * width * width) // width)
    return np.arange((m * width) ** 2).reshape(m * width, m * width), m


@down.example
def columns_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A square matrix, a thread for each column."""
    a, _ = square(width, size)
    return mm.Example(a, np.zeros_like(a), threads=len(a), block_size=width)


@along.example
def rows_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A square matrix, a thread for each row."""
    a, _ = square(width, size)
    return mm.Example(a, threads=len(a), block_size=width)


@borders.example
def borders_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A square matrix, a block for each tile."""
    a, m = square(width, size)
    above = np.zeros((m, len(a)), int)
    return mm.Example(a, above, above.copy(), width, threads=a.size, block_size=width * width)


@before.example
def before_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """The sums of tiles, a thread for each column and row."""
    a, m = square(width, size)
    return mm.Example(a[:m], a[:m].copy(), threads=len(a), block_size=width)


@corners.example
def corners_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """The sums of rows left of each tile, a thread for each column of tiles."""
    a, m = square(width, size)
    return mm.Example(a[:m], np.zeros((m, m), int), width, threads=m)


@finished.example
def finished_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A square matrix and the sums before its tiles, a block for each."""
    a, m = square(width, size)
    arguments = (a, np.zeros_like(a), a[:m].copy(), a[:m].copy(), a[:m, :m].copy())
    return mm.Example(*arguments, width, threads=a.size, block_size=width * width)


@wave.example
def wave_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """The longest wave of a square matrix: the tiles from its lower left to its upper right."""
    a, m = square(width, size)
    border = np.zeros(len(a), int)
    tiles = {"threads": m * width * width, "block_size": width * width}
    return mm.Example(a, np.zeros_like(a), border, border.copy(), width, 0, m - 1, **tiles)
