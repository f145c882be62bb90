"""The functions that a program can call: of floats, of bits, of complex numbers.

A function of floats computes in double, or in float if this was requested. None of them fails:
without a value the result is a NaN or an infinity, as in IEEE 754, NumPy and on a GPU.
Operations that IEEE 754 rounds exactly are the same everywhere. The others are NumPy's, or Python's
if NumPy has none; elsewhere, as on a GPU, they differ in the last bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.ir.row import Result, Row

Array = npt.NDArray[Any]


def _by_element(function: Callable[..., float]) -> Callable[..., Array]:
    """Python's function as one of arrays; NaNs and infinities replace its errors."""

    def one(*numbers: float) -> float:
        try:
            return function(*numbers)
        except OverflowError:  # of functions whose values are positive there
            return math.inf
        except ValueError:
            return math.nan

    whole = np.frompyfunc(one, 1 if function is not math.remainder else 2, 1)

    def run(*numbers: Array) -> Array:
        wide = (np.asarray(number, np.float64) for number in numbers)
        return np.asarray(whole(*wide)).astype(np.asarray(numbers[0]).dtype)

    return run


def _gamma(x: float) -> float:
    """As C's tgamma: infinite at zero, with its sign; NaN at negative whole numbers."""
    return math.copysign(math.inf, x) if abs(x) < 1e-308 else math.gamma(x)


def _lgamma(x: float) -> float:
    """As C's lgamma: infinite where the gamma function has a pole."""
    return math.inf if x <= 0 and (math.isinf(x) or x == math.floor(x)) else math.lgamma(x)


def _fused(x: float, y: float, z: float) -> float:
    """x * y + z of finite numbers, rounded once."""
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    return round_to_double(exact) if exact else x * y + z  # IEEE 754 gives the sign of a zero


def round_to_double(exact: Fraction) -> float:
    """The double nearest to a number, the even one of two."""
    try:
        return exact.numerator / exact.denominator  # Python rounds the quotient of integers
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def _sum(x: Array, y: Array) -> tuple[Array, Array]:
    """The rounded sum of doubles, and the exact rest (D. Knuth, TAOCP 2, 4.2.2)."""
    total = x + y
    other = total - x
    return total, (x - (total - other)) + (y - other)


def _oddly(total: Array, rest: Array) -> Array:
    """A sum whose last bit says that there is a rest, so that it can be rounded again."""
    total = np.asarray(total)
    is_even = (total.view(np.int64) & 1) == 0
    end = np.where(rest > 0, np.inf, -np.inf)
    changes = np.isfinite(total) & (rest != 0) & is_even
    return np.where(changes, np.nextafter(total, end), total)


def _halves(x: Array) -> tuple[Array, Array]:
    """A double as a sum of two numbers of 26 bits (G. Veltkamp)."""
    scaled = x * (2.0**27 + 1)
    high = scaled - (scaled - x)
    return high, x - high


def _fused_doubles(x: Array, y: Array, z: Array) -> Array:
    """x * y + z, rounded once, of doubles without products or rests that are too small or large.

    S. Boldo, G. Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using
    rounding to odd" (IEEE Trans. Computers 57, 2008), Fig. 6.
    """
    product, (a, b), (c, d) = x * y, _halves(x), _halves(y)
    low = ((a * c - product) + a * d + b * c) + b * d
    first, rest = _sum(z, low)
    total, more = _sum(product, first)
    return np.asarray(total + _oddly(*_sum(rest, more)))


LOST = 29
"""The last bits of a double that a float doesn't have."""


def _in_single(x: Array, y: Array) -> Array:
    """The float nearest to a sum of doubles: the double is rounded again, if that is the same.

    It is, unless the double lies in the middle of two floats. Among small floats other bits say so.
    """
    total = np.asarray(x + y)
    bits = total.view(np.int64) & ((1 << LOST) - 1)
    doubtful = (bits == 1 << (LOST - 1)) | ((np.abs(total) < 2.0**-126) & (total != 0))
    if doubtful.any():
        total[doubtful] = _oddly(*_sum(x[doubtful], y[doubtful]))
    return total.astype(np.float32)


