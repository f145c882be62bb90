"""Random kernels in the language of numba.cuda: both engines leave the same in every array."""

from __future__ import annotations

import copy

import numpy as np
from hypothesis import HealthCheck, given, settings

import mmsim as mm
from mmsim.frontend.numba.kernel import numba_program
from tests.kit.generators.draws import draws
from tests.kit.generators.random_numba import numba_cases

MACHINES = (mm.HMM(2, 4, 5, 3), mm.DMM(4, 3), mm.UMM(4, 7), mm.HMM(2, 4, 5, 3, bank_bytes=4))


def ran(case, machine, program=None, **options):
    args = copy.deepcopy(case.args)
    program = numba_program(case.python) if program is None else program
    return machine.run(program, *args, **case.sizes, **options).arrays


def same_arrays(first, second):
    """Compare the bits of arrays; all NaNs count as equal."""
    return all(
        np.array_equal(first[name], second[name], equal_nan=first[name].dtype.kind == "f")
        and np.array_equal(
            np.signbit(first[name][first[name] == 0]), np.signbit(second[name][second[name] == 0])
        )
        for name in first
    )


@settings(
    max_examples=draws(8),
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
