"""Functions of complex numbers, written out in the language of kernels.

They are parsed where a kernel calls them, and never run. The algorithms are those of Python's and
NumPy's C sources, which Numba has, too. They keep infinities, NaNs and the signs of zeros as in C's
standard (annex G).
"""

from __future__ import annotations

import cmath
import math
from typing import Any

LARGE = 1e37
"""From here on a square may overflow in single precision."""
LARGE_ROOT, SMALL_ROOT = 1e18, 1e-19
"""Numbers whose squares are near the greatest, and the least, of single precision."""
LOG_4 = math.log(4)
LOG_10 = math.log(10)
LOG_2 = math.log(2)


def exp(z: Any) -> Any:
    """cmath.exp(z)."""
    x, y = z.real, z.imag
    if math.isfinite(y):
        if math.isinf(x) and x > 0:
            real, imag = math.cos(y), math.sin(y)
            if real != 0:
                real = real * x
            if imag != 0:
                imag = imag * x
            return complex(real, imag)
        if math.isnan(x) and y == 0:
            return complex(x, y)
        size = math.exp(x)
        return complex(size * math.cos(y), size * math.sin(y))
    if math.isinf(x):
        return complex(x, y - y) if x > 0 else complex(abs(1 / x), abs(1 / x))
    return complex(y - y, y - y)


def log(z: Any) -> Any:
    """cmath.log(z)."""
    return complex(math.log(math.hypot(z.real, z.imag)), math.atan2(z.imag, z.real))


def log_of_base(z: Any, base: Any) -> Any:
    """cmath.log(z, base)."""
    return log(z) / log(base)


def log10(z: Any) -> Any:
    """cmath.log10(z)."""
    found = log(z)
    return complex(found.real / LOG_10, found.imag / LOG_10)


def log2(z: Any) -> Any:
    """np.log2(z)."""
    found = log(z)
    return complex(found.real / LOG_2, found.imag / LOG_2)


def phase(z: Any) -> Any:
    """cmath.phase(z)."""
    return math.atan2(z.imag, z.real)


def power(z: Any, exponent: Any) -> Any:
    """z ** exponent; 0 ** 0 is 1."""
    if exponent == 0:
        return complex(1, 0) + 0 * z
    if z == 0:
        return 0 * z
    return exp(exponent * log(z))


def polar(z: Any) -> Any:
    """cmath.polar(z)."""
    return math.hypot(z.real, z.imag), math.atan2(z.imag, z.real)


def rect(size: Any, angle: Any) -> Any:
    """cmath.rect(size, angle)."""
    if not math.isfinite(angle):
        if size == 0:
            return complex(abs(size), abs(size))
        if math.isinf(size):
            return complex(size, angle)
    real, imag = math.cos(angle), math.sin(angle)
    if math.isinf(size):
        real = real / size if real == 0 else real * size
        imag = imag / size if imag == 0 else imag * size
        return complex(real, imag)
    return complex(real * size, imag * size)


def sqrt(z: Any) -> Any:
    """cmath.sqrt(z): algorithm 312 of CACM, October 1967."""
    x, y = z.real, z.imag
    if (x == 0 and y == 0) or math.isinf(y):
        return complex(abs(y), y)
    if math.isnan(x):
        return complex(x, x)
    if math.isinf(x):
        if x < 0:
            return complex(abs(y - y), math.copysign(x, y))
        return complex(x, math.copysign(y - y, y))
    scale = 1
    if abs(x) >= LARGE or abs(y) >= LARGE:
        x, y, scale = x / 4, y / 4, 2
    size = math.sqrt((abs(x) + math.hypot(x, y)) / 2)
    if x >= 0:
        return complex(size * scale, y / (2 * size) * scale)
    return complex(abs(y) / (2 * size) * scale, math.copysign(size, y) * scale)


def cosh(z: Any) -> Any:
    """cmath.cosh(z)."""
    x, y = z.real, z.imag
    if math.isinf(x):
        if math.isnan(y) or y == 0:
            real, imag = abs(x), y
        else:
            real, imag = math.copysign(x, math.cos(y)), math.copysign(x, math.sin(y))
        return complex(real, -imag if x < 0 else imag)
    return complex(math.cos(y) * math.cosh(x), math.sin(y) * math.sinh(x))


def sinh(z: Any) -> Any:
    """cmath.sinh(z)."""
    x, y = z.real, z.imag
    if math.isinf(x):
        real, imag = x, y
        if not math.isnan(y):
            real, imag = math.cos(y), math.sin(y)
            if real != 0:
                real = real * x
            if imag != 0:
                imag = imag * abs(x)
        return complex(real, imag)
    return complex(math.cos(y) * math.sinh(x), math.sin(y) * math.cosh(x))


def tanh(z: Any) -> Any:
    """cmath.tanh(z)."""
    x, y = z.real, z.imag
    if math.isinf(x):
        turn = 0 * x if math.isinf(y) else math.sin(2 * y)
        return complex(math.copysign(1, x), 0 if math.isinf(y) else math.copysign(0, turn))
    tall, wide = math.tanh(x), math.tan(y)
    small, both = 1 / math.cosh(x), tall * wide
    below = 1 + both * both
    return complex(tall * (1 + wide * wide) / below, wide / below * small * small)


