"""The summed area table in one memory, a DMM or a UMM: prefix sums of columns, then of rows.

Nakano, "Optimal Parallel Algorithms for Computing the Sum, the Prefix-Sums, and the Summed Area
Table on the Memory Machine Models", IEICE Trans. E96-D, 2013. The program follows the abstract.

The array s has 2n words; the n words of the m x m matrix are its second half. In rows of m words it
is a tree whose nodes are rows: row v has the children 2v and 2v + 1, and the leaves are the rows of
the matrix. Word by word it is a tree with n leaves, too: word v has the children 2v and 2v + 1. The
m subtrees with the roots m, ..., 2m - 1 have a row of the matrix each as their leaves. So both
directions use the same words, and no transpose is needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim_algorithms.errors import require
from mmsim_algorithms.grids import power_of_two

SOURCE = "SAT, host code"


@mm.program
def by_trees(T: mm.Thread, s: mm.Array, m: int) -> None:
    """Prefix sums of all columns by trees of rows, then of all rows by trees of words.

    On the way down a node gets the sum up to its last leaf (`prefix_sums.tree`). m is a power of
    two. All threads are one block.
    """
    n, p, i = s.size // 2, T.count, T.id
    k = m // 2
    while k > 0:
        for x in range(k * m + i, 2 * k * m, p):
            one = (x // m * 2) * m + x % m
            s[x] = s[one] + s[one + m]
        T.barrier()
        k = k // 2
    k = 1
    while k < m:
        for x in range(k * m + i, 2 * k * m, p):
            one = (x // m * 2) * m + x % m
            prefix = s[x]
            s[one] = prefix - s[one + m]
            s[one + m] = prefix
        T.barrier()
        k = 2 * k
    k = n // 2
    while k >= m:
        for x in range(k + i, 2 * k, p):
            s[x] = s[2 * x] + s[2 * x + 1]
        T.barrier()
        k = k // 2
    k = m
    while k < n:
        for x in range(k + i, 2 * k, p):
            prefix = s[x]
            s[2 * x] = prefix - s[2 * x + 1]
            s[2 * x + 1] = prefix
        T.barrier()
        k = 2 * k


def in_one_memory(
    machine: mm.Machine, a: npt.ArrayLike, p: int, *, schedule: mm.Schedule = "synchronous"
) -> tuple[mm.Run, npt.NDArray[Any]]:
    """The run of `by_trees` by p threads, and the table.

    Raises `PreconditionError` unless a is a square matrix whose side is a power of two.

    >>> run, table = in_one_memory(mm.UMM(width=2, latency=3), np.ones((4, 4), int), 4)
    >>> run.time, table[-1]
    (198, array([ 4,  8, 12, 16]))
    """
    data = np.asarray(a)
    m = len(data) if data.ndim else 0
    require(
        data.shape == (m, m) and power_of_two(m),
        f"a is a square matrix whose side is a power of two, not {data.shape}",
        SOURCE,
    )
    nodes = np.concatenate([np.zeros(m * m, data.dtype), data.reshape(-1)])
    run = machine.run(by_trees, nodes, m, threads=p, schedule=schedule)
    return run, run.arrays["s"][m * m :].reshape(m, m)


@by_trees.example
def by_trees_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A matrix of at least `size` words (default: 2w x 2w), its side a power of two, m threads."""
    m = 1
    while m * m < (size or 4 * width * width):
        m *= 2
    return mm.Example(np.arange(2 * m * m), m, threads=m)
