"""Races of updates: several threads change one element, and some changes are lost."""

import numpy as np

import mmsim as mm
from tests.kit.planted.pair import ends, lost, pair, race, winner, zeros


@mm.program
def histogram(T, a, h):
    """A histogram without atomic additions."""
    h[a[T.id]] += 1


@mm.program
def histogram_mended(T, a, h):
    count = 0
    if T.id < h.size:
        for i in range(a.size):
            if a[i] == T.id:
                count += 1
        h[T.id] = count


@mm.program
def sum_of_all(T, a, total):
    """Each thread adds its element to one sum."""
    total[0] += a[T.id]


@mm.program
def sum_of_all_mended(T, a, total):
    if T.id == 0:
        x = 0
        for i in range(a.size):
            x += a[i]
        total[0] = x


@mm.program
def largest(T, a, most):
    """Each thread compares with the largest so far and replaces it."""
    if a[T.id] > most[0]:
        most[0] = a[T.id]


@mm.program
def largest_mended(T, a, most):
    k = T.count // 2
    while k > 0:
        if T.id < k:
            a[T.id] = max(a[T.id], a[T.id + k])
        T.barrier()
        k //= 2
    if T.id == 0:
        most[0] = a[0]


@mm.program
def row_sums(T, a, sums):
    """Two warps add up the halves of a row in one element."""
    i, half = T.id // 64, T.id // 32 % 2
    if T.lane == 0:
        x = 0
        for j in range(32):
            x += a[i, 32 * half + j]
        sums[i] += x


@mm.program
def row_sums_mended(T, a, sums):
    i, half = T.id // 64, T.id // 32 % 2
    if T.lane == 0 and half == 0:
        x = 0
        for j in range(64):
            x += a[i, j]
        sums[i] += x


@mm.program
def compaction(T, a, out, n):
    """Each thread takes the next free place of a list, and some take the same."""
    if a[T.id] > 0:
        place = n[0]
        n[0] = place + 1
        out[place] = a[T.id]


@mm.program
def compaction_mended(T, a, out, n):
    if a[T.id] > 0:
        place = 0
        for i in range(T.id):
            if a[i] > 0:
                place += 1
        out[place] = a[T.id]


@mm.program
def swapped_twice(T, a):
    """A reversal in place by all threads, each pair swapped by two of them."""
    i, j = T.id, a.size - 1 - T.id
    a[i], a[j] = a[j], a[i]


@mm.program
def swapped_twice_mended(T, a):
    i, j = T.id, a.size - 1 - T.id
    if i < j:
        a[i], a[j] = a[j], a[i]


@mm.program
def transposed_twice(T, a):
    """A transpose in place that swaps (i, j) and also (j, i)."""
    i, j = T.id // 8, T.id % 8
    a[i, j], a[j, i] = a[j, i], a[i, j]


@mm.program
def transposed_twice_mended(T, a):
    i, j = T.id // 8, T.id % 8
    if i < j:
        a[i, j], a[j, i] = a[j, i], a[i, j]


@mm.program
def scattered_stencil(T, a, b):
    """Each thread adds to its neighbours' elements instead of gathering for its own."""
    b[T.id] += a[T.id]
    b[T.id + 1] += a[T.id]


@mm.program
def scattered_stencil_mended(T, a, b):
    x = a[T.id]
    if T.id > 0:
        x += a[T.id - 1]
    b[T.id] += x


@mm.program
def chunks_overlap(T, a, chunk):
    """Each thread's chunk ends with the first element of the next."""
    for i in range(T.id * chunk, min((T.id + 1) * chunk + 1, a.size)):
        a[i] = T.id


@mm.program
def chunks_overlap_mended(T, a, chunk):
    for i in range(T.id * chunk, min((T.id + 1) * chunk, a.size)):
        a[i] = T.id


@mm.program
def scatter(T, a, p, b):
    """A scatter whose targets are not a permutation."""
    b[p[T.id]] = a[T.id]


@mm.program
def flag_and_data(T, data, flag, out):
    """A warp waits for a flag and takes it for a barrier."""
    if T.warp == 0:
        data[T.lane] = T.lane
        flag[0] = 1
    else:
        while flag[0] == 0:
            pass
        out[T.lane] = data[T.lane]


@mm.program
def flag_and_data_mended(T, data, flag, out):
    if T.warp == 0:
        data[T.lane] = T.lane
    T.barrier()
    if T.warp == 1:
        out[T.lane] = data[T.lane]


@mm.program
def by_column(T, a, b):
    """T.lane where T.id is meant: every warp writes the same elements, in lock step too."""
    b[T.lane] = a[T.id]


@mm.program
def by_column_mended(T, a, b):
    b[T.id] = a[T.id]


@mm.program
def lock_by_hand(T, lock, n):
    """A lock that is tested and set in two steps."""
    if T.lane == 0:
        while lock[0] != 0:
            pass
        lock[0] = 1
        n[0] += 1
        lock[0] = 0


