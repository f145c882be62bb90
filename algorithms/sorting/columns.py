"""Sorting by columns: no access has a bank conflict, and the stages are O((n/w) log n).

n words are h rows of w words, h = n/w, so that column c lies in bank c. A thread only accesses its
own column, or a diagonal. Leighton, "Tight Bounds on the Complexity of Parallel Sorting", IEEE
Transactions on Computers C-34 (1985), sorts by columns: sort them, spread each over all columns,
sort, undo the spreading, sort, and sort once more with the boundaries of the columns shifted by h/2
rows. This sorts if h >= 2(w - 1)^2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim_algorithms.errors import require
from mmsim_algorithms.grids import power_of_two

SOURCE = "SORT, columns"


@mm.program
def merge_columns(T: mm.Thread, a: mm.Array, b: mm.Array, w: int, run: int) -> None:
    """Merge pairs of runs of `run` words in each column. Columns have p/w threads each.

    A thread writes hw/p consecutive words of its column. If a pair of runs has more words, the
    thread finds its first word by a binary search. The steps of the search do not depend on data.
    """
    c, E = T.id % w, a.size // T.count
    part = min(2 * run, E)
    for row in range(T.id // w * E, T.id // w * E + E, part):
        k = row // (2 * run) * 2 * run
        d = row - k
        i = max(0, d - run)
        left = min(d, run) - i
        while left > 0:
            half = (left + 1) // 2
            q = i + half - 1
            if a[(k + q) * w + c] <= a[(k + run + d - 1 - q) * w + c]:
                i += half
            left -= half
        j = d - i
        x = a[(k + min(i, run - 1)) * w + c]
        y = a[(k + run + min(j, run - 1)) * w + c]
        for r in range(part):
            first = j == run or (i < run and x <= y)
            b[(row + r) * w + c] = x if first else y
            if first:
                i += 1
            else:
                j += 1
            if r < part - 1:
                q = min(i, run - 1) if first else run + min(j, run - 1)
                v = a[(k + q) * w + c]
                if first:
                    x = v
                else:
                    y = v


@mm.program
def spread(T: mm.Thread, a: mm.Array, b: mm.Array, w: int, far: int, near: int) -> None:
    """Move the word in row i far + j near of column c to row c h/w + i of column j < w.

    far = w and near = 1 write the columns of a, one behind the other, into the rows of b. far = 1
    and near = h/w write a row-wise into columns, in another order within a column. A warp's words
    lie on a diagonal in a and in b.
    """
    h, c = a.size // w, T.id % w
    for e in range(T.id // w, h, T.count // w):
        i, j = e // w, (c + e) % w
        b[(c * (h // w) + i) * w + j] = a[(i * far + j * near) * w + c]


@mm.program
def shift(T: mm.Thread, a: mm.Array, b: mm.Array, w: int) -> None:
    """Move all words down by h/2 rows, from the end of a column to the next one."""
    h, c = a.size // w, T.id % w
    for r in range(T.id // w, h, T.count // w):
        over = (r + h // 2) // h
        b[(r + h // 2) % h * w + (c + over) % w] = a[r * w + c]


@mm.program
def in_order(T: mm.Thread, a: mm.Array, b: mm.Array, w: int) -> None:
    """Write the shifted columns, one behind the other, into the rows of b.

    Column 0 has the first and the last h/2 words.
    """
    h, c = a.size // w, T.id % w
    for e in range(T.id // w, h, T.count // w):
        r = e // w * w + (c + e) % w
        place = c * h - h // 2 + r
        if c == 0:
            place = r if r < h // 2 else a.size - h + r
        b[place] = a[r * w + c]


def column_sort(
    machine: mm.Machine, a: npt.ArrayLike, p: int, *, schedule: mm.Schedule = "synchronous"
) -> mm.Run:
    """Sort n words by p threads without bank conflicts. b of the run has the words in order.

    Raises `PreconditionError` unless n, p and w are powers of two, w <= p <= n, and h = n/w has
    h >= 2w and h >= 2(w - 1)^2.

    >>> run = column_sort(mm.DMM(2, 5), np.arange(16)[::-1], 4)
    >>> bool((run.arrays["b"] == np.arange(16)).all())
    True
    """
    data, w = np.asarray(a), machine.width
    n = data.size
    require(
        data.ndim == 1 and power_of_two(n, p, w), f"powers of two, not {n=}, {p=}, {w=}", SOURCE
    )
    require(w <= p <= n, f"w <= p <= n, not {w=}, {p=}, {n=}", SOURCE)
    h = n // w
    require(h >= max(2 * w, 2 * (w - 1) ** 2), f"2(w - 1)^2 <= h = n/w, but {h=}, {w=}", SOURCE)
    runs: list[mm.Run] = []

    def launch(program: mm.Program, *numbers: int) -> None:
        source = runs[-1].arrays["b"] if runs else data
        arguments = (source, np.zeros_like(data), w, *numbers)
        runs.append(machine.run(program, *arguments, threads=p, schedule=schedule))

    def merge(run: int) -> None:
        while run < h:
            launch(merge_columns, run)
            run *= 2

    merge(1)
    launch(spread, w, 1)
    merge(h // w)
    launch(spread, 1, h // w)
    merge(h // w)
    launch(shift)
    merge(h // 2)
    launch(in_order)
    return mm.total(runs)


# What `mmsim run` starts from.


def _columns(width: int, seed: int) -> npt.NDArray[Any]:
    """8w rows of w random numbers."""
    return np.random.default_rng(seed).permutation(8 * width**2)


@merge_columns.example
def merge_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """Two runs of 4w words in each column, by 2w threads."""
    a = np.sort(_columns(width, seed).reshape(2, 4 * width, width), axis=1).ravel()
    return mm.Example(a, np.zeros_like(a), width, 4 * width, threads=2 * width)


@spread.example
def spread_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """Columns of 8w words into rows, by 2w threads."""
    a = _columns(width, seed)
    return mm.Example(a, np.zeros_like(a), width, width, 1, threads=2 * width)


@shift.example
def shift_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """Columns of 8w words, by 2w threads."""
    a = _columns(width, seed)
    return mm.Example(a, np.zeros_like(a), width, threads=2 * width)


@in_order.example
def in_order_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """Columns of 8w words into rows, by 2w threads."""
    a = _columns(width, seed)
    return mm.Example(a, np.zeros_like(a), width, threads=2 * width)
