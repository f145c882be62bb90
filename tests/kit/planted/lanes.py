"""Lanes and blocks that exchange without waiting for each other, or where not all come."""

import numpy as np

import mmsim as mm
from tests.kit.planted.pair import HMM, TWO, apart, asks, pair, unsynced, zeros


@mm.program
def rotated_in_place(T, a):
    """Each lane replaces its element by its neighbour's, which may have been replaced already."""
    a[T.id] = a[T.id // 32 * 32 + (T.lane + 1) % 32]


@mm.program
def rotated_in_place_mended(T, a):
    x = a[T.id // 32 * 32 + (T.lane + 1) % 32]
    mm.warp.sync()
    a[T.id] = x


@mm.program
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
        s[T.lane] = x
        mm.warp.sync()
        d *= 2
    b[T.lane] = s[T.lane]


@mm.program
def one_sync_for_two_mended(T, a, b):
    s = mm.shared(32, dtype=int)
    s[T.lane] = a[T.lane]
    mm.warp.sync()
    d = 1
    while d < 32:
        x = s[T.lane]
        if T.lane >= d:
            x += s[T.lane - d]
        mm.warp.sync()
        s[T.lane] = x
        mm.warp.sync()
        d *= 2
    b[T.lane] = s[T.lane]


@mm.program
def next_word_for_all(T, a, b):
    """The first lane hands on a word in each turn, and doesn't wait until all have the last one."""
    s = mm.shared(1, dtype=int)
    for k in range(4):
        if T.lane == 0:
            s[0] = a[k]
        mm.warp.sync()
        b[k, T.lane] = s[0]


@mm.program
def next_word_for_all_mended(T, a, b):
    s = mm.shared(1, dtype=int)
    for k in range(4):
        if T.lane == 0:
            s[0] = a[k]
        mm.warp.sync()
        b[k, T.lane] = s[0]
        mm.warp.sync()


@mm.program
def cleared_and_scattered(T, p, b):
    """A warp clears a table and then marks places of it, which another lane may clear later."""
    b[T.lane] = 0
    if T.lane < 8:
        b[p[T.lane]] = 1


@mm.program
def cleared_and_scattered_mended(T, p, b):
    b[T.lane] = 0
    mm.warp.sync()
    if T.lane < 8:
        b[p[T.lane]] = 1


@mm.program
def vote_for_a_sync(T, a, b):
    """A vote of all lanes is taken for a sync, but it orders no accesses to memory."""
    s = mm.shared(32, dtype=int)
    s[T.lane] = a[T.lane]
    if mm.warp.any(a[T.lane] > 0):
        b[T.lane] = s[31 - T.lane]


@mm.program
def vote_for_a_sync_mended(T, a, b):
    s = mm.shared(32, dtype=int)
    s[T.lane] = a[T.lane]
    mm.warp.sync()
    if mm.warp.any(a[T.lane] > 0):
        b[T.lane] = s[31 - T.lane]


@mm.program
def sync_of_one_half(T, a, b):
    """A sync in a branch: those that read come to it, but not those that have written."""
    s = mm.shared(32, dtype=int)
    s[T.lane] = a[T.lane]
    if T.lane < 16:
        mm.warp.sync()
        b[T.lane] = s[T.lane] + s[T.lane + 16]


@mm.program
def sync_of_one_half_mended(T, a, b):
    s = mm.shared(32, dtype=int)
    s[T.lane] = a[T.lane]
    mm.warp.sync()
    if T.lane < 16:
        b[T.lane] = s[T.lane] + s[T.lane + 16]


@mm.program
def down_by_halves(T, a, total):
    """A sum by shuffles in which only those lanes take part that still need a value."""
    x = a[T.lane]
    half = 16
    while half > 0:
        if T.lane < half:
            x += mm.warp.shuffle_down(x, half)
        half //= 2
    if T.lane == 0:
        total[0] = x


@mm.program
def down_by_halves_mended(T, a, total):
    x = a[T.lane]
    half = 16
    while half > 0:
        x += mm.warp.shuffle_down(x, half)
        half //= 2
    if T.lane == 0:
        total[0] = x


@mm.program
def leader_of_another_ballot(T, x, count, out):
    """Places for many by one atomic: the leader is chosen of lanes that are not all here."""
    positive = mm.warp.ballot(x[T.id] > 0)
    if x[T.id] > 1:
        leader = mm.ffs(positive) - 1
        first = 0
        if T.lane == leader:
            first = mm.atomic.add(count, 0, mm.popc(positive))
        first = mm.warp.shuffle(first, leader)
        out[first + mm.popc(positive & ((1 << T.lane) - 1))] = T.id


@mm.program
def leader_of_another_ballot_mended(T, x, count, out):
    if x[T.id] > 1:
        here = mm.warp.active_mask()
        leader = mm.ffs(here) - 1
        first = 0
        if T.lane == leader:
            first = mm.atomic.add(count, 0, mm.popc(here))
        first = mm.warp.shuffle(first, leader)
        out[first + mm.popc(here & ((1 << T.lane) - 1))] = T.id


@mm.program
def first_lane_has_left(T, a, b, n):
    """The lanes of a loop ask the first one, which has fewer turns than they."""
    for k in range(T.lane // 8 + 1):
        b[T.lane] += mm.warp.shuffle(a[k, T.lane], 0)


@mm.program
def first_lane_has_left_mended(T, a, b, n):
    for k in range(n):
        x = mm.warp.shuffle(a[k, T.lane], 0)
        if k <= T.lane // 8:
            b[T.lane] += x


@mm.program
def blocks_with_work(T, a, b, n):
    """Only blocks that have work to do come to the barrier of the grid."""
    if T.block * T.block_size < n:
        a[T.id] += 1
        T.grid_barrier()
        b[T.id] = a[n - 1 - T.id]


@mm.program
def blocks_with_work_mended(T, a, b, n):
    if T.id < n:
        a[T.id] += 1
    T.grid_barrier()
    if T.id < n:
        b[T.id] = a[n - 1 - T.id]


@mm.program
def thread_for_its_block(T, a, b):
    """One thread of each block comes to the barrier of the grid for all of its block."""
    a[T.id] = T.id
    T.barrier()  # to write
    if T.index == 0:
        T.grid_barrier()
    T.barrier()
    b[T.id] = a[T.count - 1 - T.id]


@mm.program
def thread_for_its_block_mended(T, a, b):
    a[T.id] = T.id
    T.grid_barrier()
    b[T.id] = a[T.count - 1 - T.id]


@mm.program
def asked_where_it_changed(T, a, b):
    """Whether anything has changed is asked by those threads alone whose element has."""
    changed = a[T.id] != b[T.id]
    if changed:
        b[T.id] = a[T.id]
        if T.barrier_or(changed):
            a[T.id] = 0


@mm.program
def asked_where_it_changed_mended(T, a, b):
    changed = a[T.id] != b[T.id]
    if changed:
        b[T.id] = a[T.id]
    if T.barrier_or(changed) and changed:
        a[T.id] = 0


@mm.program
def counted_by_two(T, a, b):
    """Two warps ask how many are positive, each in its own way of a branch."""
    if T.warp == 0:
        b[0] = T.barrier_count(a[T.id] > 0)  # the first
    else:
        b[1] = T.barrier_count(a[T.id] > 0)  # the second


@mm.program
def counted_by_two_mended(T, a, b):
    b[T.warp] = T.barrier_count(a[T.id] > 0)


PAIRS = [
    pair(
        rotated_in_place,
        rotated_in_place_mended,
        np.arange(64),
        finds=unsynced("a[0]", (31, "read", "a[T.id] =", 0), (0, "write", "a[T.id] =", 5), 64),
    ),
    pair(
        one_sync_for_two,
        one_sync_for_two_mended,
        np.arange(32),
        zeros(32),
        threads=32,
        finds=unsynced(
            "s[0] of 0",
            (1, "read", "x += s[T.lane - d]", 15),
            (0, "write", "s[T.lane] = x", 20),
            31,
        ),
    ),
    pair(
        next_word_for_all,
        next_word_for_all_mended,
        np.arange(4),
        zeros(4, 32),
        threads=32,
        finds=unsynced(
            "s[0] of 0", (31, "read", "b[k, T.lane] =", 10), (0, "write", "s[0] = a[k]", 25)
        ),
    ),
    pair(
        cleared_and_scattered,
        cleared_and_scattered_mended,
        np.arange(32)[::-1].copy(),
        zeros(32),
        threads=32,
        finds=unsynced(
            "b[24]", (24, "write", "b[T.lane] = 0", 0), (7, "write", "b[p[T.lane]] = 1", 10), 8
        ),
    ),
    pair(
        vote_for_a_sync,
        vote_for_a_sync_mended,
        np.arange(32),
        zeros(32),
        threads=32,
        finds=unsynced(
            "s[0] of 0", (0, "write", "s[T.lane] =", 5), (31, "read", "b[T.lane] =", 15), 32
        ),
    ),
    pair(
        sync_of_one_half,
        sync_of_one_half_mended,
        np.arange(32),
        zeros(32),
        threads=32,
        finds=unsynced(
            "s[16] of 0", (16, "write", "s[T.lane] =", 5), (0, "read", "b[T.lane] ="), 16
        ),
    ),
    pair(
        down_by_halves,
        down_by_halves_mended,
        np.arange(32),
        zeros(1),
        threads=32,
        finds=asks((0, 16), "mm.warp.shuffle_down", "x = a[T.lane]"),
    ),
    pair(
        leader_of_another_ballot,
        leader_of_another_ballot_mended,
        np.arange(32) % 3,
        zeros(1),
        zeros(32),
        threads=32,
        finds=asks((2, 1), "mm.warp.shuffle(", "if x[T.id] > 1:"),
    ),
    pair(
        first_lane_has_left,
        first_lane_has_left_mended,
        np.arange(128).reshape(4, 32),
        zeros(32),
        4,
        threads=32,
        finds=asks((8, 0), "mm.warp.shuffle(", "mm.warp.shuffle("),
    ),
    pair(
        blocks_with_work,
        blocks_with_work_mended,
        np.arange(128),
        zeros(128),
        64,
        machine=HMM,
        **TWO,
        finds=apart(
            (0, "barrier", "T.grid_barrier()", 20), (64, "end", "def blocks_with_work("), elements=2
        ),
    ),
    pair(
        thread_for_its_block,
        thread_for_its_block_mended,
        zeros(128),
        zeros(128),
        machine=HMM,
        **TWO,
        finds=apart(
            (0, "barrier", "T.grid_barrier()"), (1, "elsewhere", "T.barrier()  # to write")
        ),
    ),
    pair(
        asked_where_it_changed,
        asked_where_it_changed_mended,
        np.arange(64) % 2,
        zeros(64),
        finds=apart((1, "barrier", "T.barrier_or(", 20), (0, "elsewhere", "a[T.id] != b[T.id]", 5)),
    ),
    pair(
        counted_by_two,
        counted_by_two_mended,
        np.arange(64) % 2,
        zeros(2),
        finds=apart((0, "barrier", "# the first", 5), (32, "barrier", "# the second", 6)),
    ),
]
