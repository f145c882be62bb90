"""Complex numbers, on every engine; `test_typed_arithmetic.py` compares each operation."""

from fractions import Fraction

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import ArithmeticFault
from tests.kit.runs.expressions import operations_of, results_on
from tests.kit.runs.paths import agrees

PATHS = ("events", "interpreted", "plain")


@pytest.mark.parametrize("path", ["interpreted", "plain", "fused"])
def test_all_engines_give_the_same_bits_of_pythons_complex_numbers(path):
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
    agrees(path, powers, *args, machine=mm.HMM(2, 4, 5), threads=32, block_size=8)


def test_products_are_not_fused():
    x = np.array([complex(1 + 2.0**-30, 1)])
    y = np.array([complex(1 - 2.0**-30, 1)])
    texts = ["x * y"]
    for path in (*PATHS, "fused"):
        found = results_on(
            path, operations_of("complex128", texts), (x, y, np.zeros((1, 1), complex))
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
def test_pythons_complex_numbers_are_not_divided_by_zero(path):
    @mm.program
    def inverse(T, a, out):
        out[T.id] = 1j / a[T.id]

    args = np.array([1, 0j]), np.zeros(2, complex)
    with pytest.raises(ArithmeticFault, match="division by zero") as caught:
        results_on(path, inverse, args)
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
