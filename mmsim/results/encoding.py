"""Results as data that JSON holds, without loss.

An array is its dtype, its shape and its bytes (little-endian, base64), a complex number its two
parts. A trace is its facts. A part of a result doesn't repeat what the whole says, and no field its
default.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.errors import MMSimError, shown
from mmsim.ir.dtypes import supported
from mmsim.model.machines import Machine
from mmsim.results.events import Arrival, Asked, Change, Release
from mmsim.results.report import Report
from mmsim.results.run import Run

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
