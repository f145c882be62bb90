"""Results as JSON and back, without loss.

Results are read by the annotations of their fields; nothing from a file is executed. An array is
its dtype, its shape and its bytes (little-endian, base64), a complex number its two parts. A trace
is its facts. A part of a result doesn't repeat what the whole says, and no field its default.
Traces of the first format repeat what follows from their facts.
"""

from __future__ import annotations

import base64
import functools
import json
import operator
import types
import typing
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from mmsim.errors import FormatError, MMSimError, shown
from mmsim.ir.dtypes import supported
from mmsim.ir.nodes import Scalar
from mmsim.model.machines import Machine
from mmsim.results.events import Arrival, Asked, Change, Release
from mmsim.results.report import Report
from mmsim.results.rows import RoundRow
from mmsim.results.run import Run
from mmsim.results.trace import Trace
from mmsim.results.valid import check_facts, check_report, check_run, check_trace

FORMAT = "mmsim 2"
FIRST_FORMAT = "mmsim 1"
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


# ------------------------------------------------------------ data for JSON

LAUNCH = ("machine", "program", "threads", "block_size", "shape", "schedule", "time")
PARTS = {
    Run: {"record": ("trace", (*LAUNCH, "sources")), "records": ("trace", ("machine", "schedule"))},
    Report: {"run": ("run", (*LAUNCH, "record")), "record": ("trace", LAUNCH)},
}
"""The parts of a result: their fields, names in messages, and what they have from the whole."""

ROWS = (Asked, Arrival, Release, Change)
"""The classes of many records: JSON has their fields in order, without names."""


def encode(value: Any) -> Any:
    """Return a value as JSON holds it."""
    if isinstance(value, np.ndarray):
        data = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
        text = base64.b64encode(data.tobytes()).decode()
        return {"$array": value.dtype.name, "shape": list(value.shape), "base64": text}
    if isinstance(value, ROWS):
        return [encode(getattr(value, part.name)) for part in fields(value)]
    if is_dataclass(value) and not isinstance(value, type):
        parts = {part.name: (part, getattr(value, part.name)) for part in fields(value)}
        made = {
            name: own
            for name, (part, own) in parts.items()
            if own is not part.default and (part.default != () or len(own))
        }
        content = {name: encode(own) for name, own in made.items()}
        for part, of, _, names in parts_of(type(value), content, made):
            for name in names:
                if name in part and encode(getattr(of, name)) == encode(getattr(value, name)):
                    del part[name]
        named = isinstance(value, Run | Report | Machine)
        return {"$class": type(value).__name__, **content} if named else content
    if isinstance(value, complex):
        return {"$complex": [value.real, value.imag]}
    if isinstance(value, dict):
        return {"$dict": [[key, encode(item)] for key, item in value.items()]}
    if isinstance(value, Machine):
        raise MMSimError(
            f"a {type(value).__name__} can't be saved as JSON; make your machine a dataclass"
        )
    return [encode(item) for item in value] if isinstance(value, tuple | list) else value


def parts_of(
    kind: type, content: Mapping[str, Any], made: Mapping[str, Any]
) -> Iterator[tuple[Any, Any, str, tuple[str, ...]]]:
    """The parts of a result: as JSON, as made, the name, and the fields that the whole has too."""
    for known, parts in PARTS.items():
        for field, (what, names) in parts.items() if issubclass(kind, known) else ():
            part, of = content.get(field), made.get(field)
            pairs = zip(part, of or (), strict=True) if isinstance(part, list) else [(part, of)]
            yield from ((*pair, what, names) for pair in pairs if pair[0] is not None)


class Unfit(ValueError):
    """A value that a field can't have."""

    def __init__(self, value: Any) -> None:
        simple = isinstance(value, str | int | float) or value is None
        super().__init__(f"can't be {shown(value)[:80] if simple else f'a {type(value).__name__}'}")


