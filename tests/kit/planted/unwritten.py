"""Reads of uninitialized memory."""

from functools import partial

import numpy as np

import mmsim as mm
from tests.kit.planted.pair import HMM, TWO, UMM, ends, pair, unwritten, winner, zeros


@mm.program
def padding(T, a, b):
    """The padding of a tile at the edges of the array is never written."""
    s = mm.shared(T.block_size + 2, dtype=int)
    s[T.index + 1] = a[T.id]
    if T.index == 0 and T.id > 0:
        s[0] = a[T.id - 1]
    if T.index == T.block_size - 1 and T.id + 1 < T.count:
        s[T.block_size + 1] = a[T.id + 1]
    T.barrier()
    b[T.id] = s[T.index] + s[T.index + 2]


@mm.program
def padding_mended(T, a, b):
    s = mm.shared(T.block_size + 2, dtype=int)
    s[T.index + 1] = a[T.id]
    if T.index == 0:
        s[0] = a[T.id - 1] if T.id > 0 else 0
    if T.index == T.block_size - 1:
        s[T.block_size + 1] = a[T.id + 1] if T.id + 1 < T.count else 0
    T.barrier()
    b[T.id] = s[T.index] + s[T.index + 2]


@mm.program
def added_to_nothing(T, a, b):
    """The output is added to where it should be set."""
    b[T.id] += 2 * a[T.id]


@mm.program
def added_to_nothing_mended(T, a, b):
    b[T.id] = 2 * a[T.id]


@mm.program
def sum_not_cleared(T, a, b):
    """A sum in shared memory isn't cleared."""
    s = mm.shared(T.block_size, dtype=int)
    for k in range(a.shape[0]):
        s[T.index] += a[k, T.id]
    b[T.id] = s[T.index]


@mm.program
def sum_not_cleared_mended(T, a, b):
    s = mm.shared(T.block_size, dtype=int)
    s[T.index] = 0
    for k in range(a.shape[0]):
        s[T.index] += a[k, T.id]
    b[T.id] = s[T.index]


@mm.program
def bins_not_cleared(T, a, h):
    """Half of a histogram's bins aren't cleared, since there are more bins than threads."""
    bins = mm.shared(128, dtype=int)
    bins[T.index] = 0
    T.barrier()
    if T.index == 0:
        for i in range(a.size):
            bins[a[i]] += 1
    T.barrier()
    h[T.index] = bins[T.index]


@mm.program
def bins_not_cleared_mended(T, a, h):
    bins = mm.shared(128, dtype=int)
    for k in range(T.index, 128, T.block_size):
        bins[k] = 0
    T.barrier()
    if T.index == 0:
        for i in range(a.size):
            bins[a[i]] += 1
    T.barrier()
    h[T.index] = bins[T.index]


@mm.program
def last_tile(T, a, sums, n):
    """Threads beyond n load nothing into the tile that is then added up as a whole."""
    s = mm.shared(T.block_size, dtype=int)
    if T.id < n:
        s[T.index] = a[T.id]
    T.barrier()
    if T.index == 0:
        for i in range(T.block_size):
            sums[T.block] += s[i]


@mm.program
def last_tile_mended(T, a, sums, n):
    s = mm.shared(T.block_size, dtype=int)
    s[T.index] = a[T.id] if T.id < n else 0
    T.barrier()
    if T.index == 0:
        for i in range(T.block_size):
            sums[T.block] += s[i]


@mm.program
def left_early(T, a, b, n):
    """Threads without an element of their own leave before they have loaded the tile's rest."""
    s = mm.shared(T.block_size, dtype=int)
    if T.id >= n:
        return
    s[T.index] = a[T.id]
    T.barrier()
    b[T.id] = s[T.block_size - 1 - T.index]


@mm.program
def left_early_mended(T, a, b, n):
    s = mm.shared(T.block_size, dtype=int)
    s[T.index] = a[T.id]
    T.barrier()
    if T.id < n:
        b[T.id] = s[T.block_size - 1 - T.index]


@mm.program
def one_too_few(T, a, b):
    """A loop that fills a table ends one element too early."""
    table = mm.shared(64, dtype=int)
    if T.index == 0:
        for i in range(63):
            table[i] = i * i
    T.barrier()
    b[T.id] = table[a[T.id]]


