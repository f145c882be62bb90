"""The functions that a program can call: of floats, of bits, of complex numbers.

A function of floats computes in double, or in float if this was requested. None of them fails:
without a value the result is a NaN or an infinity, as in IEEE 754, NumPy and on a GPU.
Operations that IEEE 754 rounds exactly are the same everywhere. The others are NumPy's, or Python's
if NumPy has none; elsewhere, as on a GPU, they differ in the last bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Result = Literal["float", "bool", "count", "same", "complex", "part"]
Takes = Literal["float", "bits", "complex"]


@dataclass(frozen=True)
class Function:
    """A function of `arity` numbers, all of one type, scalars or arrays.

    It takes floats, integers for their bits, or complex numbers; any number may stand for a complex
    one. Its result is a float of that type, a bool, a count (an integer), of the same type as the
    operands, a complex number, or a part of one. `exact` says that every machine gives the same
    bits. `c` is its name in C, `numba` in the text for Numba, which lacks those with none. `means`
    are NumPy's functions that it stands for. `own` says that it is called by a name of mmsim.

    Of functions of bits, C's takes a signed number if `signed`; `from_top` says that the result of
    a narrow number depends on the width of the word around it.
    """

    arity: int
    compute: Callable[..., Array]
    c: str
    result: Result = "float"
    exact: bool = False
    takes: Takes = "float"
    numba: str = ""
    means: tuple[Any, ...] = ()
    own: bool = False
    signed: bool = False
    from_top: bool = False


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


def _fused(x: float, y: float, z: float, is_single: bool) -> float:
    """x * y + z, rounded once."""
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        return x * y + z
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:
        return x * y + z  # IEEE 754 gives its sign
    return round_to_single(exact) if is_single else round_to_double(exact)


def round_to_double(exact: Fraction) -> float:
    """The double nearest to a number, the even one of two."""
    try:
        return exact.numerator / exact.denominator  # Python rounds the quotient of integers
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def round_to_single(exact: Fraction) -> float:
    """The same in single precision.

    Rounding twice could go wrong half way between two floats. So the number is first rounded to a
    double whose last bit says whether anything was cut off.
    """
    near = round_to_double(exact)
    if math.isfinite(near) and Fraction(near) != exact:
        down = near if Fraction(near) < exact else math.nextafter(near, -math.inf)
        bits = int(np.float64(down).view(np.int64))
        near = down if bits & 1 else math.nextafter(down, math.inf)
    with np.errstate(all="ignore"):
        return float(np.float32(near))


def fma(x: Array, y: Array, z: Array) -> Array:
    """x * y + z, rounded once."""
    dtype = np.asarray(x).dtype
    is_single = dtype == np.float32
    whole = np.frompyfunc(lambda a, b, c: _fused(float(a), float(b), float(c), is_single), 3, 1)
    return np.asarray(whole(x, y, z)).astype(dtype)


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


def exp10(x: Array) -> Array:
    """10 ** x."""
    return np.asarray(np.power(x.dtype.type(10), np.ascontiguousarray(x)))


def made(real: Array, imag: Array) -> Array:
    """The complex numbers with these parts."""
    whole = np.empty(np.shape(real), np.result_type(real, np.complex64))
    whole.real, whole.imag = real, imag
    return whole


def _numpys(ufunc: Callable[..., Any]) -> Callable[..., Array]:
    """NumPy's function. Its results don't depend on where in memory the operands lie."""
    return lambda *numbers: ufunc(*map(np.ascontiguousarray, numbers))


def _exact(ufunc: np.ufunc, c: str, numba: str = "", result: Result = "float") -> Function:
    return Function(ufunc.nin, _numpys(ufunc), c, result, exact=True, numba=numba, means=(ufunc,))


def _plain(ufunc: np.ufunc, c: str) -> Function:
    return Function(ufunc.nin, _numpys(ufunc), c, means=(ufunc,))


def _bits(
    compute: Callable[..., Array],
    name: str,
    result: Result = "count",
    signed: bool = False,
    from_top: bool = False,
) -> Function:
    return Function(
        *(1, compute, name, result, True, "bits"),
        numba=name,
        own=True,
        signed=signed,
        from_top=from_top,
    )


FUNCTIONS: dict[str, Function] = {
    "sqrt": _exact(np.sqrt, "sqrt", "np.sqrt"),
    "fabs": _exact(np.fabs, "fabs", "abs"),
    "floor": _exact(np.floor, "floor", "np.floor"),
    "ceil": _exact(np.ceil, "ceil", "np.ceil"),
    "trunc": _exact(np.trunc, "trunc", "np.trunc"),
    "copysign": _exact(np.copysign, "copysign"),
    "fmod": _exact(np.fmod, "fmod"),
    "nextafter": _exact(np.nextafter, "nextafter"),
    "remainder": Function(2, _by_element(math.remainder), "remainder", exact=True),
    "fma": Function(3, fma, "fma", exact=True, own=True),
    "isnan": _exact(np.isnan, "isnan", "np.isnan", "bool"),
    "isinf": _exact(np.isinf, "isinf", "np.isinf", "bool"),
    "isfinite": _exact(np.isfinite, "isfinite", "np.isfinite", "bool"),
    "exp": _plain(np.exp, "exp"),
    "exp2": _plain(np.exp2, "exp2"),
    "exp10": Function(1, exp10, "exp10", own=True),
    "expm1": _plain(np.expm1, "expm1"),
    "log": _plain(np.log, "log"),
    "log2": _plain(np.log2, "log2"),
    "log10": _plain(np.log10, "log10"),
    "log1p": _plain(np.log1p, "log1p"),
    "cbrt": _plain(np.cbrt, "cbrt"),
    "sin": _plain(np.sin, "sin"),
    "cos": _plain(np.cos, "cos"),
    "tan": _plain(np.tan, "tan"),
    "asin": _plain(np.arcsin, "asin"),
    "acos": _plain(np.arccos, "acos"),
    "atan": _plain(np.arctan, "atan"),
    "atan2": _plain(np.arctan2, "atan2"),
    "sinh": _plain(np.sinh, "sinh"),
    "cosh": _plain(np.cosh, "cosh"),
    "tanh": _plain(np.tanh, "tanh"),
    "asinh": _plain(np.arcsinh, "asinh"),
    "acosh": _plain(np.arccosh, "acosh"),
    "atanh": _plain(np.arctanh, "atanh"),
    "hypot": _plain(np.hypot, "hypot"),
    "pow": _plain(np.power, "pow"),
    "erf": Function(1, _by_element(math.erf), "erf"),
    "erfc": Function(1, _by_element(math.erfc), "erfc"),
    "gamma": Function(1, _by_element(_gamma), "tgamma"),
    "lgamma": Function(1, _by_element(_lgamma), "lgamma"),
    "popc": _bits(popc, "popc"),
    "clz": _bits(clz, "clz", signed=True, from_top=True),
    "ffs": _bits(ffs, "ffs", signed=True),
    "brev": _bits(brev, "brev", "same", from_top=True),
    "complex": Function(2, made, "complex", "complex", exact=True),
    "real": Function(1, np.real, "real", "part", exact=True, takes="complex"),
    "imag": Function(1, np.imag, "imag", "part", exact=True, takes="complex"),
    "conjugate": Function(1, np.conjugate, "conjugate", "same", exact=True, takes="complex"),
}
