"""Bulk execution, each thread on an input of its own: docs/algorithms/bulk.md."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from models.cost import RULES, Rounds, warps


def prefix_sums(n: int) -> Iterator[int]:
    """The words of an input in the order of the accesses: each is read and written.

    >>> list(prefix_sums(2))
    [0, 0, 1, 1]
    """
    for j in range(n):
        yield from (j, j)


def bubble_sort(n: int) -> Iterator[int]:
    """The words of an input: each pair of neighbours is read, and always written.

    >>> list(bubble_sort(2))
    [0, 1, 0, 1]
    """
    for end in range(n - 1, 0, -1):
        for j in range(end):
            yield from (j, j + 1, j, j + 1)


def triangulation(n: int) -> Iterator[int]:
    """The words of a table of n = s² weights: two for each sum, the weight, and the result.

    >>> list(triangulation(9))
    [1, 5, 2, 2]
    """
    s = round(n**0.5)
    for chord in range(2, s):
        for i in range(s - chord):
            j = i + chord
            for k in range(i + 1, j):
                yield from (i * s + k, k * s + j)
            yield from (i * s + j, i * s + j)


ALGORITHMS = {"prefix sums": prefix_sums, "sort": bubble_sort, "triangulation": triangulation}


def bulk(layout: str, algorithm: str, on: str, n: int, t: int, p: int, w: int, l: int) -> int:
    """The time: in each of t rounds every thread accesses the same word of its own input."""
    rounds, steps = Rounds(w), list(ALGORITHMS[algorithm](n))
    assert len(steps) == t
    for j in steps:
        if layout == "columns":
            words = range(j * p, j * p + p)
        else:
            words = range(j, j + n * p, n)
        rounds.add(RULES[on], l, warps(words, w))
    return rounds.time


MODELS = {
    "BULK-columns": partial(bulk, "columns"),
    "BULK-rows.UMM": partial(bulk, "rows"),
    "BULK-rows.DMM": partial(bulk, "rows"),
    "BULK-columns.O": partial(bulk, "columns"),
    "BULK-rows.O": partial(bulk, "rows"),
    "BULK-LB": bulk,
}
