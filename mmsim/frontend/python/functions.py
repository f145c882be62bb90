"""Python's own functions of numbers that a program can call: `math.sqrt(x)`, `abs(x)`, `int(x)`."""

from __future__ import annotations

import math
from functools import partial

from mmsim.errors import Place
from mmsim.frontend.python.grammar import CASTS
from mmsim.frontend.python.words import Intrinsic, Operands, Vocabulary
from mmsim.ir import nodes as ir
from mmsim.ir.functions import FUNCTIONS

WHOLE = ("floor", "ceil", "trunc")
"""Functions that give an integer, as Python's do."""
ADVICE = {
    "math": "of math's functions the language has those of one, two or three floats that C has "
    "too, degrees and radians",
    "cmath": "write it with math's functions of z.real and z.imag, as complex(math.cos(x), "
    "math.sin(x)) for cmath.exp(1j * x)",
}


def called(name: str, given: Operands, place: Place) -> ir.Expr:
    """A function of the representation."""
    result = ir.Call(name, given, place)
    return ir.Unary("int", result, place) if name in WHOLE else result


def _cast(op: str, given: Operands, place: Place) -> ir.Expr:
    if len(given) == 2:
        return ir.Call("complex", given, place)
    return ir.Unary(op, given[0], place)


def _scaled(factor: float, given: Operands, place: Place) -> ir.Expr:
    return ir.Binary("*", given[0], ir.Const(factor), place)


def _logarithm(given: Operands, place: Place) -> ir.Expr:
    value, *base = (called("log", (one,), place) for one in given)
    return ir.Binary("/", value, base[0], place) if base else value


FUNCTIONS_OF_PYTHON = Vocabulary(
    [
        *(
            (getattr(math, name), Intrinsic((row.arity,), partial(called, name)))
            for name, row in FUNCTIONS.items()
            if hasattr(math, name) and name != "log"
        ),
        (math.log, Intrinsic((1, 2), _logarithm)),
        (math.degrees, Intrinsic((1,), partial(_scaled, 180 / math.pi))),
        (math.radians, Intrinsic((1,), partial(_scaled, math.pi / 180))),
        (abs, Intrinsic((1,), partial(_cast, "abs"))),
        *(
            (one, Intrinsic((1, 2) if one is complex else (1,), partial(_cast, op)))
            for one, op in CASTS.items()
        ),
    ]
)
"""The functions by themselves; `calls` has those that take more than numbers."""
