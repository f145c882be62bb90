"""Bitonic sort on the DMM and the UMM (Batcher 1968), as it is and without bank conflicts."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm


@mm.program
def bitonic(T: mm.Thread, a: mm.Array) -> None:
    """Compare words h apart, for runs of k = 2, 4, ..., n words and h = k/2, k/4, ..., 1.

    Runs of k words are sorted upwards and downwards in turn. For h < w a warp's pairs lie in 2w
    words, and half of the banks hold its first words.
    """
    n = a.size
    k = 2
    while k <= n:
        h = k // 2
        while h > 0:
            for e in range(T.id, n // 2, T.count):
                x = e // h * 2 * h + e % h
                y = x + h
                u, v = a[x], a[y]
                upwards = (x // k) % 2 == 0
                a[x] = min(u, v) if upwards else max(u, v)
                a[y] = max(u, v) if upwards else min(u, v)
            T.barrier()
            h = h // 2
        k = 2 * k


@mm.program
def bitonic_without_conflicts(T: mm.Thread, a: mm.Array, w: int) -> None:
    """The same, but in an odd row of w words the second word of a pair comes first.

    For h < w a warp's first words then lie in all banks: in one row in the banks with a 0 in the
    place of h, in the other in the banks with a 1.
    """
    n = a.size
    k = 2
    while k <= n:
        h = k // 2
        while h > 0:
            for e in range(T.id, n // 2, T.count):
                x = e // h * 2 * h + e % h
                upwards = (x // k) % 2 == 0
                y = x + h
                if x // w % 2 == 1:
                    x, y, upwards = y, x, not upwards
                u, v = a[x], a[y]
                a[x] = min(u, v) if upwards else max(u, v)
                a[y] = max(u, v) if upwards else min(u, v)
            T.barrier()
            h = h // 2
        k = 2 * k


def _shuffled(width: int, size: int, seed: int) -> npt.NDArray[Any]:
    """At least `size` numbers (default: 4w) in disorder, a power of two."""
    n = 1 << (max(2, size or 4 * width) - 1).bit_length()
    return np.random.default_rng(seed).permutation(n)


@bitonic.example
def bitonic_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A thread for each pair."""
    a = _shuffled(width, size, seed)
    return mm.Example(a, threads=a.size // 2)


@bitonic_without_conflicts.example
def without_conflicts_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A thread for each pair."""
    a = _shuffled(width, size, seed)
    return mm.Example(a, width, threads=a.size // 2)
