"""The machines' rules (docs/machines.md), sentence by sentence, on the event engine.

Every expected number is counted by hand; the count stands next to it.
"""

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import BarrierError
from tests.kit.runs.paths import both_schedules
from tests.kit.runs.programs import copy


def numbers(size):
    return np.arange(size)


def dispatches(run, unit=None):
    """(time unit, warp) of each dispatch, in order; of one unit where it is named."""
    return [(d.time, d.warp) for d in run.trace.dispatches if unit in (None, d.unit)]


def traced(machine, program, *args, **how):
    """A run on the event engine, which alone traces; the engine under test must take as long."""
    how = {"schedule": "asynchronous", **how}
    run = machine.run(program, *args, trace=True, **how)
    assert machine.run(program, *args, **how).time == run.time
    return run


@mm.program
def read(T, a):
    a[T.id]


@mm.program
def read_twice(T, a):
    a[T.id]
    a[T.id]


@mm.program
def read_strided(T, a, stride):
    a[T.id * stride]


class At:
    """A layout: element i lies at word addresses[i], the remaining elements fill the gaps."""

    def __init__(self, *addresses):
        self.addresses = addresses

    def offsets(self, shape):
        free = sorted(set(range(shape[0])) - set(self.addresses))
        return np.array([*self.addresses, *free])


# ------------------------------------------------------------------ the checks that must come out


@both_schedules
@pytest.mark.parametrize(
    ("machine", "latency", "addresses", "time"),
    [
        # Banks 0 1 2 2: 2 stages; banks 0 1 2 3: 1 stage. 2 + 1 + 3 - 1 = 5.
        (mm.DMM, 3, (0, 1, 10, 6, 8, 9, 14, 15), 5),
        # Groups 0 0 2 1: 3 stages; groups 2 2 3 3: 2 stages. 3 + 2 + 3 - 1 = 7.
        (mm.UMM, 3, (0, 1, 10, 6, 8, 9, 14, 15), 7),
        # Banks 3 1 3 0: 2 stages; banks 2 3 0 1: 1 stage. 2 + 1 + 5 - 1 = 7.
        (mm.DMM, 5, (7, 5, 15, 0, 10, 11, 12, 9), 7),
        # Groups 1 1 3 0: 3 stages; groups 2 2 3 2: 2 stages. 3 + 2 + 5 - 1 = 9.
        (mm.UMM, 5, (7, 5, 15, 0, 10, 11, 12, 9), 9),
    ],
)
def test_the_papers_requests(machine, latency, addresses, time, schedule):
    a = mm.place(numbers(16), At(*addresses))
    assert machine(4, latency).run(read, a, threads=8, schedule=schedule).time == time


# ------------------------------------------------------------------ threads, warps, blocks


@mm.program
def who_am_i(T, warp, lane, block, index):
    warp[T.id] = T.warp
    lane[T.id] = T.lane
    block[T.id] = T.block
    index[T.id] = T.index


@both_schedules
def test_the_last_warp_of_a_block_and_the_last_block_may_be_smaller(schedule):
    args = [np.zeros(10, int) for _ in range(4)]
    run = mm.DMM(4, 1).run(who_am_i, *args, threads=10, block_size=6, schedule=schedule)
    assert run.arrays["block"].tolist() == [0, 0, 0, 0, 0, 0, 1, 1, 1, 1]
    assert run.arrays["index"].tolist() == [0, 1, 2, 3, 4, 5, 0, 1, 2, 3]
    assert run.arrays["warp"].tolist() == [0, 0, 0, 0, 1, 1, 2, 2, 2, 2]
    assert run.arrays["lane"].tolist() == [0, 1, 2, 3, 0, 1, 0, 1, 2, 3]


@both_schedules
def test_a_warp_ends_with_its_block(schedule):
    # Warps 0..3, 4 5, 6..9: groups {0}, {1}, {1, 2}: 1 + 1 + 2 stages, 4 + 3 - 1 = 6.
    # Without blocks 0..3, 4..7, 8 9: 3 stages, 3 + 3 - 1 = 5.
    machine = mm.UMM(4, 3)
    assert machine.run(read, numbers(10), threads=10, schedule=schedule).time == 5
    assert machine.run(read, numbers(10), threads=10, block_size=6, schedule=schedule).time == 6


