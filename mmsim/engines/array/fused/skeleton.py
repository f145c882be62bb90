"""Runs a skeleton: it lists the accesses that every piece of a fused program makes."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import lru_cache, partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from mmsim.engines.array.fused.analysis import CannotFuse
from mmsim.ir import nodes as ir
from mmsim.ir.functions import fma


class Whole(int):
    """An integer that refuses results beyond 64 bits, where the kernel would wrap around."""

    def __new__(cls, value: Any) -> Whole:
        whole = int.__new__(cls, value)
        if not -(2**63) <= whole < 2**63:
            raise OverflowError
        return whole


def _checked(name: str) -> Callable[..., Any]:
    function = getattr(int, name)

    def method(*operands: Any) -> Any:
        result = function(*operands)
        return Whole(result) if type(result) is int else result

    return method


for _name in ("add", "sub", "mul", "floordiv", "mod", "and", "or", "xor", "lshift", "rshift"):
    for _form in (f"__{_name}__", f"__r{_name}__"):
        setattr(Whole, _form, _checked(_form))
for _form in ("__neg__", "__abs__", "__invert__"):
    setattr(Whole, _form, _checked(_form))


def _shift_left(x: int, y: int) -> int:
    return Whole(x << y) if y < 64 else Whole(0)


def _power(x: int, y: int) -> int:
    if y > 64 and abs(x) > 1:
        raise OverflowError
    return Whole(x**y)


def _range(*bounds: int) -> range:
    """A range that also refuses a length near the bounds of 64 bits."""
    if max(map(abs, bounds)) >= 2**62:
        raise OverflowError
    return range(*bounds)


def _trips(nearest: int, farthest: int, step: int) -> tuple[int, int]:
    """As `runtime.trips`, of unbounded integers; a step of 0 has no number of trips."""
    one, other = -(-nearest // step), -(-farthest // step)
    return Whole(max(min(one, other), 0)), Whole(max(one, other, 0))


def _kept(number: int, reach: tuple[int, int]) -> None:
    """Refuse a number that an integer of that reach can't hold."""
    if not reach[0] <= number <= reach[1]:
        raise OverflowError


def _integer(bits: int, signed: bool) -> Callable[[Any], Whole]:
    """Wrap a number around like an integer of `bits` bits; refuse numbers beyond 64 bits."""
    least = -(1 << (bits - 1)) if signed else 0
    return lambda number: Whole((int(number) - least) % (1 << bits) + least)


def _single(number: Any) -> float:
    """A number rounded to single precision."""
    with np.errstate(all="ignore"):
        return float(np.float32(number))


def _fused(x: Any, y: Any, z: Any) -> float:
    """x * y + z of single precision, rounded once."""
    with np.errstate(all="ignore"):
        return float(fma(*(np.array([one], np.float32) for one in (x, y, z)))[0])


def _rounded(function: Callable[[float], int], number: float) -> float:
    return float(function(number))


NAMES = {
    "range": _range,
    "np": SimpleNamespace(
        **{f"int{bits}": _integer(bits, True) for bits in (8, 16, 32)},
        **{f"uint{bits}": _integer(bits, False) for bits in (8, 16, 32, 64)},
        int64=Whole,
        float32=_single,
        float64=float,
        **{name: partial(_rounded, getattr(math, name)) for name in ("floor", "ceil", "trunc")},
        **{
            name: getattr(math, name)
            for name in ("isnan", "isfinite", "isinf", "sqrt", "nan", "inf")
        },
        bool_=bool,
    ),
    "floor_divide": operator.floordiv,
    "trips": _trips,
    "kept": _kept,
    "modulo": operator.mod,
    "float_floor_divide": operator.floordiv,
    "float_modulo": operator.mod,
    "shift_left": _shift_left,
    "shift_right": lambda x, y: Whole(x >> min(y, 63)),
    "unsigned_shift_left": lambda x, y: 0 if y > 63 else int(x) << int(y),
    "unsigned_shift_right": lambda x, y: 0 if y > 63 else int(x) >> int(y),
    "power": _power,
    "fused_single": _fused,
    "popc": lambda x: Whole(int(x).bit_count()),
    "brev": lambda x: int(f"{int(x):064b}"[::-1], 2),
    "clz": lambda x: Whole(64 - int(x).bit_length()),
    "ffs": lambda x: Whole((x & -x).bit_length()),
}


@lru_cache(maxsize=256)
def _function(text: str) -> Callable[..., tuple[list[int], int]]:
    namespace: dict[str, Any] = dict(NAMES)
    exec(compile(text, "<a skeleton>", "exec"), namespace)
    function: Callable[..., tuple[list[int], int]] = namespace["skeleton"]
    return function


def accesses(text: str, limit: int, numbers: list[ir.Scalar]) -> tuple[list[int], int]:
    """The site of each access in order, -1 for a barrier, and the steps: accesses, trips of loops.

    `limit`, the most steps, is as `max_accesses`. Raises `CannotFuse` for too many steps, numbers
    beyond 64 bits, and operations without a value.
    """
    try:
        whole = [Whole(value) if type(value) is int else value for value in numbers]
        return _function(text)(limit, *whole)
    except (ArithmeticError, ValueError, AttributeError) as error:  # no number here has bits
        raise CannotFuse(f"its loops can't be unrolled: {error!r}") from None
