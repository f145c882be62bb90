"""Runs on both engines and under both schedules, and what the reference says of them."""

from inspect import isfunction
from itertools import product

import pytest

import mmsim as mm
from tests.kit.generators.random_programs import bits, evaluated, races, run_case
from tests.kit.oracle.reference import Outcome
from tests.kit.runs.paths import ENGINES, SCHEDULES, outcome

DMM = mm.DMM(8, 3)


def as_program(function):
    return mm.program(function) if isfunction(function) else function


def on_all(function, *arrays, machine=DMM, threads=8, **how):
    """The run in lock step: both engines give the same, and both schedules leave the same."""
    program, found = as_program(function), {}
    for schedule, engine in product(SCHEDULES, ENGINES):
        how |= {"schedule": schedule, "engine": engine, "trace": False}
        run = machine.run(program, *arrays, threads=threads, **how)
        assert outcome(run) == outcome(found.setdefault(schedule, run))
        for name, array in found["synchronous"].arrays.items():
            assert run.arrays[name].tobytes() == array.tobytes()
    return found["synchronous"]


def refused(kind, function, *arrays, machine=DMM, threads=8):
    """The error of a program, the same on both engines and under both schedules."""
    program, errors = as_program(function), []
    for schedule, engine in product(SCHEDULES, ENGINES):
        with pytest.raises(kind) as caught:
            machine.run(program, *arrays, threads=threads, engine=engine, schedule=schedule)
        errors.append(caught.value)
    assert len({str(error) for error in errors}) == 1
    return errors[0]


def traced(case, schedule):
    """The run of a case on the event engine, in the words of the reference."""
    run = run_case(case, schedule, engine="events", trace=True)
    found = Outcome(time=run.time, arrays=dict(run.arrays))
    if schedule == "synchronous":
        found.rounds = [(r.line, r.array, r.kind, r.stages, r.time) for r in run.rounds]
    # A unit dispatches at most once at an instant, and what units do at one instant is unordered.
    found.dispatches = sorted(
        (d.time, d.unit, d.warp, d.line, d.array, d.kind, d.stage_count, d.completion)
        for d in run.trace.dispatches
    )
    return found


def agree_with_the_reference(case, schedule):
    """Assert that the event engine gives all that the reference does."""
    expected, actual = evaluated(case, schedule), traced(case, schedule)
    assert actual.dispatches == sorted(expected.dispatches)
    assert actual.rounds == expected.rounds
    assert actual.time == expected.time
    assert actual.arrays.keys() == expected.arrays.keys()
    for name, array in expected.arrays.items():
        assert bits(actual.arrays[name]) == bits(array), (name, actual.arrays[name], array)


def agree_without_a_race(case, schedule):
    """Assert that the engines agree on a program, should it have no race; the events' run."""
    events = run_case(case, schedule, engine="events", trace=False, check=True)
    if schedule == "synchronous" or not races(events):
        assert outcome(run_case(case, schedule, engine="array")) == outcome(events)
    return events