@mm.program
def touch_shared(T, a):
    s = mm.shared(4)
    s[T.index]
    a[T.id]


@both_schedules
def test_block_b_lives_on_dmm_b_mod_d(schedule):
    run = traced(
        mm.HMM(2, 4, 5), touch_shared, numbers(12), threads=12, block_size=4, schedule=schedule
    )
    assert {warp for _, warp in dispatches(run, "shared[0]")} == {0, 2}
    assert {warp for _, warp in dispatches(run, "shared[1]")} == {1}
    assert {warp for _, warp in dispatches(run, "global")} == {0, 1, 2}


# ------------------------------------------------------------------ one warp access


@both_schedules
@pytest.mark.parametrize(
    ("machine", "stride", "stages"),
    [
        (mm.DMM, 1, 1),  # banks 0 1 2 3
        (mm.DMM, 2, 2),  # banks 0 2 0 2
        (mm.DMM, 3, 1),  # banks 0 3 2 1
        (mm.DMM, 4, 4),  # banks 0 0 0 0
        (mm.UMM, 1, 1),  # groups 0 0 0 0
        (mm.UMM, 2, 2),  # groups 0 0 1 1
        (mm.UMM, 3, 3),  # groups 0 0 1 2
        (mm.UMM, 4, 4),  # groups 0 1 2 3
    ],
)
@pytest.mark.parametrize("latency", [1, 5])
def test_a_request_of_k_stages_takes_k_plus_l_minus_1(machine, stride, stages, latency, schedule):
    run = machine(4, latency).run(read_strided, numbers(13), stride, threads=4, schedule=schedule)
    assert run.time == stages + latency - 1
    assert run.stages == stages


@mm.program
def read_by_pairs(T, a):
    a[T.lane // 2 * 4]


@both_schedules
@pytest.mark.parametrize("machine", [mm.DMM(4, 1), mm.UMM(4, 1)])
def test_requests_of_a_warp_for_one_address_merge(machine, schedule):
    # Addresses 0 0 4 4: one bank, two groups, either way 2 distinct addresses, 2 stages.
    assert machine.run(read_by_pairs, numbers(8), threads=4, schedule=schedule).time == 2
    # Addresses 0 0 0 0.
    assert machine.run(read_strided, numbers(1), 0, threads=4, schedule=schedule).time == 1


@both_schedules
@pytest.mark.parametrize("machine", [mm.DMM(4, 1), mm.UMM(4, 1)])
def test_requests_of_different_warps_never_merge(machine, schedule):
    # Two warps ask for address 0: 2 requests, 2 stages.
    assert machine.run(read_strided, numbers(1), 0, threads=8, schedule=schedule).time == 2


@mm.program
def write_one_word(T, a):
    a[0] = T.id


MACHINES = [mm.DMM(4, 3), mm.UMM(4, 3), mm.HMM(2, 4, 3)]
all_machines = pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: repr(machine)[:3])


@both_schedules
@all_machines
def test_the_lowest_numbered_thread_of_a_warp_wins(machine, schedule):
    run = machine.run(write_one_word, np.array([-1]), threads=4, schedule=schedule)
    assert run.arrays["a"].tolist() == [0]
    assert run.time == 3  # four writes to one address are one: 1 + 3 - 1


@mm.program
def write_one_shared_word(T, a):
    s = mm.shared(1)
    s[0] = T.id
    a[T.id] = s[0]


@both_schedules
@all_machines
def test_the_same_holds_in_shared_memory(machine, schedule):
    run = machine.run(
        write_one_shared_word, numbers(12), threads=12, block_size=4, schedule=schedule
    )
    assert run.arrays["a"].tolist() == [0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8]


@both_schedules
@all_machines
def test_the_later_dispatch_wins_between_warps(machine, schedule):
    run = machine.run(write_one_word, np.array([-1]), threads=10, schedule=schedule)
    assert run.arrays["a"].tolist() == [8]  # warps 0 1 2 in this order; thread 8 leads warp 2


