"""Arithmetic in a requested type, of complex numbers, and the functions of `functions`.

Values are as in `operators`: one Python number that the type can hold if all lanes agree, else
an array of the type. The results are NumPy's: integers wrap around, every operation on floats
is rounded to the type, and a float without a value is a NaN or an infinity. Only an operation
without an integer value raises `NoValue`: a division by zero, a shift by a negative number, a
negative power, and a cast of a float that the type doesn't hold. So does a division of Python's
complex numbers by zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mmsim.ir import nodes as ir
from mmsim.ir.functions import FUNCTIONS
from mmsim.ir.nodes import assert_never
from mmsim.ir.operators import (
    BINARY,
    COMPARE,
    UNARY,
    Binary,
    Mask,
    Value,
    convert,
    refuse_where,
)
from mmsim.ir.promotion import FLOAT, Operation, Type, is_int, limits

Compute = Callable[..., Value]
"""Takes the operands and the mask of active lanes."""


def computing(value: ir.Operating, how: Operation) -> Compute:
    """The function that computes an operation of converted operands."""
    is_complex = how.operands[0].kind == "c"
    match value:
        case ir.Unary(op):
            unary = UNARY.get(op)
            if unary is not None and unary.complex is not None and is_complex:
                return _in_type(unary.complex, how.operands)
            if unary is None or (how.asked and unary.gives is not None):
                return _cast(how.operands[0], how.result.type)
            return _in_type(unary.compute, how.operands) if how.asked else unary.python
        case ir.Binary(op):
            return _binary(BINARY[op], how)
        case ir.Compare(op):
            compare = COMPARE[op].compute
            return lambda x, y, mask: compare(x, y)
        case ir.Call(op):
            return _in_type(FUNCTIONS[op].compute, how.operands)
        case _:
            assert_never(value, "the choice of operators")


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


def _binary(row: Binary, how: Operation) -> Compute:
    type_, right = how.operands
    if how.total and row.kind == "division" and is_int(type_):
        return _in_type(_or_zero(row.compute), how.operands)
    if type_.kind == "c":
        assert not isinstance(row.complex, str), row.complex
        compute = _in_type(row.complex, how.operands)
    elif not how.asked:
        return row.python
    else:
        compute = _in_type(row.compute, how.operands)
    refused = row.refused
    if refused is None or (how.asked if type_.kind == "c" else not is_int(right)):
        return compute

    def run(x: Value, y: Value, mask: Mask) -> Value:
        assert refused is not None
        bad = refused.compare(y, 0)
        refuse_where(bad, mask, refused.message)
        if np.any(bad):  # of lanes that aren't active
            y = np.where(bad, right.type(1), y)
        return compute(x, y, mask)

    return run


def _or_zero(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A quotient or a remainder of integers, 0 if the divisor is."""

    def run(x: Any, y: Any) -> Any:
        none = y == 0
        return np.where(none, x.dtype.type(0), function(x, np.where(none, x.dtype.type(1), y)))

    return run


def _cast(held: Type, wanted: Type) -> Compute:
    """Cast to a requested type: integers wrap around, floats are rounded, towards zero to ints.

    A float that an integer type can't hold has no value.
    """
    if held.kind != "f" or not is_int(wanted):
        return lambda x, mask: convert(x, held, wanted)
    low, high = limits(wanted)
    least, beyond = float(low), float(high + 1)  # powers of two

    def run(x: Value, mask: Mask) -> Value:
        whole = np.trunc(np.asarray(x, FLOAT))
        bad = ~((whole >= least) & (whole < beyond))
        single = not isinstance(x, np.ndarray)
        message = f"{wanted}(...) of a float that it can't hold"
        refuse_where(bool(bad) if single else bad, mask, message)
        number = np.where(bad, 0.0, whole).astype(wanted)
        return number.item() if single else number

    return run
