"""Functions of numbers that kernels call: cuda's, NumPy's on scalars, operator's and Python's.

Most are one operation of the representation. `numba_library` has the others, written in the
language of kernels itself.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mmsim.errors import Place
from mmsim.frontend import numba_cmath, numba_library
from mmsim.ir import nodes as ir


class Simple(NamedTuple):
    """A function that is one operation: its number of operands, and its result."""

    arity: int
    make: Callable[[tuple[ir.Expr, ...], Place], ir.Expr]


def _call(op: str, arity: int = 1) -> Simple:
    return Simple(arity, lambda given, place: ir.Call(op, given, place))


def _unary(op: str) -> Simple:
    return Simple(1, lambda given, place: ir.Unary(op, given[0], place))


def _binary(op: str) -> Simple:
    return Simple(2, lambda given, place: ir.Binary(op, given[0], given[1], place))


def _compare(op: str) -> Simple:
    return Simple(2, lambda given, place: ir.Compare(op, given[0], given[1], place))


def _logic(op: Any) -> Simple:
    def make(given: tuple[ir.Expr, ...], place: Place) -> ir.Expr:
        first, second = (ir.Unary("bool", one, place) for one in given)
        return ir.Logic(op, first, second)

    return Simple(2, make)


def _scaled(factor: float) -> Simple:
    return Simple(1, lambda given, place: ir.Binary("*", given[0], ir.Const(factor), place))


CUDA: dict[str, Simple] = {
    "popc": _call("popc"),
    "clz": _call("clz"),
    "ffs": _call("ffs"),
    "brev": _call("brev"),
    "cbrt": _call("cbrt"),
    "fma": _call("fma", 3),
    "selp": Simple(3, lambda given, place: ir.Choose(*given)),
}
"""Functions of numba.cuda that are one operation."""

_NUMPY: dict[str, Simple] = {
    **{
        name: _call(name)
        for name in (
            *("sqrt", "fabs", "floor", "ceil", "trunc", "isnan", "isinf", "isfinite"),
            *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "cbrt"),
            *("sin", "cos", "tan", "sinh", "cosh", "tanh"),
        )
    },
    "arcsin": _call("asin"),
    "arccos": _call("acos"),
    "arctan": _call("atan"),
    "arcsinh": _call("asinh"),
    "arccosh": _call("acosh"),
    "arctanh": _call("atanh"),
    "arctan2": _call("atan2", 2),
    "hypot": _call("hypot", 2),
    "copysign": _call("copysign", 2),
    "fmod": _call("fmod", 2),
    "nextafter": _call("nextafter", 2),
    "deg2rad": _scaled(np.pi / 180),
    "radians": _scaled(np.pi / 180),
    "rad2deg": _scaled(180 / np.pi),
    "degrees": _scaled(180 / np.pi),
    "add": _binary("+"),
    "subtract": _binary("-"),
    "multiply": _binary("*"),
    "true_divide": _binary("/"),
    "floor_divide": _binary("//"),
    "remainder": _binary("%"),
    "power": _binary("**"),
    "bitwise_and": _binary("&"),
    "bitwise_or": _binary("|"),
    "bitwise_xor": _binary("^"),
    "left_shift": _binary("<<"),
    "right_shift": _binary(">>"),
    "invert": _unary("~"),
    "negative": _unary("-"),
    "positive": _unary("+"),
    "absolute": _unary("abs"),
    "logical_not": _unary("not"),
    "logical_and": _logic("and"),
    "logical_or": _logic("or"),
    "equal": _compare("=="),
    "not_equal": _compare("!="),
}
_OPERATOR: dict[str, Simple] = {
    "add": _binary("+"),
    "sub": _binary("-"),
    "mul": _binary("*"),
    "truediv": _binary("/"),
    "floordiv": _binary("//"),
    "mod": _binary("%"),
    "pow": _binary("**"),
    "and_": _binary("&"),
    "or_": _binary("|"),
    "xor": _binary("^"),
    "lshift": _binary("<<"),
    "rshift": _binary(">>"),
    "neg": _unary("-"),
    "pos": _unary("+"),
    "invert": _unary("~"),
    "not_": _unary("not"),
    "truth": _unary("bool"),
    "eq": _compare("=="),
    "ne": _compare("!="),
    "lt": _compare("<"),
    "le": _compare("<="),
    "gt": _compare(">"),
    "ge": _compare(">="),
}
SIMPLE: dict[Any, Simple] = {
    **{getattr(np, name): simple for name, simple in _NUMPY.items()},
    **{getattr(operator, name): simple for name, simple in _OPERATOR.items()},
    pow: _binary("**"),
}
"""Functions of NumPy, of operator and of Python that are one operation, by their objects."""


def simple(called: Any) -> Simple | None:
    """The operation of one of these functions; None for anything else. No code of it runs."""
    return next((found for known, found in SIMPLE.items() if called is known), None)


def written_out(called: Any, arguments: int) -> types.FunctionType | None:
    """The text of a function in the language of kernels, None if it has none."""
    return next(
        (
            function
            for known, count, function in (*numba_library.FUNCTIONS, *numba_cmath.FUNCTIONS)
            if called is known and count == arguments
        ),
        None,
    )