@mm.program
def one_too_few_mended(T, a, b):
    table = mm.shared(64, dtype=int)
    if T.index == 0:
        for i in range(64):
            table[i] = i * i
    T.barrier()
    b[T.id] = table[a[T.id]]


@mm.program
def exclusive_sums(T, a, b):
    """Exclusive prefix sums: everything moves by one place, and the first stays empty."""
    s = mm.shared(T.block_size + 1, dtype=int)
    s[T.index + 1] = a[T.id]
    T.barrier()
    if T.index == 0:
        for i in range(T.block_size):
            s[i + 1] += s[i]
    T.barrier()
    b[T.id] = s[T.index]


@mm.program
def exclusive_sums_mended(T, a, b):
    s = mm.shared(T.block_size + 1, dtype=int)
    s[T.index + 1] = a[T.id]
    if T.index == 0:
        s[0] = 0
    T.barrier()
    if T.index == 0:
        for i in range(T.block_size):
            s[i + 1] += s[i]
    T.barrier()
    b[T.id] = s[T.index]


@mm.program
def other_buffer(T, a, b, steps):
    """Double buffering whose first step reads the buffer that no thread has filled."""
    s = mm.shared((2, T.block_size), dtype=int)
    s[0, T.index] = a[T.id]
    T.barrier()
    for k in range(steps):
        s[k % 2, T.index] = s[1 - k % 2, (T.index + 1) % T.block_size] + 1
        T.barrier()
    b[T.id] = s[(steps - 1) % 2, T.index]


@mm.program
def other_buffer_mended(T, a, b, steps):
    s = mm.shared((2, T.block_size), dtype=int)
    s[0, T.index] = a[T.id]
    T.barrier()
    for k in range(steps):
        s[1 - k % 2, T.index] = s[k % 2, (T.index + 1) % T.block_size] + 1
        T.barrier()
    b[T.id] = s[steps % 2, T.index]


@mm.program
def pad_column(T, a, b):
    """A tile with a column of padding, which the sums of its rows take in."""
    s = mm.shared((8, 9), dtype=int)
    i, j = T.index // 8, T.index % 8
    s[i, j] = a[i, j]
    T.barrier()
    if j == 0:
        for k in range(9):
            b[i] += s[i, k]


@mm.program
def pad_column_mended(T, a, b):
    s = mm.shared((8, 9), dtype=int)
    i, j = T.index // 8, T.index % 8
    s[i, j] = a[i, j]
    T.barrier()
    if j == 0:
        for k in range(8):
            b[i] += s[i, k]


@mm.program
def even_only(T, a, scratch, b):
    """Only every other element of a scratch array is written, and all are read."""
    if T.id % 2 == 0:
        scratch[T.id] = a[T.id]
    T.barrier()
    b[T.id] = scratch[T.id]


