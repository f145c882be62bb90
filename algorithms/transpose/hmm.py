"""Transposing a matrix on the HMM, tile by tile through shared memory (ICPP section V)."""

from __future__ import annotations

from functools import lru_cache
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim_algorithms.errors import PreconditionError

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


@lru_cache(64)
def zeros(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """An array for a launch to fill: one zero, seen everywhere.

    The launch makes its own copy to write to; a second array of that size isn't needed.
    """
    seen: npt.NDArray[Any] = np.ndarray(shape, dtype, np.zeros((), dtype), 0, (0,) * len(shape))
    seen.flags.writeable = False
    return seen


def transposed(
    machine: mm.HMM,
    a: npt.ArrayLike,
    *,
    schedule: mm.Schedule = "synchronous",
    trace: bool | None = None,
) -> mm.Run:
    """Transpose a matrix on an HMM of d DMMs: 2n/w + 2n/(dw) + 2L - 2 time units.

    Raises `PreconditionError` unless w divides both sides and d the number of tiles, n/w^2.

    >>> machine = mm.HMM(dmms=2, width=4, global_latency=10)
    >>> transposed(machine, np.arange(64).reshape(8, 8)).time
    66
    """
    data = np.asarray(a)
    w, d = machine.width, machine.dmms
    if data.ndim != 2:
        raise PreconditionError(f"a is a matrix, not of shape {data.shape} ({SOURCE})")
    rows, columns = data.shape
    if not data.size or rows % w or columns % w:
        text = f"w divides both sides, but w={w} and the matrix is {rows} x {columns}"
        raise PreconditionError(f"{text} ({SOURCE})")
    tiles = data.size // (w * w)
    if tiles % d:
        text = f"d divides the number of tiles, but d={d} and n/w^2={tiles}"
        raise PreconditionError(f"{text} ({SOURCE})")
    return machine.run(
        transpose,
        data,
        zeros((columns, rows), data.dtype),
        w,
        threads=data.size,
        block_size=w * w,
        schedule=schedule,
        trace=trace,
    )
