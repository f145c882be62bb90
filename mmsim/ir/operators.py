"""The operators of the language: one record for each, with a column for every reader.

A value is one Python number if all lanes agree, else a NumPy array with an entry for each lane.
Integers are 64 bits and wrap around, as on a GPU; everything else is Python's: `//` and `%` floor,
`/` gives a float, `min(a, b)` is b only if b is smaller. The types of operands are known before
(see `types`); `typed` computes in every type by the record's `compute`. Type checks, folding,
ranges, and the texts in C and for Numba read the same record, so that a new operator is one row.

An operation without a value (division by zero, a negative shift) raises `NoValue` with its
lanes; only active lanes count. Inactive lanes may compute nonsense unnoticed. Lowering puts the
check of an operand in front of such an operation (`CHECKS`), and chooses another row (`LOWERED`)
if the operation itself has another meaning in the language of the program.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product, starmap
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from mmsim.ir import complex_numbers
from mmsim.ir.dtypes import BOOL, COMPLEX, FLOAT, INT, Type
from mmsim.ir.powers import power

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


Range = tuple[int, int]
"""The least and the greatest value of an integer."""
Kind = Literal["sum", "quotient", "division", "power", "bits", "shift", "extreme", "index"]
"""The operators whose operands and results have types by the same rule."""
Pairs = tuple[tuple[int, int], ...]
WHOLE: Range = (-_HALF, _HALF - 1)


class Check(NamedTuple):
    """The numbers for which an operation has no value, as a test in Python's text."""

    test: Literal["== 0", "< 0"]
    message: str

    @property
    def compare(self) -> Callable[[Any, Any], Any]:
        """The comparison of the numbers with 0 that must not hold."""
        return operator.eq if self.test == "== 0" else operator.lt


class C(NamedTuple):
    """An operator in C: its sign there, its precedence, and functions for what C defines otherwise.

    `call` is for integers of 64 bits; its siblings for other types have the same name with a
    prefix. `any` is a template for all types.
    """

    sign: str = ""
    rank: int = 0
    call: str = ""
    any: str = ""


NOTHING = C()


@dataclass(frozen=True)
class Binary:
    """An operator of two numbers.

    `compute` takes operands of one type: two numbers of Python's, or arrays. `refused` names the
    check of the right one. `range` gives the range of a result, not wrapped around; None without
    one. `means` are the node of Python's tree and the functions that it stands for. `complex`
    computes on complex numbers, or says what to write for them instead. `numba` names the
    function for integers of 64 bits that has a value for all operands. `ends` are the ends of two
    ranges at which the result is least, and those at which it is greatest. `checked` computes,
    and refuses results.
    """

    kind: Kind
    compute: Callable[[Any, Any], Any]
    range: Callable[[Range, Range], Range | None]
    means: tuple[Any, ...]
    c: C
    complex: Callable[[Any, Any], Any] | str = ""
    refused: str | None = None
    numba: str = ""
    ends: tuple[Pairs, Pairs] | None = None
    checked: Operator | None = None

    @cached_property
    def python(self) -> Operator:
        """The operator in Python's arithmetic."""
        compute = self.compute
        if self.kind == "bits":
            return lambda x, y, mask: compute(x, y)

        def run(x: Value, y: Value, mask: Mask) -> Value:
            result = compute(x, y)
            return wrap(result) if type(result) is int else result

        return self.checked or run


@dataclass(frozen=True)
class Unary:
    """An operator of one number, or a cast, which `gives` a type.

    `python` computes in Python's arithmetic, `compute` in the operand's type. The rest is as of
    `Binary`.
    """

    kind: Literal["sign", "same", "bits", "absolute", "cast"]
    compute: Callable[[Any], Any]
    range: Callable[[Range], Range]
    means: tuple[Any, ...] = ()
    c: C = NOTHING
    complex: Callable[[Any], Any] | None = None
    gives: Type | None = None

    @cached_property
    def python(self) -> Callable[[Value, Mask], Value]:
        """The operator in Python's arithmetic."""
        compute = self.compute

        def run(x: Value, mask: Mask) -> Value:
            result = compute(x)
            return wrap(result) if type(result) is int else result

        return run


@dataclass(frozen=True)
class Compare:
    """A comparison. `turned` is its sign after the operands have changed places.

    Complex numbers have those that are not `ordered`.
    """

    compute: Callable[[Any, Any], Any]
    means: tuple[Any, ...]
    turned: str
    ordered: bool = True


Row = Binary | Unary | Compare

# The values of operators


def _are_arrays(x: Value, y: Value) -> bool:
    return isinstance(x, np.ndarray) or isinstance(y, np.ndarray)


