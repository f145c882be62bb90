"""Lanes with nothing more to do have ended, however the program is written: no barrier waits."""

import numpy as np
import pytest
from numba import cuda

import mmsim as mm
from mmsim.errors import BarrierError
from mmsim.frontend.numba.kernel import numba_program
from tests.kit.runs.both import on_all, refused

HMM = mm.HMM(2, 4, 5)


def behind_a_return(T, a, b, n):
    s = mm.shared(8, dtype=int)
    if T.id >= n:
        return
    s[T.index] = a[T.id]
    T.barrier()
    b[T.id] = s[T.index ^ 1]


def under_an_if(T, a, b, n):
    s = mm.shared(8, dtype=int)
    if T.id < n:
        s[T.index] = a[T.id]
        T.barrier()
        b[T.id] = s[T.index ^ 1]


def under_an_else(T, a, b, n):
    s = mm.shared(8, dtype=int)
    if T.id >= n:
        x = T.id
        x += 1
    else:
        s[T.index] = a[T.id]
        T.barrier()
        b[T.id] = s[T.index ^ 1]
    y = T.id * 2
    y += 1


def under_two(T, a, b, n):
    s = mm.shared(8, dtype=int)
    if T.block < 2:
        x = T.id
        if x < n:
            s[T.index] = a[x]
            T.barrier()
            b[x] = s[T.index ^ 1]


def exchanged(T, a, b, n):
    s = mm.shared(8, dtype=int)
    if T.id < n:
        s[T.index] = a[T.id]
        T.barrier()
        b[T.id] = s[T.index ^ 1]
        return


def in_a_helper(T, a, b, n):
    exchanged(T, a, b, n)


def left_in_a_loop(T, a, b, n):
    s = mm.shared(8, dtype=int)
    while True:
        if T.id >= n:
            break
        s[T.index] = a[T.id]
        T.barrier()
        b[T.id] = s[T.index ^ 1]
        break


def kernel_behind_a_return(a, b, n):
    s = cuda.shared.array(8, np.int64)
    i, j = cuda.grid(1), cuda.threadIdx.x
    if i >= n:
        return
    s[j] = a[i]
    cuda.syncthreads()
    b[i] = s[j ^ 1]


def kernel_under_an_if(a, b, n):
    s = cuda.shared.array(8, np.int64)
    i, j = cuda.grid(1), cuda.threadIdx.x
    if i < n:
        s[j] = a[i]
        cuda.syncthreads()
        b[i] = s[j ^ 1]


PROGRAMS = [under_an_if, under_an_else, under_two, in_a_helper, left_in_a_loop]


@pytest.mark.parametrize("n", [14, 6, 16])
@pytest.mark.parametrize("written", [*PROGRAMS, kernel_under_an_if])
def test_a_guard_around_the_rest_is_a_return(written, n):
    """It gives the same as the program with the return: the time, the accesses, the memory."""
    first = behind_a_return
    if written is kernel_under_an_if:
        first, written = map(numba_program, (kernel_behind_a_return, written))
    sizes = {"machine": HMM, "threads": 16, "block_size": 8}
    one, other = (on_all(f, np.arange(16), np.zeros(16, int), n, **sizes) for f in (first, written))
    assert other.time == one.time
    assert other.arrays["b"].tolist() == one.arrays["b"].tolist()
    assert [(row.requests, row.stages) for row in other.accesses] == [
        (row.requests, row.stages) for row in one.accesses
    ]


def strided(T, a, n):
    i = T.id
    while i < n:
        a[i] += 1
        T.barrier()
        i += T.count


def strided_by_for(T, a, n):
    for i in range(T.id, n, T.count):
        a[i] += 1
        T.barrier()


@pytest.mark.parametrize("written", [strided, strided_by_for])
def test_lanes_that_have_left_the_last_loop_have_ended(written):
    run = on_all(written, np.zeros(21, int), 19, threads=8)
    assert run.arrays["a"].tolist() == [1] * 19 + [0, 0]


def test_lanes_that_end_in_one_branch_are_not_waited_for_in_the_other():
    def either(T, a):
        if T.lane < 3:
            a[T.id] = 1
        else:
            a[T.id] = 2
            T.barrier()
            a[T.id] += 1

    assert on_all(either, np.zeros(8, int)).arrays["a"].tolist() == [1, 1, 1, 3, 3, 3, 3, 3]


def before_an_access(T, a):
    if T.lane < 3:
        T.barrier()
    a[T.id] = 1


def before_another_branch(T, a):
    if T.lane < 3:
        T.barrier()
    else:
        a[T.id] = 1


def before_an_exchange(T, a):
    if T.lane < 3:
        T.barrier()
    mm.warp.sync()


def in_a_loop(T, a):
    for _ in range(2):
        if T.lane < 3:
            T.barrier()


def beside_an_exit(T, a):
    for k in range(2):
        if T.lane == k:
            continue
        T.barrier()


@pytest.mark.parametrize(
    "program",
    [before_an_access, before_another_branch, before_an_exchange, in_a_loop, beside_an_exit],
)
def test_lanes_with_more_to_do_are_waited_for(program):
    assert "of the same warp 0 is elsewhere" in str(refused(BarrierError, program, np.zeros(8)))


def test_a_check_reports_the_barrier_all_the_same():
    """As the tools of the cards do; a return says that it is meant."""
    how = {"threads": 16, "block_size": 8}
    arguments = np.arange(16), np.zeros(16, int), 14
    for schedule, threads in (("synchronous", (8, 14)), ("asynchronous", (12, 14))):
        report = HMM.check(mm.program(under_an_if), *arguments, schedule=schedule, **how)
        assert [(one.kind, one.threads) for one in report.findings] == [("barrier", threads)]
        assert report.run is not None
        assert HMM.check(mm.program(behind_a_return), *arguments, schedule=schedule, **how).ok
        for engine in ("array", "events"):
            how_run = {"schedule": schedule, "engine": engine, "check": True, **how}
            run = HMM.run(mm.program(under_an_if), *arguments, **how_run)
            assert run.findings is not None
            assert [(one.kind, one.threads) for one in run.findings] == [("barrier", threads)]