def fma(x: Array, y: Array, z: Array) -> Array:
    """x * y + z, rounded once."""
    dtype = np.asarray(x).dtype
    x, y, z = np.broadcast_arrays(*(np.asarray(one, np.float64) for one in (x, y, z)))
    product = x * y
    if dtype == np.float32:  # the product is exact
        return _in_single(product, z)
    is_end = np.isinf(z) & np.isfinite(x) & np.isfinite(y)  # the product may be too large
    found = np.where(is_end, z, product + z)
    sizes = np.abs([x, y, z, product])
    is_zero = np.zeros_like(sizes, np.bool_)
    is_zero[2] = z == 0
    is_safe = (is_zero | ((sizes > 2.0**-900) & (sizes < 2.0**900))).all(axis=0)
    found = np.where(is_safe, _fused_doubles(x, y, z), found)
    slow = np.isfinite(sizes[:3]).all(axis=0) & (x != 0) & (y != 0) & ~is_safe
    for lane in map(tuple, np.argwhere(slow)):
        found[lane] = _fused(float(x[lane]), float(y[lane]), float(z[lane]))
    return found


def _unsigned(x: Array) -> Array:
    """The bits of integers as unsigned ones."""
    x = np.ascontiguousarray(x)
    return x.view(f"u{x.dtype.itemsize}")


def _smeared(x: Array) -> Array:
    """Every bit below the highest one set."""
    width = 8 * x.dtype.itemsize
    shift = 1
    while shift < width:
        x = x | (x >> x.dtype.type(shift))
        shift *= 2
    return x


def popc(x: Array) -> Array:
    """The number of 1 bits."""
    return np.bitwise_count(_unsigned(x)).astype(np.int64)


def clz(x: Array) -> Array:
    """The number of 0 bits above the highest 1 bit: all bits for 0."""
    bits = _unsigned(x)
    return 8 * bits.dtype.itemsize - np.bitwise_count(_smeared(bits)).astype(np.int64)


def ffs(x: Array) -> Array:
    """The place of the lowest 1 bit, counted from 1; 0 for 0."""
    bits = _unsigned(x)
    lowest = bits ^ (bits - bits.dtype.type(1))
    return np.where(bits == 0, 0, np.bitwise_count(lowest).astype(np.int64))


def brev(x: Array) -> Array:
    """The bits in reverse order."""
    bits = _unsigned(x)
    width = bits.dtype.itemsize
    each = np.unpackbits(np.ascontiguousarray(bits)[..., None].view(np.uint8), axis=-1)
    turned = np.packbits(each[..., ::-1], axis=-1).view(f"u{width}")[..., 0]
    return turned.view(np.asarray(x).dtype)


def _reread(kind: str, x: Array) -> Array:
    """Numbers with the same bits, of another kind."""
    return np.ascontiguousarray(x).view(f"{kind}{x.itemsize}")


def exp10(x: Array) -> Array:
    """10 ** x."""
    return np.asarray(np.power(x.dtype.type(10), np.ascontiguousarray(x)))


def made(real: Array, imag: Array) -> Array:
    """The complex numbers with these parts."""
    whole = np.empty(np.shape(real), np.result_type(real, np.complex64))
    whole.real, whole.imag = real, imag
    return whole


def multiply(x: Array, y: Array) -> Array:
    """x * y: (a + bi)(c + di) = (ac - bd) + (ad + bc)i."""
    a, b, c, d = x.real, x.imag, y.real, y.imag
    return made(a * c - b * d, a * d + b * c)


def divide(x: Array, y: Array) -> Array:
    """x / y by Smith's method (Comm. ACM 5, 1962, p. 435), rounded as NumPy rounds it.

    A division by zero gives infinities and NaNs: both parts are divided by 0.0.
    """
    a, b, c, d = x.real, x.imag, y.real, y.imag
    real_is_larger = np.abs(c) >= np.abs(d)
    large, small = np.where(real_is_larger, c, d), np.where(real_is_larger, d, c)
    ratio = small / large
    scale = 1 / (large + small * ratio)
    real = np.where(real_is_larger, a + b * ratio, a * ratio + b) * scale
    imag = np.where(real_is_larger, b - a * ratio, b * ratio - a) * scale
    zero = (c == 0) & (d == 0)
    return made(np.where(zero, a / np.abs(c), real), np.where(zero, b / np.abs(c), imag))


def absolute(x: Array) -> Array:
    """abs(x): `math.hypot` of the parts."""
    return np.asarray(FUNCTIONS["hypot"].compute(x.real, x.imag))


