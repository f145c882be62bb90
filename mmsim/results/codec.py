"""Results as JSON and back, without loss.

Only the classes below are read, by their fields; nothing from a file is executed. An array is its
dtype, its shape and its bytes (little-endian, base64).
"""

from __future__ import annotations

import base64
import functools
import json
import types
import typing
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np

from mmsim import machines
from mmsim.errors import FormatError
from mmsim.language.ir import Source
from mmsim.language.types import supported
from mmsim.results import findings, profile, report, rows, run, trace, variables

FORMAT = "mmsim 1"
T = TypeVar("T")
DAMAGED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
"""What a document that only looks like a result may end with."""

CLASSES: dict[str, type] = {
    known.__name__: known
    for known in (
        run.Run,
        report.Report,
        rows.AccessRow,
        rows.RoundRow,
        findings.Finding,
        findings.FoundAccess,
        profile.Profile,
        profile.ProfileLine,
        trace.Trace,
        trace.TracedUnit,
        trace.TracedArray,
        trace.Dispatch,
        trace.Wait,
        trace.Arrival,
        trace.Release,
        variables.TracedVariable,
        variables.Change,
        machines.DMM,
        machines.UMM,
        machines.HMM,
        Source,
    )
}


def dump(value: object) -> str:
    """A result as JSON text."""
    return json.dumps({"format": FORMAT, "value": _encode(value)}, allow_nan=True)


def load(text: str, expected: type[T]) -> T:
    """The result that `dump` wrote, of the expected class. Raises `FormatError` otherwise."""
    if not isinstance(text, str):
        raise FormatError(f"this is a {type(text).__name__}, no JSON text")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"this is no JSON: {error}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise FormatError(f"this is no result of mmsim: its format isn't {FORMAT!r}")
    try:
        value = _decode(document.get("value"))
    except DAMAGED as error:
        raise FormatError(f"this result of mmsim is damaged: {error}") from None
    if not isinstance(value, expected):
        raise FormatError(f"this is a {type(value).__name__}, not a {expected.__name__}")
    return value


def _encode(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        data = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
        return {
            "$array": value.dtype.name,
            "shape": list(value.shape),
            "base64": base64.b64encode(data.tobytes()).decode(),
        }
    if is_dataclass(value) and not isinstance(value, type):
        content = {part.name: _encode(getattr(value, part.name)) for part in fields(value)}
        return {"$class": type(value).__name__, **content}
    if isinstance(value, dict):
        return {"$dict": [[key, _encode(item)] for key, item in value.items()]}
    if isinstance(value, tuple | list):
        return [_encode(item) for item in value]
    return value


def _decode(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_decode(item) for item in value)
    if not isinstance(value, dict):
        return value
    if "$array" in value:
        return _array(value)
    if "$dict" in value:
        return {str(key): _decode(item) for key, item in value["$dict"]}
    known = CLASSES[value["$class"]]
    content = {name: _decode(item) for name, item in value.items() if name != "$class"}
    _check_types(known, content)
    value = known(**content)
    if isinstance(value, trace.Trace):
        trace.check_trace(value)
    return value


def _array(value: dict[str, Any]) -> Any:
    name, shape = value["$array"], value["shape"]
    if not supported(name):
        raise ValueError(f"arrays of {name!r:.80} are not read")
    if not all(type(extent) is int and extent >= 0 for extent in shape):
        raise ValueError(f"an array has no shape {shape!r:.80}")
    dtype = np.dtype(name)
    data = base64.b64decode(value["base64"], validate=True)
    if dtype.kind == "b" and data.strip(b"\0\1"):
        raise ValueError("a bool is neither 0 nor 1")
    array = np.frombuffer(data, dtype.newbyteorder("<")).reshape(shape)
    return array.astype(dtype)


_hints = functools.cache(typing.get_type_hints)


def _check_types(known: type, content: dict[str, Any]) -> None:
    """Refuse a field whose value isn't of the declared class, as far as classes go."""
    hints = _hints(known)
    for name, value in content.items():
        if name not in hints:
            raise ValueError(f"{known.__name__} has no field {name!r}")
        if not _fits(value, hints[name]):
            raise ValueError(f"{name} of {known.__name__} can't be a {type(value).__name__}")


def _fits(value: Any, hint: Any) -> bool:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return True
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, one) for one in arguments)
    if origin is typing.Literal:
        return value in arguments
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return all(_fits(item, arguments[0]) for item in value)
        return len(value) == len(arguments) and all(map(_fits, value, arguments))
    if origin is dict:
        return isinstance(value, dict) and all(_fits(v, arguments[1]) for v in value.values())
    target = origin or hint
    if target is int:  # no count and no value needs more than 64 bits
        return type(value) is int and -(2**63) <= value < 2**63
    if target is float:
        return isinstance(value, float)
    return isinstance(value, target)
