"""Proofs about kernels of PTX."""

import numpy as np
import pytest

import mmsim as mm

pytest.importorskip("z3")

MACHINE = mm.HMM(2, 32, 20, bank_bytes=4)
PTX = """
.version 8.0
.target sm_80
.address_size 64
.global .u32 count[4];
.visible .entry add(.param .u64 a, .param .u32 n) {
    .reg .pred %p<2>;
    .reg .b32 %r<7>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [a];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.s32 %p1, %r5, %r1;
    @%p1 ret;
    mul.wide.s32 %rd2, %r5, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r6, [%rd3];
    add.s32 %r6, %r6, 1;
    st.global.u32 [%rd3], %r6;
    ret;
}
.visible .entry counted() {
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    atom.global.add.u32 %r1, [count+12], 1;
    ret;
}
"""


def proved(name, *args, given=()):
    kernel = mm.RawModule(code=PTX).get_function(name)
    report = MACHINE.check(kernel, *args, grid=2, block=64, prove=True, given=given)
    return report.proved


def test_a_guarded_kernel_is_proved_for_all_sizes():
    facts = ["argument_1.size >= argument_2", "threads < 2**31"]
    assert proved("add", np.zeros(128, np.int32), 128, given=facts).answer == "yes"


def test_without_the_fact_a_launch_with_a_smaller_array_contradicts():
    found = proved("add", np.zeros(128, np.int32), 128, given="threads < 2**31")
    assert (found.race.answer, found.index.answer) == ("yes", "no")
    example = found.index.counterexample
    assert len(example.arrays["argument_1"]) < example.numbers["argument_2"]


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float64])
def test_facts_count_the_elements_of_the_argument(dtype):
    array = np.zeros(512, np.uint8).view(dtype)
    whole = ["threads < 2**31", f"4 * argument_2 == {array.itemsize} * argument_1.size"]
    assert proved("add", array, 128, given=whole).answer == "yes"
    more = ["threads < 2**31", f"4 * argument_2 <= {array.itemsize} * argument_1.size + 4"]
    found = proved("add", array, 128, given=more).index
    assert found.answer == "no"
    assert found.counterexample.arrays["argument_1"].dtype == dtype


def test_a_fact_about_words_of_another_size_says_nothing():
    array = np.zeros(256, np.int16)
    facts = ["argument_1.size == 2 * argument_2", "threads < 2**31"]
    words = "all(x < 1 for x in argument_1)"
    assert proved("add", array, 128, given=[*facts, words]).answer == "yes"


def test_a_variable_of_the_module_has_its_size():
    found = proved("counted")
    assert found.answer == "yes"
    assert "count.size == 4" in str(found)
