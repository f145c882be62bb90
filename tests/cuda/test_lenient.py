"""Lenient mode: kernels go on as on a card, with a warning for each mistake."""

import inspect
import warnings

import numpy as np
import pytest

import mmsim as mm
from mmsim import cuda
from mmsim.cuda.launches import history
from mmsim.errors import BarrierError, EndlessError, UnassignedError
from mmsim.frontend.numba.kernel import numba_program
from tests.kit.runs.paths import ENGINES, SCHEDULES

HMM = mm.HMM(2, 4, 5)


def parted(a, b):
    s = cuda.shared.array(8, np.int64)
    i = cuda.threadIdx.x
    if i % 4 < 3:
        s[i] = a[i]
        cuda.syncthreads()
    b[i] = s[i ^ 4]


def counted(b):
    i = cuda.threadIdx.x
    if i % 4 < 3:
        b[i] = cuda.syncthreads_count(i != 1)
    b[i] += 10


def unset(a, b):
    i = cuda.threadIdx.x
    if i < 6:
        x = a[i]
    y = x + 1
    z = y * 2
    if i < 6:
        b[i] = z


def unset_in_memory(a, b):
    i = cuda.threadIdx.x
    if i < 6:
        x = a[i]
    y = x + 1
    b[i] = y


def unset_in_a_branch(a, b):
    i = cuda.threadIdx.x
    if i < 6:
        x = a[i]
    if x > 2:
        b[i] = 1


def never_set(a, b):
    i = cuda.threadIdx.x
    if a[i] > 100:
        x = 5
    b[i] = x


def lock(m, total):
    while cuda.atomic.cas(m, 0, 0, 1) != 0:
        pass
    total[0] += 1
    cuda.atomic.exch(m, 0, 0)


def lock_in_rounds(m, total, n):
    for k in range(n):
        if cuda.threadIdx.x < 6:
            while True:
                if cuda.atomic.cas(m, 0, 0, 1) == 0:
                    break
            total[k] += 1
            cuda.threadfence()
            cuda.atomic.exch(m, 0, 0)
            if total[k] > 100:
                continue
        total[3] = 7


def launch(kernel, *args, threads=8, is_lenient=True, **how):
    with cuda.lenient(is_lenient):
        return HMM.run(numba_program(kernel), *args, grid=1, block=threads, trace=False, **how)


def each(kernel, *args, **how):
    """The arrays, the same on both engines and both schedules, and the warnings of the last."""
    found, lines = [], []
    for schedule in SCHEDULES:
        for engine in ENGINES:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                run = launch(kernel, *args, schedule=schedule, engine=engine, **how)
            assert all(one.category is cuda.LenientWarning for one in said)
            lines.append([(one.lineno, str(one.message)) for one in said])
            found.append({name: array.tolist() for name, array in run.arrays.items()})
    assert all(one == found[0] for one in found)
    assert all(one == lines[0] for one in lines)
    return found[0], lines[0]


def line(kernel, text):
    lines, first = inspect.getsourcelines(kernel)
    return first + next(k for k, one in enumerate(lines) if text in one)


def zeros(n):
    return np.zeros(n, np.int64)


A, ZERO = np.arange(8), np.zeros(8, np.int64)


def test_a_warp_arrives_with_any_lane():
    with pytest.raises(BarrierError):
        launch(parted, A, ZERO, is_lenient=False)
    found, said = each(parted, A, ZERO)
    assert found["b"] == [4, 5, 6, 0, 0, 1, 2, 0]
    (where, text), *more = said
    assert not more
    assert where == line(parted, "syncthreads")
    assert text == (
        "thread 3: thread 0 waits at this barrier but thread 3 of the same warp 0 is elsewhere; "
        "move the barrier to a place that all threads of a warp reach (lenient: the run goes on)"
    )


def test_a_barrier_counts_the_lanes_that_are_there():
    found, _ = each(counted, ZERO)
    assert found["b"] == [15, 15, 15, 10, 15, 15, 15, 10]


def test_an_unset_variable_that_does_not_matter():
    with pytest.raises(UnassignedError):
        launch(unset, A, ZERO, is_lenient=False)
    found, said = each(unset, A, ZERO)
    assert found["b"] == [2, 4, 6, 8, 10, 12, 0, 0]
    assert not said


@pytest.mark.parametrize(
    ("kernel", "b", "where", "name"),
    [
        (unset_in_memory, [1, 2, 3, 4, 5, 6, 0, 0], "b[i] = y", "y"),
        (unset_in_a_branch, [0, 0, 0, 1, 1, 1, 0, 0], "if x > 2", "x"),
        (never_set, [0] * 8, "b[i] = x", "x"),
    ],
)
def test_an_unset_variable_is_0_where_it_matters(kernel, b, where, name):
    found, said = each(kernel, A, ZERO)
    assert found["b"] == b
    thread = 0 if kernel is never_set else 6
    assert said == [
        (
            line(kernel, where),
            f"thread {thread}: the variable {name!r} is read before this thread has assigned it "
            "(lenient: the run goes on)",
        )
    ]


def test_the_lane_with_the_lock_goes_on_first():
    with pytest.raises(EndlessError, match=r"cuda\.lenient\(\) lets that thread go on first"):
        launch(lock, zeros(1), zeros(1), is_lenient=False)
    for schedule in SCHEDULES:
        for engine in ENGINES:
            run = launch(lock, zeros(1), zeros(1), schedule=schedule, engine=engine)
            assert run.arrays["total"].tolist() == [8]
            assert run.arrays["m"].tolist() == [0]
            run = launch(lock_in_rounds, zeros(1), zeros(4), 3, schedule=schedule, engine=engine)
            assert run.arrays["total"].tolist() == [6, 6, 6, 7]


def test_what_never_ends_is_an_error_all_the_same():
    def never(m):
        while m[0] == 0:
            pass

    with pytest.raises(EndlessError):
        launch(never, ZERO[:1], schedule="asynchronous")


def test_a_check_reports_the_barrier(monkeypatch):
    monkeypatch.setattr(history, "check", True)
    kernel = cuda.jit(parted)
    with cuda.lenient(), pytest.warns(cuda.LenientWarning, match="thread 3 of the same warp 0"):
        kernel[1, 8](A, ZERO.copy())
    assert "barrier" in {one.kind for one in cuda.last.findings}


def test_programs_of_other_languages_are_never_lenient():
    @mm.program
    def part(T, a):
        if T.lane == 0:
            T.barrier()
        a[T.id] = 1

    with cuda.lenient(), pytest.raises(BarrierError):
        HMM.run(part, ZERO, threads=8)


def test_the_end_of_the_block_and_of_another_choice():
    with cuda.lenient():
        with cuda.lenient(False), pytest.raises(UnassignedError):
            HMM.run(numba_program(unset), A, ZERO, grid=1, block=8)
        HMM.run(numba_program(unset), A, ZERO, grid=1, block=8)
    with pytest.raises(UnassignedError):
        HMM.run(numba_program(unset), A, ZERO, grid=1, block=8)
