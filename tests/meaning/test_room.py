"""The memory that a run asks for before it starts and while it goes on, against what it takes."""

import tracemalloc

import numpy as np
import pytest

import mmsim as mm
from mmsim.engines import check as checker
from mmsim.engines.array import asynchronous_time as schedule
from mmsim.engines.array.interpreted import Interpreted
from mmsim.engines.events import engine as events
from mmsim.errors import RoomError
from mmsim.host import free_memory
from mmsim.host.progress import Progress
from mmsim.meaning import memory_budget as launch_budget
from mmsim.monitors.watch import Monitors
from tests.kit.runs.paths import SCHEDULES, launched

UMM, HMM, NARROW = mm.UMM(32, 5), mm.HMM(8, 32, 50), mm.DMM(1, 5)
MANY_DMMS = mm.HMM(2**31 - 1, 4, 5)
MARGIN = 1 << 16
"""Bytes that a run of any size takes for Python's own objects."""
both_schedules = pytest.mark.parametrize("schedule_name", SCHEDULES)


@mm.program
def touch(T, a):
    a[T.id] = a[T.id]


@mm.program
def some(T, a):
    if T.id > 0:
        a[T.id] = a[T.id] + 1


@mm.program
def own_loops(T, a):
    for k in range(4 + T.id % 2):
        a[T.id] = a[T.id] * 3 + k


@mm.program
def many_accesses(T, a):
    for k in range(60 + T.id % 2):
        a[T.id] = a[T.id] * 3 + k


@mm.program
def nested(T, a):
    for i in range(T.id % 3):
        for j in range(T.id % 4):
            if (i + j) % 2 == 0:
                while a[T.id] % 5 < 3:
                    a[T.id] = a[T.id] + 1


@mm.program
def deep(T, a):
    x = a[T.id]
    a[T.id] = x * 2 + (x * 3 + (x * 4 + (x * 5 + (x * 6 + (x * 7 + (x * 8 + (x * 9)))))))


@mm.program
def registers(T, a):
    r = mm.registers(16)
    for k in range(16):
        r[k] = a[T.id]
    s = 0
    for k in range(16):
        s += r[(k + T.id) % 16]
    a[T.id] = s


@mm.program
def many_variables(T, a):
    x0, x1, x2, x3, x4 = a[T.id], a[T.id] + 1, a[T.id] + 2, a[T.id] + 3, a[T.id] + 4
    y0, y1, y2, y3, y4 = x0 * x1, x1 * x2, x2 * x3, x3 * x4, x4 * x0
    z0, z1, z2, z3, z4 = y0 * x1, y1 * x2, y2 * x3, y3 * x4, y4 * x0
    a[T.id] = x0 + x1 + x2 + x3 + x4 + y0 + y1 + y2 + y3 + y4 + z0 + z1 + z2 + z3 + z4


@mm.program
def in_shared(T, a):
    s = mm.shared(T.block_size)
    s[T.index] = a[T.id]
    T.barrier()
    a[T.id] = s[T.block_size - 1 - T.index]


@mm.program
def barriers_apart(T, a):
    if T.warp % 2 == 0:
        for k in range(3):
            a[T.id] = a[T.id] + k
            T.barrier()
    else:
        for k in range(3):
            a[T.id] = a[T.id] * 3 + k
            T.barrier()


