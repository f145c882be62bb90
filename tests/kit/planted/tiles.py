"""Races in a block: a tile of shared memory is read or written again too early."""

import numpy as np

import mmsim as mm
from tests.kit.planted.pair import HMM, TWO, planted, race, unsynced, zeros


@race("s[0] of 0", (0, "write", "s[T.index] =", 5), (63, "read", "b[T.id] =", 11), 64)
@planted(np.arange(64), zeros(64))
def tile_reversed(T, a, b):
    """No barrier after a tile has been loaded."""
    s = mm.shared(T.block_size, dtype=int)
    s[T.index] = a[T.id]
    T.barrier()  # twin
    b[T.id] = s[T.block_size - 1 - T.index]


@race("s[0] of 0", (0, "write", "s[T.index] =", 6), (63, "read", "b[T.id] =", 12), 2)
@planted(np.arange(64), zeros(64))
def barrier_before_the_load(T, a, b):
    """The barrier stands before the load of the tile instead of after it."""
    s = mm.shared(T.block_size, dtype=int)
    x = a[T.id]
    s[T.index] = x  # twin
    T.barrier()
    s[T.index] = x  # bug
    b[T.id] = s[(T.index + 1) % T.block_size]


@race(
    "s[0] of 0",
    (0, "write", "s[T.index] =", 26),
    (63, "read", "b[k * T.block_size + T.index] =", 12),
    64,
)
@planted(np.arange(128), zeros(128), 2)
def tile_loaded_again(T, a, b, tiles):
    """A loop loads the next tile while others still read the last one."""
    s = mm.shared(T.block_size, dtype=int)
    for k in range(tiles):
        s[T.index] = a[k * T.block_size + T.index]
        T.barrier()
        b[k * T.block_size + T.index] = s[T.block_size - 1 - T.index]
        T.barrier()  # twin


@race(
    "s[32] of 0",
    (32, "write", "s[T.index] =", 6),
    (0, "read", "s[T.index] += s[T.index + k]", 15),
    32,
)
@planted(np.arange(64))
def barrier_after_the_loop(T, a):
    """A tree reduction whose barrier stands after its loop."""
    s = mm.shared(T.block_size, dtype=int)
    s[T.index] = a[T.id]
    k = T.block_size // 2
    while k > 0:
        T.barrier()  # twin
        if T.index < k:
            s[T.index] += s[T.index + k]
        k //= 2
    T.barrier()  # bug
    if T.index == 0:
        a[T.block] = s[0]


@race("a[32]", (0, "read", "a[T.index] ="), (32, "write", "a[T.index] ="), 32)
@planted(np.arange(128), threads=128)
def unrolled_too_early(T, a):
    """A reduction takes its last 64 threads for one warp, which needs no barrier."""
    k = T.block_size // 2
    while k > 0:
        if T.index < k:
            a[T.index] = max(a[T.index], a[T.index + k])
        if k > 64:  # bug
            T.barrier()  # bug
        T.barrier()  # twin
        k //= 2


@race("a[0]", (32, "read", "x = a[T.id - k]"), (0, "write", "a[T.id] += x"), 32)
@planted(np.ones(64, int))
def prefix_sums_in_lock_step(T, a):
    """Prefix sums without a barrier lean on lock step."""
    k = 1
    while k < T.count:
        x = 0
        if T.id >= k:
            x = a[T.id - k]
        T.barrier()  # twin
        a[T.id] += x
        T.barrier()  # twin
        k *= 2


@race("a[0]", (32, "read", "x = a[T.id - k]"), (0, "write", "a[T.id] += x"), 32)
@planted(np.ones(64, int))
def prefix_sums_with_one_barrier(T, a):
    """Prefix sums with a barrier after the reads, and none after the writes."""
    k = 1
    while k < T.count:
        x = 0
        if T.id >= k:
            x = a[T.id - k]
        T.barrier()
        a[T.id] += x
        T.barrier()  # twin
        k *= 2


