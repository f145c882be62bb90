"""Pointers in memory: those that one launch stores and another one follows.

`ptx/links.ptx` is what NVRTC made of `ptx/links.cu`.
"""

import gc
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import RaisedError
from mmsim.frontend.ptx.space import ALIGNMENT, MARGIN, MOST_ENDED, Space, owner_of

HERE = Path(__file__).parent / "ptx"
PTX = (HERE / "links.ptx").read_text("utf-8")
ROW = np.dtype([("values", np.int64), ("count", np.int32)], align=True)
NODE = np.dtype([("value", np.int32), ("next", np.int64)], align=True)
MACHINE = mm.HMM(2, 32, 50, 5, bank_bytes=4)
ENGINES = pytest.mark.parametrize("engine", ["array", "events"])


@pytest.fixture
def module(monkeypatch):
    monkeypatch.chdir(HERE)  # the source is there
    return mm.RawModule(code=PTX)


@pytest.fixture
def kept(module):
    """Two rows, and the arrays to which they point."""
    rows = np.zeros(2, ROW)
    first, second = np.arange(1, 6, dtype=np.float32), np.arange(10, 15, dtype=np.float32)
    module.get_function("keep")(1, 1, (rows, first, second, 5))
    return rows, first, second


def out():
    return np.zeros(2, np.float32)


@ENGINES
def test_a_pointer_leads_to_its_array_in_another_kernel(module, kept, engine):
    rows, first, second = kept
    sums = module.get_function("sums")
    for arrays in ((first, second), (second, first)):  # not as they were when they were stored
        run = MACHINE.run(sums, *arrays, rows, out(), grid=1, block=2, engine=engine)
        assert run.arrays["out"].tolist() == [15, 50]


def test_a_view_has_the_address_of_its_place(module, kept):
    rows, first, second = kept
    found = out()
    module.get_function("sums")(1, 2, (second[1:], first[:5], rows, found))
    assert found.tolist() == [15, 50]


def test_the_lowered_program_does_not_depend_on_addresses(module, kept):
    rows, first, second = kept
    sums = module.get_function("sums")
    sums(1, 2, (first, second, rows, out()))
    code, numbers = sums.program.code, sums.program.specialized((first, second, rows, out())).args
    rows["values"] = [rows["values"][1] - 4, rows["values"][0] + 4]
    found = out()
    sums(1, 2, (second, first, rows, found))
    assert found.tolist() == [60, 14]
    assert sums.program.code is code
    again = sums.program.specialized((second, first, rows, out())).args
    assert [one for one in numbers if isinstance(one, int)][:2] == [
        one for one in again if isinstance(one, int)
    ][1::-1]


def test_an_array_that_the_launch_does_not_have_is_an_error(module, kept):
    rows, first, _ = kept
    with pytest.raises(RaisedError) as found:
        module.get_function("sums")(1, 2, (first, np.zeros(1, np.float32), rows, out()))
    assert re.search(
        r"the address \d+ lies in no array: it is byte 4 of 'second' of 20 bytes in a launch of "
        r"'keep'; pass this array to this launch, too$",
        found.value.message,
    )
    assert found.value.thread == 1
    assert "sum += own.values[i]" in found.value.place.text


def test_the_checker_says_so_too(module, kept):
    rows, first, _ = kept
    args = first, np.zeros(1, np.float32), rows, out()
    (found,) = MACHINE.check(module.get_function("sums"), *args, grid=1, block=2).findings
    assert (found.kind, found.lines) == ("exception", (23,))
    assert "it is byte 4 of 'second'" in str(found)


def test_an_array_that_is_no_more_is_an_error(module):
    rows = np.zeros(2, ROW)
    module.get_function("keep")(1, 1, (rows, *np.ones((2, 5), np.float32), 5))
    gc.collect()
    again = [np.ones(5, np.float32) for _ in range(9)]  # some may be where the others were
    for one in again:
        with pytest.raises(RaisedError, match=r"'keep', which no longer exists; keep an array as"):
            module.get_function("sums")(1, 2, (one, again[0][:0], rows, out()))


