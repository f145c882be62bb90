"""From a kernel of numba.cuda to its representation, for arguments of some kinds."""

from __future__ import annotations

import inspect
import types as python
from collections import namedtuple
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba.core import types
from numba.core.compiler_lock import global_compiler_lock
from numba.np.numpy_support import from_dtype

from mmsim.errors import LanguageError, LaunchError, Place
from mmsim.frontend.numba.context import Inferred, context, inferred
from mmsim.frontend.numba.inlined import text_of
from mmsim.frontend.numba.kinds import (
    DEFAULTS,
    ArrayKind,
    Kind,
    NumberKind,
    ObjectKind,
    Options,
    RecordKind,
    SameKind,
    TupleKind,
)
from mmsim.frontend.numba.lowering import FunctionLowering
from mmsim.frontend.numba.parameters import Parameters
from mmsim.frontend.numba.values import KernelUnit, dtype_of
from mmsim.frontend.python.scope import Restart
from mmsim.ir import nodes as ir
from mmsim.ir.walk import numbered, statements


class Parsed(NamedTuple):
    """A kernel for some arguments, and the additional arguments of each launch."""

    code: ir.Code
    from_outside: tuple[Any, ...]


@cache
def _named(names: tuple[str, ...]) -> type:
    """A class of tuples with these names."""
    return namedtuple("Named", names)


def numba_types(kinds: Sequence[Kind]) -> tuple[Any, ...]:
    """Numba's types of arguments; an array that is given again has that of the first one."""
    known: list[Any] = []

    def of(kind: Kind) -> Any:
        match kind:
            case SameKind(number):
                return known[number]
            case RecordKind(dtype, fields, ndim):
                for _, inner in fields:
                    of(inner)
                own = from_dtype(dtype)
                return types.Array(own, ndim, "A") if ndim or not dtype.names else own
            case TupleKind(items, names):
                inside = tuple(map(of, items))
                if names is None:
                    return types.Tuple.from_types(inside)
                return types.BaseTuple.from_types(inside, _named(names))
            case ObjectKind(thing):
                return context().resolve_value_type(thing)
            case ArrayKind(dtype, ndim, layout):
                known.append(types.Array(from_dtype(np.dtype(dtype)), ndim, layout))
            case NumberKind(dtype):
                known.append(from_dtype(np.dtype(dtype)))
        return known[-1]

    return tuple(map(of, kinds))


def parse_kernel(
    function: python.FunctionType, kinds: Sequence[Kind], options: Options = DEFAULTS
) -> Parsed:
    """The representation of a kernel for arguments of these kinds.

    Raises `LanguageError` at the first thing outside of the language. Numba's stages work for one
    thread at a time.
    """
    with global_compiler_lock:
        return _parsed(function, kinds, options)


def result_type(function: Any, given: Sequence[Any]) -> np.dtype[Any]:
    """The type of the number that a function returns for numbers of some types."""
    with global_compiler_lock:
        return dtype_of(inferred(function, tuple(map(from_dtype, given))).result)


def _parsed(function: python.FunctionType, kinds: Sequence[Kind], options: Options) -> Parsed:
    names = list(inspect.signature(function).parameters)
    if len(names) != len(kinds):
        raise LaunchError(
            f"the kernel {function.__name__}({', '.join(names)}) takes {len(names)} arguments, "
            f"not {len(kinds)}"
        )
    found = inferred(function, numba_types(kinds))
    unit = KernelUnit(function.__name__, options=options)
    while True:
        try:
            return _lowered(found, kinds, names, unit)
        except Restart:  # with more arrays that a name may stand for; so this ends
            before, unit = unit, KernelUnit(function.__name__, options=options)
            unit.keys, unit.tables, unit.words = before.keys, before.tables, before.words


def _lowered(found: Inferred, kinds: Sequence[Kind], names: list[str], unit: KernelUnit) -> Parsed:
    """The representation, if enough is known of the names; else `Restart`."""
    source = text_of(found.function, unit)
    place = Place(unit.name, source.file, source.first)
    parameters = Parameters(unit)
    unit.array_from_outside = parameters.array_from_outside
    unit.taken.update(names)
    unit.held.arrays, unit.held.numbers = parameters.dtypes, parameters.numbers
    values = []
    for name, kind in zip(names, kinds, strict=True):
        values.append(parameters.value(name, kind, place))
        unit.parameters = [one.name for one in parameters.given]
    lowering = FunctionLowering(unit, found, values, source)
    body = lowering.body("block_", ir.Return)
    if not isinstance(found.result, types.NoneType):
        raise LanguageError(
            f"the kernel {unit.name!r} returns a value",
            lowering.returned_at,
            "store it in an array, or make this a device function: @cuda.jit(device=True)",
        )
    code = ir.Code(
        unit.name,
        tuple(parameters.given),
        tuple(unit.locals),
        tuple(unit.variables),
        _without_waits(body),
        tuple(unit.sources.values()),
        "numba",
    )
    return Parsed(replace(code, body=numbered(code.body)), tuple(parameters.from_outside))


def _without_waits(body: ir.Block) -> ir.Block:
    """A kernel whose last threads at a barrier of the grid don't wait for those that have ended."""
    *before, last = body or (ir.Forget((), ()),)
    is_grid = isinstance(last, ir.If) and any(
        isinstance(one, ir.Barrier) and one.scope == "grid" for one in statements(last.then)
    )
    if not is_grid or not isinstance(last, ir.If) or last.orelse:
        return body
    ends = replace(last, then=(), orelse=(ir.Return(last.place),))
    return (*before, ends, *last.then)
