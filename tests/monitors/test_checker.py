"""The checker's rules, one by one, compared with a search of the whole trace."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

import mmsim as mm
from mmsim.api.report import Report
from mmsim.errors import FormatError, LaunchError, MMSimError
from mmsim.meaning.launch import Launch
from mmsim.monitors.winners import write_otherwise
from mmsim.results import Finding, FoundAccess
from mmsim.results.findings import ADVICE, DOES, RACES, TITLES
from tests.kit.generators.draws import draws
from tests.kit.generators.race_free_programs import orderly_cases
from tests.kit.generators.random_programs import cases, run_case
from tests.kit.planted.pair import ends, parts, zeros
from tests.kit.runs.paths import SCHEDULES, both_engines, both_schedules
from tests.kit.runs.programs import copy

DMM = mm.DMM(width=4, latency=3)
HMM = mm.HMM(dmms=2, width=4, global_latency=5)
many = settings(max_examples=draws(8))


def check(program, *args, machine=DMM, threads=8, **options):
    return machine.check(program, *args, threads=threads, **options)


def one(report):
    (finding,) = report.findings
    return finding


def lines(program, finding):
    """The text of the lines of a finding."""
    (source,) = program.code.sources
    return [source.lines[line - source.first].strip() for line in finding.lines]


@mm.program
def fold(T, a, n):
    a[T.id % n] = T.id


# ------------------------------------------------------------------ what is asked for


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"unset": ["c"]}, "unset='c', but 'copy' has no such array parameter; it has a, b"),
        ({"unset": "b2"}, "unset='b2', but"),
        ({"unset": [3]}, "unset=3, but"),
        ({"shared_words": 0}, "shared_words=0, but it must be at least 1"),
        ({"shared_words": 1.5}, "shared_words must be a whole number, not 1.5"),
        ({"shared_words": True}, "shared_words must be a whole number, not True"),
        ({"schedule": "both"}, "schedule='both', but schedule must be"),
        ({"threads": 0}, "threads=0, but it must be at least 1"),
        ({"max_accesses": 0}, "max_accesses=0, but it must be at least 1"),
    ],
)
def test_what_is_asked_for_must_make_sense(options, text):
    with pytest.raises(LaunchError, match=re.escape(text)):
        check(copy, zeros(8), zeros(8), **options)


def test_one_name_may_stand_alone():
    @mm.program
    def several(T, a, b, ab):
        ab[T.id] += a[T.id] + b[T.id]

    report = check(several, zeros(8), zeros(8), zeros(8), unset="ab")
    assert [finding.array for finding in report.findings] == ["ab"]


@both_schedules
def test_a_checked_run_is_the_run_and_the_arguments_stay(schedule):
    for program, args in ((copy, (np.arange(8), zeros(8))), (fold, (zeros(8), 3))):
        report = check(program, *args, schedule=schedule)
        plain = DMM.run(program, *args, threads=8, schedule=schedule, engine="events", trace=False)
        assert replace(report.run, findings=None) == plain
        assert report.time == plain.time
        assert all((arg == 0).all() for arg in args[1:] if isinstance(arg, np.ndarray))
    assert (args[0] == 0).all()


def test_a_trace_is_kept_on_demand_up_to_the_error():
    @mm.program
    def outside(T, a, b):
        b[T.id] = a[T.id]
        b[T.id + 8] = 1

    args = np.arange(8), zeros(8)
    report = check(outside, *args, schedule="asynchronous", trace=True)
    assert report.run is None
    assert report.time == report.trace.time == one(report).times[0]
    assert {dispatch.array for dispatch in report.trace.dispatches} == {"a", "b"}
    with pytest.raises(MMSimError, match="has no trace; give it trace=True"):
        check(copy, *args).trace


# ------------------------------------------------------------------ reads of nothing


@both_schedules
@many
@given(case=cases())
def test_unwritten_reads_are_those_of_the_trace(schedule, case):
    """Of every program, racy ones too: line by line the elements read before they were written."""
    run = run_case(case, schedule, engine="events", trace=True, check=True)
    shared = {array.name for array in run.trace.arrays if array.shared}
    written, read = set(), {}
    for dispatch in run.trace.dispatches:
        for thread, element in zip(dispatch.threads, dispatch.elements, strict=True):
            cell = dispatch.array, dispatch.copy, element
            if dispatch.kind != "write" and dispatch.array in shared and cell not in written:
                key = dispatch.array, dispatch.line, dispatch.kind
                read.setdefault(key, []).append((dispatch.copy, element, thread))
        if dispatch.kind != "read":
            written |= {(dispatch.array, dispatch.copy, one) for one in dispatch.elements}
    found = {
        (finding.array, finding.lines[0], finding.accesses[0].kind): finding
        for finding in run.findings
        if finding.kind == "unwritten"
    }
    racing = {
        (finding.array, access.line, access.kind)
        for finding in run.findings
        if finding.kind in RACES
        for access in finding.accesses
    }
    shapes = {array.name: array.shape for array in run.trace.arrays}
    assert found.keys() == read.keys() - racing
    for (array, line, kind), finding in found.items():
        copy, element, thread = min(read[array, line, kind])
        assert finding.copy == copy
        assert finding.index == np.unravel_index(element, shapes[array])
        assert finding.threads == (thread,)
        assert finding.elements == len({cell[:2] for cell in read[array, line, kind]})


@both_schedules
@many
@given(case=orderly_cases())
def test_orderly_programs_have_no_finding_but_reads_of_nothing(schedule, case):
    """Nothing races in them and all come to their barriers; shared arrays may be read too early.

    Lanes of a warp may lack a sync, which only a GPU needs.
    """
    run = run_case(case, schedule, check=True)
    within_a_warp = {"warp-sync"} if schedule == "asynchronous" else set()
    assert {one.kind for one in run.findings} <= {"unwritten", "lost-update", *within_a_warp}
    unwritten = [finding for finding in run.findings if finding.kind == "unwritten"]
    assert all(finding.copy is not None for finding in unwritten)


def test_a_write_counts_from_its_dispatch_on_and_for_its_own_block():
    @mm.program
    def half(T, b):
        s = mm.shared(4, dtype=int)
        if T.block == 0:
            s[T.index] = 1
        b[T.id] = s[T.index]

    found = one(check(half, zeros(8), machine=HMM, block_size=4))
    assert (found.copy, found.index, found.threads, found.elements) == (1, (0,), (4,), 4)


def test_a_read_in_a_race_is_reported_once():
    @mm.program
    def early(T, b):
        s = mm.shared(8, dtype=int)
        s[T.index] = 1
        b[T.id] = s[7 - T.index]
        s[(T.index + 1) % 4]

    @mm.program
    def two_lines(T, b):
        s = mm.shared(9, dtype=int)
        s[T.index] = 1
        b[T.id] = s[7 - T.index]
        s[8]

    kinds = [f.kind for f in check(early, zeros(8), schedule="asynchronous").findings]
    assert kinds.count("unwritten") == 0
    report = check(two_lines, zeros(8), schedule="asynchronous")
    assert [(f.kind, f.element) for f in report.findings] == [
        ("race", "s[0] of block 0"),
        ("unwritten", "s[8] of block 0"),
    ]


# ------------------------------------------------------------------ barriers


@mm.program
def some_leave(T, a):
    if T.id == 0:
        return
    T.barrier()
    a[T.id] = 1
    if T.warp == 1:
        T.barrier()  # more


def test_threads_that_have_returned_are_neither_waited_for_nor_said_to_wait():
    @mm.program
    def all_but_one(T, a):
        if T.id == 0 or T.warp == 1:
            return
        T.barrier()
        a[T.id] = 1

    for schedule in SCHEDULES:
        assert check(all_but_one, zeros(8), schedule=schedule).ok
    report = check(some_leave, zeros(8), schedule="asynchronous")
    finding = one(report)
    assert finding.threads == (4, 1)  # thread 0 isn't there any more
    assert lines(some_leave, finding) == ["T.barrier()  # more", "a[T.id] = 1"]


@both_schedules
def test_blocks_have_barriers_of_their_own(schedule):
    @mm.program
    def first_block_only(T, a):
        if T.block == 0:
            T.barrier()
        a[T.id] = 1

    @mm.program
    def all_blocks(T, a):
        if T.index < 4:
            T.barrier()
        a[T.id] = 1

    args = {"threads": 16, "block_size": 8, "schedule": schedule}
    assert check(first_block_only, zeros(16), **args).ok
    found = one(check(all_blocks, zeros(16), **args))
    assert (found.kind, found.threads[0], found.elements) == ("barrier", 0, 2)


def test_a_barrier_counts_each_time_it_is_missed():
    @mm.program
    def three_times(T, a):
        for k in range(3):
            a[T.id] = k
            if T.warp == 0:
                T.barrier()

    found = one(check(three_times, zeros(8), schedule="synchronous"))
    assert found.elements == 3
    # Warp by warp the second warp ends next to the first of the three; it is waited for no more.
    found = one(check(three_times, zeros(8), schedule="asynchronous"))
    assert (found.elements, found.accesses[1].kind) == (1, "end")


@both_schedules
@both_engines
def test_who_has_passed_a_barrier_was_last_there(schedule, engine):
    @mm.program
    def one_more(T, a):
        a[T.id] = 1
        T.barrier()
        if T.warp == 1:
            T.barrier()  # the second

    run = DMM.run(one_more, zeros(8), threads=8, schedule=schedule, engine=engine, check=True)
    (finding,) = run.findings
    assert finding.threads == (4, 0)
    assert lines(one_more, finding) == ["T.barrier()  # the second", "T.barrier()"]


# ------------------------------------------------------------------ deadlocks


def waiting(program, *args, threads=8, **options):
    report = check(program, *args, threads=threads, max_accesses=400, **options)
    assert report.run is None
    return one(report)


def test_a_reader_of_before_is_not_said_to_wait():
    @mm.program
    def read_once(T, flag, a):
        if T.warp == 1:
            a[0]
        else:
            while flag[0] == 0:
                pass

    assert waiting(read_once, zeros(1), zeros(1), schedule="asynchronous").threads == (0,)


@both_schedules
def test_a_program_that_changes_memory_on_and_on_is_no_deadlock(schedule):
    @mm.program
    def counting(T, a):
        while a[T.id] >= 0:
            a[T.id] += 1

    @mm.program
    def writes_the_same(T, a):
        a[T.id]
        while True:
            a[T.id] = 0

    for most in range(400, 406):  # wherever in its loop it is ended
        report = check(counting, zeros(8), schedule=schedule, max_accesses=most)
        assert one(report).kind == "endless"
        assert f"no end after max_accesses={most}" in one(report).note
    assert waiting(writes_the_same, zeros(8), schedule=schedule).kind == "endless"


def test_a_wait_that_ends_is_no_deadlock():
    @mm.program
    def in_time(T, flag):
        if T.id == 0:
            for k in range(20):
                flag[1] = k
            flag[0] = 1
        elif T.warp == 1:
            while flag[0] == 0:
                pass

    report = check(in_time, zeros(2), schedule="asynchronous", max_accesses=400)
    assert {finding.kind for finding in report.findings} == {"race"}


@mm.program
def long_sum(T, a, b):
    total = 0
    for i in range(a.size):
        total += a[i]
    b[T.id] = total


@mm.program
def all_pairs(T, a, b):
    total = 0
    for i in range(a.size):
        for j in range(a.size):
            total += a[i] * a[j]
    b[T.id] = total


@mm.program
def list_to_its_end(T, a, b):
    i = 0
    while a[i] != i:
        i = a[i]
    b[T.id] = i


@both_schedules
@pytest.mark.parametrize("program", [long_sum, all_pairs, list_to_its_end])
def test_who_reads_on_for_long_does_not_wait(program, schedule):
    a = np.append(np.arange(1, 200), 199)
    finding = waiting(program, a, zeros(8), schedule=schedule)
    assert finding.kind == "endless"
    assert check(program, a[-40:] - 160, zeros(8), schedule=schedule, max_accesses=10_000).ok


@pytest.mark.parametrize("zeroed", [0, 1])
def test_who_waits_for_one_with_long_work_waits_for_something(zeroed):
    @mm.program
    def sums_first(T, a, flag, zeroed):
        if T.warp == 0:
            for i in range(a.size):
                if zeroed:
                    a[i] = 0
                else:
                    a[i]
            flag[0] = 1
        else:
            while flag[0] == 0:
                pass

    options = {"schedule": "asynchronous"}
    assert waiting(sums_first, zeros(300), zeros(1), zeroed, **options).kind == "endless"


@both_schedules
def test_who_waits_for_any_of_several_waits(schedule):
    @mm.program
    def any_flag(T, flags, b):
        seen = 0
        while seen == 0:
            for k in range(flags.size):
                seen += flags[k]
        b[T.id] = 1

    finding = waiting(any_flag, zeros(3), zeros(8), schedule=schedule)
    assert (finding.kind, finding.array) == ("deadlock", "flags")


@pytest.mark.parametrize("dmms", [1, 2, 4])
def test_who_holds_a_lock_is_found_however_many_warps_wait_for_it(dmms):
    @mm.program
    def spins(T, lock):
        while mm.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        mm.atomic.exch(lock, 0, 0)

    options = {"threads": 32, "block_size": 8, "schedule": "asynchronous"}
    finding = waiting(spins, zeros(1), machine=mm.HMM(dmms, 4, 10), **options)
    assert (finding.kind, finding.threads) == ("spin", (1, 0))


# ------------------------------------------------------------------ winners


@both_schedules
@many
@given(case=cases())
def test_collisions_are_those_of_the_trace(schedule, case):
    """The lines of which `check` runs another winner: different values for one element."""
    from mmsim.engines.events.engine import drive, driver_of
    from mmsim.monitors.watch import Monitors

    run = run_case(case, schedule, engine="events", trace=True)
    expected = {}
    for dispatch in run.trace.dispatches:
        if dispatch.kind != "write":
            continue
        stored = {}
        requests = zip(dispatch.threads, dispatch.elements, dispatch.values, strict=True)
        for thread, element, value in sorted(requests, key=lambda request: request[0]):
            winner, kept = stored.setdefault(element, (thread, value))
            if np.asarray(kept).tobytes() != np.asarray(value).tobytes():
                key = dispatch.array, dispatch.line
                loser = dispatch.copy, element, winner, thread
                expected.setdefault(key, []).append(loser)
    launch = Launch(
        run.machine,
        case.program,
        case.arguments,
        run.threads,
        run.block_size,
        schedule,
        100_000,
        run.shape,
    )
    monitors = Monitors(launch, thorough=True)
    drive(driver_of(launch, monitors))
    found = {}
    for line in monitors.concurrent_writes.found.first:
        finding = monitors.concurrent_writes.finding(line, "")
        found[finding.array, finding.lines[0]] = finding
    assert found.keys() == expected.keys()
    for key, finding in found.items():
        copy, element, winner, loser = min(expected[key])
        shape = launch.arrays[finding.array].shape
        assert (finding.copy or 0, finding.threads) == (copy, (winner, loser))
        assert finding.index == np.unravel_index(element, shape)
        assert finding.elements == len({lost[:2] for lost in expected[key]})


@mm.program
def anything(T, a, values):
    a[0] = values[T.id]


@pytest.mark.parametrize(
    ("values", "kept", "other"),
    [
        ([1, 2, 3, 4], 1, 2),
        ([1, 1, 3, 2], 1, 3),
        ([5, 5, 5, 6], 5, 6),
        ([1 + 0j, 1 + 0j, 1 + 0.5j, 1 + 0j], 1 + 0j, 1 + 0.5j),
    ],
)
def test_another_winner_is_the_lowest_thread_with_another_value(values, kept, other):
    given = np.array(values)
    found = one(check(anything, np.zeros(1, given.dtype), given, threads=4))
    assert found.note == f"a[0] ends as {kept}, but as {other} if the other's stays"
    assert found.threads == (0, values.index(other))


@pytest.mark.parametrize(("other", "kept"), [("lowest", [5, 3, 9]), ("highest", [6, 3, 9])])
@pytest.mark.parametrize(
    ("name", "blocks", "copy"), [("a", 0, 0), ("s", 0, 0), ("s", 1, 1), ("s", np.array([1] * 7), 1)]
)
def test_each_warp_has_another_winner_and_blocks_their_own(name, blocks, copy, other, kept):
    @mm.program
    def own(T, a):
        s = mm.shared(4, dtype=int)
        s[T.index] = a[T.id]

    launch = Launch(DMM, own, (zeros(8),), 8, 4, "synchronous", 100)
    array = launch.arrays[name]
    array.data[:] = 9
    elements, values = np.array([0, 0, 1, 1, 0, 0, 0]), np.array([1, 2, 3, 3, 4, 5, 6])
    warps = np.array([0, 0, 0, 0, 1, 1, 1])
    write_otherwise(array, elements, blocks, values, warps, other)
    assert array.data[copy, :3].tolist() == kept
    assert (np.delete(array.data, copy, 0) == 9).all()


@pytest.mark.parametrize(("blocks", "firsts"), [(0, None), (np.array([0, 0, 0]), np.array([0]))])
@pytest.mark.parametrize("backwards", [False, True])
def test_the_lowest_stays_in_whatever_order_a_write_is_reported(blocks, firsts, backwards):
    """Views that run backwards too: NumPy turns such around, and with them who is last."""

    @mm.program
    def own(T, a):
        s = mm.shared(4, dtype=int)
        s[T.index] = a[T.id]

    array = Launch(DMM, own, (zeros(8),), 8, 4, "synchronous", 100).arrays["s"]
    elements, values = np.array([2, 2, 2]), np.array([4, 5, 6])
    if backwards:
        elements, values = elements[::-1], values[::-1].copy()[::-1]
        blocks = blocks if isinstance(blocks, int) else blocks[::-1]
    array.write(elements, blocks, values, firsts)
    assert array.data[0, 2] == 4


@mm.program
def is_it(T, a, values, wanted):
    s = mm.shared(1, dtype=int)
    s[0] = values[T.index]
    T.barrier()
    if T.index == 0 and s[0] == wanted[0]:
        a[0] = 1


@both_schedules
def test_a_third_competitor_wins_too(schedule):
    """Of another value than the rule's, the lowest-numbered thread wins, and the highest."""
    for wanted, whose in ((2, "the other's"), (4, "the last other's"), (5, None)):
        arguments = zeros(1), np.array([1, 2, 3, 4, 1]), np.array([wanted])
        report = check(is_it, *arguments, threads=4, schedule=schedule)
        if whose is None:
            assert report.ok
        else:
            assert one(report).note == f"a[0] ends as 0, but as 1 if {whose} stays"