@mm.program
def one_cell(T, a):
    a[T.id // 4] = T.id


CASES = {
    "touch": (touch, {}),
    "some": (some, {}),
    "own_loops": (own_loops, {}),
    "own_loops, width 1": (own_loops, {"machine": NARROW}),
    "many_accesses": (many_accesses, {}),
    "nested": (nested, {}),
    "deep": (deep, {}),
    "registers": (registers, {}),
    "many_variables": (many_variables, {}),
    "in_shared": (in_shared, {"machine": HMM, "block_size": 64}),
    "in_shared, many DMMs": (in_shared, {"machine": MANY_DMMS, "block_size": 2}),
    "barriers_apart": (barriers_apart, {}),
    "barriers_apart, width 1": (barriers_apart, {"machine": NARROW}),
    "one_cell": (one_cell, {}),
}
SLOW = {
    "many_accesses": 1 << 10,
    "in_shared, many DMMs": 1 << 10,
    "barriers_apart": 1 << 11,
    "barriers_apart, width 1": 1 << 7,
}
"""Threads of those that take long."""


@pytest.fixture
def asked(monkeypatch):
    """Bytes asked for: by each list that grows, and the most before a start."""
    found = {}

    def need(growth, most, held):
        found[growth] = max(found.get(growth, 0), most)

    def check_memory(launch, needed):
        found["start"] = max(found.get("start", 0), needed)

    monkeypatch.setattr(launch_budget.Growth, "need", need)
    for module in ("mmsim.engines.array.interpreted", "mmsim.engines.events.engine"):
        monkeypatch.setattr(f"{module}.check_memory", check_memory)
    monkeypatch.setattr(schedule, "FEW", 0)  # both lists and arrays need no test
    monkeypatch.setattr(schedule, "FEW_MORE", 0)
    return found


def compare(asked, run):
    """Assert that a run takes no more than it asks for, and not far less."""
    run()  # what is loaded and found once
    asked.clear()
    tracemalloc.start()
    try:
        run()
        took = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    total = sum(asked.values())
    assert took <= 1.02 * total + MARGIN, f"it took {took} bytes and asked for {total}"
    assert total <= 3 * took + MARGIN, f"it took {took} bytes and asked for {total}"


def by_events(mode, program, a, machine=UMM, **how):
    if mode == "Machine.check":
        machine.check(program, a, **how)
    else:
        kind = {"trace": mode == "trace", "check": mode == "check=True"}
        run = machine.run(program, a, engine="events", **kind, **how)
        if mode == "trace":
            assert run.trace.waits[-1].end <= run.time  # a trace is made when it is looked at


def interpret(launch, check):
    monitors = Monitors(launch) if check else None
    with np.errstate(all="ignore"):
        Interpreted(launch, Progress("p"), monitors).run()
    if monitors is not None:
        monitors.findings()


@both_schedules
@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_the_array_engine_takes_what_it_asks_for(name, check, schedule_name, asked):
    program, how = CASES[name]
    threads = SLOW.get(name, 1 << 13)

    def run():
        a = np.arange(threads)
        how_to = {"machine": UMM, **how, "threads": threads, "schedule": schedule_name}
        interpret(launched(program, a, **how_to), check)

    compare(asked, run)


@both_schedules
@pytest.mark.parametrize("mode", ["plain", "trace", "check=True", "Machine.check"])
@pytest.mark.parametrize(
    "name", ["touch", "own_loops", "registers", "in_shared", "barriers_apart", "one_cell"]
)
def test_the_event_engine_takes_what_it_asks_for(name, mode, schedule_name, asked):
    program, how = CASES[name]
    threads = 1 << 9
    how = {"machine": UMM, **how, "threads": threads, "schedule": schedule_name}
    machine = how.pop("machine")

    def run():
        a = np.arange(threads) + 1000  # Python has the small numbers already
        by_events(mode, program, a, machine, **how)

    compare(asked, run)


@both_schedules
@pytest.mark.parametrize("mode", ["plain", "trace", "check=True", "Machine.check"])
def test_the_event_engine_asks_before_it_starts(mode, schedule_name, monkeypatch):
    monkeypatch.setattr(free_memory, "SMALL", 0)
    monkeypatch.setattr(free_memory, "available", lambda: 1000)
    monkeypatch.setattr(events, "driver_of", None)
    monkeypatch.setattr(checker, "driver_of", None)
    how = {"threads": 64, "schedule": schedule_name}
    with pytest.raises(RoomError, match=r"'touch' with 64 threads needs .* bytes a thread"):
        by_events(mode, touch, np.arange(64), **how)


@pytest.mark.parametrize(
    ("program", "mode", "what"),
    [
        (own_loops, "trace", "its trace"),
        (own_loops, "check=True", "the list of those to be checked for races"),
        (barriers_apart, "check=True", "the list of those who came to a barrier"),
        (one_cell, "Machine.check", "the list of elements that several threads write"),
        (nested, "Machine.check", "the list of those that wait for a change"),
    ],
)
def test_what_grows_is_asked_for_as_it_does(program, mode, what, monkeypatch):
    real = launch_budget.Growth.need

    def need(growth, most, held):
        monkeypatch.setattr(free_memory, "available", lambda: 10 if growth.what == what else None)
        real(growth, most, held)

    monkeypatch.setattr(free_memory, "SMALL", 1 << 7)
    monkeypatch.setattr(free_memory, "available", lambda: None)
    monkeypatch.setattr(launch_budget.Growth, "need", need)
    a = np.arange(256)
    how = {"threads": 256, "schedule": "asynchronous"}
    with pytest.raises(RoomError, match=f"so many accesses that {what} needs"):
        by_events(mode, program, a, **how)
    assert (a == np.arange(256)).all()


def test_the_shared_arrays_of_all_blocks_are_counted():
    @mm.program
    def with_shared(T, a):
        s = mm.shared(24, dtype=np.int16)
        s[0] = a[T.id]

    launch = launched(with_shared, np.zeros(12, int), threads=12, machine=HMM, block_size=4)
    assert launch_budget.shared(launch) == 3 * 24 * 2


def test_room_that_a_run_holds_is_not_asked_for_again(monkeypatch):
    launch = launched(touch, np.zeros(4, int), threads=4, machine=UMM)
    growth = launch_budget.Growth(launch, "a list")
    monkeypatch.setattr(free_memory, "available", lambda: free_memory.SMALL)
    most = 10 * free_memory.SMALL
    growth.need(most, most)
    with pytest.raises(RoomError, match="a list needs"):
        growth.need(2 * most, most)