@race("a[31]", (32, "read", "a[T.id] =", 1), (31, "write", "a[T.id] =", 10), 2)
@planted(np.arange(64))
def stencil_in_place(T, a):
    """A stencil overwrites what its neighbours have yet to read."""
    x = a[T.id]  # twin
    if 0 < T.id < T.count - 1:
        a[T.id] = a[T.id - 1] + a[T.id + 1]  # bug
        x = a[T.id - 1] + a[T.id + 1]  # twin
    T.barrier()  # twin
    a[T.id] = x  # twin


@race(
    "s[65] of 0",
    (1, "write", "s[T.index * (T.block_size + 1)] =", 16),
    (63, "read", "b[T.id] =", 17),
)
@planted(np.arange(66), zeros(64))
def halo_without_barrier(T, a, b):
    """The edges of a tile are loaded behind the barrier."""
    s = mm.shared(T.block_size + 2, dtype=int)
    s[T.index + 1] = a[T.id + 1]
    T.barrier()  # bug
    if T.index < 2:
        s[T.index * (T.block_size + 1)] = a[T.index * (T.block_size + 1)]
    T.barrier()  # twin
    b[T.id] = s[T.index] + s[T.index + 2]


@race(
    "s[0, 0] of 0",
    (0, "write", "s[k % 2, T.index] =", 16),
    (63, "read", "b[k * T.block_size + T.index] =", 22),
    64,
)
@planted(np.arange(128), zeros(128), 2)
def buffers_swapped_too_early(T, a, b, tiles):
    """Double buffering that loads the next tile into the buffer that is still read."""
    s = mm.shared((2, T.block_size), dtype=int)
    s[0, T.index] = a[T.index]
    for k in range(tiles):
        T.barrier()
        if k + 1 < tiles:
            s[k % 2, T.index] = a[(k + 1) * T.block_size + T.index]  # bug
            s[(k + 1) % 2, T.index] = a[(k + 1) * T.block_size + T.index]  # twin
        b[k * T.block_size + T.index] = s[k % 2, T.block_size - 1 - T.index]


@race("s[0, 4] of 0", (4, "write", "s[i, j] ="), (32, "read", "b[i, j] ="), 32)
@planted(np.arange(64).reshape(8, 8), zeros(8, 8))
def transpose_by_tile(T, a, b):
    """A transpose through a tile, read before all of it is there."""
    s = mm.shared((8, 9), dtype=int)
    i, j = T.index // 8, T.index % 8
    s[i, j] = a[i, j]
    T.barrier()  # twin
    b[i, j] = s[j, i]


@race("y[0, 0] of 0", (0, "write", "y[i, j] ="), (32, "read", "total += x[i, m] * y[m, j]"), 64)
@unsynced("x[0, 0] of 0", (7, "read", "total += x[i, m] * y[m, j]"), (0, "write", "x[i, j] ="), 64)
@planted(np.arange(128).reshape(8, 16), np.arange(128).reshape(16, 8), zeros(8, 8))
def product_by_tiles(T, a, b, c):
    """A matrix product by tiles: no barrier between the product and the next tiles."""
    x = mm.shared((8, 8), dtype=int)
    y = mm.shared((8, 8), dtype=int)
    i, j = T.index // 8, T.index % 8
    total = 0
    for k in range(0, a.shape[1], 8):
        x[i, j] = a[i, k + j]
        y[i, j] = b[k + i, j]
        T.barrier()
        for m in range(8):
            total += x[i, m] * y[m, j]
        T.barrier()  # twin
    c[i, j] = total


@race("s[0] of 0", (0, "write", "s[0] =", 10), (32, "read", "b[T.id] =", 0), 2)
@planted(np.arange(2), zeros(128), machine=HMM, **TWO)
def value_for_all(T, a, b):
    """One thread puts a value into shared memory, and all read it immediately."""
    s = mm.shared(1, dtype=int)
    if T.index == 0:
        s[0] = a[T.block]
    T.barrier()  # twin
    b[T.id] = s[0]


