"""Constants from outside with several values: tuples, lists and NumPy arrays of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from mmsim.errors import Place
from mmsim.frontend.python.scope import Alias, Shape, Value, field_names, number
from mmsim.ir import nodes as ir

MOST_CAPTURED = 1024
"""The most numbers of a captured table; a larger one is an argument of the program."""


class TooMany(Exception):
    """A table of more numbers than a program may capture."""


def is_table(value: Any) -> bool:
    """Return whether an object from outside is a tuple, a list or a NumPy array, as such."""
    if type(value) is np.ndarray:
        return value.ndim > 0
    return type(value) in (tuple, list) or is_named(value)


def is_named(value: Any) -> bool:
    """Return whether an object from outside is a named tuple."""
    return field_names(type(value)) is not None


def kind_of(table: Any) -> str:
    """The name of a table in messages."""
    return "array" if isinstance(table, np.ndarray) else type(table).__name__


def values_of(table: Any) -> Value | None:
    """A table as the tuple of its numbers; None if it holds something else."""
    if type(table) is np.ndarray:
        if table.size > MOST_CAPTURED:
            raise TooMany
        if table.dtype.kind not in "biufc":
            return None
        return values_of(table.tolist())
    if type(table) in (tuple, list) or is_named(table):
        if len(table) > MOST_CAPTURED:
            raise TooMany
        items = [value for item in table if (value := values_of(item)) is not None]
        if len(leaves(tuple(items))) > MOST_CAPTURED:
            raise TooMany
        return tuple(items) if len(items) == len(table) else None
    known = number(table)
    if known is None or (isinstance(known, int) and not -(2**63) <= known < 2**63):
        return None
    return ir.Const(known)


def regular(value: Value) -> tuple[int, ...] | None:
    """The shape of a tuple of constants; None for different shapes, or for variables."""
    if not isinstance(value, tuple):
        return () if isinstance(value, ir.Const) else None
    shapes = set(map(regular, value))
    inner = shapes.pop() if len(shapes) == 1 else None
    return None if inner is None else (len(value), *inner)


def lookup(
    name: str,
    table: tuple[Value, ...],
    shape: tuple[int, ...],
    index: tuple[ir.Expr, ...],
    place: Place,
) -> Value:
    """The value of a regular table at an index: a number, or a tuple if axes are left."""
    if len(index) < len(shape):
        return tuple(
            lookup(name, table, shape, (*index, ir.Const(position)), place)
            for position in range(shape[len(index)])
        )
    numbers = tuple(one.value for one in leaves(table) if isinstance(one, ir.Const))
    return ir.Lookup(name, numbers, shape, index, place)


def leaves(value: Value) -> list[ir.Expr | Alias]:
    """The numbers and arrays of a value, from left to right."""
    if isinstance(value, tuple):
        return [one for part in value for one in leaves(part)]
    return [value]


def has_arrays(value: Value) -> bool:
    """Return whether a value is an array, or a tuple with one."""
    return any(isinstance(leaf, Alias) for leaf in leaves(value))


def shape_of(value: Value) -> Shape | None:
    """The structure of a value, if it holds no array."""
    return tuple(map(shape_of, value)) if isinstance(value, tuple) else None


def constant_of(value: ir.Expr) -> ir.Scalar | None:
    """The value of a constant expression."""
    return value.value if isinstance(value, ir.Const) else None