@mm.program
def even_only_mended(T, a, scratch, b):
    if T.id % 2 == 0:
        scratch[T.id] = a[T.id]
    T.barrier()
    b[T.id] = scratch[T.id // 2 * 2]


@mm.program
def running_maximum(T, a, most):
    """A maximum is taken with what the output held before."""
    for k in range(a.shape[0]):
        most[T.id] = max(most[T.id], a[k, T.id])


@mm.program
def running_maximum_mended(T, a, most):
    most[T.id] = a[0, T.id]
    for k in range(1, a.shape[0]):
        most[T.id] = max(most[T.id], a[k, T.id])


@mm.program
def one_partial_sum_too_many(T, a, partial, total):
    """One more partial sum is added up than there are warps."""
    if T.lane == 0:
        partial[T.warp] = a[T.id]
    T.barrier()
    if T.id == 0:
        x = 0
        for k in range(T.count // 32 + 1):
            x += partial[k]
        total[0] = x


@mm.program
def one_partial_sum_too_many_mended(T, a, partial, total):
    if T.lane == 0:
        partial[T.warp] = a[T.id]
    T.barrier()
    if T.id == 0:
        x = 0
        for k in range(T.count // 32):
            x += partial[k]
        total[0] = x


@mm.program
def holes_of_a_scatter(T, p, scratch, b):
    """A scatter that doesn't reach all elements of an array that is then read as a whole."""
    scratch[p[T.id]] = T.id
    T.barrier()
    b[T.id] = scratch[T.id]


on_umm = partial(pair, machine=UMM)

PAIRS = [
    pair(
        padding,
        padding_mended,
        np.arange(128),
        zeros(128),
        machine=HMM,
        **TWO,
        finds=unwritten("s[0] of 0", 0, "b[T.id] =", elements=2),
    ),
    on_umm(
        added_to_nothing,
        added_to_nothing_mended,
        np.arange(64),
        zeros(64),
        unset=("b",),
        finds=unwritten("b[0]", 0, "b[T.id] += 2 * a[T.id]", 0, elements=64),
    ),
    pair(
        sum_not_cleared,
        sum_not_cleared_mended,
        np.ones((3, 64), int),
        zeros(64),
        machine=HMM,
        finds=unwritten("s[0] of 0", 0, "s[T.index] += a[k, T.id]", 0, elements=64),
    ),
    pair(
        bins_not_cleared,
        bins_not_cleared_mended,
        np.arange(0, 128, 5),
        zeros(64),
        finds=unwritten("bins[65] of 0", 0, "bins[a[i]] += 1", elements=13),
    ),
    pair(
        last_tile,
        last_tile_mended,
        np.arange(100),
        zeros(2),
        100,
        machine=HMM,
        **TWO,
        finds=unwritten("s[36] of 1", 64, "sums[T.block] += s[i]", elements=28),
    ),
    pair(
        left_early,
        left_early_mended,
        np.arange(64),
        zeros(64),
        50,
        finds=unwritten("s[50] of 0", 13, "b[T.id] =", 11, elements=14),
    ),
    pair(
        one_too_few,
        one_too_few_mended,
        np.arange(64),
        zeros(64),
        machine=HMM,
        finds=unwritten("table[63] of 0", 63, "b[T.id] ="),
    ),
    pair(
        exclusive_sums,
        exclusive_sums_mended,
        np.arange(64),
        zeros(64),
        schedule="synchronous",
        finds=(
            unwritten("s[0] of 0", 0, "s[i + 1] += s[i]"),
            unwritten("s[0] of 0", 0, "b[T.id] ="),
        ),
    ),
    pair(
        other_buffer,
        other_buffer_mended,
        np.arange(64),
        zeros(64),
        3,
        finds=unwritten("s[1, 0] of 0", 63, "s[k % 2, T.index] =", 12, elements=64),
    ),
    pair(
        pad_column,
        pad_column_mended,
        np.arange(64).reshape(8, 8),
        zeros(8),
        finds=unwritten("s[0, 8] of 0", 0, "b[i] += s[i, k]", elements=8),
    ),
    on_umm(
        even_only,
        even_only_mended,
        np.arange(64),
        zeros(64),
        zeros(64),
        unset=("scratch", "b"),
        finds=unwritten("scratch[1]", 1, "b[T.id] =", 11, elements=32),
    ),
    on_umm(
        running_maximum,
        running_maximum_mended,
        np.ones((3, 64), int),
        zeros(64),
        unset=("most",),
        schedule="synchronous",
        finds=unwritten("most[0]", 0, "most[T.id] =", 0, elements=64),
    ),
    on_umm(
        one_partial_sum_too_many,
        one_partial_sum_too_many_mended,
        np.arange(64),
        zeros(3),
        zeros(1),
        unset=("partial", "total"),
        finds=unwritten("partial[2]", 0, "x += partial[k]", 21),
    ),
    on_umm(
        holes_of_a_scatter,
        holes_of_a_scatter,
        np.arange(64) // 2 * 2,
        zeros(64),
        zeros(64),
        unset=("scratch", "b"),
        fixed={"arguments": (np.arange(64)[::-1].copy(), zeros(64), zeros(64))},
        finds=(
            unwritten("scratch[1]", 1, "b[T.id] =", 11, elements=32),
            winner(
                "scratch[0]",
                (0, 1),
                "scratch[p[T.id]] =",
                5,
                elements=32,
                note=ends("scratch[0]", 0, 1),
            ),
        ),
    ),
]