@mm.program
def least_of_three(T, a):
    s = mm.shared(4, dtype=int)
    s[0] = T.index
    s[1] = T.index
    s[2] = T.index
    T.barrier()
    if T.index == 0:
        a[0] = min(s[0], s[2])


@mm.program
def three_mistakes(T, a, known):
    s = mm.shared(3, dtype=int)
    s[0] = T.index
    s[1] = T.index
    s[2] = T.index
    T.barrier()
    if T.index == 0:
        a[0] = known[min(s[0], s[1], s[2])]


@both_schedules
def test_winners_that_matter_only_together(schedule):
    """None of the lines makes a difference alone, nor a line that isn't named with the others."""
    found = one(check(least_of_three, zeros(1), threads=4, schedule=schedule))
    line = found.lines[0]
    at_once = f"(in lines {line}, {line + 2} together)"
    assert found.note == f"a[0] ends as 0, but as 1 if the other's stays {at_once}"
    found = one(check(three_mistakes, zeros(1), zeros(1), threads=4, schedule=schedule))
    line = found.lines[0]
    assert found.note.startswith("if the other's stays, ")
    assert found.note.endswith(f" (in lines {line}, {line + 1}, {line + 2} together)")


@both_schedules
def test_equal_or_overwritten_values_do_not_matter(schedule):
    @mm.program
    def overwritten(T, a):
        a[0] = T.lane
        T.barrier()
        a[0] = 7

    @mm.program
    def equal(T, a):
        a[0] = 3.0

    assert check(overwritten, zeros(1), schedule=schedule).ok
    assert check(equal, np.zeros(1), schedule=schedule).ok
    stored = np.array([0.1, 0.1 + 1e-12, 0.1, 0.1])
    assert check(anything, np.zeros(1, np.float32), stored, threads=4, schedule=schedule).ok
    assert not check(anything, np.zeros(1), stored, threads=4, schedule=schedule).ok


