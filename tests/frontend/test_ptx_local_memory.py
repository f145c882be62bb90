"""Local memory of PTX: it lies in global memory, word by word for the threads of a warp.

`ptx/stack.ptx` is what NVRTC made of `ptx/stack.cu`, and `ptx/stack_debug.ptx` with -G, without the
sections for a debugger: all variables are then on a stack in local memory.
"""

from pathlib import Path

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import AddressError, LaunchError
from mmsim.frontend.ptx.kernel import PtxProgram
from mmsim.frontend.ptx.text import read
from mmsim.gpu import kernel

HERE = Path(__file__).parent / "ptx"
PTX = {name: (HERE / f"{name}.ptx").read_text("utf-8") for name in ("stack", "stack_debug")}
MODULES = {name: read(text) for name, text in PTX.items()}
SOURCE = (HERE / "stack.cu").read_text("utf-8")
MACHINE = mm.HMM(2, 32, 50, 5, bank_bytes=4)
I = np.arange(64)


def program(name, file="stack"):
    return PtxProgram(MODULES[file], name, text={"stack.cu": SOURCE}, ptx=PTX[file])


def ran(name, *args, block=64, grid=1, machine=MACHINE, file="stack", **how):
    found = program(name, file).specialized(args)
    how = {"schedule": "asynchronous"} | how
    return machine.run(found.program, *found.args, grid=grid, block=block, **how)


def local(run):
    """The accesses of local memory: their kind, requests and stages."""
    rows = [row for row in run.accesses if row.array == "local_memory"]
    assert {row.space for row in rows} <= {"global"}
    return sorted((row.kind, row.requests, row.stages) for row in rows)


def mixed(n):
    out = []
    for i in range(64):
        own = np.array([0x0807060504030201, i], np.int64)
        own.view("u1")[n & 7] += 100
        own.view("i2")[n + 1 & 3] += 1
        words = own.view("i4")
        out.append(words[n >> 1 & 1] + words[2 + (n & 1)])
    return out


CASES = {
    "same": (np.int32, 3, I * 3),
    "other": (np.int32, 3, I * ((I + 3) & 7)),
    "wide": (np.float64, 2, I + 2),
    "pairs": (np.float32, 3, I + 3),
    "letters": (np.uint8, 7, (I + 7) % 256),
    "mixed": (np.int32, 2, mixed(2)),
    "held": (np.int32, 3, I * 3),
    "passed": (np.int32, 4, I + I + 3),
    "known": (np.int32, None, I + 3),
}


@pytest.mark.parametrize("file", PTX)
@pytest.mark.parametrize("schedule", ["asynchronous", "synchronous"])
@pytest.mark.parametrize("name", CASES)
def test_a_thread_reads_what_it_wrote(name, schedule, file):
    dtype, n, wanted = CASES[name]
    args = (np.zeros(64, dtype),) if n is None else (np.zeros(64, dtype), n)
    how = {"schedule": schedule, "file": file}
    runs = [ran(name, *args, engine=engine, **how) for engine in ("array", "events")]
    for run in runs:
        assert run.arrays["out"].tolist() == list(wanted)
    assert runs[0].time == runs[1].time
    assert local(runs[0]) == local(runs[1])


@pytest.mark.parametrize("file", PTX)
def test_lanes_that_take_one_word_access_adjacent_ones(file):
    run = ran("same", np.zeros(64, np.int32), 3, file=file)
    # 8 words are stored, one is loaded, by 2 warps
    assert local(run) == [("read", 2, 2), ("write", 16, 16)]


def test_lanes_that_take_several_words_access_as_many_lines():
    run = ran("other", np.zeros(64, np.int32), 0)
    assert local(run) == [("read", 2, 2 * 8), ("write", 16, 16)]


def test_doubles_are_two_words():
    run = ran("wide", np.zeros(64), 1)
    assert local(run) == [("read", 4, 4), ("write", 16, 16)]


def test_a_vector_is_an_access_of_each_word():
    run = ran("pairs", np.zeros(64, np.float32), 1)
    assert local(run) == [("read", 4, 4), ("write", 16, 16)]


def test_bytes_of_one_word_are_one_access():
    run = ran("letters", np.zeros(64, np.uint8), 5)
    # 4 bytes each, of 32 lanes: a line of 128 bytes
    assert local(run) == [("read", 2, 2), ("write", 6, 6)]


def test_known_indices_are_registers_and_free():
    assert local(ran("known", np.zeros(64, np.int32))) == []


@pytest.mark.parametrize("machine", [mm.DMM(8, 3), mm.UMM(8, 3), mm.HMM(2, 8, 20, 2)])
def test_other_machines_have_it_in_their_memory(machine):
    for engine in ("array", "events"):
        out = np.zeros(80, np.int32)
        run = ran("same", out, 5, grid=2, block=40, machine=machine, engine=engine)
        assert run.arrays["out"].tolist() == [*range(0, 200, 5), *range(0, 200, 5)]


@pytest.mark.parametrize("n", [8, -1, 1 << 20])
def test_an_index_out_of_range_is_an_error(n):
    for engine in ("array", "events"):
        with pytest.raises(AddressError, match="'local_memory'"):
            ran("beyond", np.zeros(64, np.int32), n, engine=engine)


def test_a_trace_and_the_checker_have_it_as_global_memory(tmp_path):
    found = program("other").specialized((np.zeros(64, np.int32), 1))
    report = MACHINE.check(found.program, *found.args, grid=1, block=64, shared_words=8)
    assert report.ok
    run = MACHINE.run(found.program, *found.args, grid=1, block=64, engine="events")
    dispatches = [one for one in run.trace.dispatches if one.array == "local_memory"]
    assert len(dispatches) == 18
    assert {one.unit for one in dispatches} == {"global"}
    again = type(run).from_json(run.to_json())
    assert again.trace.dispatches == run.trace.dispatches
    run.player().save(tmp_path / "player.html")
    assert "local_memory" in (tmp_path / "player.html").read_text("utf-8")


def test_cuda_c_has_no_name_for_it():
    found = program("other").specialized((np.zeros(64, np.int32), 1))
    with pytest.raises(LaunchError, match="CUDA C has no name for the local memory of 'other'"):
        kernel(found.program, *found.args, grid=1, block=64)
