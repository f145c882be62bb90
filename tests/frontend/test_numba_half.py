"""Numbers of float16: operations round as NumPy's do, and have the types of numba-cuda."""

import math
import operator

import numpy as np
import pytest
from numba import cuda
from numba.core import types

import mmsim as mm
from mmsim.cuda import fp16
from mmsim.errors import LanguageError, MMSimError
from mmsim.frontend.numba.context import context
from mmsim.frontend.numba.kernel import numba_program
from tests.kit.generators.random_programs import define

MACHINE = mm.HMM(2, 4, 5, 3)
HALF = np.float16
OUTSIDE = HALF(0.1)
A = np.array([0.1, -2.5, 1000, 2048, -0.0, 65504, 6e-8, np.nan], HALF)
B = np.array([3, 0.3, 0.07, -1, 2, 5, np.inf, 1], HALF)


def ran(kernel, *args):
    """The array `out` of both engines."""
    runs = [
        MACHINE.run(
            numba_program(kernel), *args, grid=2, block=4, schedule="asynchronous", engine=engine
        ).arrays["out"]
        for engine in ("events", "array")
    ]
    assert runs[0].tobytes() == runs[1].tobytes()
    return runs[0]


def arithmetic(a, b, out):
    i = cuda.grid(1)
    x, y = a[i], b[i]
    out[0, i], out[1, i], out[2, i], out[3, i] = x + y, x - y, x * y, x / y
    out[4, i], out[5, i] = -x, abs(x)
    out[6, i] = x * y + x
    out[7, i] = x
    out[7, i] *= y
    out[8, i] = fp16.hfma(x, y, OUTSIDE)
    out[9, i] = x + np.int8(3)
    out[10, i] = math.sqrt(abs(x))
    out[11, i] = min(x, y)


def test_every_operation_is_rounded():
    with np.errstate(all="ignore"):
        exact = A.astype(float) * B.astype(float) + float(OUTSIDE)
        right = np.array(
            [
                *(A + B, A - B, A * B, A / B, -A, abs(A), A * B + A, A * B, exact.astype(HALF)),
                *(A + HALF(3), np.sqrt(abs(A)), np.fmin(A, B)),
            ]
        )
    found = ran(arithmetic, A, B, np.zeros((12, 8), HALF))
    assert np.array_equal(found, right, equal_nan=True)
    assert np.array_equal(np.signbit(found[right == 0]), np.signbit(right[right == 0]))


def conversions(numbers, wide, halves, out):
    i = cuda.grid(1)
    out[0, i] = np.float16(numbers[i])
    out[1, i] = np.float16(wide[i])
    out[2, i] = int(halves[i])
    out[3, i] = bool(halves[i]) + np.uint8(halves[i])
    out[4, i] = halves[i]
    local = cuda.local.array(2, np.float16)
    shared = cuda.shared.array(4, np.float16)
    local[i & 1] = wide[i]
    shared[cuda.threadIdx.x] = local[i & 1]
    cuda.syncthreads()
    out[5, i] = shared[3 - cuda.threadIdx.x]


def of_doubles(x, out):
    out[cuda.grid(1)] = np.float16(x[cuda.grid(1)]) * 2.0


def test_numbers_between_doubles():
    """It is interpreted, where a program of these sizes is compiled otherwise."""
    x = np.arange(2**10) / 7
    run = mm.HMM(2, 32, 5).run(
        numba_program(of_doubles), x, x * 0, grid=8, block=128, schedule="asynchronous"
    )
    assert np.array_equal(run.arrays["out"], x.astype(HALF) * 2.0)


def test_conversions():
    numbers = np.array([0, 1, -7, 2049, 2051, 65519, 65520, -(2**63)])
    wide = np.array([0.1, 1 + 2**-11 + 2**-40, 1e9, -1e-9, 3, 65519.99, 2049.0000001, np.inf])
    halves = np.array([1.5, 0, 200.9, 99, 0.5, 3, 7, 12], HALF)
    out = ran(conversions, numbers, wide, halves, np.zeros((6, 8)))
    with np.errstate(over="ignore"):
        first, second = numbers.astype(HALF), wide.astype(HALF)
    whole = halves.astype(int)
    expected = [first, second, whole, (halves != 0) + whole, halves]
    assert np.array_equal(out[:5], np.array(expected, float))
    assert out[5].tolist() == [*second[3::-1], *second[:3:-1]]


FUNCTIONS = {
    **{name: getattr(np, name[1:]) for name in ("hsin", "hcos", "htanh", "hexp", "hexp2", "hlog")},
    **{name: getattr(np, name[1:]) for name in ("hlog2", "hlog10", "hsqrt", "hfloor", "hceil")},
    **{"htrunc": np.trunc, "hrint": np.rint, "hneg": np.negative, "habs": np.abs},
    **{"hrcp": np.reciprocal, "hexp10": lambda x: HALF(10) ** x},
    "hrsqrt": lambda x: (1 / np.sqrt(x.astype(float))).astype(HALF),
    **{"hadd": np.add, "hsub": np.subtract, "hmul": np.multiply, "hdiv": np.divide},
    **{"hmax": np.fmax, "hmin": np.fmin, "heq": np.equal, "hne": np.not_equal, "hlt": np.less},
    **{"hle": np.less_equal, "hgt": np.greater, "hge": np.greater_equal},
    "hfma": lambda x, y, z: (x.astype(float) * y + z).astype(HALF),
}