def test_a_winner_counts_by_bits():
    for values in ([0.0, -0.0], [np.nan, 1.0]):
        found = one(check(anything, np.zeros(1), np.array(values), threads=2))
        assert found.kind == "winner"


# ------------------------------------------------------------------ room and placement


@mm.program
def two_arrays(T, a):
    x = mm.shared(3, dtype=int)
    y = mm.shared(4, dtype=int)
    x[T.index % 3] = 0
    y[T.index] = 0
    a[T.id] = x[T.index % 3] + y[T.index]


@pytest.mark.parametrize(
    ("machine", "needed", "first"),
    [
        (mm.HMM(2, 4, 5), 16, "x of block 2"),  # blocks 0 and 2 on one DMM, each 4 + 4 words
        (mm.HMM(4, 4, 5), 8, None),
        (mm.DMM(4, 3), 24, "x of block 1"),  # all three in the one memory, parameters aside
    ],
)
def test_shared_memory_is_what_the_blocks_of_a_dmm_need(machine, needed, first):
    options = {"machine": machine, "threads": 12, "block_size": 4}
    assert check(two_arrays, zeros(12), shared_words=needed, **options).ok
    short = check(two_arrays, zeros(12), shared_words=8, **options)
    assert short.ok == (first is None)
    if first is not None:
        finding = one(short)
        assert finding.element == first
        assert f"need {needed} words of it, and there are 8" in finding.note


