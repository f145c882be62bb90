"""The operators of the language: one row for each, and the values that they compute.

A value is one Python number if all lanes agree, else a NumPy array with an entry for each lane.
Integers are 64 bits and wrap around, as on a GPU; everything else is Python's: `//` and `%` floor,
`/` gives a float, `min(a, b)` is b only if b is smaller. The types of operands are known before
(see `types`). Type checks, folding, ranges, values, and the texts in C, for Numba and in
JavaScript read the same row, so that a new operator is one row.

An operation without a value (division by zero, a negative shift) raises `NoValue` with its
lanes; only active lanes count. Inactive lanes may compute nonsense unnoticed. Lowering puts the
check of an operand in front of such an operation (`CHECKS`), and chooses another row (`LOWERED`)
if the operation itself has another meaning in the language of the program.
"""

from __future__ import annotations

import ast
import operator
from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import BOOL, COMPLEX, FLOAT, INT, SUPPORTED, Type, is_whole, part
from mmsim.ir.functions import FUNCTIONS, absolute, divide, multiply
from mmsim.ir.powers import power
from mmsim.ir.row import WHOLE, Range, Row

Value = Any
Mask = bool | npt.NDArray[np.bool_]
"""The active lanes: True for all, False for none, else one bool for each lane."""


class NoValue(Exception):
    """An operation that has no value at a lane: the message and the first such lane."""

    def __init__(self, message: str, lane: int) -> None:
        super().__init__(message)
        self.message = message
        self.lane = lane


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


def truth(value: Value) -> Value:
    """Return whether a value counts as true."""
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


# The values of operators


def _are_arrays(x: Value, y: Value) -> bool:
    return isinstance(x, np.ndarray) or isinstance(y, np.ndarray)


def _dividing(compute: Callable[[Value, Value], Value]) -> Callable[[Value, Value], Value]:
    """A division, as NumPy's where Python has no value: by zero, of integers it is 0."""

    def run(x: Value, y: Value) -> Value:
        if _are_arrays(x, y) or y != 0:
            return compute(x, y)
        with np.errstate(all="ignore"):
            return compute(np.asarray(x), np.asarray(y)).item()

    return run


def _power(x: Value, y: Value) -> Value:
    """x ** y of numbers of one type; of floats, rounded from the power of doubles."""
    type_, arrays = np.result_type(x, y), _are_arrays(x, y)
    if type_.kind != "f":
        return np.power(x, y) if arrays else pow(x, y, 2**64)
    base, exponent = np.asarray(x, np.float64), np.asarray(y, np.float64)
    result = power(np.atleast_1d(base), exponent).astype(type_)
    shape = np.broadcast_shapes(base.shape, exponent.shape)
    return result.reshape(shape) if arrays else float(result[0])


def _finite_power(x: Value, y: Value, mask: Mask) -> Value:
    """x ** y of floats, which Python refuses if only the result is not a finite real number."""
    result = _power(x, y)
    bad = ~np.isfinite(result) & np.isfinite(x) & np.isfinite(y)
    bad = bad if isinstance(bad, np.ndarray) else bool(bad)
    refuse_where(bad, mask, "this power is not a finite real number")
    return result


def _from_end(index: Value, extent: Value) -> Value:
    if not isinstance(index, np.ndarray):
        return index + extent if index < 0 else index
    return np.where(index < 0, index + extent, index) if (index < 0).any() else index


def _shift_left(x: Value, y: Value) -> Value:
    if _are_arrays(x, y):
        return np.left_shift(x, y)
    return x << y if y < 64 else 0


def _shift_right(x: Value, y: Value) -> Value:
    return np.right_shift(x, y) if _are_arrays(x, y) else x >> min(y, 63)


def _extreme(better: Callable[[Value, Value], Value]) -> Callable[[Value, Value], Value]:
    """The right operand only if it is better than the left one."""

    def run(x: Value, y: Value) -> Value:
        if _are_arrays(x, y):
            return np.where(better(y, x), y, x)
        return y if better(y, x) else x

    return run


def _not(x: Value) -> Value:
    test = truth(x)
    return ~test if isinstance(test, np.ndarray) else not test


# The ranges of results


