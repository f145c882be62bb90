"""Arithmetic of complex numbers, on every engine and in C, against NumPy's own or exact results.

One program holds all operations of a type; thread i computes them of the i-th pair of numbers.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import mmsim as mm
from mmsim.engines.array import engine as array
from mmsim.errors import ArithmeticFault
from mmsim.gpu import kernel
from tests.kit.oracle.emulated_gpu import Emulated, needs_compiler
from tests.kit.runs.expressions import operations_of, results_on

NAMES = ("complex64", "complex128")
WHOLE = array.run
PATHS = ("events", "interpreted", "plain")
PART = [0.0, -0.0, 1.0, -1.5, 0.1, 3e10, -2.5e-8, math.inf, math.nan]


def pairs(name):
    parts = np.array(list(itertools.product(PART, repeat=4)), f"f{np.dtype(name).itemsize // 2}")
    x, y = parts[:, :2].copy().view(name)[:, 0], parts[:, 2:].copy().view(name)[:, 0]
    return x, y


def product(x, y):
    """By its definition, each operation on the parts rounded."""
    real = x.real * y.real - x.imag * y.imag
    return np.stack([real, x.real * y.imag + x.imag * y.real], axis=1).view(x.dtype)[:, 0]


EXACT = {
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
LENGTH = {"abs(x)": lambda x, y: np.hypot(x.real, x.imag)}
"""What a fused program leaves to the interpreter, and a GPU's library rounds its own way."""


def swapped(x):
    return np.stack([x.imag, x.real], axis=1).view(x.dtype)[:, 0]


def args_of(name, wanted):
    x, y = pairs(name)
    return x, y, np.zeros((len(wanted), len(x)), "complex128")


def expected(name, wanted):
    x, y = pairs(name)
    with np.errstate(all="ignore"):
        return [np.asarray(function(x, y)).astype("complex128") for function in wanted.values()]


def same(found, right):
    """Bit for bit, except for the bits of a NaN."""
    for part, own in ((found.real, right.real), (found.imag, right.imag)):
        equal = (part == own) & (np.signbit(part) == np.signbit(own))
        if not (equal | (np.isnan(part) & np.isnan(own))).all():
            return False
    return True


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", NAMES)
def test_arithmetic_is_numpys(name, path, monkeypatch):
    wanted = {**EXACT, **(LENGTH if path != "plain" else {})}
    found = results_on(path, operations_of(name, wanted), args_of(name, wanted), monkeypatch)
    for text, row, right in zip(wanted, found, expected(name, wanted), strict=True):
        assert same(row, right), text


@pytest.mark.parametrize("name", NAMES)
def test_arithmetic_is_numpys_when_compiled(name, monkeypatch):
    wanted = {text: EXACT[text] for text in ("x + y", "x * y", "x / y", "-x", "x.conjugate()")}
    found = results_on("fused", operations_of(name, wanted), args_of(name, wanted), monkeypatch)
    for text, row, right in zip(wanted, found, expected(name, wanted), strict=True):
        assert same(row, right), text


@needs_compiler
def test_arithmetic_is_numpys_in_c(tmp_path):
    wanted = {**EXACT, **LENGTH}
    kernels = [
        kernel(operations_of(name, wanted), *args_of(name, wanted), threads=1024, block_size=32)
        for name in NAMES
    ]
    emulated = Emulated(kernels, tmp_path)
    for number, name in enumerate(NAMES):
        found = emulated.run(number)["out"][:, :1024]
        for text, row, right in zip(wanted, found, expected(name, wanted), strict=True):
            if text == "abs(x)":
                assert np.allclose(row, right[:1024], rtol=1e-6, atol=0, equal_nan=True)
            else:
                assert same(row, right[:1024]), (name, text)


def test_all_engines_give_the_same_bits_of_pythons_complex_numbers(monkeypatch):
    @mm.program
    def powers(T, a, b, out):
        s = mm.shared(8, dtype="complex64")
        z = a[T.id] * complex(T.id, 0.1) + 2
        s[T.index] = z
        T.barrier()
        w = s[(T.index + 1) % 8]
        b[T.id]
        out[0, T.id] = z * w / (b[T.id] - 3j)
        out[1, T.id] = w.real * z - z.imag / 7
        out[2, T.id] = mm.float32(z.real) * w + T.id

    random = np.random.default_rng(5)
    a = random.standard_normal(32) + 1j * random.standard_normal(32)
    args = (a, a.astype("complex64"), np.zeros((3, 32), "complex128"))
    machine = mm.HMM(2, 4, 5)
    events = machine.run(powers, *args, threads=32, block_size=8, engine="events")
    for path in ("interpreted", "plain", "fused"):
        monkeypatch.setattr(
            array, "run", lambda launch, check=False, path=path: WHOLE(launch, check, path)
        )
        found = machine.run(powers, *args, threads=32, block_size=8)
        assert found.time == events.time
        assert found.arrays["out"].tobytes() == events.arrays["out"].tobytes(), path


def test_products_are_not_fused(monkeypatch):
    x = np.array([complex(1 + 2.0**-30, 1)])
    y = np.array([complex(1 - 2.0**-30, 1)])
    texts = ["x * y"]
    for path in (*PATHS, "fused"):
        found = results_on(
            path, operations_of("complex128", texts), (x, y, np.zeros((1, 1), complex)), monkeypatch
        )
        assert found[0, 0].real == 0  # fused it would be -2**-60
    exact = Fraction(x[0].real) * Fraction(y[0].real) - 1
    assert exact == -Fraction(1, 2**60)


def test_large_and_small_numbers_divide_without_overflow():
    x, y = np.array([1e300 + 1e300j]), np.array([1e300 - 1e300j])
    found = mm.DMM(2, 1).run(
        operations_of("complex128", ["x / y"]), x, y, np.zeros((1, 1), complex), threads=1
    )
    assert found.arrays["out"][0, 0] == 1j


@pytest.mark.parametrize("path", [*PATHS, "fused"])
def test_pythons_complex_numbers_are_not_divided_by_zero(path, monkeypatch):
    @mm.program
    def inverse(T, a, out):
        out[T.id] = 1j / a[T.id]

    args = np.array([1, 0j]), np.zeros(2, complex)
    with pytest.raises(ArithmeticFault, match="division by zero") as caught:
        results_on(path, inverse, args, monkeypatch)
    assert (caught.value.program, caught.value.thread) == ("inverse", 1)
    assert "1j / a[T.id]" in caught.value.place.text


def test_a_program_that_asks_for_a_length_is_interpreted_with_the_same_time():
    @mm.program
    def lengths(T, a, out):
        out[T.id] = abs(a[T.id])

    a = np.arange(64) * (3 + 4j)
    runs = [
        mm.UMM(8, 3).run(lengths, a, np.zeros(64), threads=64, engine=engine)
        for engine in ("events", "array")
    ]
    assert runs[0].time == runs[1].time
    assert all((one.arrays["out"] == 5.0 * np.arange(64)).all() for one in runs)
