"""Results as JSON and back, without loss.

Only the classes below are read, by their fields; nothing from a file is executed. An array is its
dtype, its shape and its bytes (little-endian, base64), a complex number its two parts.
"""

from __future__ import annotations

import base64
import json
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from mmsim.errors import FormatError, MMSimError, shown
from mmsim.ir.liveness import Registers
from mmsim.ir.nodes import Scalar, Source
from mmsim.ir.promotion import supported
from mmsim.model import machines
from mmsim.model.threads import Shape
from mmsim.results import (
    cache,
    findings,
    profile,
    report,
    rows,
    run,
    trace,
    valid_run,
    valid_trace,
    variables,
)

FORMAT = "mmsim 1"
T = TypeVar("T")
DAMAGED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
"""The exceptions that a document which only looks like a result may cause."""

CLASSES: dict[str, type] = {
    known.__name__: known
    for known in (
        run.Run,
        report.Report,
        rows.AccessRow,
        rows.RoundRow,
        cache.CacheRow,
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
        Source,
        Registers,
        Shape,
    )
}

OF_SOME = ("records", "cache")
"""Fields of a run that are omitted if they are empty."""

CONSISTENT: dict[type, Callable[[Any], None]] = {
    trace.Trace: valid_trace.check_trace,
    run.Run: valid_run.check_run,
    report.Report: valid_run.check_report,
}
"""The checks of results: each raises a `ValueError` for a result that contradicts itself."""


def dump(value: object, **about: str) -> str:
    """Return a result as JSON text; `about` is further information, which `load` ignores."""
    return json.dumps({"format": FORMAT, **about, "value": _encode(value)}, allow_nan=True)


def load(text: str, expected: type[T], others: Iterable[type] = ()) -> T:
    """Return the result that `dump` wrote, of the expected class. Raises `FormatError` otherwise.

    `expected` and `others` replace those of `CLASSES`, named by a document, that they derive from.
    """
    if not isinstance(text, str):
        raise FormatError(f"this is a {type(text).__name__}, not JSON text")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"this is not JSON: {error}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise FormatError(f"this is not a result of mmsim: its format isn't {FORMAT!r}")
    try:
        value = _decode(
            document.get("value"), {made.__name__: made for made in (expected, *others)}
        )
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
        if isinstance(value, trace.Dispatch) and not value.phases:
            del content["phases"]
        if isinstance(value, run.Run):
            content = {name: of for name, of in content.items() if of or name not in OF_SOME}
        return {"$class": type(value).__name__, **content}
    if isinstance(value, complex):
        return {"$complex": [value.real, value.imag]}
    if isinstance(value, dict):
        return {"$dict": [[key, _encode(item)] for key, item in value.items()]}
    if isinstance(value, machines.Machine):
        raise MMSimError(
            f"a {type(value).__name__} can't be saved as JSON; make your machine a dataclass"
        )
    if isinstance(value, tuple | list):
        return [_encode(item) for item in value]
    return value


def _decode(value: Any, kinds: Mapping[str, type]) -> Any:
    """Decode a value. A class of `CLASSES` becomes that of the same name among `kinds`."""
    if isinstance(value, list):
        return tuple(_decode(item, kinds) for item in value)
    if not isinstance(value, dict):
        return value
    if "$array" in value:
        return _array(value)
    if "$complex" in value:
        return _complex(value["$complex"])
    if "$dict" in value:
        return {str(key): _decode(item, kinds) for key, item in value["$dict"]}
    known = _class(value.get("$class"))
    content = {name: _decode(item, kinds) for name, item in value.items() if name != "$class"}
    if known is rows.RoundRow:  # earlier files do not have it: it was one stage for each request
        content.setdefault("least", content["requests"])
    _check_fields(known, content)
    result = kinds.get(known.__name__, known)(**content)
    if known in CONSISTENT:
        CONSISTENT[known](result)
    return result


