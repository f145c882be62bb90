"""The state of one function's lowering: its values, its variables, the statements so far."""

from __future__ import annotations

import enum
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numba.core import ir as numba_ir
from numba.core import types

from mmsim.errors import LanguageError, shown
from mmsim.frontend.numba.context import Inferred
from mmsim.frontend.numba.places import Places
from mmsim.frontend.numba.ssa import used
from mmsim.frontend.numba.values import (
    LEAVES,
    NOWHERE,
    KernelUnit,
    Maybe,
    Text,
    Value,
    dtype_of,
    is_number,
)
from mmsim.frontend.python.scope import Alias
from mmsim.frontend.python.tables import leaves
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import BOOL, COMPLEX, FLOAT, INT, Type, type_of_number
from mmsim.ir.walk import parts, statements, targets


def phi_of(one: Any) -> Any:
    """The choice by path that an instruction makes; None for any other instruction."""
    is_phi = isinstance(one, numba_ir.Assign) and isinstance(one.value, numba_ir.Expr)
    return one.value if is_phi and one.value.op == "phi" else None


def incoming(phi: Any) -> Iterator[tuple[Any, int]]:
    """The versions that a choice takes, each with the block from which it comes; none of None."""
    if phi is None:
        return
    for var, label in zip(phi.incoming_values, phi.incoming_blocks, strict=True):
        if var is not numba_ir.UNDEFINED:
            yield var, label


def base_of(var: Any) -> str:
    """The name of which a variable is a version."""
    name = var.name.rpartition(".")[0]
    return str(name if var.name in var.scope.var_redefinitions.get(name, ()) else var.name)


class Liveness:
    """The facts of one function: how many instructions set and read each name, and the first one.

    A choice counts as none of those that read first. `clashes` are the pairs of versions of one
    `group` of which one is set while the other is needed. That happens within a block alone: behind
    it, a name stands for its latest version. `across` are the names that a later block reads.
    """

    def __init__(self, blocks: dict[int, Any], group: Callable[[Any], Any]) -> None:
        self.uses: Counter[str] = Counter()
        self.sets: Counter[str] = Counter()
        self.first: dict[str, Any] = {}
        self.clashes: set[frozenset[str]] = set()
        self.across: set[str] = set()
        ends: defaultdict[int, set[str]] = defaultdict(set)
        groups: defaultdict[Any, set[str]] = defaultdict(set)
        for one in (inside for block in blocks.values() for inside in block.body):
            names = used(one)
            if isinstance(one, numba_ir.Assign):
                self.sets[base_of(one.target)] += 1
                groups[group(one.target)].add(one.target.name)
            self.uses.update(names)
            if phi_of(one) is None:
                self.first.update((name, one) for name in names if name not in self.first)
            for var, label in incoming(phi_of(one)):
                ends[label].add(var.name)
        for label, block in blocks.items():
            live = ends[label]
            for one in reversed(block.body):
                if isinstance(one, numba_ir.Assign):
                    key, name = group(one.target), one.target.name
                    live.discard(name)
                    others = groups[key] & live if key is not None else ()
                    self.clashes |= {frozenset((name, other)) for other in others}
                if phi_of(one) is None:
                    live.update(used(one))
            self.across |= live


