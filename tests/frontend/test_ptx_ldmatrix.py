"""Rows of matrices in shared memory: ldmatrix and stmatrix, one request for each instruction."""

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import AddressError, RaisedError
from mmsim.frontend.ptx.kernel import PtxProgram
from mmsim.frontend.ptx.text import read

MACHINE = mm.HMM(1, 32, 50, 5, bank_bytes=4)
ROWS = 64
LANES = np.arange(32)
OUT, GIVEN = "argument_1", "argument_2"
PTX = """
.version 8.3
.target sm_90
.address_size 64
.visible .entry matrices(.param .u64 out, .param .u64 given, .param .u64 places)
{{
    .reg .b32 %r<12>;
    .reg .b64 %rd<12>;
    .shared .align 16 .b8 rows[1024];
    ld.param.u64 %rd0, [out];
    ld.param.u64 %rd1, [given];
    ld.param.u64 %rd2, [places];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd3, %r0, 32;
    add.s64 %rd4, %rd1, %rd3;
    mov.u64 %rd5, rows;
    add.s64 %rd6, %rd5, %rd3;
    ld.global.v2.b64 {{%rd7, %rd8}}, [%rd4];
    st.shared.v2.b64 [%rd6], {{%rd7, %rd8}};
    ld.global.v2.b64 {{%rd7, %rd8}}, [%rd4+16];
    st.shared.v2.b64 [%rd6+16], {{%rd7, %rd8}};
    mul.wide.u32 %rd9, %r0, 4;
    add.s64 %rd10, %rd2, %rd9;
    ld.global.u32 %r1, [%rd10];
    mov.u32 %r2, rows;
    add.s32 %r3, %r2, %r1;
    mul.wide.u32 %rd9, %r0, {bytes};
    add.s64 %rd11, %rd0, %rd9;
    bar.warp.sync -1;
    {move}
    ret;
}}
"""
LOAD = """ldmatrix.sync.aligned.m8n8.x{count}{turned}.shared.b16 {{{registers}}}, [%r3];"""
STORE = """stmatrix.sync.aligned.m8n8.x{count}{turned}.shared.b16 [%r3], {{{registers}}};"""
KEEP = "st.global.b32 [%rd11+{}], %r{};"
TAKE = "ld.global.b32 %r{1}, [%rd11+{0}];"
BACK = """bar.warp.sync -1;
    ld.shared.v2.b64 {%rd7, %rd8}, [%rd6];
    st.global.v2.b64 [%rd4], {%rd7, %rd8};
    ld.shared.v2.b64 {%rd7, %rd8}, [%rd6+16];
    st.global.v2.b64 [%rd4+16], {%rd7, %rd8};"""


def program(is_load, count, turned):
    registers = ", ".join(f"%r{4 + number}" for number in range(count))
    how = {"count": count, "turned": turned, "registers": registers}
    each = [(KEEP if is_load else TAKE).format(4 * k, 4 + k) for k in range(count)]
    lines = [LOAD.format(**how), *each] if is_load else [*each, STORE.format(**how), BACK]
    ptx = PTX.format(bytes=4 * count, move="\n    ".join(lines))
    return PtxProgram(read(ptx), "matrices", ptx=ptx)


def ran(is_load, places, count, turned="", **how):
    """A run whose words are numbers in order, those of `given` from 1000 on."""
    words = np.arange(32 * count, dtype=np.int32).reshape(32, count)
    given = np.arange(1000, 1000 + ROWS * 4, dtype=np.int32).reshape(ROWS, 4)
    args = (words, given, np.array(places, np.int32))
    found = program(is_load, count, turned).specialized(args)
    how = {"schedule": "asynchronous"} | how
    return MACHINE.run(found.program, *found.args, grid=1, block=32, **how)


def fragment(rows, turned):
    """The word of each lane of a matrix of 8 rows of 16 bytes."""
    halves = np.ascontiguousarray(rows).view(np.int16).reshape(8, 8)
    return np.ascontiguousarray(halves.T if turned else halves).view(np.int32).ravel()


def moving(run, kind):
    """The counts of the line of ldmatrix or stmatrix."""
    every = [row for row in run.accesses if row.space == "shared" and row.kind == kind]
    row = every[-1] if kind == "write" else every[0]
    return row.requests, row.stages, row.least


@pytest.mark.parametrize("engine", ["array", "events"])
@pytest.mark.parametrize("turned", ["", ".trans"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_load_is_one_request_for_rows_at_the_lanes_own_addresses(count, turned, engine):
    places = LANES * 5 % ROWS * 16
    places[8 * count :] = 1 << 20  # an address that isn't used may be any
    run = ran(True, places, count, turned, engine=engine)
    given = run.arrays[GIVEN]
    for number in range(count):
        rows = given[places[8 * number : 8 * number + 8] // 16]
        assert run.arrays[OUT][:, number].tolist() == fragment(rows, turned).tolist()
    assert moving(run, "read") == (1, count, count)


@pytest.mark.parametrize("engine", ["array", "events"])
@pytest.mark.parametrize("turned", ["", ".trans"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_store_is_one_request_for_rows_at_the_lanes_own_addresses(count, turned, engine):
    places = LANES * 5 % ROWS * 16
    places[8 * count :] = 1 << 20
    run = ran(False, places, count, turned, engine=engine)
    for number in range(count):
        rows = run.arrays[GIVEN][places[8 * number : 8 * number + 8] // 16]
        assert fragment(rows, turned).tolist() == run.arrays[OUT][:, number].tolist()
    untouched = np.delete(np.arange(ROWS), places[: 8 * count] // 16)
    wanted = 1000 + 4 * untouched[:, None] + np.arange(4)
    assert (run.arrays[GIVEN][untouched] == wanted).all()
    assert moving(run, "write") == (1, count, count)


def test_a_matrix_takes_as_many_stages_as_rows_begin_in_one_bank():
    """Rows 128 bytes apart: the 8 of each matrix begin in bank 0, four times two rows."""
    assert moving(ran(True, LANES % 8 * 128, 4), "read") == (1, 32, 4)
    assert moving(ran(False, LANES % 8 * 128, 4), "write") == (1, 32, 4)


def test_rows_that_lanes_share_in_pairs_are_no_fewer_phases():
    """A read of 16 bytes takes half the phases then, and ldmatrix doesn't (docs/machines.md)."""
    runs = [ran(True, LANES // 2 * 16, 4, engine=engine) for engine in ("array", "events")]
    assert [moving(run, "read") for run in runs] == [(1, 4, 4)] * 2
    assert runs[0].time == runs[1].time
    (row,) = (one for one in runs[1].trace.dispatches if one.matrix)
    assert (row.kind, row.phase_count, max(row.stages)) == ("read", 4, 3)
    again = type(runs[1]).from_json(runs[1].to_json())
    assert again.trace.dispatches == runs[1].trace.dispatches


def test_a_row_begins_at_a_multiple_of_16_bytes_in_the_array():
    with pytest.raises(RaisedError, match="an address of 16 bytes is no multiple of 16"):
        ran(True, LANES * 16 + 8, 4)
    with pytest.raises(AddressError, match="rows"):
        ran(True, LANES * 16 + 1024, 4)
