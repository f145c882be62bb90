"""Pairwise merge sort on the DMM: with the conflicts of its data, and without any.

p threads sort n = pE words. Each sorts E words in registers. Then pairs of runs are merged, and a
thread writes E words of each merged run. It finds its words by a binary search.

The serial merge is that of GPU libraries; Berney and Sitchinava, "Engineering Worst-Case Inputs for
Pairwise Merge Sort on GPUs", IPDPS 2020, use it as their model. `conflict_free_pass` moves words
without conflicts for gcd(E, w) = 1, but its searches may have some. The sort in `columns` has none.
"""

from __future__ import annotations

from math import gcd
from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim_algorithms.errors import require
from mmsim_algorithms.grids import power_of_two

SOURCE = "SORT, host code"


@mm.program
def sort_runs(T: mm.Thread, a: mm.Array, b: mm.Array, E: int, turned: int) -> None:
    """Each thread sorts E words in registers. If turned = 1, odd threads leave theirs downwards."""
    x = mm.registers(E, dtype=a.dtype)
    for r in range(E):
        v = a[T.id * E + r]
        q = r
        while q > 0 and x[max(q - 1, 0)] > v:
            x[q] = x[q - 1]
            q -= 1
        x[q] = v
    for r in range(E):
        b[T.id * E + r] = x[E - 1 - r if turned == 1 and T.id % 2 == 1 else r]


def begin(a: mm.Array, k: int, run: int, d: int, turned: int) -> int:
    """Count those of the first d words of two merged runs that come from the first run.

    The runs have `run` words each, from word k on; if turned = 1, the second lies downwards.
    """
    low, high = max(0, d - run), min(d, run)
    while low < high:
        q = (low + high) // 2
        other = d - 1 - q
        if a[k + q] <= a[k + 2 * run - 1 - other if turned == 1 else k + run + other]:
            low = q + 1
        else:
            high = q
    return low


def following(a: mm.Array, q: int) -> Any:
    """The next word of a serial merge; after the last word there is none."""
    return a[min(q, a.size - 1)]


@mm.program
def serial_pass(T: mm.Thread, a: mm.Array, b: mm.Array, run: int, E: int) -> None:
    """Merge pairs of runs: each thread goes through its part of both runs, word by word."""
    k = T.id * E // (2 * run) * 2 * run
    d = T.id * E - k
    i = begin(a, k, run, d, 0)
    j = d - i
    x, y = a[min(k + i, a.size - 1)], a[min(k + run + j, a.size - 1)]
    for r in range(E):
        first = j == run or (i < run and x <= y)
        b[T.id * E + r] = x if first else y
        if first:
            i += 1
        else:
            j += 1
        v = following(a, k + i if first else k + run + j)
        if first:
            x = v
        else:
            y = v


@mm.program
def conflict_free_pass(T: mm.Thread, a: mm.Array, b: mm.Array, run: int, E: int) -> None:
    """Merge pairs of runs, the second one downwards: fetch, merge in registers, write.

    A thread fetches its word in place q of the pair at step q mod E. Each residue occurs once:
    modulo E, the thread's words of the first run end where its words of the second, counted from
    behind, begin. So a warp reads w words E apart. Odd pairs leave their words downwards, for the
    next pass.
    """
    N = 2 * run
    k = T.id * E // N * N
    d = T.id * E - k
    i, end = begin(a, k, run, d, 1), begin(a, k, run, d + E, 1)
    j, behind = N - (d - i), N - (d + E - end)
    x = mm.registers(E, dtype=a.dtype)
    y = mm.registers(E, dtype=a.dtype)
    for r in range(E):
        q = i + (r - i) % E
        x[r] = a[k + (q if q < end else behind + (r - behind) % E)]
    for r in range(E):
        if j == behind or (i < end and x[i % E] <= x[(j - 1) % E]):
            y[r] = x[i % E]
            i += 1
        else:
            j -= 1
            y[r] = x[j % E]
    downwards = k // N % 2 == 1
    for r in range(E):
        b[k + (N - E - d if downwards else d) + r] = y[E - 1 - r if downwards else r]


