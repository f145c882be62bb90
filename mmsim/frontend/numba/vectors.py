"""CUDA's vector types."""

from __future__ import annotations

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
VECTORS = {
    f"{name}{count}": (dtype, count)
    for dtype, aliases in ALIASES.items()
    for count in range(1, 5)
    for name in (f"{dtype}x", *aliases)
}
"""The type and the number of the numbers of a vector type, by all of its names."""
