"""Kernels of PTX: how addresses, parameters, calls and jumps become statements, on both engines.

`ptx/forms.ptx` is what NVRTC made of `ptx/forms.cu`.
"""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import AddressError, LanguageError, LaunchError, RaisedError
from mmsim.frontend.ptx.kernel import PtxProgram
from mmsim.frontend.ptx.text import read

HERE = Path(__file__).parent / "ptx"
MACHINE = mm.HMM(2, 32, 50, 5, bank_bytes=4)
RANDOM = np.random.RandomState(1)
I = np.arange(64)  # the numbers of the threads
WORDS = RANDOM.randint(0, 8, 64).astype(np.int32)
A, B = RANDOM.random_sample((2, 64)).astype(np.float32)
BYTES = RANDOM.randint(0, 256, 256).astype(np.uint8)
MIXED = np.dtype([("x", "f4"), ("k", "i4"), ("d", "f8"), ("s", "i2"), ("c", "i1")], align=True)


@cache
def text(name):
    return (HERE / name).read_text("utf-8")


def kernel(name, module="forms", **how):
    source, ptx = text(f"{module}.cu"), text(f"{module}.ptx")
    return PtxProgram(read(ptx), name, text={f"{module}.cu": source}, ptx=ptx, **how)


def ran(program, *args, block=64, grid=1, **how):
    """The run of a kernel for a block of 64 threads."""
    special = program.specialized(args)
    how = {"schedule": "asynchronous"} | how
    return MACHINE.run(special.program, *special.args, grid=grid, block=block, **how)


def zeros(dtype, count=64):
    return np.zeros(count, dtype)


def steps(n):
    k = 0
    while n != 1:
        n, k = 3 * n + 1 if n & 1 else n // 2, k + 1
    return k


def each(function):
    return np.array([function(i) for i in range(64)])


def of_warp(i, test):
    """The lanes of a thread's warp for whose word a test holds, as bits."""
    first = i // 32 * 32
    return sum(1 << lane for lane in range(32) if test(WORDS[first + lane]))


def shuffled(i):
    first, lane = i // 32 * 32, i % 32
    square = np.arange(64) ** 2
    up, down = first + max(lane - 2, lane if lane < 2 else 0), i + 1 if lane % 8 < 7 else i
    other = i // 4 * 4 + (i + 1) % 4
    return (
        square[first + 3] + 1000 * square[up] + 7 * square[i ^ 5] + 13 * square[down]
        + 17 * square[other]
    )  # fmt: skip


def voted(i):
    ballot = of_warp(i, lambda x: x > 0)
    below = bin(ballot & ((1 << i % 32) - 1)).count("1")
    return (ballot + bool(of_warp(i, lambda x: x > 5)) + 2 + below) % 2**32