@mm.program
def lock_by_hand_mended(T, lock, n):
    for turn in range(T.count // 32):
        if T.lane == 0 and T.warp == turn:
            n[0] += 1
        T.barrier()


TWICE = np.arange(64) % 48
"""No permutation: 0 to 15 come twice, at threads of two warps."""

PAIRS = [
    pair(
        histogram,
        histogram_mended,
        np.arange(64) % 32,
        zeros(32),
        finds=race(
            "h[0]", (0, "read", "h[a[T.id]] += 1", 5), (32, "write", "h[a[T.id]] += 1", 11), 32
        ),
    ),
    pair(
        sum_of_all,
        sum_of_all_mended,
        np.arange(64),
        zeros(1),
        finds=(
            race(
                "total[0]",
                (0, "read", "total[0] += a[T.id]", 0),
                (32, "write", "total[0] += a[T.id]", 11),
            ),
            race(
                "total[0]",
                (0, "write", "total[0] += a[T.id]", 10),
                (32, "write", "total[0] += a[T.id]", 11),
            ),
            lost("total[0]", (0, 1), "total[0] += a[T.id]", 10),
        ),
    ),
    pair(
        largest,
        largest_mended,
        np.arange(64),
        zeros(1),
        finds=(
            race(
                "most[0]", (0, "read", "if a[T.id] > most[0]:", 5), (32, "write", "most[0] =", 16)
            ),
            race("most[0]", (1, "write", "most[0] =", 15), (32, "write", "most[0] =", 16)),
            winner("most[0]", (1, 2), "most[0] =", 15, note=ends("most[0]", 32, 33)),
        ),
    ),
    pair(
        row_sums,
        row_sums_mended,
        np.ones((2, 64), int),
        zeros(2),
        threads=128,
        finds=race("sums[0]", (0, "read", "sums[i] += x"), (32, "write", "sums[i] += x"), 2),
    ),
    pair(
        compaction,
        compaction_mended,
        np.arange(64) % 2 * np.arange(64),
        zeros(64),
        zeros(1),
        finds=(
            race("n[0]", (1, "read", "place =", 5), (33, "write", "n[0] =", 11)),
            race("out[0]", (1, "write", "out[place] =", 20), (33, "write", "out[place] =", 21)),
            lost("n[0]", (1, 3), "n[0] =", 10),
            winner("out[0]", (1, 3), "out[place] =", 20, note=ends("out[0]", 33, 35)),
        ),
    ),
    pair(
        swapped_twice,
        swapped_twice_mended,
        np.arange(64),
        finds=race("a[0]", (0, "read", "a[i], a[j] =", 5), (63, "write", "a[i], a[j] =", 16), 64),
    ),
    pair(
        transposed_twice,
        transposed_twice_mended,
        np.arange(64).reshape(8, 8),
        finds=race(
            "a[0, 4]", (4, "read", "a[i, j], a[j, i] ="), (32, "write", "a[i, j], a[j, i] ="), 32
        ),
    ),
    pair(
        scattered_stencil,
        scattered_stencil_mended,
        np.arange(64),
        zeros(65),
        finds=(
            race(
                "b[32]",
                (32, "read", "b[T.id] += a[T.id]", 1),
                (31, "write", "b[T.id + 1] += a[T.id]", 25),
            ),
            race(
                "b[32]",
                (32, "write", "b[T.id] += a[T.id]", 11),
                (31, "read", "b[T.id + 1] += a[T.id]", 15),
            ),
            race(
                "b[32]",
                (32, "write", "b[T.id] += a[T.id]", 11),
                (31, "write", "b[T.id + 1] += a[T.id]", 25),
            ),
        ),
    ),
    pair(
        chunks_overlap,
        chunks_overlap_mended,
        zeros(256),
        4,
        finds=race("a[128]", (31, "write", "a[i] ="), (32, "write", "a[i] =")),
    ),
    pair(
        scatter,
        scatter,
        np.arange(64),
        TWICE,
        zeros(64),
        schedule="synchronous",
        fixed={"arguments": (np.arange(64), np.arange(64)[::-1].copy(), zeros(64))},
        finds=race(
            "b[0]", (0, "write", "b[p[T.id]] =", 12), (48, "write", "b[p[T.id]] =", 13), 16, "round"
        ),
    ),
    pair(
        flag_and_data,
        flag_and_data_mended,
        zeros(32),
        zeros(1),
        zeros(32),
        finds=(
            race(
                "data[0]", (0, "write", "data[T.lane] =", 0), (32, "read", "out[T.lane] =", 11), 32
            ),
            race("flag[0]", (0, "write", "flag[0] = 1", 5), (32, "read", "while flag[0] == 0:", 1)),
        ),
    ),
    pair(
        by_column,
        by_column_mended,
        np.arange(64),
        zeros(64),
        schedule="synchronous",
        finds=race(
            "b[0]", (0, "write", "b[T.lane] =", 6), (32, "write", "b[T.lane] =", 7), 32, "round"
        ),
    ),
    pair(
        lock_by_hand,
        lock_by_hand_mended,
        zeros(1),
        zeros(1),
        finds=(
            race("lock[0]", (0, "read", "while lock[0] != 0:", 0), (32, "write", "lock[0] = 1", 6)),
            race(
                "lock[0]", (0, "read", "while lock[0] != 0:", 0), (32, "write", "lock[0] = 0", 21)
            ),
            race("lock[0]", (0, "write", "lock[0] = 1", 5), (32, "write", "lock[0] = 0", 21)),
            race("n[0]", (0, "read", "n[0] += 1", 10), (32, "write", "n[0] += 1", 16)),
        ),
    ),
]
