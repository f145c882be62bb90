"""A pipeline of a block: its state has barriers of 8 bytes and a counter of 4.

`ptx/block_pipeline.ptx` is what NVRTC made of `ptx/block_pipeline.cu`.
"""

from pathlib import Path

import numpy as np
import pytest

import mmsim as mm
from mmsim.frontend.ptx.kernel import PtxProgram
from mmsim.frontend.ptx.text import read

HERE = Path(__file__).parent / "ptx"
PTX = (HERE / "block_pipeline.ptx").read_text("utf-8")
MACHINE = mm.HMM(2, 32, 50, 5, bank_bytes=4)
HOW = {"grid": 1, "block": 64, "schedule": "asynchronous"}


@pytest.fixture(scope="module")
def module():
    return read(PTX)


@pytest.mark.parametrize(("name", "copied"), [("staged", 64), ("divided", 32)])
def test_a_pipeline_of_a_block_delivers_what_it_copies(module, name, copied):
    parts = np.random.RandomState(3).randint(-9, 9, (5, copied)).astype(np.int32)
    args = np.zeros(copied, np.int32), parts, 5
    program = PtxProgram(module, name, ptx=PTX)
    report = MACHINE.check(program, *args, **HOW)
    run = MACHINE.run(program, *args, **HOW)
    assert report.ok
    assert run.arrays["argument_1"].tolist() == parts[:, ::-1].sum(0).tolist()
    assert run.time == report.run.time
