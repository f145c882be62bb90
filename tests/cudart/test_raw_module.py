"""A module's variables, which the host reads and writes, and facts of its kernels."""

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import CallError, UnknownNameError
from mmsim.frontend.ptx.cpp import element_type, number_type
from tests.cudart.kernels.expected import HERE


@pytest.fixture
def module(monkeypatch):
    """Return a function that makes the module of a file, whose C++ is known."""
    monkeypatch.chdir(HERE)
    return lambda name: mm.RawModule(path=f"{name}.ptx")


def test_the_host_writes_constants(module):
    constants = module("constants")
    weights = constants.get_global("weights")
    assert (weights.dtype, weights.tolist()) == (np.float32, [0.0625, 0.25, 0.375, 0.25, 0.0625])
    assert constants.get_global("crc_of_nibble").dtype == np.uint32
    weights[:] = [0, 0, 2, 0, 0]
    a, out = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    constants.get_function("smooth")((1,), (32,), (a, out, np.int32(32)))
    assert (out == 2 * a).all()
    assert module("constants").get_global("weights")[2] == 0.375  # of another module


def test_the_host_reads_what_kernels_write(module):
    counter = module("counter")
    compact, found = counter.get_function("compact"), counter.get_global("next")
    assert (found.dtype, found.tolist()) == (np.uint32, [0])
    assert counter.get_global("table").tolist() == [3, 1, 4, 1]
    a, out = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    for times in (1, 2):
        compact((1,), (32,), (a, out, np.zeros(1, np.uint32), 32))
        assert found.tolist() == [16 * times]
    found[0] = 0
    compact((1,), (32,), (a, out, np.zeros(1, np.uint32), 32))
    assert counter.get_global("next").tolist() == [16]


def test_without_the_source_a_variable_is_bytes(monkeypatch, tmp_path):
    module = mm.RawModule(path=HERE / "constants.ptx")
    monkeypatch.chdir(tmp_path)
    held = module.get_global("weights")
    assert (held.dtype, held.shape) == (np.uint8, (20,))
    assert np.ndarray((5,), np.float32, held)[1] == 0.25  # as cupy.ndarray(shape, dtype, pointer)
    assert mm.RawModule(path=HERE / "counter.ptx").get_global("next").dtype == np.uint32


PTX = """
.version 9.0
.target sm_90a
.address_size 64
.global .align 4 .u32 _ZN1a5countE = 4294967295;
.global .align 4 .b8 _ZN1a1sE[6];
.global .align 4 .u32 _ZN1b1sE;
.visible .entry f() .maxntid 8, 4, 1
{
    .local .align 4 .b8 depot[12];
    .shared .align 4 .b8 own[20];
    ret;
}
"""


def test_a_variable_is_found_by_its_plain_name():
    module = mm.RawModule(PTX)
    assert module.get_global("count").tolist() == [4294967295]
    assert module.get_global("_ZN1a1sE").shape == (6,)
    for name, message in (
        ("s", "2 variables 's' in 'module.ptx'; its variables are count, s, s. The compiler"),
        ("t", "no variables 't' in 'module.ptx'; its variables are count, s, s. The compiler"),
    ):
        with pytest.raises(UnknownNameError, match=message):
            module.get_global(name)
    with pytest.raises(UnknownNameError, match="it has no variable"):
        mm.RawModule(".version 9.0\n.target sm_90\n.address_size 64\n").get_global("s")
    with pytest.raises(CallError, match="name is a text, not 3"):
        module.get_global(3)


def test_the_type_of_the_declaration_counts_if_it_fits(tmp_path, monkeypatch):
    (tmp_path / "a.cu").write_text(
        "namespace a { __device__ int count = -1; __device__ double s[6]; }"
    )
    monkeypatch.chdir(tmp_path)
    module = mm.RawModule(PTX + '.file 1 "a.cu"\n')
    assert module.get_global("count").tolist() == [-1]
    assert module.get_global("_ZN1a1sE").dtype == np.uint8


