"""Counters, sums and extremes that several threads keep, without atomics or with too few."""

import numpy as np

import mmsim as mm
from tests.kit.planted.pair import HMM, TWO, lost, pair, plain_and_atomic, race, zeros

BLOCKS = {"machine": HMM, "block_size": 32}


@mm.program
def counts_of_a_warp(T, x, h):
    """A block of one warp counts in shared memory, where its lanes add 1 to what they read."""
    own = mm.shared(4, dtype=int)
    if T.index < 4:
        own[T.index] = 0
    T.barrier()
    own[x[T.id]] += 1
    T.barrier()
    if T.index < 4:
        mm.atomic.add(h, T.index, own[T.index])


@mm.program
def counts_of_a_warp_mended(T, x, h):
    own = mm.shared(4, dtype=int)
    if T.index < 4:
        own[T.index] = 0
    T.barrier()
    mm.atomic.add(own, x[T.id], 1)
    T.barrier()
    if T.index < 4:
        mm.atomic.add(h, T.index, own[T.index])


def put(h, i, weight):
    h[i] = h[i] + weight  # in the helper


def put_mended(h, i, weight):
    mm.atomic.add(h, i, weight)


@mm.program
def added_in_a_helper(T, x, h):
    """The addition to a bin stands in a helper, and looks like one for a single thread."""
    put(h, x[T.id], T.lane)


@mm.program
def added_in_a_helper_mended(T, x, h):
    put_mended(h, x[T.id], T.lane)


@mm.program
def nearest(T, x, best):
    """A loop keeps the least distance so far in memory, where all lanes keep theirs."""
    for k in range(4):
        best[0] = min(best[0], abs(x[T.id] - k))


@mm.program
def nearest_mended(T, x, best):
    least = abs(x[T.id])
    for k in range(1, 4):
        least = min(least, abs(x[T.id] - k))
    mm.atomic.min(best, 0, least)


@mm.program
def hits_of_some(T, x, hits):
    """The threads that have a hit count it, all with the same word."""
    if x[T.id] == 3:
        hits[0] += 1


@mm.program
def hits_of_some_mended(T, x, hits):
    if x[T.id] == 3:
        mm.atomic.add(hits, 0, 1)


@mm.program
def old_total(T, x, total):
    """In lock step two warps add in turn, but to the total that both read at first."""
    if T.lane == 0:
        old = total[0]
        for turn in range(2):
            if T.warp == turn:
                total[0] = old + x[turn]


@mm.program
def old_total_mended(T, x, total):
    for turn in range(2):
        if T.lane == 0 and T.warp == turn:
            total[0] += x[turn]
        T.barrier()


@mm.program
def first_hits(T, x, out, count):
    """A plain look at the counter decides whether there is room, while other warps count."""
    if x[T.id] > 0 and count[0] < 48:
        out[mm.atomic.add(count, 0, 1)] = T.id


@mm.program
def first_hits_mended(T, x, out, count):
    if x[T.id] > 0:
        place = mm.atomic.add(count, 0, 1)
        if place < 48:
            out[place] = T.id


@mm.program
def looks_first(T, x, most):
    """A look at the maximum saves an atomic, and races with those of other warps."""
    if x[T.id] > most[0]:
        mm.atomic.max(most, 0, x[T.id])


@mm.program
def looks_first_mended(T, x, most):
    mm.atomic.max(most, 0, x[T.id])


@mm.program
def set_to_zero_by_one(T, x, count):
    """One thread sets the counter of all blocks to zero, and the other blocks don't wait."""
    if T.id == 0:
        count[0] = 0
    T.barrier()
    if x[T.id] > 0:
        mm.atomic.add(count, 0, 1)


@mm.program
def set_to_zero_by_one_mended(T, x, count):
    if T.id == 0:
        count[0] = 0
    T.grid_barrier()
    if x[T.id] > 0:
        mm.atomic.add(count, 0, 1)


@mm.program
def reset_for_the_next(T, x, out):
    """A shared counter is read and set to zero for the next turn, while other warps still count."""
    own = mm.shared(1, dtype=int)
    own[0] = 0
    T.barrier()
    for turn in range(2):
        mm.atomic.add(own, 0, x[turn * T.count + T.id])
        if T.index == 0:
            out[turn] = own[0]
            own[0] = 0  # for the next
        T.barrier()


