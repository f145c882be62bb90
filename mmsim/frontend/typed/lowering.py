"""From Numba's typed representation of a function to ours.

Every operation has Numba's signature: operands are converted to its types first. Temporary
variables of the bytecode become parts of expressions; a name of the text is a variable for each
type that it has. Jumps become loops and branches by `structured`.
"""

from __future__ import annotations

import operator
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba.core import ir as numba_ir
from numba.core import types
from numba.core.ir_utils import find_topo_order

from mmsim.errors import LanguageError, Place
from mmsim.frontend.numba import functions
from mmsim.frontend.numba.words import GRID_SYNC, WORDS
from mmsim.frontend.python import aliases
from mmsim.frontend.python.dialect import Atomic, Effect, Intrinsic, Maker
from mmsim.frontend.python.functions import FUNCTIONS_OF_PYTHON
from mmsim.frontend.python.scope import Alias, Span, Unit, View
from mmsim.frontend.typed.context import DeviceFunction, Inferred, Namespace, Word, inferred
from mmsim.frontend.typed.places import Places
from mmsim.frontend.typed.signatures import GRID
from mmsim.ir import nodes as ir
from mmsim.ir.operators import BINARY, COMPARE, UNARY
from mmsim.ir.dtypes import BOOL, FLOAT, INT, Type, type_of_number
from mmsim.ir.structured import BasicBlock, structured

OPERATORS = {
    one: (node, op)
    for table, node in ((UNARY, ir.Unary), (BINARY, ir.Binary), (COMPARE, ir.Compare))
    for op, row in table.items()
    for one in row.means
    if callable(one) and not isinstance(one, type)
}
SILENT = (
    "cg.this_grid",
    "syncwarp",
    "threadfence",
    "threadfence_block",
    "threadfence_system",
    "nanosleep",
)
LEAVES = ir.Const | ir.Var | ir.Number | ir.ThreadField | ir.Extent


@dataclass(frozen=True)
class Object:
    """An object from outside of the kernel, or a name of numba.cuda."""

    thing: Any


@dataclass(frozen=True)
class Slice:
    """A slice of an index; None for what is left out."""

    start: ir.Expr | None
    stop: ir.Expr | None
    step: int


@dataclass(frozen=True)
class Counted:
    """What a loop goes over: numbers of a range, and the item for each of them."""

    start: ir.Expr
    stop: ir.Expr
    step: ir.Expr
    item: Callable[[ir.Expr], Any]


Value = Any
"""An expression, an `Alias`, a tuple of values, an `Object`, a `Slice` or a `Counted`."""


def dtype_of(type_: types.Type) -> Type:
    """NumPy's type of Numba's type of a number."""
    own = types.unliteral(type_)
    if isinstance(own, types.Boolean):
        return BOOL
    if isinstance(own, types.Number):
        return np.dtype(own.name)
    raise LanguageError(f"a value of type {type_} is no number", NOWHERE)


NOWHERE = Place("", "", 0)


def is_number(type_: types.Type) -> bool:
    """Return whether a type is of numbers."""
    return isinstance(types.unliteral(type_), types.Number | types.Boolean)


def converted(value: ir.Expr, own: Type, wanted: Type, place: Place) -> ir.Expr:
    """A number of one type as another one."""
    if own == wanted:
        return value
    if isinstance(value, ir.Const):
        number = wanted.type(value.value).item()  # type: ignore[arg-type]
        if type_of_number(number) == wanted and wanted.kind not in "iu":
            return ir.Const(number)
        if wanted == INT and own == BOOL:
            return ir.Const(int(number))
    return ir.Unary(wanted.name, value, place)


