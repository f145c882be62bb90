"""The arguments of a kernel's launch: those of the call, and arrays from outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mmsim.errors import LaunchError, Place, shown
from mmsim.frontend.numba.kinds import (
    ArrayKind,
    Flattened,
    Kind,
    NumberKind,
    ObjectKind,
    RecordKind,
    SameKind,
    TupleKind,
    same,
)
from mmsim.frontend.numba.values import KernelUnit, Object, Value
from mmsim.frontend.python.scope import Alias, View
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import BOOL, COMPLEX, FLOAT, INT, UNSIGNED, Type
from mmsim.ir.numba_types import WIDE


class Parameters:
    """The arguments of a launch, in order; `dtypes` and `numbers` are their types.

    `from_outside` are the values that no call gives: arrays that the kernel captures.
    """

    def __init__(self, unit: KernelUnit) -> None:
        self.unit = unit
        self.given: list[ir.Parameter] = []
        self.dtypes: dict[str, Type] = {}
        self.numbers: dict[str, Type] = {}
        self.from_outside: list[Any] = []
        self._known: list[tuple[Any, Any, Alias]] = []

    def value(self, name: str, kind: Kind, place: Place) -> Value:
        """The meaning of an argument in the program."""
        match kind:
            case ObjectKind(thing):
                return Object(thing)
            case SameKind(number):
                return Alias((View(self.given[number].name),))
            case TupleKind(items, names):
                return self._tuple(name, items, names, place)
            case RecordKind(fields=fields, ndim=ndim):
                self.unit.ranks[name] = ndim
                self.unit.records[name] = {}
                for field, inner in fields:
                    own = self.unit.unique(f"{name}_{field}")
                    self.unit.records[name][field] = own
                    self.value(own, inner, place)
                return Alias((View(name),))
            case ArrayKind(dtype=dtype, ndim=ndim):
                self._add(ir.Parameter(name, "array", None, place))
                self.dtypes[name] = np.dtype(dtype)
                self.unit.ranks[name] = ndim
                return Alias((View(name),))
            case NumberKind(dtype):
                self._add(ir.Parameter(name, "number", None, place))
                held = np.dtype(dtype)
                self.numbers[name] = {"f": FLOAT, "c": COMPLEX}.get(held.kind, INT)
                if held in (BOOL, UNSIGNED):
                    self.numbers[name] = held
                plain = ir.Number(name)
                return plain if held in WIDE else ir.Unary(dtype, plain, place)

    def _tuple(
        self, name: str, items: Sequence[Kind], names: tuple[str, ...] | None, place: Place
    ) -> tuple[Value, ...]:
        found: list[Value] = []
        for position, item in enumerate(items):
            own = position if names is None else names[position]
            value = self.value(self.unit.unique(f"{name}_{own}"), item, place)
            if isinstance(value, Object):
                raise LaunchError(
                    f"{name!r} is a tuple with {shown(value.thing)} in it: tuples that kernels "
                    "take hold arrays, numbers and tuples of these"
                )
            found.append(value)
        return tuple(found)

    def _add(self, parameter: ir.Parameter) -> None:
        self.given.append(parameter)
        self.unit.parameters.append(parameter.name)

    def array_from_outside(self, name: str, array: Any, memory: Any, place: Place) -> Alias:
        """A captured array as an argument of every launch.

        An array of the device lies in `memory`; one of the host is constant, so it is copied.
        """
        for known, lies, alias in self._known:
            if known is array or (memory is not None and lies is not None and same(memory, lies)):
                return alias
        given = Flattened(self.unit.name, [array.copy() if memory is None else memory])
        value = self.value(self.unit.unique(name), given.kinds[0], place)
        assert isinstance(value, Alias)
        self._known.append((array, memory, value))
        self.from_outside += given.values
        return value
