"""What a trace has of the threads' own variables: values by hand, and the record on disk."""

import sys
from dataclasses import replace

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import FormatError
from mmsim.results.events import Change, TracedVariable

both_schedules = pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])


def halve(T, x):
    half = x / 2
    return half


@mm.program
def all_kinds(T, a, b, n):
    """Variables in branches and loops, a parameter that is assigned, registers, two calls."""
    r = mm.registers((2, 2))
    for j in range(n):
        r[j % 2, 1] = a[T.id] + j
        if T.lane == 1:
            odd = r[0, 1] > 2
    n = T.id
    b[T.id] = halve(T, r[0, 1]) + halve(T, r[1, 1])


@mm.program
def meet(T, a, b):
    x = a[0]
    if T.warp == 0:
        x = a[T.id]
    T.barrier()
    y = x + 1
    T.barrier()
    b[T.id] = y


@mm.program
def signs(T, a, b):
    x = 0.0
    b[T.id] = x
    x = -0.0
    b[T.id] = x
    x = a[T.id]
    b[T.id] = x


def run_of(schedule, machine=None, threads=10, n=3):
    machine = machine or mm.DMM(4, 2)
    args = np.arange(threads), np.zeros(threads), n
    return machine.run(all_kinds, *args, threads=threads, schedule=schedule, trace=True)


def test_the_variables_of_a_program_by_the_names_in_its_text():
    shown = [(v.text, v.function, v.dtype, v.shape) for v in run_of("synchronous").trace.variables]
    assert sorted(shown, key=str) == sorted(
        [
            ("n", "all_kinds", "int64", None),
            ("j", "all_kinds", "int64", None),
            ("odd", "all_kinds", "bool", None),
            ("r", "all_kinds", "int64", (2, 2)),
            *[("x", "halve", "int64", None), ("half", "halve", "float64", None)] * 2,
        ],
        key=str,
    )
    names = [variable.name for variable in run_of("synchronous").trace.variables]
    assert len(set(names)) == len(names)


def test_a_warp_by_hand():
    """DMM(4, 2), 4 threads: each access takes 2 time units, local work none."""
    run = run_of("asynchronous", threads=4)
    shown = [cycle.thread(1) for cycle in run.trace.cycles()]
    assert run.time == 8
    # What is read at 0 arrives at 2, and the next iteration begins immediately.
    assert [one["j"] for one in shown] == [0, 0, 1, 1, 2, 2, 2, 2, 2]
    assert [one["r"].tolist() for one in shown[:6:2]] == [
        [[0, 0]] * 2,
        [[0, 1], [0, 0]],
        [[0, 1], [0, 2]],
    ]
    assert shown[6]["r"].tolist() == [[0, 3], [0, 2]]
    assert [one["odd"] for one in shown] == [None] * 2 + [False] * 4 + [True] * 3
    assert [one["n_2"] for one in shown] == [3, 3, 3, 3, 3, 3, 1, 1, 1]
    halves = [name for name in shown[0] if name.startswith("half")]
    assert [[one[name] for name in halves] for one in shown[5:7]] == [[None, None], [1.5, 1.0]]
    assert run.trace.cycles().__next__().thread(2)["odd"] is None
    *_, last = run.trace.cycles()
    assert last.thread(2)["odd"] is None, "only lane 1 assigns it"
    assert last.variables["odd"].mask.tolist() == [True, False, True, True]


def wander(T, a, n):
    """Loops and branches that every thread goes its own way through."""
    total = 0
    for i in range(n):
        if (T.id + i) % 3 == 0:
            continue
        seen = a[T.id]
        total += seen * i
        k = T.id
        while k > 0:
            k = k // 2
            if k == 3:
                late = -float(total)
                break
        a[T.id] = total % 7
        if total > 40:
            over = True
            break


class OneThread:
    """T of a thread, for Python to run its program."""

    def __init__(self, number):
        self.id = number


def pythons_own(function, *args):
    """The variables of a Python function at its end."""
    found = {}

    def watch(frame, event, _):
        if event == "return" and frame.f_code is function.__code__:
            found.update(frame.f_locals)

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        function(*args)
    finally:
        sys.setprofile(before)
    return found


@both_schedules
@pytest.mark.parametrize("machine", [mm.DMM(4, 3), mm.UMM(4, 2), mm.HMM(2, 4, 5)])
def test_at_the_end_every_thread_holds_what_python_does(schedule, machine):
    a = np.arange(22) * 3 % 8
    how = {"threads": 22, "block_size": 9, "schedule": schedule}
    run = machine.run(mm.program(wander), a, 9, **how, trace=True)
    *_, last = run.trace.cycles()
    kinds = set()
    for thread in range(22):
        own = pythons_own(wander, OneThread(thread), a.tolist(), 9)
        expected = {name: own.get(name) for name in ("total", "i", "seen", "k", "late", "over")}
        assert last.thread(thread) == expected
        kinds |= {(name, value is None) for name, value in expected.items()}
    assert {("late", True), ("late", False), ("over", True), ("over", False)} <= kinds


