"""Barriers of the grid: what the header of cooperative groups makes of `grid.sync()`.

`ptx/grids.ptx` is what NVRTC made of `ptx/grids.cu`, without the constants of the headers.
"""

from pathlib import Path

import numpy as np
import pytest

import mmsim as mm
from mmsim.frontend.ptx.kernel import PtxProgram
from mmsim.frontend.ptx.text import read

HERE = Path(__file__).parent / "ptx"
PTX = (HERE / "grids.ptx").read_text("utf-8")
SOURCE = (HERE / "grids.cu").read_text("utf-8")
MACHINE = mm.HMM(2, 32, 50, 5, bank_bytes=4)
HOW = {"grid": 3, "block": 64, "schedule": "asynchronous"}


def special(name, *args):
    return PtxProgram(read(PTX), name, text={"grids.cu": SOURCE}, ptx=PTX).specialized(args)


@pytest.mark.parametrize("engine", ["array", "events"])
def test_all_blocks_read_before_any_writes(engine):
    found = special("shifted", np.arange(193, dtype=np.int32))
    run = MACHINE.run(found.program, *found.args, engine=engine, **HOW)
    assert np.array_equal(run.arrays["a"][:192], np.arange(1, 193))


def test_accesses_before_and_after_do_not_race():
    found = special("shifted", np.arange(193, dtype=np.int32))
    assert MACHINE.check(found.program, *found.args, **HOW).ok


def test_a_barrier_of_the_grid_that_a_block_passes_by_is_divergent():
    found = special("divergent", np.zeros(192, np.int32))
    kinds = {one.kind for one in MACHINE.check(found.program, *found.args, **HOW).findings}
    assert kinds == {"barrier"}


def test_an_atomic_of_the_kernel_stays():
    found = special("counted", np.zeros(1, np.uint32), np.zeros(192, np.uint32))
    run = MACHINE.run(found.program, *found.args, **HOW)
    assert sorted(run.arrays["out"]) == [*range(192, 384)]
