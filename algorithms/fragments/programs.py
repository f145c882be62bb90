"""Reading a list of n words in f fragments, in the order of the list, on the UMM.

Nakano, "Sequential Memory Access on the Unified Memory Machine with Application to the Dynamic
Programming", CANDAR 2013, has the problem and the bound; the programs are written from its
abstract.

A fragment is a run of consecutive words in memory. p is the number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm


@mm.program
def by_positions(T: mm.Thread, a: mm.Array, shift: mm.Array, b: mm.Array) -> None:
    """Consecutive threads read consecutive words of the list: b is the list.

    Position k of the list lies at a[k + shift[k]].
    """
    for k in range(T.id, b.size, T.count):
        b[k] = a[k + shift[k]]


@mm.program
def by_fragments(T: mm.Thread, a: mm.Array, start: mm.Array, first: mm.Array, b: mm.Array) -> None:
    """Each thread reads a fragment from its beginning to its end, word by word: b is the list.

    Fragment j begins at a[start[j]] and at position first[j] of the list; first has f + 1 numbers.
    """
    j = T.id
    s, k = start[j], first[j]
    for t in range(first[j + 1] - k):
        b[k + t] = a[s + t]


def placed(
    lengths: npt.ArrayLike, room: int, offset: int = 0, seed: int = 0
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """A memory with fragments of these lengths in random order: (a, start, first).

    Each begins `offset` words behind a multiple of `room`, and no two share a room. `first` has the
    positions of the fragments in the list, and n at its end.

    >>> a, start, first = placed([2, 1], room=4)
    >>> a.shape, sorted(start.tolist()), first.tolist()
    ((8,), [0, 4], [0, 2, 3])
    """
    sizes = np.asarray(lengths)
    first = np.concatenate([[0], np.cumsum(sizes)])
    rooms = -(-(sizes + offset) // room)
    order = np.random.RandomState(seed).permutation(len(sizes))
    start = np.empty(len(sizes), int)
    start[order] = (np.cumsum(rooms[order]) - rooms[order]) * room + offset
    return np.arange(int(rooms.sum()) * room) * 7919 % 10007, start, first


def shifts(start: npt.NDArray[Any], first: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The address of each position of the list, less its number.

    >>> shifts(np.array([4, 0]), np.array([0, 2, 3])).tolist()
    [4, 4, -2]
    """
    return np.repeat(start - first[:-1], np.diff(first))


def listed(
    a: npt.NDArray[Any], start: npt.NDArray[Any], first: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    """The list, from the places of its fragments."""
    return np.asarray(a[np.arange(first[-1]) + shifts(start, first)])


# What `mmsim run` starts from.


@by_positions.example
def by_positions_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A list of at least `size` words (default: 16w) in fragments of w/2, with 4w threads."""
    length = max(1, width // 2)
    a, start, first = placed([length] * -(-(size or 16 * width) // length), width, seed=seed)
    n = int(first[-1])
    return mm.Example(a, shifts(start, first), np.zeros(n, int), threads=4 * width)


@by_fragments.example
def by_fragments_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A list of at least `size` words (default: 16w) in fragments of w/2, a thread for each."""
    length = max(1, width // 2)
    a, start, first = placed([length] * -(-(size or 16 * width) // length), width, seed=seed)
    return mm.Example(a, start, first, np.zeros(int(first[-1]), int), threads=len(start))
