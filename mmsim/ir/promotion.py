"""The combination of types: the type that holds two values, and the type of a result.

A value may have a requested type, by a cast such as `mm.float32(x)`. Or it is a number of
Python's: an integer (64 bits), a float (double), a complex number (two doubles) or a bool.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    SUPPORTED,
    SUPPORTED_TEXT,
    UNSIGNED,
    Type,
    is_int,
    is_whole,
    limits,
    part,
    supported,
    wide,
)
from mmsim.ir.operators import CASTS, UNARY, row_of

__all__ = ["BOOL", "COMPLEX", "FLOAT", "INT", "UNSIGNED", "Type", "is_int", "is_whole", "limits"]
__all__ += ["SUPPORTED", "SUPPORTED_TEXT", "part", "supported", "wide"]


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
    row = CASTS.get(op) or UNARY.get(op)
    made = None if row is None else row.gives
    return None if made is None else ValueType(made, op in CASTS)


def result_of(value: ir.Operating, type_: Type) -> Type:
    """The type of an operation's result, from the type in which it computes."""
    row = row_of(value)
    match row.result:
        case "bool":
            return BOOL
        case "count":
            return INT
        case "complex":
            return np.promote_types(type_, np.complex64)
        case "part" if type_.kind == "c":
            return part(type_)
        case "quotient" if is_whole(type_):
            return FLOAT
    return type_ if row.gives is None else row.gives


def type_of_number(number: ir.Scalar) -> Type:
    """The type of a number as it stands."""
    if isinstance(number, bool):
        return BOOL
    if isinstance(number, int):
        return INT if number < 2**63 else UNSIGNED
    return COMPLEX if isinstance(number, complex) else FLOAT
