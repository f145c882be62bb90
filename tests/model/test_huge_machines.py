"""Machines with more DMMs than memory has room for: only those that hold a block take any."""

import time
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import FormatError
from mmsim.results import trace as traces
from paths import SCHEDULES, outcome, run_along

HUGE = mm.HMM(2**31 - 1, 4, 5)
SMALL = mm.HMM(2, 4, 5)

both_schedules = pytest.mark.parametrize("schedule", SCHEDULES)


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
@pytest.mark.parametrize("engine", ["array", "events"])
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


def test_a_file_that_lacks_units_of_the_run_is_refused(monkeypatch):
    run = ran(HUGE, "events", "synchronous")
    for units in (run.trace.units[:2], (*run.trace.units[:2], run.trace.units[1])):
        damaged = replace(run, record=replace(run.trace, units=units))
        with pytest.raises(FormatError, match="its memory units are not those of HMM"):
            mm.Run.from_json(damaged.to_json())
    monkeypatch.setattr(traces, "MANY_UNITS", 1)
    assert len(traces.traced_units(SMALL, 1)) == 2


@both_schedules
def test_a_huge_machine_is_checked(schedule):
    report = HUGE.check(reverse, *arguments(), threads=8, block_size=4, schedule=schedule)
    assert report.findings == ()
    racing = HUGE.check(reverse, *arguments(), threads=8, block_size=8, schedule=schedule)
    assert [finding.kind for finding in racing.findings] == ["out-of-range"]
