"""Merging two sorted lists without bank conflicts, the searches included.

The lists have n/2 words each, one behind the other, and p threads write E = n/p words each. Thread
t keeps its words in E rows of bank t mod w. It fetches the word with residue s + t modulo E at step
s, so a warp reads and writes w different banks if w divides E (`merging` explains the residues).
The threads of a warp search one at a time.

Sitchinava and Weichert, "Bank Conflict Free Comparison-based Sorting On GPUs", 2013 (arXiv
1306.5076, first as "Provably Efficient GPU Algorithms"), merge and sort without bank conflicts.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim_algorithms.errors import require
from mmsim_algorithms.grids import power_of_two

SOURCE = "SORT, two lists"


@mm.program
def merge_two(
    T: mm.Thread, a: mm.Array, b: mm.Array, x: mm.Array, y: mm.Array, starts: mm.Array, w: int
) -> None:
    """Merge both halves of a into b. x and y are scratch, starts has p + 1 words, the last is n/2.

    Turn the second half, search, fetch, merge in a bank, write.
    """
    n, t = a.size, T.id
    half, E = n // 2, n // T.count
    d = t * E
    own = t // w * E * w + t % w
    for e in range(t, n, T.count):
        x[e] = a[e if e < half else n + half - 1 - e]
    low = max(0, d - half)
    for turn in range(w):
        if t % w == turn:
            left = min(d, n - d)
            while left > 0:
                step = (left + 1) // 2
                q = low + step - 1
                if a[q] <= a[half + d - 1 - q]:
                    low += step
                left -= step
    starts[t] = low
    T.barrier()
    i, end = low, starts[t + 1]
    j, behind = n - (d - i), n - (d + E - end)
    for s in range(E):
        r = (s + t) % E
        q = i + (r - i) % E
        y[own + r * w] = x[q if q < end else behind + (r - behind) % E]
    T.barrier()
    u, v = y[own + i % E * w], y[own + (j - 1) % E * w]
    for r in range(E):
        first = j == behind or (i < end and u <= v)
        x[own + r * w] = u if first else v
        if first:
            i += 1
        else:
            j -= 1
        if r < E - 1:
            z = y[own + (i if first else j - 1) % E * w]
            if first:
                u = z
            else:
                v = z
    for s in range(E):
        r = (s + t) % E
        b[d + r] = x[own + r * w]


def merge_lists(
    machine: mm.Machine,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    p: int,
    *,
    schedule: mm.Schedule = "synchronous",
) -> mm.Run:
    """Merge two sorted lists of n/2 words by p threads. b of the run has the words in order.

    Raises `PreconditionError` unless n, p and w are powers of two, p >= w, and w divides n/p.

    >>> run = merge_lists(mm.DMM(2, 5), [1, 3, 5, 7], [2, 4, 6, 8], 2)
    >>> run.arrays["b"].tolist()
    [1, 2, 3, 4, 5, 6, 7, 8]
    """
    lists, w = (np.asarray(first), np.asarray(second)), machine.width
    require(lists[0].shape == lists[1].shape, "lists of n/2 words each", SOURCE)
    a = np.concatenate(lists)
    n = a.size
    require(power_of_two(n, p, w), f"powers of two, not {n=}, {p=}, {w=}", SOURCE)
    require(p >= w and n % (p * w) == 0, f"p >= w and w divides n/p, not {n=}, {p=}, {w=}", SOURCE)
    return machine.run(merge_two, *_arguments(a, p, w), threads=p, schedule=schedule)


def _arguments(a: npt.NDArray[np.generic], p: int, w: int) -> tuple[object, ...]:
    starts = np.zeros(p + 1, int)
    starts[p] = a.size // 2
    return (a, np.zeros_like(a), np.zeros_like(a), np.zeros_like(a), starts, w)


@merge_two.example
def example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """Two lists of 4w^2 words, by 2w threads."""
    a = np.sort(np.random.default_rng(seed).permutation(8 * width**2).reshape(2, -1), axis=1)
    return mm.Example(*_arguments(a.ravel(), 2 * width, width), threads=2 * width)
