"""Loops of atomics that are never left: locks, tickets and flags among threads that go together."""

import numpy as np

import mmsim as mm
from tests.kit.planted.pair import HMM, TWO, WAITS, planted, spins, stuck, zeros


@stuck("serving[0]", (1, "atomic", "mm.atomic.add(serving, 0, 0)"))
@planted(zeros(1), zeros(1), zeros(1), threads=32, max_accesses=WAITS)
def tickets_in_a_warp(T, ticket, serving, total):
    """Each lane waits for its number, and the one whose turn it is waits with the others."""
    mine = mm.atomic.add(ticket, 0, 1)
    while mm.atomic.add(serving, 0, 0) != mine:  # bug
        pass  # bug
    total[0] += 1  # bug
    mm.atomic.add(serving, 0, 1)  # bug
    waiting = True  # twin
    while waiting:  # twin
        if mm.atomic.add(serving, 0, 0) == mine:  # twin
            total[0] += 1  # twin
            mm.atomic.add(serving, 0, 1)  # twin
            waiting = False  # twin


@spins("locks[0]", 8, 0, "mm.atomic.exch(locks, x[T.id], 1)")
@planted(np.arange(32) % 8, zeros(8), zeros(8), threads=32, max_accesses=WAITS)
def lock_of_each_bin(T, x, locks, h):
    """A lock for each bin: lanes with different bins get theirs, and wait for those that don't."""
    while mm.atomic.exch(locks, x[T.id], 1) != 0:  # bug
        pass  # bug
    h[x[T.id]] += 1  # bug
    mm.atomic.exch(locks, x[T.id], 0)  # bug
    waiting = True  # twin
    while waiting:  # twin
        if mm.atomic.exch(locks, x[T.id], 1) == 0:  # twin
            h[x[T.id]] += 1  # twin
            mm.atomic.exch(locks, x[T.id], 0)  # twin
            waiting = False  # twin


@spins("lock[0]", 1, 0, "mm.atomic.cas")
@planted(zeros(1), zeros(1), max_accesses=WAITS)
def freed_behind_the_loop(T, lock, total):
    """The lane that gets the lock remembers it, but does its work behind the loop."""
    waiting = True
    while waiting:
        if mm.atomic.cas(lock, 0, 0, 1) == 0:
            total[0] += 1  # twin
            mm.atomic.exch(lock, 0, 0)  # twin
            waiting = False
    total[0] += 1  # bug
    mm.atomic.exch(lock, 0, 0)  # bug


def acquire(lock):
    while mm.atomic.cas(lock, 0, 0, 1) != 0:
        pass


@spins("lock[0] of 1", 97, 96, "mm.atomic.cas")
@planted(zeros(2), machine=HMM, **TWO, max_accesses=WAITS)
def acquired_in_a_helper(T, total):
    """A lock in shared memory, with the functions that one writes for processes."""
    lock = mm.shared(1, dtype=int)
    if T.index == 0:
        lock[0] = 0
    T.barrier()
    acquire(lock)  # bug
    total[T.block] += 1  # bug
    mm.atomic.exch(lock, 0, 0)  # bug
    waiting = True  # twin
    while waiting:  # twin
        if mm.atomic.cas(lock, 0, 0, 1) == 0:  # twin
            total[T.block] += 1  # twin
            mm.atomic.exch(lock, 0, 0)  # twin
            waiting = False  # twin


@spins("lock[0]", 64, 0, "mm.atomic.cas")
@planted(zeros(1), zeros(1), machine=HMM, **TWO, schedule="synchronous", max_accesses=WAITS)
def blocks_in_lock_step(T, lock, total):
    """One thread of each block waits for a lock, and in lock step all wait with it."""
    if T.index == 0:  # bug
        while mm.atomic.cas(lock, 0, 0, 1) != 0:  # bug
            pass  # bug
        total[0] += T.block_size  # bug
        mm.atomic.exch(lock, 0, 0)  # bug
    waiting = T.index == 0  # twin
    while waiting:  # twin
        if mm.atomic.cas(lock, 0, 0, 1) == 0:  # twin
            total[0] += T.block_size  # twin
            mm.atomic.exch(lock, 0, 0)  # twin
            waiting = False  # twin


@stuck("flag[0]", (1, "atomic", "mm.atomic.add(flag, 0, 0)"))
@planted(np.array([7]), zeros(1), zeros(1), threads=32, max_accesses=WAITS)
def flag_of_the_first_lane(T, x, flag, out):
    """Lanes wait for a flag that the first lane of their warp raises behind the loop."""
    while T.lane > 0 and mm.atomic.add(flag, 0, 0) == 0:  # bug
        pass  # bug
    if T.lane == 0:
        out[0] = x[0]
        mm.atomic.exch(flag, 0, 1)
    while T.lane > 0 and mm.atomic.add(flag, 0, 0) == 0:  # twin
        pass  # twin
