"""Deadlocks and other programs without an end."""

from functools import partial

import numpy as np

from tests.kit.planted.pair import UMM, WAITS, fault, planted, stuck, zeros

without_end = partial(planted, max_accesses=WAITS)


@fault("endless", "", 1, "while low < high:", note="it reads a[0], which is 0, in line ")
@without_end(np.arange(64), zeros(64), machine=UMM, schedule="synchronous")
def search_that_stands(T, a, b):
    """A binary search takes its lower end for the middle and stands there, with one word left."""
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        if a[middle] < T.id:
            low = middle  # bug
            low = middle + 1  # twin
        else:
            high = middle
    b[T.id] = low


@fault(
    "endless",
    "",
    32,
    "while after[i] != T.count:",
    note="again and again, and no write could end the loop",
)
@without_end(np.array([1, 2, 3, 0]), zeros(64), machine=UMM)
def list_in_a_ring(T, after, b):
    """A search for the end of a list whose last element leads back to its first."""
    i = 0
    while after[i] != T.count:  # twin: while after[i] != 0:
        i = after[i]
    b[T.id] = i


@stuck("flag[0]", (32, "read", "while flag[0] == 0:"))
@without_end(zeros(1), zeros(64))
def never_raised(T, flag, a):
    """A warp waits for a flag that no thread raises."""
    if T.warp == 0:
        a[T.lane] = 1
    else:  # bug
        while flag[0] == 0:  # bug
            pass  # bug
    T.barrier()  # twin
    if T.warp == 1:  # twin
        a[32 + T.lane] = 2


@stuck(
    "flag[0]",
    (32, "read", "while flag[1 - T.warp] == 0:"),
    (0, "waits", "while flag[1 - T.warp] == 0:"),
)
@without_end(zeros(2))
def each_for_the_other(T, flag):
    """Two warps wait for each other before either raises its flag."""
    while flag[1 - T.warp] == 0:  # bug
        pass  # bug
    flag[T.warp] = 1
    T.barrier()  # twin
    flag[1 - T.warp]  # twin


@stuck("flag[0]", (1, "read", "while flag[0] == 0:"))
@without_end(zeros(1), zeros(32), threads=32)
def lanes_of_one_warp(T, flag, a):
    """Lanes wait for a flag that another lane of their warp would raise after them."""
    if T.lane == 0:  # twin
        flag[0] = 1  # twin
    if T.lane > 0:  # twin: else:
        while flag[0] == 0:
            pass
    else:  # bug
        flag[0] = 1  # bug
    a[T.id] = 1


@stuck("flag[0]", (32, "read", "while flag[0] == 0:"), (0, "barrier", "T.barrier("))
@without_end(zeros(1), zeros(64))
def behind_the_barrier(T, flag, a):
    """A warp waits for a flag that another raises only behind a barrier for both."""
    if T.warp == 0:  # twin
        flag[0] = 1  # twin
    T.barrier()  # twin
    if T.warp == 1:
        while flag[0] == 0:
            pass
    T.barrier()  # bug
    if T.warp == 0:  # bug
        flag[0] = 1  # bug
    a[T.id] = 1


@stuck("ready[2]", (0, "read", "if ready[k] == 1:"))
@without_end(zeros(3), zeros(32))
def one_more_than_come(T, ready, a):
    """A warp waits for one more of the others than there are."""
    if T.lane == 0 and T.warp > 0:
        ready[T.warp] = 1
    T.barrier()
    if T.warp == 0:
        k = 1
        while k <= T.count // 32:  # twin: while k < T.count // 32:
            if ready[k] == 1:
                k += 1
        a[T.lane] = k


@stuck("lock[0]", (32, "read", "while lock[0] != T.warp:"))
@without_end(zeros(1), np.array([0, 1]), machine=UMM)
def lock_kept(T, lock, n):
    """A lock that isn't given back where there is nothing to do."""
    if T.lane == 0:  # twin: for turn in range(T.count // 32):
        while lock[0] != T.warp:  # bug
            pass  # bug
        if n[T.warp] > 0:  # twin: if T.lane == 0 and T.warp == turn and n[T.warp] > 0:
            n[T.warp] -= 1
            lock[0] = T.warp + 1  # bug
        T.barrier()  # twin


@stuck("flag[0]", (32, "read", "while T.warp == 1 and flag[0] == 0:"))
@without_end(zeros(1), schedule="synchronous")
def wait_in_lock_step(T, flag):
    """In lock step the loop that waits comes before the line that ends the wait."""
    while T.warp == 1 and flag[0] == 0:  # bug
        pass  # bug
    if T.warp == 0:
        flag[0] = 1
    T.barrier()  # twin
    if T.warp == 1:  # twin
        flag[0]  # twin


NO_END = f"no end after max_accesses={WAITS} accesses and loop iterations"


@fault("endless", "", 0, "while k < T.count:", note=NO_END)
@without_end(zeros(64), machine=UMM)
def doubled_from_zero(T, a):
    """A loop that doubles its counter, from 0 on."""
    k = 0  # bug
    k = 1  # twin
    while k < T.count:
        a[T.id] = k
        k *= 2


@fault("endless", "", 0, "while i != n:", note=NO_END)
@without_end(63, zeros(32), threads=32, machine=UMM)
def steps_over_the_end(T, n, a):
    """A loop that ends only where its counter meets n exactly, and steps over it."""
    i = T.id
    while i != n:  # twin: while i < n:
        i += 2
    a[T.id] = i
