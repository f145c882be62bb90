"""Functions of numbers that kernels call: cuda's, NumPy's on scalars, operator's and Python's.

Most are one operation of the representation. The others are written in the language of kernels, as
Numba writes them; these are parsed where a kernel calls them, and never run. Numba hands most of
those of `cmath` to its compiler; here they are taken from there.
"""

from __future__ import annotations

import cmath
import math
import operator
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from mmsim.ir.functions import FUNCTIONS

DEGREE, RADIAN = math.pi / 180, 180 / math.pi


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


def log2(z: Any) -> Any:
    """np.log2(z)."""
    found = cmath.log(z)
    return complex(found.real / math.log(2), found.imag / math.log(2))


def power(z: Any, exponent: Any) -> Any:
    """z ** exponent; 0 ** 0 is 1, and a square a product, which is more exact."""
    if exponent == 2:
        return z * z
    if exponent == 0:
        return complex(1, 0) + 0 * z
    if z == 0:
        return 0 * z
    return cmath.exp(exponent * cmath.log(z))


def remainder(x: Any, y: Any) -> Any:
    """np.fmod(x, y): the remainder with the sign of x."""
    if isinstance(x, (float, np.float32)):
        return math.fmod(x, y)
    rest = x % y
    return rest - y if rest != 0 and (rest < 0) != (x < 0) else rest


