"""`malloc` and `free` in kernels: where allocations lie, and how they are freed.

`ptx/heap.ptx` is what NVRTC made of `ptx/heap.cu`.
"""

from pathlib import Path

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import RaisedError
from mmsim.frontend.ptx.heap import HEAP, HEAP_BYTES, STATE, with_heap
from mmsim.frontend.ptx.kernel import PtxProgram
from mmsim.frontend.ptx.text import read

HERE = Path(__file__).parent / "ptx"
PTX = (HERE / "heap.ptx").read_text("utf-8")
SOURCE = (HERE / "heap.cu").read_text("utf-8")
MACHINE = mm.HMM(2, 32, 50, 5, bank_bytes=4)
ENGINES = pytest.mark.parametrize("engine", ["array", "events"])
SCHEDULES = pytest.mark.parametrize("schedule", ["asynchronous", "synchronous"])


def specialized(name, *args, size=HEAP_BYTES, memory=None):
    module = with_heap(read(PTX), size)
    program = PtxProgram(module, name, text={"heap.cu": SOURCE}, ptx=PTX, memory=memory)
    return program.specialized(args)


def ran(name, *args, size=HEAP_BYTES, engine="array", schedule="asynchronous", threads=64):
    found = specialized(name, *args, size=size)
    how = {"grid": 1, "block": threads, "engine": engine, "schedule": schedule}
    return MACHINE.run(found.program, *found.args, **how)


@ENGINES
@SCHEDULES
def test_allocations_lie_one_behind_another(engine, schedule):
    arguments = np.zeros(64, np.int64), np.zeros(64, np.int32), 20
    run = ran("filled", *arguments, engine=engine, schedule=schedule)
    assert run.arrays["sums"].tolist() == [5 * i + 10 for i in range(64)]
    assert (np.diff(run.arrays["places"]) == 16 + 32).all()
    assert run.arrays["places"][0] % 16 == 0


@ENGINES
def test_a_full_heap_gives_no_memory(engine):
    arguments = np.zeros(64, np.int64), np.zeros(64, np.int32), 40
    run = ran("filled", *arguments, size=640, engine=engine)
    assert run.arrays["sums"].tolist() == [10 * i + 45 if i < 10 else -1 for i in range(64)]
    assert np.count_nonzero(run.arrays["places"]) == 10
    live, begins = run.arrays[STATE].view(np.int64)[0] & 0xFFFFFF, 640 << 24
    assert (live, run.arrays[STATE].view(np.int64)[0] - live) == (10, begins)


@pytest.mark.parametrize("size", [0, -1, 641])
def test_sizes_that_the_heap_never_has(size):
    run = ran("filled", np.zeros(1, np.int64), np.zeros(1, np.int32), size, size=640, threads=1)
    assert run.arrays["places"].tolist() == [0]
    assert not run.arrays[STATE].any()


@ENGINES
def test_the_heap_begins_anew_when_all_is_free(engine):
    run = ran("given_back", np.zeros(64, np.int32), engine=engine)
    assert run.arrays["out"].tolist() == list(range(64))
    assert not run.arrays[STATE].any()


def test_memory_that_is_freed_twice():
    with pytest.raises(
        RaisedError, match=r"gets memory that was freed before, in line 31"
    ) as found:
        ran("twice", np.zeros(1, np.int32), threads=1)
    assert found.value.place.line == 32


def test_memory_that_malloc_did_not_give_is_not_freed():
    held = np.array([0])
    module = mm.RawModule(code=PTX)
    module.get_function("put")(1, 1, (held,))
    with pytest.raises(RaisedError, match=r"free\(\) gets an address that malloc\(\) did not give"):
        module.get_function("take")(1, 1, (held + 8, np.zeros(1, np.int32)))


def test_an_access_of_the_heap_is_one_of_the_line_that_calls():
    run = ran("given_back", np.zeros(64, np.int32))
    heap = [(row.line, row.kind) for row in run.accesses if row.array == STATE]
    assert heap == [(21, "atomic"), (24, "atomic")]
    assert (22, "write") in [(row.line, row.kind) for row in run.accesses if row.array == HEAP]


def test_the_checker_takes_the_order_of_allocations():
    found = specialized("given_back", np.zeros(64, np.int32))
    assert MACHINE.check(found.program, *found.args, grid=1, block=64).ok


def test_a_module_without_allocations_has_no_heap():
    module = read((HERE / "clocks.ptx").read_text("utf-8"))
    assert with_heap(module) is module


def test_memory_of_the_heap_stays_for_later_launches():
    module = mm.RawModule(code=PTX)
    held, found = np.zeros(1, np.int64), np.zeros(1, np.int32)
    for _ in range(2):
        module.get_function("put")(1, 1, (held,))
        module.get_function("take")(1, 1, (held, found))
        assert found == 7
        found[:] = 0