@race("s[0] of 0", (0, "write", "s[0] =", 31), (32, "read", "b[T.id] += s[0]", 15))
@planted(np.arange(2), zeros(64), 2)
def value_replaced(T, a, b, times):
    """The next value for all replaces one that others have yet to read."""
    s = mm.shared(1, dtype=int)
    for k in range(times):
        if T.index == 0:
            s[0] = a[k]
        T.barrier()
        b[T.id] += s[0]
        T.barrier()  # twin


@race("s[0] of 0", (0, "write", "s[T.lane] =", 5), (32, "write", "s[T.lane] =", 6), 32)
@race("s[0] of 0", (0, "write", "s[T.lane] =", 5), (32, "read", "b[T.id] =", 11), 32)
@planted(np.arange(64), zeros(64))
def lane_for_index(T, a, b):
    """T.lane where T.index is meant: the warps share one row of the tile."""
    s = mm.shared(T.block_size, dtype=int)
    s[T.lane] = a[T.id]  # bug
    b[T.id] = s[T.lane]  # bug
    s[T.index] = a[T.id]  # twin
    b[T.id] = s[T.index]  # twin


@race(
    "a[64]",
    (31, "read", "if i + 1 < a.size and a[i] > a[i + 1]:"),
    (32, "write", "a[i], a[i + 1] ="),
)
@race("a[64]", (31, "read", "a[i], a[i + 1] ="), (32, "write", "a[i], a[i + 1] ="))
@race("a[64]", (31, "write", "a[i], a[i + 1] ="), (32, "write", "a[i], a[i + 1] ="))
@planted(np.arange(128)[::-1].copy())
def sort_in_one_interval(T, a):
    """Odd-even sorting with a barrier after two phases instead of after each."""
    for _ in range(0, T.count, 2):
        for odd in range(2):
            i = 2 * T.id + odd
            if i + 1 < a.size and a[i] > a[i + 1]:
                a[i], a[i + 1] = a[i + 1], a[i]
            T.barrier()  # twin
        T.barrier()  # bug


@race("table[0] of 0", (0, "write", "table[T.index] =", 0), (32, "read", "b[T.id] =", 6), 32)
@planted(np.arange(64) % 32, zeros(64))
def table_by_one_warp(T, a, b):
    """The first warp makes a table, and the others read it immediately."""
    table = mm.shared(32, dtype=int)
    if T.index < 32:
        table[T.index] = T.index * T.index
    T.barrier()  # twin
    b[T.id] = table[a[T.id]]


SHUFFLE = (np.arange(64) * 33) % 64  # even numbers stay, odd ones move by 32


@race("a[1]", (33, "read", "a[T.id] =", 6), (1, "write", "a[T.id] =", 10), 32)
@planted(np.arange(64), SHUFFLE)
def gather_in_place(T, a, p):
    """A permutation in place: reading and writing in one statement."""
    a[T.id] = a[p[T.id]]  # bug
    x = a[p[T.id]]  # twin
    T.barrier()  # twin
    a[T.id] = x  # twin


@race("s[32] of 0", (0, "read", "s[T.index] +="), (32, "write", "s[T.index] +="), 64)
@planted(np.arange(256), zeros(2), machine=HMM, threads=256, block_size=128)
def barriers_around_the_loop(T, a, sums):
    """The barriers of a tree reduction stand around its loop instead of in it."""
    s = mm.shared(T.block_size, dtype=int)
    s[T.index] = a[T.id]
    T.barrier()
    k = T.block_size // 2
    while k > 0:
        if T.index < k:
            s[T.index] += s[T.index + k]
        k //= 2
        T.barrier()  # twin
    T.barrier()  # bug
    if T.index == 0:
        sums[T.block] = s[0]