class Base:
    """Lowers one function at one of its calls; the kernel itself at its launch.

    `values` are those of Numba's names. `shared` are variables of names that are assigned more than
    once. `waiting` are numbers of the block at work that are not computed yet, by Numba's names.
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
        if found.live is None:
            found.live = Liveness(found.ir.blocks, self.group)
        self.live: Liveness = found.live
        self._variables: dict[Any, list[tuple[Any, set[str]]]] = {}
        self.shared: set[Any] = set()

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

    def there(self, var: Any) -> Value:
        """The value of a variable whose parts are needed."""
        return self.present(self.of(var), "a value")

    def present(self, value: Value, noun: str) -> Value:
        """A value that must not be None, which is an exception."""
        if not isinstance(value, Maybe):
            return value
        is_absent = ir.Unary("not", value.is_there, self.place)
        self.end_if(is_absent, f"TypeError: {noun} is needed, not None")
        return value.value

    def type_of(self, value: ir.Expr) -> Type:
        """The type of a number as the representation computes it."""
        return self.unit.held.value_type(value).type

    def as_type(self, value: ir.Expr, wanted: types.Type | Type) -> ir.Expr:
        """A number, converted to a type."""
        held = wanted if isinstance(wanted, np.dtype) else dtype_of(wanted)
        own = self.type_of(value)
        if own == held:
            return value
        if isinstance(value, ir.Const) and held in (INT, FLOAT, COMPLEX, BOOL):
            number = held.type(value.value).item()
            if type_of_number(number) == held and not (held == INT and own.kind in "fc"):
                return ir.Const(number)
        return ir.Unary(held.name, value, self.place)

    def single(self, value: Value) -> ir.Expr:
        """A value that must be a number."""
        value = self.present(value, "a number")
        if isinstance(value, ir.Expr):
            return value
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
        self.block.append(ir.If(test, (self.ends(message),), (), self.place))

    def ends(self, message: str) -> ir.Return:
        """The end of the thread by an exception, as on a GPU."""
        return ir.Return(self.place, message if self.unit.options.debug else None)

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

        Those do that are never needed at the same time. A tuple has a variable for each of its
        numbers.
        """
        name, text = target.name, base_of(target)
        rows = self._variables.setdefault(self.group(target), [])
        for made, members in rows:
            if name in members:
                return made
        for made, members in rows:
            if not any(frozenset((name, one)) in self.live.clashes for one in members):
                members.add(name)
                return made
        made = self.new_variables(text, self.type_at(target))
        rows.append((made, {name}))
        if self.live.sets[text] > 1:
            self.shared.update(leaves(made))
        return made

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

    def end_waiting(self) -> None:
        """Compute what later blocks read of variables that they may have assigned by then."""
        for name, value in self.waiting.items():
            read = {one.name for one in parts(value) if isinstance(one, ir.Var)}
            if name in self.live.across and not self.shared.isdisjoint(read):
                self.values[name] = self.kept(value)

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
        if isinstance(value, Text):
            return Text(self.fixed(value.characters))
        if isinstance(value, Maybe):
            return Maybe(self.fixed(value.is_there), self.fixed(value.value))
        if isinstance(value, ir.Expr) and not isinstance(value, LEAVES):
            is_own = isinstance(value, ir.Var) and value.name not in self.shared
            return value if is_own else self.kept(value)
        return value

    def aside(self, make: Callable[[], None]) -> ir.Block:
        """The statements that something puts at the end, apart."""
        before, self.block = self.block, []
        make()
        found, self.block = self.block, before
        return tuple(found)

    def only_if(self, test: ir.Expr, make: Callable[[], Value]) -> Value:
        """A value whose statements run only if a test is true; else it is 0."""
        found: list[Value] = []
        inside = self.aside(lambda: found.append(make()))
        inner = {name for one in statements(inside) for name in targets(one)}
        for one in leaves((found[0],)):
            if isinstance(one, ir.Var) and one.name in inner:
                self.put(one.name, self.as_type(ir.Const(0), self.type_of(one)))
        self.block.append(ir.If(test, inside, (), self.place))
        return found[0]


def is_tuple(type_: Any) -> bool:
    """Return whether a type is that of a tuple."""
    return isinstance(type_, types.BaseTuple)


def form_of(type_: Any) -> Any:
    """The type of a number, or those of a tuple's numbers; None for anything else."""
    if is_tuple(type_):
        parts = tuple(map(form_of, type_))
        return None if None in parts else parts
    return dtype_of(type_).name if type_ is not None and is_number(type_) else None