@mm.program
def write_late(T, a):
    if T.warp == 0:
        a[1]
    a[0] = T.id


@all_machines
def test_later_means_dispatched_later(machine):
    a = np.array([-1, -1])
    # Lock step: the write is one round, warp 1 is dispatched after warp 0.
    assert machine.run(write_late, a, threads=8).arrays["a"][0] == 4
    # Each for itself: warp 1 writes at 1, warp 0 not before its read has completed at 3.
    run = traced(machine, write_late, a, threads=8, schedule="asynchronous")
    assert run.arrays["a"][0] == 0


def test_later_between_dmms():
    # Blocks 0..7 and 8..11: warps 0 and 1 on DMM 0, warp 2 on DMM 1.
    machine, a = mm.HMM(2, 4, 3), np.array([-1])
    run = traced(machine, write_one_word, a, threads=12, block_size=8)
    assert dispatches(run) == [(0, 0), (1, 2), (2, 1)]  # the DMMs in turn
    assert run.arrays["a"].tolist() == [4]
    run = traced(machine, write_one_word, a, threads=12, block_size=8, schedule="synchronous")
    assert dispatches(run) == [(0, 0), (1, 1), (2, 2)]  # a round goes by warp id
    assert run.arrays["a"].tolist() == [8]


@mm.program
def read_below(T, a, limit):
    if T.id < limit:
        a[T.id]


@both_schedules
def test_an_access_without_active_lanes_is_skipped(schedule):
    machine = mm.UMM(4, 5)
    # Warps 1 and 2 have no active lane: only warp 0's stage, 1 + 5 - 1.
    assert machine.run(read_below, numbers(12), 3, threads=12, schedule=schedule).time == 5
    nothing = machine.run(read_below, numbers(12), 0, threads=12, schedule=schedule)
    assert (nothing.time, nothing.accesses, nothing.rounds) == (0, (), ())


@both_schedules
def test_only_active_lanes_ask(schedule):
    # Of addresses 0 4 8 12, all in bank 0, lanes 0 and 1 ask: 2 stages.
    @mm.program
    def two_lanes(T, a):
        if T.lane < 2:
            a[4 * T.lane]

    assert mm.DMM(4, 1).run(two_lanes, numbers(13), threads=4, schedule=schedule).time == 2


# ------------------------------------------------------------------ pipeline


@both_schedules
def test_stages_of_different_warps_never_share_a_time_unit(schedule):
    # Three warps of 2 stages (banks 0 2 0 2) enter at 0 1, 2 3, 4 5; the last completes at
    # 4 + 2 + 5 - 1 = 10.
    run = traced(mm.DMM(4, 5), read_strided, numbers(23), 2, threads=12, schedule=schedule)
    assert dispatches(run) == [(0, 0), (2, 1), (4, 2)]
    assert run.time == 10


def test_a_warp_sends_nothing_new_until_its_request_has_completed():
    # Reads at 0 and 1 complete at 5 and 6; that is when the writes go out; 6 + 1 + 5 - 1 = 11.
    run = traced(mm.DMM(4, 5), copy, numbers(8), numbers(8), threads=8)
    assert dispatches(run) == [(0, 0), (1, 1), (5, 0), (6, 1)]
    assert run.time == 11


@both_schedules
def test_a_run_ends_when_the_last_request_has_completed(schedule):
    # The write at 0 has its effect immediately but is under way until 0 + 1 + 7 - 1.
    run = mm.DMM(4, 7).run(write_one_word, numbers(1), threads=4, schedule=schedule)
    assert run.time == 7


@mm.program
def one_writes_one_reads(T, a, b, writer):
    if T.warp == writer:
        a[0] = 7
    else:
        b[T.lane] = a[0]


def test_memory_takes_effect_in_dispatch_order():
    machine, a, b = mm.DMM(4, 100), np.array([1]), np.zeros(4, int)
    # Warp 0 writes at 0, warp 1 reads at 1, long before the write has completed.
    run = traced(machine, one_writes_one_reads, a, b, 0, threads=8, schedule="asynchronous")
    assert run.arrays["b"].tolist() == [7, 7, 7, 7]
    # Warp 0 reads at 0, warp 1 writes at 1, long before the read has completed.
    run = traced(machine, one_writes_one_reads, a, b, 1, threads=8, schedule="asynchronous")
    assert run.arrays["b"].tolist() == [1, 1, 1, 1]


