"""Functions in formulas. They stay unevaluated until their arguments are numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import sympy


class GCD(sympy.Function):  # type: ignore[misc]  # SymPy has no types
    """The greatest common divisor; SymPy's own takes symbols for polynomials."""

    @classmethod
    def eval(cls, a: Any, b: Any) -> Any:
        if a.is_Integer and b.is_Integer:
            return sympy.Integer(math.gcd(int(a), int(b)))
        return None

    def _latex(self, printer: Any) -> str:
        a, b = (printer.doprint(argument) for argument in self.args)
        return rf"\gcd({a}, {b})"

    def _sympystr(self, printer: Any) -> str:
        a, b = (printer.doprint(argument) for argument in self.args)
        return f"gcd({a}, {b})"


class Log2(sympy.Function):  # type: ignore[misc]  # SymPy has no types
    """The logarithm to the base 2, an integer of a power of two; SymPy's own has no base."""

    is_extended_real = True

    @classmethod
    def eval(cls, x: Any) -> Any:
        if x.is_Integer and x > 0:
            power = int(x).bit_length() - 1
            return sympy.Integer(power) if x == 2**power else sympy.log(x, 2)
        return None

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        power = "" if exp is None else f"^{{{exp}}}"
        return rf"\log_2{power} {{\left({printer.doprint(self.args[0])} \right)}}"

    def _sympystr(self, printer: Any) -> str:
        return f"log2({printer.doprint(self.args[0])})"


@cache
def named(name: str, exact: Callable[..., Fraction]) -> Any:
    """A function that formulas show by its name; on integers it has the value of `exact`."""

    def evaluate(_: type, *arguments: Any) -> Any:
        if not all(argument.is_Integer for argument in arguments):
            return None
        value = exact(*map(int, arguments))
        return sympy.Rational(value.numerator, value.denominator)

    return type(name, (sympy.Function,), {"eval": classmethod(evaluate)})