@pytest.mark.parametrize(
    ("declared", "name"),
    [
        ("const float", "float32"),
        ("unsigned", "uint32"),
        ("unsigned long long int", "uint64"),
        ("signed", "int32"),
        ("signed char", "int8"),
        ("volatile uint16_t", "uint16"),
        ("bool", "bool"),
        ("float4", None),
        ("long", None),
        ("P", None),
    ],
)
def test_numbers_of_cpp_have_a_type(declared, name):
    assert number_type(declared) == (name and np.dtype(name))


@pytest.mark.parametrize(
    "text",
    ["__shared__ float w[3];", "__device__ float w(int);", "__device__ float v[2], w;", "float w;"],
)
def test_other_declarations_give_no_type(text):
    assert element_type([text], "w") is None


def test_a_kernel_has_attributes(module):
    kernel = mm.RawModule(PTX).get_function("f")
    assert kernel.attributes == {
        "max_threads_per_block": 32,
        "shared_size_bytes": 20,
        "const_size_bytes": 0,
        "local_size_bytes": 12,
        "ptx_version": 90,
        "max_dynamic_shared_size_bytes": 49152,
    }
    assert (kernel.shared_size_bytes, kernel.local_size_bytes) == (20, 12)
    smooth = module("constants").get_function("smooth")
    assert (smooth.const_size_bytes, smooth.file_path) == (84, "constants.ptx")
    with pytest.raises(AttributeError, match=r"write kernel\.ptx_version"):
        kernel.binary_version


def test_a_launch_may_have_an_array_that_the_kernel_does_not_access():
    kernel = mm.RawKernel(
        PTX.replace("f()", "f(.param .u64 a, .param .u64 b)").replace(
            "    ret;",
            """
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [b];
    st.global.u32 [%rd1], 3;
    ret;""",
        ),
        "f",
    )
    a, b = np.ones(4), np.zeros(4, np.int32)
    kernel(1, 1, (a, b))
    assert (a.tolist(), b.tolist()) == ([1] * 4, [3, 0, 0, 0])


CHOICE = """
.version 9.0
.target sm_90
.address_size 64
.visible .entry f(.param .u64 a, .param .u64 b, .param .u64 out, .param .u64 at, .param .u32 which)
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<7>;
    ld.param.u64        %rd1, [a];
    ld.param.u64        %rd2, [b];
    ld.param.u64        %rd3, [out];
    ld.param.u64        %rd4, [at];
    ld.param.u32        %r1, [which];
    st.global.u64       [%rd3], %rd1;
    st.global.u64       [%rd3+8], %rd2;
    setp.eq.s32         %p1, %r1, 0;
    selp.b64            %rd5, %rd1, %rd2, %p1;
    shl.b64             %rd4, %rd4, 2;
    add.s64             %rd5, %rd5, %rd4;
    st.global.u32       [%rd5], 7;
    ret;
}
"""


@pytest.mark.parametrize("engine", ["events", "array"])
@pytest.mark.parametrize(
    ("which", "at", "message"),
    [
        (0, 10, r"index \[10\] of 'argument_1' is .* 9; the access begins 0 bytes past its end"),
        (0, -1, r"index \[-1\] of 'argument_1' is .*; indices run from 0 to 9(?!;)"),
        (1, -1, r"index \[-1\] of 'argument_2' is out of range"),
        (1, 40, r"index \[40\] of 'argument_2' is .* 19; the access begins 80 bytes past its end"),
    ],
)
def test_an_address_outside_names_the_nearest_array(engine, which, at, message):
    kernel = mm.RawKernel(CHOICE, "f")
    args = np.zeros(10, np.int32), np.zeros(20, np.int32), np.zeros(2, np.int64), at, which
    machine = mm.HMM(1, 32, 20, bank_bytes=4)
    with pytest.raises(mm.MMSimError, match=message):
        machine.run(kernel, *args, grid=1, block=1, engine=engine)


def test_each_array_has_a_place():
    a, out = np.zeros(10, np.int32), np.zeros(2, np.int64)
    mm.RawKernel(CHOICE, "f")(1, 1, (a, np.zeros(4, np.int32), out, 3, 0))
    assert a.tolist() == [0, 0, 0, 7, *[0] * 6]
    assert (out % 256).tolist() == [0, 0]
    assert 0 < out[0] < out[0] + 40 <= out[1]
