"""Counting values by atomics in shared memory, and sorting by these counts.

These are textbook programs, of no paper of the memory machine models.
"""

from __future__ import annotations

import numpy as np

import mmsim as mm


@mm.program
def histogram(T: mm.Thread, x: mm.Array, h: mm.Array) -> None:
    """Count the values of x: each block in a histogram of its own, then all in h."""
    own = mm.shared(h.size, dtype=h.dtype)
    for v in range(T.index, h.size, T.block_size):
        own[v] = 0
    T.barrier()
    for i in range(T.id, x.size, T.count):
        mm.atomic.add(own, x[i], 1)
    T.barrier()
    for v in range(T.index, h.size, T.block_size):
        mm.atomic.add(h, v, own[v])


@mm.program
def counting_sort(T: mm.Thread, x: mm.Array, first: mm.Array, out: mm.Array) -> None:
    """Sort x by a block: first[v] of its values are smaller than v, so v goes there or behind."""
    free = mm.shared(first.size, dtype=first.dtype)
    for v in range(T.index, first.size, T.block_size):
        free[v] = first[v]
    T.barrier()
    for i in range(T.index, x.size, T.block_size):
        v = x[i]
        out[mm.atomic.add(free, v, 1)] = v


@histogram.example
def histogram_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """`size` random values below w (default: 8w of them), counted by two blocks of w threads."""
    x = np.random.default_rng(seed).integers(0, width, size or 8 * width)
    return mm.Example(x, np.zeros(width, int), threads=2 * width, block_size=width)


@counting_sort.example
def counting_sort_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """`size` random values below w (default: 4w of them), sorted by one warp.

    Which of several warps comes first isn't fixed on a GPU, and so isn't what their writes cost.
    """
    x = np.random.default_rng(seed).integers(0, width, size or 4 * width)
    first = np.concatenate([[0], np.cumsum(np.bincount(x, minlength=width))[:-1]])
    return mm.Example(x, first, np.zeros_like(x), threads=width)