def _dividing(compute: Callable[[Value, Value], Value]) -> Callable[[Value, Value], Value]:
    """A division, as NumPy's where Python has no value: of a float by zero."""

    def run(x: Value, y: Value) -> Value:
        if _are_arrays(x, y) or y != 0:
            return compute(x, y)
        with np.errstate(all="ignore"):
            return compute(np.float64(x), np.float64(y)).item()

    return run


def _or_zero(divide: Callable[[Value, Value], Value]) -> Callable[[Value, Value], Value]:
    """A quotient or a remainder of integers, 0 if the divisor is."""

    def run(x: Value, y: Value) -> Value:
        if not _are_arrays(x, y):
            return divide(x, y) if y else 0
        none = y == 0
        if not np.any(none):
            return divide(x, y)
        found = divide(x, np.where(none, np.asarray(x).dtype.type(1), y))
        return np.where(none, found.dtype.type(0), found)

    return run


def _power(x: Value, y: Value) -> Value:
    """x ** y of numbers of one type; of floats, rounded from the power of doubles."""
    type_, arrays = np.result_type(x, y), _are_arrays(x, y)
    if type_.kind != "f":
        return np.power(x, y) if arrays else pow(x, y, _WHOLE)
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


def _minimum(x: Value, y: Value) -> Value:
    if _are_arrays(x, y):
        return np.where(np.less(y, x), y, x)
    return y if y < x else x


def _maximum(x: Value, y: Value) -> Value:
    if _are_arrays(x, y):
        return np.where(np.greater(y, x), y, x)
    return y if y > x else x


def _not(x: Value) -> Value:
    test = truth(x)
    return ~test if isinstance(test, np.ndarray) else not test


# The ranges of results


def _hull(function: Callable[[int, int], int], left: Range, right: Range) -> Range:
    """The least and the greatest value of a function whose extremes lie in corners."""
    corners = list(starmap(function, product(left, right)))
    return min(corners), max(corners)


def _corners(function: Callable[[int, int], int]) -> Callable[[Range, Range], Range]:
    return lambda left, right: _hull(function, left, right)


def _of_quotient(left: Range, right: Range) -> Range | None:
    return _hull(operator.floordiv, left, right) if right[0] > 0 else None


def _of_remainder(left: Range, right: Range) -> Range | None:
    if right[0] > 0:
        high = right[1] - 1
        return 0, min(high, left[1]) if left[0] >= 0 else high
    return (right[0] + 1, 0) if right[1] < 0 else None


def _of_shift(function: Callable[[int, int], int]) -> Callable[[Range, Range], Range | None]:
    def found(left: Range, right: Range) -> Range | None:
        return _hull(function, left, right) if right[0] >= 0 and right[1] < 64 else None

    return found


def _of_and(left: Range, right: Range) -> Range:
    natural = [high for low, high in (left, right) if low >= 0]
    return (0, min(natural)) if natural else WHOLE


def _of_or(left: Range, right: Range) -> Range:
    if left[0] < 0 or right[0] < 0:
        return WHOLE
    return 0, 2 ** max(left[1], right[1]).bit_length() - 1


def _of_negative(x: Range) -> Range:
    return (-x[1], -x[0]) if x[0] > WHOLE[0] else WHOLE


def _of_absolute(x: Range) -> Range:
    low, high = x
    if low == WHOLE[0]:
        return WHOLE
    return (0 if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))


def _of_from_end(index: Range, extent: Range) -> Range:
    if index[0] >= 0:
        return index
    return min(index[0] + extent[0], 0), max(index[1], min(index[1], -1) + extent[1])


def _unknown(left: Range, right: Range) -> None:
    """No range: the result is no integer, or may be any."""


def _always(_: Range) -> Range:
    return 0, 1


def _same(x: Range) -> Range:
    return x


def _each(function: Callable[[int, int], int]) -> Callable[[Range, Range], Range]:
    return lambda left, right: (function(left[0], right[0]), function(left[1], right[1]))


# The tables

CHECKS: dict[str, Check] = {
    "divisor": Check("== 0", "division by zero"),
    "modulus": Check("== 0", "modulo zero"),
    "distance": Check("< 0", "a shift by a negative number"),
    "exponent": Check(
        "< 0", "an integer to a negative power is not an integer; write float(x) ** y"
    ),
}
"""The checks of operands: each is a `Unary` of the lowered form, by these names."""
PARTS = "take abs(z), z.real or z.imag"
ORDERED = "compare abs(z), z.real or z.imag"
_EVERY = tuple(product((0, 1), (0, 1)))

OR_ZERO = " or 0"
"""The end of the name of a division of integers whose value is 0 where the divisor is."""

