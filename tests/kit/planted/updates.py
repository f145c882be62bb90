"""Races of updates: several threads change one element, and some changes are lost."""

import numpy as np

from tests.kit.planted.pair import ends, lost, planted, race, winner, zeros


@race("h[0]", (0, "read", "h[a[T.id]] += 1", 5), (32, "write", "h[a[T.id]] += 1", 11), 32)
@planted(np.arange(64) % 32, zeros(32))
def histogram(T, a, h):
    """A histogram without atomic additions."""
    h[a[T.id]] += 1  # bug
    count = 0  # twin
    if T.id < h.size:  # twin
        for i in range(a.size):  # twin
            if a[i] == T.id:  # twin
                count += 1  # twin
        h[T.id] = count  # twin


@race("total[0]", (0, "read", "total[0] += a[T.id]", 0), (32, "write", "total[0] += a[T.id]", 11))
@race("total[0]", (0, "write", "total[0] += a[T.id]", 10), (32, "write", "total[0] += a[T.id]", 11))
@lost("total[0]", (0, 1), "total[0] += a[T.id]", 10)
@planted(np.arange(64), zeros(1))
def sum_of_all(T, a, total):
    """Each thread adds its element to one sum."""
    total[0] += a[T.id]  # bug
    if T.id == 0:  # twin
        x = 0  # twin
        for i in range(a.size):  # twin
            x += a[i]  # twin
        total[0] = x  # twin


@race("most[0]", (0, "read", "if a[T.id] > most[0]:", 5), (32, "write", "most[0] =", 16))
@race("most[0]", (1, "write", "most[0] =", 15), (32, "write", "most[0] =", 16))
@winner("most[0]", (1, 2), "most[0] =", 15, note=ends("most[0]", 32, 33))
@planted(np.arange(64), zeros(1))
def largest(T, a, most):
    """Each thread compares with the largest so far and replaces it."""
    if a[T.id] > most[0]:  # bug
        most[0] = a[T.id]  # bug
    k = T.count // 2  # twin
    while k > 0:  # twin
        if T.id < k:  # twin
            a[T.id] = max(a[T.id], a[T.id + k])  # twin
        T.barrier()  # twin
        k //= 2  # twin
    if T.id == 0:  # twin
        most[0] = a[0]  # twin


@race("sums[0]", (0, "read", "sums[i] += x"), (32, "write", "sums[i] += x"), 2)
@planted(np.ones((2, 64), int), zeros(2), threads=128)
def row_sums(T, a, sums):
    """Two warps add up the halves of a row in one element."""
    i, half = T.id // 64, T.id // 32 % 2
    if T.lane == 0:  # twin: if T.lane == 0 and half == 0:
        x = 0
        for j in range(32):  # twin: for j in range(64):
            x += a[i, 32 * half + j]  # bug
            x += a[i, j]  # twin
        sums[i] += x


@race("n[0]", (1, "read", "place =", 5), (33, "write", "n[0] =", 11))
@race("out[0]", (1, "write", "out[place] =", 20), (33, "write", "out[place] =", 21))
@lost("n[0]", (1, 3), "n[0] =", 10)
@winner("out[0]", (1, 3), "out[place] =", 20, note=ends("out[0]", 33, 35))
@planted(np.arange(64) % 2 * np.arange(64), zeros(64), zeros(1))
def compaction(T, a, out, n):
    """Each thread takes the next free place of a list, and some take the same."""
    if a[T.id] > 0:
        place = n[0]  # bug
        n[0] = place + 1  # bug
        place = 0  # twin
        for i in range(T.id):  # twin
            if a[i] > 0:  # twin
                place += 1  # twin
        out[place] = a[T.id]


@race("a[0]", (0, "read", "a[i], a[j] =", 5), (63, "write", "a[i], a[j] =", 16), 64)
@planted(np.arange(64))
def swapped_twice(T, a):
    """A reversal in place by all threads, each pair swapped by two of them."""
    i, j = T.id, a.size - 1 - T.id
    a[i], a[j] = a[j], a[i]  # bug
    if i < j:  # twin
        a[i], a[j] = a[j], a[i]  # twin


