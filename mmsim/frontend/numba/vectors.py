"""CUDA's vector types: tuples with named values."""

from __future__ import annotations

from typing import NamedTuple

AXES = ("x", "y", "z", "w")
ALIASES = {
    "int8": ("char",),
    "int16": ("short",),
    "int32": ("int",),
    "int64": ("longlong", "long"),
    "uint8": ("uchar",),
    "uint16": ("ushort",),
    "uint32": ("uint",),
    "uint64": ("ulonglong", "ulong"),
    "float32": ("float",),
    "float64": ("double",),
}
"""CUDA's names of the types of numbers, the first part of its names of vectors."""


class Made(NamedTuple):
    """A function that makes a tuple with names; the numbers of a vector have a type."""

    names: tuple[str, ...]
    dtype: str | None = None


VECTORS = {
    f"{name}{count}": Made(AXES[:count], dtype)
    for dtype, aliases in ALIASES.items()
    for count in range(1, 5)
    for name in (f"{dtype}x", *aliases)
}
"""The vector types by all of their names."""
