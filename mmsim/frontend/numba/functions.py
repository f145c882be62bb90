"""Functions of numbers that kernels call: cuda's, NumPy's on scalars, operator's and Python's.

Most are one operation of the representation. `library` has the others, written in the
language of kernels itself.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from mmsim.errors import Place
from mmsim.frontend.numba import cmath, library
from mmsim.frontend.python.words import Intrinsic, Operands, Vocabulary
from mmsim.ir import nodes as ir
from mmsim.ir import operators
from mmsim.ir.functions import FUNCTIONS
from mmsim.ir.row import Row


def _logic(op: Any) -> Intrinsic:
    def value(given: Operands, place: Place) -> ir.Expr:
        first, second = (ir.Unary("bool", one, place) for one in given)
        return ir.Logic(op, first, second)

    return Intrinsic((2,), value)


def _scaled(factor: float) -> Intrinsic:
    return Intrinsic((1,), lambda given, place: ir.Binary("*", given[0], ir.Const(factor), place))


def _meaning(
    table: Mapping[str, Row], node: Callable[..., ir.Expr], arity: int
) -> list[tuple[object, Intrinsic]]:
    """The operators of a table by the functions that mean them."""
    return [
        (one, Intrinsic((arity,), partial(_operation, node, op)))
        for op, row in table.items()
        for one in row.means
        if not isinstance(one, type)
    ]


def _operation(node: Callable[..., ir.Expr], op: str, given: Operands, place: Place) -> ir.Expr:
    return node(op, *given, place)


OF_NUMBERS = Vocabulary(
    [
        *(
            (one, Intrinsic((row.arity,), partial(ir.Call, op)))
            for op, row in FUNCTIONS.items()
            for one in row.means
        ),
        *_meaning(operators.UNARY, ir.Unary, 1),
        *_meaning(operators.BINARY, ir.Binary, 2),
        *_meaning(operators.COMPARE, ir.Compare, 2),
        (np.logical_and, _logic("and")),
        (np.logical_or, _logic("or")),
        (np.deg2rad, _scaled(np.pi / 180)),
        (np.radians, _scaled(np.pi / 180)),
        (np.rad2deg, _scaled(180 / np.pi)),
        (np.degrees, _scaled(180 / np.pi)),
    ]
)
"""Functions of NumPy, of operator and of Python that are one operation."""


def written_out(called: Any, arguments: int | None) -> types.FunctionType | None:
    """The text of a function in the language of kernels, None if it has none."""
    return next(
        (
            function
            for known, count, function in (*library.FUNCTIONS, *cmath.FUNCTIONS)
            if called is known and arguments in (count, None)
        ),
        None,
    )
