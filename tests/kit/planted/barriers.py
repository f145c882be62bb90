"""Barriers that not all threads of a block reach."""

import numpy as np

import mmsim as mm
from tests.kit.planted.pair import HMM, TWO, apart, planted, race, zeros


@apart((0, "barrier", "T.barrier(", 15), (32, "end", "def half_a_warp("))
@apart((0, "barrier", "T.barrier(", 15), (16, "elsewhere", "def half_a_warp("))
@planted(np.arange(64))
def half_a_warp(T, a):
    """A barrier in a branch that half of a warp takes."""
    if T.index < 16:
        a[T.index] += a[T.index + 16]
        T.barrier()  # bug
    T.barrier()  # twin


@apart((0, "barrier", "T.barrier(", 5), (32, "end", "a[T.id] =", 1))
@planted(zeros(64))
def one_warp_waits(T, a):
    """A barrier in a branch that one warp of two takes."""
    a[T.id] = T.id
    if T.warp == 0:  # bug
        T.barrier()  # bug
    T.barrier()  # twin


@apart((1, "barrier", "T.barrier(", 15), (0, "elsewhere", "if a[T.id] > 0:", 10), elements=2)
@planted(np.arange(64) % 2, zeros(64))
def where_positive(T, a, b):
    """A barrier where the thread's element is positive."""
    s = mm.shared(T.block_size, dtype=int)
    s[T.index] = a[T.id]
    T.barrier()  # twin
    if a[T.id] > 0:
        T.barrier()  # bug
        b[T.id] = s[T.block_size - 1 - T.index]


@apart((32, "barrier", "T.barrier(", 191), (0, "end", "def trips_of_threads("))
@apart((1, "barrier", "T.barrier(", 5), (0, "elsewhere", "def trips_of_threads("), elements=31)
@apart((33, "barrier", "T.barrier(", 196), (32, "elsewhere", "T.barrier(", 191), elements=31)
@planted(zeros(64))
def trips_of_threads(T, a):
    """A barrier in a loop that each thread goes round as often as its number says."""
    for k in range(T.index):  # bug
        a[k] = 1  # bug
    for k in range(T.block_size):  # twin
        if k < T.index:  # twin
            a[k] = 1  # twin
        T.barrier()


@apart((0, "barrier", "T.barrier("), (32, "end", "T.barrier("))
@planted(zeros(3), 3)
def trips_of_warps(T, a, n):
    """A barrier in a loop whose trips differ between the warps."""
    for k in range(T.warp, n, 2):  # bug
        a[k] = T.warp  # bug
    for k in range(0, n, 2):  # twin
        if k + T.warp < n:  # twin
            a[k + T.warp] = T.warp  # twin
        T.barrier()


@apart((0, "barrier", "T.barrier()  # the one", 5), (32, "barrier", "T.barrier()  # the other", 6))
@planted(zeros(64))
def two_barriers(T, a):
    """Each way of a branch has a barrier of its own."""
    if T.warp == 0:
        a[T.lane] = 1
        T.barrier()  # the one  # bug
    else:
        a[32 + T.lane] = 2
        T.barrier()  # the other  # bug
    T.barrier()  # twin


@apart((32, "barrier", "T.barrier("), (0, "end", "where[T.warp] ="))
@planted(np.arange(8).reshape(2, 4), 1, zeros(2))
def until_found(T, a, x, where):
    """A warp that has found what it looks for leaves the loop, and the others wait for it."""
    for k in range(4):
        if a[T.warp, k] == x:
            where[T.warp] = k
            break  # bug
        T.barrier()


@apart((1, "barrier", "T.barrier(", 10), (0, "elsewhere", "def skipped("))
@planted(zeros(64))
def skipped(T, a):
    """A `continue` skips the barrier at the end of the loop's body."""
    for k in range(2):
        if T.lane == k:  # bug
            continue  # bug
        a[T.id] += k  # bug
        if T.lane != k:  # twin
            a[T.id] += k  # twin
        T.barrier()


def step_of_tree(T, s, k):
    if T.index < k:
        s[T.index] += s[T.index + k]
        T.barrier()  # of the step


def step_of_tree_mended(T, s, k):
    if T.index < k:
        s[T.index] += s[T.index + k]
    T.barrier()


@apart((0, "barrier", "T.barrier("), (64, "end", "def in_a_helper("), elements=2)
@apart((0, "barrier", "T.barrier("), (32, "end", "T.barrier("))
@apart((0, "barrier", "T.barrier("), (16, "elsewhere", "T.barrier("))
@planted(np.arange(128), threads=128)
def in_a_helper(T, a):
    """The barrier of a tree reduction stands inside its test, in a helper."""
    step_of_tree(T, a, 64)  # bug
    step_of_tree(T, a, 32)  # bug
    step_of_tree(T, a, 16)  # bug
    step_of_tree_mended(T, a, 64)  # twin
    step_of_tree_mended(T, a, 32)  # twin
    step_of_tree_mended(T, a, 16)  # twin


@apart((96, "barrier", "T.barrier(", 14), (100, "elsewhere", "def full_tiles_only("))
@planted(np.arange(100), zeros(100), 100, machine=HMM, **TWO)
def full_tiles_only(T, a, b, n):
    """A barrier behind the guard against threads beyond n, which cuts a block."""
    s = mm.shared(T.block_size, dtype=int)
    if T.id < n:
        s[T.index] = a[T.id]
        T.barrier()  # bug
    T.barrier()  # twin
    if T.id < n:  # twin
        b[T.id] = s[T.index // 2]


@apart((0, "barrier", "T.barrier(", 6), (1, "elsewhere", "a[T.id] = 0", 0))
@planted(zeros(64), schedule="synchronous")
def in_lock_step(T, a):
    """Half of a block's threads wait at a barrier in lock step."""
    a[T.id] = 0
    T.barrier()  # twin
    if T.id % 2 == 0:
        T.barrier()  # bug
        a[T.id] = 1


@race("a[32]", (0, "read", "b[T.id] ="), (32, "write", "a[T.id] = 0"), 32)
@race("a[0]", (0, "write", "a[T.id] = 0"), (32, "read", "b[T.id] += a[("), 32)
@apart((0, "barrier", "T.barrier()  # once more"), (32, "barrier", "T.barrier()  # the last"))
@apart((0, "barrier", "T.barrier()  # the last"), (32, "end", "b[T.id] += a[("))
@planted(zeros(64), zeros(64))
def first_warp_twice(T, a, b):
    """One warp passes a barrier more, so that the next one lies elsewhere for the others."""
    a[T.id] = T.id
    T.barrier()  # the first  # bug
    T.barrier()  # twin
    if T.warp == 0:
        b[T.id] = a[T.id + 32]
        T.barrier()  # once more  # bug
    T.barrier()  # twin
    a[T.id] = 0
    T.barrier()  # the last  # bug
    T.barrier()  # twin
    b[T.id] += a[(T.id + 32) % 64]