def test_a_layout_of_another_width_is_reported_and_run_all_the_same():
    args = mm.place(zeros(2, 8), mm.layout.Diagonal(8)), mm.place(zeros(4, 4), mm.layout.RAP(4))

    @mm.program
    def moved(T, a, b):
        b[T.id // 4, T.id % 4] = a[T.id // 8, T.id % 8]

    report = check(moved, *args, threads=16)
    assert one(report).array == "a"
    assert report.run is not None
    assert check(moved, zeros(2, 8), args[1], threads=16).ok


# ------------------------------------------------------------------ what is said


def at(action, line=12, time=5, thread=0):
    return FoundAccess(thread, 0, action, "work", "file.py", line, time)


FIRST, SECOND = at("write"), at("read", 13, 9, 4)


def found(kind, element, *accesses, **more):
    return Finding(kind, *parts(element), accesses, **more)


@pytest.mark.parametrize(
    ("finding", "text"),
    [
        (
            found("race", "a[3]", FIRST, SECOND, scope="interval"),
            "data race on a[3]: thread 0 writes it at time 5 (work, line 12) and thread 4 reads it "
            "at time 9 (work, line 13) in one barrier interval, in no order; put T.barrier() "
            "between the two, in a loop also between two iterations",
        ),
        (
            found("unwritten", "s[1,2] of 3", SECOND, elements=2),
            "read of uninitialized memory, s[1, 2] of block 3: thread 4 reads it at time 9 "
            "(work, line 13) (and 1 more element); write it first; where another warp does, put "
            "T.barrier() between",
        ),
        (
            found("barrier", "", at("barrier"), at("elsewhere", 13, 9, 4), elements=3),
            "divergent barrier: thread 0 waits at a barrier at time 5 (work, line 12) and "
            "thread 4 is elsewhere since time 9 (work, line 13) (and 2 more barriers); move the "
            "barrier to a place that all threads of the block reach",
        ),
        (
            found("barrier", "", at("barrier"), at("end", 13, 9, 4)),
            "divergent barrier: thread 0 waits at a barrier at time 5 (work, line 12) and "
            "thread 4 has ended since time 9 (work, line 13); move the barrier to a place that all "
            "threads of the block reach",
        ),
        (
            found("winner", "a[0]", FIRST, at("write", thread=1), note=ends("a[0]", 1, 2)),
            "result that depends on which write wins, a[0]: thread 0 writes it at time 5 (work, "
            "line 12) and thread 1 writes it at time 5 (work, line 12): a[0] ends as 1, but as 2 "
            "if the other's stays; let one thread alone write it",
        ),
        (
            found("deadlock", "flag[0]", SECOND, at("waits", time=8), note="no thread changes it"),
            "deadlock, flag[0]: thread 4 reads it at time 9 (work, line 13) and thread 0 waits too "
            "at time 8 (work, line 12): no thread changes it; no order of the warps ends this "
            "wait: write before you wait, or wait at a barrier",
        ),
        (
            found("capacity", "s of 0", at("declaration", time=None), note="no room"),
            "too much shared memory, s of block 0: declared (work, line 12): no room; take "
            "smaller blocks, fewer of them on a DMM, or smaller shared arrays",
        ),
        (
            found("arithmetic", "", at("statement"), note="division by zero"),
            "operation without a value: thread 0 is here at time 5 (work, line 12): division by "
            "zero; test the operands first",
        ),
    ],
)
def test_what_a_finding_says(finding, text):
    assert str(finding) == text


def test_every_kind_has_a_title_and_advice_and_every_action_its_words():
    from typing import get_args

    from mmsim.results.findings import Action, FindingKind

    assert set(TITLES) == set(get_args(FindingKind)) == {*ADVICE, "race"}
    assert set(DOES) == set(get_args(Action))


def test_nothing_found_says_what_was_looked_for_under_which_schedule_and_what_was_not():
    lock_step = check(copy, zeros(8), zeros(8)).looked_for
    assert lock_step.startswith("Looked for in lock step (synchronous schedule): data races within")
    assert 'run independently, as on a GPU: pass schedule="asynchronous"; other' in lock_step
    independent = check(copy, zeros(8), zeros(8), schedule="asynchronous").looked_for
    assert "independently (asynchronous schedule): data races between warps and" in independent
    assert "missing syncs between the lanes of a warp" in independent
    assert "as on a GPU" not in independent
    for scope in (lock_step, independent):
        assert "deadlocks. Not looked for: " in scope
        assert "other arguments, other numbers of threads, and paths that were not taken" in scope


def test_a_report_says_how_much_was_found():
    report = check(copy, zeros(8), zeros(8))
    assert str(report) == repr(report)
    head, scope = str(report).splitlines()
    assert head == (
        "copy on DMM(width=4, latency=3), 8 threads in blocks of 8, synchronous: nothing found"
    )
    assert scope == report.looked_for
    assert scope in report._repr_html_().replace("&quot;", '"')
    assert json.loads(report.to_json())["looked_for"] == scope
    report = check(fold, zeros(8), 3, schedule="asynchronous")
    head, *numbered = str(report).splitlines()
    assert head.endswith(f"asynchronous: {len(report.findings)} findings")
    assert numbered == [f"{n}. {finding}" for n, finding in enumerate(report.findings, 1)]


def test_an_error_that_the_types_show_is_a_finding_too():
    @mm.program
    def half(T, a):
        a[T.id] = T.id / 2

    report = check(half, zeros(8), block_size=4)
    finding = one(report)
    assert (finding.kind, finding.array, report.time, report.run) == ("type", "a", 0, None)
    assert (report.threads, report.block_size) == (8, 4)
    assert lines(half, finding) == ["a[T.id] = T.id / 2"]
    assert Report.from_json(report.to_json()) == report


@both_schedules
@pytest.mark.parametrize("trace", [False, True])
def test_an_error_of_shapes_is_a_finding_too(schedule, trace):
    @mm.program
    def by_rows(T, a):
        _, columns = a.shape
        a[T.id // columns, T.id % columns] = 1

    report = check(by_rows, zeros(8), schedule=schedule, trace=trace)
    finding = one(report)
    assert (finding.kind, finding.array, finding.index) == ("out-of-range", "a", None)
    assert lines(by_rows, finding) == ["_, columns = a.shape"]
    assert (report.time, finding.threads, finding.times) == (0, (0,), (None,))
    with pytest.raises(MMSimError, match="an error that is found before any thread begins"):
        _ = report.trace


def test_an_index_that_is_no_whole_number_is_a_wrong_type():
    @mm.program
    def halves(T, a):
        a[T.id / 2] = 1

    finding = one(check(halves, zeros(8)))
    assert (finding.kind, finding.array, finding.index) == ("type", "a", None)


# ------------------------------------------------------------------ as JSON


@pytest.mark.parametrize("trace", [False, True])
def test_json_keeps_a_report(trace):
    for program, args in ((fold, (zeros(8), 3)), (copy, (zeros(8), zeros(7)))):
        report = check(program, *args, schedule="asynchronous", trace=trace)
        again = Report.from_json(report.to_json())
        assert again == report
        assert [f.times for f in again.findings] == [f.times for f in report.findings]
        assert (again.record is None) == (report.record is None) == (not trace)
        assert again.run == report.run
    assert report != check(fold, zeros(8), 3)
    assert report != "a report"


def test_a_report_of_counts_that_are_numpys_is_kept():
    @mm.program
    def lacks_an_axis(T, a):
        a[T.id] = a.shape[3]

    report = DMM.check(lacks_an_axis, zeros(8), threads=np.int64(8), block_size=np.int64(4))
    assert (report.time, report.threads, report.block_size) == (0, 8, 4)
    assert Report.from_json(report.to_json()) == report


def test_a_run_is_no_report():
    run = DMM.run(copy, zeros(8), zeros(8), threads=8)
    with pytest.raises(FormatError, match="this is a Run, not a Report"):
        Report.from_json(run.to_json())


@pytest.mark.parametrize(
    "arguments",
    [
        ("race", None, None, None, (FIRST,), "round"),
        ("race", None, None, None, (FIRST, SECOND), None),
        ("winner", None, None, None, (FIRST,)),
        ("endless", None, None, None, ()),
        ("endless", None, None, None, (FIRST, FIRST, FIRST)),
    ],
)
def test_a_finding_has_as_many_accesses_as_its_kind(arguments):
    with pytest.raises(ValueError, match="has"):
        Finding(*arguments)


# ------------------------------------------------------------ lock step, on both engines


@mm.program
def late(T, a, b):
    a[T.id] = 1
    a[T.id] = 2
    b[T.id % 3] = T.id
    if T.warp == 1:
        T.barrier()


@both_engines
def test_in_lock_step_both_engines_report_when_and_who_is_missing(engine):
    machine, arguments = mm.UMM(4, 3), (np.zeros(12, int), np.zeros(3, int))
    how = {"threads": 12, "engine": engine, "trace": False, "check": True}
    race, barrier = machine.run(late, *arguments, **how).findings
    begins = 2 * (3 + 3 - 1)  # two rounds of three stages
    assert (race.array, race.index, race.threads) == ("b", (0,), (0, 6))
    assert race.times == (begins, begins + 1)
    assert barrier.kind == "barrier"
    assert barrier.threads == (4, 0)
    assert barrier.times == (begins + 5, begins)


@mm.program
def fails_beside_a_read(T, a, b):
    s = mm.shared(64, dtype=int)
    if T.warp == 0:
        a[T.id + 100] = 1
    else:
        b[T.id] = s[T.id]


def test_an_error_ends_the_run_before_anything_more_is_dispatched_at_that_time():
    """The other warp's read of what no thread has written would be dispatched at time 0 too."""
    report = mm.HMM(1, 4, 4, 2).check(
        fails_beside_a_read, zeros(8), zeros(8), threads=8, schedule="asynchronous"
    )
    assert [finding.kind for finding in report.findings] == ["out-of-range"]
