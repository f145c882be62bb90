"""Instructions that the model leaves out are refused by name, with their line and what to do."""

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import LanguageError
from mmsim.frontend.ptx.kernel import PtxProgram
from mmsim.frontend.ptx.missing import MISSING
from mmsim.frontend.ptx.text import read
from mmsim.ir import splitting

HEAD = """.version 8.7
.target sm_100a
.address_size 64
"""
ENTRY = """.visible .entry k(.param .u64 a){} {{
.reg .b64 %p, %q;
.reg .b32 %r<9>;
.reg .pred %t;
.shared .align 16 .b8 s[64];
ld.param.u64 %p, [a];
"""


def refused(body, before="", limits=""):
    """The error of a kernel with such a body, whose first line is the line of the error."""
    text = HEAD + before + ENTRY.format(limits)
    ptx = f"{text}{body}\nst.global.b32 [%p], %r1;\nret;\n}}\n"
    with pytest.raises(LanguageError) as caught:
        PtxProgram(read(ptx), "k", ptx=ptx).specialized((np.zeros(64, np.int32),))
    assert caught.value.place.line == text.count("\n") + 1
    return str(caught.value)


LEFT_OUT = {
    "wgmma.fence.sync.aligned;": "products of matrices by four warps together",
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32;": "memory of tensor cores",
    "cp.async.bulk.prefetch.L2.global [%p], 16;": (
        "copies by the tensor memory accelerator, which the model leaves out; copy with cuda::"
    ),
    "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes"
    " [s], [%p, {%r1, %r2}], [%q];": "copies by the tensor memory accelerator",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%p], [s], 16;": "accelerator",
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned"
    " [%p], [s], 128;": "accelerator",
    "mapa.shared::cluster.u32 %r1, s, 1;": (
        "mapa.shared::cluster.u32 needs the shared memory of another block of a cluster, which "
        "the model leaves out; let blocks exchange data through global memory"
    ),
    "getctarank.shared::cluster.u32 %r1, %r2;": "shared memory of another block of a cluster",
    "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [s], %r1, [%q];": "another block",
    "red.async.relaxed.cluster.global.add.u32 [%p], %r1;": "another block",
    "multimem.ld_reduce.global.add.u32 %r1, [%p];": "memory of several devices",
    "alloca.u64 %q, 64, 8;": "arrays of a size that is known only at run time",
    "stacksave.u64 %q;": "arrays of a size that is known only at run time",
    "tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [%p, {%r5}];": "textures",
    "tld4.r.2d.v4.s32.f32 {%r1, %r2, %r3, %r4}, [%p, {%r5, %r6}];": "textures",
    "txq.width.b32 %r1, [%p];": "textures",
    "suld.b.1d.b32.trap %r1, [%p, {%r2}];": "surfaces",
    "sust.b.1d.b32.trap [%p, {%r2}], %r1;": "surfaces",
    "sured.b.add.1d.u32.trap [%p, {%r2}], %r1;": "surfaces",
    "suq.width.b32 %r1, [%p];": "surfaces",
}


@pytest.mark.parametrize("text", LEFT_OUT)
def test_an_instruction_that_is_left_out_is_named_with_the_reason(text):
    message = refused(text)
    assert f"{text.split()[0].rstrip(';')} needs " in message
    assert LEFT_OUT[text] in message


def test_all_of_them_are_tried():
    tried = {text.split(".")[0] for text in LEFT_OUT}
    assert MISSING.keys() - {"bulk", "async"} <= tried


def test_clusters_of_several_blocks_are_refused():
    ptx = HEAD + ENTRY.format(" .explicitcluster .reqnctapercluster 2, 2, 1") + "ret;\n}\n"
    with pytest.raises(LanguageError, match=r"clusters of 4 blocks.*leave out __cluster_dims__"):
        PtxProgram(read(ptx), "k", ptx=ptx).specialized((np.zeros(64, np.int32),))
    ptx = ptx.replace("2, 2, 1", "1, 1, 1")
    PtxProgram(read(ptx), "k", ptx=ptx).specialized((np.zeros(64, np.int32),))


EVEN = """.func (.param .b32 out) _Z4evenj(.param .b32 n);
.func (.param .b32 out) _Z3oddj(.param .b32 n) {
.reg .b32 %r<3>;
ld.param.b32 %r1, [n];
{ .param .b32 x; .param .b32 y;
st.param.b32 [x], %r1;
call (y), _Z4evenj, (x);
ld.param.b32 %r2, [y]; }
st.param.b32 [out], %r2;
ret;
}
.func (.param .b32 out) _Z4evenj(.param .b32 n) {
.reg .b32 %r<3>;
ld.param.b32 %r1, [n];
{ .param .b32 x; .param .b32 y;
st.param.b32 [x], %r1;
call (y), CALLED, (x);
ld.param.b32 %r2, [y]; }
st.param.b32 [out], %r2;
ret;
}
"""
CALL = "{ .param .b32 x; .param .b32 y; st.param.b32 [x], 3; call (y), _Z4evenj, (x); }"


@pytest.mark.parametrize(
    ("called", "words", "line"),
    [
        ("_Z4evenj", "'even' calls itself; write a loop instead", 20),
        ("_Z3oddj", "'even' calls itself through 'odd'; write a loop instead", 10),
    ],
)
def test_recursion_is_refused_with_the_function_and_the_line(called, words, line):
    ptx = HEAD + EVEN.replace("CALLED", called) + ENTRY.format("") + CALL + "\nret;\n}\n"
    with pytest.raises(LanguageError) as caught:
        PtxProgram(read(ptx), "k", ptx=ptx).specialized((np.zeros(64, np.int32),))
    assert words in str(caught.value)
    assert caught.value.place.line == line


TWO_ENTRIES = """ld.global.u32 %r1, [%p];
setp.eq.u32 %t, %r1, 0;
@%t bra IN;
AGAIN: add.u32 %r1, %r1, 1;
IN: add.u32 %r1, %r1, 2;
setp.lt.u32 %t, %r1, 9;
@%t bra AGAIN;
st.global.u32 [%p], %r1;
"""


@pytest.mark.parametrize("engine", ["array", "events"])
@pytest.mark.parametrize(("first", "last"), [(0, 11), (1, 10), (2, 11)])
def test_a_loop_with_two_entries_runs(engine, first, last):
    ptx = HEAD + ENTRY.format("") + TWO_ENTRIES + "ret;\n}\n"
    program = PtxProgram(read(ptx), "k", ptx=ptx)
    found = program.specialized((np.array([first], np.int32),))
    run = mm.DMM(4, 5).run(found.program, *found.args, threads=1, engine=engine)
    (array,) = run.arrays.values()
    assert array.tolist() == [last]


def test_one_that_takes_too_many_copies_is_refused_with_its_line(monkeypatch):
    monkeypatch.setattr(splitting, "MOST", 3)
    ptx = HEAD + ENTRY.format("") + TWO_ENTRIES + "ret;\n}\n"
    with pytest.raises(LanguageError) as caught:
        PtxProgram(read(ptx), "k", ptx=ptx).specialized((np.zeros(64, np.int32),))
    assert "closes a loop that has another entry; let every jump into the loop" in str(caught.value)
    assert "AGAIN" in str(caught.value)
    assert caught.value.place.line > HEAD.count("\n")