CASE = {0: 7, 1: 3 * I, 2: -I, 3: 100, 4: I * I, 5: 9}
RESULTS = {
    "choose": ((zeros("f4"), A, B), np.where(I & 1, A[I // 2], B[I // 2])),
    "maybe": ((zeros("f4"), A, WORDS), np.where(WORDS, A, 0)),
    "join": ((zeros("u4"), BYTES), BYTES.view("u4")),
    "halves": ((zeros("u1", 256), WORDS), WORDS.view("u1") + (np.arange(256) % 4 == 0)),
    "members": ((zeros("f8"), np.array((1.5, 3, 0.25, -7, 5), MIXED)[()]), np.full(64, 2.75)),
    "cases": ((zeros("i4"), WORDS), np.select([k == WORDS for k in CASE], [*CASE.values()], -1)),
    "called": ((zeros("i4"),), each(lambda i: steps(i + 1) + (i % 3 and steps(2 * i + 1)))),
    "shuffled": ((zeros("i4"),), each(shuffled)),
    "voted": ((zeros("u4"), WORDS), each(voted)),
    "met": ((zeros("i4"), WORDS), np.full(64, (WORDS > 0).sum() * 100 + 11)),
    "walk": ((zeros("f8").astype("f4"), np.arange(200, dtype="f4"), 200), each(
        lambda i: sum(range(i, 200, 64)))),
    "table": ((zeros("i4"), 11), each(lambda i: sum((k * 7 + i) % 16 * i for k in range(11)))),
    "variables": ((zeros("f4"),), 5 + I + np.array([1.5, 2.5, 3.5, 4.5])[I % 4]),
}  # fmt: skip
"""Of each kernel the arguments, and what its first one holds afterwards."""


@pytest.mark.parametrize("engine", ["array", "events"])
@pytest.mark.parametrize("name", RESULTS)
def test_a_kernel_computes_what_its_source_says(name, engine):
    args, wanted = RESULTS[name]
    run = ran(kernel(name), *args, engine=engine)
    assert np.array_equal(run.arrays["out"], wanted)
    assert run.arrays["out"].dtype == args[0].dtype


@pytest.mark.parametrize("name", RESULTS)
def test_both_engines_have_one_time(name):
    args, _ = RESULTS[name]
    times = {ran(kernel(name), *args, engine=engine).time for engine in ("array", "events")}
    assert len(times) == 1


def test_a_null_pointer_is_no_array():
    run = ran(kernel("maybe"), zeros("f4"), A, None)
    assert np.array_equal(run.arrays["out"], A)


def test_atomics_have_the_type_of_their_array():
    args = (np.full(1, -9, "i4"), np.full(1, 100, "u4"), zeros("f4", 2), WORDS)
    arrays = ran(kernel("extremes"), *args).arrays
    assert arrays["most"] == WORDS.max()
    assert arrays["least"] == WORDS.min()
    assert arrays["last"].tolist() == [WORDS[0], 64]


def test_one_array_for_two_pointers_is_one_array():
    a = np.arange(128, dtype=np.int32)
    special = kernel("twice").specialized((a, a))
    assert len(special.args) == 1
    run = ran(kernel("twice"), a, a)
    assert np.array_equal(run.arrays["a"], [*range(1, 65), *(2 * (I + 1))])


def test_results_have_the_shape_of_the_argument():
    a = np.arange(64, dtype=np.float32).reshape(8, 8)
    run = ran(kernel("maybe"), np.zeros_like(a), a, None)
    assert np.array_equal(run.arrays["out"], a)


def test_variables_of_the_module_keep_their_values_between_launches_that_store():
    program = kernel("variables")
    for first in (5, 69):
        special = program.specialized((zeros("f4"),))
        run = MACHINE.run(special.program, *special.args, threads=64, schedule="asynchronous")
        special.store(run.arrays)
        assert run.arrays["out"][0] == first + 1.5


def test_places_are_those_of_the_source():
    run = ran(kernel("walk"), zeros("f4"), A, 64)
    lines = {(one.array, one.kind): one.line for one in run.accesses}
    source = text("forms.cu").splitlines()
    assert "s += *p" in source[lines["a", "read"] - 1]
    assert "out[threadIdx.x] = s" in source[lines["out", "write"] - 1]


def test_an_index_outside_names_line_and_thread():
    with pytest.raises(AddressError, match=r"index \[64\] of .a.") as caught:
        ran(kernel("outside"), zeros("i4"), 1)
    assert caught.value.thread == 63
    assert "a[(int)threadIdx.x + n] = 1" in caught.value.place.text


def test_an_index_before_an_array_does_not_count_from_its_end():
    with pytest.raises(AddressError, match="-1"):
        ran(kernel("outside"), zeros("i4"), -1)


def test_an_address_between_two_numbers_is_an_error():
    assert ran(kernel("unaligned"), zeros("f4"), A.view("i1"), 8).arrays["out"][0] == A[2]
    with pytest.raises(RaisedError, match="no multiple of 4"):
        ran(kernel("unaligned"), zeros("f4"), A.view("i1"), 6)


def test_a_trap_is_an_error():
    with pytest.raises(RaisedError, match="stops with a trap"):
        ran(kernel("stops"), np.full(64, -1, np.int32))


def test_an_address_that_comes_from_memory_is_that_of_an_array_or_an_error():
    with pytest.raises(RaisedError, match="the address 40 lies in no array"):
        ran(kernel("pointers"), np.full(1, 40))


IN_A_REGISTER = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry odd(.param .u64 a)
{{
    .reg .u64 %rd<3>;
    .reg .f32 %f<3>;
    .reg .f64 %d<3>;
    .reg .pred %p<2>;
    ld.param.u64 %rd1, [a];
    ld.global.f32 %f1, [%rd1];
    cvt.f64.f32 %d1, %f1;
    setp.gt.f32 %p1, %f1, 0f00000000;
    ld.global.f32 %f2, [{}+4];
    ret;
}}
"""


@pytest.mark.parametrize(("register", "type_"), [("%f1", "f32"), ("%d1", "f64"), ("%p1", "pred")])
def test_an_address_in_a_register_without_integers_is_refused(register, type_):
    said = f"has its address in '{register}', a register of type {type_}"
    with pytest.raises(LanguageError, match=said):
        ran(mm.RawKernel(IN_A_REGISTER.format(register), "odd").program, A)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((zeros("f4"),), r"out, a, b\) takes 3 arguments, not 1"),
        ((zeros("f4"), A, "x"), "'b' of the kernel 'choose' is 'x'"),
        ((zeros("f4"), A, 1.5), "'b' of the kernel 'choose' is a whole number, not 1.5"),
        ((zeros("f4"), A, B[::2]), "'b' of the kernel 'choose' is no contiguous array"),
        ((zeros("f4"), A, np.array([None])), "'b' of the kernel 'choose' holds objects"),
        pytest.param(
            *((zeros("f4"), A, zeros("u1", 65)[:63]), "'b' has 63 bytes, .* by 4"),
            marks=pytest.mark.filterwarnings("ignore:.*pointer to float32"),
        ),
    ],
)
def test_an_argument_that_does_not_fit_is_named(args, said):
    with pytest.raises(LaunchError, match=said):
        ran(kernel("choose"), *args)


@pytest.mark.parametrize(
    ("name", "args", "said"),
    [
        ("walk", (zeros("f4"), A, 2**32), "'n' .* doesn't fit into 32 bits"),
        ("walk", (zeros("f4"), A, A), "'n' of the kernel 'walk' is a number, not an array"),
        ("members", (zeros("f8"), b"abc"), "'p' .* is a struct of 24 bytes, not of 3"),
        ("members", (zeros("f8"), 7), "'p' .* is a struct; give a NumPy record, bytes, or a tuple"),
        ("members", (zeros("f8"), (1.5, 2)), r"member 0 of argument 'p' .* give it a type"),
    ],
)
def test_an_argument_of_a_wrong_kind_is_named(name, args, said):
    with pytest.raises(LaunchError, match=said):
        ran(kernel(name), *args)


def test_a_struct_may_be_given_by_its_members():
    given = (np.float32(1.5), np.int32(3), np.float64(0.25), np.int16(-7), np.int8(5))
    run = ran(kernel("members"), zeros("f8"), given)
    assert run.arrays["out"].tolist() == [2.75] * 64


@pytest.mark.parametrize("offset", [-4, 24])
def test_a_load_outside_of_the_parameters_is_refused(offset):
    ptx = text("forms.ptx").replace("[members_param_1+4]", f"[members_param_1+{offset}]")
    assert ptx != text("forms.ptx")
    program = PtxProgram(read(ptx), "members", ptx=ptx)
    with pytest.raises(LanguageError, match="a part of a parameter that no argument gives"):
        ran(program, zeros("f8"), np.array((1.5, 3, 0.25, -7, 5), MIXED)[()])


SWAPPED = """
.version 8.0
.target sm_90
.address_size 64

.visible .entry swap(.param .u64 first, .param .u64 second)
{
    .reg .pred %p;
    .reg .b32 %r<2>;
    .reg .b64 %rd<4>;

    ld.param.u64 %rd1, [first];
    ld.param.u64 %rd2, [second];
    xor.b64 %rd1, %rd1, %rd2;
    xor.b64 %rd2, %rd2, %rd1;
    xor.b64 %rd1, %rd1, %rd2;
    setp.lt.u64 %p, %rd2, %rd1;
    selp.b32 %r1, 7, 0, %p;
    st.global.u32 [%rd1], %r1;
    sub.s64 %rd3, %rd1, %rd2;
    st.global.u64 [%rd2], %rd3;
    ret;
}
"""


def test_pointers_are_numbers_in_one_space():
    """The arrays lie apart: what is computed of two pointers leads to either."""
    first, second = np.zeros(1, np.int64), np.zeros(1, np.int32)
    mm.RawKernel(SWAPPED, "swap")((1,), (1,), (first, second))
    assert second == 7
    assert first > 2**30
