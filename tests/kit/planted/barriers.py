"""Barriers that not all threads of a block reach."""

import numpy as np

import mmsim as mm
from tests.kit.planted.pair import HMM, TWO, apart, pair, race, zeros


@mm.program
def half_a_warp(T, a):
    """A barrier in a branch that half of a warp takes."""
    if T.index < 16:
        a[T.index] += a[T.index + 16]
        T.barrier()


@mm.program
def half_a_warp_mended(T, a):
    if T.index < 16:
        a[T.index] += a[T.index + 16]
    T.barrier()


@mm.program
def one_warp_waits(T, a):
    """A barrier in a branch that one warp of two takes."""
    a[T.id] = T.id
    if T.warp == 0:
        T.barrier()


@mm.program
def one_warp_waits_mended(T, a):
    a[T.id] = T.id
    T.barrier()


@mm.program
def where_positive(T, a, b):
    """A barrier where the thread's element is positive."""
    s = mm.shared(T.block_size, dtype=int)
    s[T.index] = a[T.id]
    if a[T.id] > 0:
        T.barrier()
        b[T.id] = s[T.block_size - 1 - T.index]


@mm.program
def where_positive_mended(T, a, b):
    s = mm.shared(T.block_size, dtype=int)
    s[T.index] = a[T.id]
    T.barrier()
    if a[T.id] > 0:
        b[T.id] = s[T.block_size - 1 - T.index]


@mm.program
def trips_of_threads(T, a):
    """A barrier in a loop that each thread goes round as often as its number says."""
    for k in range(T.index):
        a[k] = 1
        T.barrier()


@mm.program
def trips_of_threads_mended(T, a):
    for k in range(T.block_size):
        if k < T.index:
            a[k] = 1
        T.barrier()


@mm.program
def trips_of_warps(T, a, n):
    """A barrier in a loop whose trips differ between the warps."""
    for k in range(T.warp, n, 2):
        a[k] = T.warp
        T.barrier()


@mm.program
def trips_of_warps_mended(T, a, n):
    for k in range(0, n, 2):
        if k + T.warp < n:
            a[k + T.warp] = T.warp
        T.barrier()


@mm.program
def two_barriers(T, a):
    """Each way of a branch has a barrier of its own."""
    if T.warp == 0:
        a[T.lane] = 1
        T.barrier()  # the one
    else:
        a[32 + T.lane] = 2
        T.barrier()  # the other


@mm.program
def two_barriers_mended(T, a):
    if T.warp == 0:
        a[T.lane] = 1
    else:
        a[32 + T.lane] = 2
    T.barrier()


@mm.program
def until_found(T, a, x, where):
    """A warp that has found what it looks for leaves the loop, and the others wait for it."""
    for k in range(4):
        if a[T.warp, k] == x:
            where[T.warp] = k
            break
        T.barrier()


@mm.program
def until_found_mended(T, a, x, where):
    for k in range(4):
        if a[T.warp, k] == x:
            where[T.warp] = k
        T.barrier()


@mm.program
def skipped(T, a):
    """A `continue` skips the barrier at the end of the loop's body."""
    for k in range(2):
        if T.lane == k:
            continue
        a[T.id] += k
        T.barrier()


@mm.program
def skipped_mended(T, a):
    for k in range(2):
        if T.lane != k:
            a[T.id] += k
        T.barrier()


def step_of_tree(T, s, k):
    if T.index < k:
        s[T.index] += s[T.index + k]
        T.barrier()  # of the step


def step_of_tree_mended(T, s, k):
    if T.index < k:
        s[T.index] += s[T.index + k]
    T.barrier()


@mm.program
def in_a_helper(T, a):
    """The barrier of a tree reduction stands inside its test, in a helper."""
    step_of_tree(T, a, 64)
    step_of_tree(T, a, 32)
    step_of_tree(T, a, 16)


@mm.program
def in_a_helper_mended(T, a):
    step_of_tree_mended(T, a, 64)
    step_of_tree_mended(T, a, 32)
    step_of_tree_mended(T, a, 16)


