"""The product of two s x s matrices on the DMM, the UMM and the HMM.

These are textbook programs. Tiles under a random address permute-shift (RAP) come from Nakano,
Matsumae, Ito, "The Random Address Permute-Shift Technique for the Shared Memory on GPUs", ICPP
Workshops 2014; here they serve a product.
"""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm


@mm.program
def by_rows(T: mm.Thread, a: mm.Array, b: mm.Array, c: mm.Array) -> None:
    """c = a b: consecutive threads have consecutive elements of a row of c.

    A warp reads one word of a and w consecutive words of b.
    """
    s = a.shape[0]
    for e in range(T.id, c.size, T.count):
        i, j = e // s, e % s
        x = 0
        for k in range(s):
            x += a[i, k] * b[k, j]
        c[i, j] = x


@mm.program
def by_columns(T: mm.Thread, a: mm.Array, b: mm.Array, c: mm.Array) -> None:
    """c = a b: consecutive threads have consecutive elements of a column of c.

    A warp reads w words of a column of a, and writes a column of c.
    """
    s = a.shape[0]
    for e in range(T.id, c.size, T.count):
        i, j = e % s, e // s
        x = 0
        for k in range(s):
            x += a[i, k] * b[k, j]
        c[i, j] = x


@mm.program
def in_registers(T: mm.Thread, a: mm.Array, b: mm.Array, c: mm.Array, t: int) -> None:
    """c = a b: each thread has t x t elements of c in registers, s/t rows and s/t columns apart.

    For t^2 products it reads t words of a and t of b.
    """
    s = a.shape[0]
    q = s // t
    i, j = T.id // q, T.id % q
    x = mm.registers(t * t, dtype=c.dtype)
    y = mm.registers(t, dtype=b.dtype)
    for k in range(s):
        for v in range(t):
            y[v] = b[k, v * q + j]
        for u in range(t):
            z = a[u * q + i, k]
            for v in range(t):
                x[u * t + v] += z * y[v]
    for u in range(t):
        for v in range(t):
            c[u * q + i, v * q + j] = x[u * t + v]


@mm.program
def tiled(T: mm.Thread, a: mm.Array, b: mm.Array, c: mm.Array, w: int) -> None:
    """c = a b: a block of w^2 threads for each w x w tile of c, with tiles of a and b in turn.

    A block uses each word from the global memory w times. No access to the shared memory has a
    conflict: a warp reads one word of one tile, and a row of the other.
    """
    one = mm.shared((w, w), dtype=a.dtype)
    two = mm.shared((w, w), dtype=b.dtype)
    m = a.shape[0] // w
    I, J = T.block // m, T.block % m
    i, j = T.index // w, T.index % w
    x = 0
    for K in range(m):
        one[i, j] = a[I * w + i, K * w + j]
        two[i, j] = b[K * w + i, J * w + j]
        T.barrier()
        for k in range(w):
            x += one[i, k] * two[k, j]
        T.barrier()
    c[I * w + i, J * w + j] = x


@mm.program
def tiled_by_rows(T: mm.Thread, a: mm.Array, b: mm.Array, c: mm.Array, r: mm.Array, w: int) -> None:
    """c = a b^T, the products of the rows of a with the rows of b, by tiles.

    A warp reads a column of the second tile. Row i of this tile is rotated by r[i]: with r = 0
    (RAW) the column is in one bank, with a permutation r (RAP) in w different ones.
    """
    one = mm.shared((w, w), dtype=a.dtype)
    two = mm.shared((w, w), dtype=b.dtype)
    m = a.shape[0] // w
    I, J = T.block // m, T.block % m
    i, j = T.index // w, T.index % w
    there, here = r[i], r[j]
    x = 0
    for K in range(m):
        one[i, j] = a[I * w + i, K * w + j]
        two[i, (j + there) % w] = b[J * w + i, K * w + j]
        T.barrier()
        for k in range(w):
            x += one[i, k] * two[j, (k + here) % w]
        T.barrier()
    c[I * w + i, J * w + j] = x


def factors(n: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Two square matrices of n words each, the same each time."""
    s = isqrt(n)
    numbers = np.random.default_rng(n).integers(-9, 10, (2, s, s))
    return numbers[0], numbers[1]


# What `mmsim run` starts from.


def _matrices(width: int, size: int) -> tuple[npt.NDArray[Any], ...]:
    """Two square matrices of at least `size` words (default: 2w x 2w), and zeros."""
    s = -(-isqrt(size or 4 * width * width) // (2 * width)) * 2 * width
    a, b = factors(s * s)
    return a, b, np.zeros_like(a)


@by_rows.example
@by_columns.example
def naive_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """Several elements for each of w^2 threads."""
    matrices = _matrices(width, size)
    return mm.Example(*matrices, threads=width * width)


@in_registers.example
def registers_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """Four elements for each thread."""
    matrices = _matrices(width, size)
    return mm.Example(*matrices, 2, threads=matrices[0].size // 4)


@tiled.example
def tiles_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A block for each tile."""
    matrices = _matrices(width, size)
    return mm.Example(*matrices, width, threads=matrices[0].size, block_size=width * width)


@tiled_by_rows.example
def rotated_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A block for each tile, under a RAP."""
    matrices = _matrices(width, size)
    r = np.random.RandomState(seed).permutation(width)
    return mm.Example(*matrices, r, width, threads=matrices[0].size, block_size=width * width)
