"""Permuting an array on the UMM (SMM section 7).

A row of w words is an address group, so permuting within rows is free of conflicts; a column-wise
permutation is a transpose, a row-wise permutation, and the transpose back. Colouring splits any
permutation of w^2 words into row-wise, column-wise and row-wise ones, and so on for w^4, w^8, ...

The permutation is known offline. Its destinations lie in tables of the array's size; SMM doesn't
charge reading them. Every claim here says whether it counts all accesses or only those to the data,
a and b.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim_algorithms.colouring.bipartite import colour
from mmsim_algorithms.colouring.schedules import three_steps
from mmsim_algorithms.errors import require
from mmsim_algorithms.transpose.umm import apart, direct, rotating, tile, tiled, transpose

Integers = npt.NDArray[np.int64]


@mm.program
def row_wise(T: mm.Thread, a: mm.Array, b: mm.Array, d: mm.Array) -> None:
    """SMM section 7, [Row-wise permutation algorithm]: a[i][j] goes to column d[i][j].

    Warp W(q) permutes rows q, q + p/w, q + 2p/w, ...
    """
    w = a.shape[1]
    for x in range(T.id, a.size, T.count):
        i, j = x // w, x % w
        b[i, d[i, j]] = a[i, j]


@mm.program
def column_wise(T: mm.Thread, a: mm.Array, b: mm.Array, d: mm.Array) -> None:
    """SMM section 7, [Column-wise permutation on the UMM] (Lemma 7.2): w threads, w registers.

    Row j of d has the destinations of column j: a[i][j] goes to row d[j][i]. A single warp does it,
    in place after the first step: it reads a row before it writes one.
    """
    rotating(T, a, b)
    row_wise(T, b, b, d)
    rotating(T, b, b)


@mm.program
def permutation(
    T: mm.Thread, a: mm.Array, b: mm.Array, first: mm.Array, second: mm.Array, third: mm.Array
) -> None:
    """SMM section 7, [Permutation on the UMM] (Lemma 7.4): w^2 words, w threads, w registers."""
    row_wise(T, a, b, first)
    column_wise(T, b, b, second)
    row_wise(T, b, b, third)


@mm.program
def one_pass(
    T: mm.Thread, a: mm.Array, b: mm.Array, source: mm.Array, row: mm.Array, column: mm.Array
) -> None:
    """Better than the paper: any permutation of w^2 words, each read once and written once.

    Thread T(i) takes the words of colour i: one from each row of a (Lemma 7.3 (1)), one for each
    row of b (Lemma 7.3 (2)). So w registers hold all of them; the transpose needs as many anyway.
    """
    w, i = a.shape[0], T.id
    r = mm.registers(w)
    for t in range(w):
        k = row[t, i]
        r[k] = a[t, source[t, i]]
    for t in range(w):
        b[t, column[t, i]] = r[t]


@row_wise.example
@column_wise.example
def rows_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A w x w matrix, a random permutation for each row (or column), w threads."""
    a = np.arange(width * width).reshape(width, width)
    return mm.Example(a, np.zeros_like(a), random_rows(width, width, seed), threads=width)


@permutation.example
def permutation_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A w x w matrix, a random permutation of it, w threads."""
    a = np.arange(width * width).reshape(width, width)
    tables = three_steps(chosen(width * width, seed), width)
    return mm.Example(a, np.zeros_like(a), *tables, threads=width)


@one_pass.example
def one_pass_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """The same permutation in one pass."""
    a = np.arange(width * width).reshape(width, width)
    tables = one_pass_tables(chosen(width * width, seed), width)
    return mm.Example(a, np.zeros_like(a), *tables, threads=width)


@dataclass(frozen=True)
class Transpose:
    """A step: transpose every rows x columns matrix."""

    rows: int
    columns: int


Step = Integers | Transpose
"""A table for `row_wise`, a row of w destinations for each row of the array, or a transpose."""


def by_squares(P: Integers, w: int) -> list[Step]:
    """SMM section 7: the steps that permute rows of w^(2^k) words, row i of P for row i.

    A row is a square matrix; its rows and its columns are permuted by the same method, three times
    with two transposes between. 3^k row-wise permutations, 3^k - 1 transposes.
    """
    length = P.shape[1]
    if length == w:
        return [P]
    side = isqrt(length)
    require(
        w > 1 and side * side == length and side >= w,
        f"each row has w^(2^k) words, not {length} (w = {w})",
        "SMM section 7",
    )
    first, second, third = _stacked([three_steps(row, side) for row in P])
    between = Transpose(side, side)
    return [
        *by_squares(first, w),
        between,
        *by_squares(second, w),
        between,
        *by_squares(third, w),
    ]


def by_groups(P: Integers, w: int) -> list[Step]:
    """Better than the paper: the steps that permute rows of w^m words, for any m.

    A row is a matrix with w columns. Its rows are already address groups, so only its columns are
    permuted by the same method: 2m - 1 row-wise permutations, 2m - 2 transposes.
    """
    rows, rest = divmod(P.shape[1], w)
    require(
        w > 1 and rows > 0 and rest == 0,
        f"each row has w^m words; in the end {P.shape[1]} are left (w = {w})",
        "SMM section 7, improved",
    )
    if rows == 1:
        return [P]
    first, second, third = _stacked([_three_steps(row, rows, w) for row in P])
    return [first, Transpose(rows, w), *by_groups(second, w), Transpose(w, rows), third]


def _three_steps(P: Integers, rows: int, columns: int) -> tuple[Integers, Integers, Integers]:
    """`three_steps` for a matrix that needn't be square: the graph has degree `columns`."""
    i, j = np.divmod(np.arange(P.size), columns)
    to_row, to_column = np.divmod(P, columns)
    colours = colour(i, to_row, rows)
    first, third = np.empty((2, rows, columns), dtype=np.int64)
    second = np.empty((columns, rows), dtype=np.int64)
    first[i, j] = colours
    second[colours, i] = to_row
    third[to_row, colours] = to_column
    return first, second, third