def _of_remainder(left: Range, right: Range) -> Range | None:
    if right[0] > 0:
        high = right[1] - 1
        return 0, min(high, left[1]) if left[0] >= 0 else high
    return (right[0] + 1, 0) if right[1] < 0 else None


def _of_and(left: Range, right: Range) -> Range:
    natural = [high for low, high in (left, right) if low >= 0]
    return (0, min(natural)) if natural else WHOLE


def _of_or(left: Range, right: Range) -> Range:
    if left[0] < 0 or right[0] < 0:
        return WHOLE
    return 0, 2 ** max(left[1], right[1]).bit_length() - 1


def _of_absolute(x: Range) -> Range:
    low, high = map(abs, x)
    return 0 if x[0] <= 0 <= x[1] else min(low, high), max(low, high)


def _of_from_end(index: Range, extent: Range) -> Range:
    if index[0] >= 0:
        return index
    return min(index[0] + extent[0], 0), max(index[1], min(index[1], -1) + extent[1])


def _same(x: Range) -> Range:
    return x


# The tables

PARTS = "take abs(z), z.real or z.imag"
ORDERED = "compare abs(z), z.real or z.imag"
_EVERY = tuple(product((0, 1), (0, 1)))

OR_ZERO = " or 0"
"""The end of the name of a division of integers whose value is 0 where the divisor is."""


_two, _one = partial(Row, 2), partial(Row, 1)


# fmt: off
BINARY: dict[str, Row] = {
    "+": _two(operator.add, "add", "sum", "+", 12, means=(ast.Add, np.add, operator.add),
              complex=operator.add, js="add", within=WHOLE,
              ends=(((0, 0),), ((1, 1),))),
    "-": _two(operator.sub, "subtract", "sum", "-", 12,
              means=(ast.Sub, np.subtract, operator.sub),
              complex=operator.sub, js="subtract", within=WHOLE,
              ends=(((0, 1),), ((1, 0),))),
    "*": _two(operator.mul, "multiply", "sum", "*", 13,
              means=(ast.Mult, np.multiply, operator.mul),
              complex=multiply, js="multiply", within=WHOLE, ends=(_EVERY, _EVERY)),
    "/": _two(_dividing(operator.truediv), "", "quotient", "/", 13, result="quotient",
              means=(ast.Div, np.true_divide, operator.truediv), complex=divide,
              js="divide", refused="divisor"),
    "//": _two(_dividing(operator.floordiv), "floor_div", "division", "/", 13,
               means=(ast.FloorDiv, operator.floordiv), complex=PARTS,
               refused="divisor", numba="floor_divide", js="floorDivide",
               within=(1, WHOLE[1])),
    "%": _two(_dividing(operator.mod), "modulo", "division", "%", 13,
              means=(ast.Mod, operator.mod), complex=PARTS,
              refused="modulus", numba="modulo", js="modulo", bounds=_of_remainder),
    "**": _two(_power, "power", "power", means=(ast.Pow, np.power, operator.pow, pow),
               complex="write z * z for z ** 2", refused="exponent", numba="power",
               js="power"),
    "&": _two(operator.and_, "", "bits", "&", 8, "bits", js="bitAnd",
              means=(ast.BitAnd, np.bitwise_and, operator.and_), bounds=_of_and),
    "|": _two(operator.or_, "", "bits", "|", 6, "bits", js="bitOr",
              means=(ast.BitOr, np.bitwise_or, operator.or_), bounds=_of_or),
    "^": _two(operator.xor, "", "bits", "^", 7, "bits", js="bitXor",
              means=(ast.BitXor, np.bitwise_xor, operator.xor), bounds=_of_or),
    "<<": _two(_shift_left, "shift_left", "shift", "<<", 11, "bits",
               means=(ast.LShift, np.left_shift, operator.lshift),
               refused="distance", numba="shift_left", js="shiftLeft",
               within=(0, 63)),
    ">>": _two(_shift_right, "shift_right", "shift", ">>", 11, "bits",
               means=(ast.RShift, np.right_shift, operator.rshift),
               refused="distance", numba="shift_right", js="shiftRight",
               within=(0, 63)),
    "min": _two(_extreme(operator.lt), "minimum", "extreme", "<", complex=ORDERED, js="minimum",
                within=WHOLE),
    "max": _two(_extreme(operator.gt), "maximum", "extreme", ">", complex=ORDERED, js="maximum",
                within=WHOLE),
}

