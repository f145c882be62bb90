"""Findings of a check where lanes exchange, and where barriers take the whole grid."""

import numpy as np
import pytest

import mmsim as mm
from tests.kit.runs.paths import both_engines, both_schedules
from tests.kit.runs.programs import program_of, rows_of


def check(program, *arrays, schedule="asynchronous", machine=None, threads=8, **options):
    machine = machine or mm.DMM(8, 3)
    return machine.check(program, *arrays, threads=threads, schedule=schedule, **options).findings


def ints(size):
    return np.zeros(size, np.int64)


def kinds_of(finding):
    return tuple(one.kind for one in finding.accesses)


PROGRAMS = {
    name: program_of(body, name=name)
    for name, body in rows_of("""
neighbours
    s = mm.shared(8, dtype=int)
    s[T.index] = a[T.id]
    b[T.id] = s[(T.index + 1) % 8]
synced
    s = mm.shared(8, dtype=int)
    s[T.index] = a[T.id]
    mm.warp.sync()
    b[T.id] = s[(T.index + 1) % 8]
behind_a_barrier
    s = mm.shared(8, dtype=int)
    s[T.index] = a[T.id]
    T.barrier()
    b[T.id] = s[(T.index + 1) % 8]
synced_by_half
    a[T.id] = T.id
    if T.lane < 4:
        mm.warp.sync()
    b[T.id] = a[T.id ^ 1] + a[T.id ^ 4]  # the lower lanes may read each other's, none the rest
flag
    a[0] = 5
    b[T.id] = a[0]  # its own, as each has written it
waits
    if T.lane == 0:
        a[0] = 1
    else:
        while a[0] == 0:
            pass
    b[T.id] = 1
changed_together
    x = a[0]
    a[0] = mm.warp.shuffle(x, 0) + 1
rotated
    a[T.id] = a[(T.id + 1) % 8]
rotated_through_a_variable
    x = a[(T.id + 1) % 8]
    mm.warp.sync()
    a[T.id] = x
rotated_by_two_halves
    x = a[T.id ^ 1]
    if T.lane < 4:
        mm.warp.sync()
    else:
        mm.warp.sync()
    a[T.id] = x
read_by_the_writer
    if T.lane == 3:
        b[0] = a[3]
        a[3] = 1
synced_by_some_readers
    b[T.id] = a[0]
    if T.lane < 4:
        mm.warp.sync()
    if T.lane == 0:
        a[0] = 1
read_in_turn
    for k in range(4):
        if T.lane == 3 - k:
            b[k] = a[0]
    if T.lane == 0:
        a[0] = 1
cleared_and_set
    a[T.id] = 0
    a[7 - T.id] = T.id + 1
cleared_twice
    a[T.id] = 0
    a[7 - T.id] = 0
written_together_and_once_more
    a[0] = 5
    if T.lane == 0:
        a[0] = 6
agreed
    for k in range(2):
        if T.lane == k:
            a[0] = 5
    if T.lane == 1:
        b[0] = a[0]  # its own, though another has written the same
reset
    mm.atomic.add(a, 0, 1)
    if T.lane == 7:
        a[0] = 0
reset_by_the_last
    if mm.atomic.add(a, 0, 1) == 7:
        a[0] = 0
seen_before_atomics
    if a[0] < 4:
        mm.atomic.add(a, 0, 1)
read_after_atomics
    mm.atomic.add(a, 0, 1)
    if T.lane == 0:
        b[0] = a[0]
atomics_after_a_write
    if T.lane == 0:
        a[0] = 5
    mm.atomic.add(a, 0, 1)
the_last_sums_up
    a[T.id + 1] = T.id
    if mm.atomic.add(b, 0, 1) == T.count - 1:
        total = 0
        for k in range(T.count):
            total += a[k + 1]
        a[0] = total
the_first_sums_up
    a[T.id + 1] = T.id
    if mm.atomic.add(b, 0, 1) == 0:
        total = 0
        for k in range(T.count):
            total += a[k + 1]
        a[0] = total
under_a_lock
    waiting = True
    while waiting:
        if mm.atomic.cas(b, 0, 0, 1) == 0:
            a[0] += 1
            mm.atomic.exch(b, 0, 0)
            waiting = False
beside_the_lock
    waiting = True
    while waiting:
        if mm.atomic.cas(b, 0, 0, 1) == 0:
            mm.atomic.exch(b, 0, 0)
            a[0] += 1
            waiting = False
handed_on
    if T.lane == 0:
        a[0] = 7
        mm.atomic.exch(b, 0, 1)
    if T.lane == 1 and mm.atomic.add(b, 0, 1) == 1:
        mm.atomic.exch(b, 1, 1)
    if T.lane == 2 and mm.atomic.add(b, 1, 1) == 1:
        a[2] = a[0]
handed_on_by_a_sync
    if T.lane == 0:
        a[0] = 7
        mm.atomic.exch(b, 0, 1)
    if T.lane == 1:
        mm.atomic.add(b, 0, mm.atomic.add(b, 2, 0))
    if T.lane in (1, 2):
        mm.warp.sync()
    if T.lane == 2:
        a[2] = a[0]
through_the_same_word
    if T.lane == 0:
        a[0] = 7
        mm.atomic.exch(b, 0, 1)
    if T.lane == 1 and mm.atomic.add(b, 0, 1) == 1:
        a[1] = 1
    if T.lane in (1, 2):
        mm.warp.sync()
    if T.lane == 2:
        a[2] = a[0]
apart_in_warps
    for k in range(T.warp + 1):  # so that the array engine runs each warp by itself
        a[T.id] += k
        if T.warp % 2 == 0:
            mm.warp.sync()
        b[T.id] = a[T.id ^ 1]
        if T.lane < 4:
            mm.warp.sync()
half_of_a_warp
    a[T.id] = T.id
    if T.lane < 4:
        mm.warp.sync()
    b[T.id] = a[T.id ^ 1] + a[T.id ^ 4]
    T.barrier()
    a[T.id] = b[T.id]
barrier_of_the_first
    a[T.id] = T.id
    if T.warp == 0:
        T.barrier()
    b[T.id] = a[T.id ^ 1]
""")
}