def merge_sorted(
    machine: mm.Machine,
    a: npt.ArrayLike,
    E: int,
    conflicts: bool = True,
    *,
    schedule: mm.Schedule = "synchronous",
) -> mm.Run:
    """Sort n = pE words by p threads: log p passes. b of the run has the words in order.

    Raises `PreconditionError` unless p is a power of two, and without `conflicts` gcd(E, w) = 1.

    >>> run = merge_sorted(mm.DMM(4, 2), np.arange(24)[::-1], 3, conflicts=False)
    >>> bool((run.arrays["b"] == np.arange(24)).all())
    True
    """
    data = np.asarray(a)
    require(data.ndim == 1 and E > 0 and data.size % E == 0, f"E={E} divides {data.shape}", SOURCE)
    p = data.size // E
    require(power_of_two(p), f"p = n/E is a power of two, not {p}", SOURCE)
    w = machine.width
    require(conflicts or gcd(E, w) == 1, f"gcd(E, w) = 1, but E={E} and w={w}", SOURCE)
    launch: dict[str, Any] = {"threads": p, "schedule": schedule}
    turned = 0 if conflicts else 1
    runs = [machine.run(sort_runs, data, np.zeros_like(data), E, turned, **launch)]
    length = E
    while length < data.size:
        merge = serial_pass if conflicts else conflict_free_pass
        data = runs[-1].arrays["b"]
        runs.append(machine.run(merge, data, np.zeros_like(data), length, E, **launch))
        length *= 2
    return mm.total(runs)


def worst(n: int, w: int, E: int) -> npt.NDArray[Any]:
    """The numbers 0 .. n - 1 in a bad order for the later passes of `serial_pass` (`from_first`).

    Those are the passes that merge runs of wE words and more. Raises `PreconditionError` unless
    E < w and n is wE times a power of two.
    """
    require(0 < E < w, f"E < w, but E={E} and w={w}", SOURCE)
    even = n % (w * E) == 0 and power_of_two(n // (w * E))
    require(even, f"n is wE times a power of two, but n={n}, w={w}, E={E}", SOURCE)
    return _parted(np.arange(n), from_first(w, E), w * E)


def _parted(words: npt.NDArray[Any], first: npt.NDArray[Any], least: int) -> npt.NDArray[Any]:
    """Split ordered words into two runs whose merge gives them, and split these runs in turn."""
    if len(words) <= least:
        return words
    of_first = np.resize(np.concatenate([first, ~first]), len(words))
    parts = (words[of_first], words[~of_first])
    return np.concatenate([_parted(part, first, least) for part in parts])


def from_first(w: int, E: int) -> npt.NDArray[Any]:
    """Mark which of a warp's wE merged words come from the first run, for E < w.

    Both runs are rows of w words, a word for each bank. A thread that takes the first E words of a
    row goes through the same E banks as every other such thread, at the same time.

    For E <= w/2 there are E such threads, one in each of the E rows. The other threads take the
    rest: E words of one row, or the end of one and E - c of the other. For E > w/2 every second
    thread takes the first E words of a row of the first run, and the next thread the rest of that
    row after 2E - w words of the second run. If w is odd, the first thread begins the second run.
    """
    if w < 2 * E:
        pair = [True] * E + [False] * (2 * E - w) + [True] * (w - E)
        return np.array([False] * (w % 2 * E) + pair * (w // 2))
    taken: list[bool] = []
    now, c = True, 0
    for _ in range(E):
        taken += [now] * E
        rest = w - E
        if c:
            taken += [not now] * c + [now] * (E - c)
            rest -= E - c
        taken += [now] * (rest // E * E)
        now, c = not now, rest % E
    return np.array(taken)


# What `mmsim run` starts from.


@sort_runs.example
def runs_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """Random numbers, three for each of 2w threads."""
    a = np.random.default_rng(seed).permutation(6 * width)
    return mm.Example(a, np.zeros_like(a), 3, 0, threads=2 * width)


@serial_pass.example
def serial_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """Two runs of 3w words, merged by 2w threads."""
    a = np.sort(np.random.default_rng(seed).permutation(6 * width).reshape(2, -1), axis=1)
    return mm.Example(a.ravel(), np.zeros(a.size, int), 3 * width, 3, threads=2 * width)


@conflict_free_pass.example
def conflict_free_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """The same, the second run downwards."""
    a = np.sort(np.random.default_rng(seed).permutation(6 * width).reshape(2, -1), axis=1)
    a[1] = a[1, ::-1].copy()
    return mm.Example(a.ravel(), np.zeros(a.size, int), 3 * width, 3, threads=2 * width)
