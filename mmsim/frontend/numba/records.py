"""Arrays of records: an array for each field, with the extents of a field's array."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from mmsim.frontend.numba.names import TYPES, type_name
from mmsim.frontend.numba.state import KernelUnit
from mmsim.ir import nodes as ir
from mmsim.ir.walk import with_expressions, with_inside


def record_dtype(given: Any) -> np.dtype[Any] | None:
    """NumPy's type of records for an object, also for one of Numba's types; else None.

    >>> record_dtype(np.dtype([("x", "f4")])), record_dtype(np.dtype("f4"))
    (dtype([('x', '<f4')]), None)
    """
    if isinstance(given, np.dtype):
        return given if given.names else None
    if not type(given).__module__.startswith(TYPES):
        return None
    facts = vars(given)
    if isinstance(facts.get("dtype"), np.dtype):
        return record_dtype(facts["dtype"])
    if not {"fields", "size"} <= set(facts):
        return None
    fields = facts["fields"]
    return np.dtype(
        {
            "names": list(fields),
            "formats": [_format(field.type) for field in fields.values()],
            "offsets": [field.offset for field in fields.values()],
            "itemsize": facts["size"],
        }
    )


def _format(type_: Any) -> Any:
    """NumPy's name of the type of a field, which may be an array; of text it is a void."""
    facts = vars(type_)
    if "_shape" in facts:
        return _format(facts["dtype"]), facts["_shape"]
    return record_dtype(type_) or np.dtype(type_name(type_) or "V1")


def in_bits(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The same records, with text and dates as records of their bits.

    >>> in_bits(np.dtype("S3")), in_bits(np.dtype([("day", "M8[D]")])).fields["day"][0]
    (dtype([('bits', 'u1', (3,))]), dtype([('bits', '<u8')]))
    """
    base, shape = dtype.base, dtype.shape
    if base.kind in "SUMm":
        size = base.itemsize
        base = np.dtype([("bits", f"u{size}" if size in (1, 2, 4, 8) else ("u1", (size,)))])
    elif base.names:
        fields = [base.fields[name] for name in base.names]  # type: ignore[index]
        base = np.dtype(
            {
                "names": list(base.names),
                "formats": [in_bits(field[0]) for field in fields],
                "offsets": [field[1] for field in fields],
                "itemsize": base.itemsize,
            }
        )
    return np.dtype((base, shape)) if shape else base


def without_records(code: ir.Code, unit: KernelUnit) -> ir.Code:
    """A program without questions for the extents of an array of records."""
    if not unit.records:
        return code

    def of_block(old: ir.Block) -> ir.Block:
        return tuple(with_inside(with_expressions(one, of), of_block) for one in old)

    def of(value: ir.Expr) -> ir.Expr:
        if isinstance(value, ir.Extent) and value.array in unit.records:
            return _extent(value, _field(value.array, unit.records), unit.ranks[value.array])
        return with_expressions(value, of)

    local = (replace(one, shape=tuple(map(of, one.shape))) for one in code.locals)
    return replace(code, body=of_block(code.body), locals=tuple(local))


def _field(array: str, records: Mapping[str, Mapping[str, str]]) -> str:
    """The array of a field."""
    while array in records:
        array = next(iter(records[array].values()))
    return array


def _extent(extent: ir.Extent, field: str, rank: int) -> ir.Expr:
    """An extent of an array of records, by those of a field, which may have more axes."""
    axes: list[ir.Expr] = [ir.Extent(field, axis, None, extent.place) for axis in range(rank)]
    if extent.axis == "ndim":
        return ir.Const(rank)
    if extent.axis is None:
        one: ir.Expr = ir.Const(1)
        return reduce(lambda x, y: ir.Binary("*", x, y, extent.place), axes, one)
    return axes[extent.axis]