@mm.program
def reset_for_the_next_mended(T, x, out):
    own = mm.shared(1, dtype=int)
    own[0] = 0
    T.barrier()
    for turn in range(2):
        mm.atomic.add(own, 0, x[turn * T.count + T.id])
        T.barrier()
        if T.index == 0:
            out[turn] = own[0]
            own[0] = 0
        T.barrier()


@mm.program
def freed_by_a_write(T, lock, total):
    """A lock that is taken by an atomic, but freed by a plain write."""
    if T.lane == 0:
        while mm.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        total[0] += 1
        lock[0] = 0


@mm.program
def freed_by_a_write_mended(T, lock, total):
    waiting = T.lane == 0
    while waiting:
        if mm.atomic.cas(lock, 0, 0, 1) == 0:
            total[0] += 1
            mm.atomic.exch(lock, 0, 0)
            waiting = False


PAIRS = [
    pair(
        counts_of_a_warp,
        counts_of_a_warp_mended,
        np.arange(64) % 4,
        zeros(4),
        machine=HMM,
        block_size=32,
        finds=lost("own[0] of 0", (0, 4), "own[x[T.id]] += 1", elements=8),
    ),
    pair(
        added_in_a_helper,
        added_in_a_helper_mended,
        np.arange(32) // 8,
        zeros(4),
        threads=32,
        finds=lost("h[0]", (0, 1), "h[i] = h[i] + weight", 10, elements=4),
    ),
    pair(
        nearest,
        nearest_mended,
        np.arange(32) + 2,
        np.full(1, 99),
        threads=32,
        finds=lost("best[0]", (0, 1), "best[0] = min(", 10),
    ),
    pair(
        hits_of_some,
        hits_of_some_mended,
        np.arange(32) % 4,
        zeros(1),
        threads=32,
        finds=lost("hits[0]", (3, 7), "hits[0] += 1", 10),
    ),
    pair(
        old_total,
        old_total_mended,
        np.array([5, 6]),
        zeros(1),
        schedule="synchronous",
        finds=lost("total[0]", (32, 0), "total[0] = old + x[turn]"),
    ),
    pair(
        first_hits,
        first_hits_mended,
        np.arange(64) % 2,
        zeros(64),
        zeros(1),
        finds=plain_and_atomic(
            "count[0]",
            (33, "read", "if x[T.id] > 0 and count[0] < 48:", 6),
            (1, "atomic", "mm.atomic.add(count", 10),
        ),
    ),
    pair(
        looks_first,
        looks_first_mended,
        np.arange(64),
        zeros(1),
        finds=plain_and_atomic(
            "most[0]",
            (0, "read", "if x[T.id] > most[0]:", 5),
            (32, "atomic", "mm.atomic.max"),
        ),
    ),
    pair(
        set_to_zero_by_one,
        set_to_zero_by_one_mended,
        np.arange(128) % 2,
        zeros(1),
        machine=HMM,
        **TWO,
        finds=plain_and_atomic(
            "count[0]",
            (0, "write", "count[0] = 0"),
            (65, "atomic", "mm.atomic.add"),
            scope="blocks",
        ),
    ),
    pair(
        reset_for_the_next,
        reset_for_the_next_mended,
        np.arange(128) % 3,
        zeros(2),
        finds=(
            plain_and_atomic(
                "own[0] of 0",
                (32, "atomic", "mm.atomic.add"),
                (0, "read", "out[turn] = own[0]"),
            ),
            plain_and_atomic(
                "own[0] of 0",
                (32, "atomic", "mm.atomic.add"),
                (0, "write", "own[0] = 0  # for the next"),
            ),
        ),
    ),
    pair(
        freed_by_a_write,
        freed_by_a_write_mended,
        zeros(1),
        zeros(1),
        max_accesses=4000,
        finds=(
            plain_and_atomic(
                "lock[0]", (32, "atomic", "mm.atomic.cas"), (0, "write", "lock[0] = 0", 15)
            ),
            race(
                "total[0]",
                (0, "read", "total[0] += 1", 5),
                (32, "write", "total[0] += 1"),
            ),
            race(
                "total[0]",
                (0, "write", "total[0] += 1", 10),
                (32, "write", "total[0] += 1"),
            ),
        ),
    ),
]
