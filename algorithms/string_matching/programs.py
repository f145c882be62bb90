"""Approximate string matching on the DMM, the UMM and the HMM.

Man, Nakano, Ito, "The Approximate String Matching on the Hierarchical Memory Machine, with
Performance Evaluation", MCSoC 2013. The programs follow the idea and the bound in the abstract.
e[j] is the least number of edits (a letter changed, inserted or left out) that turn some part of
the text, ending with letter j, into the pattern x.

The table D of the edit distances has a row for each letter of the pattern and a column for each of
the text. A part that ends at column j and needs at most m edits has at most 2m letters. So the text
can be cut into parts, each begun 2m columns early.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm

BLANK = -1
"""A letter of no pattern."""


def fill(
    T: mm.Thread, c: int, y: mm.Array, v: mm.Array, e: mm.Array, m: int, first: int, part: int
) -> None:
    """The columns first .. first + part + 2m - 1 of the table by m threads, a row for each.

    Thread i, with letter c of the pattern, is at column s - i at step s. It keeps the cells on the
    left and above the left one in registers; the step before left the cell above in v. Only the
    last `part` columns are right.
    """
    i = T.index % m
    left, corner = i + 1, i
    for s in range(part + 3 * m - 1):
        j = s - i
        if 0 <= j < part + 2 * m:
            up = v[(s + 1) % 2, T.id % v.shape[1] - 1] if i > 0 else 0
            left = min(min(left, up) + 1, corner + (y[first + j] != c))
            corner = up
            v[s % 2, T.id % v.shape[1]] = left
            if i == m - 1 and j >= 2 * m:
                e[first + j - 2 * m] = left
        T.barrier()


@mm.program
def in_one_memory(T: mm.Thread, x: mm.Array, y: mm.Array, v: mm.Array, e: mm.Array) -> None:
    """All in one memory: p/m parts of the text, m threads for each.

    y is the text with 2m blanks in front, v has two rows of p words. m divides the threads of a
    block, and p divides n.
    """
    m = x.size
    part = e.size // (T.count // m)
    fill(T, x[T.index % m], y, v, e, m, T.id // m * part, part)


@mm.program
def in_shared_memory(T: mm.Thread, x: mm.Array, y: mm.Array, e: mm.Array) -> None:
    """A block fetches its share of the text, fills its part of the table and writes its results.

    y is the text with 2m blanks in front. m divides the threads of a block, and p divides n.
    """
    m, share = x.size, e.size // T.blocks
    text = mm.shared(e.size // T.blocks + 2 * x.size, dtype=y.dtype)
    v = mm.shared((2, T.block_size), dtype=e.dtype)
    found = mm.shared(e.size // T.blocks, dtype=e.dtype)
    for k in range(T.index, share + 2 * m, T.block_size):
        text[k] = y[T.block * share + k]
    c = x[T.index % m]
    T.barrier()
    part = share // (T.block_size // m)
    fill(T, c, text, v, found, m, T.index // m * part, part)
    for k in range(T.index, share, T.block_size):
        e[T.block * share + k] = found[k]


def strings(m: int, n: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """A pattern and a text of four letters, with 2m blanks in front; the same each time.

    Every other part of the text is the pattern with some letters changed.
    """
    random = np.random.default_rng(m + n)
    x = random.integers(0, 4, m)
    text = random.integers(0, 4, n)
    for k in range(0, n - m, 2 * m):
        text[k : k + m] = np.where(random.random(m) < 0.2, text[k : k + m], x)
    return x, np.concatenate([np.full(2 * m, BLANK), text])


def edits(x: npt.NDArray[Any], y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The last row of the table, row by row: e[j] for each letter of a text without blanks.

    >>> edits(np.array([1, 2, 3]), np.array([1, 3, 9, 1, 2, 3]))
    array([2, 1, 2, 2, 1, 0])
    """
    columns = np.arange(len(y) + 1)
    row = 0 * columns
    for i, letter in enumerate(x):
        below = np.concatenate([[i + 1], np.minimum(row[1:] + 1, row[:-1] + (y != letter))])
        row = np.minimum.accumulate(below - columns) + columns
    return row[1:]


# What `mmsim run` starts from.


@in_one_memory.example
def one_memory_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """At least `size` letters (default: 8w) in two parts, for a pattern of w letters."""
    p = 2 * width
    n = -(-(size or 8 * width) // p) * p
    x, y = strings(width, n)
    return mm.Example(x, y, np.zeros((2, p), int), np.zeros(n, int), threads=p)


@in_shared_memory.example
def shared_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """At least `size` letters (default: 8w) in two blocks, for a pattern of w letters."""
    p = 2 * width
    n = -(-(size or 8 * width) // p) * p
    return mm.Example(*strings(width, n), np.zeros(n, int), threads=p, block_size=width)
