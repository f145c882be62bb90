"""The tables of the representation as data that JSON can hold, for the engine of the page.

The engine doesn't repeat what a table of Python's says: of an operation the columns that are no
functions, of a node the fields that hold expressions, blocks and targets, of a type its kind, its
size and its limits, and the type that two types have in common.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from itertools import product
from typing import Any, get_args

import numpy as np

from mmsim.ir import atomics
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import SUPPORTED, is_int, limits
from mmsim.ir.operators import CASTS, TABLES
from mmsim.ir.row import Row
from mmsim.ir.walk import KINDS, holding
from mmsim.javascript import findings
from mmsim.javascript.vocabulary import vocabulary

COLUMNS = (
    *("arity", "kind", "sign", "takes", "result", "gives", "complex", "refused", "checked"),
    "js",
)
"""The columns of a row that the engine reads; a function counts as True."""
DEFAULTS = {one.name: one.default for one in fields(Row) if one.name in COLUMNS[1:]}
PARTS = ("Expr", "Block", "Target")


def table(own: Mapping[str, Any]) -> dict[str, Any]:
    """All tables; `own` is what `mmsim` calls by which name."""
    return {
        "defaults": DEFAULTS,
        "operations": {
            kind.__name__: {op: _columns(op, row) for op, row in rows.items()}
            for kind, rows in TABLES.items()
        },
        "nodes": {kind.__name__: _fields(kind) for kind in KINDS},
        "classes": {
            name: [kind.__name__ for kind in get_args(getattr(ir, name))]
            for name in ("Access", "Setting", "Operating", "Stmt", "Expr")
        },
        "fields": {"uniform": list(ir.UNIFORM_FIELDS)},
        "types": {name: _type(name) for name in SUPPORTED},
        "common": {
            first: {second: _common(first, second) for second in SUPPORTED} for first in SUPPORTED
        },
        "common of three": _of_three(),
        "atomics": {op: list(types) for op, types in atomics.TYPES.items()},
        "vocabulary": vocabulary(own),
        "findings": findings.words(),
    }


def _plain(value: Any) -> Any:
    return True if callable(value) else value.name if isinstance(value, np.dtype) else value


def _columns(op: str, row: Row) -> dict[str, Any]:
    """The columns of an operation, apart from those that have their default."""
    columns = ((name, _plain(getattr(row, name))) for name in COLUMNS)
    found = {name: held for name, held in columns if held != DEFAULTS.get(name)}
    if op in CASTS:
        found["requested"] = True
    return found


def _fields(kind: Any) -> dict[str, list[str]]:
    """The fields of a node, and those that hold expressions, blocks and targets."""
    found = {part: list(holding(kind, part)) for part in PARTS}
    every = [one.name for one in fields(kind)]
    return {"every": every, **{part: names for part, names in found.items() if names}}


def _type(name: str) -> dict[str, Any]:
    dtype = np.dtype(name)
    found: dict[str, Any] = {"kind": dtype.kind, "size": dtype.itemsize}
    if is_int(dtype):
        found["limits"] = [str(limit) for limit in limits(dtype)]
    return found


def _common(*names: str) -> str:
    return np.result_type(*map(np.dtype, names)).name


def _of_three() -> dict[str, str]:
    """The common types of three types that isn't that of two of them and the third.

    >>> _of_three()["int16 uint16 float32"]
    'float32'
    """
    every = product(SUPPORTED, repeat=3)
    found = {names: _common(*names) for names in every}
    return {
        " ".join(names): common
        for names, common in found.items()
        if common != _common(_common(*names[:2]), names[2])
    }
