"""Kernels with an assert, which pytest leaves alone in a file that says PYTEST_DONT_REWRITE."""

import numpy as np
import pytest
from numba import cuda

import mmsim as mm
from mmsim.errors import RaisedError
from mmsim.frontend.numba.kernel import numba_program
from mmsim.frontend.numba.options import Options

MACHINE = mm.HMM(2, 4, 5, 3)


def checked(x):
    i = cuda.grid(1)
    assert i != 1
    assert i != 2, "two"
    x[i] = 1


def test_a_thread_whose_assert_fails_ends():
    run = MACHINE.run(numba_program(checked), np.zeros(4, int), threads=4)
    if run.arrays["x"].tolist() != [1, 0, 0, 1]:
        pytest.fail(str(run.arrays["x"]))


def test_a_kernel_that_is_debugged_names_the_assert():
    with pytest.raises(RaisedError, match=r"thread 1: AssertionError") as caught:
        MACHINE.run(
            numba_program(checked, options=Options(debug=True)), np.zeros(2, int), threads=2
        )
    if "assert i != 1" not in str(caught.value):
        pytest.fail(str(caught.value))
