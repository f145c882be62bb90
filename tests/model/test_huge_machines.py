"""Machines with more of anything than memory has room for: a run costs what it uses of them."""

import time
import tracemalloc
from dataclasses import fields, replace

import numpy as np
import pytest

import mmsim as mm
from mmsim.engines.array.fused.execute import CannotFuse
from mmsim.model.machines import LARGEST
from mmsim.results import trace as traces
from mmsim.view.player import TooLargeError
from tests.kit.runs.paths import both_engines, both_schedules, outcome, run_along
from tests.kit.runs.programs import copy

HUGE = mm.HMM(2**31 - 1, 4, 5)
SMALL = mm.HMM(2, 4, 5)


@mm.program
def reverse(T, a, b):
    s = mm.shared(4)
    s[T.index] = a[T.id]
    T.barrier()
    b[T.id] = s[3 - T.index]


def arguments(blocks=2):
    return np.arange(4 * blocks), np.zeros(4 * blocks, int)


def ran(machine, engine, schedule, **how):
    return machine.run(
        reverse, *arguments(), threads=8, block_size=4, engine=engine, schedule=schedule, **how
    )


def test_the_units_of_a_huge_machine_are_made_one_by_one():
    assert len(HUGE.units) == 2**31
    assert HUGE.units[-1] == HUGE.shared[2**31 - 2]
    assert HUGE.units[-1].name == "shared[2147483646]"
    assert HUGE.units[:2] == (HUGE.memory, HUGE.shared[0])
    with pytest.raises(IndexError):
        HUGE.units[2**31]


def test_units_are_equal_where_they_have_the_same_units():
    assert HUGE.units == mm.HMM(2**31 - 1, 4, 5).units
    assert hash(HUGE.units) == hash(mm.HMM(2**31 - 1, 4, 5).units)
    assert HUGE.units != mm.HMM(2**31 - 1, 4, 6).units
    assert HUGE.units != mm.HMM(2**31 - 1, 32, 5).units  # the rules of which are for other widths
    assert SMALL.units == tuple(SMALL.units)
    assert SMALL.units != SMALL.units[:2]


@both_schedules
@both_engines
def test_a_huge_machine_gives_what_a_small_one_does(engine, schedule):
    ran(SMALL, engine, schedule)  # loads what it needs
    tracemalloc.start()
    begun = time.process_time()
    found = ran(HUGE, engine, schedule)
    took, (_, peak) = time.process_time() - begun, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert outcome(found) == outcome(ran(SMALL, engine, schedule))
    assert peak < 1 << 20
    assert took < 5


@both_schedules
@pytest.mark.parametrize("path", ["plain", "fused"])
def test_a_fused_program_counts_only_units_that_it_can_reach(path, schedule):
    how = {"threads": 8, "block_size": 4, "schedule": schedule}
    on_huge, on_small = (
        run_along(path, reverse, *arguments(), machine=machine, **how) for machine in (HUGE, SMALL)
    )
    assert outcome(on_huge) == outcome(on_small)


@both_schedules
def test_a_trace_of_a_huge_machine_names_the_units_that_the_run_can_reach(schedule):
    run = ran(HUGE, "events", schedule)
    expected = ran(SMALL, "events", schedule)
    assert [unit.name for unit in run.trace.units] == ["global", "shared[0]", "shared[1]"]
    assert run.trace.dispatches == expected.trace.dispatches
    assert run.trace.waits == expected.trace.waits
    assert len(list(run.trace.cycles())) == run.time + 1
    again = mm.Run.from_json(run.to_json())
    assert again.trace.units == run.trace.units
    assert str(run.trace.player()) == str(expected.trace.player())


def test_a_trace_of_a_usual_machine_names_idle_units_too():
    run = mm.HMM(5, 4, 5).run(
        reverse, *arguments(1), threads=4, block_size=4, engine="events", trace=True
    )
    assert len(run.trace.units) == 6


def test_the_units_of_a_run_follow_from_its_machine_and_blocks(monkeypatch):
    run = ran(SMALL, "events", "synchronous")
    assert len(replace(run.trace, threads=run.threads).units) > 2
    monkeypatch.setattr(traces, "MANY_UNITS", 1)
    assert len(replace(run.trace, threads=4, block_size=4).units) == 2


@both_schedules
def test_a_huge_machine_is_checked(schedule):
    report = HUGE.check(reverse, *arguments(), threads=8, block_size=4, schedule=schedule)
    assert report.findings == ()
    racing = HUGE.check(reverse, *arguments(), threads=8, block_size=8, schedule=schedule)
    assert [finding.kind for finding in racing.findings] == ["out-of-range"]


# ------------------------------------------------------------------ each number of each machine

