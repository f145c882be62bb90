"""Lanes of a warp that exchange, and barriers of the whole grid."""

import numpy as np

import mmsim as mm
from tests.kit.planted.pair import HMM, TWO, apart, asks, planted, race, unsynced, zeros


@unsynced("s[0] of 0", (0, "write", "s[T.index] ="), (31, "read", "b[T.id] ="), 64)
@planted(zeros(64), zeros(64))
def next_lane(T, a, b):
    """Each lane reads what the next one of its warp has written, without a sync."""
    s = mm.shared(T.block_size, dtype=int)
    s[T.index] = a[T.id]
    mm.warp.sync()  # twin
    b[T.id] = s[T.index // 32 * 32 + (T.lane + 1) % 32]


@unsynced("a[1]", (1, "write", "a[T.lane] += x"), (0, "read", "x = a[T.lane + half]"), 15)
@planted(np.arange(32), threads=32)
def last_warp_of_a_sum(T, a):
    """The last steps of a sum, which one warp does, without a sync between them."""
    half = 16
    while half > 0:
        x = 0
        if T.lane < half:
            x = a[T.lane + half]
        mm.warp.sync()  # twin
        if T.lane < half:
            a[T.lane] += x
        mm.warp.sync()  # twin
        half //= 2


@asks((1, 0), "mm.warp.shuffle_xor", "x = a[T.id]")
@planted(np.arange(64), zeros(64))
def shuffled_under_a_test(T, a, b):
    """A sum by shuffles of which only the lanes take part that have something to add."""
    x = a[T.id]
    other = mm.warp.shuffle_xor(x, 1)  # twin
    if x > 0:
        x += mm.warp.shuffle_xor(x, 1)  # bug
        x += other  # twin
    b[T.id] = x


@asks((59, 60), "mm.warp.shuffle_down", "def gone_before_the_shuffle(")
@planted(np.arange(60), zeros(60))
def gone_before_the_shuffle(T, a, b):
    """Threads past the end return before the others ask their lanes."""
    if T.id >= a.size:  # bug
        return  # bug
    b[T.id] = a[T.id] + mm.warp.shuffle_down(a[T.id], 1)  # bug
    x = 0  # twin
    if T.id < a.size:  # twin
        x = a[T.id]  # twin
    other = mm.warp.shuffle_down(x, 1)  # twin
    if T.id < a.size:  # twin
        b[T.id] = x + other  # twin


@race("a[0]", (0, "write", "a[T.id] = T.id"), (127, "read", "b[T.id] ="), 128, "blocks")
@planted(zeros(128), zeros(128), machine=HMM, **TWO)
def block_for_the_grid(T, a, b):
    """A barrier of the block stands where one of the grid must."""
    a[T.id] = T.id
    T.barrier()  # bug
    T.grid_barrier()  # twin
    b[T.id] = a[T.count - 1 - T.id]


@unsynced(
    "s[0,0,1] of 0",
    (1, "write", "s[T.warp, T.lane // 4, T.lane % 4] ="),
    (8, "read", "b[T.id] ="),
    60,
)
@planted(zeros(64), zeros(64))
def tile_of_a_warp(T, a, b):
    """Each warp turns a tile of its own around, and its lanes don't wait for each other."""
    s = mm.shared((2, 8, 4), dtype=int)
    s[T.warp, T.lane // 4, T.lane % 4] = a[T.id]
    mm.warp.sync()  # twin
    b[T.id] = s[T.warp, T.lane % 8, T.lane // 8]


@apart((0, "barrier", "T.grid_barrier()"), (64, "end", "a[T.id] = T.id"))
@planted(zeros(128), zeros(128), machine=HMM, **TWO)
def one_block_for_the_grid(T, a, b):
    """All blocks but one return before the barrier of the grid, to which that one comes."""
    a[T.id] = T.id
    if T.block != 0:  # bug
        return  # bug
    T.grid_barrier()
    b[T.id] = a[T.id]  # bug
    if T.block == 0:  # twin
        b[T.id] = a[T.id]  # twin
