"""Rules of types: the type in which an operation computes, and the type of its result.

A value may have a requested type, by a cast such as `mm.float32(x)`. Or it is a number of
Python's: an integer (64 bits), a float (double), a complex number (two doubles) or a bool.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import NamedTuple

import numpy as np

from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    UNSIGNED,
    Type,
    is_int,
    is_whole,
    limits,
    part,
    wide,
)
from mmsim.ir.functions import FUNCTIONS, Function
from mmsim.ir.nodes import assert_never
from mmsim.ir.operators import BINARY, UNARY

__all__ = ["BOOL", "COMPLEX", "FLOAT", "INT", "UNSIGNED", "Type", "is_int", "is_whole", "limits"]
__all__ += ["part", "wide"]

READER = "the choice of types"


class Held(NamedTuple):
    """The type of a value, and whether it was requested."""

    type: Type
    asked: bool = False


class Operation(NamedTuple):
    """The types of an operation: its operands are converted to `operands` before.

    It is done in the requested type (`asked`), as NumPy does it, else in 64 bits, as Python does.
    If it is `total`, integers have a quotient and a remainder by zero: 0.
    """

    operands: tuple[Type, ...]
    result: Held
    asked: bool
    total: bool = False


class Clash(Exception):
    """Two requested types have no common one."""


def no_index(types: Iterable[Type]) -> str | None:
    """The reason why numbers of these types can't be an index; None if they can."""
    kinds = {type_.kind for type_ in types}
    if "c" in kinds:
        return "an address is a whole number, not a complex one; write int(z.real)"
    if "f" in kinds:
        return "an address is a whole number, not a float; write // for a whole quotient"
    return None


def holds(type_: Type, other: Type) -> bool:
    """Return whether a type of integers holds all numbers of another one.

    >>> holds(np.dtype("int16"), np.dtype("uint8")), holds(np.dtype("uint16"), np.dtype("int8"))
    (True, False)
    """
    (low, high), (least, most) = limits(type_), limits(other)
    return low <= least and most <= high


def call_result(function: Function, type_: Type) -> Type:
    """The type of a function's result, from that of its operands.

    >>> call_result(FUNCTIONS["sqrt"], FLOAT), call_result(FUNCTIONS["popc"], UNSIGNED)
    (dtype('float64'), dtype('int64'))
    """
    if function.result == "complex":
        return np.promote_types(type_, np.complex64)
    if function.result == "part" and type_.kind == "c":
        return part(type_)
    return {"bool": BOOL, "count": INT}.get(function.result, type_)


def element(type_: Type) -> Held:
    """A value that comes from an array of that type."""
    return Held(type_, type_ == UNSIGNED)


def join(first: Held | None, second: Held | None) -> Held | None:
    """The type that holds both; None stands for nothing known yet."""
    if first is None or second is None or first == second:
        return second if first is None else first
    if first.asked or second.asked:
        return Held(promoted(first, second), True)
    if first.type == second.type:
        return first
    kinds = first.type.kind + second.type.kind
    return Held(COMPLEX if "c" in kinds else FLOAT if "f" in kinds else INT)


def promoted(*held: Held) -> Type:
    """The type in which values compute if the type of at least one was requested.

    >>> promoted(Held(np.dtype("int32"), True), Held(np.dtype("float64")))
    dtype('float64')
    >>> promoted(Held(np.dtype("float32"), True), Held(np.dtype("int64")))
    dtype('float32')
    >>> promoted(Held(np.dtype("float32"), True), Held(np.dtype("complex128")))
    dtype('complex64')
    """
    asked = [one.type for one in held if one.asked]
    common = np.result_type(*asked)
    if common.kind == "f" and all(map(is_int, asked)):
        raise Clash(
            f"no integer type holds both {asked[0]} and {asked[1]}; convert one of them, as in "
            f"mm.{asked[0]}(...)"
        )
    kinds = {one.type.kind for one in held}
    if "c" in kinds and common.kind != "c":
        return np.dtype(np.complex64) if common.itemsize == 4 and common.kind == "f" else COMPLEX
    if "f" in kinds and common.kind not in "fc":
        return FLOAT
    return common


