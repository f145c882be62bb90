"""Types and signatures, written as Numba lets one write them, or made by Numba itself."""

import numba
import numpy as np
import pytest

from mmsim import cuda
from mmsim.cuda import types
from mmsim.cuda.types import TypingError, as_signature, as_type, listed, of_value


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("void(int32[:], float64)", "none(array(int32, 1d, A), float64)"),
        ("void(f4[:, ::1], u8)", "none(array(float32, 2d, C), uint64)"),
        ("(i8, b1)", "none(int64, bool)"),
        ("f2(f2[:], float16)", "float16(array(float16, 1d, A), float16)"),
        (
            "f4(UniTuple(i4, 2), Tuple((f8, i4)))",
            "float32(UniTuple(int32 x 2), Tuple(float64, int32))",
        ),
        ("void(types.float32[::1, :])", "none(array(float32, 2d, F))"),
        ("float64", "none(float64)"),
        (cuda.void(cuda.int32[:]), "none(array(int32, 1d, A))"),
        ((cuda.float32, cuda.float64[:]), "none(float32, array(float64, 1d, A))"),
        (numba.void(numba.float32[:, :], numba.int64), "none(array(float32, 2d, A), int64)"),
        ((numba.types.UniTuple(numba.int32, 3),), "none(UniTuple(int32 x 3))"),
        ((np.float32,), "none(float32)"),
    ],
)
def test_signatures(given, expected):
    found = as_signature(given)
    assert f"{found.return_type}{listed(found.args)}" == expected


@pytest.mark.parametrize(
    "given",
    [
        *("void(int33)", "import os", "__import__('os')", "f4[0]", "f4[1:]", "f4[::2](f4)[0]"),
        *("f4('x')", "UniTuple(f4)", "(", 5, [3]),
    ],
)
def test_what_is_no_signature_is_refused(given):
    with pytest.raises(TypingError):
        as_signature(given)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((True, "bool"), (3, "int64"), (2**63, "uint64"), (np.int8(3), "int8")),
        *((np.float32(1), "float32"), (1j, "complex128"), ((1, 2.0), "Tuple(int64, float64)")),
        (np.zeros((2, 3)), "array(float64, 2d, C)"),
        (np.zeros((2, 3), order="F"), "array(float64, 2d, F)"),
        (np.zeros((2, 6))[:, ::2], "array(float64, 2d, A)"),
        (np.broadcast_to(np.float32(1), (3,)), "array(float32, 1d, A)"),
        *((cuda.to_device(np.zeros(3, np.int16)), "array(int16, 1d, C)"), (None, "none")),
        ("text", "unicode_type"),
    ],
)
def test_types_of_arguments(value, expected):
    assert str(of_value(value)) == expected


def test_a_type_converts_numbers():
    assert types.int8(np.int64(300)) == 44
    assert type(types.float32(0.1)) is np.float32
    assert as_type("uint16") is numba.uint16 is types.uint16


def test_records_are_types_too():
    dtype = np.dtype([("a", np.int32), ("b", np.float64)])
    assert types.from_dtype(dtype) == numba.from_dtype(dtype) == as_type(dtype)


def test_vector_types_have_their_aliases():
    assert cuda.float32x4 is cuda.float4
    assert (cuda.int64x2.base_type, cuda.int64x2.num_elements) == (types.int64, 2)
    with pytest.raises(NotImplementedError, match="host code"):
        cuda.float4(1, 2, 3, 4)


@pytest.mark.parametrize("name", ["grid", "syncthreads", "shared.array", "atomic.add", "threadIdx"])
def test_names_of_kernels_mean_nothing_on_the_host(name):
    found = cuda
    for part in name.split("."):
        found = getattr(found, part)
    with pytest.raises(NotImplementedError, match="cannot be called from host code"):
        found(*[1] * {"grid": 1, "shared.array": 2, "atomic.add": 3}.get(name, 0))
