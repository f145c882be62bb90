"""Counters, sums and extremes that several threads keep, without atomics or with too few."""

import numpy as np

import mmsim as mm
from tests.kit.planted.pair import HMM, TWO, lost, plain_and_atomic, planted, race, zeros


@lost("own[0] of 0", (0, 4), "own[x[T.id]] += 1", elements=8)
@planted(np.arange(64) % 4, zeros(4), machine=HMM, block_size=32)
def counts_of_a_warp(T, x, h):
    """A block of one warp counts in shared memory, where its lanes add 1 to what they read."""
    own = mm.shared(4, dtype=int)
    if T.index < 4:
        own[T.index] = 0
    T.barrier()
    own[x[T.id]] += 1  # bug
    mm.atomic.add(own, x[T.id], 1)  # twin
    T.barrier()
    if T.index < 4:
        mm.atomic.add(h, T.index, own[T.index])


def put(h, i, weight):
    h[i] = h[i] + weight  # in the helper


def put_mended(h, i, weight):
    mm.atomic.add(h, i, weight)


@lost("h[0]", (0, 1), "h[i] = h[i] + weight", 10, elements=4)
@planted(np.arange(32) // 8, zeros(4), threads=32)
def added_in_a_helper(T, x, h):
    """The addition to a bin stands in a helper, and looks like one for a single thread."""
    put(h, x[T.id], T.lane)  # bug
    put_mended(h, x[T.id], T.lane)  # twin


@lost("best[0]", (0, 1), "best[0] = min(", 10)
@planted(np.arange(32) + 2, np.full(1, 99), threads=32)
def nearest(T, x, best):
    """A loop keeps the least distance so far in memory, where all lanes keep theirs."""
    for k in range(4):  # bug
        best[0] = min(best[0], abs(x[T.id] - k))  # bug
    least = abs(x[T.id])  # twin
    for k in range(1, 4):  # twin
        least = min(least, abs(x[T.id] - k))  # twin
    mm.atomic.min(best, 0, least)  # twin


@lost("hits[0]", (3, 7), "hits[0] += 1", 10)
@planted(np.arange(32) % 4, zeros(1), threads=32)
def hits_of_some(T, x, hits):
    """The threads that have a hit count it, all with the same word."""
    if x[T.id] == 3:
        hits[0] += 1  # bug
        mm.atomic.add(hits, 0, 1)  # twin


@lost("total[0]", (32, 0), "total[0] = old + x[turn]")
@planted(np.array([5, 6]), zeros(1), schedule="synchronous")
def old_total(T, x, total):
    """In lock step two warps add in turn, but to the total that both read at first."""
    if T.lane == 0:  # bug
        old = total[0]  # bug
        for turn in range(2):  # bug
            if T.warp == turn:  # bug
                total[0] = old + x[turn]  # bug
    for turn in range(2):  # twin
        if T.lane == 0 and T.warp == turn:  # twin
            total[0] += x[turn]  # twin
        T.barrier()  # twin


@plain_and_atomic(
    "count[0]",
    (33, "read", "if x[T.id] > 0 and count[0] < 48:", 6),
    (1, "atomic", "mm.atomic.add(count", 10),
)
@planted(np.arange(64) % 2, zeros(64), zeros(1))
def first_hits(T, x, out, count):
    """A plain look at the counter decides whether there is room, while other warps count."""
    if x[T.id] > 0 and count[0] < 48:  # bug
        out[mm.atomic.add(count, 0, 1)] = T.id  # bug
    if x[T.id] > 0:  # twin
        place = mm.atomic.add(count, 0, 1)  # twin
        if place < 48:  # twin
            out[place] = T.id  # twin


@plain_and_atomic(
    "most[0]", (0, "read", "if x[T.id] > most[0]:", 5), (32, "atomic", "mm.atomic.max")
)
@planted(np.arange(64), zeros(1))
def looks_first(T, x, most):
    """A look at the maximum saves an atomic, and races with those of other warps."""
    if x[T.id] > most[0]:  # bug
        mm.atomic.max(most, 0, x[T.id])  # bug
    mm.atomic.max(most, 0, x[T.id])  # twin


@plain_and_atomic(
    "count[0]", (0, "write", "count[0] = 0"), (65, "atomic", "mm.atomic.add"), scope="blocks"
)
@planted(np.arange(128) % 2, zeros(1), machine=HMM, **TWO)
def set_to_zero_by_one(T, x, count):
    """One thread sets the counter of all blocks to zero, and the other blocks don't wait."""
    if T.id == 0:
        count[0] = 0
    T.barrier()  # bug
    T.grid_barrier()  # twin
    if x[T.id] > 0:
        mm.atomic.add(count, 0, 1)


@plain_and_atomic("own[0] of 0", (32, "atomic", "mm.atomic.add"), (0, "read", "out[turn] = own[0]"))
@plain_and_atomic(
    "own[0] of 0", (32, "atomic", "mm.atomic.add"), (0, "write", "own[0] = 0  # for the next")
)
@planted(np.arange(128) % 3, zeros(2))
def reset_for_the_next(T, x, out):
    """A shared counter is read and set to zero for the next turn, while other warps still count."""
    own = mm.shared(1, dtype=int)
    own[0] = 0
    T.barrier()
    for turn in range(2):
        mm.atomic.add(own, 0, x[turn * T.count + T.id])
        T.barrier()  # twin
        if T.index == 0:
            out[turn] = own[0]
            own[0] = 0  # for the next  # bug
            own[0] = 0  # twin
        T.barrier()


@plain_and_atomic("lock[0]", (32, "atomic", "mm.atomic.cas"), (0, "write", "lock[0] = 0", 15))
@race("total[0]", (0, "read", "total[0] += 1", 5), (32, "write", "total[0] += 1"))
@race("total[0]", (0, "write", "total[0] += 1", 10), (32, "write", "total[0] += 1"))
@planted(zeros(1), zeros(1), max_accesses=4000)
def freed_by_a_write(T, lock, total):
    """A lock that is taken by an atomic, but freed by a plain write."""
    if T.lane == 0:  # bug
        while mm.atomic.cas(lock, 0, 0, 1) != 0:  # bug
            pass  # bug
        total[0] += 1  # bug
        lock[0] = 0  # bug
    waiting = T.lane == 0  # twin
    while waiting:  # twin
        if mm.atomic.cas(lock, 0, 0, 1) == 0:  # twin
            total[0] += 1  # twin
            mm.atomic.exch(lock, 0, 0)  # twin
            waiting = False  # twin