def array_of(value: Any) -> npt.NDArray[Any]:
    """The array that `encode` made data of. Raises a `ValueError` for anything else."""
    if not isinstance(value, dict) or "$array" not in value:
        raise Unfit(value)
    name, shape = value["$array"], value["shape"]
    if not supported(name):
        raise ValueError(f"arrays of {name!r:.80} are not read")
    if not all(type(extent) is int and extent >= 0 for extent in shape):
        raise ValueError(f"an array has no shape {shape!r:.80}")
    dtype = np.dtype(name)
    data = base64.b64decode(value["base64"], validate=True)
    if dtype.kind == "b" and data.strip(b"\0\1"):
        raise ValueError("a bool is neither 0 nor 1")
    return np.frombuffer(data, dtype.newbyteorder("<")).reshape(shape).astype(dtype)


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


# ------------------------------------------------------------ the first format

Object = dict[str, Any]
FOLLOWS = ("units", "arrays", "dispatches", "waits")
"""The fields of a trace that follow from others."""
EVENTS = ("arrivals", "releases", "changes")


def trace_of(record: Object, read: Callable[[Object], Trace]) -> Trace:
    """Read a trace by its facts. Raises a `ValueError` if another one follows from them."""
    trace = read(facts_of(record, ()))
    check_facts(trace)
    swaps = [  # only its stages show an atomic compare and swap
        number
        for number, one in enumerate(trace.dispatches)
        if one.kind == "atomic" and encode(one.stages) != record["dispatches"][number]["stages"]
    ]
    if swaps:
        trace = read(facts_of(record, swaps))
    for part in FOLLOWS:
        if len(record[part]) != len(getattr(trace, part)):
            raise ValueError(f"it has {len(record[part])} {part}, not {len(getattr(trace, part))}")
        for number, (kept, one) in enumerate(zip(record[part], getattr(trace, part), strict=True)):
            follows = encode(one)
            if trace.machine.bank_bytes is not None and "phases" not in follows:
                follows["phases"] = kept.get("phases")  # those of long elements in global memory
            for name, value in kept.items():
                if name != "$class" and json.dumps(value) != json.dumps(follows.get(name)):
                    raise ValueError(
                        f"{name} of number {number} of its {part} isn't what follows: "
                        f"{json.dumps(follows.get(name)):.80}"
                    )
    return trace


def facts_of(record: Object, swaps: Collection[int]) -> Object:
    """The facts of a trace, of whose dispatches some are compare and swaps."""
    given, shared = [], []
    for array in record["arrays"]:
        name, shape, data = array["name"], array["shape"], array["data"]
        if array["shared"]:
            shared.append({"name": name, "shape": shape, "dtype": data["$array"]})
            continue
        addresses = array_of(array["addresses"])
        offsets = (addresses - addresses.min(initial=2**62)).reshape(shape)
        kept = None if (np.diff(addresses) == 1).all() else encode(offsets)
        given.append({"name": name, "data": {**data, "shape": shape}, "offsets": kept})
    sites: dict[str, int] = {}
    asked = []
    for number, one in enumerate(record["dispatches"]):
        vector = one["threads"].count(one["threads"][0])
        site = {name: one[name] for name in ("function", "line", "array", "kind")}
        text = json.dumps({**site, "vector": vector, "swap": number in swaps})
        threads, elements = one["threads"][::vector], one["elements"][::vector]
        values = [] if one["kind"] == "read" else one["values"]
        of_text = sites.setdefault(text, len(sites))
        asked.append([one["time"], one["warp"], of_text, threads, elements, values])
    lived: dict[int, int] = {}
    for wait in record["waits"]:
        if wait["reason"] == "round":
            lived[wait["warp"]] = bisect_right(record["rounds"], wait["start"])
    return {
        "variables": [],  # the earliest files have none
        **{name: of for name, of in record.items() if name not in FOLLOWS},
        **{name: [list(one.values())[1:] for one in record.get(name, ())] for name in EVENTS},
        "parameters": given,
        "shared": shared,
        "sites": list(map(json.loads, sites)),
        "asked": asked,
        "lived": [lived.get(warp, 0) for warp in range(max(lived, default=-1) + 1)],
    }
