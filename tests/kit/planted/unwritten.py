"""Reads of uninitialized memory."""

from functools import partial

import numpy as np

import mmsim as mm
from tests.kit.planted.pair import HMM, TWO, UMM, ends, planted, unwritten, winner, zeros


@unwritten("s[0] of 0", 0, "b[T.id] =", elements=2)
@planted(np.arange(128), zeros(128), machine=HMM, **TWO)
def padding(T, a, b):
    """The padding of a tile at the edges of the array is never written."""
    s = mm.shared(T.block_size + 2, dtype=int)
    s[T.index + 1] = a[T.id]
    if T.index == 0 and T.id > 0:  # bug
        s[0] = a[T.id - 1]  # bug
    if T.index == T.block_size - 1 and T.id + 1 < T.count:  # bug
        s[T.block_size + 1] = a[T.id + 1]  # bug
    if T.index == 0:  # twin
        s[0] = a[T.id - 1] if T.id > 0 else 0  # twin
    if T.index == T.block_size - 1:  # twin
        s[T.block_size + 1] = a[T.id + 1] if T.id + 1 < T.count else 0  # twin
    T.barrier()
    b[T.id] = s[T.index] + s[T.index + 2]


on_umm = partial(planted, machine=UMM)


@unwritten("b[0]", 0, "b[T.id] += 2 * a[T.id]", 0, elements=64)
@on_umm(np.arange(64), zeros(64), unset=("b",))
def added_to_nothing(T, a, b):
    """The output is added to where it should be set."""
    b[T.id] += 2 * a[T.id]  # bug
    b[T.id] = 2 * a[T.id]  # twin


@unwritten("s[0] of 0", 0, "s[T.index] += a[k, T.id]", 0, elements=64)
@planted(np.ones((3, 64), int), zeros(64), machine=HMM)
def sum_not_cleared(T, a, b):
    """A sum in shared memory isn't cleared."""
    s = mm.shared(T.block_size, dtype=int)
    s[T.index] = 0  # twin
    for k in range(a.shape[0]):
        s[T.index] += a[k, T.id]
    b[T.id] = s[T.index]


@unwritten("bins[65] of 0", 0, "bins[a[i]] += 1", elements=13)
@planted(np.arange(0, 128, 5), zeros(64))
def bins_not_cleared(T, a, h):
    """Half of a histogram's bins aren't cleared, since there are more bins than threads."""
    bins = mm.shared(128, dtype=int)
    bins[T.index] = 0  # bug
    for k in range(T.index, 128, T.block_size):  # twin
        bins[k] = 0  # twin
    T.barrier()
    if T.index == 0:
        for i in range(a.size):
            bins[a[i]] += 1
    T.barrier()
    h[T.index] = bins[T.index]


@unwritten("s[36] of 1", 64, "sums[T.block] += s[i]", elements=28)
@planted(np.arange(100), zeros(2), 100, machine=HMM, **TWO)
def last_tile(T, a, sums, n):
    """Threads beyond n load nothing into the tile that is then added up as a whole."""
    s = mm.shared(T.block_size, dtype=int)
    if T.id < n:  # bug
        s[T.index] = a[T.id]  # bug
    s[T.index] = a[T.id] if T.id < n else 0  # twin
    T.barrier()
    if T.index == 0:
        for i in range(T.block_size):
            sums[T.block] += s[i]


@unwritten("s[50] of 0", 13, "b[T.id] =", 11, elements=14)
@planted(np.arange(64), zeros(64), 50)
def left_early(T, a, b, n):
    """Threads without an element of their own leave before they have loaded the tile's rest."""
    s = mm.shared(T.block_size, dtype=int)
    if T.id >= n:  # bug
        return  # bug
    s[T.index] = a[T.id]
    T.barrier()
    b[T.id] = s[T.block_size - 1 - T.index]  # bug
    if T.id < n:  # twin
        b[T.id] = s[T.block_size - 1 - T.index]  # twin


@unwritten("table[63] of 0", 63, "b[T.id] =")
@planted(np.arange(64), zeros(64), machine=HMM)
def one_too_few(T, a, b):
    """A loop that fills a table ends one element too early."""
    table = mm.shared(64, dtype=int)
    if T.index == 0:
        for i in range(63):  # twin: for i in range(64):
            table[i] = i * i
    T.barrier()
    b[T.id] = table[a[T.id]]


