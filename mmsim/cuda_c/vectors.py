"""Vector accesses in CUDA C: through `float4` and its siblings, which nvcc makes one access.

CUDA has vector types of 2 and 4 numbers with at most 16 bytes. A longer vector takes several
of them in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mmsim.errors import LaunchError
from mmsim.ir.dtypes import Type

VECTOR_TYPES = {
    "int8": "char",
    "int16": "short",
    "int32": "int",
    "int64": "longlong",
    "uint8": "uchar",
    "uint16": "ushort",
    "uint32": "uint",
    "uint64": "ulonglong",
    "float32": "float",
    "float64": "double",
}
"""CUDA's names of vectors of numbers, without their length."""
LONGEST = 16
"""Bytes of one access of a lane."""
FIELDS = "xyzw"


def parts(word: Type, count: int) -> tuple[str, int]:
    """CUDA's type for adjacent words, and its length: `count` or a part of it.

    >>> import numpy as np
    >>> parts(np.dtype("float32"), 4), parts(np.dtype("float32"), 8), parts(np.dtype("int64"), 2)
    (('float4', 4), ('float4', 4), ('longlong2', 2))
    """
    if word.name not in VECTOR_TYPES:
        raise LaunchError(
            f"CUDA C has no vectors of {word.name}; access the elements one by one, or keep the "
            "parts of complex numbers in two arrays"
        )
    length = min(count, 4, LONGEST // word.itemsize)
    return f"{VECTOR_TYPES[word.name]}{length}", length


def first_word(element: str, before: int) -> str:
    """A pointer to a vector's word, `before` words after its first one."""
    return f"&{element} + {before}" if before else f"&{element}"


def reads(element: str, word: Type, count: int) -> Iterator[tuple[str, str, str]]:
    """For each access of a vector read: its type, its text, and its fields."""
    kind, length = parts(word, count)
    for before in range(0, count, length):
        yield kind, f"read_vector<{kind}>({first_word(element, before)})", FIELDS[:length]


def writes(element: str, word: Type, values: Sequence[str]) -> Iterator[str]:
    """The statements of a vector write."""
    kind, length = parts(word, len(values))
    for before in range(0, len(values), length):
        made = f"make_{kind}({', '.join(values[before : before + length])})"
        yield f"write_vector({first_word(element, before)}, {made});"