@both_schedules
def test_a_read_is_held_from_its_completion_on(schedule):
    """In lock step from the end of the round on, which the last warp ends."""
    run = mm.UMM(2, 3).run(
        signs, np.arange(6) + 0.5, np.zeros(6), threads=6, schedule=schedule, trace=True
    )
    reads = [dispatch for dispatch in run.trace.dispatches if dispatch.kind == "read"]
    cycles = list(run.trace.cycles())
    end = max(dispatch.completion for dispatch in reads)
    for read in reads:
        arrival = end if schedule == "synchronous" else read.completion
        for thread, value in zip(read.threads, read.values, strict=True):
            assert cycles[arrival - 1].thread(thread)["x"] == 0 != value
            assert cycles[arrival].thread(thread)["x"] == value


@both_schedules
@pytest.mark.parametrize("machine", [mm.DMM(4, 3), mm.UMM(4, 2), mm.HMM(2, 4, 5, 2)])
def test_what_is_stored_is_what_the_thread_holds(schedule, machine):
    args = np.arange(16), np.zeros(16, int)
    how = {"threads": 14, "block_size": 7, "schedule": schedule}
    run = machine.run(meet, *args, **how, trace=True)
    cycles = list(run.trace.cycles())
    writes = [dispatch for dispatch in run.trace.dispatches if dispatch.kind == "write"]
    assert len(writes) == 4
    for write in writes:
        for thread, value in zip(write.threads, write.values, strict=True):
            assert (
                cycles[write.time].thread(thread)["y"]
                == value
                == max(1, thread + 1 if thread < 4 else 1)
            )
    for release in run.trace.releases:
        for warp in release.warps:
            for thread in run.trace.warps[warp]:
                assert cycles[release.time].thread(thread)["y"] is not None


@both_schedules
def test_only_changes_are_recorded(schedule):
    """Once for each warp and each new value; the sign of a zero is one, a NaN again isn't."""
    run = mm.DMM(2, 1).run(
        signs, np.array([-0.0, -0.0, 1, 2]), np.zeros(4), threads=4, schedule=schedule, trace=True
    )
    shown = [(c.warp, list(map(str, c.values))) for c in run.trace.changes]
    first = [(warp, [zero] * 2) for zero in ("0.0", "-0.0") for warp in (0, 1)]
    assert sorted(shown) == sorted([*first, (1, ["1.0", "2.0"])])


@both_schedules
def test_json_keeps_the_variables(schedule):
    run = run_of(schedule, mm.HMM(2, 4, 3))
    back = mm.Run.from_json(run.to_json()).trace
    assert back.variables == run.trace.variables
    assert back.changes == run.trace.changes
    for one, other in zip(run.trace.cycles(), back.cycles(), strict=True):
        for name, held in one.variables.items():
            assert held.dtype == other.variables[name].dtype
            assert held.tolist() == other.variables[name].tolist()


def test_each_cycle_has_variables_of_its_own():
    trace = run_of("synchronous").trace
    for cycle in trace.cycles():
        for held in cycle.variables.values():
            held[:] = 7
    *_, last = trace.cycles()
    assert last.thread(3)["n_2"] == 3


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ({"name": "zz"}, "unknown variable"),
        ({"element": 1}, "unknown variable or element"),
        ({"warp": 3}, "which doesn't exist there"),
        ({"values": (1,)}, "other threads than its warp"),
        ({"values": (2**64, 0, 0, 0)}, "changes of Trace can't be"),
    ],
)
def test_a_change_that_cannot_be_is_refused(damage, words):
    run = run_of("synchronous")
    change = replace(Change(0, 0, "j", 0, (0, 0, 0, 0)), **damage)
    damaged = replace(run, record=replace(run.trace, changes=(change,)))
    with pytest.raises(FormatError, match=words):
        mm.Run.from_json(damaged.to_json())


@pytest.mark.parametrize("change", [{"dtype": "object"}, {"shape": (0,)}, {"shape": (-1,)}])
def test_a_variable_that_cannot_be_is_refused(change):
    run = run_of("synchronous")
    variable = replace(TracedVariable("j", "j", "f", "int64", None), **change)
    damaged = replace(run, record=replace(run.trace, variables=(variable,), changes=()))
    with pytest.raises(FormatError, match="'j' holds nothing that an array or a variable can"):
        mm.Run.from_json(damaged.to_json())
