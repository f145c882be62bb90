"""The direct convolution of m and m + n - 1 numbers on the DMM, the UMM and the HMM.

Nakano, "The Hierarchical Memory Machine Model for GPUs", IPDPS Workshops 2013. The programs follow
the idea and the bound in the abstract. From the numbers a[0] .. a[m-1] and b[0] .. b[m+n-2] they
compute c[i] = a[m-1] b[i] + a[m-2] b[i+1] + ... + a[0] b[i+m-1] for i < n.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm


@mm.program
def direct(T: mm.Thread, a: mm.Array, b: mm.Array, c: mm.Array) -> None:
    """c[i] by one thread: a warp reads one word of a, and w consecutive words of b."""
    m = a.size
    for i in range(T.id, c.size, T.count):
        x = 0
        for j in range(m):
            x += a[m - 1 - j] * b[i + j]
        c[i] = x


@mm.program
def in_shared_memory(T: mm.Thread, a: mm.Array, b: mm.Array, c: mm.Array, k: int) -> None:
    """A block fetches a and its part of b, and k threads add c[i]: m/k products each, then a tree.

    The threads of a block are k rows. k is a power of two; it divides m and the threads of a block.
    The number of threads in a row divides the number of a block's words of c.
    """
    m, t = a.size, T.block_size
    q, share = t // k, c.size // T.blocks
    u = mm.shared(a.size, dtype=a.dtype)
    v = mm.shared(c.size // T.blocks + a.size - 1, dtype=b.dtype)
    s = mm.shared(T.block_size, dtype=c.dtype)
    first = T.block * share
    for e in range(T.index, m, t):
        u[e] = a[e]
    for e in range(T.index, share + m - 1, t):
        v[e] = b[first + e]
    T.barrier()
    row, column = T.index // q, T.index % q
    for i in range(column, share, q):
        x = 0
        for j in range(row * (m // k), (row + 1) * (m // k)):
            x += u[m - 1 - j] * v[i + j]
        if row > 0:
            s[T.index] = x
        h = k // 2
        while h > 0:
            T.barrier()
            if row < h:
                x += s[T.index + h * q]
                if row > 0:
                    s[T.index] = x
            h = h // 2
        if row == 0:
            c[first + i] = x
        T.barrier()


def sequences(m: int, n: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """m and m + n - 1 whole numbers, the same each time."""
    numbers = np.random.default_rng(m + n).integers(-9, 10, 2 * m + n - 1)
    return numbers[:m], numbers[m:]


# What `mmsim run` starts from.


@direct.example
def direct_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """At least `size` words of c (default: 8w) by 2w threads, w words of a."""
    n = -(-(size or 8 * width) // (2 * width)) * 2 * width
    return mm.Example(*sequences(width, n), np.zeros(n, int), threads=2 * width)


@in_shared_memory.example
def shared_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """At least `size` words of c (default: 8w) in two blocks, two threads for each."""
    block = 4 * width
    n = -(-(size or 8 * width) // block) * block
    return mm.Example(
        *sequences(2 * width, n), np.zeros(n, int), 2, threads=2 * block, block_size=block
    )