def cos(z: Any) -> Any:
    """cmath.cos(z) is cmath.cosh(1j * z)."""
    return cosh(complex(-z.imag, z.real))


def sin(z: Any) -> Any:
    """cmath.sin(z) is -1j * cmath.sinh(1j * z)."""
    found = sinh(complex(-z.imag, z.real))
    return complex(found.imag, -found.real)


def tan(z: Any) -> Any:
    """cmath.tan(z) is -1j * cmath.tanh(1j * z)."""
    found = tanh(complex(-z.imag, z.real))
    return complex(found.imag, -found.real)


def acos(z: Any) -> Any:
    """cmath.acos(z)."""
    x, y = z.real, z.imag
    if abs(x) > LARGE or abs(y) > LARGE:
        size = math.log(math.hypot(x / 2, y / 2)) + LOG_4
        return complex(math.atan2(abs(y), x), -math.copysign(size, y))
    one, other = sqrt(complex(1 - x, -y)), sqrt(complex(1 + x, y))
    imag = math.asinh(other.real * one.imag - other.imag * one.real)
    return complex(2 * math.atan2(one.real, other.real), imag)


def acosh(z: Any) -> Any:
    """cmath.acosh(z)."""
    x, y = z.real, z.imag
    if abs(x) > LARGE or abs(y) > LARGE:
        return complex(math.log(math.hypot(x / 2, y / 2)) + LOG_4, math.atan2(y, x))
    one, other = sqrt(complex(x - 1, y)), sqrt(complex(x + 1, y))
    real = math.asinh(one.real * other.real + one.imag * other.imag)
    return complex(real, 2 * math.atan2(one.imag, other.real))


def asinh(z: Any) -> Any:
    """cmath.asinh(z)."""
    x, y = z.real, z.imag
    if abs(x) > LARGE or abs(y) > LARGE:
        size = math.log(math.hypot(x / 2, y / 2)) + LOG_4
        return complex(math.copysign(size, x), math.atan2(y, abs(x)))
    one, other = sqrt(complex(1 + y, -x)), sqrt(complex(1 - y, x))
    real = math.asinh(one.real * other.imag - other.real * one.imag)
    return complex(real, math.atan2(y, one.real * other.real - one.imag * other.imag))


def asin(z: Any) -> Any:
    """cmath.asin(z) is -1j * cmath.asinh(1j * z), written without a sign that a NaN may lose."""
    found = asinh(complex(z.imag, z.real))
    return complex(found.imag, found.real)


def atanh(z: Any) -> Any:
    """cmath.atanh(z), of the right half plane first."""
    x, y = z.real, z.imag
    if x < 0:
        x, y = -x, -y
    tall = abs(y)
    if math.isnan(x) or x > LARGE_ROOT or tall > LARGE_ROOT:
        if math.isinf(y) or math.isinf(x):
            real = math.copysign(0.0, x)
        else:
            half = math.hypot(x / 2, y / 2)
            real = x / 4 / half / half
        imag = math.copysign(math.pi / 2, y)
    elif x == 1 and tall < SMALL_ROOT:
        if tall == 0:
            real, imag = math.inf, y
        else:
            real = -math.log(math.sqrt(tall) / math.sqrt(math.hypot(tall, 2.0)))
            imag = math.copysign(math.atan2(2.0, -tall) / 2, y)
    else:
        real = math.log1p(4 * x / ((1 - x) * (1 - x) + y * y)) / 4
        imag = -math.atan2(-2 * y, (1 - x) * (1 + x) - y * y) / 2
    if math.isnan(y):
        imag = y
    return complex(-real, -imag) if z.real < 0 else complex(real, imag)


def atan(z: Any) -> Any:
    """cmath.atan(z) is -1j * cmath.atanh(1j * z)."""
    found = atanh(complex(-z.imag, z.real))
    if math.isinf(z.real) and math.isnan(z.imag):
        return complex(found.imag, found.real)
    return complex(found.imag, -found.real)


def isnan(z: Any) -> Any:
    """cmath.isnan(z)."""
    return math.isnan(z.real) or math.isnan(z.imag)


def isinf(z: Any) -> Any:
    """cmath.isinf(z)."""
    return math.isinf(z.real) or math.isinf(z.imag)


def isfinite(z: Any) -> Any:
    """cmath.isfinite(z)."""
    return math.isfinite(z.real) and math.isfinite(z.imag)


OF_COMPLEX: dict[str, Any] = {
    function.__name__: function
    for function in (
        *(exp, log, log10, log2, sqrt, isnan, isinf, isfinite),
        *(cos, sin, tan, cosh, sinh, tanh, acos, asin, atan, acosh, asinh, atanh),
    )
}
OF_COMPLEX |= {"**": power, "pow": power}
"""The function for an operation of the representation on complex numbers, by its name."""
FUNCTIONS: tuple[tuple[Any, int, Any], ...] = (
    *(
        (getattr(cmath, name), 1, function)
        for name, function in OF_COMPLEX.items()
        if hasattr(cmath, name)
    ),
    (cmath.log, 2, log_of_base),
    (cmath.phase, 1, phase),
    (cmath.polar, 1, polar),
    (cmath.rect, 2, rect),
)
"""The called function and its number of arguments, with the function that replaces it."""
