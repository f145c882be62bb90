"""Partition into w classes, and permutation, without bank conflicts, by w threads.

n words are h rows of w words, h = n/w, so that column c lies in bank c. Thread c sorts column c by
classes. Then each column is spread over all columns. Now each column has about h/w words of each
class, and column v can fetch its words from all columns, one column after another. This takes
O(n/w) stages for n >= w^3. Afshani and Sitchinava, "Sorting and Permuting without Bank Conflicts
on GPUs", ESA 2015, partition in O(n/w) for n >= w^2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim_algorithms.errors import require
from mmsim_algorithms.sorting.columns import spread

SOURCE = "SORT, partition"


@mm.program
def sort_by_class(
    T: mm.Thread, a: mm.Array, d: mm.Array, b: mm.Array, e: mm.Array, ends: mm.Array
) -> None:
    """Sort each column of a and d by the classes d mod w, into b and e, by counting.

    The words of class v in column c end before row ends[v, c].
    """
    w = T.count
    h, c = a.size // w, T.id
    for v in range(w):
        ends[v, c] = 0
    for r in range(h):
        ends[d[r * w + c] % w, c] += 1
    before = 0
    for v in range(w):
        words = ends[v, c]
        ends[v, c] = before
        before += words
    for r in range(h):
        t = d[r * w + c]
        q = ends[t % w, c]
        ends[t % w, c] = q + 1
        b[q * w + c] = a[r * w + c]
        e[q * w + c] = t


@mm.program
def fetch(T: mm.Thread, a: mm.Array, ends: mm.Array, b: mm.Array) -> None:
    """Fetch class v to column v: at step s from column (v + s) mod w.

    A column has at least one word of each class and at most h/w + w - 1. For each column there are
    so many steps; a thread without a further word moves its last one again.
    """
    w, v = T.count, T.id
    written = 0
    for s in range(w):
        c = (v + s) % w
        begin = ends[max(v - 1, 0), c]
        first = begin if v > 0 else 0
        last = ends[v, c] - 1
        for k in range(a.size // w // w + w - 1):
            r = min(first + k, last)
            b[(written + r - first) * w + v] = a[r * w + c]
        written += last - first + 1


@mm.program
def deliver(T: mm.Thread, a: mm.Array, d: mm.Array, ends: mm.Array, b: mm.Array) -> None:
    """Move each word of a to its place d.

    Thread v fetches class v as in `fetch`, and writes it to its places, which lie in bank v.
    """
    w, v = T.count, T.id
    for s in range(w):
        c = (v + s) % w
        begin = ends[max(v - 1, 0), c]
        first = begin if v > 0 else 0
        last = ends[v, c] - 1
        for k in range(a.size // w // w + w - 1):
            r = min(first + k, last)
            b[d[r * w + c]] = a[r * w + c]


def partition(
    machine: mm.Machine,
    a: npt.ArrayLike,
    classes: npt.ArrayLike,
    *,
    schedule: mm.Schedule = "synchronous",
) -> mm.Run:
    """Move the words of class v to column v of b, for n/w words of each class 0 .. w - 1.

    Raises `PreconditionError` unless w^2 divides n, n >= w^3, and all classes have n/w words.

    >>> run = partition(mm.DMM(2, 5), np.arange(8) * 10, [1, 1, 0, 1, 0, 0, 1, 0])
    >>> run.arrays["b"].reshape(4, 2).T.tolist()
    [[20, 50, 40, 70], [60, 30, 0, 10]]
    """
    return _moved(machine, a, np.asarray(classes), schedule, fetch)


def permute(
    machine: mm.Machine,
    a: npt.ArrayLike,
    d: npt.ArrayLike,
    *,
    schedule: mm.Schedule = "synchronous",
) -> mm.Run:
    """Move word i to place d(i) of b. The program reads d; the host computes no table from it.

    Raises `PreconditionError` unless w^2 divides n, n >= w^3, and d is a permutation.

    >>> run = permute(mm.DMM(2, 5), np.arange(8) * 10, [7, 6, 5, 4, 3, 2, 1, 0])
    >>> run.arrays["b"].tolist()
    [70, 60, 50, 40, 30, 20, 10, 0]
    """
    places = np.asarray(d)
    require(np.array_equal(np.sort(places), np.arange(places.size)), "d is a permutation", SOURCE)
    return _moved(machine, a, places, schedule, deliver)


def _moved(
    machine: mm.Machine,
    a: npt.ArrayLike,
    d: npt.NDArray[Any],
    schedule: mm.Schedule,
    last: mm.Program,
) -> mm.Run:
    """Sort columns, spread them, sort again, and run the last program."""
    words, w = np.asarray(a), machine.width
    n = words.size
    require(words.shape == d.shape == (n,), f"a class for each word, not {d.shape}", SOURCE)
    require(
        n % w**2 == 0 and n >= w**3, f"n is w^3 or more, in rows of w^2, not {n=}, {w=}", SOURCE
    )
    even = np.array_equal(np.bincount(d % w, minlength=w), np.full(w, n // w))
    require(even, f"n/w words of each class, not {np.bincount(d % w).tolist()}", SOURCE)
    launch: dict[str, Any] = {"threads": w, "schedule": schedule}
    runs: list[mm.Run] = []
    for again in (False, True):
        if again:
            for one in (words, d):
                runs.append(machine.run(spread, one, np.zeros_like(one), w, w, 1, **launch))
            words, d = (run.arrays["b"] for run in runs[-2:])
        new = (np.zeros_like(words), np.zeros_like(d), np.zeros((w, w), int))
        runs.append(machine.run(sort_by_class, words, d, *new, **launch))
        words, d, ends = (runs[-1].arrays[name] for name in ("b", "e", "ends"))
    inputs = (words, ends) if last is fetch else (words, d, ends)
    runs.append(machine.run(last, *inputs, np.zeros_like(words), **launch))
    return mm.total(runs)


# What `mmsim run` starts from.


def _ready(width: int, seed: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """w^3 words and their places: a permutation whose columns are sorted by banks."""
    h = width**2
    d = np.arange(h * width).reshape(h, width)  # a row of words for each bank
    d = np.random.default_rng(seed).permuted(d, axis=0)
    rows = d.T.reshape(width, width, width)  # bank, column, word
    return np.arange(h * width), rows.transpose(0, 2, 1).reshape(-1)


@sort_by_class.example
def sort_by_class_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A random permutation of w^3 words, by w threads."""
    d = np.random.default_rng(seed).permutation(width**3)
    a, ends = np.arange(width**3), np.zeros((width, width), int)
    return mm.Example(a, d, np.zeros_like(a), np.zeros_like(a), ends, threads=width)


def _ends(width: int) -> npt.NDArray[Any]:
    """Each column has w words of each class."""
    return np.repeat(width * np.arange(1, width + 1), width).reshape(width, width)


@fetch.example
def fetch_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """w words of each class in each of w columns."""
    a, _ = _ready(width, seed)
    return mm.Example(a, _ends(width), np.zeros_like(a), threads=width)


@deliver.example
def deliver_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """w words for each bank in each of w columns."""
    a, d = _ready(width, seed)
    return mm.Example(a, d, _ends(width), np.zeros_like(a), threads=width)
