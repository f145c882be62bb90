"""Indices outside their arrays."""

from functools import partial

import numpy as np

import mmsim as mm
from tests.kit.planted.pair import HMM, TWO, UMM, fault, parts, planted, zeros


def outside(element, thread, line, time, why):
    """A statement whose index is outside its array."""
    array, index, _ = parts(element)
    note = f"index {list(index)} of {array!r} is out of range: {why}"
    return fault("out-of-range", element, thread, line, time, note=note)


on_umm = partial(planted, machine=UMM)


@outside("a[64]", 63, "b[T.id] =", 0, "the array has 64 elements")
@on_umm(np.arange(64), zeros(64))
def right_neighbour(T, a, b):
    """The last thread reads its right neighbour's element."""
    b[T.id] = a[T.id + 1] - a[T.id]  # bug
    if T.id + 1 < a.size:  # twin
        b[T.id] = a[T.id + 1] - a[T.id]  # twin


@outside("a[-1]", 0, "b[T.id] =", 5, "an address is not negative")
@on_umm(np.arange(64), zeros(64))
def left_neighbour(T, a, b):
    """The first thread reads its left neighbour's element, whose index is negative."""
    b[T.id] = a[T.id] - a[T.id - 1]  # bug
    if T.id > 0:  # twin
        b[T.id] = a[T.id] - a[T.id - 1]  # twin


@outside("a[0, 4]", 0, "x += a[T.id, j]", 32, "axis 1 has 4 elements")
@on_umm(np.ones((64, 4), int), zeros(64))
def one_too_many(T, a, sums):
    """A loop over a row ends with the row's length itself."""
    x = 0
    for j in range(a.shape[1] + 1):  # twin: for j in range(a.shape[1]):
        x += a[T.id, j]
    sums[T.id] = x


@outside("a[4, 0]", 4, "b[T.id] =", 0, "axis 0 has 4 elements")
@on_umm(np.arange(64).reshape(4, 16), zeros(64))
def rows_for_columns(T, a, b):
    """Rows and columns of an array that isn't square are mixed up."""
    i, j = T.id // 16, T.id % 16
    b[T.id] = a[j, i]  # bug
    b[T.id] = a[i, j]  # twin


@outside("a[100]", 100, "b[T.id] =", 0, "the array has 100 elements")
@planted(np.arange(100), zeros(100), machine=HMM, **TWO)
def no_guard(T, a, b):
    """More threads than elements, and no guard."""
    b[T.id] = a[T.id]  # bug
    if T.id < a.size:  # twin
        b[T.id] = a[T.id]  # twin


@outside("a[64]", 32, "a[2 * T.id] =", 0, "the array has 64 elements")
@on_umm(zeros(64), schedule="synchronous")
def written_two_apart(T, a):
    """Elements two apart are written, for half as many threads as there are."""
    a[2 * T.id] = T.id  # bug
    if 2 * T.id < a.size:  # twin
        a[2 * T.id] = T.id  # twin


@outside("a[64]", 0, "b[T.id] =", 5, "the array has 64 elements")
@on_umm(np.arange(64, 0, -1), np.arange(64), zeros(64))
def from_a_table(T, p, a, b):
    """An index from a table that counts from 1."""
    b[T.id] = a[p[T.id]]  # bug
    b[T.id] = a[p[T.id] - 1]  # twin


@outside("s[64] of 1", 64, "s[T.id] =", 11, "the array has 64 elements")
@planted(np.arange(128), zeros(128), machine=HMM, **TWO)
def id_in_a_tile(T, a, b):
    """T.id where T.index is meant: the second block has no such place in its tile."""
    s = mm.shared(T.block_size, dtype=int)
    s[T.id] = a[T.id]  # bug
    b[T.id] = s[T.id]  # bug
    s[T.index] = a[T.id]  # twin
    b[T.id] = s[T.index]  # twin


@outside("s[64] of 0", 63, "s[T.index + 1] =", 11, "the array has 64 elements")
@planted(np.arange(64), zeros(64), machine=HMM)
def tile_without_edges(T, a, b):
    """A tile as large as the block, with no room for its edges."""
    s = mm.shared(T.block_size, dtype=int)  # bug
    s = mm.shared(T.block_size + 2, dtype=int)  # twin
    s[T.index + 1] = a[T.id]
    T.barrier()
    b[T.id] = s[T.index + 1]


@outside("h[64]", 63, "h[int(a[T.id] * h.size)] =", 6, "the array has 64 elements")
@on_umm(np.arange(64) / 63, zeros(64))
def bin_of_the_largest(T, a, h):
    """The largest value belongs to a bin of its own, which isn't there."""
    h[int(a[T.id] * h.size)] = 1  # bug
    h[min(int(a[T.id] * h.size), h.size - 1)] = 1  # twin


@outside("a[-1]", 0, "b[T.id] =", 0, "an address is not negative")
@on_umm(np.arange(64), zeros(64), schedule="synchronous")
def or_for_and(T, a, b):
    """A guard of two tests joined by `or` instead of `and`."""
    i = T.id - 1
    if i >= 0 or i < a.size:  # twin: if i >= 0 and i < a.size:
        b[T.id] = a[i]


@outside("a[64]", 4, "a[i * n + j] =", 0, "the array has 64 elements")
@on_umm(zeros(64), 16, 4)
def rows_times_rows(T, a, n, m):
    """A matrix kept in one dimension, with the wrong factor."""
    i, j = T.id % n, T.id // n
    a[i * n + j] = T.id  # bug
    a[i * m + j] = T.id  # twin


@outside("a[65]", 32, "a[T.id] += a[T.id + half]", 6, "the array has 65 elements")
@on_umm(np.arange(65))
def odd_half(T, a):
    """A tree reduction that rounds the half of an odd number up."""
    k = a.size
    while k > 1:
        half = (k + 1) // 2
        if T.id < half:  # twin: if T.id + half < k:
            a[T.id] += a[T.id + half]
        T.barrier()
        k = half
