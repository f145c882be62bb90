"""Counting values by atomics, in one memory and in shared memory, and sorting by these counts.

These are textbook programs, of no paper of the memory machine models.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm


@mm.program
def in_place(T: mm.Thread, x: mm.Array, h: mm.Array) -> None:
    """Count the values of x in h, which all threads share."""
    for i in range(T.id, x.size, T.count):
        mm.atomic.add(h, x[i], 1)


@mm.program
def by_lanes(T: mm.Thread, x: mm.Array, c: mm.Array, h: mm.Array) -> None:
    """Count the values of x in c, which has a column for each lane, then add the columns in h.

    c has w columns of zeros. Lane k accesses only bank k, for any values.
    """
    m, w = c.shape
    for i in range(T.id, x.size, T.count):
        mm.atomic.add(c, (x[i], T.lane), 1)
    T.barrier()
    for v in range(T.id, m, T.count):
        s = 0
        for t in range(w):
            s += c[v, (v + t) % w]
        h[v] = s


@mm.program
def histogram(T: mm.Thread, x: mm.Array, h: mm.Array) -> None:
    """Count the values of x: each block in its own histogram, then all in h."""
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


def repeated(n: int, k: int, w: int) -> npt.NDArray[Any]:
    """n values, k threads of each warp with the same one: 0 for the first k, 1 for the next.

    >>> repeated(8, 2, 4).tolist()
    [0, 0, 1, 1, 0, 0, 1, 1]
    """
    return np.arange(n) % w // k


# What `mmsim run` starts from.


@in_place.example
def in_place_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """`size` random values below w (default: 8w of them), counted by 2w threads."""
    x = np.random.default_rng(seed).integers(0, width, size or 8 * width)
    return mm.Example(x, np.zeros(width, int), threads=2 * width)


@by_lanes.example
def by_lanes_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """`size` random values below w (default: 8w of them), counted by 2w threads."""
    x = np.random.default_rng(seed).integers(0, width, size or 8 * width)
    c = np.zeros((width, width), int)
    return mm.Example(x, c, np.zeros(width, int), threads=2 * width)


@histogram.example
def histogram_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """`size` random values below w (default: 8w of them), counted by two blocks of w threads."""
    x = np.random.default_rng(seed).integers(0, width, size or 8 * width)
    return mm.Example(x, np.zeros(width, int), threads=2 * width, block_size=width)


@counting_sort.example
def counting_sort_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """`size` random values below w (default: 4w of them), sorted by one warp.

    A GPU fixes neither the order of several warps nor the cost of their writes.
    """
    x = np.random.default_rng(seed).integers(0, width, size or 4 * width)
    first = np.concatenate([[0], np.cumsum(np.bincount(x, minlength=width))[:-1]])
    return mm.Example(x, first, np.zeros_like(x), threads=width)
