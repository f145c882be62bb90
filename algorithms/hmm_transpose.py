"""Transposing a matrix on the HMM, tile by tile through shared memory (ICPP section V)."""

from __future__ import annotations

from math import isqrt

import numpy as np
import numpy.typing as npt

import mmsim as mm
from algorithms.errors import require

SOURCE = "ICPP, section V"


@mm.program
def transpose(T: mm.Thread, a: mm.Array, b: mm.Array, w: int) -> None:
    """ICPP section V, [Transpose of a matrix of size w x w], a block of w^2 threads for each tile.

    Tile A(I, J) goes to tile B(J, I). alpha[i, j] lies at i w + (i + j) mod w, the diagonal
    arrangement: a row's words are in different banks, and so are a column's.
    """
    alpha = mm.shared((w, w))
    I, J = T.block // (a.shape[1] // w), T.block % (a.shape[1] // w)
    i, j = T.index // w, T.index % w
    alpha[i, (i + j) % w] = a[I * w + i, J * w + j]
    T.barrier()
    b[J * w + i, I * w + j] = alpha[j, (j + i) % w]


@transpose.example
def tiles_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A square matrix of at least `size` words (default: 2w x 2w) whose side w divides."""
    side = -(-isqrt(size or 4 * width * width) // width) * width
    a = np.arange(side * side).reshape(side, side)
    return mm.Example(a, np.zeros_like(a), width, threads=a.size, block_size=width * width)


def transposed(
    machine: mm.HMM, a: npt.ArrayLike, *, schedule: mm.Schedule = "synchronous"
) -> mm.Run:
    """Transpose a matrix on an HMM of d DMMs: 2n/w + 2n/(dw) + 2L - 2 time units.

    Raises `PreconditionError` unless w divides both sides and d the number of tiles, n/w^2.

    >>> machine = mm.HMM(dmms=2, width=4, global_latency=10)
    >>> transposed(machine, np.arange(64).reshape(8, 8)).time
    66
    """
    data = np.asarray(a)
    w, d = machine.width, machine.dmms
    require(data.ndim == 2, f"a is a matrix, not of shape {data.shape}", SOURCE)
    rows, columns = data.shape
    require(
        data.size > 0 and rows % w == 0 and columns % w == 0,
        f"w divides both sides, but w={w} and the matrix is {rows} x {columns}",
        SOURCE,
    )
    tiles = data.size // (w * w)
    require(tiles % d == 0, f"d divides the number of tiles, but d={d} and n/w^2={tiles}", SOURCE)
    return machine.run(
        transpose,
        data,
        np.zeros_like(data.T, order="C"),
        w,
        threads=data.size,
        block_size=w * w,
        schedule=schedule,
    )
