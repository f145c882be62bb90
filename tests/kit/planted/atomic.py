"""Lost updates, atomics that race with plain accesses, and locks that a warp can't leave."""

import numpy as np

import mmsim as mm
from tests.kit.planted.pair import HMM, found, lost, pair, plain_and_atomic, race, spins, zeros

BLOCKS = {"machine": HMM, "block_size": 32}


@mm.program
def equal_additions(T, x, h):
    """A histogram whose threads all add 1: equal words, so that no two writes seem to differ."""
    h[x[T.id]] += 1


@mm.program
def equal_additions_mended(T, x, h):
    mm.atomic.add(h, x[T.id], 1)


@mm.program
def rounds_of_additions(T, x, h):
    """A histogram in lock step: all warps read in one round and write in the next."""
    count = h[x[T.id]]
    h[x[T.id]] = count + 1


@mm.program
def rounds_of_additions_mended(T, x, h):
    count = mm.atomic.add(h, x[T.id], 1)
    x[T.id] = count


@mm.program
def greatest(T, x, most):
    """Each thread keeps the greater of its number and the greatest so far."""
    most[0] = max(most[0], x[T.id])


@mm.program
def greatest_mended(T, x, most):
    mm.atomic.max(most, 0, x[T.id])


@mm.program
def read_too_soon(T, x, total, out):
    """The sum is read while other warps still add to it."""
    mm.atomic.add(total, 0, x[T.id])
    out[T.id] = total[0]


@mm.program
def read_too_soon_mended(T, x, total, out):
    mm.atomic.add(total, 0, x[T.id])
    T.barrier()
    out[T.id] = total[0]


@mm.program
def cleared_too_late(T, x, h):
    """A block's histogram is cleared while other warps count already."""
    own = mm.shared(4, dtype=int)
    if T.index < 4:
        own[T.index] = 0
    mm.atomic.add(own, x[T.id], 1)
    T.barrier()
    if T.index < 4:
        mm.atomic.add(h, T.index, own[T.index])


@mm.program
def cleared_too_late_mended(T, x, h):
    own = mm.shared(4, dtype=int)
    if T.index < 4:
        own[T.index] = 0
    T.barrier()
    mm.atomic.add(own, x[T.id], 1)
    T.barrier()
    if T.index < 4:
        mm.atomic.add(h, T.index, own[T.index])


@mm.program
def never_cleared(T, x, h):
    """A block's histogram that no thread has cleared."""
    own = mm.shared(4, dtype=int)
    mm.atomic.add(own, x[T.id], 1)
    T.barrier()
    if T.index < 4:
        mm.atomic.add(h, T.index, own[T.index])


@mm.program
def spins_in_a_warp(T, lock, total):
    """A lock that the threads of one warp wait for in a loop which they can only leave together."""
    while mm.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    total[0] += 1
    mm.atomic.exch(lock, 0, 0)


@mm.program
def under_the_lock(T, lock, total):
    waiting = True
    while waiting:
        if mm.atomic.cas(lock, 0, 0, 1) == 0:
            total[0] += 1
            mm.atomic.exch(lock, 0, 0)
            waiting = False


@mm.program
def exchanges_in_a_warp(T, lock, total):
    """The same with an exchange."""
    while mm.atomic.exch(lock, 0, 1) == 1:
        pass
    total[0] += 1
    mm.atomic.exch(lock, 0, 0)


@mm.program
def looks_without_the_lock(T, lock, total, out):
    """What others change under a lock is read without it."""
    waiting = True
    while waiting:
        if mm.atomic.cas(lock, 0, 0, 1) == 0:
            total[0] += 1
            mm.atomic.exch(lock, 0, 0)
            waiting = False
    out[T.id] = total[0]


@mm.program
def looks_without_the_lock_mended(T, lock, total, out):
    waiting = True
    while waiting:
        if mm.atomic.cas(lock, 0, 0, 1) == 0:
            total[0] += 1
            mm.atomic.exch(lock, 0, 0)
            waiting = False
    T.barrier()
    out[T.id] = total[0]


@mm.program
def counted_before_written(T, x, sums, count, total):
    """The last block adds up the sums of all, but a block counts itself before it has written."""
    if T.index == 0:
        place = mm.atomic.add(count, 0, 1)
        sums[T.block] = x[T.block]
        if place == T.blocks - 1:
            for i in range(T.blocks):
                total[0] += sums[i]


@mm.program
def counted_when_written(T, x, sums, count, total):
    if T.index == 0:
        sums[T.block] = x[T.block]
        place = mm.atomic.add(count, 0, 1)
        if place == T.blocks - 1:
            for i in range(T.blocks):
                total[0] += sums[i]


PAIRS = (
    pair(
        equal_additions,
        equal_additions_mended,
        np.arange(32) % 4,
        zeros(4),
        threads=32,
        finds=lost("h[0]", (0, 4), "h[x[T.id]] += 1", 10, elements=4),
    ),
    pair(
        rounds_of_additions,
        rounds_of_additions_mended,
        np.arange(64) % 4,
        zeros(4),
        schedule="synchronous",
        finds=lost("h[0]", (0, 4), "count + 1", elements=4),
    ),
    pair(
        greatest,
        greatest_mended,
        np.arange(32),
        zeros(1),
        threads=32,
        finds=lost("most[0]", (0, 1), "most[0] = max", 10),
    ),
    pair(
        read_too_soon,
        read_too_soon_mended,
        np.arange(64),
        zeros(1),
        zeros(64),
        finds=plain_and_atomic(
            "total[0]", (0, "atomic", "mm.atomic.add"), (32, "read", "out[T.id] = total[0]")
        ),
    ),
    pair(
        cleared_too_late,
        cleared_too_late_mended,
        np.arange(64) % 4,
        zeros(4),
        finds=plain_and_atomic(
            "own[0] of 0", (0, "write", "own[T.index] = 0"), (32, "atomic", "mm.atomic.add(own"), 4
        ),
    ),
    pair(
        never_cleared,
        cleared_too_late_mended,
        np.arange(64) % 4,
        zeros(4),
        finds=found("unwritten", "own[0] of 0", (0, "atomic", "mm.atomic.add(own"), elements=4),
    ),
    pair(
        spins_in_a_warp,
        under_the_lock,
        zeros(1),
        zeros(1),
        max_accesses=2000,
        finds=spins("lock[0]", 1, 0, "atomic.cas"),
    ),
    pair(
        exchanges_in_a_warp,
        under_the_lock,
        zeros(1),
        zeros(1),
        threads=32,
        max_accesses=2000,
        finds=spins("lock[0]", 1, 0, "exch(lock, 0, 1)"),
    ),
    pair(
        looks_without_the_lock,
        looks_without_the_lock_mended,
        zeros(1),
        zeros(1),
        zeros(64),
        max_accesses=20000,
        finds=race("total[0]", (63, "write", "total[0] += 1"), (0, "read", "out[")),
    ),
    pair(
        counted_before_written,
        counted_when_written,
        np.arange(4),
        zeros(4),
        zeros(1),
        zeros(1),
        threads=128,
        **BLOCKS,
        finds=race(
            "sums[0]", (0, "write", "sums[T.block]"), (96, "read", "total[0] +="), 3, "blocks"
        ),
    ),
)