def _stacked(tables: Sequence[tuple[Integers, ...]]) -> tuple[Integers, ...]:
    """Tables of many matrices, those of each step one below the other."""
    return tuple(np.concatenate(step) for step in zip(*tables, strict=True))


def one_pass_tables(P: Integers, w: int) -> tuple[Integers, Integers, Integers]:
    """The tables of `one_pass`: for row t and colour i the column in a, the row and column in b."""
    first, second, third = three_steps(P, w)
    return np.argsort(first, axis=1), np.ascontiguousarray(second.T), third


def steps(P: npt.ArrayLike, w: int, improved: bool = False) -> list[Step]:
    """Prepare a permutation: by squares as in the paper, or by groups if `improved`.

    Raises `PreconditionError` unless P is a permutation of w^(2^k) (improved: w^m) words.
    """
    table = np.asarray(P)
    require(
        table.ndim == 1
        and table.dtype.kind in "iu"
        and np.array_equal(np.sort(table), np.arange(table.size)),
        f"P is a permutation of 0..n-1, not {table}",
        "SMM section 7",
    )
    return (by_groups if improved else by_squares)(table.astype(np.int64)[None, :], w)


def permute(
    machine: mm.UMM,
    a: npt.NDArray[Any],
    prepared: Sequence[Step],
    threads: int,
    registers: int | None = None,
    schedule: mm.Schedule = "synchronous",
    improved: bool = False,
) -> mm.Run:
    """Permute a by prepared steps, one launch for each; the result is in `run.arrays["b"]`.

    It is the array's words in rows of w.

    Parameters
    ----------
    registers
        The registers of a thread: w (Lemma 7.5, the default) or fewer (Theorem 7.6).
    improved
        Transpose by `direct`; steps that were prepared as improved need it.

    Raises `PreconditionError` where the lemma asks for something else.
    """
    w, p, n = machine.width, threads, a.size
    r = w if registers is None else registers
    where = "SMM Lemma 7.5" if r == w else "SMM Theorem 7.6"
    tile(w, r)
    require(p % w == 0, f"the number p of threads is a multiple of w = {w}, not {p}", where)
    require(w <= p <= n // r, f"w <= p <= n/{'w' if r == w else 'r'} = {n // r}, not {p}", where)
    in_steps = tiled if r > 1 else apart  # a swap in place needs two registers
    program = direct if improved else in_steps
    launches = []
    b = a
    for step in prepared:
        if isinstance(step, Transpose):
            matrices = b.reshape(-1, step.rows, step.columns)
            run = transpose(machine, matrices, p, r, schedule, program)
        else:
            require(
                step.shape == (n // w, w),
                f"the steps are for {step.size} words in rows of {step.shape[1]}, the array has "
                f"{n}, w = {w}",
                where,
            )
            rows = b.reshape(-1, w)
            run = machine.run(
                row_wise, rows, np.zeros_like(rows), step, threads=p, schedule=schedule
            )
        b = run.arrays["b"]
        launches.append(run)
    return mm.total(launches)


def random_rows(rows: int, w: int, seed: int) -> Integers:
    """A random permutation of 0..w-1 for each row."""
    drawn: Integers = np.random.RandomState(seed).rand(rows, w).argsort(axis=1)
    return drawn


def chosen(n: int, seed: int) -> Integers:
    """A permutation for a case: 0 is the transpose of a square (else the reversal), others random.

    Unlike a row-wise one, the transpose sends each row to all rows.
    """
    if seed:
        return np.random.RandomState(seed).permutation(n).astype(np.int64)
    if isqrt(n) ** 2 == n:
        return np.arange(n).reshape(isqrt(n), isqrt(n)).T.reshape(-1).copy()
    return np.arange(n)[::-1].copy()
