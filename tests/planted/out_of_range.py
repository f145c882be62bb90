"""Indices outside their arrays."""

import numpy as np

import mmsim as mm
from planted.pair import HMM, UMM, found, pair, zeros


@mm.program
def right_neighbour(T, a, b):
    """The last thread reads its right neighbour's element."""
    b[T.id] = a[T.id + 1] - a[T.id]


@mm.program
def right_neighbour_mended(T, a, b):
    if T.id + 1 < a.size:
        b[T.id] = a[T.id + 1] - a[T.id]


@mm.program
def left_neighbour(T, a, b):
    """The first thread reads its left neighbour's element, whose index is negative."""
    b[T.id] = a[T.id] - a[T.id - 1]


@mm.program
def left_neighbour_mended(T, a, b):
    if T.id > 0:
        b[T.id] = a[T.id] - a[T.id - 1]


@mm.program
def one_too_many(T, a, sums):
    """A loop over a row ends with the row's length itself."""
    x = 0
    for j in range(a.shape[1] + 1):
        x += a[T.id, j]
    sums[T.id] = x


@mm.program
def one_too_many_mended(T, a, sums):
    x = 0
    for j in range(a.shape[1]):
        x += a[T.id, j]
    sums[T.id] = x


@mm.program
def rows_for_columns(T, a, b):
    """Rows and columns of an array that isn't square are mixed up."""
    i, j = T.id // 16, T.id % 16
    b[T.id] = a[j, i]


@mm.program
def rows_for_columns_mended(T, a, b):
    i, j = T.id // 16, T.id % 16
    b[T.id] = a[i, j]


@mm.program
def no_guard(T, a, b):
    """More threads than elements, and no guard."""
    b[T.id] = a[T.id]


@mm.program
def no_guard_mended(T, a, b):
    if T.id < a.size:
        b[T.id] = a[T.id]


@mm.program
def written_two_apart(T, a):
    """Elements two apart are written, for half as many threads as there are."""
    a[2 * T.id] = T.id


@mm.program
def written_two_apart_mended(T, a):
    if 2 * T.id < a.size:
        a[2 * T.id] = T.id


@mm.program
def from_a_table(T, p, a, b):
    """An index from a table that counts from 1."""
    b[T.id] = a[p[T.id]]


@mm.program
def from_a_table_mended(T, p, a, b):
    b[T.id] = a[p[T.id] - 1]


@mm.program
def id_in_a_tile(T, a, b):
    """T.id where T.index is meant: the second block has no such place in its tile."""
    s = mm.shared(T.block_size, dtype=int)
    s[T.id] = a[T.id]
    b[T.id] = s[T.id]


@mm.program
def id_in_a_tile_mended(T, a, b):
    s = mm.shared(T.block_size, dtype=int)
    s[T.index] = a[T.id]
    b[T.id] = s[T.index]


@mm.program
def tile_without_edges(T, a, b):
    """A tile as large as the block, with no room for its edges."""
    s = mm.shared(T.block_size, dtype=int)
    s[T.index + 1] = a[T.id]
    T.barrier()
    b[T.id] = s[T.index + 1]


@mm.program
def tile_without_edges_mended(T, a, b):
    s = mm.shared(T.block_size + 2, dtype=int)
    s[T.index + 1] = a[T.id]
    T.barrier()
    b[T.id] = s[T.index + 1]


@mm.program
def bin_of_the_largest(T, a, h):
    """The largest value belongs to a bin of its own, which isn't there."""
    h[int(a[T.id] * h.size)] = 1


@mm.program
def bin_of_the_largest_mended(T, a, h):
    h[min(int(a[T.id] * h.size), h.size - 1)] = 1


@mm.program
def or_for_and(T, a, b):
    """A guard of two tests joined by `or` instead of `and`."""
    i = T.id - 1
    if i >= 0 or i < a.size:
        b[T.id] = a[i]


@mm.program
def or_for_and_mended(T, a, b):
    i = T.id - 1
    if i >= 0 and i < a.size:
        b[T.id] = a[i]


@mm.program
def rows_times_rows(T, a, n, m):
    """A matrix kept in one dimension, with the wrong factor."""
    i, j = T.id % n, T.id // n
    a[i * n + j] = T.id


@mm.program
def rows_times_rows_mended(T, a, n, m):
    i, j = T.id % n, T.id // n
    a[i * m + j] = T.id


@mm.program
def odd_half(T, a):
    """A tree reduction that rounds the half of an odd number up."""
    k = a.size
    while k > 1:
        half = (k + 1) // 2
        if T.id < half:
            a[T.id] += a[T.id + half]
        T.barrier()
        k = half


