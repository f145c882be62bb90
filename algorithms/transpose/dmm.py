"""Transposing a matrix on the DMM, and straightforwardly on the UMM (SMM section 5)."""

from __future__ import annotations

from math import isqrt

import numpy as np

import mmsim as mm


@mm.program
def straightforward(T: mm.Thread, a: mm.Array, b: mm.Array) -> None:
    """SMM section 5, [Straightforward transposing algorithm]."""
    rows = a.shape[0]
    n, p, i = a.size, T.count, T.id
    for t in range(n // p):
        j = (t * p + i) // rows
        k = (t * p + i) % rows
        b[j, k] = a[k, j]


@mm.program
def diagonal(T: mm.Thread, a: mm.Array, b: mm.Array) -> None:
    """SMM section 5, [Transpose by the diagonal access on the DMM] (Lemma 5.1)."""
    rows = a.shape[0]
    n, p, i = a.size, T.count, T.id
    for t in range(n // p):
        j = (t * p + i) // rows
        k = (t * p + i) % rows
        b[(j + k) % rows, k] = a[k, (j + k) % rows]


@straightforward.example
@diagonal.example
def matrix_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A matrix of `size` words (default: w x w), a thread for each."""
    side = isqrt(size) if size else width
    a = np.arange(side * side).reshape(side, side)
    return mm.Example(a, np.zeros_like(a), threads=side * side)
