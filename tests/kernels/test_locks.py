"""Locks: a counter by tickets, and a lock that hangs."""

import numpy as np
import pytest

import mmsim as mm
from tests.kit.runs.kernel_launches import CARD, under_both_schedules

THREADS = {"threads": 32, "block_size": 16}


@mm.program
def hangs(T, lock, counter):
    """Lanes that wait keep the one that has the lock from going on."""
    while mm.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    counter[0] += 1
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
def test_a_counter_by_tickets(launch):
    run = launch(tickets, zero(), zero(), zero(), **THREADS)
    assert run.arrays["counter"] == run.arrays["serving"] == 32


@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
@pytest.mark.parametrize("engine", ["array", "events"])
def test_a_lock_that_hangs(schedule, engine):
    how = {**THREADS, "schedule": schedule, "max_accesses": 400}
    with pytest.raises(mm.ProgramError, match="lock"):
        CARD.run(hangs, zero(), zero(), engine=engine, **how)
    (finding,) = CARD.check(hangs, zero(), zero(), **how).findings
    assert finding.kind == "spin"
    assert finding.array == "lock"
