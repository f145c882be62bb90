"""Kernels of CUDA C++ with known results, through `RawModule`, on both engines."""

import numpy as np
import pytest

import mmsim as mm
from tests.cudart.kernels.expected import CASES

MACHINE = mm.HMM(2, 32, 50, 5, bank_bytes=4)


def kernel_of(case):
    return mm.RawModule(code=case.ptx).get_function(case.entry)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_launch_leaves_the_expected_arrays(case):
    args = case.arguments()
    kernel_of(case)(case.grid, case.block, args, shared_mem=case.shared_mem)
    case.check(args)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_both_engines_have_one_time_and_one_result(case):
    program = kernel_of(case).program.with_shared(case.shared_mem)
    found = []
    for engine in ("array", "events"):
        special = program.specialized(case.arguments())
        how = {"grid": case.grid, "block": case.block, "schedule": "asynchronous"}
        found.append(MACHINE.run(special.program, *special.args, engine=engine, **how))
    array, events = found
    assert array.time == events.time
    assert array.accesses == events.accesses
    for name, own in events.arrays.items():
        assert np.array_equal(array.arrays[name], own, equal_nan=own.dtype.kind == "f")


def test_kernels_of_a_module_share_its_variables():
    code = """
    .version 8.0
    .target sm_80
    .address_size 64
    .global .u32 count = 3;
    .visible .entry add() {
        .reg .b32 %r<3>;
        ld.global.u32 %r1, [count];
        add.u32 %r2, %r1, 4;
        st.global.u32 [count], %r2;
        ret;
    }
    .visible .entry get(.param .u64 out) {
        .reg .b32 %r<2>;
        .reg .b64 %rd<2>;
        ld.param.u64 %rd1, [out];
        ld.global.u32 %r1, [count];
        st.global.u32 [%rd1], %r1;
        ret;
    }
    """
    module = mm.RawModule(code=code)
    out = np.zeros(1, np.int32)
    for wanted in (7, 11):
        module.get_function("add")(1, 1, ())
        module.get_function("get")(1, 1, (out,))
        assert out[0] == wanted


def test_a_race_names_both_lines_of_the_source():
    case = next(case for case in CASES.values() if case.function == "tiled")
    ptx = case.ptx.replace("bar.sync", "// bar.sync")
    kernel = mm.RawModule(code=ptx).get_function("tiled")
    args = case.arguments()
    report = MACHINE.check(kernel, *args, grid=case.grid, block=case.block)
    assert [one.kind for one in report.findings][:1] == ["race"]


def test_an_array_that_the_kernel_does_not_use_stays():
    code = """
    .version 8.0
    .target sm_80
    .address_size 64
    .visible .entry nothing(.param .u64 out) { ret; }
    """
    out = np.arange(3, dtype=np.int32)
    mm.RawModule(code=code).get_function("nothing")(1, 1, (out,))
    assert out.tolist() == [0, 1, 2]


def test_a_struct_that_is_read_at_a_computed_place():
    code = """
    .version 8.0
    .target sm_80
    .address_size 64
    .visible .entry pick(.param .align 4 .b8 table[20], .param .u64 out) {
        .reg .b32 %r<5>;
        .reg .b64 %rd<6>;
        ld.param.u64 %rd1, [out];
        mov.b64 %rd2, table;
        mov.u32 %r1, %tid.x;
        mul.wide.u32 %rd3, %r1, 4;
        add.s64 %rd4, %rd2, %rd3;
        ld.param.u32 %r2, [%rd4];
        ld.param.u32 %r3, [table+16];
        add.u32 %r2, %r2, %r3;
        add.s64 %rd5, %rd1, %rd3;
        st.global.u32 [%rd5], %r2;
        ret;
    }
    """
    kernel = mm.RawModule(code=code).get_function("pick")
    out = np.zeros(4, np.int32)
    for first in (0, 7):
        table = np.arange(first, first + 5, dtype=np.int32)
        kernel(1, 4, (table.tobytes(), out))
        assert out.tolist() == (table[:4] + first + 4).tolist()
    assert [one.array for one in kernel.last.accesses] == ["argument_1", "argument_2"]


UNSET = """
    .version 8.0
    .target sm_80
    .address_size 64
    .visible .entry copies(.param .u64 out) {
        .reg .pred %p<2>;
        .reg .b32 %r<5>;
        .reg .b64 %rd<4>;
        ld.param.u64 %rd1, [out];
        mov.u32 %r1, %tid.x;
        setp.gt.u32 %p1, %r1, 1;
        @%p1 bra SKIP;
        mov.u32 %r2, 7;
    SKIP:
        mov.b32 %r3, %r2;
        mov.u32 %r4, %r1;
        @%p1 bra STORE;
        add.u32 %r4, %r3, %r1;
    STORE:
        mul.wide.u32 %rd2, %r1, 4;
        add.s64 %rd3, %rd1, %rd2;
        st.global.u32 [%rd3], %r4;
        ret;
    }
    """


def test_a_register_that_is_only_copied_may_be_unset():
    out = np.zeros(4, np.int32)
    mm.RawModule(code=UNSET).get_function("copies")(1, 4, (out,))
    assert out.tolist() == [7, 8, 2, 3]


def test_a_register_that_is_only_stored_may_be_unset():
    out = np.full(4, 9, np.int32)
    code = UNSET.replace("st.global.u32 [%rd3], %r4", "st.global.u32 [%rd3], %r2")
    mm.RawModule(code=code).get_function("copies")(1, 4, (out,))
    assert out.tolist() == [7, 7, 0, 0]
