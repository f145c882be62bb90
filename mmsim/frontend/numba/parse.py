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

from mmsim.errors import LanguageError, LaunchError, Place, shown
from mmsim.frontend.numba.context import context, inferred
from mmsim.frontend.numba.inlined import text_of
from mmsim.frontend.numba.kinds import (
    DATES,
    DEFAULTS,
    ArrayKind,
    Flattened,
    Kind,
    NumberKind,
    ObjectKind,
    Options,
    RecordKind,
    SameKind,
    TupleKind,
    in_bits,
    same,
)
from mmsim.frontend.numba.lowering import FunctionLowering
from mmsim.frontend.numba.values import KernelUnit, Object, Value, dtype_of
from mmsim.frontend.python.scope import Alias, Restart, View
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import BOOL, COMPLEX, FLOAT, INT, UNSIGNED, Type
from mmsim.ir.numba_types import WIDE
from mmsim.ir.walk import numbered, statements


class Parsed(NamedTuple):
    """A kernel for some arguments, and the additional arguments of each launch.

    `words` are the types as which it takes the words of its arguments, None for their own.
    """

    code: ir.Code
    from_outside: tuple[Any, ...]
    words: tuple[Type | None, ...]


@cache
def _named(names: tuple[str, ...]) -> type:
    """A class of tuples with these names."""
    return namedtuple("Named", names)


class Parameters:
    """The arguments of a launch, in order.

    `from_outside` are the values that no call gives: arrays that the kernel captures.
    """

    def __init__(self, unit: KernelUnit) -> None:
        self.unit = unit
        self.given: list[ir.Parameter] = []
        self.from_outside: list[Any] = []
        self._types: list[types.Type] = []
        self._known: list[tuple[Any, Any, Alias]] = []

    def value(self, name: str, kind: Kind, place: Place) -> tuple[Value, types.Type]:
        """The meaning of an argument in the program, and Numba's type of it.

        An array that is given again has the type of the first one.
        """
        match kind:
            case ObjectKind(thing):
                return Object(thing), context().resolve_value_type(thing)
            case SameKind(number):
                return Alias((View(self.given[number].name),)), self._types[number]
            case TupleKind(items, names):
                return self._tuple(name, items, names, place)
            case RecordKind(dtype, fields, ndim):
                self.unit.ranks[name] = ndim
                self.unit.records[name] = {}
                for field, inner in fields:
                    own = self.unit.unique(f"{name}_{field}")
                    self.unit.records[name][field] = own
                    self.value(own, inner, place)
                    self.unit.whole.discard(own)
                type_ = from_dtype(dtype)
                is_array = ndim or not dtype.names
                return Alias((View(name),)), types.Array(type_, ndim, "A") if is_array else type_
            case ArrayKind(text, ndim, layout):
                dtype = np.dtype(text)
                self.unit.array(name, self.unit.words.get(name, in_bits(dtype)), ndim)
                if ndim and layout == "C":
                    self.unit.whole.add(name)
                self._add(name, "array", types.Array(from_dtype(dtype), ndim, layout), place)
                if name in self.unit.words or dtype.kind in DATES:
                    self.given[-1] = replace(self.given[-1], type=text)
                return Alias((View(name),)), self._types[-1]
            case NumberKind(text):
                dtype = np.dtype(text)
                held = {"f": FLOAT, "c": COMPLEX}.get(dtype.kind, INT)
                self.unit.held.numbers[name] = dtype if dtype in (BOOL, UNSIGNED) else held
                self._add(name, "number", from_dtype(dtype), place)
                plain, dtype = ir.Number(name), in_bits(dtype)
                value = plain if dtype in WIDE else ir.Unary(dtype.name, plain, place)
                return value, self._types[-1]

    def _tuple(
        self, name: str, items: Sequence[Kind], names: tuple[str, ...] | None, place: Place
    ) -> tuple[tuple[Value, ...], types.Type]:
        found: list[tuple[Value, types.Type]] = []
        for position, item in enumerate(items):
            own = position if names is None else names[position]
            value, type_ = self.value(self.unit.unique(f"{name}_{own}"), item, place)
            if isinstance(value, Object):
                raise LaunchError(
                    f"{name!r} is a tuple with {shown(value.thing)} in it: tuples that kernels "
                    "take hold arrays, numbers and tuples of these"
                )
            found.append((value, type_))
        inside = tuple(type_ for _, type_ in found)
        whole = types.Tuple.from_types(inside, None if names is None else _named(names))
        return tuple(value for value, _ in found), whole

    def _add(self, name: str, use: ir.Use, type_: types.Type, place: Place) -> None:
        self.given.append(ir.Parameter(name, use, None, place))
        self.unit.parameters.append(name)
        self._types.append(type_)

    def array_from_outside(self, name: str, array: Any, memory: Any, place: Place) -> Alias:
        """A captured array as an argument of every launch.

        An array of the device lies in `memory`; one of the host is constant, so it is copied.
        """
        for known, lies, alias in self._known:
            if known is array or (memory is not None and lies is not None and same(memory, lies)):
                return alias
        given = Flattened(self.unit.name, [array.copy() if memory is None else memory])
        value, _ = self.value(self.unit.unique(name), given.kinds[0], place)
        assert isinstance(value, Alias)
        self._known.append((array, memory, value))
        self.from_outside += given.values
        return value


@global_compiler_lock  # type: ignore[untyped-decorator]
def parse_kernel(
    function: python.FunctionType, kinds: Sequence[Kind], options: Options = DEFAULTS
) -> Parsed:
    """The representation of a kernel for arguments of these kinds.

    Raises `LanguageError` at the first thing outside of the language. Numba's stages work for one
    thread at a time.
    """
    names = list(inspect.signature(function).parameters)
    if len(names) != len(kinds):
        raise LaunchError(
            f"the kernel {function.__name__}({', '.join(names)}) takes {len(names)} arguments, "
            f"not {len(kinds)}"
        )
    unit = KernelUnit(function.__name__, options=options)
    while True:
        try:
            return _lowered(function, kinds, names, unit)
        except Restart:  # with more arrays that a name may stand for; so this ends
            before, unit = unit, KernelUnit(function.__name__, options=options)
            unit.keys, unit.tables, unit.words = before.keys, before.tables, before.words


def result_type(function: Any, given: Sequence[Any]) -> np.dtype[Any]:
    """The type of the number that a function returns for numbers of some types."""
    with global_compiler_lock:
        return dtype_of(inferred(function, tuple(map(from_dtype, given))).result)


def _lowered(
    function: python.FunctionType, kinds: Sequence[Kind], names: list[str], unit: KernelUnit
) -> Parsed:
    """The representation, if enough is known of the names; else `Restart`."""
    source = text_of(function, unit)
    place = Place(unit.name, source.file, source.first)
    parameters = Parameters(unit)
    unit.array_from_outside = parameters.array_from_outside
    unit.taken.update(names)
    given = [parameters.value(*one, place) for one in zip(names, kinds, strict=True)]
    found = inferred(function, tuple(type_ for _, type_ in given))
    values = [value for value, _ in given]
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
    words = tuple(unit.words.get(one.name) for one in parameters.given)
    code = replace(code, body=numbered(code.body))
    return Parsed(code, tuple(parameters.from_outside), words)


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