def test_functions_of_fp16():
    """Each with a kernel that calls all of them."""
    assert sorted(FUNCTIONS) == fp16.__all__
    given = [
        one.nin if isinstance(one, np.ufunc) else one.__code__.co_argcount
        for one in FUNCTIONS.values()
    ]
    lines = [
        f"    out[{n}, i] = fp16.{name}({'x, y, x'[: 3 * count - 2]})"
        for n, (name, count) in enumerate(zip(FUNCTIONS, given, strict=True))
    ]
    text = "def kernel(a, b, out):\n    i = cuda.grid(1)\n    x, y = a[i], b[i]\n"
    kernel = define(text + "\n".join(lines) + "\n", "kernel")
    kernel.__globals__.update(cuda=cuda, fp16=fp16)
    x = np.array([0.5, 1, 2.5, 3.5, 4, 0.01, 1.25, 4], HALF)
    y = np.array([3, 0.3, 2.5, -1, 2, 5, np.nan, 1], HALF)
    found = ran(kernel, x, y, np.zeros((len(FUNCTIONS), 8), HALF))
    for row, (name, function), count in zip(found, FUNCTIONS.items(), given, strict=True):
        right = np.asarray(function(*(x, y, x)[:count]), HALF)
        assert np.allclose(row, right, rtol=2e-3, atol=0, equal_nan=True), name


OTHERS = "float16 int8 int16 int32 int64 uint8 uint64 float32 float64 bool complex64"
OF_SUMS = (
    "float16 float16 float32 float64 float64 float32 float64 float32 float64 float16 complex64"
)
RESULTS = {
    **dict.fromkeys((operator.add, operator.mul, operator.itruediv), OF_SUMS),
    max: "float16 float16 float32 float64 float64 float16 float64 float32 float64",
    operator.mod: "float32 float32 float32 float64 float64 float32 float64 float32 float64 float32",
    np.add: "float32 " * 8 + "float64 float32 complex64",
    operator.lt: "bool " * 10,
}
"""The types that numba-cuda 0.30 gives operations of a float16 and a number of each other type."""
OF_ONE = {
    **dict.fromkeys((operator.neg, abs, float, math.sin, math.exp2, math.trunc), "float16"),
    **dict.fromkeys((math.tanh, math.log10, math.fabs), "float16"),
    **dict.fromkeys((math.cosh, np.sin, np.absolute), "float32"),
    **{int: "int64", bool: "bool", math.isnan: "bool", round: "int64"},
}


def type_of(function, *given):
    return str(
        context()
        .resolve_function_type(context().resolve_value_type(function), given, {})
        .return_type
    )


def test_types_are_those_of_numba_cuda():
    half = types.float16
    for function, results in RESULTS.items():
        for other, right in zip(OTHERS.split(), results.split(), strict=False):
            other = getattr(types, {"bool": "boolean"}.get(other, other))
            assert type_of(function, half, other) == right, (function, other)
            assert type_of(function, other, half) == right, (function, other)
    for function, right in OF_ONE.items():
        assert type_of(function, half) == right, function
    assert type_of(float, types.int32) == type_of(operator.mul, types.boolean, types.float64)
    assert type_of(operator.add, types.int64, types.int64) == "int64"


def adds(a, out):
    cuda.atomic.add(a, 0, a[1])


def looks(a, out):
    out[0] = a[a[0]]


def test_refusals():
    with pytest.raises(MMSimError, match="has no add for float16, which 'a' holds"):
        ran(adds, A.copy(), np.zeros(8))
    with pytest.raises(LanguageError, match="has no meaning for an array of float16 and float16"):
        ran(looks, A, np.zeros(8))


def hadd(x, y):
    raise AssertionError("it isn't called")


def test_names_of_numba_cuda():
    """In numba-cuda a function of fp16 has another name and another module."""
    hadd.__module__, hadd.__name__, hadd.__qualname__ = (
        *("numba.cuda._internal.cuda_fp16", "__hadd", "__hadd"),
    )

    def kernel(a, b, out):
        i = cuda.grid(1)
        out[i] = hadd(a[i], b[i])

    x, y = np.arange(8).astype(HALF), np.full(8, 0.1, HALF)
    assert np.array_equal(ran(kernel, x, y, np.zeros(8, HALF)), x + y)


@mm.program
def of_programs(T, a, b):
    x = mm.float16(a[T.id])
    b[T.id] = x * x / 3 + mm.float16(T.id)
    b[T.id] = b[T.id] + a[T.id]


def test_a_program_computes_in_float16_too():
    a, b = np.linspace(0, 3, 8).astype(HALF), np.zeros(8, HALF)
    found = MACHINE.run(of_programs, a, b, threads=8).arrays["b"]
    right = a * a / HALF(3) + np.arange(8).astype(HALF)
    assert np.array_equal(found, (right.astype(float) + a).astype(HALF))