# fmt: off
BINARY: dict[str, Binary] = {
    "+": Binary("sum", operator.add, _corners(operator.add), (ast.Add, np.add, operator.add),
                C("+", 12, "add"), operator.add, ends=(((0, 0),), ((1, 1),))),
    "-": Binary("sum", operator.sub, _corners(operator.sub), (ast.Sub, np.subtract, operator.sub),
                C("-", 12, "subtract"), operator.sub, ends=(((0, 1),), ((1, 0),))),
    "*": Binary("sum", operator.mul, _corners(operator.mul), (ast.Mult, np.multiply, operator.mul),
                C("*", 13, "multiply"), complex_numbers.multiply, ends=(_EVERY, _EVERY)),
    "/": Binary("quotient", _dividing(operator.truediv), _unknown,
                (ast.Div, np.true_divide, operator.truediv), C("/", 13),
                complex_numbers.divide, "divisor"),
    "//": Binary("division", _dividing(operator.floordiv), _of_quotient,
                 (ast.FloorDiv, np.floor_divide, operator.floordiv),
                 C("/", 13, "floor_div"), PARTS, "divisor", "floor_divide"),
    "%": Binary("division", _dividing(operator.mod), _of_remainder,
                (ast.Mod, np.remainder, operator.mod),
                C("%", 13, "modulo"), PARTS, "modulus", "modulo"),
    "**": Binary("power", _power, _unknown, (ast.Pow, np.power, operator.pow, pow),
                 C("", 0, "power"), "write z * z for z ** 2", "exponent", "power"),
    "&": Binary("bits", operator.and_, _of_and, (ast.BitAnd, np.bitwise_and, operator.and_),
                C("&", 8)),
    "|": Binary("bits", operator.or_, _of_or, (ast.BitOr, np.bitwise_or, operator.or_), C("|", 6)),
    "^": Binary("bits", operator.xor, _of_or, (ast.BitXor, np.bitwise_xor, operator.xor),
                C("^", 7)),
    "<<": Binary("shift", _shift_left, _of_shift(operator.lshift),
                 (ast.LShift, np.left_shift, operator.lshift),
                 C("<<", 11, "shift_left", "shifted_left"), "", "distance", "shift_left"),
    ">>": Binary("shift", _shift_right, _of_shift(operator.rshift),
                 (ast.RShift, np.right_shift, operator.rshift),
                 C(">>", 11, "shift_right", "shifted_right"), "", "distance", "shift_right"),
    "min": Binary("extreme", _minimum, _each(min), (), C("<", 0, "minimum", "lesser"), ORDERED),
    "max": Binary("extreme", _maximum, _each(max), (), C(">", 0, "maximum", "greater"), ORDERED),
}

LOWERED: dict[str, Binary] = {
    f"//{OR_ZERO}": replace(BINARY["//"], compute=_or_zero(operator.floordiv), refused=None,
                            means=(), c=C("/", 13, "floor_div_or_zero")),
    f"%{OR_ZERO}": replace(BINARY["%"], compute=_or_zero(operator.mod), refused=None,
                           means=(), c=C("%", 13, "modulo_or_zero")),
    "finite **": replace(BINARY["**"], means=(), refused=None, checked=_finite_power),
    "from end": Binary("index", _from_end, _of_from_end, (), C("", 0, "from_end")),
}
"""The operators that only the lowered form has."""

COMPARE: dict[str, Compare] = {
    "==": Compare(operator.eq, (ast.Eq, np.equal, operator.eq), "==", ordered=False),
    "!=": Compare(operator.ne, (ast.NotEq, np.not_equal, operator.ne), "!=", ordered=False),
    "<": Compare(operator.lt, (ast.Lt, operator.lt), ">"),
    "<=": Compare(operator.le, (ast.LtE, operator.le), ">="),
    ">": Compare(operator.gt, (ast.Gt, operator.gt), "<"),
    ">=": Compare(operator.ge, (ast.GtE, operator.ge), "<="),
}

UNARY: dict[str, Unary] = {
    "-": Unary("sign", operator.neg, _of_negative, (ast.USub, np.negative, operator.neg),
               C("-", call="negate"), operator.neg),
    "+": Unary("same", operator.pos, _same, (ast.UAdd, np.positive, operator.pos),
               complex=operator.pos),
    "~": Unary("bits", operator.invert, lambda x: (~x[1], ~x[0]),
               (ast.Invert, np.invert, operator.invert), C("~")),
    "abs": Unary("absolute", abs, _of_absolute, (np.absolute,), C(call="absolute"),
                 complex_numbers.absolute),
    "not": Unary("cast", _not, _always, (ast.Not, np.logical_not, operator.not_), gives=BOOL),
    "bool": Unary("cast", truth, _always, (operator.truth,), gives=BOOL),
    "int": Unary("cast", int, _same, gives=INT),
    "float": Unary("cast", lambda x: convert(x, INT, FLOAT), _same, gives=FLOAT),
    "complex": Unary("cast", lambda x: convert(x, INT, COMPLEX), _same, gives=COMPLEX),
}
# fmt: on


def row_of(op: str) -> Binary:
    """The row of an operator of two numbers of the lowered form."""
    return LOWERED.get(op) or BINARY[op]
