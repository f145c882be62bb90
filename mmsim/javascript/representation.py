"""A program's representation as data that JSON can hold, for the engine of the page.

A node is an object whose `node` is the name of its class; the other fields have their own names.
JSON doesn't distinguish 1 from 1.0, so a number with a fraction or of two parts says so:
`{"float": 1.5}`, `{"float": "nan"}`, `{"complex": [1.5, "inf"]}`. An integer that a double can't
hold is `{"int": "9223372036854775807"}`.
"""

from __future__ import annotations

import math
from dataclasses import is_dataclass
from typing import Any

from mmsim.ir import nodes as ir
from mmsim.ir.lower import Lowered
from mmsim.ir.walk import said

SAFE = 2**53 - 1
"""The largest integer that JavaScript counts as safe."""


def plain(part: Any) -> Any:
    """A node, or a part of one, as data.

    >>> from mmsim.ir.shapes import NOWHERE
    >>> plain(ir.Unary("-", ir.Const(2.0), NOWHERE))["operand"]
    {'node': 'Const', 'value': {'float': 2.0}}
    """
    if is_dataclass(part) and not isinstance(part, type):
        found = {one.name: plain(value) for one, value in said(part)}
        return {"node": type(part).__name__, **found}
    if isinstance(part, tuple):
        return list(map(plain, part))
    if part is None or isinstance(part, str):
        return part
    return number(part)


def number(value: ir.Scalar) -> Any:
    """A number as data.

    >>> number(True), number(3), number(2**60), number(-0.0), number(2 + 1j)
    (True, 3, {'int': '1152921504606846976'}, {'float': -0.0}, {'complex': [2.0, 1.0]})
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value) if abs(value) <= SAFE else {"int": str(int(value))}
    if isinstance(value, complex):
        return {"complex": [_float(value.real), _float(value.imag)]}
    return {"float": _float(value)}


def _float(value: float) -> Any:
    return float(value) if math.isfinite(value) else str(float(value))


def lowered(program: Lowered) -> dict[str, Any]:
    """A program in the lowered form, and the types of its names."""
    types = {
        name: {key: type_.name for key, type_ in getattr(program, name).items()}
        for name in ("variables", "arrays", "numbers")
    }
    return {"code": plain(program.code), **types}
