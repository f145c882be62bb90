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

from mmsim.ir import complex_numbers
from mmsim.ir import nodes as ir
from mmsim.ir.functions import FUNCTIONS
from mmsim.ir.nodes import assert_never
from mmsim.ir.operators import (
    BINARY,
    COMPARE,
    UNARY,
    Mask,
    Value,
    convert,
    refuse_where,
)
from mmsim.ir.powers import power
from mmsim.ir.promotion import FLOAT, Operation, Type, is_int, limits

Compute = Callable[..., Value]
"""Takes the operands and the mask of active lanes."""

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.true_divide,
    "//": np.floor_divide,
    "%": np.remainder,
    "&": np.bitwise_and,
    "|": np.bitwise_or,
    "^": np.bitwise_xor,
    "<<": np.left_shift,
    ">>": np.right_shift,
    "min": lambda x, y: np.where(np.less(y, x), y, x),
    "max": lambda x, y: np.where(np.greater(y, x), y, x),
}
_UNARY: dict[str, Callable[[Any], Any]] = {
    "-": np.negative,
    "+": np.positive,
    "~": np.invert,
    "abs": np.absolute,
}


def _or_zero(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A quotient or a remainder of integers, 0 if the divisor is."""

    def run(x: Any, y: Any) -> Any:
        none = y == 0
        return np.where(none, x.dtype.type(0), function(x, np.where(none, x.dtype.type(1), y)))

    return run


TOTAL = {"//": _or_zero(np.floor_divide), "%": _or_zero(np.remainder)}
"""Operations on integers with a value for all operands."""
_REFUSED = {
    "/": (np.equal, "division by zero"),
    "//": (np.equal, "division by zero"),
    "%": (np.equal, "modulo zero"),
    "<<": (np.less, "a shift by a negative number"),
    ">>": (np.less, "a shift by a negative number"),
    "**": (np.less, "an integer to a negative power is not an integer; write float(x) ** y"),
}
"""The comparison with 0 that the right one of two integers must not meet."""


def computing(value: ir.Operating, how: Operation) -> Compute:
    """The function that computes an operation of converted operands."""
    match value:
        case ir.Unary(op):
            if op in complex_numbers.UNARY and how.operands[0].kind == "c":
                return _in_type(complex_numbers.UNARY[op], how.operands)
            if op in _UNARY:
                return _in_type(_UNARY[op], how.operands) if how.asked else UNARY[op]
            return _cast(how.operands[0], how.result.type) if how.asked else UNARY[op]
        case ir.Binary(op):
            if how.operands[0].kind == "c":
                return _complex(op, how)
            if how.total and op in TOTAL and is_int(how.operands[0]):
                return _in_type(TOTAL[op], how.operands)
            return _binary(op, how.operands) if how.asked else BINARY[op]
        case ir.Compare(op):
            compare = COMPARE[op]
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


def _binary(op: str, types: tuple[Type, ...]) -> Compute:
    if op == "**":
        compute = _in_type(_power if types[0].kind == "f" else np.power, types)
    else:
        compute = _in_type(_BINARY[op], types)
    if op not in _REFUSED or not is_int(types[1]):
        return compute
    test, message = _REFUSED[op]
    right = types[1]

    def run(x: Value, y: Value, mask: Mask) -> Value:
        bad = test(y, 0)
        refuse_where(bad, mask, message)
        if np.any(bad):  # of lanes that aren't active
            y = np.where(bad, right.type(1), y)
        return compute(x, y, mask)

    return run


def _complex(op: str, how: Operation) -> Compute:
    """An operation on complex numbers."""
    compute = _in_type(complex_numbers.BINARY[op], how.operands)
    if op != "/" or how.asked:
        return compute

    def run(x: Value, y: Value, mask: Mask) -> Value:
        refuse_where(y == 0, mask, "division by zero")
        return compute(x, y, mask)

    return run


def _power(x: Any, y: Any) -> Any:
    """Rounded from the power of doubles."""
    base, exponent = (np.atleast_1d(np.asarray(one, np.float64)) for one in (x, y))
    return power(base, exponent).astype(x.dtype).reshape(np.shape(x))


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
