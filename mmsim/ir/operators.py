"""The meaning of Python's operators on lanes.

A value is one Python number if all lanes agree, else a NumPy array with an entry for each lane.
Integers are 64 bits and wrap around, as on a GPU; everything else is Python's: `//` and `%` floor,
`/` gives a float, `min(a, b)` is b only if b is smaller. The types of operands are known before
(see `types`), so an operator here meets only wide values: Python int and float, int64, double.
`typed` has the arithmetic in other types, complex ones too.

An operation without a value (division by zero, a negative shift) raises `NoValue` with its
lanes; only active lanes count. Inactive lanes may compute nonsense unnoticed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.ir.powers import power
from mmsim.ir.promotion import BOOL, COMPLEX, FLOAT, INT, Type

Value = Any
Mask = bool | npt.NDArray[np.bool_]
"""The active lanes: True for all, False for none, else one bool for each lane."""
Operator = Callable[[Value, Value, Mask], Value]

_HALF, _WHOLE = 2**63, 2**64


class NoValue(Exception):
    """An operation that has no value at a lane: the message and the first such lane."""

    def __init__(self, message: str, lane: int) -> None:
        super().__init__(message)
        self.message = message
        self.lane = lane


def wrap(number: int) -> int:
    """A Python integer as 64-bit two's complement."""
    if -_HALF <= number < _HALF:
        return number
    return (number + _HALF) % _WHOLE - _HALF


def count(mask: Mask, lanes: int) -> int:
    """The number of active lanes among `lanes` lanes."""
    return int(np.count_nonzero(mask)) if isinstance(mask, np.ndarray) else lanes * mask


