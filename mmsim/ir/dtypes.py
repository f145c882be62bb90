"""The types of numbers: their names, kinds and limits."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np
import numpy.typing as npt

from mmsim.ir import nodes as ir

Type = np.dtype[np.generic]
Integers = npt.NDArray[np.int64]
"""Numbers of lanes, warps, elements, addresses."""

BOOL: Type = np.dtype(np.bool_)
INT: Type = np.dtype(np.int64)
FLOAT: Type = np.dtype(np.float64)
COMPLEX: Type = np.dtype(np.complex128)
UNSIGNED: Type = np.dtype(np.uint64)
HALF: Type = np.dtype(np.float16)
SINGLE: Type = np.dtype(np.float32)

SUPPORTED = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
SUPPORTED_TEXT = "bool, int8 to int64, uint8 to uint64, float16 to float64, complex64, complex128"


def supported(dtype: str) -> bool:
    """Return whether arrays of a NumPy dtype of that name can be used."""
    return dtype in SUPPORTED


def is_int(type_: Type) -> bool:
    """Return whether values are integers."""
    return type_.kind in "iu"


def is_whole(type_: Type) -> bool:
    """Return whether values are integers or bools."""
    return type_.kind in "iub"


def wide(type_: Type) -> Type:
    """The type of Python's arithmetic: int for bool, complex of two doubles, ..."""
    return {"f": FLOAT, "c": COMPLEX}.get(type_.kind, INT)


def part(type_: Type) -> Type:
    """The type of the real and of the imaginary part of complex numbers of a type.

    >>> part(np.dtype("complex64"))
    dtype('float32')
    """
    return np.dtype(f"f{type_.itemsize // 2}")


@cache
def limits(type_: Type) -> tuple[int, int]:
    """The least and the greatest number of a type of integers.

    >>> limits(np.dtype("int8"))
    (-128, 127)
    """
    found = np.iinfo(type_.name)
    return int(found.min), int(found.max)


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


def type_of_number(number: ir.Scalar) -> Type:
    """The type of a number as it stands."""
    if isinstance(number, bool):
        return BOOL
    if isinstance(number, int):
        return INT if number < 2**63 else UNSIGNED
    return COMPLEX if isinstance(number, complex) else FLOAT