LARGE_CACHE = {
    "sectors": 2, "sector_time": 1, "cross_time": 1, "memory_time": 2, "fill_time": 1,
    "row_time": 1, "page": 8, "page_time": 1, "port_time": 1, "wire_time": 1, "atomic_time": 1,
    "capacity": 32, "ways": 2, "halves": 2, "channels": 2, "banks": 2, "row": 2, "slices": 2,
}  # fmt: skip
WITHOUT = {"capacity": 0, "page": 0}
AT_MOST: dict[str, object] = {  # where the largest number isn't allowed, or not alone
    "width": WITHOUT | {"width": LARGEST - 1},
    "sectors": WITHOUT | {"width": LARGEST - 1, "sectors": LARGEST - 1},
    "fetch": WITHOUT | {"width": LARGEST - 1, "sectors": LARGEST - 1, "fetch": LARGEST - 1},
    "capacity": 2**31 - 16,
    "ways": {"ways": 2**27 - 1, "capacity": 8 * (2**27 - 1)},
    "page": 2**31 - 4,
    "clusters": {"dmms": LARGEST, "clusters": LARGEST},
    "half_of": {"dmms": LARGEST, "clusters": (LARGEST - 1, 1), "half_of": (1, 0)},
}
LEAST = {
    mm.DMM: {"width": 4, "latency": 5},
    mm.UMM: {"width": 4, "latency": 5},
    mm.HMM: {"dmms": 2, "width": 4, "global_latency": 5, "shared_latency": 2},
}
LEAST[mm.Cached] = LEAST[mm.HMM] | LARGE_CACHE


def extreme(kind, name):
    """A machine of a kind one number of which is as large as it may be."""
    most = AT_MOST.get(name, LARGEST) if kind is mm.Cached else LARGEST
    return kind(**LEAST[kind] | (most if isinstance(most, dict) else {name: most}))


FEW = ("bank_bytes", "halves")
NUMBERS = [(kind, field.name) for kind in LEAST for field in fields(kind) if field.name not in FEW]


@mm.program
def in_all_ways(T, a, b, c):
    s = mm.shared(64)
    s[T.id] = a[T.id]
    T.barrier()
    b[T.id] = s[T.id] + a[0]
    mm.atomic.add(c, 0, 1)


def peak_of(work):
    """The most bytes that something takes on the way. What takes time in 2^31 never ends."""
    tracemalloc.start()
    work()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


@both_schedules
@pytest.mark.parametrize(
    ("kind", "name"), NUMBERS, ids=[f"{kind.__name__} {name}" for kind, name in NUMBERS]
)
def test_a_run_costs_what_it_uses_of_a_machine(kind, name, schedule):
    machine = extreme(kind, name)
    args = np.arange(16), np.zeros(16, int), np.zeros(1, int)
    how = {"threads": 16, "block_size": 8, "schedule": schedule}
    found = {}

    def work():
        for engine in ("array", "events"):
            found[engine] = machine.run(in_all_ways, *args, engine=engine, trace=False, **how)
            machine.run(in_all_ways, *args, engine=engine, trace=False, check=True, **how)
        machine.check(in_all_ways, *args, **how)
        if machine.pipelined:
            run = machine.run(in_all_ways, *args, engine="events", **how)
            assert mm.Run.from_json(run.to_json()).trace.time == found["events"].time

    extreme(kind, name).run(in_all_ways, *args, **how)  # loads what it needs
    assert peak_of(work) < 1 << 22
    assert outcome(found["array"]) == outcome(found["events"])
    assert found["array"].cache == found["events"].cache
    assert found["array"].arrays["b"].tolist() == list(range(16))
    assert found["array"].arrays["c"].tolist() == [16]


@pytest.mark.parametrize("machine", [mm.DMM(LARGEST, 5), mm.UMM(LARGEST, 5), mm.DMM(4, LARGEST)])
def test_what_is_too_large_to_draw_is_refused_before_it_takes_room(machine):
    run = machine.run(copy, *arguments(), threads=8, schedule="asynchronous", trace=True)

    def work():
        with pytest.raises(TooLargeError, match=r"2147483647 .* at most 1000000; run it smaller"):
            run.trace.player()
        if machine.width == 4:
            with pytest.raises(mm.MMSimError, match="too many for this figure"):
                mm.figures.pipeline(run)
            with pytest.raises(mm.MMSimError, match="2147483647 pipeline registers are too many"):
                mm.figures.pipeline(run, 0, 10)

    assert peak_of(work) < 1 << 22
    assert run.profile()


@both_schedules
@pytest.mark.parametrize("machine", [mm.DMM, mm.UMM])
def test_a_wide_machine_takes_no_table_for_its_width(machine, schedule):
    """With more threads than are interpreted in any case: fused, there is a table for each lane."""
    a, b = np.arange(8192), np.zeros(8192, int)
    with pytest.raises(CannotFuse, match="tables for all lanes of a warp"):
        run_along("plain", copy, a, b, machine=machine(LARGEST, 5), threads=len(a))

    def work():
        run = machine(LARGEST, 5).run(copy, a, b, threads=len(a), schedule=schedule)
        assert run.time == 2 * 5

    assert peak_of(work) < 1 << 23


@both_schedules
@both_engines
def test_pages_that_no_run_asks_for_make_no_difference(engine, schedule):
    """Four pages of two lines each: a DMM that knows four, or any number, asks once for each."""
    how = {"threads": 32, "block_size": 8, "engine": engine, "schedule": schedule, "trace": False}
    args = np.arange(32), np.zeros(32, int)
    runs = [
        mm.Cached(1, 4, 10, page=8, page_time=3, pages=pages).run(copy, *args, **how)
        for pages in (1, 8, LARGEST)
    ]
    assert outcome(runs[1]) == outcome(runs[2])
    assert runs[1].cache == runs[2].cache
    assert sum(row.translations for row in runs[2].cache) == 8
