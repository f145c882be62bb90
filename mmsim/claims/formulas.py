"""Functions of formulas that stay as they are written until their arguments are numbers."""

from __future__ import annotations

import math
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
