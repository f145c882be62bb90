"""Arithmetic in a type that a program asks for, against NumPy's own, on every engine and in C.

One program holds all operations of a type; thread i computes them of the i-th pair of numbers.
"""

import itertools
import math

import numpy as np
import pytest

import mmsim as mm
from mmsim.gpu import kernel
from mmsim.ir.functions import FUNCTIONS
from tests.kit.cards.functions_on_gpu import NAMES, arguments_of, distances, measured, program_of
from tests.kit.generators.random_programs import define
from tests.kit.oracle.emulated_gpu import Emulated, needs_compiler
from tests.kit.runs.bits import same_bits
from tests.kit.runs.expressions import operations_of, results_on
from tests.kit.runs.paths import agrees

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
FLOATS = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
PARTS = [0.0, -0.0, 1.0, -1.5, 0.1, 3e10, -2.5e-8, math.inf, math.nan]
PATHS = ("events", "interpreted", "plain")


def edges(name):
    """Numbers of a type at which it wraps around, or rounds, and some others."""
    if name in FLOATS:
        limits = np.finfo(name)
        found = [0.0, -0.0, 1.0, -1.5, 0.1, 3.0, -7.25, 1e10, -2.5e-8, limits.max, limits.tiny]
        return [*found, math.inf, -math.inf, math.nan, 16777217.0]
    limits = np.iinfo(name)
    found = {0, 1, 2, 3, 7, 31, 100, limits.max, limits.max - 1, limits.min, limits.max // 2 + 1}
    return sorted(found | {one for one in (-1, -2, -7) if one >= limits.min})


def pairs(name):
    if name in COMPLEX:
        parts = np.array(list(itertools.product(PARTS, repeat=4)))
        return tuple(parts.view("complex128").astype(name).T)
    both = list(itertools.product(edges(name), repeat=2))
    return tuple(np.array(side, name) for side in zip(*both, strict=True))


BINARY = {
    "x + y": np.add,
    "x - y": np.subtract,
    "x * y": np.multiply,
    "min(x, y)": lambda x, y: np.where(y < x, y, x),
    "max(x, y)": lambda x, y: np.where(y > x, y, x),
    "x * 3": lambda x, y: x * 3,
    "-x": lambda x, y: -x,
    "+x": lambda x, y: x,
    "abs(x)": lambda x, y: abs(x),
    "x * y - x": lambda x, y: x * y - x,
    "x if x < y else y": lambda x, y: np.where(x < y, x, y),
    "x or y": lambda x, y: np.where(x != 0, x, y),
}
OF_INTEGERS = {
    "x & y": np.bitwise_and,
    "x | y": np.bitwise_or,
    "x ^ y": np.bitwise_xor,
    "~x": lambda x, y: ~x,
    "x // y if y != 0 else x": lambda x, y: np.where(y != 0, np.floor_divide(x, y), x),
    "x % y if y != 0 else x": lambda x, y: np.where(y != 0, np.remainder(x, y), x),
    "x << y if y >= 0 else x": lambda x, y: np.where(y >= 0, np.left_shift(x, y), x),
    "x >> y if y >= 0 else x": lambda x, y: np.where(y >= 0, np.right_shift(x, y), x),
    "x ** 3": lambda x, y: x * x * x,
    "mm.brev(mm.brev(x)) ^ y": np.bitwise_xor,
    "mm.{0}(mm.uint64(x) + mm.uint64(y))": np.add,
    "mm.{0}(mm.int64(x) * mm.int64(y))": np.multiply,
}
OF_FLOATS = {
    "x / y": np.true_divide,
    "math.sqrt(x)": lambda x, y: np.sqrt(x),
    "math.fabs(x)": lambda x, y: np.fabs(x),
    "float(x) + float(y)": lambda x, y: x.astype("float64") + y.astype("float64"),
    "x * 0.1": lambda x, y: x * x.dtype.type(0.1),
    "x + 2**24": lambda x, y: x + x.dtype.type(2**24),
}


def product(x, y):
    """By its definition, each operation on the parts rounded."""
    real = x.real * y.real - x.imag * y.imag
    return np.stack([real, x.real * y.imag + x.imag * y.real], axis=1).view(x.dtype)[:, 0]


def swapped(x):
    return np.stack([x.imag, x.real], axis=1).view(x.dtype)[:, 0]


OF_COMPLEX = {
    "x + y": np.add,
    "x - y": np.subtract,
    "-x": lambda x, y: np.negative(x),
    "+x": lambda x, y: x,
    "x.conjugate()": lambda x, y: np.conjugate(x),
    "x.real": lambda x, y: x.real,
    "x.imag": lambda x, y: x.imag,
    "mm.{0}(complex(x.imag, x.real))": lambda x, y: swapped(x),
    "x * y": product,
    "x / y": np.true_divide,
    "x == y": lambda x, y: x == y,
    "x != y": lambda x, y: x != y,
    "not x": lambda x, y: x == 0,
    "x if x != y else -y": lambda x, y: np.where(x != y, x, -y),
    "x or y": lambda x, y: np.where(x != 0, x, y),
    "mm.complex128(x) + 1j": lambda x, y: x.astype("complex128") + 1j,
    "complex(x)": lambda x, y: x,
}
OF_PLAIN = {"x // y": np.floor_divide, "x % y": np.remainder, "x ** 2": lambda x, y: x * x}
LENGTH = {"abs(x)": lambda x, y: np.hypot(x.real, x.imag)}
INTERPRETED = {name: OF_PLAIN for name in FLOATS} | {name: LENGTH for name in COMPLEX}
"""Operations that a fused program leaves to the interpreter; a length is rounded in C otherwise."""


def operations(name):
    if name in COMPLEX:
        return OF_COMPLEX
    return {**BINARY, **(OF_FLOATS if name in FLOATS else OF_INTEGERS)}


def kept_as(name):
    """The type of the results of operations on a type."""
    return "complex128" if name in COMPLEX else name


def args_of(name, wanted):
    x, y = pairs(name)
    return x, y, np.zeros((len(wanted), len(x)), kept_as(name))


def wrong(name, wanted, found):
    """The operations whose results are others than NumPy's."""
    x, y = (side[: found.shape[1]] for side in pairs(name))
    with np.errstate(all="ignore"):
        rights = [function(x, y).astype(kept_as(name)) for function in wanted.values()]
    rows = zip(wanted, found, rights, strict=True)
    return [text for text, row, right in rows if not same_bits(row, right)]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", INTEGERS + FLOATS + COMPLEX)
def test_arithmetic_in_a_type_is_numpys(name, path):
    wanted = operations(name)
    found = results_on(path, operations_of(name, wanted), args_of(name, wanted))
    assert not wrong(name, wanted, found)


SHORT = {
    "int32": ["x + y", "x * y", "-x", "x // y if y != 0 else x", "x << y if y >= 0 else x"],
    "uint64": ["x - y", "x * y", "x >> y if y >= 0 else x", "x % y if y != 0 else x", "~x"],
    "float32": ["x * y", "x / y", "math.sqrt(x)", "x * 0.1", "x * y - x"],
    **{name: ["x + y", "x * y", "x / y", "-x", "x.conjugate()"] for name in COMPLEX},
}
"""Some operations of some types, for compiling takes seconds."""


@pytest.mark.parametrize("name", SHORT)
def test_arithmetic_in_a_type_is_numpys_when_compiled(name):
    wanted = {text: operations(name)[text] for text in SHORT[name]}
    found = results_on("fused", operations_of(name, wanted), args_of(name, wanted))
    assert not wrong(name, wanted, found)


@pytest.mark.parametrize("name", INTERPRETED)
@pytest.mark.parametrize("path", ["events", "interpreted"])
def test_operations_that_need_numpys_own_code(name, path):
    wanted = INTERPRETED[name]
    found = results_on(path, operations_of(name, wanted), args_of(name, wanted))
    assert not wrong(name, wanted, found)


@needs_compiler
def test_arithmetic_in_a_type_is_numpys_in_c(tmp_path):
    kernels, rights = [], []
    for name in INTEGERS + FLOATS + COMPLEX:
        wanted = {**operations(name), **INTERPRETED.get(name, {})}
        args = args_of(name, wanted)
        threads = min(len(args[0]), 1024)
        made = operations_of(name, wanted)
        kernels.append(kernel(made, *args, threads=threads, block_size=min(threads, 32)))
        rights.append((name, wanted, threads))
    emulated = Emulated(kernels, tmp_path)
    for number, (name, wanted, threads) in enumerate(rights):
        found = emulated.run(number)["out"][:, :threads]
        if name in COMPLEX:
            x = pairs(name)[0][:threads]
            lengths = np.hypot(x.real, x.imag)
            assert np.allclose(found[-1].real, lengths, rtol=1e-6, atol=0, equal_nan=True)
            wanted, found = operations(name), found[:-1]
        assert not wrong(name, wanted, found), name


FARTHEST = {"gamma": 9, "lgamma": 9}
"""Units of the last place that libraries are apart in; others: 4."""


@needs_compiler
def test_functions_in_c_are_those_of_the_simulator_but_for_the_last_bits(tmp_path):
    cases = [(name, dtype) for name in NAMES for dtype in FLOATS]
    kernels = [
        kernel(program_of(*case), *arguments_of(*case, 200), threads=200, block_size=50)
        for case in cases
    ]
    emulated = Emulated(kernels, tmp_path)
    for number, (name, dtype) in enumerate(cases):
        far = measured(name, dtype, 200, lambda *_, number=number: emulated.run(number)["out"])
        most = 0 if FUNCTIONS[name].exact else FARTHEST.get(name, 4)
        assert far.max() <= most, (name, dtype)


def test_distances_are_in_units_of_the_last_place():
    x = np.array([1.0, 0.0, -1.0, np.nan, 0.0])
    y = np.array([np.nextafter(1, 2), -0.0, np.nextafter(-1, 0), np.nan, 5e-324])
    assert distances(x, y).tolist() == [1, 0, 1, 0, 1]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", ["uint8", "uint16", "int8", "uint32", "uint64"])
def test_numbers_of_a_table_wrap_around_in_a_type(name, path):
    source = f"""
TABLE = [[1, 7], [300, -3]]
def program(T, u, out):
    out[T.id] = mm.{name}(TABLE[u[T.id] // 2][u[T.id] % 2])
    out[T.id + 4] = mm.{name}(TABLE[1][u[3] % 2])
"""
    prog = mm.program(define(source, "program"))
    found = results_on(path, prog, (np.arange(4), np.zeros(8, name)))
    table = np.array([1, 7, 300, -3]).astype(name).tolist()
    assert found.tolist() == [*table, *[table[3]] * 4]


@mm.program
def beside_negative_literals(T, x, out, small):
    u = mm.uint64(x[T.id])
    out[T.id] = (u - (0 - 4)) ^ (u * (0 - 3))
    small[T.id] = mm.uint8(x[T.id]) + (0 - 1)


@pytest.mark.parametrize("path", ["fused", "plain", "interpreted"])
def test_a_literal_that_is_cast_wraps_around_along_every_path(path):
    x = np.arange(64)
    run = agrees(path, beside_negative_literals, x, np.zeros(64, np.uint64), x * 0, threads=64)
    u = x.astype(np.uint64)
    assert (run.arrays["out"] == (u + np.uint64(4)) ^ (u * np.uint64(2**64 - 3))).all()
    assert (run.arrays["small"] == (x - 1) % 256).all()


@mm.program
def unsigned_loops(T, out, n):
    first = mm.uint64(n) << 3 >> 1  # all threads find the same: the loops are unrolled by it
    for k in range(first >> 2):
        out[T.id] += k
    if mm.popc(first << 70) + mm.clz(first) + mm.ffs(mm.brev(first)) > n:
        out[T.id] += 100


@pytest.mark.parametrize("path", ["fused", "plain", "interpreted"])
def test_loops_that_follow_from_unsigned_numbers_are_unrolled(path):
    run = agrees(path, unsigned_loops, np.zeros(64, int), 5, threads=64)
    assert run.arrays["out"].tolist() == [0 + 1 + 2 + 3 + 4 + 100] * 64
