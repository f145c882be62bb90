"""Functions of numbers that kernels call: cuda's, NumPy's on scalars, operator's and Python's.

Most are one operation of the representation. `library` has the others, written in the
language of kernels itself.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from mmsim.errors import Place
from mmsim.frontend.numba import cmath, library
from mmsim.ir import nodes as ir
from mmsim.ir import operators
from mmsim.ir.functions import FUNCTIONS


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


def _meaning(
    table: Mapping[str, operators.Row], make: Callable[[str], Simple]
) -> dict[Any, Simple]:
    """The operators of a table by the functions that mean them."""
    return {
        one: make(op) for op, row in table.items() for one in row.means if not isinstance(one, type)
    }


CUDA: dict[str, Simple] = {
    **{op: _call(op, FUNCTIONS[op].arity) for op in ("popc", "clz", "ffs", "brev", "cbrt", "fma")},
    "selp": Simple(3, lambda given, place: ir.Choose(*given)),
}
"""Functions of numba.cuda that are one operation."""

SIMPLE: dict[Any, Simple] = {
    **{one: _call(op, row.arity) for op, row in FUNCTIONS.items() for one in row.means},
    **_meaning(operators.UNARY, _unary),
    **_meaning(operators.BINARY, _binary),
    **_meaning(operators.COMPARE, _compare),
    np.logical_and: _logic("and"),
    np.logical_or: _logic("or"),
    np.deg2rad: _scaled(np.pi / 180),
    np.radians: _scaled(np.pi / 180),
    np.rad2deg: _scaled(180 / np.pi),
    np.degrees: _scaled(180 / np.pi),
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
            for known, count, function in (*library.FUNCTIONS, *cmath.FUNCTIONS)
            if called is known and count == arguments
        ),
        None,
    )