@race("a[0, 4]", (4, "read", "a[i, j], a[j, i] ="), (32, "write", "a[i, j], a[j, i] ="), 32)
@planted(np.arange(64).reshape(8, 8))
def transposed_twice(T, a):
    """A transpose in place that swaps (i, j) and also (j, i)."""
    i, j = T.id // 8, T.id % 8
    a[i, j], a[j, i] = a[j, i], a[i, j]  # bug
    if i < j:  # twin
        a[i, j], a[j, i] = a[j, i], a[i, j]  # twin


@race("b[32]", (32, "read", "b[T.id] += a[T.id]", 1), (31, "write", "b[T.id + 1] += a[T.id]", 25))
@race("b[32]", (32, "write", "b[T.id] += a[T.id]", 11), (31, "read", "b[T.id + 1] += a[T.id]", 15))
@race("b[32]", (32, "write", "b[T.id] += a[T.id]", 11), (31, "write", "b[T.id + 1] += a[T.id]", 25))
@planted(np.arange(64), zeros(65))
def scattered_stencil(T, a, b):
    """Each thread adds to its neighbours' elements instead of gathering for its own."""
    b[T.id] += a[T.id]  # bug
    b[T.id + 1] += a[T.id]  # bug
    x = a[T.id]  # twin
    if T.id > 0:  # twin
        x += a[T.id - 1]  # twin
    b[T.id] += x  # twin


@race("a[128]", (31, "write", "a[i] ="), (32, "write", "a[i] ="))
@planted(zeros(256), 4)
def chunks_overlap(T, a, chunk):
    """Each thread's chunk ends with the first element of the next."""
    end = (T.id + 1) * chunk + 1  # bug
    end = (T.id + 1) * chunk  # twin
    for i in range(T.id * chunk, min(end, a.size)):
        a[i] = T.id


TWICE = np.arange(64) % 48
"""No permutation: 0 to 15 come twice, at threads of two warps."""


@race("b[0]", (0, "write", "b[p[T.id]] =", 12), (48, "write", "b[p[T.id]] =", 13), 16, "round")
@planted(
    np.arange(64),
    TWICE,
    zeros(64),
    schedule="synchronous",
    fixed={"arguments": (np.arange(64), np.arange(64)[::-1].copy(), zeros(64))},
)
def scatter(T, a, p, b):
    """A scatter whose targets are not a permutation."""
    b[p[T.id]] = a[T.id]


@race("data[0]", (0, "write", "data[T.lane] =", 0), (32, "read", "out[T.lane] =", 11), 32)
@race("flag[0]", (0, "write", "flag[0] = 1", 5), (32, "read", "while flag[0] == 0:", 1))
@planted(zeros(32), zeros(1), zeros(32))
def flag_and_data(T, data, flag, out):
    """A warp waits for a flag and takes it for a barrier."""
    if T.warp == 0:
        data[T.lane] = T.lane
        flag[0] = 1  # bug
    else:  # bug
        while flag[0] == 0:  # bug
            pass  # bug
    T.barrier()  # twin
    if T.warp == 1:  # twin
        out[T.lane] = data[T.lane]


@race("b[0]", (0, "write", "b[T.lane] =", 6), (32, "write", "b[T.lane] =", 7), 32, "round")
@planted(np.arange(64), zeros(64), schedule="synchronous")
def by_column(T, a, b):
    """T.lane where T.id is meant: every warp writes the same elements, in lock step too."""
    b[T.lane] = a[T.id]  # bug
    b[T.id] = a[T.id]  # twin


@race("lock[0]", (0, "read", "while lock[0] != 0:", 0), (32, "write", "lock[0] = 1", 6))
@race("lock[0]", (0, "read", "while lock[0] != 0:", 0), (32, "write", "lock[0] = 0", 21))
@race("lock[0]", (0, "write", "lock[0] = 1", 5), (32, "write", "lock[0] = 0", 21))
@race("n[0]", (0, "read", "n[0] += 1", 10), (32, "write", "n[0] += 1", 16))
@planted(zeros(1), zeros(1))
def lock_by_hand(T, lock, n):
    """A lock that is tested and set in two steps."""
    if T.lane == 0:  # bug
        while lock[0] != 0:  # bug
            pass  # bug
        lock[0] = 1  # bug
        n[0] += 1  # bug
        lock[0] = 0  # bug
    for turn in range(T.count // 32):  # twin
        if T.lane == 0 and T.warp == turn:  # twin
            n[0] += 1  # twin
        T.barrier()  # twin
