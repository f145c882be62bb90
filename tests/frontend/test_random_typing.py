"""Random kernels of numbers of all types leave what the same text leaves that Numba compiles."""

from __future__ import annotations

import numpy as np
import pytest
from numba.core import config
from numba.cpython import numbers

import mmsim as mm
from mmsim.frontend.numba.kernel import numba_program
from tests.kit.generators.draws import draws
from tests.kit.generators.random_typing import TypedCase

MACHINE = mm.HMM(2, 4, 5, 3)


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    """Let Numba compile integers that wrap around, which it leaves open, and in less time."""
    monkeypatch.setattr(numbers, "_int_arith_flags", lambda type_: [])
    monkeypatch.setattr(config, "OPT", type(config.OPT)(0))


def check(seed):
    case = TypedCase(seed)
    program, launch = numba_program(case.kernel), {"grid": 2, "block": 4, "engine": "events"}
    run = MACHINE.run(program, *case.args(), schedule="asynchronous", **launch)
    for name, right in zip(("whole", "positive", "real"), case.right(), strict=True):
        found = run.arrays[name]
        zeros = right == 0
        assert np.array_equal(found, right, equal_nan=right.dtype.kind == "f"), case.body
        assert np.array_equal(np.signbit(found[zeros]), np.signbit(right[zeros])), case.body


@pytest.mark.parametrize("seed", range(draws(8)))
def test_a_kernel_leaves_what_numba_does(seed):
    check(seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1000, 4000))
def test_many_kernels_leave_what_numba_does(seed):
    check(seed)