def _class(name: object) -> type:
    """The class that a document names: one of results, or a machine."""
    if isinstance(name, str):
        machine = {kind.__name__: kind for kind in _machines(machines.Machine)}
        if known := CLASSES.get(name) or machine.get(name):
            return known
    raise ValueError(
        f"no class of results is called {name!r:.80}; your own machine has to be defined "
        "before its results are read"
    )


def _machines(kind: type) -> Iterator[type]:
    """All machines that are data, in the order in which they were defined; mmsim's own last."""
    subclasses: list[type] = kind.__subclasses__()
    for machine in sorted(subclasses, key=lambda machine: machine.__module__.startswith("mmsim.")):
        if is_dataclass(machine):
            yield machine
        yield from _machines(machine)


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


def _complex(parts: Any) -> complex:
    if type(parts) is not list or [type(part) for part in parts] != [float, float]:
        raise ValueError("a complex number has two floats")
    return complex(*parts)


Check = Callable[[Any], bool]
"""Whether a value may stand in a field."""


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def _is_int64_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.int64


def _is_whole(value: Any) -> bool:
    """No count needs more than 64 bits."""
    return type(value) is int and -(2**63) <= value < 2**63


def _is_number(value: Any) -> bool:
    """No element and no variable needs more than 64 bits, with a sign or without."""
    if type(value) is int:
        return -(2**63) <= value < 2**64
    return type(value) in (float, complex, bool)


SIMPLE: dict[Any, Check] = {
    int: _is_whole,
    float: lambda value: type(value) is float,
    bool: lambda value: type(value) is bool,
    str: lambda value: type(value) is str,
    types.NoneType: lambda value: value is None,
    Scalar: _is_number,
    Scalar | None: lambda value: value is None or _is_number(value),
    machines.Machine: lambda value: isinstance(value, machines.Machine),
    # NumPy's aliases are compared as a whole, as their parts change with NumPy.
    npt.NDArray[Any]: _is_array,
    npt.NDArray[np.int64]: _is_int64_array,
}
"""The checks of annotations without parts."""


def check_of(annotation: Any) -> Check:
    """The check of a value by a field's annotation. Raises `TypeError` for an unknown one."""
    if annotation in SIMPLE:
        return SIMPLE[annotation]
    if annotation in CLASSES.values():
        return lambda value: isinstance(value, annotation)
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return lambda value: type(value) is str and value in parts
    if origin in (typing.Union, types.UnionType):
        choices = tuple(map(check_of, parts))
        return lambda value: any(check(value) for check in choices)
    if origin is tuple and len(parts) == 2 and parts[1] is Ellipsis:
        each = check_of(parts[0])
        return lambda value: type(value) is tuple and all(map(each, value))
    if origin is tuple:
        of_parts = tuple(map(check_of, parts))
        return lambda value: (
            type(value) is tuple
            and len(value) == len(of_parts)
            and all(check(part) for check, part in zip(of_parts, value, strict=True))
        )
    if origin is dict and parts[0] is str:
        of_value = check_of(parts[1])
        return lambda value: type(value) is dict and all(map(of_value, value.values()))
    raise TypeError(
        f"there is no check for the annotation {annotation!r}; add one to mmsim/results/codec.py"
    )


def checks_of(known: type) -> dict[str, Check]:
    """The checks of a class's fields, by name."""
    hints = typing.get_type_hints(known)
    return {part.name: check_of(hints[part.name]) for part in fields(known)}


# Made when this module is loaded, so that an annotation without a check fails in every test.
FIELDS: dict[type, dict[str, Check]] = {known: checks_of(known) for known in CLASSES.values()}


def _check_fields(known: type, content: dict[str, Any]) -> None:
    """Refuse a field whose value is not of the declared class, as far as classes go."""
    # A machine checks its fields itself.
    checks = FIELDS.get(known) or {part.name: lambda value: True for part in fields(known)}
    for name, value in content.items():
        if name not in checks:
            raise ValueError(f"{known.__name__} has no field {name!r:.80}")
        if not checks[name](value):
            simple = isinstance(value, str | int | float) or value is None
            what = shown(value)[:80] if simple else f"a {type(value).__name__}"
            raise ValueError(f"{name} of {known.__name__} can't be {what}")