@both_schedules
def test_local_work_takes_no_time(schedule):
    @mm.program
    def busy(T, a):
        r = mm.registers(4)
        for k in range(50):
            r[k % 4] = r[k % 4] * 3 + T.id
        if r[0] > r[1]:
            r[2] = 0
        a[T.id]

    assert mm.DMM(4, 5).run(busy, numbers(4), threads=4, schedule=schedule).time == 5


@both_schedules
def test_the_shared_units_of_an_hmm_work_together(schedule):
    @mm.program
    def shared_column(T):
        s = mm.shared(16)
        s[4 * T.index]

    # Each of three blocks has one warp with 4 stages (banks 0 0 0 0), latency 2: 4 + 2 - 1.
    # Two DMMs: blocks 0 and 2 share one, 8 + 2 - 1.
    how = {"threads": 12, "block_size": 4, "schedule": schedule}
    assert mm.HMM(3, 4, 5, shared_latency=2).run(shared_column, **how).time == 5
    assert mm.HMM(2, 4, 5, shared_latency=2).run(shared_column, **how).time == 9


# ------------------------------------------------------------------ turns


def test_turns_go_round():
    # Latency 1: whoever has been served is ready again immediately, but the others come first.
    run = traced(mm.DMM(4, 1), read_twice, numbers(12), threads=12)
    assert dispatches(run) == [(0, 0), (1, 1), (2, 2), (3, 0), (4, 1), (5, 2)]


def test_turns_go_on_after_the_warp_dispatched_last():
    @mm.program
    def uneven(T, a):
        if T.warp == 0:
            a[T.id]
        T.barrier()
        a[T.id]

    # Warp 0's read completes at 2 and opens the barrier: all are ready together, warp 0 was last.
    run = traced(mm.DMM(4, 2), uneven, numbers(12), threads=12)
    assert dispatches(run) == [(0, 0), (2, 1), (3, 2), (4, 0)]


def test_the_global_unit_takes_the_dmms_in_turn_and_their_warps_in_turn():
    # Blocks 0 and 2 on DMM 0: warps 0 1 4 5; block 1 and 3 on DMM 1: warps 2 3 6 7.
    run = traced(mm.HMM(2, 4, 9), read, numbers(32), threads=32, block_size=8)
    assert [warp for _, warp in dispatches(run)] == [0, 2, 1, 3, 4, 6, 5, 7]
    # Warps 0 1 on DMM 0, warp 2 on DMM 1, all ready again immediately (L = 1).
    run = traced(mm.HMM(2, 4, 1), read_twice, numbers(12), threads=12, block_size=8)
    assert [warp for _, warp in dispatches(run)] == [0, 2, 1, 2, 0, 1]


def test_completions_come_before_dispatches():
    @mm.program
    def detour(T, a):
        s = mm.shared(12)
        if T.warp == 1:
            s[T.index]
        a[T.id]

    # Global memory: warp 0 at 0; warp 2 has been ready since 0, but warp 1's shared read
    # completes at 1, and after warp 0 it is warp 1's turn.
    run = traced(mm.HMM(1, 4, 5), detour, numbers(12), threads=12)
    assert dispatches(run, "global") == [(0, 0), (1, 1), (2, 2)]


def test_barriers_come_before_dispatches():
    @mm.program
    def detour(T, a):
        s = mm.shared(8)
        if T.warp == 1:
            return
        if T.block == 1:
            if T.warp == 2:
                s[T.index]
            T.barrier()
        a[T.id]

    # Warp 2's shared read completes at 1 and opens the barrier of warps 2 and 3; warp 4 has been
    # ready since 0, but after warp 0 it is their turn.
    run = traced(mm.HMM(1, 4, 5), detour, numbers(20), threads=20, block_size=8)
    assert dispatches(run, "global") == [(0, 0), (1, 2), (2, 3), (3, 4)]


