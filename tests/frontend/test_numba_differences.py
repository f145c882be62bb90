"""The numbers that kernels compute otherwise than Numba, as docs/numba.md lists them."""

import math
from fractions import Fraction
from functools import cache
from pathlib import Path

import numba
import numpy as np
import pytest

from mmsim import cuda

ROOT = Path(__file__).resolve().parent.parent.parent


@cache
def compiled(function):
    """A function as Numba compiles it for this computer, and as a kernel of mmsim."""
    of_mmsim = cuda.jit(device=True)(function)

    @cuda.jit
    def kernel(a, b, out):
        out[0] = of_mmsim(a[0], b[0])

    return numba.njit(error_model="numpy")(function), kernel


def both(function, x, y, dtype):
    """The results of Numba and of mmsim."""
    of_numba, kernel = compiled(function)
    out = np.zeros(1, dtype)
    kernel[1, 1](np.array([x]), np.array([y]), out)
    return of_numba(x, y), out[0]


def floor(x, y):
    return x // y


def quotient(x, y):
    return divmod(x, y)[0]


def remainder(x, y):
    return divmod(x, y)[1]


def sign(x, y):
    return np.sign(x) + y


def least(x, y):
    return min(x, y)


def largest(x, y):
    return max(x, y)


@pytest.mark.parametrize("function", [least, largest])
def test_the_least_and_the_largest_float_leave_a_nan_out_as_on_a_card(function):
    assert both(function, 1.5, np.nan, float)[1] == both(function, np.nan, 1.5, float)[1] == 1.5


LEAST, LARGEST = np.int64(-(2**63)), np.uint64(2**64 - 1)


@pytest.mark.parametrize("function", [floor, quotient])
def test_the_least_integer_by_minus_one(function):
    assert both(function, LEAST, np.int64(-1), np.int64) == (0, LEAST)
    assert both(function, LEAST, np.int64(1), np.int64) == (LEAST, LEAST)


def test_the_sign_of_an_integer_without_one():
    assert both(sign, np.uint8(200), np.uint8(0), np.int64) == (255, 1)
    assert both(sign, np.uint8(100), np.uint8(0), np.int64) == (1, 1)


def whole_fmod(x, y):
    return np.fmod(x, y)


def test_fmod_of_integers():
    for dtype in (np.int64, np.int8):
        pairs = [(7, 3), (-7, 3), (7, -3), (-7, -3), (7, 0)]
        found = [both(whole_fmod, dtype(x), dtype(y), dtype) for x, y in pairs]
        assert [here for _, here in found] == [1, -1, 1, -1, 0]
        assert [one for one, _ in found] == [1, 0, 7, dtype(-7), 0]
    assert both(whole_fmod, LARGEST, np.uint64(10), np.uint64) == (5, 5)
    assert both(whole_fmod, -7.5, 2.0, np.float64) == (-1.5, -1.5)


def test_divmod_of_integers_with_a_sign_and_without_is_the_same():
    for function in (quotient, remainder):
        for other in (np.int64(3), np.uint64(3), np.int64(-3)):
            one, here = both(function, LARGEST, other, np.float64)
            assert one == here
    assert both(floor, LARGEST, np.int64(3), np.int64) == (-1, -1)


POWERS = {
    2: lambda x, y: x**2,
    3: lambda x, y: x**3,
    5: lambda x, y: x**5,
    8: lambda x, y: x**8,
    -3: lambda x, y: x**-3,
}


@pytest.mark.parametrize("exponent", POWERS)
def test_a_power_is_rounded_once(exponent):
    values = np.random.RandomState(0).uniform(0.5, 2, 64)
    pairs = [both(POWERS[exponent], x, x, np.float64) for x in values]
    exact = [float(Fraction(x) ** exponent) for x in values.tolist()]
    assert [found for _, found in pairs] == exact
    apart = [one for one, right in zip(pairs, exact, strict=True) if one[0] != right]
    assert bool(apart) == (exponent != 2)
    assert all(abs(one - right) <= 8 * math.ulp(right) for one, right in apart)


def test_a_nan_is_one_whatever_its_sign():
    for x, y in ((np.nan, 1.0), (-np.nan, 1.0), (np.inf, -np.inf)):
        for function in (lambda x, y: x + y, lambda x, y: x**y if x != x else x + y):
            assert all(map(math.isnan, both(function, x, y, np.float64)))


def test_the_page_lists_them():
    page = " ".join((ROOT / "docs" / "numba.md").read_text("utf-8").split())
    for text in (
        "`-2**63 // -1` wraps around to `-2**63`; Numba gives 0.",
        "Numba multiplies and rounds each product",
        "The sign of a NaN means nothing",
    ):
        assert text in page
