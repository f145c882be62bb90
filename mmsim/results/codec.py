"""Results as JSON and back, without loss.

Results are read by the annotations of their fields; nothing from a file is executed.
`mmsim.results.encoding` says what the JSON of a result is.
"""

from __future__ import annotations

import functools
import json
import operator
import types
import typing
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from mmsim.errors import FormatError
from mmsim.ir.nodes import Scalar
from mmsim.model.machines import Machine
from mmsim.results.encoding import ROWS, Unfit, array_of, encode, parts_of
from mmsim.results.first_format import trace_of
from mmsim.results.report import Report
from mmsim.results.rows import RoundRow
from mmsim.results.run import Run
from mmsim.results.trace import Trace
from mmsim.results.valid import check_report, check_run
from mmsim.results.valid_trace import check_trace

FORMAT = "mmsim 2"
FIRST_FORMAT = "mmsim 1"
"""The format in which traces repeat what follows from their facts."""
T = TypeVar("T")
Reader = Callable[[Any], Any]
"""Makes a value of a field from JSON. Raises a `ValueError` for what the field can't be."""
DAMAGED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
"""The exceptions that a document which only looks like a result may cause."""


def dump(value: object, **about: str) -> str:
    """Return a result as JSON text; `about` is further information, which `load` ignores."""
    document = {"format": FORMAT, **about, "value": encode(value)}
    return json.dumps(document, separators=(",", ":"))


def load(text: str, expected: type[T]) -> T:
    """Return the result of that class that `dump` wrote. Raises `FormatError` otherwise."""
    if not isinstance(text, str):
        raise FormatError(f"this is a {type(text).__name__}, not JSON text")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"this is not JSON: {error}") from None
    if not isinstance(document, dict) or document.get("format") not in (FORMAT, FIRST_FORMAT):
        raise FormatError(f"this is not a result of mmsim: its format isn't {FORMAT!r}")
    value = document.get("value")
    for kind in (Run, Report):
        if isinstance(value, dict) and value.get("$class") == kind.__name__ != expected.__name__:
            raise FormatError(f"this is a {kind.__name__}, not a {expected.__name__}")
    try:
        return _object(expected)(value)  # type: ignore[no-any-return]
    except DAMAGED as error:
        raise FormatError(f"this result of mmsim is damaged: {error}") from None


# ------------------------------------------------------------ readers


def _tested(test: Callable[[Any], bool]) -> Reader:
    def read(value: Any) -> Any:
        if not test(value):
            raise Unfit(value)
        return value

    return read


def _number(value: Any) -> Scalar:
    """No element and no variable needs more than 64 bits, with a sign or without."""
    if isinstance(value, dict) and "$complex" in value:
        parts = value["$complex"]
        if type(parts) is not list or [type(part) for part in parts] != [float, float]:
            raise ValueError("a complex number has two floats")
        return complex(*parts)
    if type(value) in (float, bool) or (type(value) is int and -(2**63) <= value < 2**64):
        return value  # type: ignore[no-any-return]
    raise Unfit(value)


def _machine(value: Any) -> Machine:
    """A machine, which checks its fields itself: of several with one name, the last defined."""
    name = value["$class"]
    known = {kind.__name__: kind for kind in _machines(Machine)}  # type: ignore[type-abstract]
    if name not in known:
        raise ValueError(
            f"no machine is called {name!r:.80}; your own machine has to be defined before its "
            "results are read"
        )
    return known[name](
        **{field: _anything(item) for field, item in value.items() if field != "$class"}
    )


def _machines(kind: type[Machine]) -> Iterator[type[Machine]]:
    """All machines that are data, in the order in which they were defined; mmsim's own last."""
    own = [one for one in kind.__subclasses__() if not one.__module__.startswith("mmsim.")]
    for machine in dict.fromkeys([*own, *kind.__subclasses__()]):
        if is_dataclass(machine):
            yield machine
        yield from _machines(machine)