WRITTEN_OUT: dict[tuple[Any, int], Callable[..., Any]] = {
    (round, 1): lambda x: int(nearest_float(x)),
    (round, 2): rounded,
    (np.fmod, 2): remainder,
    # of floats, the floor of the rounded quotient, and a zero without a sign
    (np.floor_divide, 2): lambda x, y: (
        np.floor(x / y) if isinstance(x, (float, np.float32)) else x // y
    ),
    (np.remainder, 2): lambda x, y: x % y + 0.0 if isinstance(x, (float, np.float32)) else x % y,
    (np.rint, 1): nearest_float,
    (np.sign, 1): lambda x: 1 if x > 0 else -1 if x < 0 else x * 0,
    (np.square, 1): lambda x: x * x,
    **{(one, 1): lambda x: x * DEGREE for one in (np.deg2rad, np.radians, math.radians)},
    **{(one, 1): lambda x: x * RADIAN for one in (np.rad2deg, np.degrees, math.degrees)},
    (np.reciprocal, 1): lambda x: 1 / x,
    # of complex numbers the real parts decide, and then the imaginary ones
    (np.less, 2): lambda x, y: x.real < y.real or (x.real == y.real and x.imag < y.imag),
    (np.less_equal, 2): lambda x, y: x.real < y.real or (x.real == y.real and x.imag <= y.imag),
    (np.greater, 2): lambda x, y: np.less(y, x),
    (np.greater_equal, 2): lambda x, y: np.less_equal(y, x),
    # a NaN is the result of the first two, and left out by the others
    (np.maximum, 2): lambda x, y: x if np.less_equal(y, x) | (x != x) else y,
    (np.minimum, 2): lambda x, y: x if np.less_equal(x, y) | (x != x) else y,
    (np.fmax, 2): lambda x, y: x if np.less_equal(y, x) | (y != y) else y,
    (np.fmin, 2): lambda x, y: x if np.less_equal(x, y) | (y != y) else y,
    (math.modf, 1): parts,
    (math.ldexp, 2): scaled,
    (math.frexp, 1): split,
    (math.gcd, 2): divisor,
    (np.gcd, 2): divisor,
    (np.lcm, 2): lambda x, y: x * 0 if x == 0 or y == 0 else abs(x // divisor(x, y) * y),
    (np.conjugate, 1): lambda x: x.conjugate(),
    (np.logical_and, 2): lambda x, y: bool(x) & bool(y),
    (np.logical_or, 2): lambda x, y: bool(x) | bool(y),
    (np.logical_xor, 2): lambda x, y: bool(x) != bool(y),
    (divmod, 2): lambda x, y: (x // y, x % y),
    (np.signbit, 1): lambda x: math.copysign(1.0, x) < 0,
    **dict.fromkeys(((operator.pow, 2), (np.power, 2), (pow, 2)), power),
}
"""The called function and its number of arguments, with the function that replaces it.

If the called one is an operator, it is replaced for complex numbers alone.
"""
NAT = -(2**63)
"""The number of a date, or of a time between two, that is not there."""


def over(x: Any, n: Any) -> Any:
    """A time divided by a number, rounded towards 0."""
    if x == NAT or n == 0 or n != n:
        return NAT
    if isinstance(n, (float, np.float32)):
        return int(x / n)
    found = x // n
    return found + 1 if found < 0 and found * n != x else found


OF_DATES: dict[tuple[str, int], Callable[..., Any]] = {
    ("+", 2): lambda x, y: NAT if x == NAT or y == NAT else x + y,
    ("-", 2): lambda x, y: NAT if x == NAT or y == NAT else x - y,
    ("*", 1): lambda x, n: NAT if x == NAT or n != n else int(x * n),
    ("/", 1): over,
    ("//", 1): over,
    ("/", 2): lambda x, y: math.nan if x == NAT or y == NAT else float(x) / float(y),
    ("==", 2): lambda x, y: x != NAT and x == y,
    ("!=", 2): lambda x, y: x == NAT or x != y,
    ("<", 2): lambda x, y: x != NAT and x < y,
    ("<=", 2): lambda x, y: x != NAT and x <= y,
    (">", 2): lambda x, y: y != NAT and x > y,
    (">=", 2): lambda x, y: y != NAT and x >= y,
    ("-", 1): lambda x: NAT if x == NAT else -x,
    ("abs", 1): lambda x: NAT if x == NAT else abs(x),
    ("isnat", 1): lambda x: x == NAT,
    ("int", 1): lambda x: x,
}
"""The operators of dates and of times between them, which are whole numbers of a unit.

The key is the operator and the number of dates, or times, among the operands.
"""
OF_COMPLEX: dict[str, Callable[..., Any]] = {
    "log2": log2,
    "isnan": lambda z: math.isnan(z.real) or math.isnan(z.imag),
    "isinf": lambda z: math.isinf(z.real) or math.isinf(z.imag),
    "isfinite": lambda z: math.isfinite(z.real) and math.isfinite(z.imag),
}
"""The functions of complex numbers that Numba does not write in Python, by their names."""
COMPLEX = {*OF_COMPLEX, *vars(cmath)}
"""The names of all functions of complex numbers."""


class Asked:
    """Stands for Numba's compiler where it is asked to compile a function: gives the function."""

    def compile_internal(self, builder: Any, function: Any, sig: Any, args: Any) -> Any:
        """Return the function."""
        return function


@cache
def of_numba(name: str, given: tuple[Any, ...]) -> Any:
    """The Python function that Numba compiles for one of `cmath` on some types; else None."""
    from numba.core.typing.templates import signature
    from numba.cpython.cmathimpl import registry

    for lower, known, types in registry.functions:
        if known is getattr(cmath, name, None) and len(types) == len(given):
            if lower.__closure__:
                return of_parts(lower.__closure__[0].cell_contents)
            try:
                return lower(Asked(), None, signature(given[0], *given), given)
            except AttributeError:  # it makes machine code itself
                return None
    return None


def of_parts(function: Any) -> Any:
    """A function of a complex number by one of its parts, and of whether these are finite."""
    return lambda z: function(z.real, z.imag, math.isfinite(z.real), math.isfinite(z.imag))


CALLS = {
    **{one: op for op, row in FUNCTIONS.items() for one in row.means},
    **{getattr(math, op): op for op in FUNCTIONS if hasattr(math, op)},
    complex: "complex",
}
"""The functions of the representation for NumPy's, math's and Python's."""
