"""The arguments of a launch: checked against a program's parameters, and what they decide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.errors import LaunchError, shown
from mmsim.frontend.program import Program
from mmsim.frontend.python.scope import number
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import SUPPORTED_TEXT, supported
from mmsim.model.layout import MASKED, RAW, Placed, masked
from mmsim.model.memory import Parameter

ROW_MAJOR = RAW()


def completed(program: Program, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """A value for each parameter: the arguments, then the defaults of the others."""
    parameters = program.code.parameters
    if len(args) == len(parameters):
        return args
    signature = f"{program.name}({', '.join(['T', *(p.name for p in parameters)])})"
    if len(args) > len(parameters):
        raise LaunchError(f"{signature} takes {len(parameters)} arguments, not {len(args)}")
    for parameter in parameters[len(args) :]:
        if parameter.default is None:
            raise LaunchError(f"{signature} is missing argument {parameter.name!r}")
    return *args, *(parameter.default for parameter in parameters[len(args) :])


def key_of(values: Iterable[Any]) -> tuple[Any, ...] | None:
    """All that a program's types, shapes and addresses depend on, for one value a parameter.

    None if a value has to be checked first: it is neither a plain array nor a number of Python.

    >>> key_of([np.zeros(3), 1]) == key_of([np.ones(3), 1]), key_of([0.0]) == key_of([-0.0])
    (True, False)
    """
    key: list[Any] = []
    for value in values:
        kind = type(value)
        if kind is np.ndarray:
            key += value.dtype, value.shape
        elif kind is int:
            key += int, value
        elif kind is float or kind is bool or kind is complex:
            key += kind, repr(value)  # as text, equal numbers differ: 0.0 and -0.0
        elif kind is Parameter:
            key += value.data.dtype, value.data.shape
            if value.words != value.data.size:
                key.append(value.words)
        else:
            return None
    return tuple(key)


def checked(
    program: Program, values: Sequence[Any], written: set[str]
) -> dict[str, Parameter | ir.Scalar]:
    """The arrays and the numbers by parameter name; `written` are the arrays that it writes.

    Raises a `LaunchError` for a value that doesn't fit.
    """
    found: dict[str, Parameter | ir.Scalar] = {}
    for parameter, value in zip(program.code.parameters, values, strict=True):
        name, own = parameter.name, parameter.name in written
        if _plain(value) and parameter.use != "number":  # the common case: nothing to refuse
            found[name] = Parameter(name, value, ROW_MAJOR, own, value.size)
            continue
        as_number = number(value)
        if as_number is None or parameter.use == "array":
            found[name] = _array(program, parameter, value, own)
        else:
            found[name] = as_number
    for name, value in found.items():
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            raise LaunchError(
                f"{name}={shown(value)} of program {program.name!r} doesn't fit into 64 bits"
            )
    _refuse_overlap(program, [one for one in found.values() if isinstance(one, Parameter)])
    return found


def _array(program: Program, parameter: ir.Parameter, value: Any, written: bool) -> Parameter:
    """An array argument, checked."""
    where = f"argument {parameter.name!r} of program {program.name!r}"
    place = f"(line {parameter.place.line} of {parameter.place.file})"
    placed = isinstance(value, Placed)
    layout = value.layout if isinstance(value, Placed) else RAW()
    data = value.data if isinstance(value, Placed) else value
    if parameter.use == "number":
        raise LaunchError(f"{where} must be a number, not {_describe(data)} {place}")
    if not placed and not isinstance(data, np.ndarray):
        if not isinstance(data, list | tuple):
            raise LaunchError(f"{where} must be an array, not {_describe(data)} {place}")
        try:
            data = np.array(data)
        except ValueError as error:
            raise LaunchError(f"{where} is not an array of numbers: {error} {place}") from None
    if masked(data):
        raise LaunchError(f"{where} {MASKED} {place}")
    if data.ndim == 0:
        raise LaunchError(f"{where} must have at least one dimension {place}")
    if not _held(data.dtype):
        raise LaunchError(
            f"{where} holds {data.dtype}; arrays hold {SUPPORTED_TEXT}: convert it with "
            f"astype {place}"
        )
    data = np.asarray(data)
    words = value.words if isinstance(value, Placed) else data.size
    return Parameter(parameter.name, data, layout, written, words)


def _plain(value: Any) -> bool:
    """Return whether an argument is a valid array."""
    return type(value) is np.ndarray and value.ndim > 0 and _held(value.dtype)


@cache
def _held(dtype: np.dtype[Any]) -> bool:
    return supported(dtype.name) and dtype.isnative


def _describe(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    return shown(value) if isinstance(value, int | float | str) else f"a {type(value).__name__}"


def _refuse_overlap(program: Program, arrays: list[Parameter]) -> None:
    """Refuse one array for two parameters: Python sees writes through both, the model can't."""
    for position, first in enumerate(arrays):
        for second in arrays[position + 1 :]:
            if not first.written and not second.written:
                continue
            if _overlap(first.data, second.data):
                raise LaunchError(
                    f"arguments {first.name!r} and {second.name!r} of program {program.name!r} "
                    "are the same array, but each parameter has memory of its own; pass a copy"
                )


def _overlap(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> bool:
    """Return whether two arrays have a word in common; views too complex to decide have."""
    if not np.may_share_memory(first, second):  # this is fast
        return False
    most: Any = 1000  # candidates; some versions of NumPy declare too few types for it
    try:
        return np.shares_memory(first, second, max_work=most)
    except np.exceptions.TooHardError:
        return True
