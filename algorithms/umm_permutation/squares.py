"""Permuting the rows and the columns of a w^2 x w^2 matrix on the UMM (SMM section 7).

A row has w^2 words, which are a w x w matrix. A warp permutes it in three steps, as in Lemma 7.4.
The columns are permuted by a transpose, a row-wise permutation, and the transpose back. Rows,
columns and rows again make any permutation of w^4 words.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim_algorithms.colouring.schedules import three_steps
from mmsim_algorithms.errors import require
from mmsim_algorithms.transpose.umm import transpose
from mmsim_algorithms.umm_permutation.programs import random_rows

Integers = npt.NDArray[np.int64]
SOURCE = "SMM section 7, w^4 words"


def within_rows(T: mm.Thread, a: mm.Array, b: mm.Array, d: mm.Array, top: int) -> None:
    """Permute each row of the w x w matrix that begins at row `top`."""
    for t in range(top, top + a.shape[1]):
        word, column = a[t, T.lane], d[t, T.lane]
        mm.warp.sync()
        b[t, column] = word
    mm.warp.sync()


def turned(T: mm.Thread, b: mm.Array, top: int) -> None:
    """Transpose the w x w matrix that begins at row `top` by rotating, in place."""
    w, i = b.shape[1], T.lane
    r = mm.registers(w)
    for t in range(w):
        r[t] = b[top + t, (t + i) % w]
    mm.warp.sync()
    for t in range(w):
        b[top + t, (t - i) % w] = r[(t - i) % w]
    mm.warp.sync()


@mm.program
def long_rows(
    T: mm.Thread, a: mm.Array, b: mm.Array, first: mm.Array, second: mm.Array, third: mm.Array
) -> None:
    """SMM section 7: the row-wise permutation of w^2 x w^2 words, a row of w^2 words to a warp.

    The arrays have rows of w words, so w of them are a row of the matrix. A thread has w registers.
    (The lanes of a GPU's warp wait for each other at `mm.warp.sync`, as they share words of b.)
    """
    w = a.shape[1]
    for row in range(T.warp, a.shape[0] // w, T.count // w):
        within_rows(T, a, b, first, row * w)
        turned(T, b, row * w)
        within_rows(T, b, b, second, row * w)
        turned(T, b, row * w)
        within_rows(T, b, b, third, row * w)


def row_tables(P: npt.ArrayLike, w: int) -> tuple[Integers, Integers, Integers]:
    """The tables of `long_rows`: row i of P permutes row i of the matrix.

    >>> [table.shape for table in row_tables([[3, 2, 1, 0]] * 4, 2)]
    [(8, 2), (8, 2), (8, 2)]
    """
    rows = np.asarray(P)
    require(
        rows.ndim == 2
        and rows.shape[1] == w * w
        and np.array_equal(np.sort(rows, axis=1), np.tile(np.arange(w * w), (len(rows), 1))),
        f"each row of P is a permutation of 0..{w * w - 1} (w = {w}); the shape is {rows.shape}",
        SOURCE,
    )
    first, second, third = zip(*(three_steps(row, w) for row in rows), strict=True)
    return np.concatenate(first), np.concatenate(second), np.concatenate(third)


def _square(a: npt.NDArray[np.int64], w: int) -> None:
    """Refuse a matrix that is not w^2 x w^2."""
    require(a.shape == (w * w, w * w), f"a has w^2 rows of w^2 words, not {a.shape}", SOURCE)


def rows_permuted(
    machine: mm.UMM,
    a: npt.NDArray[np.int64],
    P: npt.ArrayLike,
    threads: int,
    schedule: mm.Schedule = "synchronous",
) -> mm.Run:
    """Move a[i][j] to column P[i][j] of row i; b of the run is the result, in rows of w words.

    a is a w^2 x w^2 matrix. Raises `PreconditionError` unless w divides the number of threads.

    >>> a = np.arange(16).reshape(4, 4)
    >>> run = rows_permuted(mm.UMM(width=2, latency=3), a, [[3, 2, 1, 0]] * 4, 4)
    >>> run.arrays["b"].reshape(4, 4)[0], run.time
    (array([3, 2, 1, 0]), 208)
    """
    w, p = machine.width, threads
    _square(a, w)
    require(w <= p <= w**3 and p % w == 0, f"w = {w} divides p, w <= p <= w^3, not p = {p}", SOURCE)
    words = a.reshape(-1, w)
    tables = row_tables(P, w)
    return machine.run(
        long_rows, words, np.zeros_like(words), *tables, threads=p, schedule=schedule
    )


def columns_permuted(
    machine: mm.UMM,
    a: npt.NDArray[np.int64],
    P: npt.ArrayLike,
    threads: int,
    schedule: mm.Schedule = "synchronous",
) -> mm.Run:
    """Move a[i][j] to row P[j][i] of column j: transpose, permute rows, transpose; three launches.

    >>> a = np.arange(16).reshape(4, 4)
    >>> run = columns_permuted(mm.UMM(width=2, latency=3), a, [[3, 2, 1, 0]] * 4, 4)
    >>> run.arrays["b"][:, 0], run.launches
    (array([12,  8,  4,  0]), 3)
    """
    _square(a, machine.width)
    there = transpose(machine, a, threads, schedule=schedule)
    rows = rows_permuted(machine, there.arrays["b"], P, threads, schedule)
    back = transpose(machine, rows.arrays["b"].reshape(a.shape), threads, schedule=schedule)
    return mm.total([there, rows, back])


def fourth_power(
    machine: mm.UMM,
    a: npt.NDArray[np.int64],
    P: npt.ArrayLike,
    threads: int,
    schedule: mm.Schedule = "synchronous",
) -> mm.Run:
    """Any permutation of w^4 words: rows, columns and rows of a w^2 x w^2 matrix, five launches.

    >>> a = np.arange(16)
    >>> run = fourth_power(mm.UMM(width=2, latency=3), a, a[::-1], 4)
    >>> run.arrays["b"].reshape(-1)[:4], run.launches
    (array([15, 14, 13, 12]), 5)
    """
    side = machine.width**2
    require(a.size == side * side, f"a has w^4 = {side * side} words, not {a.size}", SOURCE)
    first, second, third = three_steps(np.asarray(P), side)
    one = rows_permuted(machine, a.reshape(side, side), first, threads, schedule)
    middle = one.arrays["b"].reshape(side, side)
    two = columns_permuted(machine, middle, second, threads, schedule)
    three = rows_permuted(machine, two.arrays["b"], third, threads, schedule)
    return mm.total([one, two, three])


@long_rows.example
def long_rows_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """w rows of w^2 words, a random permutation and a warp for each."""
    words = np.arange(width**3).reshape(-1, width)
    tables = row_tables(random_rows(width, width**2, seed), width)
    return mm.Example(words, np.zeros_like(words), *tables, threads=width * width)
