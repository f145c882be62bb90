"""Barriers that count, and barriers of the whole grid, on both engines and both schedules."""

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import BarrierError
from tests.kit.runs.both import ENGINES, on_all
from tests.kit.runs.paths import SCHEDULES


def ints(*shape):
    return np.zeros(shape, np.int64)


def test_a_block_finds_together_what_its_threads_test():
    def counts(T, a, out):
        out[0, T.id] = T.barrier_or(a[T.id] > 8)
        out[1, T.id] = T.barrier_and(a[T.id])
        out[2, T.id] = T.barrier_count(test=a[T.id] % 2)
        T.barrier_or(True)

    # Blocks of 6 on warps of 4.
    a = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0])
    run = on_all(counts, a, ints(3, 12), machine=mm.HMM(2, 4, 5), threads=12, block_size=6)
    assert run.arrays["out"][:, :6].T.tolist() == [[0, 1, 3]] * 6
    assert run.arrays["out"][:, 6:].T.tolist() == [[1, 0, 3]] * 6


def test_a_complex_number_is_a_test_that_is_true_where_it_is_not_zero():
    def counts(T, a, out):
        z = a[T.id]
        out[0, T.id] = T.barrier_count(z) + 10 * T.barrier_count(z.real)
        out[1, T.id] = T.barrier_or(z) + 2 * T.barrier_and(z) + 4 * T.barrier_and(z + 1)

    a = np.array([0j, 1j, -2, complex(0, np.nan), 0j, -0j, 0j, -0.0, 3 + 1j, 1, 2j, -1j])
    machine = mm.HMM(2, 4, 5)
    run = on_all(counts, a, ints(2, 12), machine=machine, threads=12, block_size=4)
    assert run.arrays["out"].T.tolist() == [[13, 5]] * 4 + [[0, 4]] * 4 + [[24, 7]] * 4


def test_threads_that_have_returned_count_no_more():
    def rest(T, out):
        if T.id % 4 == 3 or T.warp == 1:
            return
        out[T.id] = T.barrier_count(True) + 100 * T.barrier_and(T.id % 4 < 3)

    run = on_all(rest, ints(12), machine=mm.DMM(4, 2), threads=12)
    assert run.arrays["out"].tolist() == [106, 106, 106, 0, 0, 0, 0, 0, 106, 106, 106, 0]


def test_warps_that_come_by_different_lines_count_together():
    def apart(T, out):
        if T.warp == 0:
            out[T.id] = T.barrier_count(T.lane < 3)
        else:
            out[T.id] = T.barrier_count(True)

    for engine in ENGINES:
        how = {"threads": 8, "schedule": "asynchronous", "engine": engine}
        run = mm.DMM(4, 2).run(mm.program(apart), ints(8), **how)
        assert run.arrays["out"].tolist() == [7] * 8


def test_a_loop_until_no_thread_has_anything_left_to_do():
    def steps(T, a, out):
        k = 0
        while T.barrier_or(a[T.id] > k):
            k += 1
        out[T.id] = k

    a = np.array([1, 2, 3, 4, 9, 1, 1, 1])
    run = on_all(steps, a, ints(8), machine=mm.HMM(2, 4, 5), threads=8, block_size=4)
    assert run.arrays["out"].tolist() == [4] * 4 + [9] * 4


# ------------------------------------------------------------------ the whole grid


def relay(T, a, out):
    """Block 0 writes late what block 1 reads after the barrier."""
    x = 0
    if T.block == 0:
        for _ in range(3):
            x += a[T.index]
        a[T.index] = x + 1
    T.grid_barrier()
    if T.block == 1:
        out[T.index] = a[T.index]


def test_a_barrier_of_the_grid_waits_for_all_blocks():
    run = on_all(relay, ints(4) + 5, ints(4), machine=mm.HMM(2, 4, 5), threads=8, block_size=4)
    assert run.arrays["out"].tolist() == [16] * 4
    late = mm.HMM(2, 4, 5).run(
        mm.program(relay), ints(4), ints(4), threads=8, block_size=4, schedule="asynchronous"
    )
    # Three reads and a write of block 0, then a read and a write of block 1: 5 time units each.
    assert late.time == 6 * 5


def test_who_plays_it_is_said():
    machine, program = mm.HMM(2, 4, 5), mm.program(relay)
    found = {}
    for schedule in SCHEDULES:
        how = {"threads": 8, "block_size": 4, "schedule": schedule, "engine": "array"}
        found[schedule] = machine.run(program, ints(4), ints(4), **how).engine
    assert found == {"synchronous": "array", "asynchronous": "events"}


def test_the_trace_releases_all_blocks_at_one_time():
    run = mm.HMM(2, 4, 5).run(
        mm.program(relay),
        ints(4),
        ints(4),
        threads=8,
        block_size=4,
        schedule="asynchronous",
        engine="events",
    )
    assert [(one.time, one.block, one.warps) for one in run.trace.releases] == [
        (20, 0, (0,)),
        (20, 1, (1,)),
    ]
    waits = [one for one in run.trace.waits if one.reason == "barrier"]
    assert [(one.warp, one.start, one.end) for one in waits] == [(1, 0, 20)]


def test_warps_that_have_ended_are_not_waited_for():
    def some(T, out):
        if T.block == 1:
            return
        T.grid_barrier()
        out[T.id] = 1

    run = on_all(some, ints(12), machine=mm.HMM(2, 4, 5), threads=12, block_size=4)
    assert run.arrays["out"].tolist() == [1] * 4 + [0] * 4 + [1] * 4


def crossed(T, out):
    """Half of a block waits for the grid, the other half for the block."""
    if T.warp % 2 == 0:
        T.grid_barrier()
    else:
        T.barrier()
    out[T.id] = 1


def test_barriers_that_wait_for_each_other_are_a_deadlock():
    for engine in ENGINES:
        how = {"threads": 16, "block_size": 8, "schedule": "asynchronous", "engine": engine}
        with pytest.raises(BarrierError) as caught:
            mm.HMM(2, 4, 5).run(mm.program(crossed), ints(16), **how)
    first = crossed.__code__.co_firstlineno
    assert (caught.value.other, caught.value.thread) == (0, 4)
    assert caught.value.place.line == first + 3
    assert "deadlock: thread 0 waits at this barrier of the grid for all" in str(caught.value)
    assert f"thread 4 waits at the barrier of its block in line {first + 5}" in str(caught.value)


def test_a_barrier_of_the_grid_that_part_of_a_warp_reaches_is_refused():
    def part(T, out):
        if T.lane > 0:
            T.grid_barrier()
        out[T.id] = 1

    for schedule in SCHEDULES:
        with pytest.raises(BarrierError, match="thread 1 waits at this barrier but thread 0"):
            mm.DMM(4, 2).run(mm.program(part), ints(8), threads=8, schedule=schedule)
