"""Lanes of a warp that exchange, and barriers of the whole grid."""

import numpy as np

import mmsim as mm
from tests.kit.planted.pair import HMM, TWO, found, pair, race, zeros


@mm.program
def next_lane(T, a, b):
    """Each lane reads what the next one of its warp has written, without a sync."""
    s = mm.shared(T.block_size, dtype=int)
    s[T.index] = a[T.id]
    b[T.id] = s[T.index // 32 * 32 + (T.lane + 1) % 32]


@mm.program
def next_lane_mended(T, a, b):
    s = mm.shared(T.block_size, dtype=int)
    s[T.index] = a[T.id]
    mm.warp.sync()
    b[T.id] = s[T.index // 32 * 32 + (T.lane + 1) % 32]


@mm.program
def last_warp_of_a_sum(T, a):
    """The last steps of a sum, which one warp does, without a sync between them."""
    half = 16
    while half > 0:
        x = 0
        if T.lane < half:
            x = a[T.lane + half]
        if T.lane < half:
            a[T.lane] += x
        half //= 2


@mm.program
def last_warp_of_a_sum_mended(T, a):
    half = 16
    while half > 0:
        x = 0
        if T.lane < half:
            x = a[T.lane + half]
        mm.warp.sync()
        if T.lane < half:
            a[T.lane] += x
        mm.warp.sync()
        half //= 2


@mm.program
def shuffled_under_a_test(T, a, b):
    """A sum by shuffles of which only the lanes take part that have something to add."""
    x = a[T.id]
    if x > 0:
        x += mm.warp.shuffle_xor(x, 1)
    b[T.id] = x


@mm.program
def shuffled_under_a_test_mended(T, a, b):
    x = a[T.id]
    other = mm.warp.shuffle_xor(x, 1)
    if x > 0:
        x += other
    b[T.id] = x


@mm.program
def gone_before_the_shuffle(T, a, b):
    """Threads past the end return before the others ask their lanes."""
    if T.id >= a.size:
        return
    b[T.id] = a[T.id] + mm.warp.shuffle_down(a[T.id], 1)


@mm.program
def gone_before_the_shuffle_mended(T, a, b):
    x = 0
    if T.id < a.size:
        x = a[T.id]
    other = mm.warp.shuffle_down(x, 1)
    if T.id < a.size:
        b[T.id] = x + other


@mm.program
def block_for_the_grid(T, a, b):
    """A barrier of the block stands where one of the grid must."""
    a[T.id] = T.id
    T.barrier()
    b[T.id] = a[T.count - 1 - T.id]


@mm.program
def block_for_the_grid_mended(T, a, b):
    a[T.id] = T.id
    T.grid_barrier()
    b[T.id] = a[T.count - 1 - T.id]


@mm.program
def tile_of_a_warp(T, a, b):
    """Each warp turns a tile of its own around, and its lanes don't wait for each other."""
    s = mm.shared((2, 8, 4), dtype=int)
    s[T.warp, T.lane // 4, T.lane % 4] = a[T.id]
    b[T.id] = s[T.warp, T.lane % 8, T.lane // 8]


@mm.program
def tile_of_a_warp_mended(T, a, b):
    s = mm.shared((2, 8, 4), dtype=int)
    s[T.warp, T.lane // 4, T.lane % 4] = a[T.id]
    mm.warp.sync()
    b[T.id] = s[T.warp, T.lane % 8, T.lane // 8]


@mm.program
def one_block_for_the_grid(T, a, b):
    """All blocks but one return before the barrier of the grid, to which that one comes."""
    a[T.id] = T.id
    if T.block != 0:
        return
    T.grid_barrier()
    b[T.id] = a[T.id]


@mm.program
def one_block_for_the_grid_mended(T, a, b):
    a[T.id] = T.id
    T.grid_barrier()
    if T.block == 0:
        b[T.id] = a[T.id]


PAIRS = [
    pair(
        next_lane,
        next_lane_mended,
        zeros(64),
        zeros(64),
        finds=found(
            "warp-sync",
            "s[0] of 0",
            (0, "write", "s[T.index] ="),
            (31, "read", "b[T.id] ="),
            elements=64,
        ),
    ),
    pair(
        last_warp_of_a_sum,
        last_warp_of_a_sum_mended,
        np.arange(32),
        threads=32,
        finds=found(
            "warp-sync",
            "a[1]",
            (1, "write", "a[T.lane] += x"),
            (0, "read", "x = a[T.lane + half]"),
            elements=15,
        ),
    ),
    pair(
        shuffled_under_a_test,
        shuffled_under_a_test_mended,
        np.arange(64),
        zeros(64),
        finds=found(
            "exchange",
            "",
            (1, "statement", "mm.warp.shuffle_xor"),
            (0, "elsewhere", "x = a[T.id]"),
            note="lane 1, thread 1, asks lane 0, thread 0, which is not active here",
        ),
    ),
    pair(
        gone_before_the_shuffle,
        gone_before_the_shuffle_mended,
        np.arange(60),
        zeros(60),
        finds=found(
            "exchange",
            "",
            (59, "statement", "mm.warp.shuffle_down"),
            (60, "elsewhere", "def gone_before_the_shuffle("),
            note="lane 27, thread 59, asks lane 28, thread 60, which is not active here",
        ),
    ),
    pair(
        block_for_the_grid,
        block_for_the_grid_mended,
        zeros(128),
        zeros(128),
        machine=HMM,
        **TWO,
        finds=race(
            "a[0]", (0, "write", "a[T.id] = T.id"), (127, "read", "b[T.id] ="), 128, "blocks"
        ),
    ),
    pair(
        tile_of_a_warp,
        tile_of_a_warp_mended,
        zeros(64),
        zeros(64),
        finds=found(
            "warp-sync",
            "s[0,0,1] of 0",
            (1, "write", "s[T.warp, T.lane // 4, T.lane % 4] ="),
            (8, "read", "b[T.id] ="),
            elements=60,
        ),
    ),
    pair(
        one_block_for_the_grid,
        one_block_for_the_grid_mended,
        zeros(128),
        zeros(128),
        machine=HMM,
        **TWO,
        finds=found(
            "barrier",
            "",
            (0, "barrier", "T.grid_barrier()"),
            (64, "end", "a[T.id] = T.id"),
        ),
    ),
]