@mm.program
def odd_half_mended(T, a):
    k = a.size
    while k > 1:
        half = (k + 1) // 2
        if T.id + half < k:
            a[T.id] += a[T.id + half]
        T.barrier()
        k = half


PAIRS = [
    pair(
        right_neighbour,
        right_neighbour_mended,
        np.arange(64),
        zeros(64),
        machine=UMM,
        finds=found(
            "out-of-range",
            "a[64]",
            (63, "statement", "b[T.id] =", 0),
            note="index [64] of 'a' is out of range: the array has 64 elements",
        ),
    ),
    pair(
        left_neighbour,
        left_neighbour_mended,
        np.arange(64),
        zeros(64),
        machine=UMM,
        finds=found(
            "out-of-range",
            "a[-1]",
            (0, "statement", "b[T.id] =", 5),
            note="index [-1] of 'a' is out of range: an address is not negative",
        ),
    ),
    pair(
        one_too_many,
        one_too_many_mended,
        np.ones((64, 4), int),
        zeros(64),
        machine=UMM,
        finds=found(
            "out-of-range",
            "a[0, 4]",
            (0, "statement", "x += a[T.id, j]", 32),
            note="index [0, 4] of 'a' is out of range: axis 1 has 4 elements",
        ),
    ),
    pair(
        rows_for_columns,
        rows_for_columns_mended,
        np.arange(64).reshape(4, 16),
        zeros(64),
        machine=UMM,
        finds=found(
            "out-of-range",
            "a[4, 0]",
            (4, "statement", "b[T.id] =", 0),
            note="index [4, 0] of 'a' is out of range: axis 0 has 4 elements",
        ),
    ),
    pair(
        no_guard,
        no_guard_mended,
        np.arange(100),
        zeros(100),
        machine=HMM,
        threads=128,
        block_size=64,
        finds=found(
            "out-of-range",
            "a[100]",
            (100, "statement", "b[T.id] =", 0),
            note="index [100] of 'a' is out of range: the array has 100 elements",
        ),
    ),
    pair(
        written_two_apart,
        written_two_apart_mended,
        zeros(64),
        machine=UMM,
        schedule="synchronous",
        finds=found(
            "out-of-range",
            "a[64]",
            (32, "statement", "a[2 * T.id] =", 0),
            note="index [64] of 'a' is out of range: the array has 64 elements",
        ),
    ),
    pair(
        from_a_table,
        from_a_table_mended,
        np.arange(64, 0, -1),
        np.arange(64),
        zeros(64),
        machine=UMM,
        finds=found(
            "out-of-range",
            "a[64]",
            (0, "statement", "b[T.id] =", 5),
            note="index [64] of 'a' is out of range: the array has 64 elements",
        ),
    ),
    pair(
        id_in_a_tile,
        id_in_a_tile_mended,
        np.arange(128),
        zeros(128),
        machine=HMM,
        threads=128,
        block_size=64,
        finds=found(
            "out-of-range",
            "s[64] of 1",
            (64, "statement", "s[T.id] =", 11),
            note="index [64] of 's' is out of range: the array has 64 elements",
        ),
    ),
    pair(
        tile_without_edges,
        tile_without_edges_mended,
        np.arange(64),
        zeros(64),
        machine=HMM,
        finds=found(
            "out-of-range",
            "s[64] of 0",
            (63, "statement", "s[T.index + 1] =", 11),
            note="index [64] of 's' is out of range: the array has 64 elements",
        ),
    ),
    pair(
        bin_of_the_largest,
        bin_of_the_largest_mended,
        np.arange(64) / 63,
        zeros(64),
        machine=UMM,
        finds=found(
            "out-of-range",
            "h[64]",
            (63, "statement", "h[int(a[T.id] * h.size)] =", 6),
            note="index [64] of 'h' is out of range: the array has 64 elements",
        ),
    ),
    pair(
        or_for_and,
        or_for_and_mended,
        np.arange(64),
        zeros(64),
        machine=UMM,
        schedule="synchronous",
        finds=found(
            "out-of-range",
            "a[-1]",
            (0, "statement", "b[T.id] =", 0),
            note="index [-1] of 'a' is out of range: an address is not negative",
        ),
    ),
    pair(
        rows_times_rows,
        rows_times_rows_mended,
        zeros(64),
        16,
        4,
        machine=UMM,
        finds=found(
            "out-of-range",
            "a[64]",
            (4, "statement", "a[i * n + j] =", 0),
            note="index [64] of 'a' is out of range: the array has 64 elements",
        ),
    ),
    pair(
        odd_half,
        odd_half_mended,
        np.arange(65),
        machine=UMM,
        finds=found(
            "out-of-range",
            "a[65]",
            (32, "statement", "a[T.id] += a[T.id + half]", 6),
            note="index [65] of 'a' is out of range: the array has 65 elements",
        ),
    ),
]
