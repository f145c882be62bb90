"""Needs of the kernels of CUB and Thrust beyond those of others, one small kernel each."""

import re

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import LanguageError, LaunchError
from mmsim.frontend.ptx.kernel import PtxProgram
from mmsim.frontend.ptx.raw import Allocation, binder
from mmsim.frontend.ptx.text import read
from mmsim.frontend.ptx.unassigned import unassigned

MACHINE = mm.HMM(2, 32, 50, 5, bank_bytes=4)
ENGINES = ("array", "events")
HEAD = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k({parameters})
{{
    .reg .pred %p<9>;
    .reg .b16 %rs<9>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    .shared .align 16 .b8 tile[256];
    .shared .align 8 .b64 bar;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd1, %r1, 4;
    ld.param.u64 %rd2, [a];
    {code}
    ret;
}}
"""


def program(code, parameters=".param .u64 a, .param .u64 out", **how):
    return PtxProgram(read(HEAD.format(code=code, parameters=parameters)), "k", **how)


def arrays(code, *args, engine="array", threads=64, **how):
    special = program(code, **how).specialized(args)
    given = {"grid": 1, "block": threads, "schedule": "asynchronous", "engine": engine}
    return MACHINE.run(special.program, *special.args, **given).arrays


def findings(code, *args):
    special = program(code).specialized(args)
    given = {"grid": 1, "block": 64, "schedule": "asynchronous"}
    found = MACHINE.check(special.program, *special.args, **given).findings
    return {one.kind for one in found}


A = np.arange(64, dtype=np.int32)
ZEROS = np.zeros(64, np.int32)

# Bulk copies: the second warp arrives, and expects the bytes, before the first one copies them.

BULK = """
    ld.param.u64 %rd3, [out];
    setp.ne.u32 %p1, %r1, 0;
    setp.ne.u32 %p2, %r1, 32;
    mov.u32 %r2, bar;
    mov.u32 %r3, tile;
    @%p1 bra ready;
    mbarrier.init.shared::cta.b64 [%r2], 1;
ready:
    bar.sync 0;
    @%p2 bra expected;
    mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %rd5, [%r2], 256;
expected:
    @%p1 bra copied;
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r3], [%rd2], 256, [%r2];
copied:
    {wait}
    add.s32 %r4, %r3, 252;
    mul.lo.s32 %r5, %r1, 4;
    sub.s32 %r4, %r4, %r5;
    ld.shared.u32 %r6, [%r4];
    add.s64 %rd4, %rd3, %rd1;
    st.global.u32 [%rd4], %r6;
"""
WAIT = """
    mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2], 0;
    @!%p3 bra copied;
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_barrier_waits_for_the_bytes_of_a_bulk_copy(engine):
    found = arrays(BULK.format(wait=WAIT), A, ZEROS, engine=engine)
    assert np.array_equal(found["argument_2"], A[::-1])


def test_a_bulk_copy_without_a_wait_is_a_race():
    assert findings(BULK.format(wait=WAIT), A, ZEROS) == set()
    assert findings(BULK.format(wait=""), A, ZEROS) == {"race"}


BACK = """
    ld.param.u64 %rd3, [out];
    mov.u32 %r3, tile;
    mul.lo.s32 %r5, %r1, 4;
    add.s32 %r4, %r3, %r5;
    st.shared.u32 [%r4], %r1;
    bar.sync 0;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra done;
    mov.u32 %r6, {size};
    cp.async.bulk.global.shared::cta.bulk_group [%rd3], [%r3], %r6;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
done:
"""


@pytest.mark.parametrize("size", [0, 16, 256])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_bulk_copy_into_global_memory(engine, size):
    found = arrays(BACK.format(size=size), A, ZEROS, engine=engine)["argument_2"]
    assert np.array_equal(found, np.where(size > 4 * A, A, 0))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 16;", "arrive and wait"),
        ("cp.async.bulk.prefetch.L2.global [%rd2], 16;", "copy with cuda::memcpy_async"),
        (
            "cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes "
            "[tile], [%rd2], 16, [bar];",
            "copy with",
        ),
        ("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd2], [tile], 16;", "copy"),
    ],
)
def test_other_bulk_instructions_are_refused(code, words):
    with pytest.raises(
        LanguageError, match=f"(has no meaning in the model|the model leaves out); .*{words}"
    ):
        arrays(code, A, ZEROS)


# Registers

PART = """
    ld.param.u64 %rd3, [out];
    setp.ge.u32 %p1, %r1, 10;
    add.s64 %rd4, %rd2, %rd1;
    @%p1 bra behind;
    ld.global.u32 %r2, [%rd4];
behind:
    shfl.sync.idx.b32 %r3, %r2, 0, 31, -1;
    add.s64 %rd5, %rd3, %rd1;
    st.global.u32 [%rd5], %r3;
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_register_that_was_not_set_has_any_value(engine):
    found = arrays(PART, A + 5, ZEROS, engine=engine, threads=32)["argument_2"]
    assert set(found[:32]) == {5}


def test_registers_that_may_be_read_first():
    code = """
        mov.u32 %r1, 1;
        @%p1 bra second;
        mov.u32 %r2, %r1;
        mov.u32 %r4, %r3;
        bra end;
    second:
        @%p1 mov.u32 %r5, 1;
        mov.u32 %r6, %r5;
    end:
        mov.u32 %r7, %r2;
        mov.u32 %r7, %r6;
        ret;
        mov.u32 %r8, %rd8;
    """
    kernel = read(HEAD.format(code=code, parameters=".param .u64 a")).functions["k"]
    assert set(unassigned(kernel.body, {})) == {"%p1", "%r3", "%r5", "%r2", "%r6", "%tid.x"}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_register_of_8_bits(engine):
    code = """
        ld.param.u64 %rd3, [out];
        add.s64 %rd4, %rd2, %rd1;
        { .reg .u8 datum; ld.global.nc.u8 datum, [%rd4]; cvt.u16.u8 %rs1, datum; }
        cvt.u32.u16 %r2, %rs1;
        add.s64 %rd5, %rd3, %rd1;
        st.global.u32 [%rd5], %r2;
    """
    found = arrays(code, A + 250, ZEROS, engine=engine)["argument_2"]
    assert np.array_equal(found, (A + 250) % 256)


# Parameters and pointers

STRUCT = ".param .u64 a, .param .align 8 .b8 s[24]"
NAMED = """
    mov.b64 %rd6, s;
    add.s64 %rd7, %rd6, 8;
    ld.param.u32 %r2, [%rd7+8];
    ld.param.u8 %rs1, [%rd6+1];
    cvt.u32.u16 %r3, %rs1;
    add.s32 %r2, %r2, %r3;
    add.s64 %rd4, %rd2, %rd1;
    st.global.u32 [%rd4], %r2;
    {more}
