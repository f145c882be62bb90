"""From a kernel of numba.cuda to its representation, for arguments of some kinds."""

from __future__ import annotations

import inspect
import types as python
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numba.core import types
from numba.core.compiler_lock import global_compiler_lock
from numba.np.numpy_support import as_dtype, from_dtype

from mmsim.errors import LanguageError, LaunchError, Place
from mmsim.frontend.numba.base import is_tuple
from mmsim.frontend.numba.context import inferred
from mmsim.frontend.numba.inlined import text_of
from mmsim.frontend.numba.kinds import DATES, Flattened, Known, in_bits, same
from mmsim.frontend.numba.lowering import FunctionLowering
from mmsim.frontend.numba.options import DEFAULTS, Options
from mmsim.frontend.numba.values import (
    ONE,
    Index,
    KernelUnit,
    Object,
    Value,
    dtype_of,
    is_number,
)
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


class Parameters:
    """The arguments of a launch, in order.

    `from_outside` are the values that no call gives: arrays that the kernel captures.
    """

    def __init__(self, unit: KernelUnit) -> None:
        self.unit = unit
        self.given: list[ir.Parameter] = []
        self.from_outside: list[Any] = []
        self._known: list[tuple[Any, Any, Alias]] = []
        self._places: Iterator[Any] = iter(())

    def values(self, names: Sequence[str], given: Flattened, place: Place) -> list[Value]:
        """The meaning of arguments in the program."""
        before, self._place = len(self.given), place
        self._places = (one if isinstance(one, Known) else before + one for one in given.places)
        return list(map(self._value, names, given.types))

    def _value(self, name: str, type_: Any) -> Value:
        if is_tuple(type_):
            inside = zip(getattr(type_, "fields", range(type_.count)), type_, strict=True)
            return tuple(self._value(self.unit.unique(f"{name}_{n}"), own) for n, own in inside)
        if is_number(type_):
            dtype = in_bits(as_dtype(type_))
            self._add(name, "number")
            held = {"f": FLOAT, "c": COMPLEX}.get(dtype.kind, INT)
            self.unit.held.numbers[name] = dtype if dtype in (BOOL, UNSIGNED) else held
            plain = ir.Number(name)
            return plain if dtype in WIDE else ir.Unary(dtype.name, plain, self._place)
        is_array = isinstance(type_, types.Array)
        if not is_array and not isinstance(type_, types.Record):
            return Object(next(self._places).thing)
        own = as_dtype(type_.dtype if is_array else type_)
        dtype = in_bits(own)
        rank = type_.ndim if is_array else 0
        shape = (ONE,) * max(rank, 1)
        if dtype.names:
            self.unit.of_records(name, dtype, shape, self._array)
        else:
            name = self._array(name, dtype, shape)
            if rank and type_.layout == "C":
                self.unit.whole.add(name)
            if name in self.unit.words or own.kind in DATES:
                at = self.unit.parameters.index(name)
                self.given[at] = replace(self.given[at], type=own.name)
        return Alias((View(name, () if rank else (ir.Const(0),)),))

    def _array(self, name: str, dtype: Type, shape: Index) -> str:
        found = self._add(name, "array")
        if found == name:
            self.unit.array(name, self.unit.words.get(name, dtype), len(shape))
        return found

    def _add(self, name: str, use: ir.Use) -> str:
        """The name of the next argument: a new one, unless it is an array that was given."""
        at = next(self._places)
        if at == len(self.given):
            self.given.append(ir.Parameter(name, use, None, self._place))
            self.unit.parameters.append(name)
        return str(self.given[at].name)

    def array_from_outside(self, name: str, array: Any, memory: Any, place: Place) -> Alias:
        """A captured array as an argument of every launch.

        An array of the device lies in `memory`; one of the host is constant, so it is copied.
        """
        for known, lies, alias in self._known:
            if known is array or (memory is not None and lies is not None and same(memory, lies)):
                return alias
        given = Flattened(self.unit.name, [array.copy() if memory is None else memory])
        (value,) = self.values([self.unit.unique(name)], given, place)
        assert isinstance(value, Alias)
        self._known.append((array, memory, value))
        self.from_outside += given.values
        return value


@global_compiler_lock  # type: ignore[untyped-decorator]
def parse_kernel(
    function: python.FunctionType, given: Flattened, options: Options = DEFAULTS
) -> Parsed:
    """The representation of a kernel for arguments of these types.

    Raises `LanguageError` at the first thing outside of the language. Numba's stages work for one
    thread at a time.
    """
    names = list(inspect.signature(function).parameters)
    if len(names) != len(given.types):
        raise LaunchError(
            f"the kernel {function.__name__}({', '.join(names)}) takes {len(names)} arguments, "
            f"not {len(given.types)}"
        )
    unit = KernelUnit(function.__name__, options=options)
    while True:
        try:
            return _lowered(function, given, names, unit)
        except Restart:  # with more arrays that a name may stand for; so this ends
            before, unit = unit, KernelUnit(function.__name__, options=options)
            unit.keys, unit.tables, unit.words = before.keys, before.tables, before.words


def result_type(function: Any, given: Sequence[Any]) -> np.dtype[Any]:
    """The type of the number that a function returns for numbers of some types."""
    with global_compiler_lock:
        return dtype_of(inferred(function, tuple(map(from_dtype, given))).result)


def _lowered(
    function: python.FunctionType, given: Flattened, names: list[str], unit: KernelUnit
) -> Parsed:
    """The representation, if enough is known of the names; else `Restart`."""
    source = text_of(function, unit)
    place = Place(unit.name, source.file, source.first)
    parameters = Parameters(unit)
    unit.array_from_outside = parameters.array_from_outside
    unit.taken.update(names)
    values = parameters.values(names, given, place)
    found = inferred(function, given.types)
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
