"""Deadlocks and other programs without an end."""

from functools import partial

import numpy as np

import mmsim as mm
from tests.kit.planted.pair import UMM, WAITS, fault, pair, stuck, zeros


@mm.program
def never_raised(T, flag, a):
    """A warp waits for a flag that no thread raises."""
    if T.warp == 0:
        a[T.lane] = 1
    else:
        while flag[0] == 0:
            pass
        a[32 + T.lane] = 2


@mm.program
def never_raised_mended(T, flag, a):
    if T.warp == 0:
        a[T.lane] = 1
    T.barrier()
    if T.warp == 1:
        a[32 + T.lane] = 2


@mm.program
def each_for_the_other(T, flag):
    """Two warps wait for each other before either raises its flag."""
    while flag[1 - T.warp] == 0:
        pass
    flag[T.warp] = 1


@mm.program
def each_for_the_other_mended(T, flag):
    flag[T.warp] = 1
    T.barrier()
    flag[1 - T.warp]


@mm.program
def lanes_of_one_warp(T, flag, a):
    """Lanes wait for a flag that another lane of their warp would raise after them."""
    if T.lane > 0:
        while flag[0] == 0:
            pass
    else:
        flag[0] = 1
    a[T.id] = 1


@mm.program
def lanes_of_one_warp_mended(T, flag, a):
    if T.lane == 0:
        flag[0] = 1
    else:
        while flag[0] == 0:
            pass
    a[T.id] = 1


@mm.program
def behind_the_barrier(T, flag, a):
    """A warp waits for a flag that another raises only behind a barrier for both."""
    if T.warp == 1:
        while flag[0] == 0:
            pass
    T.barrier()
    if T.warp == 0:
        flag[0] = 1
    a[T.id] = 1


@mm.program
def behind_the_barrier_mended(T, flag, a):
    if T.warp == 0:
        flag[0] = 1
    T.barrier()
    if T.warp == 1:
        while flag[0] == 0:
            pass
    a[T.id] = 1


@mm.program
def one_more_than_come(T, ready, a):
    """A warp waits for one more of the others than there are."""
    if T.lane == 0 and T.warp > 0:
        ready[T.warp] = 1
    T.barrier()
    if T.warp == 0:
        k = 1
        while k <= T.count // 32:
            if ready[k] == 1:
                k += 1
        a[T.lane] = k


@mm.program
def one_more_than_come_mended(T, ready, a):
    if T.lane == 0 and T.warp > 0:
        ready[T.warp] = 1
    T.barrier()
    if T.warp == 0:
        k = 1
        while k < T.count // 32:
            if ready[k] == 1:
                k += 1
        a[T.lane] = k


@mm.program
def lock_kept(T, lock, n):
    """A lock that isn't given back where there is nothing to do."""
    if T.lane == 0:
        while lock[0] != T.warp:
            pass
        if n[T.warp] > 0:
            n[T.warp] -= 1
            lock[0] = T.warp + 1


