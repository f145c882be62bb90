"""Results that depend on which of several concurrent writes stays."""

from functools import partial

import numpy as np

import mmsim as mm
from tests.kit.planted.pair import UMM, ends, lost, planted, winner, zeros

ARG = np.zeros(32, int)
ARG[[3, 9]] = 7

in_one_warp = partial(planted, threads=32)


@winner("where[0]", (3, 9), "where[0] =", 5, note=ends("where[0]", 3, 9))
@in_one_warp(ARG, 7, zeros(1))
def who_found_it(T, a, x, where):
    """Two threads of a warp find what is looked for, and both say where."""
    if a[T.id] == x:
        where[0] = T.id  # bug
        first = True  # twin
        for i in range(T.id):  # twin
            if a[i] == x:  # twin
                first = False  # twin
        if first:  # twin
            where[0] = T.id  # twin


KEYS = np.arange(32)
KEYS[[5, 11, 12]] = 40


@winner("table[40]", (5, 11), "table[keys[T.id]] =", 10, note=ends("table[40]", 50, 110))
@in_one_warp(
    KEYS,
    np.arange(32) * 10,
    zeros(64),
    fixed={"arguments": (np.arange(32), np.arange(32) * 10, zeros(64))},
)
def one_of_three(T, keys, values, table):
    """Three threads put entries of one key into a table."""
    table[keys[T.id]] = values[T.id]


@winner("last[0]", (0, 1), "last[0] =", 5, note=ends("last[0]", 0, 1))
@in_one_warp(np.arange(32), zeros(1), machine=UMM)
def any_of_all(T, a, last):
    """All threads of a warp store their element in one variable."""
    last[0] = a[T.id]  # bug
    if T.id == T.count - 1:  # twin
        last[0] = a[T.id]  # twin


@winner("leader[0]", (0, 1), "leader[T.id // 8] = T.id", 0, elements=4, note=ends("b[0]", 0, 1))
@in_one_warp(zeros(4), np.arange(32), zeros(4))
def matters_later(T, leader, a, b):
    """The winner is chosen as a leader, which only later decides what is written."""
    leader[T.id // 8] = T.id  # bug
    if T.id % 8 == 0:  # twin
        leader[T.id // 8] = T.id  # twin
    T.barrier()
    if leader[T.id // 8] == T.id:
        b[T.id // 8] = a[T.id]
    T.barrier()
    leader[T.id // 8] = 0


@lost("h[0]", (0, 16), "h[a[T.id]] += weights[T.id]", 15, elements=16)
@in_one_warp(np.arange(32) % 16, np.arange(32), zeros(16), schedule="synchronous")
def weighted_histogram(T, a, weights, h):
    """A histogram with weights: of a warp's additions to a bin one stays."""
    h[a[T.id]] += weights[T.id]  # bug
    if T.id < h.size:  # twin
        for i in range(a.size):  # twin
            if a[i] == T.id:  # twin
                h[T.id] += weights[i]  # twin


PATH = np.stack([np.arange(32), np.arange(1, 33)], axis=1)

STAR = np.stack([np.arange(32) // 4, 10 + np.arange(32) // 8], axis=1)


@winner("parent[10]", (0, 4), "parent[max(i, j)] =", elements=4, note=ends("parent[10]", 0, 1))
@in_one_warp(STAR, np.arange(33), fixed={"arguments": (PATH, np.arange(33))})
def hooking(T, edges, parent):
    """Connected components: several edges hang one root under different parents."""
    i, j = edges[T.id, 0], edges[T.id, 1]
    parent[max(i, j)] = min(i, j)


@winner("b[0]", (0, 1), "b[T.id // 2] =", 5, elements=16, note=ends("b[0]", 0, 1))
@in_one_warp(np.arange(32), zeros(32), machine=UMM, schedule="synchronous")
def halves_of_an_index(T, a, b):
    """// 2 where the index itself is meant: neighbours write one element."""
    b[T.id // 2] = a[T.id]  # bug
    b[T.id] = a[T.id]  # twin


@winner(
    "at[0]", (0, 1), "at[0] =", 0, note="if the other's stays, index [40] of 'a' is out of range"
)
@in_one_warp(np.arange(32), zeros(1), zeros(32))
def wins_an_error(T, a, at, b):
    """The winner becomes an index, and another one's would be out of range."""
    at[0] = T.id * 40  # bug
    at[0] = 0  # twin
    b[T.id] = a[at[0]]


BEST = np.zeros(32, int)
BEST[[4, 20]] = 6, 9


@winner("best[0]", (4, 20), "best[0] =", 10, note=ends("best[0]", 6, 9))
@winner("best[1]", (4, 20), "best[1] =", 15, note=ends("best[1]", 4, 20))
@in_one_warp(BEST, zeros(2))
def value_and_place(T, a, best):
    """The best value and its place are stored apart, by threads that tie for it or don't."""
    if a[T.id] > 5:  # bug
        best[0] = a[T.id]  # bug
        best[1] = T.id  # bug
    if T.id == 0:  # twin
        for i in range(a.size):  # twin
            if a[i] > best[0]:  # twin
                best[0] = a[i]  # twin
                best[1] = i  # twin


@winner("s[0] of 0", (0, 1), "s[0] =", 5, note=ends("b[0]", 0.0, 0.5))
@in_one_warp(np.arange(32) / 4, np.zeros(32))
def through_shared_memory(T, a, b):
    """The threads of a block agree on a value in shared memory, each on its own."""
    s = mm.shared(1, dtype=float)
    s[0] = a[T.id]  # bug
    if T.index == 0:  # twin
        s[0] = a[T.id]  # twin
    T.barrier()
    b[T.id] = s[0] * 2
