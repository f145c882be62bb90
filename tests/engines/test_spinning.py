"""Loops that can never end are refused as soon as that is certain, and no other loop is."""

import numpy as np
import pytest
from numba import cuda

import mmsim as mm
from mmsim.engines.array import interpreted
from mmsim.errors import EndlessError
from mmsim.frontend.numba.kernel import numba_program
from mmsim.meaning.trips import FEW
from tests.kit.runs.both import as_program, on_all
from tests.kit.runs.paths import ENGINES, SCHEDULES, both_engines

DMM = mm.DMM(4, 3)
MANY = 10**9


def run(program, *arrays, threads=4, schedule="asynchronous", engine="array", **how):
    return DMM.run(
        as_program(program),
        *arrays,
        threads=threads,
        schedule=schedule,
        engine=engine,
        trace=False,
        max_accesses=MANY,
        **how,
    )


def refused(program, *arrays, schedules=SCHEDULES, **how):
    """The error, the same on both engines; and whether a check is on."""
    errors = []
    for schedule in schedules:
        for engine in ENGINES:
            for check in (False, True):
                with pytest.raises(EndlessError) as caught:
                    run(program, *arrays, schedule=schedule, engine=engine, check=check, **how)
                errors.append(caught.value)
    found = {(e.message, e.place.line, e.thread, e.array, e.index) for e in errors}
    assert len(found) == 1, found
    return errors[0]


def zeros(n):
    return np.zeros(n, np.int64)


def spins(T, lock, total):
    while mm.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    total[0] += 1
    mm.atomic.exch(lock, 0, 0)


def kernel_spins(lock, total):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    total[0] += 1
    cuda.atomic.exch(lock, 0, 0)


@pytest.mark.parametrize("program", [spins, numba_program(kernel_spins)])
def test_lanes_that_wait_for_one_of_their_warp(program):
    error = refused(program, zeros(1), zeros(1), schedules=["asynchronous"])
    said = (
        "thread 1 and 2 more repeat this loop forever: line "
        f"{error.place.line} finds lock[0] = 1 again and again, and thread 0, which has left the "
        "loop, waits for the others: the lanes of a warp leave a loop together; let one thread of "
        "each warp take the lock, or do the work and free the lock inside the loop"
    )
    if program is not spins:
        said += "; cuda.lenient() lets that thread go on first, as cards do"
    assert error.message == said
    assert (error.thread, error.array, error.index) == (1, "lock", (0,))
    error = refused(program, zeros(1), zeros(1), schedules=["synchronous"], threads=8)
    assert "thread 1 and 6 more" in error.message
    assert "in lock step all threads leave a loop together" in error.message


def test_two_warps_that_wait_for_each_other():
    def each(T, flag):
        while flag[T.warp] == 0:
            pass
        flag[1 - T.warp] = 1

    error = refused(each, zeros(2), threads=8, schedules=["asynchronous"])
    assert "flag[" in error.message
    assert "no thread can change it: all others have ended, or wait too" in error.message


def test_a_warp_at_a_barrier_changes_nothing():
    def late(T, flag):
        if T.warp == 0:
            while flag[0] == 0:
                pass
        T.barrier()
        flag[0] = 1

    error = refused(late, zeros(1), threads=8, schedules=["asynchronous"])
    assert "line" in error.message
    assert "write before you wait" in error.message


def test_a_cycle_of_several_trips_is_found():
    def back_off(T, flag):
        k = 0
        while flag[k] == 0:
            k = (k + 1) % 3
            flag[3] = 0

    error = refused(back_off, zeros(4))
    assert "finds flag[" in error.message
    assert error.place.line == as_program(back_off).code.sources[0].first + 2


def test_a_loop_without_an_access():
    def still(T, a):
        x = a[T.id]
        while x == 0:
            y = x * 2
            x = y

    error = refused(still, zeros(4))
    assert error.message == (
        "thread 0 and 3 more repeat this loop forever: nothing changes in it; correct the "
        "condition that ends it"
    )
    assert error.array is None


def test_an_element_of_a_block():
    def own(T, a):
        s = mm.shared((2, 2), dtype=int)
        if T.index == 0:
            s[0, 1] = T.block
        T.barrier()
        if T.block == 1:
            while s[0, 1] == 1:
                pass
        a[T.id] = 1

    error = refused(own, zeros(8), threads=8, block_size=4)
    assert "thread 4 and 3 more" in error.message
    assert "finds s[0, 1] = 1 again" in error.message
    assert error.index == (0, 1)


# ------------------------------------------------------------ loops that end


def waits_for_a_flag(T, flag, a):
    if T.warp == 0:
        for k in range(40):
            a[T.lane] = k
        mm.atomic.exch(flag, 0, 1)
    else:
        while mm.atomic.add(flag, 0, 0) == 0:
            pass
        a[T.lane] += 1


def test_a_warp_may_wait_for_another_that_runs():
    found = []
    for engine in ENGINES:
        one = run(waits_for_a_flag, zeros(1), zeros(4), threads=8, engine=engine)
        assert one.arrays["a"].tolist() == [40] * 4
        found.append(one.time)
    assert len(set(found)) == 1


@both_engines
def test_a_plain_wait_ends_when_another_warp_writes(engine):
    """It is a race, and the rule of turns says how it ends."""

    def plain(T, flag, a):
        if T.warp == 1:
            for k in range(40):
                a[T.lane] = k
            flag[0] = 1
        else:
            while flag[0] == 0:
                pass
            a[T.lane] += 1

    for check in (False, True):
        one = run(plain, zeros(1), zeros(4), threads=8, engine=engine, check=check)
        assert one.arrays["a"].tolist() == [40] * 4


def test_a_lock_that_is_freed_inside_the_loop():
    def frees(T, lock, total):
        waiting = True
        while waiting:
            if mm.atomic.cas(lock, 0, 0, 1) == 0:
                total[0] += 1
                mm.atomic.exch(lock, 0, 0)
                waiting = False

    assert on_all(frees, zeros(1), zeros(1), threads=32).arrays["total"].tolist() == [32]


@pytest.mark.parametrize("trips", [FEW - 1, FEW, FEW + 1, 3 * FEW, 8 * FEW + 1])
def test_a_count_is_a_change(trips):
    def tries(T, flag, a, trips):
        k = 0
        while flag[0] == 0 and k < trips:
            k += 1
        a[T.id] = k

    def turned(T, flag, a, trips):
        x = 0.0
        r = mm.registers(1, dtype=int)
        r[0] = 0
        while flag[0] == 0 and r[0] < trips:
            x = -x
            r[0] += 1
        a[T.id] = r[0]

    for program in (tries, turned):
        found = on_all(program, zeros(1), zeros(8), trips).arrays["a"]
        assert found.tolist() == [trips] * 8


def test_the_sign_of_a_zero_is_a_change():
    def signs(T, a, n):
        x, y = 1.0, 1.0
        while a[0] == 0 and y > 0.9:
            y = y * 0.999
        a[T.id] = x

    assert on_all(signs, np.zeros(8), 1).arrays["a"].tolist() == [1.0] * 8


def test_the_array_engine_runs_what_does_not_wait_for_another_warp(monkeypatch):
    """No race-free program needs it: the array engine runs warp after warp."""
    seen = []
    monkeypatch.setattr(interpreted.Spins, "__init__", lambda self: seen.append(1))
    run(lambda_free, zeros(8), threads=8)
    assert not seen


def lambda_free(T, a):
    a[T.id] = 1