@mm.program
def full_tiles_only(T, a, b, n):
    """A barrier behind the guard against threads beyond n, which cuts a block."""
    s = mm.shared(T.block_size, dtype=int)
    if T.id < n:
        s[T.index] = a[T.id]
        T.barrier()
        b[T.id] = s[T.index // 2]


@mm.program
def full_tiles_only_mended(T, a, b, n):
    s = mm.shared(T.block_size, dtype=int)
    if T.id < n:
        s[T.index] = a[T.id]
    T.barrier()
    if T.id < n:
        b[T.id] = s[T.index // 2]


@mm.program
def in_lock_step(T, a):
    """Half of a block's threads wait at a barrier in lock step."""
    a[T.id] = 0
    if T.id % 2 == 0:
        T.barrier()
        a[T.id] = 1


@mm.program
def in_lock_step_mended(T, a):
    a[T.id] = 0
    T.barrier()
    if T.id % 2 == 0:
        a[T.id] = 1


@mm.program
def first_warp_twice(T, a, b):
    """One warp passes a barrier more, so that the next one lies elsewhere for the others."""
    a[T.id] = T.id
    T.barrier()  # the first
    if T.warp == 0:
        b[T.id] = a[T.id + 32]
        T.barrier()  # once more
    a[T.id] = 0
    T.barrier()  # the last
    b[T.id] += a[(T.id + 32) % 64]


@mm.program
def first_warp_twice_mended(T, a, b):
    a[T.id] = T.id
    T.barrier()
    if T.warp == 0:
        b[T.id] = a[T.id + 32]
    T.barrier()
    a[T.id] = 0
    T.barrier()
    b[T.id] += a[(T.id + 32) % 64]


PAIRS = [
    pair(
        half_a_warp,
        half_a_warp_mended,
        np.arange(64),
        finds=apart((0, "barrier", "T.barrier(", 15), (16, "elsewhere", "def half_a_warp(")),
    ),
    pair(
        one_warp_waits,
        one_warp_waits_mended,
        zeros(64),
        finds=apart((0, "barrier", "T.barrier(", 5), (32, "end", "a[T.id] =", 1)),
    ),
    pair(
        where_positive,
        where_positive_mended,
        np.arange(64) % 2,
        zeros(64),
        finds=apart((1, "barrier", "T.barrier(", 15), (0, "elsewhere", "if a[T.id] > 0:", 10)),
    ),
    pair(
        trips_of_threads,
        trips_of_threads_mended,
        zeros(64),
        finds=apart((1, "barrier", "T.barrier(", 5), (0, "elsewhere", "def trips_of_threads(")),
    ),
    pair(
        trips_of_warps,
        trips_of_warps_mended,
        zeros(3),
        3,
        finds=apart((0, "barrier", "T.barrier("), (32, "end", "T.barrier(")),
    ),
    pair(
        two_barriers,
        two_barriers_mended,
        zeros(64),
        finds=apart(
            (0, "barrier", "T.barrier()  # the one", 5),
            (32, "barrier", "T.barrier()  # the other", 6),
        ),
    ),
    pair(
        until_found,
        until_found_mended,
        np.arange(8).reshape(2, 4),
        1,
        zeros(2),
        finds=apart((32, "barrier", "T.barrier("), (0, "end", "where[T.warp] =")),
    ),
    pair(
        skipped,
        skipped_mended,
        zeros(64),
        finds=apart((1, "barrier", "T.barrier(", 10), (0, "elsewhere", "def skipped(")),
    ),
    pair(
        in_a_helper,
        in_a_helper_mended,
        np.arange(128),
        threads=128,
        finds=(
            apart((0, "barrier", "T.barrier("), (64, "end", "def in_a_helper("), elements=2),
            apart((0, "barrier", "T.barrier("), (32, "end", "T.barrier(")),
            apart((0, "barrier", "T.barrier("), (16, "elsewhere", "T.barrier(")),
        ),
    ),
    pair(
        full_tiles_only,
        full_tiles_only_mended,
        np.arange(100),
        zeros(100),
        100,
        machine=HMM,
        **TWO,
        finds=apart((96, "barrier", "T.barrier(", 14), (100, "elsewhere", "def full_tiles_only(")),
    ),
    pair(
        in_lock_step,
        in_lock_step_mended,
        zeros(64),
        schedule="synchronous",
        finds=apart((0, "barrier", "T.barrier(", 6), (1, "elsewhere", "a[T.id] = 0", 0)),
    ),
    pair(
        first_warp_twice,
        first_warp_twice_mended,
        zeros(64),
        zeros(64),
        finds=(
            race("a[32]", (0, "read", "b[T.id] ="), (32, "write", "a[T.id] = 0"), 32),
            race("a[0]", (0, "write", "a[T.id] = 0"), (32, "read", "b[T.id] += a[("), 32),
            apart(
                (0, "barrier", "T.barrier()  # once more"),
                (32, "barrier", "T.barrier()  # the last"),
            ),
            apart((0, "barrier", "T.barrier()  # the last"), (32, "end", "b[T.id] += a[(")),
        ),
    ),
]
