"""Functions that kernels call, written out in the language of kernels, as Numba writes them.

They are parsed where a kernel calls them, and never run. Whatever they call is in the language.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def nearest(x: Any) -> Any:
    """round(x): the nearest integer, the even one of two."""
    return int(nearest_float(x))


def nearest_float(x: Any) -> Any:
    """np.rint(x): the same as a float."""
    if math.isinf(x):
        return x
    return math.copysign(x - math.remainder(x, 1.0), x)


def rounded(x: Any, digits: Any) -> Any:
    """round(x, digits): the nearest number with `digits` decimal digits."""
    if math.isinf(x) or math.isnan(x):
        return x
    if digits >= 0:
        one, other = 10.0**digits, 1.0
        if digits > 22:
            one, other = 10.0 ** (digits - 22), 1e22
        y = (x * one) * other
        if math.isinf(y):
            return x
        return nearest_float(y) / other / one
    one = 10.0**-digits
    return nearest_float(x / one) * one


def sign(x: Any) -> Any:
    """np.sign(x)."""
    if x > 0:
        return 1
    if x < 0:
        return -1
    return x * 0


def squared(x: Any) -> Any:
    """np.square(x)."""
    return x * x


def inverse(x: Any) -> Any:
    """np.reciprocal(x)."""
    return 1 / x


def less(x: Any, y: Any) -> Any:
    """np.less(x, y): of complex numbers the real parts decide, and then the imaginary ones."""
    return x.real < y.real or (x.real == y.real and x.imag < y.imag)


def less_equal(x: Any, y: Any) -> Any:
    """np.less_equal(x, y), as `less`."""
    return x.real < y.real or (x.real == y.real and x.imag <= y.imag)


def greater(x: Any, y: Any) -> Any:
    """np.greater(x, y), as `less`."""
    return np.less(y, x)


def greater_equal(x: Any, y: Any) -> Any:
    """np.greater_equal(x, y), as `less`."""
    return np.less_equal(y, x)


def larger(x: Any, y: Any) -> Any:
    """np.maximum(x, y): a NaN is the result."""
    return x if np.less_equal(y, x) or x != x else y


def smaller(x: Any, y: Any) -> Any:
    """np.minimum(x, y): a NaN is the result."""
    return x if np.less_equal(x, y) or x != x else y


def larger_number(x: Any, y: Any) -> Any:
    """np.fmax(x, y): a NaN is left out."""
    return x if np.less_equal(y, x) or y != y else y


def smaller_number(x: Any, y: Any) -> Any:
    """np.fmin(x, y): a NaN is left out."""
    return x if np.less_equal(x, y) or y != y else y


def parts(x: Any) -> Any:
    """math.modf(x): the fraction and the whole part, both with the sign of x."""
    if math.isinf(x):
        return math.copysign(0.0, x), x
    return math.copysign(x - np.trunc(x), x), np.trunc(x)


def scaled(x: Any, exponent: Any) -> Any:
    """math.ldexp(x, exponent): x times a power of two; a float is rounded once."""
    half = exponent // 2
    quarter = half // 2
    first, second = 2.0**quarter, 2.0 ** (half - quarter)
    third, fourth = (
        2.0 ** ((exponent - half) // 2),
        2.0 ** (exponent - half - (exponent - half) // 2),
    )
    return x * first * second * third * fourth


def split(x: Any) -> Any:
    """math.frexp(x): a fraction from 1/2 to 1, and the exponent of the power of two."""
    if x == 0 or math.isinf(x) or math.isnan(x):
        return x, 0
    exponent = int(np.floor(math.log2(abs(x)))) + 1
    fraction = scaled(x, -exponent)
    if abs(fraction) >= 1:
        fraction = fraction / 2
        exponent += 1
    elif abs(fraction) < 0.5:
        fraction = fraction * 2
        exponent -= 1
    return fraction, exponent


def divisor(x: Any, y: Any) -> Any:
    """math.gcd(x, y), by Euclid."""
    while y:
        x, y = y, x % y
    return abs(x)


def multiple(x: Any, y: Any) -> Any:
    """np.lcm(x, y)."""
    if x == 0 or y == 0:
        return x * 0
    return abs(x // divisor(x, y) * y)


def exclusive(x: Any, y: Any) -> Any:
    """np.logical_xor(x, y)."""
    return bool(x) != bool(y)


def has_sign(x: Any) -> Any:
    """np.signbit(x)."""
    return math.copysign(1.0, x) < 0


def summed(a: Any) -> Any:
    """np.sum(a): the sum of all elements; that of integers has 64 bits."""
    found = a.dtype.type(0)
    for x in a.flat:
        found += x
    return found


FUNCTIONS: tuple[tuple[Any, int, Any], ...] = (
    (round, 1, nearest),
    (round, 2, rounded),
    (np.rint, 1, nearest_float),
    (np.sign, 1, sign),
    (np.square, 1, squared),
    (np.reciprocal, 1, inverse),
    (np.less, 2, less),
    (np.less_equal, 2, less_equal),
    (np.greater, 2, greater),
    (np.greater_equal, 2, greater_equal),
    (np.maximum, 2, larger),
    (np.minimum, 2, smaller),
    (np.fmax, 2, larger_number),
    (np.fmin, 2, smaller_number),
    (math.modf, 1, parts),
    (math.ldexp, 2, scaled),
    (math.frexp, 1, split),
    (math.gcd, 2, divisor),
    (np.gcd, 2, divisor),
    (np.lcm, 2, multiple),
    (np.logical_xor, 2, exclusive),
    (np.signbit, 1, has_sign),
)
"""The called function and its number of arguments, with the function that replaces it."""
