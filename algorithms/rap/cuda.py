"""RAP section VI: its CUDA, which computes the words of a RAP layout itself, and its misprints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim_algorithms.rap.programs import matrix

Integers = npt.NDArray[np.int64]


@mm.program
def cuda_as_printed(T: mm.Thread, a: mm.Array, b: mm.Array, packed: mm.Array) -> None:
    """RAP section VI, [The RAP implementation of the CRSW transpose], as printed, for w = 32.

    Word (j + r_i) mod 32 of row i of `a` holds element (i, j). The 32 shifts are packed six to a
    word (Figure 7); every thread first loads these words into its registers r. A warp writes a
    whole column of `b`, in one bank, and the result is not in the layout of `a`.
    """
    r = mm.registers(6)
    for n in range(6):
        r[n] = packed[n]
    i, j = T.id // 32, T.id % 32
    b[(j + (r[i // 6] >> (5 * (i % 6)))) & 31, i] = a[i, (j + (r[i // 6] >> (5 * (i % 6)))) & 31]


@mm.program
def cuda_corrected(T: mm.Thread, a: mm.Array, b: mm.Array, packed: mm.Array) -> None:
    """The same with b[j][(i + r_j) mod 32] on the left: row j of `b` is rotated by its own r_j."""
    r = mm.registers(6)
    for n in range(6):
        r[n] = packed[n]
    i, j = T.id // 32, T.id % 32
    b[j, (i + (r[j // 6] >> (5 * (j % 6)))) & 31] = a[i, (j + (r[i // 6] >> (5 * (i % 6)))) & 31]


def pack(shifts: Iterable[int]) -> Integers:
    """32 shifts of 5 bits, six to a word, the first lowest (RAP Figure 7)."""
    packed = np.zeros(6, dtype=np.int64)
    for i, shift in enumerate(shifts):
        packed[i // 6] |= shift << (5 * (i % 6))
    return packed


def rotated(a: npt.NDArray[Any], shifts: Integers) -> npt.NDArray[Any]:
    """The words of a matrix in RAP layout: element (i, j) in word (j + r_i) mod w of row i."""
    words = np.empty_like(a)
    i, j = np.indices(a.shape)
    words[i, (j + shifts[:, None]) % a.shape[1]] = a
    return words


@cuda_as_printed.example
@cuda_corrected.example
def cuda_example(width: int = 32, size: int = 0, seed: int = 0) -> mm.Example:
    """A 32 x 32 matrix whatever the machine's width, its rows already rotated."""
    shifts = np.random.RandomState(seed).permutation(32)
    a = rotated(matrix(32), shifts)
    return mm.Example(a, np.zeros_like(a), pack(shifts), threads=1024)