@pytest.mark.parametrize(
    ("name", "kinds", "offsets", "threads", "elements"),
    [
        ("synced_by_half", ("write", "read"), (1, 4), (0, 4), 8),
        ("synced_by_some_readers", ("read", "write"), (1, 5), (7, 0), 1),
        ("read_in_turn", ("read", "write"), (3, 5), (1, 0), 1),
        ("cleared_and_set", ("write", "write"), (1, 2), (0, 7), 8),
        ("written_together_and_once_more", ("write", "write"), (1, 3), (7, 0), 1),
        ("reset", ("atomic", "write"), (1, 3), (0, 7), 1),
        ("seen_before_atomics", ("read", "atomic"), (1, 2), None, 1),
        ("read_after_atomics", ("atomic", "read"), (1, 3), None, 1),
        ("atomics_after_a_write", ("write", "atomic"), (2, 3), None, 1),
        ("the_first_sums_up", ("write", "read"), (1, 5), None, None),
        ("handed_on_by_a_sync", ("write", "read"), (2, 9), None, 1),
    ],
)
def test_lanes_that_nothing_orders_need_a_sync(name, kinds, offsets, threads, elements):
    (found,) = check(PROGRAMS[name], np.arange(9), ints(9))
    assert found.kind == "warp-sync"
    assert kinds_of(found) == kinds
    assert found.lines == tuple(1 + n for n in offsets)
    assert threads in (None, found.threads)
    assert elements in (None, found.elements)


CLEAN = ["flag", "waits", "rotated_through_a_variable", "rotated_by_two_halves"]
CLEAN += ["read_by_the_writer", "agreed", "cleared_twice", "reset_by_the_last", "the_last_sums_up"]
CLEAN += ["under_a_lock", "handed_on", "through_the_same_word"]


@pytest.mark.parametrize("name", CLEAN)
def test_lanes_that_wait_read_their_own_or_come_to_a_sync_need_no_other(name):
    assert not check(PROGRAMS[name], np.arange(9), ints(9))


