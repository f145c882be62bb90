"""Lost updates, atomics that race with plain accesses, and locks that a warp can't leave."""

import numpy as np

import mmsim as mm
from tests.kit.planted.pair import HMM, found, lost, plain_and_atomic, planted, race, spins, zeros


@lost("h[0]", (0, 4), "h[x[T.id]] += 1", 10, elements=4)
@planted(np.arange(32) % 4, zeros(4), threads=32)
def equal_additions(T, x, h):
    """A histogram whose threads all add 1: equal words, so that no two writes seem to differ."""
    h[x[T.id]] += 1  # bug
    mm.atomic.add(h, x[T.id], 1)  # twin


@lost("h[0]", (0, 4), "count + 1", elements=4)
@planted(np.arange(64) % 4, zeros(4), schedule="synchronous")
def rounds_of_additions(T, x, h):
    """A histogram in lock step: all warps read in one round and write in the next."""
    count = h[x[T.id]]  # bug
    h[x[T.id]] = count + 1  # bug
    count = mm.atomic.add(h, x[T.id], 1)  # twin
    x[T.id] = count  # twin


@lost("most[0]", (0, 1), "most[0] = max", 10)
@planted(np.arange(32), zeros(1), threads=32)
def greatest(T, x, most):
    """Each thread keeps the greater of its number and the greatest so far."""
    most[0] = max(most[0], x[T.id])  # bug
    mm.atomic.max(most, 0, x[T.id])  # twin


@plain_and_atomic("total[0]", (0, "atomic", "mm.atomic.add"), (32, "read", "out[T.id] = total[0]"))
@planted(np.arange(64), zeros(1), zeros(64))
def read_too_soon(T, x, total, out):
    """The sum is read while other warps still add to it."""
    mm.atomic.add(total, 0, x[T.id])
    T.barrier()  # twin
    out[T.id] = total[0]


@plain_and_atomic(
    "own[0] of 0", (0, "write", "own[T.index] = 0"), (32, "atomic", "mm.atomic.add(own"), 4
)
@planted(np.arange(64) % 4, zeros(4))
def cleared_too_late(T, x, h):
    """A block's histogram is cleared while other warps count already."""
    own = mm.shared(4, dtype=int)
    if T.index < 4:
        own[T.index] = 0
    T.barrier()  # twin
    mm.atomic.add(own, x[T.id], 1)
    T.barrier()
    if T.index < 4:
        mm.atomic.add(h, T.index, own[T.index])


@found("unwritten", "own[0] of 0", (0, "atomic", "mm.atomic.add(own"), elements=4)
@planted(np.arange(64) % 4, zeros(4))
def never_cleared(T, x, h):
    """A block's histogram that no thread has cleared."""
    own = mm.shared(4, dtype=int)
    if T.index < 4:  # twin
        own[T.index] = 0  # twin
    T.barrier()  # twin
    mm.atomic.add(own, x[T.id], 1)
    T.barrier()
    if T.index < 4:
        mm.atomic.add(h, T.index, own[T.index])


@spins("lock[0]", 1, 0, "atomic.cas")
@planted(zeros(1), zeros(1), max_accesses=2000)
def spins_in_a_warp(T, lock, total):
    """A lock that the threads of one warp wait for in a loop which they can only leave together."""
    while mm.atomic.cas(lock, 0, 0, 1) != 0:  # bug
        pass  # bug
    total[0] += 1  # bug
    mm.atomic.exch(lock, 0, 0)  # bug
    waiting = True  # twin
    while waiting:  # twin
        if mm.atomic.cas(lock, 0, 0, 1) == 0:  # twin
            total[0] += 1  # twin
            mm.atomic.exch(lock, 0, 0)  # twin
            waiting = False  # twin


@spins("lock[0]", 1, 0, "exch(lock, 0, 1)")
@planted(zeros(1), zeros(1), threads=32, max_accesses=2000)
def exchanges_in_a_warp(T, lock, total):
    """The same with an exchange."""
    while mm.atomic.exch(lock, 0, 1) == 1:  # bug
        pass  # bug
    total[0] += 1  # bug
    mm.atomic.exch(lock, 0, 0)  # bug
    waiting = True  # twin
    while waiting:  # twin
        if mm.atomic.cas(lock, 0, 0, 1) == 0:  # twin
            total[0] += 1  # twin
            mm.atomic.exch(lock, 0, 0)  # twin
            waiting = False  # twin


@race("total[0]", (63, "write", "total[0] += 1"), (0, "read", "out["))
@planted(zeros(1), zeros(1), zeros(64), max_accesses=20000)
def looks_without_the_lock(T, lock, total, out):
    """What others change under a lock is read without it."""
    waiting = True
    while waiting:
        if mm.atomic.cas(lock, 0, 0, 1) == 0:
            total[0] += 1
            mm.atomic.exch(lock, 0, 0)
            waiting = False
    T.barrier()  # twin
    out[T.id] = total[0]


BLOCKS = {"machine": HMM, "block_size": 32}


@race("sums[0]", (0, "write", "sums[T.block]"), (96, "read", "total[0] +="), 3, "blocks")
@planted(np.arange(4), zeros(4), zeros(1), zeros(1), threads=128, **BLOCKS)
def counted_before_written(T, x, sums, count, total):
    """The last block adds up the sums of all, but a block counts itself before it has written."""
    if T.index == 0:
        sums[T.block] = x[T.block]  # twin
        place = mm.atomic.add(count, 0, 1)
        sums[T.block] = x[T.block]  # bug
        if place == T.blocks - 1:
            for i in range(T.blocks):
                total[0] += sums[i]
