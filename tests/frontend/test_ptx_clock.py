"""The clock of PTX: the time of the model, on both engines.

`ptx/clocks.ptx` is what NVRTC made of `ptx/clocks.cu`.
"""

from pathlib import Path

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import EndlessError
from mmsim.frontend.ptx.kernel import PtxProgram
from mmsim.frontend.ptx.text import read
from mmsim.gpu import kernel

HERE = Path(__file__).parent / "ptx"
PTX = (HERE / "clocks.ptx").read_text("utf-8")
SOURCE = (HERE / "clocks.cu").read_text("utf-8")
MACHINE = mm.HMM(2, 32, 50, 5, bank_bytes=4)
ENGINES = pytest.mark.parametrize("engine", ["array", "events"])


def ran(name, *args, schedule="asynchronous", grid=1, **how):
    program = PtxProgram(read(PTX), name, text={"clocks.cu": SOURCE}, ptx=PTX)
    found = program.specialized(args)
    how = {"grid": grid, "block": 64, "schedule": schedule} | how
    return MACHINE.run(found.program, *found.args, **how)


@ENGINES
def test_the_time_is_that_of_the_warp(engine):
    run = ran("timed", np.zeros(4, np.int64), np.zeros(128, np.float32), grid=2, engine=engine)
    # The four warps load from 0 to 3 on, store from 50 to 53 on, and meet at the barrier at 102 and
    # 103. Their first threads store the start, and read the clock again 50 later.
    assert run.arrays["times"].tolist() == [0, 0, 152, 153]
    assert run.time == 203
    assert run.engine == "events"


@ENGINES
def test_in_lock_step_all_warps_are_at_one_time(engine):
    how = {"schedule": "synchronous", "engine": engine}
    run = ran("timed", np.zeros(4, np.int64), np.zeros(128, np.float32), grid=2, **how)
    # Two rounds of 4 stages, with latency 50, and one of 2 blocks
    assert run.arrays["times"].tolist() == [0, 0, 2 * 53 + 51, 2 * 53 + 51]


@ENGINES
def test_halves_and_other_clocks_are_the_same_time(engine):
    run = ran("parts", np.zeros(5, np.uint32), np.zeros(64, np.float32), engine=engine)
    time = 50 + 0
    assert run.arrays["words"].tolist() == [time, 0, time, run.arrays["words"][3], 0]
    assert run.arrays["words"][3] >= time


@ENGINES
def test_the_time_may_decide(engine):
    run = ran("decided", np.zeros(64, np.int32), grid=1, engine=engine)
    assert run.arrays["out"].tolist() == [0] * 64
    run = ran("decided", np.zeros(1024, np.int32), grid=1, block=1024, engine=engine)
    assert run.arrays["out"].tolist() == [0] * 32 * 11 + [1] * 32 * 21


def test_a_loop_that_waits_for_the_clock_never_ends():
    with pytest.raises(EndlessError, match="repeat this loop forever"):
        ran("waiting", np.zeros(1, np.int64))


def test_the_checker_and_cuda_c_know_the_clock():
    program = PtxProgram(read(PTX), "timed", text={"clocks.cu": SOURCE}, ptx=PTX)
    found = program.specialized((np.zeros(4, np.int64), np.zeros(128, np.float32)))
    assert MACHINE.check(found.program, *found.args, grid=2, block=64).ok
    assert "clock64()" in kernel(found.program, *found.args, grid=2, block=64).source