# ------------------------------------------------------------------ the synchronous schedule


def rounds(run):
    """(start, time, array, kind, stages) of each round."""
    return [(row.start, row.time, row.array, row.kind, row.stages) for row in run.rounds]


def test_synchronous_is_the_default():
    default = mm.DMM(4, 5).run(copy, numbers(8), numbers(8), threads=8)
    assert default.schedule == "synchronous"
    assert default.time == 12  # 2 * (2 + 5 - 1), where each for itself would take 11


def test_a_round_begins_when_the_last_request_of_the_one_before_has_completed():
    run = traced(mm.DMM(4, 5), copy, numbers(8), numbers(8), threads=8, schedule="synchronous")
    # Reads at 0 and 1, the last completes at 1 + 1 + 5 - 1 = 6.
    assert dispatches(run) == [(0, 0), (1, 1), (6, 0), (7, 1)]
    assert rounds(run) == [(0, 6, "a", "read", 2), (6, 6, "b", "write", 2)]


def test_a_round_takes_its_stages_plus_latency_minus_1():
    # Warps with addresses 0 2 4 6, 8 10 12 14, 16 18: stages 2 + 2 + 1 on banks and on groups.
    for machine in (mm.DMM(4, 7), mm.UMM(4, 7), mm.HMM(1, 4, 7)):
        run = machine.run(read_strided, numbers(19), 2, threads=10)
        assert rounds(run) == [(0, 5 + 7 - 1, "a", "read", 5)]


def test_a_shared_round_takes_the_largest_over_the_dmms():
    @mm.program
    def stride_by_block(T):
        s = mm.shared(15)
        s[T.index * (T.block + 1)]

    # Two warps each: stride 1 on DMM 0, 1 + 1 stages; stride 2 on DMM 1, 2 + 2 stages.
    run = mm.HMM(2, 4, 50, shared_latency=3).run(stride_by_block, threads=16, block_size=8)
    assert rounds(run) == [(0, 4 + 3 - 1, "s", "read", 6)]


def test_branches_run_one_after_the_other_then_part_first():
    @mm.program
    def branch(T, a, b):
        if T.id % 2 == 1:
            a[T.id]
        else:
            b[T.id]

    # Both warps have lanes in both parts: 2 stages each time, 2 + 3 - 1.
    run = mm.DMM(4, 3).run(branch, numbers(8), numbers(8), threads=8)
    assert rounds(run) == [(0, 4, "a", "read", 2), (4, 4, "b", "read", 2)]


def test_warps_in_different_branches_wait_for_each_other_only_in_lock_step():
    @mm.program
    def branch(T, a, b):
        if T.warp == 0:
            a[T.id]
        else:
            b[T.id]

    machine, args = mm.DMM(4, 3), (numbers(8), numbers(8))
    assert machine.run(branch, *args, threads=8).time == 6  # two rounds of 1 + 3 - 1
    # Dispatches at 0 and 1, the last completes at 1 + 1 + 3 - 1.
    assert machine.run(branch, *args, threads=8, schedule="asynchronous").time == 4


def test_a_loop_runs_until_its_last_thread_leaves():
    @mm.program
    def triangle(T, a):
        for k in range(T.id):
            a[8 * k + T.id]

    # Thread t reads t times. k = 0: 1 1 1 and warp 1: 1 1 1 1 -> 1 + 1 stages; k = 1: threads 2 3
    # and warp 1; k = 2: thread 3 and warp 1; k = 3 4 5 6: warp 1 alone.
    run = mm.UMM(4, 2).run(triangle, numbers(64), threads=8)
    assert [row.stages for row in run.rounds] == [2, 2, 2, 1, 1, 1, 1]
    assert run.time == 3 * (2 + 1) + 4 * (1 + 1)


@all_machines
def test_barriers_idle_in_lock_step(machine):
    @mm.program
    def with_barriers(T, a, b):
        T.barrier()
        x = a[T.id]
        T.barrier()
        T.barrier()
        b[T.id] = x
        T.barrier()

    args = (numbers(12), numbers(12))
    how = {"threads": 12, "block_size": 8}
    barred = machine.run(with_barriers, *args, **how)
    assert barred.time == machine.run(copy, *args, **how).time
    assert barred.arrays["b"].tolist() == list(range(12))