def both(mask: Mask, test: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """The active lanes where `test` holds."""
    return test & mask if isinstance(mask, np.ndarray) else test


def union(first: Mask, second: Mask) -> Mask:
    """The lanes of either."""
    if first is False or second is True:
        return second
    if second is False or first is True:
        return first
    return first | second


def without(mask: Mask, gone: Mask) -> Mask:
    """The lanes of `mask` that aren't in `gone`."""
    if gone is True or mask is False:
        return False
    if gone is False:
        return mask
    left = ~gone if mask is True else mask & ~gone
    return left if left.any() else False


def refuse_where(bad: Value, mask: Mask, message: str) -> None:
    """Raise `NoValue` if `bad` holds at an active lane."""
    if isinstance(bad, np.ndarray):
        bad = both(mask, bad)
        if np.count_nonzero(bad):
            raise NoValue(message, int(np.argmax(bad)))
    elif bad:
        raise NoValue(message, 0 if mask is True else int(np.argmax(mask)))


def convert(value: Value, held: Type, wanted: Type) -> Value:
    """A value of type `held` as one of type `wanted`; integers wrap around, floats are rounded."""
    if held == wanted:
        return value
    if isinstance(value, np.ndarray):
        return value.astype(wanted)
    if wanted == FLOAT:
        return float(value)
    if wanted == COMPLEX:
        return complex(value)
    if wanted == BOOL:
        return bool(value)
    if wanted == INT:
        return wrap(int(value))
    return np.asarray(value, held).astype(wanted).item()


def truth(value: Value) -> Value:
    """Whether a value counts as true."""
    if isinstance(value, np.ndarray):
        return value if value.dtype == BOOL else value != 0
    return bool(value)


def select(test: npt.NDArray[np.bool_], then: Value, other: Value, type_: Type) -> Value:
    """`then` where `test` holds, else `other`; both of type `type_`."""
    result: Value = np.where(test, then, other)
    return result if result.dtype == type_ else result.astype(type_)


def trip_count(start: Value, stop: Value, step: Value) -> Value:
    """The number of iterations of range(start, stop, step), for each lane; negative counts as none.

    The distance from start to stop may need 64 bits without a sign.
    """
    bounds = (start, stop, step)
    if not any(isinstance(bound, np.ndarray) for bound in bounds):
        return -((start - stop) // step)
    whole: list[npt.NDArray[np.int64]] = [np.asarray(bound, dtype=np.int64) for bound in bounds]
    first, last, by = whole
    up = by > 0
    way = np.where(up, last - first, first - last).view(np.uint64)
    stride = np.where(up, by, -by).view(np.uint64)
    return np.where(np.where(up, first < last, first > last), (way - 1) // stride + 1, 0)


def _wrapping(function: Callable[[Any, Any], Any]) -> Operator:
    def run(x: Value, y: Value, mask: Mask) -> Value:
        result = function(x, y)
        return wrap(result) if type(result) is int else result

    return run


def _divide(x: Value, y: Value, mask: Mask) -> Value:
    refuse_where(y == 0, mask, "division by zero")
    if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
        return np.true_divide(x, y)
    return float(x) / float(y)


def _floor(x: Value, y: Value, mask: Mask) -> Value:
    refuse_where(y == 0, mask, "division by zero")
    result = x // y
    return wrap(result) if type(result) is int else result


def _modulo(x: Value, y: Value, mask: Mask) -> Value:
    refuse_where(y == 0, mask, "modulo zero")
    return x % y


def _power(x: Value, y: Value, mask: Mask) -> Value:
    arrays = isinstance(x, np.ndarray) or isinstance(y, np.ndarray)
    if isinstance(x, float) or isinstance(y, float) or (arrays and _float(x, y)):
        base, exponent = np.asarray(x, np.float64), np.asarray(y, np.float64)
        result = power(np.atleast_1d(base), exponent)
        bad = ~np.isfinite(result) & np.isfinite(base) & np.isfinite(exponent)
        if arrays:
            refuse_where(bad, mask, "this power is not a finite real number")
            return result
        refuse_where(bool(bad[0]), mask, "this power is not a finite real number")
        return float(result[0])
    refuse_where(
        y < 0, mask, "an integer to a negative power is not an integer; write float(x) ** y"
    )
    if arrays:
        return np.power(np.asarray(x, dtype=INT), np.maximum(y, 0))
    return wrap(pow(x, y, _WHOLE))


def _float(x: Value, y: Value) -> bool:
    return any(isinstance(z, np.ndarray) and z.dtype == FLOAT for z in (x, y))


def _shift_left(x: Value, y: Value, mask: Mask) -> Value:
    refuse_where(y < 0, mask, "a shift by a negative number")
    if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
        return np.left_shift(x, y)
    return wrap(x << y) if y < 64 else 0


def _shift_right(x: Value, y: Value, mask: Mask) -> Value:
    refuse_where(y < 0, mask, "a shift by a negative number")
    if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
        return np.right_shift(x, y)
    return x >> min(y, 63)


def _minimum(x: Value, y: Value, mask: Mask) -> Value:
    if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
        return np.where(np.less(y, x), y, x)
    return y if y < x else x


def _maximum(x: Value, y: Value, mask: Mask) -> Value:
    if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
        return np.where(np.greater(y, x), y, x)
    return y if y > x else x


BINARY: dict[str, Operator] = {
    "+": _wrapping(operator.add),
    "-": _wrapping(operator.sub),
    "*": _wrapping(operator.mul),
    "/": _divide,
    "//": _floor,
    "%": _modulo,
    "**": _power,
    "&": lambda x, y, mask: x & y,
    "|": lambda x, y, mask: x | y,
    "^": lambda x, y, mask: x ^ y,
    "<<": _shift_left,
    ">>": _shift_right,
    "min": _minimum,
    "max": _maximum,
}

COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _to_int(x: Value, mask: Mask) -> Value:
    if not isinstance(x, np.ndarray):
        if isinstance(x, float):
            refuse_where(not abs(x) < _HALF, mask, f"int({x}) doesn't fit into 64 bits")
        return wrap(int(x))
    if x.dtype == FLOAT:
        refuse_where(~(np.abs(x) < _HALF), mask, "int(...) of a float that 64 bits can't hold")
    return x.astype(INT)


def _negate(x: Value, mask: Mask) -> Value:
    return -x if isinstance(x, np.ndarray | float) else wrap(-x)


def _absolute(x: Value, mask: Mask) -> Value:
    return abs(x) if isinstance(x, np.ndarray | float) else wrap(abs(x))


def _not(x: Value, mask: Mask) -> Value:
    test = truth(x)
    return ~test if isinstance(test, np.ndarray) else not test


UNARY: dict[str, Callable[[Value, Mask], Value]] = {
    "-": _negate,
    "+": lambda x, mask: x,
    "~": lambda x, mask: ~x,
    "abs": _absolute,
    "not": _not,
    "bool": lambda x, mask: truth(x),
    "int": _to_int,
    "float": lambda x, mask: convert(x, INT, FLOAT),
    "complex": lambda x, mask: convert(x, INT, COMPLEX),
}