def _anything(value: Any) -> Any:
    """A value of a machine's field."""
    if isinstance(value, list):
        return tuple(map(_anything, value))
    if not isinstance(value, dict):
        return value
    if "$dict" in value:
        return {str(key): _anything(item) for key, item in value["$dict"]}
    of = {"$array": array_of, "$complex": _number}
    return next((read for key, read in of.items() if key in value), _machine)(value)


READERS: dict[Any, Reader] = {
    int: _tested(lambda value: type(value) is int and -(2**63) <= value < 2**63),
    float: _tested(lambda value: type(value) is float),
    bool: _tested(lambda value: type(value) is bool),
    str: _tested(lambda value: type(value) is str),
    Scalar: _number,
    Machine: _machine,
    # NumPy's aliases are compared as a whole, as their parts change with NumPy.
    npt.NDArray[Any]: array_of,
    npt.NDArray[np.int64]: array_of,
}
"""The readers of annotations without parts."""


@functools.cache
def reader_of(annotation: Any) -> Reader:
    """The reader of a field's annotation. Raises `TypeError` for an unknown one."""
    if annotation in READERS:
        return READERS[annotation]
    if annotation in ROWS:
        hints = typing.get_type_hints(annotation)
        row = reader_of(tuple[*(hints[part.name] for part in fields(annotation))])  # type: ignore[misc]
        return lambda value: annotation(*row(value))
    if isinstance(annotation, type) and is_dataclass(annotation):
        return _object(annotation)
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return _tested(lambda value: type(value) is str and value in parts)
    if types.NoneType in parts:
        other = reader_of(
            functools.reduce(operator.or_, [one for one in parts if one is not types.NoneType])
        )
        return lambda value: None if value is None else other(value)
    if origin is tuple and parts:
        each = parts[1:] == (Ellipsis,)
        readers = [reader_of(part) for part in parts[: 1 if each else None]]

        def read(value: Any) -> Any:
            if type(value) is not list or not (each or len(value) == len(readers)):
                raise Unfit(value)
            of = readers * len(value) if each else readers
            return tuple(one(item) for one, item in zip(of, value, strict=True))

        return read
    if origin is dict and parts[0] is str:
        of_value = reader_of(parts[1])
        return lambda value: {str(key): of_value(item) for key, item in value["$dict"]}
    raise TypeError(f"there is no reader for the annotation {annotation!r}; add one to {__name__}")


def _object(kind: type) -> Reader:
    """The reader of a dataclass. A result is complete and checked."""
    hints = typing.get_type_hints(kind)
    readers = {part.name: reader_of(hints[part.name]) for part in fields(kind)}
    check = next((check for known, check in CHECKS.items() if issubclass(kind, known)), None)

    def read(value: Any) -> Any:
        if not isinstance(value, dict):
            raise Unfit(value)
        for part, _, what, names in parts_of(kind, value, value):
            for name in names:
                if part.setdefault(name, value.get(name)) != value.get(name):
                    raise ValueError(f"its {what} differs in {name}")
        first = issubclass(kind, Trace) and "waits" in value
        result = trace_of(value, made) if first else made(value)
        if check:
            check(result)
        return result

    def made(value: dict[str, Any]) -> Any:
        content = {}
        for name, item in value.items():
            if name == "$class":
                if item != kind.__name__:
                    raise ValueError(f"it is a {kind.__name__}, and says {item!r:.80}")
                continue
            if name not in readers:
                raise ValueError(f"{kind.__name__} has no field {name!r:.80}")
            try:
                content[name] = readers[name](item)
            except Unfit as error:
                raise ValueError(f"{name} of {kind.__name__} {error}") from None
        if kind is RoundRow:  # earlier files do not have it: it was one stage for each request
            content.setdefault("least", content["requests"])
        return kind(**content)

    return read


CHECKS: dict[type, Callable[[Any], None]] = {
    Trace: check_trace,
    Run: check_run,
    Report: check_report,
}
"""The checks of results: each raises a `ValueError` for a result that contradicts itself."""
