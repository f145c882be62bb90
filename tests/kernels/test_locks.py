"""Locks: one that the threads of a warp get in turn, and one that hangs."""

import numpy as np
import pytest

import mmsim as mm
from tests.kit.runs.kernel_launches import CARD, Launcher, under_both_schedules

THREADS = {"threads": 32, "block_size": 16}


@mm.program
def counts_under_a_lock(T, lock, counter):
    """Whoever gets the lock does its work and frees it within one trip of the loop."""
    waiting = True
    while waiting:
        if mm.atomic.cas(lock, 0, 0, 1) == 0:
            counter[0] += 1
            mm.atomic.exch(lock, 0, 0)
            waiting = False


@mm.program
def hangs(T, lock, counter):
    """Lanes that wait keep the one that has the lock from going on."""
    while mm.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    counter[0] += 1
    mm.atomic.exch(lock, 0, 0)


@mm.program
def one_lane_of_a_block(T, lock, counter):
    """The same loop is right where one thread of a block alone asks for the lock."""
    if T.index == 0:
        while mm.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        counter[0] += T.block_size
        mm.atomic.exch(lock, 0, 0)


@mm.program
def tickets(T, ticket, serving, counter):
    """Who has drawn the next number is served, in one trip of the loop."""
    mine = mm.atomic.add(ticket, 0, 1)
    waiting = True
    while waiting:
        if mm.atomic.add(serving, 0, 0) == mine:
            counter[0] += 1
            mm.atomic.add(serving, 0, 1)
            waiting = False


def zero():
    return np.zeros(1, int)


@under_both_schedules
def test_a_counter_under_a_lock(launch):
    run = launch(counts_under_a_lock, zero(), zero(), **THREADS)
    assert run.arrays["counter"] == 32
    assert run.arrays["lock"] == 0


@under_both_schedules
def test_a_counter_by_tickets(launch):
    run = launch(tickets, zero(), zero(), zero(), **THREADS)
    assert run.arrays["counter"] == run.arrays["serving"] == 32


def test_a_lock_for_blocks():
    """In lock step the block that has the lock waits for the others, so only asynchronously."""
    launch = Launcher("asynchronous")
    run = launch(one_lane_of_a_block, zero(), zero(), threads=64, block_size=16)
    assert run.arrays["counter"] == 64


@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
@pytest.mark.parametrize("engine", ["array", "events"])
def test_a_lock_that_hangs(schedule, engine):
    how = {**THREADS, "schedule": schedule, "max_accesses": 400}
    with pytest.raises(mm.ProgramError, match="lock"):
        CARD.run(hangs, zero(), zero(), engine=engine, **how)
    (finding,) = CARD.check(hangs, zero(), zero(), **how).findings
    assert finding.kind == "spin"
    assert finding.array == "lock"
