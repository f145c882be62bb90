"""Arrays of records: an array for each field, with the extents of a field's array."""

from __future__ import annotations

from typing import Any

import numpy as np

from mmsim.frontend.numba.names import TYPES, type_name


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
