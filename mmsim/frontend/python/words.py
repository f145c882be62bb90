"""Words: the meaning of names that are not Python's, with their operands and what they emit.

A word is a field of the thread, a barrier, an array to be made, an atomic or a function.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Generic, Literal, TypeVar

from mmsim.errors import Place
from mmsim.frontend.python.function import Function, with_article
from mmsim.frontend.python.grammar import CASTS
from mmsim.frontend.python.scope import Value
from mmsim.frontend.python.source import written
from mmsim.ir import nodes as ir
from mmsim.ir.functions import FUNCTIONS

Operands = tuple[ir.Expr, ...]
Found = TypeVar("Found")


@dataclass(frozen=True)
class Intrinsic:
    """A function without an effect: how many operands it may have, and its value for them."""

    arities: tuple[int, ...]
    value: Callable[[Operands, Place], Value]


@dataclass(frozen=True)
class Effect:
    """A call that is a statement, such as a barrier or an exchange, with its `parameters`.

    `emit` gives the statement for the variable of its result, None without one, and for the
    operands. `value` gives the value of the call for this variable; a call without a value stands
    alone. `noun` is its name in messages, if that isn't the text.
    """

    parameters: tuple[str, ...]
    emit: Callable[[str | None, Operands, Place], ir.Stmt]
    value: Callable[[ir.Expr, Place], Value] | None = None
    noun: str = ""


@dataclass(frozen=True)
class Atomic:
    """An atomic on an element of an array; without an "index", on the first word of the array."""

    op: ir.AtomicOp
    parameters: tuple[str, ...]


@dataclass(frozen=True)
class Maker:
    """A function that makes an array: the kind, its name, and the array's name in messages.

    Its first parameter, the shape of the array, is called `shape`, the second one "dtype".
    """

    kind: Literal["shared", "registers"]
    called: str
    array: str
    shape: str


@dataclass(frozen=True)
class Vectors:
    """A function of an array and a count that gives the array's vectors, to be indexed."""

    called: str


Word = Value | Intrinsic | Effect | Atomic | Maker | Vectors
"""The meaning of a name, an attribute or a called object that is not Python's."""


class Vocabulary(Generic[Found]):
    """A table by objects. An object is looked up by identity, because none of its code may run.

    >>> Vocabulary([(len, "length")]).get(len)
    'length'
    """

    def __init__(self, rows: Iterable[tuple[object, Found]]) -> None:
        self._rows = tuple(rows)

    def get(self, thing: object) -> Found | None:
        """The entry of an object, None without one."""
        return next((found for known, found in self._rows if known is thing), None)


def value_of(word: Word | None, node: ast.expr, function: Function) -> Value | None:
    """The value of a word that is not called, None for no word; other words are refused."""
    match word:
        case Effect(value=None):
            raise no_value(word, node, function)
        case Effect(parameters):
            takes = " and ".join(map(with_article, parameters)) or "()"
            advice = f"write {written(node)}({', '.join(parameters)})"
            raise function.refuse(node, f"{written(node)!r} is called with {takes}", advice)
        case None | Intrinsic() | Atomic() | Maker() | Vectors():
            return None
    return word


def no_value(word: Effect, node: ast.expr, function: Function) -> Exception:
    """The error for a call without a value where a value must stand."""
    return function.refuse(
        node,
        f"{word.noun or repr(written(node))} has no value",
        f"write {written(node)}() as a statement of its own",
    )


def given_to(call: ast.Call, parameters: tuple[str, ...]) -> dict[str, ast.expr] | None:
    """The arguments of a call for these parameters, in order or by name; None if some don't fit."""
    given = dict(zip(parameters, call.args, strict=False))
    for keyword in call.keywords:
        if keyword.arg in parameters and keyword.arg not in given:
            given[keyword.arg] = keyword.value
    return given if len(given) == len(call.args) + len(call.keywords) else None


def arguments_of(
    call: ast.Call, name: str, parameters: tuple[str, ...], function: Function
) -> tuple[ast.expr, ...]:
    """The arguments of a call that takes these, in order or by name."""
    given = given_to(call, parameters)
    if given is None or set(given) != set(parameters):
        takes = " and ".join(parameters) or "no arguments"
        advice = f"write {written(call.func)}({', '.join(parameters)})"
        raise function.refuse(call, f"{name} takes {takes}", advice)
    return tuple(given[name] for name in parameters)


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
