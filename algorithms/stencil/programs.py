"""A five-point stencil on the DMM, the UMM and the HMM.

Each word of an s x s matrix of n = s^2 words becomes the sum of itself and its four neighbours. The
matrix is a torus: the first row follows the last one, and the first column the last one. These are
textbook programs.
"""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm


@mm.program
def by_rows(T: mm.Thread, a: mm.Array, b: mm.Array) -> None:
    """Consecutive threads have consecutive words of a row."""
    s = a.shape[0]
    for e in range(T.id, a.size, T.count):
        i, j = e // s, e % s
        x = a[i, j] + a[(i + s - 1) % s, j] + a[(i + 1) % s, j]
        b[i, j] = x + a[i, (j + s - 1) % s] + a[i, (j + 1) % s]


@mm.program
def by_columns(T: mm.Thread, a: mm.Array, b: mm.Array) -> None:
    """Consecutive threads have consecutive words of a column."""
    s = a.shape[0]
    for e in range(T.id, a.size, T.count):
        i, j = e % s, e // s
        x = a[i, j] + a[(i + s - 1) % s, j] + a[(i + 1) % s, j]
        b[i, j] = x + a[i, (j + s - 1) % s] + a[i, (j + 1) % s]


@mm.program
def by_bands(T: mm.Thread, a: mm.Array, b: mm.Array, r: int) -> None:
    """A block of s threads for each band of r rows; it fetches the band and a row above and below.

    r divides s. The five words of each sum are read from the shared memory.
    """
    s = a.shape[0]
    band = mm.shared((r + 2, a.shape[1]), dtype=a.dtype)
    j, top = T.index, T.block * r
    for i in range(r + 2):
        band[i, j] = a[(top + i + s - 1) % s, j]
    T.barrier()
    for i in range(1, r + 1):
        x = band[i, j] + band[i - 1, j] + band[i + 1, j]
        b[top + i - 1, j] = x + band[i, (j + s - 1) % s] + band[i, (j + 1) % s]


def stencil(a: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The sums of each word and its four neighbours on the torus.

    >>> stencil(np.array([[1, 0], [0, 0]])).tolist()
    [[1, 2], [2, 0]]
    """
    moved = [np.roll(a, shift, axis) for axis in (0, 1) for shift in (1, -1)]
    return np.asarray(a + sum(moved))


def matrix(n: int) -> npt.NDArray[Any]:
    """A square matrix of n words, the same each time."""
    s = isqrt(n)
    return (np.arange(n).reshape(s, s) * 7919 + 13) % 1009


def side(width: int, size: int) -> int:
    """The least multiple of the width with a square of so many words; 2w for none."""
    least = isqrt(max(size, 1) - 1) + 1 if size else 2 * width
    return -(-least // width) * width


# What `mmsim run` starts from.


@by_rows.example
@by_columns.example
def example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A matrix of at least `size` words (default: 2w x 2w), a thread for each of a row."""
    s = side(width, size)
    return mm.Example(matrix(s * s), np.zeros((s, s), int), threads=s)


@by_bands.example
def by_bands_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A matrix of at least `size` words (default: 2w x 2w) in bands of w rows."""
    s = side(width, size)
    return mm.Example(
        matrix(s * s), np.zeros((s, s), int), width, threads=s * s // width, block_size=s
    )
