"""The values of operations on operands of one type, by the rows of the tables.

Values are as in `operators`: one Python number that the type can hold if all lanes agree, else
an array of the type. Bools, 64-bit integers and doubles compute as Python's numbers do. The results
of all other types are NumPy's: integers wrap around, every operation on floats is rounded to the
type, and a float without a value is a NaN or an infinity. Only a check, a cast of a float that the
type doesn't hold, and a power that has to be finite raise `NoValue`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mmsim.ir import nodes as ir
from mmsim.ir.functions import FUNCTIONS
from mmsim.ir.nodes import assert_never
from mmsim.ir.operators import (
    CHECKS,
    COMPARE,
    UNARY,
    Check,
    Mask,
    Value,
    convert,
    refuse_where,
    row_of,
    truth,
)
from mmsim.ir.promotion import BOOL, FLOAT, INT, Type, cast, is_int, limits
from mmsim.ir.walk import operands

Compute = Callable[..., Value]
"""Takes the operands and the mask of active lanes."""
PYTHONS = (BOOL, INT, FLOAT)
"""The types in which Python's numbers and NumPy's arrays give the same results."""


def computing(value: ir.Operating, of: Callable[[ir.Expr], Type]) -> Compute:
    """The function that computes an operation of the lowered form; `of` gives types."""
    types = tuple(map(of, operands(value)))
    is_complex = types[0].kind == "c"
    match value:
        case ir.Unary(op):
            if op in CHECKS:
                return _checking(CHECKS[op], types[0])
            unary, made = UNARY.get(op), cast(op)
            if unary is None or (made is not None and op != "not"):
                assert made is not None, op
                return _casting(op, types[0], made.type)
            if is_complex and unary.complex is not None:
                return _in_type(unary.complex, types)
            return unary.python if types[0] in PYTHONS else _in_type(unary.compute, types)
        case ir.Binary(op):
            row = row_of(op)
            if is_complex:
                assert not isinstance(row.complex, str), row.complex
                return _in_type(row.complex, types)
            return row.python if types[0] in PYTHONS else _in_type(row.compute, types)
        case ir.Compare(op):
            compare = COMPARE[op].compute
            return lambda x, y, mask: compare(x, y)
        case ir.Call(op):
            return _in_type(FUNCTIONS[op].compute, types)
        case _:
            assert_never(value, "the choice of operators")


def may_refuse(value: ir.Expr, of: Callable[[ir.Expr], Type]) -> bool:
    """Return whether an expression of the lowered form may have no value, apart from its parts."""
    if isinstance(value, ir.Unary):
        made = cast(value.op)
        narrows = made is not None and is_int(made.type) and of(value.operand).kind == "f"
        return value.op in CHECKS or narrows
    return isinstance(value, ir.Binary) and row_of(value.op).checked is not None


def _in_type(compute: Callable[..., Any], types: tuple[Type, ...]) -> Compute:
    """NumPy's function of operands that become arrays of these types."""

    def run(*operands: Value) -> Value:
        *values, _ = operands  # the last is the mask
        arrays = any(isinstance(value, np.ndarray) for value in values)
        held = [np.asarray(value, type_) for value, type_ in zip(values, types, strict=True)]
        with np.errstate(all="ignore"):
            result = compute(*np.broadcast_arrays(*held) if arrays else held)
        return result if arrays else result.item()

    return run


def _checking(check: Check, type_: Type) -> Compute:
    """A number that passes a check; 1 for a lane that isn't active and doesn't pass."""
    test, message, one = check.compare, check.message, type_.type(1)

    def run(x: Value, mask: Mask) -> Value:
        bad = test(x, 0)
        refuse_where(bad, mask, message)
        if isinstance(bad, np.ndarray) and bad.any():
            return np.where(bad, one, x)
        return x

    return run


def _casting(op: str, held: Type, wanted: Type) -> Compute:
    """A cast: integers wrap around, floats are rounded, towards zero to ints.

    A float that an integer type can't hold has no value.
    """
    if wanted == BOOL:
        return lambda x, mask: truth(x)
    if held.kind != "f" or not is_int(wanted):
        return lambda x, mask: convert(x, held, wanted)
    low, high = limits(wanted)
    least, beyond = float(low), float(high + 1)  # powers of two
    room = "64 bits" if op == "int" else "it"
    message = f"{op}(...) of a float that {room} can't hold"

    def run(x: Value, mask: Mask) -> Value:
        whole = np.trunc(np.asarray(x, FLOAT))
        good = (whole >= least) & (whole < beyond)
        single = not isinstance(x, np.ndarray)
        if not np.all(good):
            refuse_where(True if single else ~good, mask, message)
            whole = np.where(good, whole, 0.0)
        return int(whole) if single else whole.astype(wanted)

    return run
