"""Contiguous access, stride access, copy, and the lower bound (SMM sections 3 and 4).

p threads access n words, n/p each. Reading and writing cost the same; the programs read.
"""

from __future__ import annotations

import numpy as np

import mmsim as mm


@mm.program
def contiguous(T: mm.Thread, m: mm.Array) -> None:
    """SMM section 3, [Contiguous Access]: at step t, T(i) accesses m[t p + i]."""
    n, p, i = m.size, T.count, T.id
    for t in range(n // p):
        m[t * p + i]


@mm.program
def stride(T: mm.Thread, m: mm.Array) -> None:
    """SMM section 3, [Stride Access]: at step t, T(i) accesses m[i n/p + t]."""
    n, p, i = m.size, T.count, T.id
    for t in range(n // p):
        m[i * (n // p) + t]


@mm.program
def copy(T: mm.Thread, a: mm.Array, b: mm.Array) -> None:
    """SMM Corollary 3.2: contiguous read, contiguous write."""
    n, p, i = a.size, T.count, T.id
    for t in range(n // p):
        b[t * p + i] = a[t * p + i]


PROGRAMS = {"contiguous": contiguous, "stride": stride}


@contiguous.example
@stride.example
def access_example(width: int, size: int = 256, seed: int = 0) -> mm.Example:
    return mm.Example(np.arange(size), threads=_threads(width, size))


@copy.example
def copy_example(width: int, size: int = 256, seed: int = 0) -> mm.Example:
    return mm.Example(np.arange(size), np.zeros(size, dtype=int), threads=_threads(width, size))


def _threads(width: int, size: int) -> int:
    """Two full warps where they divide the size, else as many threads as words."""
    return 2 * width if size % (2 * width) == 0 else size