@mm.program
def lock_kept_mended(T, lock, n):
    for turn in range(T.count // 32):
        if T.lane == 0 and T.warp == turn and n[T.warp] > 0:
            n[T.warp] -= 1
        T.barrier()


@mm.program
def wait_in_lock_step(T, flag):
    """In lock step the loop that waits comes before the line that ends the wait."""
    while T.warp == 1 and flag[0] == 0:
        pass
    if T.warp == 0:
        flag[0] = 1


@mm.program
def wait_in_lock_step_mended(T, flag):
    if T.warp == 0:
        flag[0] = 1
    T.barrier()
    if T.warp == 1:
        flag[0]


@mm.program
def doubled_from_zero(T, a):
    """A loop that doubles its counter, from 0 on."""
    k = 0
    while k < T.count:
        a[T.id] = k
        k *= 2


@mm.program
def doubled_from_zero_mended(T, a):
    k = 1
    while k < T.count:
        a[T.id] = k
        k *= 2


@mm.program
def steps_over_the_end(T, n, a):
    """A loop that ends only where its counter meets n exactly, and steps over it."""
    i = T.id
    while i != n:
        i += 2
    a[T.id] = i


@mm.program
def steps_over_the_end_mended(T, n, a):
    i = T.id
    while i < n:
        i += 2
    a[T.id] = i


@mm.program
def search_that_stands(T, a, b):
    """A binary search takes its lower end for the middle and stands there, with one word left."""
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        if a[middle] < T.id:
            low = middle
        else:
            high = middle
    b[T.id] = low


@mm.program
def search_that_stands_mended(T, a, b):
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        if a[middle] < T.id:
            low = middle + 1
        else:
            high = middle
    b[T.id] = low


@mm.program
def list_in_a_ring(T, after, b):
    """A search for the end of a list whose last element leads back to its first."""
    i = 0
    while after[i] != T.count:
        i = after[i]
    b[T.id] = i


@mm.program
def list_in_a_ring_mended(T, after, b):
    i = 0
    while after[i] != 0:
        i = after[i]
    b[T.id] = i


NO_END = f"no end after max_accesses={WAITS} accesses and loop iterations"
without_end = partial(pair, max_accesses=WAITS)

PAIRS = [
    without_end(
        search_that_stands,
        search_that_stands_mended,
        np.arange(64),
        zeros(64),
        machine=UMM,
        schedule="synchronous",
        finds=fault(
            "endless", "", 1, "while low < high:", note="it reads a[0], which is 0, in line "
        ),
    ),
    without_end(
        list_in_a_ring,
        list_in_a_ring_mended,
        np.array([1, 2, 3, 0]),
        zeros(64),
        machine=UMM,
        finds=fault(
            "endless",
            "",
            32,
            "while after[i] != T.count:",
            note="again and again, and no write could end the loop",
        ),
    ),
    without_end(
        never_raised,
        never_raised_mended,
        zeros(1),
        zeros(64),
        finds=stuck("flag[0]", (32, "read", "while flag[0] == 0:")),
    ),
    without_end(
        each_for_the_other,
        each_for_the_other_mended,
        zeros(2),
        finds=stuck(
            "flag[0]",
            (32, "read", "while flag[1 - T.warp] == 0:"),
            (0, "waits", "while flag[1 - T.warp] == 0:"),
        ),
    ),
    without_end(
        lanes_of_one_warp,
        lanes_of_one_warp_mended,
        zeros(1),
        zeros(32),
        threads=32,
        finds=stuck("flag[0]", (1, "read", "while flag[0] == 0:")),
    ),
    without_end(
        behind_the_barrier,
        behind_the_barrier_mended,
        zeros(1),
        zeros(64),
        finds=stuck("flag[0]", (32, "read", "while flag[0] == 0:"), (0, "barrier", "T.barrier(")),
    ),
    without_end(
        one_more_than_come,
        one_more_than_come_mended,
        zeros(3),
        zeros(32),
        finds=stuck("ready[2]", (0, "read", "if ready[k] == 1:")),
    ),
    without_end(
        lock_kept,
        lock_kept_mended,
        zeros(1),
        np.array([0, 1]),
        machine=UMM,
        finds=stuck("lock[0]", (32, "read", "while lock[0] != T.warp:")),
    ),
    without_end(
        wait_in_lock_step,
        wait_in_lock_step_mended,
        zeros(1),
        schedule="synchronous",
        finds=stuck("flag[0]", (32, "read", "while T.warp == 1 and flag[0] == 0:")),
    ),
    without_end(
        doubled_from_zero,
        doubled_from_zero_mended,
        zeros(64),
        machine=UMM,
        finds=fault("endless", "", 0, "while k < T.count:", note=NO_END),
    ),
    without_end(
        steps_over_the_end,
        steps_over_the_end_mended,
        63,
        zeros(32),
        threads=32,
        machine=UMM,
        finds=fault("endless", "", 0, "while i != n:", note=NO_END),
    ),
]
