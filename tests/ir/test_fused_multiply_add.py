"""x * y + z of floats, rounded once, where rounding a double again would round it twice."""

from fractions import Fraction

import numpy as np
import pytest

from mmsim.ir.functions import fma

SINGLE = np.float32


def nearest(exact):
    """The float nearest to a number, the even one of two."""
    found = SINGLE(float(exact))
    for one in (np.nextafter(found, SINGLE(-np.inf)), np.nextafter(found, SINGLE(np.inf))):
        apart = [abs(Fraction(float(each)) - exact) for each in (one, found)]
        is_even = one.view(np.int32) % 2 == 0
        if np.isfinite(one) and (apart[0] < apart[1] or (apart[0] == apart[1] and is_even)):
            found = one
    return found


def exactly(x, y, z):
    x, y, z = (Fraction(float(one)) for one in (x, y, z))
    return x * y + z


CASES = [
    (2.0**8, 2.0**40),
    (2.0**8, 2.0**40 + 2.0**17),
    (2.0**8, -(2.0**40) - 2.0**17),
    (-(2.0**8), 2.0**40 + 2.0**17),
    (2.0**-75, 2.0**-130),
    (2.0**-75, 2.0**-130 + 2.0**-149),
]


@pytest.mark.parametrize(("size", "z"), CASES)
def test_a_sum_beside_the_middle_of_two_floats(size, z):
    x, y, z = SINGLE(size * (1 + 2.0**-23)), SINGLE(abs(size) * (1 - 2.0**-23)), SINGLE(z)
    wanted = nearest(exactly(x, y, z))
    assert fma(x, y, z) == wanted
    others = SINGLE([3, 3])
    found = fma(np.append(others, x), np.append(others, y), np.append(others, z))
    assert found.tolist() == [12, 12, wanted]


def test_the_cases_are_rounded_twice_by_a_sum_of_doubles():
    wrong = 0
    for size, z in CASES:
        x, y = SINGLE(size * (1 + 2.0**-23)), SINGLE(abs(size) * (1 - 2.0**-23))
        twice = SINGLE(np.float64(x) * np.float64(y) + np.float64(SINGLE(z)))
        wrong += twice != nearest(exactly(x, y, SINGLE(z)))
    assert wrong == 4


def test_what_is_no_number_stays():
    huge, one = SINGLE(3e38), SINGLE(1)
    with np.errstate(all="ignore"):
        assert fma(huge, huge, one) == np.inf
        assert fma(huge, huge, SINGLE(-np.inf)) == -np.inf
        assert np.isnan(fma(SINGLE(np.inf), SINGLE(0), one))
        most = np.finfo(float).max
        assert fma(np.float64(most), np.float64(most), np.float64(-np.inf)) == -np.inf
        assert np.signbit(fma(SINGLE(-0.0), one, SINGLE(-0.0)))
