"""Proofs about kernels of CUDA C++, each with a twin that has a mistake.

`ptx/proofs.ptx` is what NVRTC made of `ptx/proofs.cu` with -G, which leaves code as it is written.
"""

from pathlib import Path

import numpy as np
import pytest

import mmsim as mm
from mmsim.frontend.ptx.kernel import PtxProgram
from mmsim.frontend.ptx.text import read

pytest.importorskip("z3", reason="proofs need z3-solver")

HERE = Path(__file__).parent / "ptx"
PTX = (HERE / "proofs.ptx").read_text("utf-8")
SOURCE = (HERE / "proofs.cu").read_text("utf-8")
MODULE = read(PTX)
MACHINE = mm.HMM(2, 32, 20, bank_bytes=4)


def proof(name, *args, given, grid=1):
    program = PtxProgram(MODULE, name, text={"proofs.cu": SOURCE}, ptx=PTX)
    options = {"grid": grid, "block": 64, "schedule": "asynchronous", "prove": True}
    return MACHINE.check(program, *args, given=given, **options).proved


def words():
    return np.zeros(256, np.int32)


WITHIN = ["blocks == 1", "in.size >= block_size", "out.size >= block_size"]


def test_a_pointer_in_local_memory_leads_where_it_did():
    assert proof("by_struct", words(), words(), given=WITHIN).answer == "yes"
    assert proof("by_struct_twin", words(), words(), given=WITHIN).race.answer == "no"


THROUGH_A_POINTER = """.version 8.0
.target sm_80
.address_size 64
.visible .entry through(.param .u64 out) {
    .local .align 8 .b8 depot[16];
    .reg .b32 %r<3>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [out];
    mov.u64 %rd2, depot;
    st.local.u64 [depot], %rd2;
    mov.u32 %r1, %tid.x;
    st.local.u32 [depot+8], %r1;
    ld.local.u64 %rd3, [depot];
    ld.local.u32 %r2, [%rd3+8];
    mad.wide.u32 %rd4, %r2, 4, %rd1;
    st.global.u32 [%rd4], %r1;
    ret;
}
"""


@pytest.mark.parametrize(
    ("machine", "answer"), [(MACHINE, "yes"), (mm.DMM(32, 20, bank_bytes=4), "undecided")]
)
def test_words_of_local_memory_behind_a_pointer_are_known_where_they_lie_in_no_bank(
    machine, answer
):
    program = PtxProgram(read(THROUGH_A_POINTER), "through", ptx=THROUGH_A_POINTER)
    options = {"grid": 1, "block": 64, "schedule": "asynchronous", "prove": True}
    facts = ["blocks == 1", "argument_1.size >= threads"]
    assert machine.check(program, words(), given=facts, **options).proved.answer == answer


def test_a_loop_that_tests_at_its_end():
    args, facts = (np.zeros(512, np.int8), 5), ["blocks == 1", "out.size >= 5 * block_size"]
    assert proof("bytes", *args, given=[*facts, "0 <= count <= 5"]).answer == "yes"
    found = proof("bytes", *args, given=[*facts, "0 <= count <= 6"])
    assert (found.race.answer, found.index.answer) == ("no", "no")


def test_a_loop_over_more_elements_than_threads():
    facts = ["a.size == n", "n <= 2**30", "threads <= 2**30"]
    assert proof("strided", words(), 256, given=facts, grid=2).answer == "yes"
    found = proof("strided_twin", words(), 256, given=facts, grid=2)
    assert (found.race.answer, found.index.answer) == ("yes", "no")
    assert proof("strided", words(), 256, given="a.size == n", grid=2).index.answer == "undecided"


def test_a_variable_that_wraps_around_is_not_proportional_to_the_iterations():
    assert proof("wraps_around", words(), 255, given="a.size == n + 1").index.answer == "yes"
    assert proof("wraps_around", words()[:5], 5, given="a.size == n").index.answer == "no"


def test_a_fact_about_words_is_about_those_of_the_argument():
    facts = [*WITHIN, "out.size >= 4", "all(0 <= x < 4 for x in in)"]
    assert proof("scattered", words(), words(), given=facts).answer == "yes"
    pairs = [*WITHIN[:1], "in.size >= 2 * block_size", *facts[2:]]
    found = proof("scattered", words().view(np.int16), words(), given=pairs)
    assert found.index.answer != "yes"


@pytest.mark.parametrize("name", ["asserted", "perhaps_null"])
def test_an_exception_is_excluded_or_raised(name):
    facts = ["a.size >= block_size", "blocks == 1"]
    assert proof(name, words(), 3, given=facts).exception.answer == "yes"
    found = proof(f"{name}_twin", words(), 3, given=facts)
    assert (found.answer, found.exception.answer) == ("no", "no")
    assert found.exception.counterexample.finding.kind == "exception"


def test_where_nothing_raises_an_exception_there_is_no_verdict_on_it():
    assert proof("strided", words(), 256, given="n == 256").exception is None
