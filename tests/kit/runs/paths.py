"""Runs a program along one path of the array engine, and compares it with the event engine."""

import pytest

import mmsim as mm
from mmsim.engines.array import engine as array
from mmsim.engines.events import engine as events
from mmsim.meaning.launch import Launch
from mmsim.model.threads import asked

ENGINES, SCHEDULES = ("array", "events"), ("synchronous", "asynchronous")
both_engines = pytest.mark.parametrize("engine", ENGINES)
both_schedules = pytest.mark.parametrize("schedule", SCHEDULES)
DMM = mm.DMM(4, 5)


def launched(program, *args, machine=DMM, schedule="synchronous", max_accesses=1_000_000, **sizes):
    """The launch of a program, as `Machine.run` makes it."""
    threads, block_size, shape = asked(**sizes)
    return Launch(machine, program, args, threads, block_size, schedule, max_accesses, shape)


def run_along(path, program, *args, **how):
    """The run of a program along a path of the array engine: interpreted, plain or fused."""
    return array.run(launched(program, *args, **how), False, path)


def outcome(run):
    """All that a run has, but its engine."""
    contents = {
        name: (values.dtype, values.shape, values.tobytes()) for name, values in run.arrays.items()
    }
    return run.time, run.accesses, run.rounds, contents


def agrees(path, program, *args, schedules=SCHEDULES, **how):
    """Assert that a path gives what the event engine does, under both schedules; the last run."""
    for schedule in schedules:
        expected = events.run(launched(program, *args, schedule=schedule, **how), False, False)
        run = run_along(path, program, *args, schedule=schedule, **how)
        assert outcome(run) == outcome(expected), schedule
    return run
