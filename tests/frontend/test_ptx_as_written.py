"""Kernels that the compiler leaves as they are written, as with the option -G.

`ptx/asis.ptx` is what NVRTC made of `ptx/asis.cu` with -G, without the sections for debuggers.
"""

from pathlib import Path

import numpy as np
import pytest

import mmsim as mm
from mmsim.frontend.ptx.kernel import PtxProgram
from mmsim.frontend.ptx.text import read

HERE = Path(__file__).parent / "ptx"
PTX = (HERE / "asis.ptx").read_text("utf-8")
SOURCE = (HERE / "asis.cu").read_text("utf-8")
MACHINE = mm.HMM(2, 32, 50, 5, bank_bytes=4)


def checked(name, *args):
    program = PtxProgram(read(PTX), name, text={"asis.cu": SOURCE}, ptx=PTX)
    special = program.specialized(args)
    how = {"grid": 1, "block": 64, "schedule": "asynchronous"}
    return MACHINE.check(special.program, *special.args, **how)


@pytest.mark.parametrize("name", ["constant", "counted"])
def test_a_write_of_a_constant_variable_is_a_finding(name):
    (found,) = checked(name, np.zeros(64, np.int32)).findings
    assert found.kind == "exception"
    assert "the kernel writes the constant variable 'table'" in str(found)


def test_a_write_of_a_constant_variable_names_its_line():
    (found,) = checked("constant", np.zeros(64, np.int32)).findings
    assert "table" in SOURCE.splitlines()[found.lines[0] - 1]


def test_arrays_without_an_access_are_left_out_of_the_results():
    a, b = np.zeros(64, np.int32), np.zeros((8, 8), np.float32)
    report = checked("unused", a.copy(), a, b)
    assert not report.findings
    assert list(report.run.arrays) == ["out"]


def test_a_race_on_a_variable_that_nothing_reads_is_a_finding():
    (found,) = checked("overwritten", np.zeros(64, np.int32)).findings
    assert (found.kind, found.array) == ("race", "last")


def test_objects_keep_pointers_in_memory():
    report = checked("methods", np.zeros(64, np.int32))
    assert not report.findings
    i = np.arange(64)
    assert np.array_equal(report.run.arrays["out"], np.where(i & 1, 50, 5) + (i + 100) * 1000)


def test_the_number_of_a_barrier_may_be_in_a_register():
    report = checked("met", np.zeros(64, np.int32))
    assert not report.findings
    assert np.array_equal(report.run.arrays["out"], np.arange(64)[::-1])