# ------------------------------------------------------------------ barriers, each warp for itself


@mm.program
def meet(T, a, b, reads):
    """Warp 0 reads several times, then all meet, then all write."""
    if T.warp == 0:
        for _ in range(reads):
            a[T.id]
    T.barrier()
    b[T.id] = 1


def test_a_barrier_waits_for_every_warp_of_the_block():
    # Warp 0 reads at 0, 3 and 6, completes at 9; then warp 1 (warp 0 was last), 2 and 0.
    run = traced(mm.DMM(4, 3), meet, numbers(12), numbers(12), 3, threads=12)
    assert dispatches(run) == [(0, 0), (3, 0), (6, 0), (9, 1), (10, 2), (11, 0)]


def test_a_barrier_costs_nothing():
    for barriers in (0, 1, 5):

        @mm.program
        def some(T, a, barriers):
            for _ in range(barriers):
                T.barrier()
            a[T.id]

        run = mm.DMM(4, 3).run(some, numbers(8), barriers, threads=8, schedule="asynchronous")
        assert run.time == 4  # 2 + 3 - 1


def test_a_barrier_waits_for_no_other_block():
    # Block 0: warps 0 and 1, as above. Block 1, warp 2, writes at 1.
    run = traced(mm.DMM(4, 3), meet, numbers(12), numbers(12), 3, threads=12, block_size=8)
    assert dispatches(run) == [(0, 0), (1, 2), (3, 0), (6, 0), (9, 1), (10, 0)]


def test_a_barrier_that_one_block_comes_to_holds_no_other():
    @mm.program
    def one_block_meets(T, a, b):
        if T.warp % 2:
            a[T.id]
            a[T.id]
        if T.block == 0:
            T.barrier()
        b[T.id] = 1

    # Warps 1 and 3 read at 0 and 2, again at 10 and 12; 2 writes at 1. Warp 0 waits for 1 until
    # 20, then both write; 3 is done with reading at 22.
    run = traced(mm.DMM(4, 10), one_block_meets, numbers(16), numbers(16), threads=16, block_size=8)
    assert dispatches(run) == [
        (0, 1), (1, 2), (2, 3), (10, 1), (12, 3), (20, 0), (21, 1), (22, 3)
    ]  # fmt: skip


def test_a_finished_warp_is_no_longer_waited_for():
    @mm.program
    def some_leave(T, a):
        if T.warp == 1:
            return
        if T.warp == 2:
            a[T.id]
            return
        T.barrier()
        a[T.id]

    # Warp 1 leaves immediately. Warp 2 reads at 0 and leaves when that has completed, at 3: then
    # warps 0 and 3 go on, 3 first, as it comes after 2.
    run = traced(mm.DMM(4, 3), some_leave, numbers(16), threads=16)
    assert dispatches(run) == [(0, 2), (3, 3), (4, 0)]


def test_barriers_at_different_lines_are_one():
    @mm.program
    def two_doors(T, a):
        if T.warp == 0:
            T.barrier()
        else:
            a[T.id]
            T.barrier()
        a[T.id]

    # Warp 1's read completes at 3 and opens both doors.
    run = traced(mm.DMM(4, 3), two_doors, numbers(8), threads=8)
    assert dispatches(run) == [(0, 1), (3, 0), (4, 1)]


@both_schedules
def test_a_barrier_that_part_of_a_warp_reaches_is_an_error(schedule):
    @mm.program
    def part(T, a):
        if T.lane == 0:
            T.barrier()
        a[T.id] = 1

    with pytest.raises(BarrierError):
        mm.DMM(4, 3).run(part, numbers(4), threads=4, schedule=schedule)


@both_schedules
def test_lanes_that_have_returned_count_for_no_barrier(schedule):
    @mm.program
    def rest(T, a):
        if T.lane == 0:
            return
        T.barrier()
        a[T.id] = 9

    run = mm.DMM(4, 3).run(rest, numbers(4), threads=4, schedule=schedule)
    assert run.arrays["a"].tolist() == [0, 9, 9, 9]


