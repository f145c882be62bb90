"""x ** y of floats, the same on every platform if y is small and whole, or half of one.

For the exponents of `WHOLE`, for 0.5 and for -0.5 the result is the exact one, rounded to the
nearest float (to the even one of two). Others are the mathematical library's.

The exact result is first computed as a sum of two floats, whose error is far below the last bit. In
the rare case that this error could matter, or that the result is not a normal float, integers of
any length decide.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from mmsim.ir.functions import round_to_double

Floats = npt.NDArray[np.float64]
Pair = tuple[Floats, Floats]
"""A sum of two floats, the second one far below the first."""

WHOLE = range(-4, 9)
HALVES = (0.5, -0.5)
_ERROR = 2.0**-92
"""More than the relative error of a sum of two floats, after all operations here."""
_SPLIT = 2.0**27 + 1.0


def power(base: Floats, exponent: Floats) -> Floats:
    """base ** exponent of arrays that can be broadcast; without a value a NaN or infinite."""
    if np.size(exponent) == 1 and _is_known(np.ravel(exponent)[0]):
        return _known(base, float(np.ravel(exponent)[0]))
    result = np.asarray(np.power(base, exponent))
    for known in np.unique(exponent):
        if _is_known(known):
            here = np.broadcast_to(exponent == known, result.shape)
            result[here] = _known(np.broadcast_to(base, result.shape)[here], float(known))
    return result


def _is_known(exponent: float) -> bool:
    return exponent in HALVES or exponent in WHOLE


def _known(base: Floats, exponent: float) -> Floats:
    """base ** exponent for an exponent whose results are rounded here."""
    if exponent == 0.0:
        return np.ones_like(base)
    if exponent == 1.0:
        return base
    if exponent == 2.0:
        return base * base
    if exponent == -1.0:
        return 1.0 / base
    if exponent == 0.5:  # (-0.0) ** 0.5 is 0.0, and (-inf) ** 0.5 is inf
        return np.where(np.isinf(base), np.abs(base), np.sqrt(base + 0.0))
    result = np.asarray(np.power(base, exponent))
    plain = np.isfinite(base) & (base != 0)
    if exponent == -0.5:
        plain &= base > 0
    fraction, scale = np.frexp(np.where(plain, base, 1.0))
    if exponent == -0.5:
        odd = scale % 2  # x = fraction * 4 ** half
        high, low = _root_below_one(np.where(odd == 1, fraction / 2, fraction))
        scale = -((scale + odd) // 2)
    else:
        count = abs(int(exponent))
        high, low = _repeated(fraction, count)
        if exponent < 0:
            high, low = _inverse(high, low)
        scale = scale * int(exponent)
    error = _ERROR * high
    settled = high + (low + error) == high + (low - error)
    rounded = np.ldexp(high + low, scale)
    normal = np.isfinite(rounded) & (np.abs(rounded) > 2.0**-1021)
    result = np.where(plain, rounded, result)
    for lane in np.flatnonzero(plain & ~(settled & normal)):
        result[lane] = exact(float(base[lane]), exponent)
    return result


def exact(x: float, exponent: float) -> float:
    """x ** exponent for finite x != 0, by integers of any length; infinite if it is too large."""
    if exponent == -0.5:
        top, bottom = x.as_integer_ratio()
        # 1 / sqrt(x) to 200 bits and more, and one bit that says whether there are others
        extra = 2 * (200 + max(top.bit_length() - bottom.bit_length(), 0))
        square = (bottom << extra) // top
        root = math.isqrt(square)
        sticky = root * root != square or (bottom << extra) % top != 0
        return (2 * root + sticky) / (1 << (extra // 2 + 1))
    return round_to_double(Fraction(x) ** int(exponent))


def _repeated(x: Floats, count: int) -> Pair:
    """x ** count for 0.5 <= abs(x) < 1."""
    high, low = x, np.zeros_like(x)
    for _ in range(count - 1):
        top, rest = _product(high, x)
        high, low = _sum(top, rest + low * x)
    return high, low


def _inverse(high: Floats, low: Floats) -> Pair:
    """1 / (high + low)."""
    first = 1.0 / high
    top, rest = _product(first, high)
    error = ((1.0 - top) - rest) - first * low
    return _sum(first, error / high)


def _root_below_one(x: Floats) -> Pair:
    """1 / sqrt(x) for 0.25 <= x < 1."""
    first = 1.0 / np.sqrt(x)
    square, square_rest = _product(first, first)
    top, rest = _product(square, x)
    error = ((1.0 - top) - rest) - square_rest * x
    return _sum(first, first * error / 2)


def _product(x: Floats, y: Floats) -> Pair:
    """x * y without an error (Dekker, A floating-point technique, 1971)."""
    product = x * y
    (x_high, x_low), (y_high, y_low) = _halves(x), _halves(y)
    rest = ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low
    return product, rest


def _halves(x: Floats) -> Pair:
    """x as a sum of two floats of half the bits."""
    large = _SPLIT * x
    high = large - (large - x)
    return high, x - high


def _sum(x: Floats, y: Floats) -> Pair:
    """x + y without an error, where x is the larger one."""
    total = x + y
    return total, y - (total - x)
