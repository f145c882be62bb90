"""The combination of types: the type in which an operation computes, and the type of its result.

A value may have a requested type, by a cast such as `mm.float32(x)`. Or it is a number of
Python's: an integer (64 bits), a float (double), a complex number (two doubles) or a bool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
from mmsim.ir.operators import BINARY, UNARY, row_of

__all__ = ["BOOL", "COMPLEX", "FLOAT", "INT", "UNSIGNED", "Type", "is_int", "is_whole", "limits"]
__all__ += ["part", "wide"]


class ValueType(NamedTuple):
    """The type of a value, and whether it is strong: requested, and no number of Python's.

    The term is NumPy's (NEP 50): a weak number takes the type of a strong one.
    """

    type: Type
    strong: bool = False


class Operation(NamedTuple):
    """The arithmetic of an operation: its operands are converted to `operands` before.

    If it is `ieee`, an operation of floats has a value for all operands, as in IEEE 754; Python's
    refuses some, such as a division by zero.
    """

    operands: tuple[Type, ...]
    result: ValueType
    ieee: bool


class Clash(Exception):
    """Two requested types have no common one."""


def no_index(types: Iterable[Type]) -> str | None:
    """The reason that numbers of these types can't be an index; None if they can."""
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


def element(type_: Type) -> ValueType:
    """A value that comes from an array of that type."""
    return ValueType(type_, type_ == UNSIGNED)


def join(first: ValueType | None, second: ValueType | None) -> ValueType | None:
    """The type that holds both; None stands for nothing known yet."""
    if first is None or second is None or first == second:
        return second if first is None else first
    if first.strong or second.strong:
        return ValueType(promoted(first, second), True)
    if first.type == second.type:
        return first
    kinds = first.type.kind + second.type.kind
    return ValueType(COMPLEX if "c" in kinds else FLOAT if "f" in kinds else INT)


def promoted(*held: ValueType) -> Type:
    """The type in which values compute if the type of at least one was requested.

    >>> promoted(ValueType(np.dtype("int32"), True), ValueType(np.dtype("float64")))
    dtype('float64')
    >>> promoted(ValueType(np.dtype("float32"), True), ValueType(np.dtype("int64")))
    dtype('float32')
    >>> promoted(ValueType(np.dtype("float32"), True), ValueType(np.dtype("complex128")))
    dtype('complex64')
    """
    strong = [one.type for one in held if one.strong]
    common = np.result_type(*strong)
    if common.kind == "f" and all(map(is_int, strong)):
        raise Clash(
            f"no integer type holds both {strong[0]} and {strong[1]}; convert one of them, as in "
            f"mm.{strong[0]}(...)"
        )
    kinds = {one.type.kind for one in held}
    if "c" in kinds and common.kind != "c":
        return np.dtype(np.complex64) if common.itemsize == 4 and common.kind == "f" else COMPLEX
    if "f" in kinds and common.kind not in "fc":
        return FLOAT
    return common


def cast(op: str) -> ValueType | None:
    """The type that a cast gives; None if `op` is not a cast.

    >>> cast("float32"), cast("int")
    (ValueType(type=dtype('float32'), strong=True), ValueType(type=dtype('int64'), strong=False))
    """
    if op in SUPPORTED and op != "bool":
        return ValueType(np.dtype(op), True)
    row = UNARY.get(op)
    return ValueType(row.gives) if row is not None and row.gives is not None else None


def fixed_result(value: ir.Operating) -> ValueType | None:
    """The type of an operation's result for all operands; None if it depends on them."""
    if isinstance(value, ir.Compare):
        return ValueType(BOOL)
    return cast(value.op) if isinstance(value, ir.Unary) else None


def result_of(value: ir.Operating, type_: Type) -> Type:
    """The type of an operation's result, from the type in which it computes."""
    fixed = fixed_result(value)
    if fixed is not None:
        return fixed.type
    if isinstance(value, ir.Call):
        return call_result(FUNCTIONS[value.op], type_)
    if isinstance(value, ir.Binary):
        return FLOAT if is_whole(type_) and row_of(value.op).kind == "quotient" else type_
    is_length = value.op in UNARY and UNARY[value.op].kind == "absolute"
    return part(type_) if is_length and type_.kind == "c" else type_


def compared(types: tuple[Type, ...], common: Callable[[], Type]) -> Operation:
    """A comparison in a common type; that of integers is exact, whatever their types are."""
    if not all(map(is_whole, types)):
        return Operation((common(),) * len(types), ValueType(BOOL), True)
    exact = tuple(one if one == UNSIGNED else INT for one in types)
    return Operation(exact, ValueType(BOOL), True)


def operation(value: ir.Operating, *held: ValueType) -> Operation:
    """Return the arithmetic of an operation on operands of these types."""
    types = tuple(one.type for one in held)
    strong = any(one.strong for one in held)
    if isinstance(value, ir.Compare):
        return compared(types, lambda: promoted(*held) if strong else _plain(value, held))
    fixed = fixed_result(value)
    if fixed is not None:
        return Operation(types, fixed, True)
    if isinstance(value, ir.Call):
        strong = strong and value.op != "complex"
        common = _of_call(FUNCTIONS[value.op], held, strong)
        strong = strong and FUNCTIONS[value.op].result in ("float", "same", "part")
    else:
        common = promoted(*held) if strong else _plain(value, held)
    result = result_of(value, common)
    return Operation((common,) * len(held), ValueType(result, strong), strong)


def _plain(value: ir.Operating, held: tuple[ValueType, ...]) -> Type:
    """The type in which Python's numbers compute."""
    joined = reduce(join, held, None)
    assert joined is not None
    kind = BINARY[value.op].kind if isinstance(value, ir.Binary) else ""
    as_they_are = kind == "extreme" or (kind == "bits" and joined.type == BOOL)
    return joined.type if as_they_are else wide(joined.type)


def _of_call(function: Function, held: tuple[ValueType, ...], strong: bool) -> Type:
    """The type of a function's operands: of floats double, or float32 if this was requested.

    `complex` makes a number of Python's, as `float` does.
    """
    if function.takes == "complex":
        return held[0].type if strong else wide(held[0].type)
    common = promoted(*held) if strong else INT
    return FLOAT if function.takes == "float" and is_int(common) else common


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
