"""Functions of complex numbers: those of `cmath` that Numba writes in Python, and our own.

Numba hands the first ones to its compiler; here they are taken from there. The others are written
out in the language of kernels. All are parsed where a kernel calls them, and never run.
"""

from __future__ import annotations

import cmath
import math
import types as python
from typing import Any

from numba.core.typing.templates import signature


class Asked:
    """Stands for Numba's compiler where it is asked to compile a function: gives the function."""

    def compile_internal(self, builder: Any, function: Any, sig: Any, args: Any) -> Any:
        """Return the function."""
        return function


def of_numba(name: str, given: tuple[Any, ...]) -> python.FunctionType | None:
    """The Python function that Numba compiles for one of `cmath` on numbers of these types."""
    from numba.cpython.cmathimpl import registry

    for lower, known, types in registry.functions:
        if known is getattr(cmath, name, None) and len(types) == len(given):
            try:
                found = lower(Asked(), None, signature(given[0], *given), given)
            except AttributeError:  # it makes machine code itself
                return None
            assert isinstance(found, python.FunctionType)
            return found
    return None


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


def log2(z: Any) -> Any:
    """np.log2(z)."""
    found = log(z)
    return complex(found.real / math.log(2), found.imag / math.log(2))


def power(z: Any, exponent: Any) -> Any:
    """z ** exponent; 0 ** 0 is 1."""
    if exponent == 0:
        return complex(1, 0) + 0 * z
    if z == 0:
        return 0 * z
    return exp(exponent * log(z))


def isnan(z: Any) -> Any:
    """cmath.isnan(z)."""
    return math.isnan(z.real) or math.isnan(z.imag)


def isinf(z: Any) -> Any:
    """cmath.isinf(z)."""
    return math.isinf(z.real) or math.isinf(z.imag)


def isfinite(z: Any) -> Any:
    """cmath.isfinite(z)."""
    return math.isfinite(z.real) and math.isfinite(z.imag)


OWN: dict[str, Any] = {
    **{one.__name__: one for one in (exp, log, log2, isnan, isinf, isfinite)},
    **{"**": power, "pow": power},
}
"""The function for an operation of the representation on complex numbers, by its name."""
KNOWN = {*OWN, *vars(cmath)}
"""The names of all functions of complex numbers."""