# ------------------------------------------------------------------ where arrays lie


@mm.program
def use_shared(T, a, b):
    s = mm.shared(3)
    t = mm.shared(2)
    s[T.index]
    t[T.index]
    a[T.id]
    b[T.id % 3]


def shared_used(machine, schedule):
    how = {"threads": 5, "block_size": 2, "schedule": schedule}
    return traced(machine, use_shared, numbers(5), numbers(3), **how)


def bases(run):
    """The first address of every copy of every array."""
    return {array.name: array.addresses[:, 0].tolist() for array in run.trace.arrays}


@both_schedules
@pytest.mark.parametrize("machine", [mm.DMM(4, 3), mm.UMM(4, 3)])
def test_arrays_lie_in_parameter_order_then_the_shared_arrays_block_by_block(machine, schedule):
    run = shared_used(machine, schedule)
    # Words 0..4, from 8: 8..10; block 0 from 12: 12..14, 16 17; block 1 from 20; block 2 from 28.
    assert bases(run) == {"a": [0], "b": [8], "s": [12, 20, 28], "t": [16, 24, 32]}


@both_schedules
def test_on_the_hmm_shared_arrays_lie_in_their_dmms_memory(schedule):
    run = shared_used(mm.HMM(2, 4, 3), schedule)
    # DMM 0: block 0 at 0 and 4, block 2 at 8 and 12; DMM 1: block 1 at 0 and 4.
    assert bases(run) == {"a": [0], "b": [8], "s": [0, 0, 8], "t": [4, 4, 12]}


@both_schedules
def test_the_dispatched_addresses_are_those(schedule):
    run = shared_used(mm.HMM(2, 4, 3), schedule)
    addresses = {(d.array, d.warp): d.addresses for d in run.trace.dispatches}
    assert addresses["s", 1] == (0, 1)
    assert addresses["s", 2] == (8,)
    assert addresses["t", 2] == (12,)
    assert addresses["b", 1] == (10, 8)  # threads 2 and 3: elements 2 and 0


@both_schedules
def test_conflicts_show_where_arrays_lie(schedule):
    # b from 8 on: one group. Right behind a's 5 words, from 5 on, it would be two.
    @mm.program
    def second(T, a, b):
        b[T.id]

    run = mm.UMM(4, 1).run(second, numbers(5), numbers(4), threads=4, schedule=schedule)
    assert run.time == 1

    @mm.program
    def own_shared(T):
        s = mm.shared(5)
        s[T.index]

    # Each block's copy begins a group: two warps, 1 + 1 stages. Block 1's copy from 5 on would
    # make it 3.
    run = mm.UMM(4, 1).run(own_shared, threads=8, block_size=4, schedule=schedule)
    assert run.time == 2


# ------------------------------------------------------------------ nothing is left to chance


@mm.program
def mixed(T, a, b):
    s = mm.shared(8)
    s[T.index] = a[T.id]
    T.barrier()
    for k in range(T.id % 3):
        b[(T.id * 5 + k) % 24] = s[(T.index + k) % 8]
    b[0] = T.id


@both_schedules
@all_machines
def test_two_runs_are_equal(machine, schedule):
    first, second = (
        traced(
            machine, mixed, numbers(24), numbers(24), threads=20, block_size=8, schedule=schedule
        )
        for _ in range(2)
    )
    assert first == second
    assert first.trace.dispatches == second.trace.dispatches
    assert first.trace.waits == second.trace.waits


@both_schedules
@all_machines
def test_looking_changes_nothing(machine, schedule):
    how = {"threads": 20, "block_size": 8, "schedule": schedule}
    seen = traced(machine, mixed, numbers(24), numbers(24), **how)
    unseen = machine.run(mixed, numbers(24), numbers(24), **how)
    assert (seen.time, seen.accesses, seen.rounds) == (unseen.time, unseen.accesses, unseen.rounds)
    assert all((seen.arrays[name] == unseen.arrays[name]).all() for name in "ab")