def cast(op: str) -> Held | None:
    """The type that a cast gives; None if `op` is not a cast.

    >>> cast("float32"), cast("int")
    (Held(type=dtype('float32'), asked=True), Held(type=dtype('int64'), asked=False))
    """
    if op in SUPPORTED and op != "bool":
        return Held(np.dtype(op), True)
    row = UNARY.get(op)
    return Held(row.gives) if row is not None and row.gives is not None else None


def fixed_result(value: ir.Operating) -> Held | None:
    """The type of an operation's result for all operands; None if it depends on them."""
    if isinstance(value, ir.Compare):
        return Held(BOOL)
    return cast(value.op) if isinstance(value, ir.Unary) else None


def operation(value: ir.Operating, *held: Held) -> Operation:
    """Return the arithmetic of an operation on operands of these types."""
    asked = any(one.asked for one in held)
    match value:
        case ir.Unary(op):
            return _unary(op, held[0])
        case ir.Call(op):
            return _call(op, held)
        case ir.Compare():
            return _compare(held)
        case ir.Binary(op):
            if not asked:
                return _plain(op, held)
            common = promoted(*held)
            is_quotient = BINARY[op].kind == "quotient"
            result = FLOAT if is_quotient and is_int(common) else common
            return Operation((common,) * len(held), Held(result, True), True)
        case _:
            assert_never(value, READER)


def _unary(op: str, held: Held) -> Operation:
    to = cast(op)
    if to is not None:
        kept = to.asked or to.type == BOOL or held.type == UNSIGNED
        return Operation((held.type if kept else wide(held.type),), to, to.asked)
    taken = held if held.asked else Held(wide(held.type))
    is_length = UNARY[op].kind == "absolute" and taken.type.kind == "c"
    result = Held(part(taken.type), taken.asked) if is_length else taken
    return Operation((taken.type,), result, held.asked)


def _plain(op: str, held: tuple[Held, ...]) -> Operation:
    """An operation on Python's numbers."""
    joined = reduce(join, held, None)
    assert joined is not None
    types = tuple(one.type for one in held)
    kind = BINARY[op].kind
    if kind == "extreme" or (kind == "bits" and types == (BOOL, BOOL)):
        return Operation((joined.type,) * len(held), joined, False)
    if joined.type.kind == "c":
        return Operation((COMPLEX,) * len(held), Held(COMPLEX), False)
    result = FLOAT if kind == "quotient" else wide(joined.type)
    return Operation(tuple(map(wide, types)), Held(result), False)


def _compare(held: tuple[Held, ...]) -> Operation:
    """A comparison; that of integers is exact, whatever their types are."""
    types = tuple(one.type for one in held)
    if any(not is_whole(one) for one in types):
        asked = any(one.asked for one in held)
        plain = COMPLEX if any(one.kind == "c" for one in types) else FLOAT
        common = (promoted(*held) if asked else plain,) * len(held)
    else:
        common = tuple(one if one == UNSIGNED else INT for one in types)
    return Operation(common, Held(BOOL), False)


def _call(op: str, held: tuple[Held, ...]) -> Operation:
    """A function: of floats in double, or in float32 if this was requested; of others as held.

    `complex` makes a number of Python's, as `float` does.
    """
    function = FUNCTIONS[op]
    asked = any(one.asked for one in held) and op != "complex"
    if function.takes == "float":
        common = promoted(*held) if asked else FLOAT
        common = FLOAT if is_int(common) else common
    elif function.takes == "bits":
        common = promoted(*held) if asked else INT
    else:
        common = held[0].type if asked else wide(held[0].type)
    result = call_result(function, common)
    own = function.result in ("float", "same", "part")
    return Operation((common,) * len(held), Held(result, asked and own), asked)


def type_of_number(number: ir.Scalar) -> Type:
    """The type of a number as it stands."""
    if isinstance(number, bool):
        return BOOL
    if isinstance(number, int):
        return INT if number < 2**63 else UNSIGNED
    return COMPLEX if isinstance(number, complex) else FLOAT


SUPPORTED = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
SUPPORTED_TEXT = "bool, int8 to int64, uint8 to uint64, float32, float64, complex64, complex128"


def supported(dtype: str) -> bool:
    """Return whether arrays of a NumPy dtype of that name can be used."""
    return dtype in SUPPORTED
