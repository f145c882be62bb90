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
from mmsim.meaning import meaning

HERE = Path(__file__).parent / "ptx"
PTX = (HERE / "clocks.ptx").read_text("utf-8")
SOURCE = (HERE / "clocks.cu").read_text("utf-8")
MACHINE = mm.HMM(2, 32, 50, 5, bank_bytes=4)
SCHEDULES = pytest.mark.parametrize("schedule", ["asynchronous", "synchronous"])
ENGINES = pytest.mark.parametrize("engine", ["array", "events"])


def ran(name, *args, schedule="asynchronous", grid=1, machine=MACHINE, **how):
    program = PtxProgram(read(PTX), name, text={"clocks.cu": SOURCE}, ptx=PTX)
    found = program.specialized(args)
    how = {"grid": grid, "block": 64, "schedule": schedule} | how
    return machine.run(found.program, *found.args, **how)


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
def test_each_reading_takes_a_time_unit(engine):
    run = ran("parts", np.zeros(5, np.uint32), np.zeros(64, np.float32), engine=engine)
    # All lanes read the lower half at 50, the upper one at 51, the whole at 52, the clock's upper
    # half at 53. The first lane stores and reads the clock: the store that completes last, at 153
    # or later, is its warp's third.
    assert run.arrays["words"].tolist() == [50, 0, 52, run.arrays["words"][3], 0]
    assert run.arrays["words"][3] >= 153


@ENGINES
def test_the_time_may_decide(engine):
    run = ran("decided", np.zeros(64, np.int32), grid=1, engine=engine)
    assert run.arrays["out"].tolist() == [0] * 64
    run = ran("decided", np.zeros(1024, np.int32), grid=1, block=1024, engine=engine)
    assert run.arrays["out"].tolist() == [0] * 32 * 11 + [1] * 32 * 21


@ENGINES
@SCHEDULES
def test_a_loop_waits_for_the_clock(engine, schedule):
    run = ran("waiting", np.zeros(1, np.int64), engine=engine, schedule=schedule)
    # It leaves the loop at the reading 100. Its two warps read once more, and all lanes store one
    # word of 8 bytes, from 101 and 102 on.
    assert run.arrays["out"].tolist() == [101]
    assert run.time == 101 + 2 + 50 - 1


@ENGINES
def test_the_warps_of_a_kernel_that_only_computes(engine):
    how = {"engine": engine, "grid": 2, "block": 96}
    run = ran("alone", 400, **how)
    assert run.time == 1200
    assert run.engine == engine
    assert ran("alone", 400, schedule="synchronous", **how).time == 1200


def test_the_next_blocks_begin_when_others_end():
    machine = mm.Cached(2, 32, 50, 5, bank_bytes=4, resident=64)
    assert ran("alone", 400, machine=machine, grid=5).time == 3 * 800


def test_a_warp_with_requests_under_way_waits_from_their_dispatch():
    machine = mm.Cached(2, 32, 50, 5, bank_bytes=4, under_way=2)
    run = ran("waiting", np.zeros(1, np.int64), machine=machine)
    assert run.arrays["out"].tolist() == [101]
    assert run.time == 152
    run = ran("parts", np.zeros(5, np.uint32), np.zeros(64, np.float32), machine=machine)
    # The first warp stores at 0, reads at 0, 1, 2 and 3, and stores at 3. Each further store waits
    # until one of the two under way has completed: at 50, at 53.
    assert run.arrays["words"].tolist() == [0, 0, 2, 53, 0]


@pytest.fixture(params=[True, False], ids=["together", "one by one"])
def trips(request, monkeypatch):
    """The trips of a loop that waits, taken together or one by one."""
    if not request.param:
        monkeypatch.setattr(meaning.ClockLoop, "of", lambda *_: None)
    return request.param


@SCHEDULES
def test_lanes_leave_at_their_own_reading(trips, schedule):
    run = ran("apart", np.zeros(64, np.uint32), 1000, schedule=schedule)
    assert run.arrays["out"].tolist() == [1000 + 100 * (thread % 3) for thread in range(64)]


def test_a_loop_that_counts_its_trips(trips):
    assert ran("kept", np.zeros(64, np.int32), 500).arrays["out"].tolist() == [500] * 64


def test_a_test_of_one_time(trips):
    assert ran("exact", np.zeros(64, np.int64), 500).arrays["out"].tolist() == [500] * 64


def test_the_trips_count_as_steps(trips):
    with pytest.raises(EndlessError, match="no end after max_accesses=90 accesses"):
        ran("waiting", np.zeros(1, np.int64), max_accesses=90)


def test_a_long_wait_takes_few_steps():
    run = ran("late", np.zeros(64, np.uint32), max_accesses=1 << 33)
    assert run.arrays["out"].tolist() == [0xFFFFFFF0] * 64
    run = ran("apart", np.zeros(64, np.uint32), 10**9, max_accesses=1 << 33)
    assert run.arrays["out"].tolist()[:3] == [10**9, 10**9 + 100, 10**9 + 200]


def test_a_trace_shows_the_wait():
    run = ran("waiting", np.zeros(1, np.int64), engine="events", trace=True)
    assert run.time == 152


def test_the_checker_and_cuda_c_know_the_clock():
    program = PtxProgram(read(PTX), "timed", text={"clocks.cu": SOURCE}, ptx=PTX)
    found = program.specialized((np.zeros(4, np.int64), np.zeros(128, np.float32)))
    assert MACHINE.check(found.program, *found.args, grid=2, block=64).ok
    assert "clock64()" in kernel(found.program, *found.args, grid=2, block=64).source
