"""Atomics of several types or sizes on one array: each computes with numbers of its own type."""

import numpy as np
import pytest

import mmsim as mm
from mmsim.frontend.ptx.kernel import PtxProgram
from mmsim.frontend.ptx.text import read

MACHINE = mm.HMM(2, 32, 50, 5, bank_bytes=4)
HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a) {
.reg .b64 %p;
.reg .pred %q;
.shared .align 8 .b8 s[12];
.reg .b32 %r<4>;
.reg .b64 %d<4>;
.reg .f32 %f<4>;
ld.param.u64 %p, [a];
"""


def words(*numbers):
    return np.array(numbers).view(f"u{np.array(numbers).dtype.itemsize}").tolist()


def left(text, array, engine="array"):
    """The words of an array after 64 threads."""
    ptx = HEAD + "\n".join(text.split(";")).replace("\n", ";\n") + ";\nret;\n}\n"
    found = PtxProgram(read(ptx), "k", ptx=ptx).specialized((array,))
    run = MACHINE.run(found.program, *found.args, grid=1, block=64, engine=engine)
    found.store(run.arrays)
    return array, run


CASES = [
    (
        "red.global.inc.u32 [%p], 3; red.global.max.s32 [%p+4], -1; red.global.min.s32 [%p+8], -1",
        np.array([5, 5, 5], np.uint32),
        [3, 5, 2**32 - 1],
    ),
    (
        "red.global.min.u32 [%p], -1; red.global.min.s32 [%p+4], -1; red.global.max.u32 [%p+8], -1",
        np.array([5, 5, 5], np.int32),
        [5, 2**32 - 1, 2**32 - 1],
    ),
    (
        "red.global.add.f32 [%p], 0f3F800000; red.global.max.s32 [%p+4], -1;"
        "red.global.or.b32 [%p+8], 0x80000000; red.global.add.u32 [%p+12], 1",
        np.ones(4, np.float32),
        [*words(np.float32(65), np.float32(1), np.float32(-1)), 0x3F800000 + 64],
    ),
    (
        "red.global.add.f64 [%p], 0d3FF0000000000000; red.global.add.u64 [%p+8], 1;"
        "red.global.max.s64 [%p+16], -1",
        np.array([1, 0, 5], np.float64),
        [*words(65.0), 64, *words(5.0)],
    ),
    (
        "red.global.or.b32 [%p], 0x80000000; red.global.add.u32 [%p+4], 1",
        np.array([1, 0], np.float32),
        [*words(np.float32(-1)), 64],
    ),
    (
        "red.global.max.u64 [%p], -1; atom.global.max.s64 %d1, [%p+8], 7;"
        "st.global.b64 [%p+16], %d1; st.global.f64 [%p+24], 0d3FF0000000000000",
        np.array([5, -5, 0, 0], np.int64),
        [2**64 - 1, 7, 7, 0x3FF0000000000000],
    ),
    (
        "red.global.xor.b32 [%p], 0; st.global.f32 [%p+4], 0f3F800000;"
        "st.global.b32 [%p+8], 0f40000000",
        np.zeros(3, np.uint32),
        [0, 0x3F800000, 0x40000000],
    ),
]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_each_atomic_computes_in_its_own_type(case):
    text, array, wanted = CASES[case]
    times = set()
    for engine in ("array", "events"):
        found, run = left(text, array.copy(), engine)
        times.add(run.time)
        assert found.view(f"u{found.dtype.itemsize}").tolist() == wanted
        assert all(row.stages == row.requests * 32 for row in run.accesses if row.kind == "atomic")
    assert len(times) == 1


ONE = 1 << 32
OF_PARTS = {
    "add.u32": (-1, 5, 5 - 64),
    "add.f32": ("0f3F800000", *words(np.float32(1), np.float32(65))),
    "min.u32": (-1, 5, 5),
    "min.s32": (-1, 5, -1),
    "max.u32": (-1, 5, -1),
    "max.s32": (-1, 5, 5),
    "and.b32": (6, 5, 4),
    "or.b32": (6, 5, 7),
    "xor.b32": (6, 5, 5),
    "exch.b32": (6, 5, 6),
    "inc.u32": (6, 5, (5 + 64) % 7),
    "dec.u32": (6, 5, (5 - 64) % 7),
}
"""An operand, the number before, and the one after 64 threads."""


@pytest.mark.parametrize("engine", ["array", "events"])
@pytest.mark.parametrize("op", OF_PARTS)
def test_an_atomic_takes_a_part_of_the_words_of_larger_ones(op, engine):
    """The first word is for those of 8 bytes; the others have a part that changes, and one not."""
    operand, before, after = OF_PARTS[op]
    array = np.array([0, before + 9 * ONE, 9 + before * ONE], np.uint64)
    text = f"red.global.add.u64 [%p], 1; red.global.{op} [%p+8], {operand};"
    found, run = left(f"{text} red.global.{op} [%p+20], {operand}", array, engine)
    assert found.tolist() == [64, after % ONE + 9 * ONE, 9 + after % ONE * ONE]
    assert {row.stages for row in run.accesses if row.kind == "atomic"} == {64}


@pytest.mark.parametrize("engine", ["array", "events"])
def test_a_compare_and_swap_of_a_part_gives_the_part(engine):
    array = np.array([0, 3 * ONE + 4, 4 * ONE + 3, 0, 0], np.uint64)
    text = """red.global.add.u64 [%p], 1; mov.u32 %r3, %tid.x; setp.ne.u32 %q, %r3, 0; @%q bra end;
        atom.global.cas.b32 %r1, [%p+12], 3, 7; atom.global.cas.b32 %r2, [%p+20], 3, 7;
        st.global.b32 [%p+24], %r1; st.global.b32 [%p+32], %r2; end: """
    found, _ = left(text.replace("end: ", "bra end; end: mov.u32 %r3, 0"), array, engine)
    assert found.tolist() == [64, 7 * ONE + 4, 4 * ONE + 3, 3, 4]


def test_a_compare_and_swap_of_a_part_costs_what_one_of_a_word_does():
    stages = []
    for type_, register in (("b32", "%r1"), ("b64", "%d1")):
        text = f"red.shared.add.u64 [s], 1; atom.shared.cas.{type_} {register}, [s+8], 1, 0"
        _, run = left(f"{text}; st.global.{type_} [%p], {register}", np.zeros(1, np.uint64))
        (row,) = (row for row in run.accesses if row.kind == "atomic" and row.line == 13)
        stages.append(row.stages)
    assert stages == [128, 128]