def test_what_lanes_exchange_is_an_update_of_what_was_read():
    (found,) = check(PROGRAMS["changed_together"], ints(1), ints(1))
    assert (found.kind, found.array, found.index) == ("lost-update", "a", (0,))


def test_what_lanes_do_after_they_have_left_the_lock_is_in_no_order():
    found = check(PROGRAMS["beside_the_lock"], np.arange(9), ints(9))
    assert {one.kind for one in found} == {"warp-sync"}
    assert {kinds_of(one) for one in found} == {
        ("read", "write"),
        ("write", "read"),
        ("write", "write"),
    }
    assert {one.lines for one in found} == {(6, 6)}


# ------------------------------------------------------------------ in one run, by each engine


ONE_RUN = ["neighbours", "synced", "behind_a_barrier", "rotated", "rotated_through_a_variable"]
ONE_RUN += ["rotated_by_two_halves", "reset", "seen_before_atomics", "atomics_after_a_write"]
ONE_RUN += ["the_last_sums_up", "apart_in_warps", "half_of_a_warp", "barrier_of_the_first"]


@pytest.mark.parametrize("name", ONE_RUN)
@both_engines
def test_one_run_finds_the_same_missing_syncs_as_a_check(name, engine):
    program, machine = PROGRAMS[name], mm.HMM(2, 8, 5)
    how = {"threads": 36, "block_size": 8, "schedule": "asynchronous"}
    arrays = np.arange(64) % 20 + 1, ints(64)
    report = machine.check(program, *arrays, **how)
    run = machine.run(program, *arrays, **how, engine=engine, trace=False, check=True)

    def syncs(findings):
        return [one for one in findings if one.kind == "warp-sync"]

    assert syncs(run.findings) == syncs(report.findings)


def test_missing_syncs_are_found_in_many_warps_together():
    program = PROGRAMS["neighbours"]
    how = {"threads": 1 << 12, "block_size": 8, "schedule": "asynchronous", "check": True}
    run = mm.HMM(2, 8, 5).run(program, ints(1 << 12), ints(1 << 12), **how)
    (found,) = run.findings
    assert (run.engine, found.kind, found.elements) == ("array", "warp-sync", 1 << 12)
    assert (found.index, found.copy, found.threads) == ((0,), 0, (0, 7))


HMM = mm.HMM(2, 4, 5)
TWO = {"machine": HMM, "threads": 8, "block_size": 4}


def first_block_alone(T, a):
    if T.block != 0:
        return
    T.grid_barrier()
    a[T.id] = 1


def first_threads_leave(T, a):
    if T.index == 0:
        return
    T.grid_barrier()
    a[T.id] = 1


def others_leave(T, a):
    if T.index != 0:
        return
    T.grid_barrier()
    a[T.id] = 1


def leaves_behind_the_barrier(T, a):
    T.grid_barrier()
    if T.block != 0:
        return
    T.grid_barrier()
    a[T.id] = 1


def next_to_a_barrier_of_the_block(T, a):
    if T.index == 0:
        return
    T.barrier()
    a[T.id] = 1


@both_schedules
@pytest.mark.parametrize(
    ("program", "threads", "count"),
    [
        # On an H100 the first and the third hang, and blocks pass the second without waiting.
        (first_block_alone, (0, 4), 2),
        (first_threads_leave, (5, 0), 3),
        (leaves_behind_the_barrier, (0, 4), 2),
        (others_leave, (), 0),
        (next_to_a_barrier_of_the_block, (), 0),
    ],
)
def test_a_block_whose_first_thread_has_returned_is_missing_at_a_barrier_of_the_grid(
    program, threads, count, schedule
):
    found = check(mm.program(program), ints(12), **{**TWO, "threads": 12}, schedule=schedule)
    assert len(found) == bool(count)
    for one in found:
        assert (one.kind, one.threads, one.elements) == ("barrier", threads, count)
        assert kinds_of(one) == ("barrier", "end")
        assert "let the first thread of every block come to the barrier" in one.advice