_of_floats = partial(Row, takes="float")


def _numpys(name: str, **columns: Any) -> Row:
    """NumPy's function of that name. Its results don't depend on where in memory operands lie."""
    ufunc = getattr(np, name)

    def compute(*numbers: Array) -> Any:
        return ufunc(*map(np.ascontiguousarray, numbers))

    return _of_floats(ufunc.nin, compute, name, means=(ufunc,), **columns)


def _bits(compute: Callable[..., Array], name: str, result: Result, **columns: Any) -> Row:
    columns |= {"own": True, "exact": True, "numba": name, "js": f"{name}(x, bits)"}
    return Row(1, compute, name, takes="bits", result=result, **columns)


def _part(compute: Callable[..., Any], name: str, result: Result, js: str) -> Row:
    return Row(1, compute, name, takes="complex", result=result, exact=True, js=js)


OF_NUMPY = (
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "cbrt", "hypot", "pow"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "atan2"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
)
"""NumPy's functions whose last bits differ elsewhere."""

FUNCTIONS: dict[str, Row] = {
    **{
        name: _numpys(name, exact=True, numba=f"np.{name}", js=f"Math.{name}(x)")
        for name in ("sqrt", "floor", "ceil", "trunc")
    },
    "fabs": _numpys("fabs", exact=True, numba="abs", js="Math.abs(x)"),
    "copysign": _numpys("copysign", exact=True, numba="np.copysign", js="copySign(x, y)"),
    "fmod": _numpys("fmod", exact=True, js="x % y"),
    "nextafter": _numpys("nextafter", exact=True, numba="np.nextafter", js="nextAfter(x, y, bits)"),
    **{
        name: _numpys(name, exact=True, numba=f"np.{name}", result="bool", js=js)
        for name, js in (
            ("isnan", "Number.isNaN(x)"),
            ("isinf", "isInfinite(x)"),
            ("isfinite", "Number.isFinite(x)"),
        )
    },
    "remainder": _of_floats(
        2, _by_element(math.remainder), "remainder", exact=True, js="remainderOf(x, y)"
    ),
    "rint": _of_floats(1, np.rint, "rint", exact=True, numba="np.rint", js="nearestWhole(x)"),
    "fma": _of_floats(
        3, fma, "fma", exact=True, own=True, numba="fused_single", js="fusedOf(x, y, z, bits)"
    ),
    **{name: _numpys(name, js=f"Math.{name}(x)") for name in OF_NUMPY},
    "exp2": _numpys("exp2", js="powerC(2, x)"),
    "log": _numpys("log", js="logOf(x)"),
    "hypot": _numpys("hypot", js="hypotOf(x, y)"),
    "pow": _numpys("pow", js="powerC(x, y)"),
    "atan2": _numpys("atan2", js="Math.atan2(x, y)"),
    "exp10": _of_floats(1, exp10, "exp10", own=True, js="powerC(10, x)"),
    "erf": _of_floats(1, _by_element(math.erf), "erf", js="erfOf(x)"),
    "erfc": _of_floats(1, _by_element(math.erfc), "erfc", js="erfcOf(x)"),
    "gamma": _of_floats(1, _by_element(_gamma), "tgamma", js="gammaOf(x)"),
    "lgamma": _of_floats(1, _by_element(_lgamma), "lgamma", js="lgammaOf(x)"),
    "popc": _bits(popc, "popc", "count"),
    "clz": _bits(clz, "clz", "count", signed=True, from_top=True),
    "ffs": _bits(ffs, "ffs", "count", signed=True),
    "brev": _bits(brev, "brev", "same", from_top=True),
    "as_integer": _of_floats(
        1,
        partial(_reread, "i"),
        "__float_as_int __double_as_longlong",
        result="integer",
        exact=True,
        js="integerOfBits(x, bits)",
    ),
    "as_float": Row(
        1,
        partial(_reread, "f"),
        "__int_as_float __longlong_as_double",
        takes="bits",
        result="floating",
        exact=True,
        js="floatOfBits(x, bits)",
    ),
    "complex": _of_floats(2, made, "complex", result="complex", exact=True, js="complexOf(x, y)"),
    "real": _part(np.real, "real", "part", "x.re"),
    "imag": _part(np.imag, "imag", "part", "x.im"),
    "conjugate": _part(np.conjugate, "conjugate", "same", "conjugateOf(x)"),
}