class FunctionLowering:
    """Lowers one function at one of its calls; the kernel itself at its launch."""

    def __init__(self, unit: Unit, found: Inferred, given: Sequence[Value], source: ir.Source):
        self.unit = unit
        self.found = found
        self.given = given
        self.places = Places(found.function, source)
        self.name = found.function.__name__
        self.values: dict[str, Value] = {}
        self.variables: dict[tuple[str, str], str] = {}
        self.block: list[ir.Stmt] = []
        self.pending: dict[int, list[ir.Stmt]] = defaultdict(list)
        self.returned: list[Value] = []
        self.result: ir.Var | None = None
        self.place = NOWHERE
        self.skipped: set[int] = set()
        self.bodies: dict[int, Callable[[], None]] = {}
        self._count_uses()

    # Uses

    def _count_uses(self) -> None:
        """How often each name is read, and whether in another block than it is set."""
        self.uses: Counter[str] = Counter()
        self.far: set[str] = set()
        self.sets: Counter[str] = Counter()
        home: dict[str, int] = {}
        for label, block in self.found.ir.blocks.items():
            for one in block.body:
                if isinstance(one, numba_ir.Assign):
                    home[one.target.name] = label
                    self.sets[self._base(one.target)] += 1
        for label, block in self.found.ir.blocks.items():
            for one in block.body:
                targets = {one.target.name} if isinstance(one, numba_ir.Assign) else set()
                for var in one.list_vars():
                    if var.name in targets:
                        targets.discard(var.name)
                        continue
                    self.uses[var.name] += 1
                    if home.get(var.name) != label:
                        self.far.add(var.name)

    @staticmethod
    def _base(var: Any) -> str:
        return var.unversioned_name if var.is_temp is False or "." in var.name else var.name

    # Blocks

    def body(self, prefix: str, ends: Callable[[Place], ir.Stmt] | None) -> ir.Block:
        """The statements of the function."""
        blocks = self.found.ir.blocks
        first = min(blocks)
        graph: dict[int, Any] = {}
        for label in find_topo_order(blocks):
            self.block = []
            if label in self.bodies:
                self.bodies[label]()
            graph[label] = self._basic_block(label, blocks[label])
        for label, more in self.pending.items():
            old = graph[label]
            graph[label] = BasicBlock(
                (*old.body, *more), old.targets, old.place, old.test, old.turn
            )
        return structured(graph, first, prefix, ends)

    def _basic_block(self, label: int, block: Any) -> BasicBlock:
        *body, last = block.body
        turn = None
        for one in body:
            if id(one) in self.skipped:
                continue
            self.place = self.places.of(one)
            if isinstance(one, numba_ir.Assign) and isinstance(one.value, numba_ir.Expr):
                if one.value.op == "iternext":
                    turn = self._turn(label, block, one)
                    continue
                if turn is not None and one.value.op in ("pair_first", "pair_second"):
                    continue
            self._statement(one, label)
        self.place = place = self.places.of(last)
        match last:
            case numba_ir.Jump():
                return BasicBlock(tuple(self.block), (last.target,), place)
            case numba_ir.Branch():
                targets = (last.truebr, last.falsebr)
                if turn is not None:
                    return BasicBlock(tuple(self.block), targets, place, None, turn)
                test = self.truth(last.cond)
                return BasicBlock(tuple(self.block), targets, place, test)
            case numba_ir.Return():
                self._return(last)
                return BasicBlock(tuple(self.block), (), place)
            case numba_ir.StaticRaise():
                name = last.exc_class.__name__ if last.exc_class else "Exception"
                text = ", ".join(map(str, last.exc_args or ()))
                self.block.append(ir.Return(place, f"{name}: {text}" if text else name))
                return BasicBlock(tuple(self.block), (), place)
        raise self.refused(f"the instruction {type(last).__name__}")

    def refused(self, what: str, advice: str = "") -> LanguageError:
        """The error at the instruction at work."""
        return LanguageError(what, self.place, advice)

    def _return(self, last: Any) -> None:
        type_ = self.found.types[last.value.name]
        if isinstance(type_, types.NoneType):
            return
        value = self.values[last.value.name]
        self.returned.append(self._result(value, type_, self.found.result, "$result"))

    def _result(self, value: Value, own: types.Type, wanted: types.Type, name: str) -> Value:
        """A value that is returned, in variables that all returns share."""
        if isinstance(value, tuple):
            parts = zip(value, own.types, wanted.types, strict=True)
            return tuple(self._result(*part, f"{name}{n}") for n, part in enumerate(parts))
        if not isinstance(value, ir.Expr):
            return value
        held = dtype_of(wanted)
        variable = self.variable(name, held)
        number = converted(value, dtype_of(own), held, self.place)
        self.block.append(ir.Assign(variable, number, self.place))
        return ir.Var(variable, self.place)

    # Statements

    def _statement(self, one: Any, label: int) -> None:
        match one:
            case numba_ir.Assign():
                self._assign(one, label)
            case numba_ir.SetItem():
                self._store(one, self.values[one.index.name])
            case numba_ir.StaticSetItem():
                index = one.index_var
                self._store(one, self.values[index.name] if index else self._static(one.index))
            case numba_ir.Del() | numba_ir.PopBlock():
                pass
            case numba_ir.Print():
                pass
            case _:
                raise self.refused(f"the instruction {type(one).__name__}")

    def _assign(self, one: Any, label: int) -> None:
        name, type_ = one.target.name, self.found.types[one.target.name]
        if isinstance(one.value, numba_ir.Expr) and one.value.op == "phi":
            self._phi(one)
            return
        value = self._value(one.value, one)
        if not isinstance(value, ir.Expr):
            self.values[name] = self._kept(one.target, value)
            return
        dtype = dtype_of(type_)
        own = self._type_of(one.value, type_)
        value = converted(value, own, dtype, self.place)
        base = self._base(one.target)
        is_fixed = isinstance(one.value, numba_ir.Arg) or isinstance(value, ir.Const)
        temporary = (name.startswith("$") or is_fixed) and self.sets[base] == 1
        if temporary and (
            isinstance(value, ir.Const | ir.Number | ir.ThreadField | ir.Extent | ir.Var)
            or is_fixed
            or (self.uses[name] <= 1 and name not in self.far and not _reads_registers(value))
        ):
            self.values[name] = value
            return
        variable = self.variable(base, dtype)
        if not (isinstance(value, ir.Var) and value.name == variable):
            self.block.append(ir.Assign(variable, value, self.place))
        self.values[name] = ir.Var(variable, self.place)

    def _type_of(self, source: Any, type_: types.Type) -> Type:
        """The type of a value as it was lowered."""
        if isinstance(source, numba_ir.Var):
            return dtype_of(self.found.types[source.name])
        if isinstance(source, numba_ir.Expr) and source.op == "cast":
            return dtype_of(self.found.types[source.value.name])
        return dtype_of(type_)

    def _kept(self, target: Any, value: Value) -> Value:
        """A value that is no number, for a name: its numbers can't change any more."""
        if isinstance(value, tuple) and any(isinstance(part, ir.Expr) for part in value):
            return tuple(self.spill(part) if isinstance(part, ir.Expr) else part for part in value)
        return value

    def variable(self, base: str, dtype: Type) -> str:
        """The variable for a name of the text and a type."""
        key = base, dtype.name
        if key not in self.variables:
            if base.startswith("$"):
                self.variables[key] = self.unit.unique("t")
            else:
                self.variables[key] = self.unit.variable(base, self.name).name
        return self.variables[key]

    def spill(self, value: ir.Expr) -> ir.Expr:
        """A number in a variable of its own, unless nothing can change it."""
        if isinstance(value, ir.Const | ir.Number | ir.ThreadField | ir.Extent | ir.Var):
            return value
        name = self.unit.unique("t")
        self.block.append(ir.Assign(name, value, self.place))
        return ir.Var(name, self.place)

    def _phi(self, one: Any) -> None:
        """Versions of a name with one type are one variable; those of other types are copied."""
        name, type_ = one.target.name, self.found.types[one.target.name]
        pairs = [
            (var, label)
            for var, label in zip(one.value.incoming_values, one.value.incoming_blocks, strict=True)
            if var is not numba_ir.UNDEFINED
        ]
        if not is_number(type_):
            known = [self.values[var.name] for var, _ in pairs if var.name in self.values]
            if any(value != known[0] for value in known):
                raise self.refused(f"{one.target.unversioned_name!r} stands for several things")
            self.values[name] = known[0]
            return
        dtype = dtype_of(type_)
        variable = self.variable(self._base(one.target), dtype)
        self.values[name] = ir.Var(variable, self.place)
        for var, label in pairs:
            own = dtype_of(self.found.types[var.name])
            source = self.variable(self._base(var), own)
            if source != variable:
                value = converted(ir.Var(source, self.place), own, dtype, self.place)
                self.pending[label].append(ir.Assign(variable, value, self.place))

    # Values

    def of(self, var: Any) -> Value:
        """The value of a variable of Numba's."""
        return self.values[var.name]

    def number(self, var: Any, wanted: types.Type | Type) -> ir.Expr:
        """A variable's number as another type."""
        value, own = self.values[var.name], dtype_of(self.found.types[var.name])
        held = wanted if isinstance(wanted, np.dtype) else dtype_of(wanted)
        return converted(value, own, held, self.place)

    def truth(self, var: Any) -> ir.Expr:
        """The truth value of a variable."""
        return self.number(var, BOOL)

    def _value(self, source: Any, one: Any) -> Value:
        match source:
            case numba_ir.Var():
                return self.of(source)
            case numba_ir.Arg():
                return self.given[source.index]
            case numba_ir.Const() | numba_ir.Global() | numba_ir.FreeVar():
                return self._outside(source.value, self.found.types[one.target.name])
            case numba_ir.Expr():
                return getattr(self, f"_{source.op}")(source, one)
        raise self.refused(f"the value {source}")

    def _outside(self, thing: Any, type_: types.Type) -> Value:
        if is_number(type_) and not isinstance(thing, type):
            if isinstance(type_, types.Integer | types.Boolean | types.Literal) or isinstance(
                thing, int | float | complex | np.number | np.bool_
            ):
                number = thing.item() if isinstance(thing, np.generic) else thing
                if isinstance(number, int | float | complex):
                    own = type_of_number(number)
                    return converted(ir.Const(number), own, dtype_of(type_), self.place)
            return self._word_value(type_, thing)
        if isinstance(thing, tuple) and isinstance(type_, types.BaseTuple):
            return tuple(
                self._outside(one, own) for one, own in zip(thing, type_.types, strict=True)
            )
        return Object(thing)

    def _word_value(self, type_: types.Type, thing: Any) -> Value:
        raise self.refused(f"{thing} is no number")

    def _binop(self, source: Any, one: Any) -> ir.Expr:
        return self._operation(source.fn, source, (source.lhs, source.rhs))

    def _inplace_binop(self, source: Any, one: Any) -> ir.Expr:
        return self._operation(source.immutable_fn, source, (source.lhs, source.rhs))

    def _unary(self, source: Any, one: Any) -> ir.Expr:
        return self._operation(source.fn, source, (source.value,))

    def _operation(self, fn: Any, source: Any, operands: tuple[Any, ...]) -> Value:
        sig = self.found.calls[source]
        if fn in (operator.is_, operator.is_not):
            same = all(isinstance(self.found.types[v.name], types.NoneType) for v in operands)
            return ir.Const(same == (fn is operator.is_))
        if fn in (operator.eq, operator.ne) and not is_number(sig.args[0]):
            raise self.refused("a comparison of what is no number")
        node, op = OPERATORS[fn]
        values = [self.number(var, type_) for var, type_ in zip(operands, sig.args, strict=True)]
        result = node(op, *values, self.place)
        return result

    def _cast(self, source: Any, one: Any) -> Value:
        return self.of(source.value) if source.value.name in self.values else Object(None)

    def _build_tuple(self, source: Any, one: Any) -> Value:
        return tuple(map(self.of, source.items))

    def _exhaust_iter(self, source: Any, one: Any) -> Value:
        value = self.of(source.value)
        if isinstance(value, Alias):
            return tuple(self._element(value, (ir.Const(k),)) for k in range(source.count))
        return value

    def _getattr(self, source: Any, one: Any) -> Value:
        owner, name = self.found.types[source.value.name], source.attr
        value = self.of(source.value)
        if isinstance(owner, types.Module):
            return self._outside(getattr(owner.pymod, name), self.found.types[one.target.name])
        if isinstance(owner, Namespace):
            member = f"{owner.member}.{name}"
            field = WORDS.get(member)
            if isinstance(field, ir.ThreadField):
                return ir.Unary("int32", field, self.place)
            return Object(member)
        if isinstance(value, Alias):
            return self._of_array(value, owner, name)
        if owner is GRID:
            return Object("the grid's sync")
        if is_number(owner):
            if name in ("real", "imag"):
                return ir.Call(name, (value,), self.place)
            return Object((value, owner, name))
        if isinstance(value, Object):
            return self._outside(getattr(value.thing, name), self.found.types[one.target.name])
        raise self.refused(f"{owner} has no {name}")

    def _of_array(self, array: Alias, type_: Any, name: str) -> Value:
        if name == "shape":
            return tuple(
                aliases.extent_of(array, axis, type_.ndim, self.place) for axis in range(type_.ndim)
            )
        if name == "size":
            return aliases.size_of(array, self.place)
        if name == "ndim":
            return ir.Const(type_.ndim)
        if name == "dtype":
            return Object(type_.dtype)
        raise self.refused(f"an array has no {name!r} here")

    # Elements

    def _static(self, index: Any) -> Value:
        if isinstance(index, slice):
            ends = (None if end is None else ir.Const(end) for end in (index.start, index.stop))
            return Slice(*ends, 1 if index.step is None else index.step)
        if isinstance(index, tuple):
            return tuple(map(self._static, index))
        if index is Ellipsis:
            return Object(Ellipsis)
        return ir.Const(index)

    def _static_getitem(self, source: Any, one: Any) -> Value:
        value = self.of(source.value)
        if isinstance(value, tuple):
            return value[source.index]
        index = source.index_var
        return self._item(
            value, self.of(index) if index is not None else self._static(source.index)
        )

    def _getitem(self, source: Any, one: Any) -> Value:
        value, index = self.of(source.value), self.of(source.index)
        if isinstance(value, tuple) and isinstance(index, ir.Const):
            return value[index.value]  # type: ignore[index]
        return self._item(value, index)

    def _item(self, array: Value, index: Value) -> Value:
        if not isinstance(array, Alias):
            raise self.refused("an element of what is no array")
        given = index if isinstance(index, tuple) else (index,)
        return self._part(array, given)

    def _part(self, array: Alias, index: tuple[Value, ...]) -> Value:
        rank = self.rank(array)
        found: list[ir.Expr | Span] = []
        for one in index:
            if isinstance(one, Slice):
                found.append(self._span(array, one, len(found)))
            elif one == Object(Ellipsis):
                more = rank - len(index) + 1
                whole = Slice(None, None, 1)
                found += [self._span(array, whole, len(found) + k) for k in range(more)]
            else:
                found.append(one)
        if len(found) == rank and not any(isinstance(one, Span) for one in found):
            return self._element(array, tuple(found))  # type: ignore[arg-type]
        fixed = [one if isinstance(one, Span) else self.spill(one) for one in found]
        return Alias(tuple(part.restricted(fixed) for part in array.parts), array.which)

    def rank(self, array: Alias) -> int:
        """The number of axes of a part of an array."""
        part = array.parts[0]
        return self.unit.ranks[part.array] - len(part.index) + len(part.spans)  # type: ignore[attr-defined]

    def _span(self, array: Alias, given: Slice, axis: int) -> Span:
        extent = aliases.extent_of(array, axis, None, self.place)
        start = self._bound(given.start, ir.Const(0), extent)
        stop = self._bound(given.stop, extent, extent)
        count = _op("max", _op("-", stop, start, self.place), ir.Const(0), self.place)
        if given.start is None and given.stop is None:
            count = extent
        if given.step != 1:
            more = _op("+", count, ir.Const(given.step - 1), self.place)
            count = _op("//", more, ir.Const(given.step), self.place)
        return Span(self.spill(start), ir.Const(given.step), self.spill(count), self.place)

    def _bound(self, value: ir.Expr | None, default: ir.Expr, extent: ir.Expr) -> ir.Expr:
        if value is None:
            return default
        if isinstance(value, ir.Const):
            if value.value.real < 0:
                return _op("max", _op("+", extent, value, self.place), ir.Const(0), self.place)
            return _op("min", value, extent, self.place) if value.value else value
        own = self.spill(value)
        below = ir.Compare("<", own, ir.Const(0), self.place)
        last = _op("max", _op("+", own, extent, self.place), ir.Const(0), self.place)
        return _op("min", ir.Choose(below, last, own), extent, self.place)

    def _element(self, array: Alias, index: tuple[ir.Expr, ...]) -> ir.Expr:
        (first, *others) = array.parts
        if not others and self.is_registers(first.array):
            return ir.RegisterRead(first.array, first.element(index), self.place)
        target = self.unit.unique("t")
        self.emit_for(
            array,
            index,
            lambda part, given: ir.Load(target, part.array, part.element(given), self.place),
        )
        return ir.Var(target, self.place)

    def emit_for(
        self, array: Alias, operands: Sequence[ir.Expr], make: Callable[[View, Any], ir.Stmt]
    ) -> None:
        """Put an access of an array at the end: one for each view that it may be, behind tests."""
        kept = list(operands)
        if len(array.parts) > 1:
            kept = [self.spill(one) for one in operands]
        self.block.append(aliases.chosen(array, lambda view: make(view, kept), self.place))

    def is_registers(self, array: str) -> bool:
        """Return whether an array is a thread's own."""
        return any(one.name == array and one.kind == "registers" for one in self.unit.locals)

    def _store(self, one: Any, index: Value) -> None:
        array, sig = self.of(one.target), self.found.calls[one]
        given = index if isinstance(index, tuple) else (index,)
        if not is_number(sig.args[-1]) or len(given) < self.rank(array):
            raise self.refused("a store into a part of an array")
        value = self.number(one.value, sig.args[-1])

        def make(part: View, operands: list[ir.Expr]) -> ir.Stmt:
            *own, last = operands
            node = ir.RegisterWrite if self.is_registers(part.array) else ir.Store
            return node(part.array, part.element(own), last, self.place)

        self.emit_for(array, (*given, value), make)

    # Loops

    def _getiter(self, source: Any, one: Any) -> Value:
        value = self.of(source.value)
        if isinstance(value, Alias):
            stop = aliases.extent_of(value, 0, self.rank(value), self.place)
            return Counted(
                ir.Const(0), stop, ir.Const(1), lambda index: self._part(value, (index,))
            )
        return value

    def _turn(self, label: int, block: Any, one: Any) -> tuple[str, ir.Expr, ir.Expr, ir.Expr]:
        """The head of a loop over a range or an array; its body begins with the item."""
        counted = self.of(one.value.value)
        if not isinstance(counted, Counted):
            raise self.refused("a loop over what can't be counted")
        (first,) = (
            item.target.name
            for item in block.body
            if isinstance(item, numba_ir.Assign)
            and isinstance(item.value, numba_ir.Expr)
            and item.value.op == "pair_first"
        )
        alias = next(
            (
                item
                for item in block.body
                if isinstance(item, numba_ir.Assign)
                and isinstance(item.value, numba_ir.Var)
                and item.value.name == first
            ),
            None,
        )
        body = block.body[-1].truebr
        name = first
        if alias is not None:
            self.skipped.add(id(alias))
            name = alias.target.name
        target = self.unit.unique("t")
        user = next(
            (
                item
                for item in self.found.ir.blocks[body].body
                if isinstance(item, numba_ir.Assign)
                and isinstance(item.value, numba_ir.Var)
                and item.value.name == name
            ),
            None,
        )
        plain = counted.item is _itself
        if user is not None and plain and self.uses[name] == 1:
            own = dtype_of(self.found.types[user.target.name])
            if own == INT and not user.target.name.startswith("$"):
                target = self.variable(self._base(user.target), own)
        index = ir.Var(target, self.place)

        def begin() -> None:
            value = counted.item(index)
            self.values[first] = self.values[name] = value

        self.bodies[body] = begin
        self.values[first] = self.values[name] = index
        return target, counted.start, counted.stop, counted.step

    # Calls

    def _call(self, source: Any, one: Any) -> Value:
        type_ = self.found.types[source.func.name]
        sig = self.found.calls.get(source)
        called = self.of(source.func)
        if isinstance(type_, Word):
            return self._word(type_.member, source, sig, one)
        if isinstance(type_, DeviceFunction):
            return self._inlined(type_, source, sig)
        if isinstance(type_, types.NumberClass | types.DType):
            return self.number(source.args[0], sig.return_type)
        thing = called.thing if isinstance(called, Object) else None
        own = getattr(self, f"_call_{getattr(thing, '__name__', '')}", None)
        if own is not None:
            return own(source, sig)
        if thing in (int, float, bool, complex) and len(source.args) == 1:
            return self.number(source.args[0], sig.return_type)
        node = OPERATORS.get(thing) if callable(thing) else None
        if node is not None:
            values = [self.number(v, t) for v, t in zip(source.args, sig.args, strict=True)]
            return node[0](node[1], *values, self.place)
        word = FUNCTIONS_OF_PYTHON.get(thing) or functions.OF_NUMBERS.get(thing)
        if word is not None:
            values = [self.number(v, t) for v, t in zip(source.args, sig.args, strict=True)]
            return word.value(tuple(values), self.place)
        written = functions.written_out(thing, len(source.args))
        if written is not None:
            device = DeviceFunction(written)
            own_types = tuple(self.found.types[v.name] for v in source.args)
            return self._inlined_with(inferred(device.function, own_types), source.args)
        raise self.refused(f"{thing} is not known")

    def _call_range(self, source: Any, sig: Any) -> Counted:
        given = [self.number(var, INT) for var in source.args]
        start, stop, step = {
            1: lambda: (ir.Const(0), given[0], ir.Const(1)),
            2: lambda: (*given, ir.Const(1)),
            3: lambda: tuple(given),
        }[len(given)]()
        return Counted(start, stop, step, _itself)

    _call_prange = _call_range

    def _call_len(self, source: Any, sig: Any) -> Value:
        value = self.of(source.args[0])
        if isinstance(value, Alias):
            return aliases.extent_of(value, 0, self.rank(value), self.place)
        return ir.Const(len(value))

    def _extreme(self, op: str, source: Any, sig: Any) -> ir.Expr:
        wanted = dtype_of(sig.return_type)
        first, *others = (self.number(var, wanted) for var in source.args)
        for other in others:
            first = ir.Binary(op, first, other, self.place)
        return first

    def _call_min(self, source: Any, sig: Any) -> ir.Expr:
        return self._extreme("min", source, sig)

    def _call_max(self, source: Any, sig: Any) -> ir.Expr:
        return self._extreme("max", source, sig)

    def _call_slice(self, source: Any, sig: Any) -> Slice:
        given = [
            None if isinstance(self.found.types[var.name], types.NoneType) else self.of(var)
            for var in source.args
        ]
        if len(given) == 1:
            given = [None, *given]
        start, stop, *step = given
        by = step[0].value if step and step[0] is not None else 1
        return Slice(start, stop, by)

    def _call_enumerate(self, source: Any, sig: Any) -> Counted:
        inner = self.of(source.args[0])
        if isinstance(inner, Alias):
            stop = aliases.extent_of(inner, 0, self.rank(inner), self.place)
            first = self.number(source.args[1], INT) if len(source.args) > 1 else ir.Const(0)
            return Counted(
                ir.Const(0), stop, ir.Const(1),
                lambda index: (_op("+", index, first, self.place), self._part(inner, (index,))),
            )  # fmt: skip
        raise self.refused("enumerate of what is no array")

    def _word(self, member: str, source: Any, sig: Any, one: Any) -> Value:
        if member in SILENT:
            return Object(None)
        if member == "grid.sync":
            self.block.append(ir.Barrier(self.place, "grid"))
            return Object(None)
        if member == "const.array_like":
            return self.of(source.args[0])
        word = WORDS[member]
        names = dict(source.kws)
        variables = [*source.args, *names.values()]
        match word:
            case Maker():
                return self._made(word, source, sig)
            case Intrinsic():
                values = [self.number(v, t) for v, t in zip(variables, sig.args, strict=True)]
                return self._as(word.value(tuple(values), self.place), sig.return_type)
            case Effect():
                values = [self.number(v, t) for v, t in zip(variables, sig.args, strict=True)]
                used = self.uses[one.target.name] > 0 and word.value is not None
                target = self.unit.unique("t") if used else None
                self.block.append(word.emit(target, tuple(values), self.place))
                if target is None:
                    return Object(None)
                return word.value(ir.Var(target, self.place), self.place)
            case Atomic():
                return self._atomic(word, variables, one)
        raise self.refused(f"cuda.{member} is not known here")

    def _as(self, value: Value, type_: types.Type) -> Value:
        return value

    def _atomic(self, word: Atomic, variables: list[Any], one: Any) -> Value:
        given = dict(zip(word.parameters, variables, strict=True))
        array = self.of(given["array"])
        index = self.of(given["index"]) if "index" in given else ir.Const(0)
        numbers = list(index) if isinstance(index, tuple) else [index]
        held = self.found.types[given["array"].name].dtype
        old = self.number(given["old"], held) if "old" in given else None
        value = self.number(given["value"], held)
        target = self.unit.unique("t") if self.uses[one.target.name] else None

        def make(part: View, operands: list[ir.Expr]) -> ir.Stmt:
            return ir.Atomic(
                target, word.op, part.array, part.element(operands), old, value, self.place
            )

        self.emit_for(array, numbers, make)
        return Object(None) if target is None else ir.Var(target, self.place)

    def _made(self, word: Maker, source: Any, sig: Any) -> Alias:
        given = dict(zip(("shape", "dtype", "alignment"), source.args, strict=False))
        given |= dict(source.kws)
        shape = self.of(given["shape"])
        extents = shape if isinstance(shape, tuple) else (shape,)
        dtype = sig.return_type.dtype
        name = self.unit.unique("s" if word.kind == "shared" else "r")
        made = ir.LocalArray(name, word.kind, tuple(extents), dtype_of(dtype).name, self.place)
        self.unit.locals.append(made)
        self.unit.ranks[name] = len(extents)  # type: ignore[attr-defined]
        return Alias((View(name),))

    def _inlined(self, type_: DeviceFunction, source: Any, sig: Any) -> Value:
        found = inferred(type_.function, sig.args)
        return self._inlined_with(found, source.args)

    def _inlined_with(self, found: Inferred, args: Sequence[Any]) -> Value:
        given: list[Value] = []
        for var, type_ in zip(args, found.args, strict=False):
            value = self.of(var)
            if isinstance(value, ir.Expr):
                value = self.spill(self.number(var, type_))
            given.append(value)
        for type_ in found.args[len(args) :]:
            default = type_.value
            given.append(self._outside(default, types.unliteral(self.typeof(default))))
        inner = FunctionLowering(self.unit, found, given, self.unit.source_of(found.function))  # type: ignore[attr-defined]
        prefix = self.unit.unique(f"{found.function.__name__}_call") + "_"
        self.block += inner.body(prefix, None)
        return inner.returned[0] if inner.returned else Object(None)

    @staticmethod
    def typeof(thing: Any) -> types.Type:
        """Numba's type of an object."""
        from mmsim.frontend.typed.context import context

        return context().resolve_value_type(thing)


def _itself(index: ir.Expr) -> ir.Expr:
    return index


def _op(op: str, left: ir.Expr, right: ir.Expr, place: Place) -> ir.Expr:
    return ir.Binary(op, left, right, place)


def _reads_registers(value: ir.Expr) -> bool:
    from mmsim.ir.walk import reads_registers

    return reads_registers(value)


__all__ = ["FLOAT", "GRID_SYNC"]
