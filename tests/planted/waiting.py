"""Deadlocks and other programs without an end."""

import numpy as np

import mmsim as mm
from planted.pair import UMM, WAITS, found, pair, zeros


@mm.program
def never_raised(T, flag, a):
    """A warp waits for a flag that nobody raises."""
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


PAIRS = [
    pair(
        never_raised,
        never_raised_mended,
        zeros(1),
        zeros(64),
        max_accesses=WAITS,
        finds=found(
            "deadlock",
            "flag[0]",
            (32, "read", "while flag[0] == 0:"),
            note="it reads this again and again, and nobody changes anything",
        ),
    ),
    pair(
        each_for_the_other,
        each_for_the_other_mended,
        zeros(2),
        max_accesses=WAITS,
        finds=found(
            "deadlock",
            "flag[0]",
            (32, "read", "while flag[1 - T.warp] == 0:"),
            (0, "waits", "while flag[1 - T.warp] == 0:"),
            note="it reads this again and again, and nobody changes anything",
        ),
    ),
    pair(
        lanes_of_one_warp,
        lanes_of_one_warp_mended,
        zeros(1),
        zeros(32),
        threads=32,
        max_accesses=WAITS,
        finds=found(
            "deadlock",
            "flag[0]",
            (1, "read", "while flag[0] == 0:"),
            note="it reads this again and again, and nobody changes anything",
        ),
    ),
    pair(
        behind_the_barrier,
        behind_the_barrier_mended,
        zeros(1),
        zeros(64),
        max_accesses=WAITS,
        finds=found(
            "deadlock",
            "flag[0]",
            (32, "read", "while flag[0] == 0:"),
            (0, "barrier", "T.barrier("),
            note="it reads this again and again, and nobody changes anything",
        ),
    ),
    pair(
        one_more_than_come,
        one_more_than_come_mended,
        zeros(3),
        zeros(32),
        max_accesses=WAITS,
        finds=found(
            "deadlock",
            "ready[2]",
            (0, "read", "if ready[k] == 1:"),
            note="it reads this again and again, and nobody changes anything",
        ),
    ),
    pair(
        lock_kept,
        lock_kept_mended,
        zeros(1),
        np.array([0, 1]),
        machine=UMM,
        max_accesses=WAITS,
        finds=found(
            "deadlock",
            "lock[0]",
            (32, "read", "while lock[0] != T.warp:"),
            note="it reads this again and again, and nobody changes anything",
        ),
    ),
    pair(
        wait_in_lock_step,
        wait_in_lock_step_mended,
        zeros(1),
        schedule="synchronous",
        max_accesses=WAITS,
        finds=found(
            "deadlock",
            "flag[0]",
            (32, "read", "while T.warp == 1 and flag[0] == 0:"),
            note="it reads this again and again, and nobody changes anything",
        ),
    ),
    pair(
        doubled_from_zero,
        doubled_from_zero_mended,
        zeros(64),
        machine=UMM,
        max_accesses=WAITS,
        finds=found(
            "endless",
            "",
            (0, "statement", "while k < T.count:"),
            note="no end after max_accesses=4000 accesses and loop iterations",
        ),
    ),
    pair(
        steps_over_the_end,
        steps_over_the_end_mended,
        63,
        zeros(32),
        threads=32,
        machine=UMM,
        max_accesses=WAITS,
        finds=found(
            "endless",
            "",
            (0, "statement", "while i != n:"),
            note="no end after max_accesses=4000 accesses and loop iterations",
        ),
    ),
]
