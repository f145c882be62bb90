"""Calls of mathematical functions and of counts of bits: `math.sqrt(x)`, `mm.popc(x)`."""

from __future__ import annotations

import ast
import math
from typing import Any

from mmsim.frontend.python import intrinsics
from mmsim.frontend.python.lowering import Lowering
from mmsim.frontend.python.source import written
from mmsim.ir import nodes as ir
from mmsim.ir.functions import FUNCTIONS

WHOLE = ("floor", "ceil", "trunc")
"""Functions that give an integer, as Python's do."""
ADVICE = (
    "of math's functions the language has those of one, two or three floats that C has too, "
    "degrees and radians"
)
OF_PARTS = (
    "write it with math's functions of z.real and z.imag, as complex(math.cos(x), math.sin(x)) for "
    "cmath.exp(1j * x)"
)

KNOWN: dict[Any, str] = {
    **{getattr(math, name): name for name in FUNCTIONS if hasattr(math, name)},
    **{getattr(intrinsics, name): name for name, row in FUNCTIONS.items() if row.own},
    **{math.degrees: "degrees", math.radians: "radians"},
}
"""The functions that a program calls, by their outside objects."""


def is_known(called: Any) -> bool:
    """Return whether an outside object is one of these functions; no code of it runs."""
    return any(called is function for function in KNOWN)


def call(lowering: Lowering, node: ast.Call, called: Any) -> ir.Expr:
    """The value of a call of one of these functions."""
    name, place = KNOWN[called], lowering.function.place(node)
    if node.keywords or len(node.args) not in arities(name):
        takes = " or ".join(map(_numbers, arities(name)))
        raise lowering.function.refuse(node, f"{written(node.func)} takes {takes} here")
    arguments = lowering.operands(*node.args)
    if name in ("degrees", "radians"):
        factor = 180 / math.pi if name == "degrees" else math.pi / 180
        return ir.Binary("*", arguments[0], ir.Const(factor), place)
    if name == "log" and len(arguments) == 2:
        above, below = (ir.Call(name, (one,), place) for one in arguments)
        return ir.Binary("/", above, below, place)
    result = ir.Call(name, tuple(arguments), place)
    return ir.Unary("int", result, place) if name in WHOLE else result


def arities(name: str) -> tuple[int, ...]:
    """The numbers of arguments that a function may have."""
    if name == "log":
        return 1, 2
    return (FUNCTIONS[name].arity if name in FUNCTIONS else 1,)


def _numbers(count: int) -> str:
    return "one number" if count == 1 else f"{count} numbers"
