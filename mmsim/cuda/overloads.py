"""The choice of a signature by the types of arguments."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from mmsim.cuda.types import ArrayType, Scalar, TupleType, Type, TypingError, as_type

T = TypeVar("T")
Types = tuple[Type, ...]
SAME, WIDER, SAFE, UNSAFE = range(4)
"""Conversions of a number: none, to a wider one of its kind, to one that holds it, any other."""


class ByTypes(dict[Types, T]):
    """A value for each tuple of argument types; Numba's types work too."""

    def __missing__(self, key: tuple[object, ...]) -> T:
        own = tuple(map(as_type, key))
        if own == key:
            raise KeyError(key)
        return self[own]


def best(given: Types, known: list[Types]) -> Types | None:
    """The known argument types that fit the given types best; None if none fit.

    As with Numba, the fewest unsafe conversions count first, then the fewest safe ones, then the
    fewest to a wider number. Raises a `TypingError` if two are equally good.

    >>> from mmsim.cuda.types import float32, float64, int32, int64
    >>> best((int32,), [(float32,), (int64,), (float64,)])
    (int64,)
    """
    ratings = {types: rating for types in known if (rating := _rating(given, types)) is not None}
    if not ratings:
        return None
    least = min(ratings.values())
    found = [types for types, rating in ratings.items() if rating == least]
    if len(found) > 1:
        listed = "; ".join(str(types) for types in found)
        raise TypingError(f"Ambiguous overloads for arguments of types {given}: {listed}")
    return found[0]


def _rating(given: Types, wanted: Types) -> tuple[int, int, int] | None:
    """The unsafe conversions, the safe ones, and those to wider numbers; None if it doesn't fit."""
    if len(given) != len(wanted):
        return None
    steps = [_step(one, other) for one, other in zip(given, wanted, strict=True)]
    if None in steps:
        return None
    return steps.count(UNSAFE), steps.count(SAFE), steps.count(WIDER)


def _step(given: Type, wanted: Type) -> int | None:
    """The conversion of an argument from one type to another; None if there is none."""
    if given == wanted:
        return SAME
    if isinstance(given, Scalar) and isinstance(wanted, Scalar):
        if given.dtype.kind == "c" and wanted.dtype.kind != "c":
            return None
        if not np.can_cast(given.dtype, wanted.dtype):
            return UNSAFE
        return WIDER if given.dtype.kind == wanted.dtype.kind else SAFE
    if isinstance(given, TupleType) and isinstance(wanted, TupleType):
        rating = _rating(given.types, wanted.types)
        return None if rating is None else UNSAFE if rating[0] else SAFE
    if isinstance(wanted, ArrayType):
        return SAME if wanted.takes(given) else None
    return None if isinstance(given, Scalar | ArrayType) or isinstance(wanted, Scalar) else SAME


def reinterpreted(given: Types, wanted: Types) -> Types | None:
    """The types of the only signature, if arguments fit it when integers lose or gain a sign.

    Numba doesn't compare arrays with the types of a kernel that has one signature. If the signature
    says int32, the bits of a uint32 count as an int32's.
    """
    if len(given) != len(wanted):
        return None
    return wanted if all(map(_same_bits, given, wanted)) else None


def _same_bits(given: Type, wanted: Type) -> bool:
    """Return whether a type fits as it is, or is an array of integers of the same width."""
    if isinstance(given, ArrayType) and isinstance(wanted, ArrayType):
        one, other = given.dtype, wanted.dtype
        if isinstance(one, Scalar) and isinstance(other, Scalar) and one.bitwidth == other.bitwidth:
            whole = {one.dtype.kind, other.dtype.kind} <= {"i", "u"}
            given = ArrayType(other if whole else one, given.ndim, given.layout)
    return _step(given, wanted) is not None