@unwritten("s[0] of 0", 0, "s[i + 1] += s[i]")
@unwritten("s[0] of 0", 0, "b[T.id] =")
@planted(np.arange(64), zeros(64), schedule="synchronous")
def exclusive_sums(T, a, b):
    """Exclusive prefix sums: everything moves by one place, and the first stays empty."""
    s = mm.shared(T.block_size + 1, dtype=int)
    s[T.index + 1] = a[T.id]
    if T.index == 0:  # twin
        s[0] = 0  # twin
    T.barrier()
    if T.index == 0:
        for i in range(T.block_size):
            s[i + 1] += s[i]
    T.barrier()
    b[T.id] = s[T.index]


@unwritten("s[1, 0] of 0", 63, "s[k % 2, T.index] =", 12, elements=64)
@planted(np.arange(64), zeros(64), 3)
def other_buffer(T, a, b, steps):
    """Double buffering whose first step reads the buffer that no thread has filled."""
    s = mm.shared((2, T.block_size), dtype=int)
    s[0, T.index] = a[T.id]
    T.barrier()
    for k in range(steps):
        s[k % 2, T.index] = s[1 - k % 2, (T.index + 1) % T.block_size] + 1  # bug
        s[1 - k % 2, T.index] = s[k % 2, (T.index + 1) % T.block_size] + 1  # twin
        T.barrier()
    b[T.id] = s[(steps - 1) % 2, T.index]  # bug
    b[T.id] = s[steps % 2, T.index]  # twin


@unwritten("s[0, 8] of 0", 0, "b[i] += s[i, k]", elements=8)
@planted(np.arange(64).reshape(8, 8), zeros(8))
def pad_column(T, a, b):
    """A tile with a column of padding, which the sums of its rows take in."""
    s = mm.shared((8, 9), dtype=int)
    i, j = T.index // 8, T.index % 8
    s[i, j] = a[i, j]
    T.barrier()
    if j == 0:
        for k in range(9):  # twin: for k in range(8):
            b[i] += s[i, k]


@unwritten("scratch[1]", 1, "b[T.id] =", 11, elements=32)
@on_umm(np.arange(64), zeros(64), zeros(64), unset=("scratch", "b"))
def even_only(T, a, scratch, b):
    """Only every other element of a scratch array is written, and all are read."""
    if T.id % 2 == 0:
        scratch[T.id] = a[T.id]
    T.barrier()
    b[T.id] = scratch[T.id]  # bug
    b[T.id] = scratch[T.id // 2 * 2]  # twin


@unwritten("most[0]", 0, "most[T.id] =", 0, elements=64)
@on_umm(np.ones((3, 64), int), zeros(64), unset=("most",), schedule="synchronous")
def running_maximum(T, a, most):
    """A maximum is taken with what the output held before."""
    most[T.id] = a[0, T.id]  # twin
    for k in range(a.shape[0]):  # twin: for k in range(1, a.shape[0]):
        most[T.id] = max(most[T.id], a[k, T.id])


@unwritten("partial[2]", 0, "x += partial[k]", 21)
@on_umm(np.arange(64), zeros(3), zeros(1), unset=("partial", "total"))
def one_partial_sum_too_many(T, a, partial, total):
    """One more partial sum is added up than there are warps."""
    if T.lane == 0:
        partial[T.warp] = a[T.id]
    T.barrier()
    if T.id == 0:
        x = 0
        for k in range(T.count // 32 + 1):  # twin: for k in range(T.count // 32):
            x += partial[k]
        total[0] = x


@unwritten("scratch[1]", 1, "b[T.id] =", 11, elements=32)
@winner("scratch[0]", (0, 1), "scratch[p[T.id]] =", 5, elements=32, note=ends("scratch[0]", 0, 1))
@on_umm(
    np.arange(64) // 2 * 2,
    zeros(64),
    zeros(64),
    unset=("scratch", "b"),
    fixed={"arguments": (np.arange(64)[::-1].copy(), zeros(64), zeros(64))},
)
def holes_of_a_scatter(T, p, scratch, b):
    """A scatter that doesn't reach all elements of an array that is then read as a whole."""
    scratch[p[T.id]] = T.id
    T.barrier()
    b[T.id] = scratch[T.id]
