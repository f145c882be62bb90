"""Lanes and blocks that exchange without waiting for each other, or where not all come."""

import numpy as np

import mmsim as mm
from tests.kit.planted.pair import HMM, TWO, apart, asks, planted, unsynced, zeros


@unsynced("a[0]", (31, "read", "a[T.id] =", 0), (0, "write", "a[T.id] =", 5), 64)
@planted(np.arange(64))
def rotated_in_place(T, a):
    """Each lane replaces its element by its neighbour's, which may have been replaced already."""
    a[T.id] = a[T.id // 32 * 32 + (T.lane + 1) % 32]  # bug
    x = a[T.id // 32 * 32 + (T.lane + 1) % 32]  # twin
    mm.warp.sync()  # twin
    a[T.id] = x  # twin


@unsynced("s[0] of 0", (1, "read", "x += s[T.lane - d]", 15), (0, "write", "s[T.lane] = x", 20), 31)
@planted(np.arange(32), zeros(32), threads=32)
def one_sync_for_two(T, a, b):
    """Prefix sums of a warp with a sync after each write, but none between read and write."""
    s = mm.shared(32, dtype=int)
    s[T.lane] = a[T.lane]
    mm.warp.sync()
    d = 1
    while d < 32:
        x = s[T.lane]
        if T.lane >= d:
            x += s[T.lane - d]
        mm.warp.sync()  # twin
        s[T.lane] = x
        mm.warp.sync()
        d *= 2
    b[T.lane] = s[T.lane]


@unsynced("s[0] of 0", (31, "read", "b[k, T.lane] =", 10), (0, "write", "s[0] = a[k]", 25))
@planted(np.arange(4), zeros(4, 32), threads=32)
def next_word_for_all(T, a, b):
    """The first lane hands on a word in each turn, and doesn't wait until all have the last one."""
    s = mm.shared(1, dtype=int)
    for k in range(4):
        if T.lane == 0:
            s[0] = a[k]
        mm.warp.sync()
        b[k, T.lane] = s[0]
        mm.warp.sync()  # twin


@unsynced("b[24]", (24, "write", "b[T.lane] = 0", 0), (7, "write", "b[p[T.lane]] = 1", 10), 8)
@planted(np.arange(32)[::-1].copy(), zeros(32), threads=32)
def cleared_and_scattered(T, p, b):
    """A warp clears a table and then marks places of it, which another lane may clear later."""
    b[T.lane] = 0
    mm.warp.sync()  # twin
    if T.lane < 8:
        b[p[T.lane]] = 1


@unsynced("s[0] of 0", (0, "write", "s[T.lane] =", 5), (31, "read", "b[T.lane] =", 15), 32)
@planted(np.arange(32), zeros(32), threads=32)
def vote_for_a_sync(T, a, b):
    """A vote of all lanes is taken for a sync, but it orders no accesses to memory."""
    s = mm.shared(32, dtype=int)
    s[T.lane] = a[T.lane]
    mm.warp.sync()  # twin
    if mm.warp.any(a[T.lane] > 0):
        b[T.lane] = s[31 - T.lane]


@unsynced("s[16] of 0", (16, "write", "s[T.lane] =", 5), (0, "read", "b[T.lane] ="), 16)
@planted(np.arange(32), zeros(32), threads=32)
def sync_of_one_half(T, a, b):
    """A sync in a branch: those that read come to it, but not those that have written."""
    s = mm.shared(32, dtype=int)
    s[T.lane] = a[T.lane]
    mm.warp.sync()  # twin
    if T.lane < 16:
        mm.warp.sync()  # bug
        b[T.lane] = s[T.lane] + s[T.lane + 16]


@asks((0, 16), "mm.warp.shuffle_down", "x = a[T.lane]")
@planted(np.arange(32), zeros(1), threads=32)
def down_by_halves(T, a, total):
    """A sum by shuffles in which only those lanes take part that still need a value."""
    x = a[T.lane]
    half = 16
    while half > 0:
        if T.lane < half:  # bug
            x += mm.warp.shuffle_down(x, half)  # bug
        x += mm.warp.shuffle_down(x, half)  # twin
        half //= 2
    if T.lane == 0:
        total[0] = x


@asks((2, 1), "mm.warp.shuffle(", "if x[T.id] > 1:")
@planted(np.arange(32) % 3, zeros(1), zeros(32), threads=32)
def leader_of_another_ballot(T, x, count, out):
    """Places for many by one atomic: the leader is chosen of lanes that are not all here."""
    positive = mm.warp.ballot(x[T.id] > 0)  # bug
    if x[T.id] > 1:
        leader = mm.ffs(positive) - 1  # bug
        here = mm.warp.active_mask()  # twin
        leader = mm.ffs(here) - 1  # twin
        first = 0
        if T.lane == leader:
            first = mm.atomic.add(count, 0, mm.popc(positive))  # bug
            first = mm.atomic.add(count, 0, mm.popc(here))  # twin
        first = mm.warp.shuffle(first, leader)
        out[first + mm.popc(positive & ((1 << T.lane) - 1))] = T.id  # bug
        out[first + mm.popc(here & ((1 << T.lane) - 1))] = T.id  # twin


@asks((8, 0), "mm.warp.shuffle(", "mm.warp.shuffle(")
@planted(np.arange(128).reshape(4, 32), zeros(32), 4, threads=32)
def first_lane_has_left(T, a, b, n):
    """The lanes of a loop ask the first one, which has fewer turns than they."""
    for k in range(T.lane // 8 + 1):  # bug
        b[T.lane] += mm.warp.shuffle(a[k, T.lane], 0)  # bug
    for k in range(n):  # twin
        x = mm.warp.shuffle(a[k, T.lane], 0)  # twin
        if k <= T.lane // 8:  # twin
            b[T.lane] += x  # twin


@apart((0, "barrier", "T.grid_barrier()", 20), (64, "end", "def blocks_with_work("), elements=2)
@planted(np.arange(128), zeros(128), 64, machine=HMM, **TWO)
def blocks_with_work(T, a, b, n):
    """Only blocks that have work to do come to the barrier of the grid."""
    if T.block * T.block_size < n:  # twin: if T.id < n:
        a[T.id] += 1
        T.grid_barrier()  # bug
    T.grid_barrier()  # twin
    if T.id < n:  # twin
        b[T.id] = a[n - 1 - T.id]


@apart((0, "barrier", "T.grid_barrier()"), (1, "elsewhere", "T.barrier()  # to write"))
@planted(zeros(128), zeros(128), machine=HMM, **TWO)
def thread_for_its_block(T, a, b):
    """One thread of each block comes to the barrier of the grid for all of its block."""
    a[T.id] = T.id
    T.barrier()  # to write  # bug
    if T.index == 0:  # bug
        T.grid_barrier()  # bug
    T.barrier()  # bug
    T.grid_barrier()  # twin
    b[T.id] = a[T.count - 1 - T.id]


@apart((1, "barrier", "T.barrier_or(", 20), (0, "elsewhere", "a[T.id] != b[T.id]", 5), elements=2)
@planted(np.arange(64) % 2, zeros(64))
def asked_where_it_changed(T, a, b):
    """Whether anything has changed is asked by those threads alone whose element has."""
    changed = a[T.id] != b[T.id]
    if changed:
        b[T.id] = a[T.id]
        if T.barrier_or(changed):  # bug
            a[T.id] = 0  # bug
    if T.barrier_or(changed) and changed:  # twin
        a[T.id] = 0  # twin


@apart((0, "barrier", "# the first", 5), (32, "barrier", "# the second", 6))
@planted(np.arange(64) % 2, zeros(2))
def counted_by_two(T, a, b):
    """Two warps ask how many are positive, each in its own way of a branch."""
    if T.warp == 0:  # bug
        b[0] = T.barrier_count(a[T.id] > 0)  # the first  # bug
    else:  # bug
        b[1] = T.barrier_count(a[T.id] > 0)  # the second  # bug
    b[T.warp] = T.barrier_count(a[T.id] > 0)  # twin
