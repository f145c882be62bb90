"""What `cuda.jit` made is taken wherever a program is."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numba import cuda

import mmsim as mm
import mmsim.gpu
from mmsim.errors import LanguageError, MMSimError
from mmsim.frontend.numba.kernel import as_program, numba_program

MACHINE = mm.HMM(2, 4, 5, 3)


@cuda.jit
def scale(a, factor):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= factor


def test_a_machine_runs_and_checks_a_dispatcher():
    run = MACHINE.run(scale, np.arange(4.0), 2, grid=1, block=4)
    assert run.arrays["a"].tolist() == [0, 2, 4, 6]
    assert run.program == "scale"
    report = MACHINE.check(scale, np.arange(4.0), 2, grid=1, block=4)
    assert not report.findings


def test_a_trace_and_a_profile_show_its_text():
    run = MACHINE.run(scale, np.arange(4.0), 2, grid=1, block=4, trace=True)
    assert run.trace.dispatches
    assert "a[i] *= factor" in str(run.profile())


def test_one_dispatcher_is_one_program():
    assert as_program(scale) is as_program(scale)
    assert as_program(scale).name == "scale"
    assert as_program(3) == 3
    assert as_program(np.sin) is np.sin


def test_a_program_of_a_kernel_is_pickled():
    program = numba_program(scale)
    MACHINE.run(program, np.arange(4.0), 2, threads=4)
    again = pickle.loads(pickle.dumps(program))
    assert MACHINE.run(again, np.arange(4.0), 3, threads=4).arrays["a"].tolist() == [0, 3, 6, 9]


def test_its_code_is_there_after_a_launch():
    program = numba_program(scale)
    with pytest.raises(MMSimError, match="parsed for the arguments of a launch"):
        program.code
    MACHINE.run(program, np.arange(4.0), 2, threads=4)
    assert [one.name for one in program.code.parameters] == ["a", "factor"]


def test_a_kernel_is_written_in_cuda_c():
    text = mm.gpu.kernel(numba_program(scale), np.arange(4.0), 2, grid=1, block=4).source
    assert 'extern "C" __global__ void scale(' in text
    assert "// a[i] *= factor" in text


def test_a_device_function_is_no_kernel():
    def twice(x):
        return 2 * x

    with pytest.raises(LanguageError, match="'twice' returns a value; it is a helper"):
        MACHINE.run(numba_program(twice, device=True), 2, threads=1)
    with pytest.raises(LanguageError, match="3 is not a function"):
        numba_program(3)
