"""The state of one function's lowering: its values, its variables, the statements so far."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numba.core import types

from mmsim.errors import LanguageError, shown
from mmsim.frontend.numba.context import Inferred
from mmsim.frontend.numba.liveness import Liveness
from mmsim.frontend.numba.places import Places
from mmsim.frontend.numba.values import (
    LEAVES,
    NOWHERE,
    KernelUnit,
    Maybe,
    Value,
    converted,
    dtype_of,
    is_number,
)
from mmsim.frontend.python.scope import Alias
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import Type
from mmsim.ir.walk import parts


class Base:
    """Lowers one function at one of its calls; the kernel itself at its launch.

    `values` are those of Numba's names. `waiting` are numbers of the block at work that are not
    computed yet, by the names of Numba's.
    """

    def __init__(
        self, unit: KernelUnit, found: Inferred, given: Sequence[Value], source: ir.Source
    ) -> None:
        self.unit = unit
        self.found = found
        self.given = given
        self.places = Places(found.function, source)
        self.name = found.function.__name__
        self.values: dict[str, Value] = {}
        self.waiting: dict[str, ir.Expr] = {}
        self.returned: list[Value] = []
        self.returned_at = self.place = NOWHERE
        self.prefix = ""
        self.live = Liveness(found.ir.blocks)
        for block in found.ir.blocks.values():
            for one in block.body:
                target = getattr(one, "target", None)
                if hasattr(one, "value") and hasattr(target, "unversioned_name"):
                    self.live.sets[base_of(target)] += 1
        self._clashes = self.live.clashes(self.group)
        self._variables: dict[Any, list[tuple[Any, set[str]]]] = {}
        self._variable_of: dict[str, Any] = {}

    def refused(self, what: str, advice: str = "") -> LanguageError:
        """The error at the instruction at work."""
        return LanguageError(what, self.place, advice)

    def type_at(self, var: Any) -> types.Type:
        """Numba's type of a variable."""
        return self.found.types[var.name]

    def of(self, var: Any) -> Value:
        """The value of a variable of Numba's."""
        if var.name not in self.values:
            raise self.refused(f"{base_of(var)!r} may have no value here")
        return self.values[var.name]

    def type_of(self, value: ir.Expr) -> Type:
        """The type of a number as the representation computes it."""
        return self.unit.held.value_type(value).type

    def as_type(self, value: ir.Expr, wanted: types.Type | Type) -> ir.Expr:
        """A number, converted to a type."""
        held = wanted if isinstance(wanted, np.dtype) else dtype_of(wanted)
        return converted(value, self.type_of(value), held, self.place)

    def number(self, var: Any, wanted: types.Type | Type) -> ir.Expr:
        """A variable's number as another type."""
        return self.as_type(self.single(self.of(var)), wanted)

    def single(self, value: Value) -> ir.Expr:
        """A value that must be a number."""
        if isinstance(value, ir.Expr):
            return value
        if isinstance(value, Maybe):  # None instead of a number is an exception
            self.end_if(
                ir.Unary("not", value.is_there, self.place),
                "TypeError: a number is needed, not None",
            )
            return value.value
        thing = getattr(value, "thing", None)
        if isinstance(thing, enum.Enum) and isinstance(thing.value, int | float):
            return ir.Const(thing.value)
        noun, advice = shown(thing), ""
        if isinstance(value, Alias):
            noun, advice = "an array", "read an element of it, or loop over it"
        elif isinstance(value, tuple):
            noun, advice = "a tuple", "take its values one by one"
        raise self.refused(f"{noun} stands where a number must", advice)

    def end_if(self, test: ir.Expr, message: str) -> None:
        """End the threads with an exception; in a kernel that is debugged it is an error."""
        ends = ir.Return(self.place, message if self.unit.options.debug else None)
        self.block.append(ir.If(test, (ends,), (), self.place))

    @property
    def block(self) -> list[ir.Stmt]:
        """The statements of the block at work, also of one in an inlined call."""
        return self.unit.block

    @block.setter
    def block(self, statements: list[ir.Stmt]) -> None:
        self.unit.block = statements

    # Variables

    def group(self, target: Any) -> Any:
        """The versions of one name and one type, of numbers alone; None for anything else."""
        form = form_of(self.found.types.get(target.name))
        return None if form is None else (base_of(target), form)

    def variable(self, target: Any) -> Any:
        """The variable for a version of a name; other versions of its type share it.

        A tuple has one for each of its numbers.
        """
        name = target.name
        if name not in self._variable_of:
            rows = self._variables.setdefault(self.group(target), [])
            for variable, members in rows:
                if not any(frozenset((name, one)) in self._clashes for one in members):
                    members.add(name)
                    self._variable_of[name] = variable
                    break
            else:
                made = self.new_variables(base_of(target), self.type_at(target))
                rows.append((made, {name}))
                self._variable_of[name] = made
        return self._variable_of[name]

    def new_variables(self, text: str, type_: Any) -> Any:
        """A variable for a number, for a tuple one for each of its numbers."""
        if is_tuple(type_):
            return tuple(self.new_variables(f"{text}_{n}", own) for n, own in enumerate(type_))
        return self.new_variable(text, dtype_of(type_))

    def new_variable(self, text: str, type_: Type) -> str:
        """A variable under a name of the text."""
        if text.startswith("$"):
            return self.unit.temporary(type_)
        name = self.unit.variable(text, self.name).name
        self.unit.held.variables[name] = type_
        return name

    def put(self, variable: str, value: ir.Expr) -> None:
        """Assign a variable; what needs its old value is computed before."""
        for name, waiting in list(self.waiting.items()):
            if variable in {one.name for one in parts(waiting) if isinstance(one, ir.Var)}:
                self.values[name] = self.kept(waiting)
                del self.waiting[name]
        if not (isinstance(value, ir.Var) and value.name == variable):
            self.block.append(ir.Assign(variable, value, self.place))

    def kept(self, value: ir.Expr) -> ir.Var:
        """A number in a variable of its own."""
        name = self.unit.temporary(self.type_of(value))
        self.block.append(ir.Assign(name, value, self.place))
        return ir.Var(name, self.place)

    def spill(self, value: ir.Expr) -> ir.Expr:
        """A number in a variable, unless it is in one."""
        return value if isinstance(value, LEAVES | ir.Var) else self.kept(value)

    def fixed(self, value: Value) -> Value:
        """A value of which no number can change any more."""
        if isinstance(value, tuple):
            return tuple(map(self.fixed, value))
        if isinstance(value, Maybe):
            return Maybe(self.fixed(value.is_there), self.fixed(value.value))
        if isinstance(value, ir.Expr) and not isinstance(value, LEAVES):
            is_own = isinstance(value, ir.Var) and value.name not in self.shared
            return value if is_own else self.kept(value)
        return value

    @property
    def shared(self) -> set[str]:
        """The variables of names that are assigned more than once."""
        return {
            variable
            for (name, _), rows in self._variables.items()
            for made, _ in rows
            if self.live.sets[name] > 1
            for variable in flat(made)
        }

    def aside(self, make: Callable[[], None]) -> ir.Block:
        """The statements that something puts at the end, apart."""
        before, self.block = self.block, []
        make()
        found, self.block = self.block, before
        return tuple(found)


def is_tuple(type_: Any) -> bool:
    """Return whether a type is that of a tuple."""
    return isinstance(type_, types.BaseTuple)


def form_of(type_: Any) -> Any:
    """The type of a number, or those of a tuple's numbers; None for anything else."""
    if is_tuple(type_):
        parts = tuple(map(form_of, type_))
        return None if None in parts else parts
    return dtype_of(type_).name if type_ is not None and is_number(type_) else None


def flat(made: Any) -> Iterator[Any]:
    """The parts of a tuple and of the tuples inside; a thing of another kind is its own part."""
    if isinstance(made, tuple):
        for one in made:
            yield from flat(one)
    else:
        yield made


def base_of(var: Any) -> str:
    """The name of which a variable is a version."""
    return str(var.unversioned_name)