"""


def test_a_parameter_is_loaded_through_a_register():
    held = bytes([0, 7, *[0] * 14, 100, 0, 0, 0, *[0] * 4])
    found = arrays(NAMED.format(more=""), ZEROS.copy(), held, parameters=STRUCT)
    assert set(found["argument_1"]) == {107}


class Memory:
    """The memory of a device with some allocations."""

    def __init__(self, *sizes):
        self.named = {}
        starts = [(1 << 40) + 4096 * number for number, _ in enumerate(sizes)]
        self.all = [
            Allocation(start, size, np.zeros(size, np.uint8))
            for start, size in zip(starts, sizes, strict=True)
        ]

    def find(self, address):
        found = (one for one in self.all if one.address <= address <= one.address + one.size)
        return next(found, None)

    def live(self):
        return self.all

    def described(self, found):
        return f"{found.size} bytes"

    def address(self, variable):
        return None


ALIGNED = """
    ld.param.u64 %rd3, [out];
    ld.global.u64 %rd4, [%rd3];
    add.s64 %rd5, %rd2, %rd4;
    add.s64 %rd6, %rd5, 15;
    and.b64 %rd6, %rd6, -16;
    sub.s64 %rd7, %rd6, %rd5;
    add.s64 %rd7, %rd5, %rd7;
    and.b64 %rd8, %rd5, 15;
    sub.s64 %rd8, %rd5, %rd8;
    st.global.u32 [%rd7], 7;
    st.global.u32 [%rd8], 8;
"""


def test_an_address_that_is_aligned_stays_in_its_array():
    memory = Memory(64, *[16] * 80)  # more than a kernel that goes anywhere may access
    memory.all[1].memory[:1] = 4
    words = [one.address.to_bytes(8, "little") for one in memory.all[:2]]
    found = program(ALIGNED, binding=binder(memory)).specialized(words)
    arrays = MACHINE.run(found.program, *found.args, grid=1, block=1).arrays
    (own,) = (held for name, held in arrays.items() if re.fullmatch("argument_1", name))
    assert own.view(np.int32)[:5].tolist() == [8, 0, 0, 0, 7]


def test_a_null_pointer_that_nothing_follows_is_an_argument():
    code = """
        ld.param.u64 %rd3, [out];
        setp.ge.u32 %p1, %r1, 0;
        @%p1 bra end;
        ld.global.u32 %r2, [%rd3];
        st.global.u32 [%rd2], %r2;
    end:
        st.global.u32 [%rd2], 5;
    """
    memory = Memory(64, *[16] * 80)
    words = [memory.all[0].address.to_bytes(8, "little"), bytes(8)]
    found = program(code, binding=binder(memory)).specialized(words)
    arrays = MACHINE.run(found.program, *found.args, grid=1, block=1).arrays
    assert arrays["argument_1"].view(np.int32)[0] == 5


def test_a_kernel_without_memory_computes_with_words_that_it_never_loads():
    code = """
        setp.ge.u32 %p1, %r1, 0;
        @%p1 bra end;
        ld.global.v2.u32 {%r2, %r3}, [%rd2];
        add.s32 %r4, %r2, %r3;
        st.global.u32 [%rd2], %r4;
    end:
    """
    found = program(code, binding=binder(Memory())).specialized([bytes(8), bytes(8)])
    assert MACHINE.run(found.program, *found.args, grid=1, block=1).time == 0


def test_an_argument_that_no_instruction_uses_stays():
    a, b = ZEROS.copy(), A.copy()
    code = "add.s64 %rd4, %rd2, %rd1; st.global.u32 [%rd4], 1;"
    found = program(code).specialized((a, b))
    run = MACHINE.run(found.program, *found.args, grid=1, block=64)
    found.store(run.arrays)
    assert a.all()
    assert np.array_equal(b, A)


def test_a_struct_may_hold_the_address_of_freed_memory():
    memory = Memory(256, 16)
    memory.all[1] = memory.all[1]._replace(is_freed=True)
    first, second = (one.address.to_bytes(8, "little") for one in memory.all)
    found = program(NAMED.format(more=""), STRUCT, binding=binder(memory)).specialized(
        (first, second + bytes(16))
    )
    arrays = MACHINE.run(found.program, *found.args, grid=1, block=1).arrays
    assert arrays["argument_1"].view(np.int32)[0] == memory.all[1].address >> 8 & 255
    with pytest.raises(LaunchError, match="points into memory that was freed"):
        program("", binding=binder(memory)).specialized((first, second))
