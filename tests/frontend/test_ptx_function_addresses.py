"""Calls of functions by their addresses, which registers and tables hold.

`ptx/addresses.ptx` is what NVRTC made of `ptx/addresses.cu`.
"""

from pathlib import Path

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import RaisedError
from mmsim.frontend.ptx.kernel import PtxProgram
from mmsim.frontend.ptx.text import read

HERE = Path(__file__).parent / "ptx"
PTX = (HERE / "addresses.ptx").read_text("utf-8")
SOURCE = (HERE / "addresses.cu").read_text("utf-8")
MACHINE = mm.HMM(2, 32, 50, 5, bank_bytes=4)
I = np.arange(64, dtype=np.float32)


def ran(name, number, engine):
    program = PtxProgram(read(PTX), name, text={"addresses.cu": SOURCE}, ptx=PTX)
    special = program.specialized((np.zeros(64, np.float32), number))
    how = {"grid": 1, "block": 64, "schedule": "asynchronous", "engine": engine}
    return MACHINE.run(special.program, *special.args, **how).arrays["out"]


MIXED = np.where(I % 2, I * 3, I + 3)


@pytest.mark.parametrize("engine", ["array", "events"])
@pytest.mark.parametrize(
    ("name", "number", "wanted"),
    [
        ("chosen", 1, I + 3),
        ("chosen", 2, I * 3),
        ("tabled", 64, MIXED),
        ("tabled", 10, np.where(I < 10, MIXED, -MIXED)),
    ],
)
def test_a_call_goes_to_the_function_at_the_address(name, number, wanted, engine):
    assert np.array_equal(ran(name, number, engine), wanted)


@pytest.mark.parametrize("name", ["chosen", "given"])
def test_a_call_of_no_function_is_an_error(name):
    with pytest.raises(RaisedError, match="calls a function at an address that is that of none"):
        ran(name, 0, "events")
