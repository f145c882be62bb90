"""A sparse n x n matrix times a vector on the DMM, the UMM and the HMM.

In *compressed rows* (CSR) the nonzero words of row i are v[e] in the columns c[e], for e from r[i]
up to r[i + 1]. In *ELLPACK* row t of v and c has the t-th nonzero word of each row of the matrix;
shorter rows are filled with zeros. Bell, Garland, "Implementing Sparse Matrix-Vector Multiplication
on Throughput-Oriented Processors", SC 2009, have these ways for GPUs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim_algorithms.errors import require


@mm.program
def row_of_thread(
    T: mm.Thread, r: mm.Array, c: mm.Array, v: mm.Array, x: mm.Array, y: mm.Array
) -> None:
    """y is the matrix in compressed rows times x: a thread for each row."""
    for i in range(T.id, y.size, T.count):
        s = 0
        for e in range(r[i], r[i + 1]):
            s += v[e] * x[c[e]]
        y[i] = s


@mm.program
def row_of_warp(
    T: mm.Thread, r: mm.Array, c: mm.Array, v: mm.Array, x: mm.Array, y: mm.Array, w: int
) -> None:
    """y is the matrix in compressed rows times x: a warp for each row.

    The lanes pass each other their sums by exchange. w is the width, a power of two that divides p.
    """
    for i in range(T.id // w, y.size, T.count // w):
        s = 0
        for e in range(r[i] + T.lane, r[i + 1], w):
            s += v[e] * x[c[e]]
        h = w // 2
        while h > 0:
            s += mm.warp.shuffle_xor(s, h)
            h = h // 2
        if T.lane == 0:
            y[i] = s


@mm.program
def ell(T: mm.Thread, c: mm.Array, v: mm.Array, x: mm.Array, y: mm.Array) -> None:
    """y is the matrix in ELLPACK times x: a thread for each row."""
    for i in range(T.id, y.size, T.count):
        s = 0
        for t in range(c.shape[0]):
            s += v[t, i] * x[c[t, i]]
        y[i] = s


@mm.program
def ell_shared(T: mm.Thread, c: mm.Array, v: mm.Array, x: mm.Array, y: mm.Array) -> None:
    """The same with a copy of x in the shared memory of each block."""
    own = mm.shared(x.size, dtype=x.dtype)
    for i in range(T.index, x.size, T.block_size):
        own[i] = x[i]
    T.barrier()
    for i in range(T.id, y.size, T.count):
        s = 0
        for t in range(c.shape[0]):
            s += v[t, i] * own[c[t, i]]
        y[i] = s


def grouped(n: int, k: int, w: int) -> npt.NDArray[Any]:
    """The columns of k nonzero words for each of n rows: the same k for w rows, in order.

    The first is a multiple of w, so that a warp's words of x are consecutive, or one.

    >>> grouped(4, 3, 2).tolist()
    [[0, 1, 2], [0, 1, 2], [2, 3, 0], [2, 3, 0]]
    """
    i, t = np.arange(n)[:, None], np.arange(k)
    return np.asarray((i // w * w + t) % n)


def scattered(n: int, k: int, w: int) -> npt.NDArray[Any]:
    """The columns of k nonzero words for each of n rows: w rows use w groups and w banks.

    w^2 divides n.

    >>> scattered(4, 2, 2).tolist()
    [[0, 2], [3, 1], [2, 0], [1, 3]]
    """
    i, t = np.arange(n)[:, None], np.arange(k)
    return np.asarray((i % w * (w + 1) + (i // w + t) * w) % n)


def values(n: int, k: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Nonzero words, k for each of n rows, and a vector; the same each time."""
    return np.arange(n * k).reshape(n, k) * 31 % 101 + 1, np.arange(n) * 37 % 103


def times(
    columns: npt.NDArray[Any], words: npt.NDArray[Any], x: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    """The product, from the columns and the nonzero words of each row.

    >>> times(np.array([[0], [0]]), np.array([[2], [3]]), np.array([5, 7])).tolist()
    [10, 15]
    """
    return np.asarray((words * x[columns]).sum(axis=1))


def compressed(
    columns: npt.NDArray[Any], words: npt.NDArray[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """r, c and v of a matrix with k nonzero words in each row."""
    n, k = columns.shape
    return np.arange(n + 1) * k, columns.ravel(), words.ravel()


# What `mmsim run` starts from.


@row_of_thread.example
def row_of_thread_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """`size` rows (default: 4w) of five nonzero words, a thread for each row."""
    n = size or 4 * width
    words, x = values(n, 5)
    c = np.random.default_rng(seed).integers(0, n, (n, 5))
    return mm.Example(*compressed(c, words), x, np.zeros(n, int), threads=n)


@row_of_warp.example
def row_of_warp_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """`size` rows (default: 4w) of 2w nonzero words, a warp for each of w rows."""
    w = width
    require(w.bit_count() == 1, f"w is a power of two, not w = {w}", "CSR, a warp for each row")
    n = size or 4 * w
    words, x = values(n, 2 * w)
    c = np.random.default_rng(seed).integers(0, n, (n, 2 * w))
    return mm.Example(*compressed(c, words), x, np.zeros(n, int), w, threads=w * w)


@ell.example
@ell_shared.example
def ell_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """`size` rows (default: 4w) of five nonzero words, two blocks."""
    n = size or 4 * width
    words, x = values(n, 5)
    c = np.random.default_rng(seed).integers(0, n, (5, n))
    return mm.Example(
        *(c, words.T.copy(), x, np.zeros(n, int)), threads=2 * width, block_size=width
    )