LOWERED: dict[str, Row] = {
    f"//{OR_ZERO}": replace(BINARY["//"], refused="", means=()),
    f"%{OR_ZERO}": replace(BINARY["%"], refused="", means=()),
    "finite **": replace(BINARY["**"], refused="", means=(), checked=_finite_power,
                         js="finitePower"),
    "from end": _two(_from_end, "from_end", "index", js="fromEnd", bounds=_of_from_end),
}
"""The operators that only the lowered form has."""


def _compare(compute: Any, refused: str, *means: Any) -> Row:
    return _two(compute, kind="compare", result="bool", complex=refused, means=(*means, compute))


COMPARE: dict[str, Row] = {
    "==": _compare(operator.eq, "", ast.Eq, np.equal),
    "!=": _compare(operator.ne, "", ast.NotEq, np.not_equal),
    "<": _compare(operator.lt, ORDERED, ast.Lt, np.less),
    "<=": _compare(operator.le, ORDERED, ast.LtE, np.less_equal),
    ">": _compare(operator.gt, ORDERED, ast.Gt, np.greater),
    ">=": _compare(operator.ge, ORDERED, ast.GtE, np.greater_equal),
}
RISING, STRICT = ("<", "<="), ("<", ">")
"""The comparisons that say that the right side is greater, and those without equality."""
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""The comparisons of the same sides in the other order."""
NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
"""The comparisons of whole numbers that hold where others don't."""

UNARY: dict[str, Row] = {
    "-": _one(operator.neg, "negate", "sign", "-", means=(ast.USub, np.negative, operator.neg),
              complex=operator.neg, js="negate", within=WHOLE),
    "+": _one(operator.pos, "", "same", means=(ast.UAdd, np.positive, operator.pos),
              complex=operator.pos, within=WHOLE),
    "~": _one(operator.invert, "", "bits", "~", takes="bits", js="invert",
              means=(ast.Invert, np.invert, operator.invert), within=WHOLE),
    "abs": _one(abs, "absolute", "absolute", result="part", means=(np.absolute,),
                complex=absolute, js="absolute", bounds=_of_absolute),
    "not": _one(_not, "", "not", gives=BOOL, means=(ast.Not, np.logical_not, operator.not_)),
    "bool": _one(truth, "", "cast", gives=BOOL, means=(operator.truth,)),
    "int": _one(int, "", "cast", gives=INT, bounds=_same),
    "float": _one(float, "", "cast", gives=FLOAT),
    "complex": _one(complex, "", "cast", gives=COMPLEX),
}

CASTS = {name: _one(np.dtype(name).type, "", "cast", gives=np.dtype(name), bounds=_same)
         for name in SUPPORTED if name != "bool"}
"""The casts to NumPy's types, by their names."""


def _check(compute: Any, sign: str, refused: str) -> Row:
    return _one(compute, "", "check", sign, refused=refused, bounds=_same)


CHECKS: dict[str, Row] = {
    "divisor": _check(operator.eq, "== 0", "division by zero"),
    "modulus": _check(operator.eq, "== 0", "modulo zero"),
    "distance": _check(operator.lt, "< 0", "a shift by a negative number"),
    "exponent": _check(operator.lt, "< 0", "an integer to a negative power is not an integer; "
                       "write float(x) ** y"),
}
# fmt: on
"""The checks of operands: each is a `Unary` of the lowered form, by these names."""

TABLES: dict[type, Mapping[str, Row]] = {
    ir.Unary: ChainMap(UNARY, CASTS, CHECKS),
    ir.Binary: ChainMap(BINARY, LOWERED),
    ir.Compare: COMPARE,
    ir.Call: FUNCTIONS,
}


def row_of(value: ir.Operating) -> Row:
    """The row of an operation, also of one that only the lowered form has."""
    return TABLES[type(value)][value.op]


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
        case "integer" | "floating":
            return np.dtype(f"{row.result[0]}{type_.itemsize}")
        case "part" if type_.kind == "c":
            return part(type_)
        case "quotient" if is_whole(type_):
            return FLOAT
    return type_ if row.gives is None else row.gives
