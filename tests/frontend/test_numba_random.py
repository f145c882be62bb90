"""Random kernels in the language of numba.cuda: both engines leave the same in every array."""

from __future__ import annotations

import copy

import numpy as np
from hypothesis import HealthCheck, given, settings

import mmsim as mm
from draws import draws
from mmsim.engines.array import engine as array_engine
from mmsim.engines.array.fused.analysis import CannotFuse
from mmsim.frontend.numba_kernel import numba_program
from mmsim.meaning.launch import Launch
from mmsim.model.threads import asked
from random_numba import numba_cases

CARD = mm.HMM(2, 4, 5, 3, bank_bytes=4)
MACHINES = (mm.HMM(2, 4, 5, 3), mm.DMM(4, 3), mm.UMM(4, 7), CARD)


def ran(case, machine, program=None, **options):
    """What a run leaves in the arrays."""
    args = copy.deepcopy(case.args)
    program = numba_program(case.python) if program is None else program
    return machine.run(program, *args, **case.sizes, **options).arrays


def same_arrays(first, second):
    """Whether arrays hold the same bits; all NaNs count as equal."""
    return all(
        np.array_equal(first[name], second[name], equal_nan=first[name].dtype.kind == "f")
        and np.array_equal(
            np.signbit(first[name][first[name] == 0]), np.signbit(second[name][second[name] == 0])
        )
        for name in first
    )


@settings(
    max_examples=draws(15),
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(numba_cases())
def test_engines_and_schedules_leave_the_same(case):
    program = numba_program(case.python)
    right = ran(case, MACHINES[0], program, schedule="asynchronous", engine="events")
    for machine in MACHINES:
        for schedule in ("asynchronous", "synchronous"):
            for engine in ("events", "array"):
                found = ran(case, machine, program, schedule=schedule, engine=engine)
                assert same_arrays(right, found), f"{machine} {schedule} {engine}\n{right}\n{found}"


@settings(
    max_examples=draws(15),
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(numba_cases())
def test_engines_and_paths_count_the_same_on_banks_of_4_bytes(case):
    program = numba_program(case.python)
    for schedule in ("asynchronous", "synchronous"):
        run = CARD.run(
            program, *copy.deepcopy(case.args), **case.sizes, schedule=schedule, engine="events"
        )
        for path in ("interpreted", "plain"):
            threads, block_size, shape = asked(**case.sizes)
            special, args = program.specialized(copy.deepcopy(case.args))
            bound = Launch(CARD, special, args, threads, block_size, schedule, 10**6, shape)
            try:
                found = array_engine.run(bound, path=path)
            except CannotFuse:
                continue
            assert (found.time, found.accesses) == (run.time, run.accesses), (path, schedule)
