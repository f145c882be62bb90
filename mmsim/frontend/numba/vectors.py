"""CUDA's vector types, and named tuples that a kernel makes: tuples with named values."""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

from mmsim.frontend.numba.names import name_of
from mmsim.frontend.python.function import Function
from mmsim.frontend.python.scope import Alias, Named, Value, field_names
from mmsim.frontend.python.source import written
from mmsim.frontend.python.tables import leaves
from mmsim.ir import nodes as ir

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


def maker(called: ast.expr, function: Function) -> Made | None:
    """The vector or the named tuple that a call makes, None if it makes something else."""
    vector = VECTORS.get(name_of(called, function))
    if vector is not None:
        return vector
    known: Any = function.captured(called)
    names = field_names(known) if isinstance(known, type) else None
    return None if names is None else Made(names)


def made(node: ast.Call, what: Made, given: tuple[Value, ...], function: Function) -> Named:
    """The tuple that a call makes: a vector of numbers and of the numbers of smaller vectors."""
    place, items = function.place(node), list(given)
    if what.dtype is not None:
        items = []
        for one in (leaf for value in given for leaf in leaves(value)):
            if isinstance(one, Alias):
                raise function.refuse(node, f"{written(node.func)!r} takes numbers and vectors")
            items.append(ir.Unary(what.dtype, one, place))
    if len(items) != len(what.names) or node.keywords:
        takes = "number" if len(what.names) == 1 else "numbers"
        raise function.refuse(
            node,
            f"{written(node.func)!r} takes {len(what.names)} {takes}, not {len(items)}",
            "give them one by one" if what.dtype is None else "vectors count for each of theirs",
        )
    return Named(items, what.names)