def test_an_address_past_the_end_names_the_array(module, kept):
    rows, first, second = kept
    rows["count"][1] = 5
    with pytest.raises(RaisedError, match=r"it is 0 bytes past the end of 'second' of 20 bytes"):
        module.get_function("sums")(1, 2, (first, second, rows, out()))


@ENGINES
def test_a_list_that_one_launch_links_is_walked_by_another(module, engine):
    nodes, found = np.zeros(5, NODE), np.zeros(1, np.int32)
    module.get_function("link")(1, 1, (nodes, 5))
    walk = module.get_function("walk")
    run = MACHINE.run(walk, found, nodes, 3, grid=1, block=1, engine=engine)
    assert run.arrays["out"].tolist() == [3210]
    moved = nodes.copy()
    with pytest.raises(RaisedError, match="it is byte 32 of 'nodes' of 80 bytes in a launch of"):
        walk(1, 1, (found, moved, 3))


def test_a_pointer_to_a_variable_of_the_module(module):
    found = np.zeros(1, np.int32)
    module.get_function("choose")(1, 1, (2,))
    for value in (3, 4):
        module.get_function("count")(1, 1, (np.zeros(1, np.int32), found))
        assert found == value
    assert module.get_global("counts").tolist() == [1, 2, 5, 4]


@pytest.mark.parametrize(
    ("which", "at", "message"),
    [
        (0, 10, r"index \[10\] of 'first' is .* 9; the access begins 0 bytes past its end"),
        (1, -1, r"index \[-1\] of 'second' is out of range"),
    ],
)
def test_a_choice_of_pointers_that_the_kernel_stores_keeps_its_arrays(module, which, at, message):
    first, second, held = np.zeros(10, np.int32), np.zeros(20, np.int32), np.zeros(1, np.int64)
    either = module.get_function("either")
    either(1, 1, (first, second, held, which, 3))
    assert (first.tolist(), second.tolist())[which][3] == 7
    with pytest.raises(IndexError, match=message):
        either(1, 1, (first, second, held, which, at))


def test_views_of_one_array_lie_side_by_side(module):
    whole, held = np.zeros(20, np.int32), np.zeros(1, np.int64)
    either = module.get_function("either")
    either(1, 1, (whole[:10], whole[10:], held, 1, 0))
    begin = held[0] - 40
    either(1, 1, (whole[10:], whole[:10], held, 0, 3))
    assert (held[0] - begin, np.flatnonzero(whole).tolist()) == (40, [10, 13])
    with pytest.raises(RaisedError, match="it is 0 bytes past the end of 'first' of 80 bytes"):
        either(1, 1, (whole[:10], whole[10:], held, 1, 10))


