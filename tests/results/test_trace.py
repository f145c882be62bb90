"""The trace: what is recorded of a run, and the machine time unit by time unit."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

import mmsim as mm
from mmsim.engines.events import asynchronous, recorder, synchronous
from mmsim.engines.events import engine as events
from mmsim.meaning.launch import Launch
from mmsim.monitors.listener import Listener
from mmsim.results.events import Arrival, Release, Wait
from tests.kit.generators.draws import draws
from tests.kit.generators.random_programs import cases, run_case
from tests.kit.runs.paths import both_schedules
from tests.kit.runs.programs import copy, line_of

all_machines = pytest.mark.parametrize(
    "machine", [mm.DMM(4, 3), mm.UMM(4, 3), mm.HMM(2, 4, 3)], ids=["DMM", "UMM", "HMM"]
)


@mm.program
def spread(T, a, b):
    b[T.id] = a[2 * T.id]


@mm.program
def reverse(T, a, b):
    s = mm.shared(2)
    s[T.index] = a[T.id]
    b[T.id] = s[1 - T.index]


@mm.program
def meet(T, a):
    if T.warp == 0:
        a[0]
    T.barrier()
    a[T.id] = T.id


def waits(run, warp):
    """(reason, start, end, unit) of each wait of a warp, in order."""
    return [(w.reason, w.start, w.end, w.unit) for w in run.trace.waits if w.warp == warp]


def registers(run):
    """The pipelines at each time unit, as text: warp number and a, b, ... for the stages."""
    return [
        " | ".join(
            " ".join("." if stage is None else f"{stage.warp}{'ab'[stage.number]}" for stage in row)
            for row in cycle.registers.values()
        )
        for cycle in run.trace.cycles()
    ]


def table(text):
    return [line.strip() for line in text.strip().splitlines()]


def test_a_dmm_by_hand():
    run = mm.DMM(2, 3).run(
        spread, 5 * np.arange(8), np.zeros(4, int), threads=4, schedule="asynchronous", trace=True
    )
    # a lies at 0..7, b at 8..11. Reads of 0 2 and of 4 6 meet bank 0 twice: stages a and b.
    # Warp 0 reads at 0, completes at 0 + 2 + 3 - 1 = 4, writes 8 9 (1 stage), done at 7.
    # Warp 1 reads at 2, completes at 2 + 2 + 3 - 1 = 6, writes 10 11, done at 9.
    assert registers(run) == table("""
        0a . .
        0b 0a .
        1a 0b 0a
        1b 1a 0b
        0a 1b 1a
        . 0a 1b
        1a . 0a
        . 1a .
        . . 1a
        . . .
    """)
    assert run.time == 9
    assert waits(run, 0) == [("latency", 0, 4, "memory"), ("latency", 4, 7, "memory")]
    assert waits(run, 1) == [
        ("turn", 0, 2, "memory"),
        ("latency", 2, 6, "memory"),
        ("latency", 6, 9, "memory"),
    ]
    b = [cycle.memory["b"].tolist() for cycle in run.trace.cycles()]
    assert b == [[0, 0, 0, 0]] * 4 + [[0, 10, 0, 0]] * 2 + [[0, 10, 20, 30]] * 4


# ------------------------------------------------------------------ dispatches


@both_schedules
def test_a_dispatch_says_which_request_travels_in_which_stage(schedule):
    @mm.program
    def columns(T, a):
        a[T.id * 7 % 12]

    def dispatch(machine):
        run = machine.run(columns, 5 * np.arange(12), threads=4, schedule=schedule, trace=True)
        (only,) = run.trace.dispatches
        assert (only.function, only.line) == ("columns", line_of(run, "a[T.id * 7 % 12]"))
        assert (only.array, only.kind, only.copy) == ("a", "read", 0)
        assert only.threads == (0, 1, 2, 3)
        assert only.elements == only.addresses == (0, 7, 2, 9)
        assert only.values == (0, 35, 10, 45)
        return only

    # Every bank once.
    bank = dispatch(mm.DMM(4, 3))
    assert (bank.places, bank.stages) == ((0, 3, 2, 1), (0, 0, 0, 0))
    assert (bank.time, bank.completion) == (0, 0 + 1 + 3 - 1)
    # Groups in ascending order: 0, 1, 2.
    group = dispatch(mm.UMM(4, 3))
    assert (group.places, group.stages) == ((0, 1, 0, 2), (0, 1, 0, 2))
    assert (group.stage_count, group.completion) == (3, 0 + 3 + 3 - 1)


def test_stages_fill_in_ascending_order_of_addresses():
    @mm.program
    def backwards(T, a):
        a[12 - T.id * 4] = T.id

    for machine in (mm.DMM(4, 1), mm.UMM(4, 1)):
        run = machine.run(backwards, np.zeros(13, int), threads=4, trace=True)
        (dispatch,) = run.trace.dispatches
        assert dispatch.addresses == (12, 8, 4, 0)
        assert dispatch.stages == (3, 2, 1, 0)
        # The stage that goes first is address 0's, thread 3's.
        first = next(run.trace.cycles()).registers["memory"][0]
        assert (first.dispatch, first.warp, first.number) == (0, 0, 0)
        assert first.requests == ((3, 0),)


def test_merged_requests_travel_together():
    @mm.program
    def pairs(T, a):
        a[4 * (T.id % 2)]

    run = mm.DMM(4, 1).run(pairs, np.zeros(5), threads=4, trace=True)
    (dispatch,) = run.trace.dispatches
    assert dispatch.stages == (0, 1, 0, 1)
    travelling = [cycle.registers["memory"][0] for cycle in run.trace.cycles()]
    assert travelling[0].requests == ((0, 0), (2, 0))
    assert travelling[1].requests == ((1, 4), (3, 4))
    assert travelling[2] is None


@both_schedules
def test_only_active_lanes_are_reported(schedule):
    @mm.program
    def odd(T, a):
        if T.id % 2:
            a[T.id] = 10 * T.id

    run = mm.DMM(4, 3).run(odd, np.zeros(6, int), threads=6, schedule=schedule, trace=True)
    assert [(d.threads, d.values) for d in run.trace.dispatches] == [
        ((1, 3), (10, 30)),
        ((5,), (50,)),
    ]


@both_schedules
def test_elements_are_the_programs_and_addresses_the_layouts(schedule):
    a = mm.place(np.arange(4).reshape(2, 2), mm.layout.Diagonal(2))

    @mm.program
    def row_one(T, a):
        a[1, T.id]

    run = mm.DMM(2, 1).run(row_one, a, threads=2, schedule=schedule, trace=True)
    (dispatch,) = run.trace.dispatches
    assert (dispatch.elements, dispatch.addresses) == ((2, 3), (3, 2))  # row 1 rotated by 1


@both_schedules
def test_a_shared_access_says_whose_copy_it_is(schedule):
    run = mm.HMM(2, 2, 2).run(
        reverse,
        np.arange(6),
        np.zeros(6, int),
        threads=6,
        block_size=2,
        schedule=schedule,
        trace=True,
    )
    shared = [d for d in run.trace.dispatches if d.array == "s"]
    assert {(d.warp, d.copy, d.unit) for d in shared} == {
        (0, 0, "shared[0]"),
        (1, 1, "shared[1]"),
        (2, 2, "shared[0]"),
    }
    assert {d.copy for d in run.trace.dispatches if d.array != "s"} == {0}


@both_schedules
def test_values_are_those_that_were_read_or_sent(schedule):
    run = mm.DMM(2, 1).run(
        copy, np.array([1.5, -0.0]), np.zeros(2), threads=2, schedule=schedule, trace=True
    )
    assert [(d.kind, d.values) for d in run.trace.dispatches] == [
        ("read", (1.5, -0.0)),
        ("write", (1.5, -0.0)),
    ]


# ------------------------------------------------------------------ waits and barriers


def test_arrivals_releases_and_the_waits_between():
    run = mm.DMM(2, 3).run(meet, np.zeros(4, int), threads=4, schedule="asynchronous", trace=True)
    read, door, write = (line_of(run, text) for text in ("a[0]", "T.barrier()", "a[T.id] = T.id"))
    # Warp 0 reads at 0 until 3, warp 1 is at the barrier from 0 on; then 1 (0 was last), then 0.
    assert run.trace.arrivals == (Arrival(0, 1, 0, door), Arrival(3, 0, 0, door))
    assert run.trace.releases == (Release(3, 0, (0, 1)),)
    assert [wait for wait in run.trace.waits if wait.warp == 0] == [
        Wait(0, "latency", 0, 3, "memory", read),
        Wait(0, "turn", 3, 4, "memory", write),
        Wait(0, "latency", 4, 7, "memory", write),
    ]
    assert [wait for wait in run.trace.waits if wait.warp == 1] == [
        Wait(1, "barrier", 0, 3, None, door),
        Wait(1, "latency", 3, 6, "memory", write),
    ]


def test_each_block_has_its_own_releases():
    run = mm.DMM(2, 3).run(
        meet, np.zeros(8, int), threads=8, block_size=4, schedule="asynchronous", trace=True
    )
    assert run.trace.releases == (Release(0, 1, (2, 3)), Release(3, 0, (0, 1)))


def test_lock_step_knows_no_barriers_and_waits_for_the_round():
    run = mm.DMM(2, 3).run(meet, np.zeros(4, int), threads=4, trace=True)
    assert run.trace.arrivals == run.trace.releases == ()
    # Warp 1 has no part in the first round, 0..3; the second is 3..7.
    assert waits(run, 1) == [
        ("round", 0, 3, None),
        ("turn", 3, 4, "memory"),
        ("latency", 4, 7, "memory"),
    ]


@mm.program
def busy(T, a, b):
    s = mm.shared(8)
    if T.warp % 3 == 1:
        return
    s[T.index] = a[3 * T.id % 24]
    T.barrier()
    for k in range(T.id % 3):
        b[(T.id * 5 + k) % 24] = s[(T.index * 2 + k) % 8]
    if T.block == 0:
        T.barrier()
    b[0] = T.id


ARRAYS, HOW = (np.arange(24), np.zeros(24, int)), {"threads": 22, "block_size": 8}


def tiles(trace):
    """That each warp is in exactly one wait at every time unit from 0 until it ends."""
    for warp in {wait.warp for wait in trace.waits}:
        own = [wait for wait in trace.waits if wait.warp == warp]
        assert own[0].start == 0
        assert all(one.end == next_.start for one, next_ in pairwise(own))
        last = [d.completion for d in trace.dispatches if d.warp == warp]
        last += [release.time for release in trace.releases if warp in release.warps]
        if trace.schedule == "synchronous":  # until the end of the last round that it lives to see
            assert max(last, default=0) <= own[-1].end <= trace.time
        else:
            assert own[-1].end == max(last)
    assert all(wait.start < wait.end for wait in trace.waits)
    if trace.schedule == "asynchronous":
        # Every dispatch is there as its latency, every time in between as a turn.
        assert {(d.warp, d.time, d.completion, d.unit, d.line) for d in trace.dispatches} == {
            (w.warp, w.start, w.end, w.unit, w.line) for w in trace.waits if w.reason == "latency"
        }


@both_schedules
@all_machines
@pytest.mark.parametrize("program", [busy, copy], ids=lambda program: program.name)
def test_every_live_warp_is_in_exactly_one_wait(machine, schedule, program):
    run = machine.run(program, *ARRAYS, **HOW, schedule=schedule, trace=True)
    tiles(run.trace)
    for cycle in run.trace.cycles():
        waiting = [wait.warp for wait in cycle.waiting]
        assert len(waiting) == len(set(waiting))
        assert all(wait.start <= cycle.time < wait.end for wait in cycle.waiting)
        if schedule == "synchronous":
            ends = {wait.warp: wait.end for wait in run.trace.waits}
            assert sorted(waiting) == [warp for warp in range(6) if cycle.time < ends.get(warp, 0)]


class Diary(Listener):
    """Notes what the event engine says of each dispatch and barrier, which a trace computes."""

    def __init__(self):
        self.turns, self.stays, self.stages = [], [], []

    def dispatched(self, access, unit, ready, stages):
        warp, time = access.of_lane(access.warps, 0), access.of_lane(access.times, 0)
        self.stages.append(stages)
        if ready < time:
            self.turns.append((warp, ready, time, unit.name))

    def released(self, block, stays, time):
        self.stays += [(one.warp, one.since, time) for one in stays if one.since < time]


@both_schedules
@pytest.mark.parametrize("machine", [mm.DMM(4, 3), mm.UMM(4, 1), mm.HMM(2, 4, 3)], ids=str)
@pytest.mark.parametrize("program", [busy, copy], ids=lambda program: program.name)
def test_stages_and_waits_that_follow_are_those_of_the_engine(machine, schedule, program):
    launch = Launch(machine, program, ARRAYS, 22, 8, schedule, 100)
    records, diary = recorder.Recorder(launch), Diary()
    driver = events.driver_of(launch, records, diary)
    events.drive(driver)
    trace = events.trace_of(driver, records, driver.now)
    waits = [(one.warp, one.start, one.end, one.unit) for one in trace.waits]
    turns = [one for one, wait in zip(waits, trace.waits, strict=True) if wait.reason == "turn"]
    stays = [
        one[:3] for one, wait in zip(waits, trace.waits, strict=True) if wait.reason == "barrier"
    ]
    assert turns == sorted(diary.turns, key=lambda one: (one[1], one[0]))
    assert turns
    assert stays == sorted(diary.stays, key=lambda one: (one[1], one[0]))
    assert [one.stage_count for one in trace.dispatches] == diary.stages


def test_a_warp_that_has_ended_waits_for_nothing():
    @mm.program
    def early(T, a):
        if T.warp == 0:
            return
        a[T.id]
        a[T.id]

    run = mm.DMM(4, 2).run(early, np.zeros(8), threads=8, trace=True)
    assert {wait.warp for wait in run.trace.waits} == {1}


# ------------------------------------------------------------------ cycle by cycle


def replays(run):
    """That the cycles are what the dispatches say, register by register, and end in the result."""
    trace = run.trace
    cycles = list(trace.cycles())
    assert [cycle.time for cycle in cycles] == list(range(run.time + 1))
    for unit in trace.units:
        # Stage k of a dispatch at t is in register j during t + k + j, and nothing else is there.
        expected = {}
        for number, dispatch in enumerate(trace.dispatches):
            if dispatch.unit == unit.name:
                for stage in range(dispatch.stage_count):
                    for j in range(unit.latency):
                        place = dispatch.time + stage + j, j
                        assert place not in expected
                        expected[place] = number, stage
        found = {
            (cycle.time, j): (stage.dispatch, stage.number)
            for cycle in cycles
            for j, stage in enumerate(cycle.registers[unit.name])
            if stage is not None
        }
        assert found == expected
        for before, after in pairwise(cycles):
            assert after.registers[unit.name][1:] == before.registers[unit.name][:-1]
    assert [d for cycle in cycles for d in cycle.dispatched] == list(trace.dispatches)
    assert [d for cycle in cycles for d in cycle.completed] == list(trace.completions)
    assert all(d.time == cycle.time for cycle in cycles for d in cycle.dispatched)
    assert all(d.completion == cycle.time for cycle in cycles for d in cycle.completed)
    for name, array in run.arrays.items():
        last = cycles[-1].memory[name]
        assert (last.dtype, last.shape) == (array.dtype, array.shape)
        assert last.tobytes() == array.tobytes()


def test_numbers_without_a_sign_are_saved():
    @mm.program
    def number(T, a):
        T.barrier()
        u = mm.uint64(0)

    run = mm.DMM(2, 1).run(number, np.zeros(2, int), threads=2, trace=True)
    assert mm.Run.from_json(run.to_json()) == run


@both_schedules
@settings(max_examples=draws(15))
@given(case=cases())
def test_cycles_of_random_programs(case, schedule):
    run = run_case(case, schedule, trace=True)
    replays(run)
    tiles(run.trace)
    assert mm.Run.from_json(run.to_json()) == run  # and each dispatch is as soon as it can be


@both_schedules
def test_memory_within_a_time_unit_follows_the_rules_of_writing(schedule):
    @mm.program
    def clash(T, a):
        a[T.id // 4] = T.id

    run = mm.DMM(2, 1).run(clash, np.full(1, -1), threads=4, schedule=schedule, trace=True)
    # Warp 0 at 0: thread 0 wins. Warp 1 at 1: later, thread 2 wins.
    assert [cycle.memory["a"].tolist() for cycle in run.trace.cycles()] == [[0], [2], [2]]


def test_each_cycle_is_data_of_its_own():
    run = mm.DMM(2, 1).run(copy, np.arange(4), np.zeros(4, int), threads=4, trace=True)
    first, *_, last = run.trace.cycles()
    assert first.memory["b"].tolist() == [0, 0, 0, 0]
    assert last.memory["b"].tolist() == [0, 1, 2, 3]
    for cycle in run.trace.cycles():
        cycle.memory["b"][:] = 99
        cycle.registers.clear()
    assert run.arrays["b"].tolist() == [0, 1, 2, 3]
    *_, last = run.trace.cycles()
    assert last.memory["b"].tolist() == [0, 1, 2, 3]
    assert last.registers == {"memory": (None,)}


def test_memory_at_the_start():
    run = mm.HMM(2, 2, 2).run(
        reverse, np.arange(4), np.ones(4, int), threads=4, block_size=2, trace=True
    )
    start = {array.name: (array.shape, array.shared, array.units) for array in run.trace.arrays}
    assert start == {
        "a": ((4,), False, ("global",)),
        "b": ((4,), False, ("global",)),
        "s": ((2,), True, ("shared[0]", "shared[1]")),
    }
    assert [array.data.tolist() for array in run.trace.arrays] == [
        [[0, 1, 2, 3]],
        [[1, 1, 1, 1]],
        [[0, 0], [0, 0]],
    ]


@both_schedules
def test_nothing_happens_in_a_program_without_accesses(schedule):
    @mm.program
    def idle(T, a):
        x = T.id

    trace = mm.UMM(2, 2).run(idle, np.arange(4), threads=4, schedule=schedule, trace=True).trace
    assert trace.dispatches == trace.waits == ()
    (only,) = trace.cycles()
    assert only.registers == {"memory": (None, None)}
    assert only.memory["a"].tolist() == [0, 1, 2, 3]


# ------------------------------------------------------------------ only when asked for


@pytest.mark.parametrize(
    ("how", "recorded"),
    [
        ({}, False),
        ({"engine": "events"}, True),
        ({"trace": True}, True),
        ({"trace": False}, False),
        ({"engine": "events", "trace": False}, False),
        ({"engine": "events", "trace": True}, True),
    ],
)
@both_schedules
def test_when_a_trace_is_recorded(how, recorded, schedule):
    run = mm.DMM(2, 1).run(copy, np.arange(4), np.zeros(4), threads=4, schedule=schedule, **how)
    assert (run.record is not None) == recorded
    if not recorded:
        with pytest.raises(mm.MMSimError, match=r"'copy' has no trace; .*trace=True"):
            run.trace


@both_schedules
def test_without_a_trace_nothing_is_recorded(schedule, monkeypatch):
    def never(*_, **__):
        raise AssertionError("recorded without being asked")

    monkeypatch.setattr(events, "Recorder", never)
    monkeypatch.setattr(asynchronous, "Access", never)
    monkeypatch.setattr(synchronous, "Access", never)
    mm.HMM(2, 4, 3).run(busy, *ARRAYS, **HOW, schedule=schedule)
    with pytest.raises(AssertionError):
        mm.HMM(2, 4, 3).run(busy, *ARRAYS, **HOW, schedule=schedule, trace=True)


@both_schedules
def test_a_trace_is_made_once_when_it_is_first_looked_at(schedule, monkeypatch):
    made = []
    real = recorder.Recorder._trace
    monkeypatch.setattr(recorder.Recorder, "_trace", lambda *args: made.append(args) or real(*args))
    how = {**HOW, "schedule": schedule, "trace": True}
    run = mm.HMM(2, 4, 3).run(busy, *ARRAYS, **how)
    assert not made
    again = pickle.loads(pickle.dumps(run))
    assert again == run
    assert again.trace.dispatches == run.trace.dispatches
    assert len(made) == 1
    with pytest.raises(AttributeError, match="no attribute 'dispatch'"):
        run.trace.dispatch
    report = mm.HMM(2, 4, 3).check(busy, *ARRAYS, **how)
    assert report.trace.changes == report.run.trace.changes == run.trace.changes
    assert len(made) == 2