SHARED = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 at)
{
    .local .align 8 .b8 held[8];
    .shared .align 4 .b8 first[64];
    .shared .align 4 .b8 second[64];
    .reg .b64 %rd<4>;
    mov.u64             %rd1, first;
    cvta.shared.u64     %rd1, %rd1;
    st.local.u64        [held], %rd1;
    mov.u64             %rd1, second;
    cvta.shared.u64     %rd1, %rd1;
    st.local.u64        [held], %rd1;
    ld.local.u64        %rd2, [held];
    ld.param.u64        %rd3, [at];
    add.s64             %rd2, %rd2, %rd3;
    st.u32              [%rd2+4], 7;
    ret;
}
"""


def test_an_index_beyond_a_shared_array_whose_address_a_thread_keeps():
    kernel = mm.RawKernel(SHARED, "k")
    for at, index in ((-8, -1), (60, 16), (-4000, -999)):
        with pytest.raises(IndexError, match=rf"index \[{index}\] of 'second' is out of range"):
            kernel(1, 1, (at,))
    kernel(1, 1, (56,))
    with pytest.raises(RaisedError) as found:
        kernel(1, 1, (1 << 20,))
    assert found.value.message.endswith(" lies in no array")


HALVES = """
.version 8.0
.target sm_90
.address_size 64
.global .b32 held[2];
.visible .entry keep(.param .u64 a, .param .u64 out)
{
    .local .align 8 .b8 own[8];
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64        %rd1, [a];
    ld.param.u64        %rd2, [out];
    st.local.u64        [own], %rd1;
    ld.local.u32        %r1, [own];
    ld.local.u32        %r2, [own+4];
    st.global.u32       [%rd2], %r1;
    st.global.u32       [%rd2+4], %r2;
    mov.u64             %rd1, held;
    st.global.u64       [%rd2+8], %rd1;
    ret;
}
.visible .entry follow(.param .u64 from, .param .u64 at, .param .u64 a)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64        %rd1, [from];
    ld.param.u64        %rd2, [at];
    add.s64             %rd1, %rd1, %rd2;
    ld.global.u64       %rd1, [%rd1];
    st.global.u32       [%rd1], 7;
    ret;
}
"""


def test_a_pointer_that_is_copied_by_halves():
    module = mm.RawModule(code=HALVES)
    a, out = np.zeros(4, np.int32), np.zeros(2, np.int64)
    module.get_function("keep")(1, 1, (a, out))
    module.get_function("follow")(1, 1, (out, 0, a))
    assert a.tolist() == [7, 0, 0, 0]


@pytest.mark.parametrize("variables", [64, 65])
def test_a_pointer_leads_to_one_of_few_variables(variables):
    others = "".join(f".global .b32 other_{k};\n" for k in range(variables - 1))
    module = mm.RawModule(code=HALVES.replace(".global .b32 held", f"{others}.global .b32 held"))
    a, out = np.zeros(4, np.int32), np.zeros(2, np.int64)
    module.get_function("keep")(1, 1, (a, out))
    follow = module.get_function("follow")
    if variables == 64:
        follow(1, 1, (out, 8, a))
        assert module.get_global("held")[0] == 7
    else:
        with pytest.raises(RaisedError, match="of a module; name the variable in the kernel"):
            follow(1, 1, (out, 8, a))


# The space


def test_an_array_keeps_its_address_and_nothing_else_gets_it():
    space = Space()
    arrays = [np.zeros(5) for _ in range(3)]
    first = [space.address(one, "a", "k") for one in arrays]
    assert first == [space.address(one, "b", "k") for one in arrays]
    assert all(one % ALIGNMENT == 0 for one in first)
    assert all(b - a > 40 + 2 * MARGIN - 1 for a, b in pairwise(first))
    assert space.address(arrays[1][2:].view(np.uint8)[1:], "v", "k") == first[1] + 17
    seen = {*first}
    for _ in range(50):
        arrays.append(np.zeros(5))
        del arrays[0]
        new = space.address(arrays[-1], "a", "k")
        assert new not in seen
        seen.add(new)


def test_the_names_of_the_latest_arrays_are_kept(monkeypatch):
    monkeypatch.setattr("mmsim.frontend.ptx.space.MOST_ENDED", 2)
    space = Space()
    found = [space.address(np.zeros(5), f"a{k}", "k") for k in range(4)]
    assert [space.explained(at)[:18] for at in found] == ["", "", *["it is the beginnin"] * 2]
    assert MOST_ENDED > 1000


@pytest.mark.parametrize(
    ("at", "said"),
    [
        (-1, "it is 1 bytes before 'a' of 40 bytes in a launch of 'k'"),
        (0, "it is the beginning of 'a' of 40 bytes in a launch of 'k'; pass this array to this"),
        (8, "it is byte 8 of 'a' of 40 bytes in a launch of 'k'; pass this array to this launch"),
        (41, "it is 1 bytes past the end of 'a' of 40 bytes in a launch of 'k'"),
        (-MARGIN - 1, ""),
        (MARGIN + 40, ""),
    ],
)
def test_an_address_is_explained_by_the_nearest_array(at, said):
    space, array = Space(), np.zeros(5)
    assert space.explained(at) == ""
    found = space.explained(space.address(array, "a", "k") + at)
    assert found.startswith(said)
    assert bool(found) == bool(said)


def test_the_owner_of_memory():
    whole = np.zeros((4, 6))
    assert owner_of(whole[1:3].reshape(-1).view(np.int8)) == (whole, whole)
    buffer = bytearray(16)
    part = np.frombuffer(buffer, np.int32)[1:]
    assert owner_of(part)[1].nbytes == 16
    odd = np.lib.stride_tricks.as_strided(whole[0, :1], (2,), (8,))
    assert owner_of(odd)[0] is whole
