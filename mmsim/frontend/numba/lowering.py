"""From Numba's typed representation of a function to ours.

Every operation has Numba's signature: operands are converted to its types first. Temporary
variables of the bytecode become parts of expressions; a name of the text is a variable for each
type that it has. Jumps become loops and branches by `structured`.

Values that depend on the path to a line are choices of static single assignment. A choice between
numbers is a variable, set at the end of each path. One between arrays sets which of them it is, and
their indices.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from itertools import compress
from typing import Any, cast

import numpy as np
from numba.core import ir as numba_ir
from numba.core import types
from numba.core.ir_utils import find_topo_order
from numba.np.numpy_support import as_dtype

from mmsim.errors import Place
from mmsim.frontend.numba.accesses import STORED_ALONE
from mmsim.frontend.numba.base import base_of, incoming, phi_of
from mmsim.frontend.numba.context import DeviceFunction
from mmsim.frontend.numba.function_calls import CallLowering, warn_once
from mmsim.frontend.numba.names import AXES
from mmsim.frontend.numba.places import named
from mmsim.frontend.numba.refusals import outside_of
from mmsim.frontend.numba.signatures import Namespace, Refusal
from mmsim.frontend.numba.templates import WRITTEN, kind_of_text
from mmsim.frontend.numba.values import (
    LEAVES,
    NONE,
    Counted,
    Maybe,
    Method,
    Object,
    Remade,
    Slice,
    Text,
    Value,
    Walked,
    dtype_of,
    is_number,
)
from mmsim.frontend.numba.words import VALUES
from mmsim.frontend.python.aliases import MOST_FIXED, Merged, chosen_value, key_of
from mmsim.frontend.python.scope import Alias, Restart
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import BOOL, INT
from mmsim.ir.structured import BasicBlock, Label, structured
from mmsim.ir.walk import parts, reads_registers

TEXT = types.CharSeq | types.UnicodeCharSeq
"""The types of elements that a kernel can copy and compare, and do nothing else with."""
ORDERS = {operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">="}
"""The comparisons of tuples and texts by their order."""
ENDS = ("start", "stop", "step")
TEXT_OPERATORS = (operator.eq, operator.ne, operator.contains, *ORDERS)
PRINT = (
    "print prints nothing in a simulated launch; set MMSIM_PYTHON=1 in the environment, so that "
    "launches call the Python function, or step through the launch, as with kernel.player()"
)
"""The warning of a print."""


def read(names: Any, place: Place) -> Value:
    """The value of a variable, or the tuple of those of several."""
    if isinstance(names, tuple):
        return tuple(read(one, place) for one in names)
    return ir.Var(names, place)


Settings = list[tuple[str, ir.Expr]]
"""Variables and their values, all at once."""


class FunctionLowering(CallLowering):
    """The statements of one function."""

    def body(self, prefix: str, ends: Callable[[Place], ir.Stmt] | None) -> ir.Block:
        """The statements of the function."""
        self.prefix, blocks = prefix, self.found.ir.blocks
        self.open: dict[str, Any] = {}
        self.late, self.copied = list[str](), set[str]()
        self.begins: dict[int, tuple[set[str], Counted, ir.Var]] = {}
        graph: dict[Label, BasicBlock] = {}
        order = find_topo_order(blocks)
        try:
            for label in order:
                self.block, self.waiting = [], {}
                graph[label] = self.basic_block(label, blocks[label])
            while any(self.has_value(one.target) for one in [*self.open.values()]):
                pass
            for label in order:
                self.settle_choices(graph, label, blocks[label])
            self.begin_copied(graph, min(blocks))
            for label in order:
                self.set_apart(graph, label, blocks[label])
        except Refusal as error:
            raise self.refused(error.what, error.advice) from None
        return structured(graph, min(blocks), prefix, ends)

    # Blocks

    def basic_block(self, label: int, block: Any) -> BasicBlock:
        """The statements of a block, and its jump."""
        self.label = label
        if label in self.begins:
            names, counted, index = self.begins[label]
            self.place = index.place
            self.values |= dict.fromkeys(names, self.fixed(counted.at(index)))
        *body, last = block.body
        turn = None
        for one in body:
            self.place = self.places.of(one)
            op = getattr(getattr(one, "value", None), "op", "")
            given = self.counted(self.of(one.value.value)) if op == "iternext" else None
            if given is not None and not given.moves:
                turn, names = self.turn(block, given)
                self.begins[block.terminator.truebr] = names, given, ir.Var(turn[0], self.place)
                self.values |= dict.fromkeys(names, NONE)
            elif turn is None or (
                op not in ("pair_first", "pair_second") and one.target.name not in names
            ):
                self.statement(one)
        self.end_waiting()
        self.place = place = self.places.of(last)
        match last:
            case numba_ir.Jump():
                return BasicBlock(tuple(self.block), (last.target,), place)
            case numba_ir.Branch():
                targets = (last.truebr, last.falsebr)
                if turn is not None:
                    return BasicBlock(tuple(self.block), targets, place, None, turn)
                test = self.as_type(self.single(self.of(last.cond)), BOOL)
                return BasicBlock(tuple(self.block), targets, place, test)
            case numba_ir.Return():
                self.give_back(last)
            case numba_ir.StaticRaise() | numba_ir.DynamicRaise():
                said = [
                    self.places.text_of(one) if isinstance(one, numba_ir.Var) else str(one)
                    for one in last.exc_args or ()
                ]
                name = "RuntimeError" if last.exc_class is None else last.exc_class.__name__
                self.block.append(self.ends(f"{name}: {', '.join(said)}" if said else name))
            case _:
                raise self.refused(f"the instruction {type(last).__name__}")
        return BasicBlock(tuple(self.block), (), place)

    def set_apart(self, graph: dict[Label, BasicBlock], label: int, block: Any) -> None:
        """Part the head of a counted loop from the statements of its block, if it begins there.

        Numba joins them where no trip goes on to another one; a jump to the block begins the loop.
        """
        old = graph[label]
        iterators = {one.target.name for one in block.find_insts(numba_ir.Assign)}
        heads = (one.value.name for one in block.find_exprs("iternext"))
        if old.turn is not None and not iterators.isdisjoint(heads):
            graph[f"{label}_turn"] = replace(old, body=())
            graph[label] = BasicBlock(old.body, (f"{label}_turn",), old.place)

    def begin_copied(self, graph: dict[Label, BasicBlock], first: int) -> None:
        """Set what other choices copy of those that have no value yet when their loop begins."""
        types = {one: self.unit.held.variables[one] for one in self.late if one in self.copied}
        begin = (
            ir.Assign(one, self.as_type(ir.Const(0), own), self.place) for one, own in types.items()
        )
        graph[first] = replace(graph[first], body=(*begin, *graph[first].body))

    def give_back(self, last: Any) -> None:
        """The result of the function, as a choice that all returns set."""
        if isinstance(self.type_at(last.value), types.NoneType):
            return
        self.returned_at, value, path = self.place, self.of(last.value), f"{self.prefix}$result"
        if not self.returned:
            self.returned.append(self.chosen(path, "$result", value, self.found.result))
        for variable, part in self.settings(path, self.returned[0], value):
            self.put(variable, part)

    # Statements

    def statement(self, one: Any) -> None:
        """An instruction other than a jump."""
        match one:
            case numba_ir.Assign():
                self.assign(one)
            case numba_ir.SetItem():
                self.stored(one.target, self.of(one.index), one.value)
            case numba_ir.StaticSetItem():
                field = self.field_name(one.target, one.index)
                index = self.of(one.index_var) if field is None else Object(field)
                self.stored(one.target, index, one.value)
            case numba_ir.SetAttr():
                record = self.of(one.target)
                if not isinstance(record, Alias):
                    raise self.refused(*STORED_ALONE)
                self.assign_part(self.fields(record)[one.attr], self.of(one.value))
            case numba_ir.Print():
                warn_once(self.place, PRINT)
            case numba_ir.Del() | numba_ir.PopBlock():
                pass
            case _:
                raise self.refused(f"the instruction {type(one).__name__}")

    def assign(self, one: Any) -> None:
        """A name gets a value: a number is part of an expression, or in a variable."""
        name, type_ = one.target.name, self.type_at(one.target)
        if phi_of(one) is not None:
            self.choice(one)
            return
        before = len(self.block)
        value = self.value(one.value, one)
        if len(self.block) == before and self.is_idle(one, type_):
            warn_once(self.place, "this statement does nothing")
        if isinstance(value, Slice | Counted) and not name.startswith("$"):
            start, stop, step = map(self.fixed, (value.start, value.stop, value.step))
            value = replace(value, start=start, stop=stop, step=step)
        if not isinstance(value, ir.Expr) or not is_number(type_):
            self.values[name] = self.fixed(self.shared_trips(value, name, type_))
            return
        value = self.as_type(value, type_)
        is_fixed = isinstance(one.value, numba_ir.Arg) or isinstance(value, ir.Const)
        if name.startswith("$") or (is_fixed and self.live.sets[base_of(one.target)] == 1):
            if isinstance(value, LEAVES) or is_fixed:
                self.values[name] = value
                return
            is_once = isinstance(value, ir.Var) or self.live.uses[name] <= 1
            if is_once and not reads_registers(value):
                self.values[name] = self.waiting[name] = value
                return
        variable = self.variable(one.target)
        self.put(variable, value)
        self.values[name] = ir.Var(variable, self.place)

    def is_idle(self, one: Any, type_: types.Type) -> bool:
        """Return whether a value is a statement of its own: nothing, if it puts none."""
        if self.live.uses[one.target.name] or not self.places.is_dropped(one.target):
            return False
        is_call = getattr(one.value, "op", "") == "call"
        if is_call and isinstance(self.type_at(one.value.func), DeviceFunction):
            return False
        return is_number(type_) or isinstance(type_, types.Array | types.BaseTuple)

    # Values

    def value(self, source: Any, one: Any) -> Value:
        """The value that a name gets."""
        match source:
            case numba_ir.Var():
                return self.of(source)
            case numba_ir.Arg():
                return self.as_typed(self.given[source.index], self.type_at(one.target))
            case numba_ir.Const() | numba_ir.Global() | numba_ir.FreeVar():
                name = getattr(source, "name", "constant")
                return self.outside(source.value, self.type_at(one.target), name)
            case numba_ir.Expr():
                return self.expression(source, one)
        raise self.refused(f"the value {source}")

    def expression(self, source: Any, one: Any) -> Value:
        """The value of an operation of Numba's."""
        compares = source._kws.get("fn") in TEXT_OPERATORS
        if source.op not in ("cast", "build_tuple", "call") and not compares:
            for var in source.list_vars():
                if isinstance(self.type_at(var), TEXT):
                    raise self.refused("text can only be copied and compared here")
        match source.op:
            case "binop" | "inplace_binop" | "unary":
                fn = source._kws.get("immutable_fn", source.fn)
                return self.operation(
                    fn, [*map(self.of, source.list_vars())], self.found.calls[source]
                )
            case "call":
                return self.call(source, one)
            case "cast":
                return self.of(source.value)
            case "exhaust_iter":
                return self.unpacked(self.of(source.value), source.count)
            case "build_tuple":
                return tuple(map(self.of, source.items))
            case "getattr":
                return self.attribute(source, one)
            case "getitem":
                return self.item(self.there(source.value), self.of(source.index))
            case "static_getitem":
                return self.static_item(source)
            case "typed_getitem":  # in an unrolled loop: one of the values of this type
                whole, at = self.of(source.value), self.of(source.index)
                own = [type_ == source.dtype for type_ in cast(Any, self.type_at(source.value))]
                numbers = [ir.Const(sum(own[:place])) for place in range(len(own))]
                which = chosen_value(at, numbers, self.place)
                return self.picked_at(tuple(compress(whole, own)), which)
            case "getiter":
                return self.counted(self.of(source.value))
            case "iternext":
                return self.of(source.value).moves()[::-1]
            case "pair_first" | "pair_second":
                return self.of(source.value)[source.op == "pair_second"]
        raise outside_of(self.places.source, self.place.line) or self.refused(
            f"{source.op} isn't in the language of programs"
        )

    def shared_trips(self, value: Value, name: str, type_: types.Type) -> Value:
        """A value; an iterator that is read again has the items that no loop before has taken."""
        if name.startswith("$") or not isinstance(type_, types.IteratorType):
            return value
        blocks = self.found.ir.blocks.items()
        lines = [(label, one) for label, block in blocks for one in block.body]
        at = [label for label, one in lines for var in one.list_vars() if var.name == name]
        if len(at) == 2 and self.in_loops.isdisjoint(at):  # it is set, and read once
            return value
        trips = self.iterator(self.counted(value))
        return Walked(value.parts, value.which, trips) if isinstance(value, Alias) else trips

    def operation(self, fn: Any, values: list[Value], sig: Any) -> Value:
        """The value of an operator, or of another function of numbers."""
        if fn in (operator.is_, operator.is_not):
            for one, other in (values, values[::-1]):
                if isinstance(one, Maybe) and other == NONE:
                    is_there = one.is_there
                    return ir.Unary("not", is_there, self.place) if fn is operator.is_ else is_there
            if all(isinstance(one, ir.Expr) for one in values):  # numbers of one type
                is_one = types.unliteral(sig.args[0]) == types.unliteral(sig.args[1])
                equal = self.equal(values[0], values[1], fn is operator.is_not)
                return equal if is_one else ir.Const(fn is operator.is_not)
            things = [getattr(one, "thing", one) for one in values]
            same = things[0] is things[1] or (
                things[0] == things[1] and isinstance(things[0], Alias)
            )
            return ir.Const(same == (fn is operator.is_))
        is_equality = fn in (operator.eq, operator.ne)
        if is_equality and len(set(map(kind_of_text, sig.args))) > 1 and Text in map(type, values):
            return ir.Const(fn is operator.ne)  # bytes are no text
        if is_equality and not all(isinstance(v, ir.Expr | Alias) for v in values):
            return self.equal(values[0], values[1], fn is operator.ne)
        if fn in ORDERS and all(isinstance(one, Object) for one in values):
            return ir.Const(fn(*(one.thing for one in values)))
        if fn in ORDERS and all(isinstance(one, tuple | Text | Object) for one in values):
            return self.ordered(ORDERS[fn], *values)
        if fn is operator.add and all(isinstance(v, tuple) for v in values):
            return (*values[0], *values[1])
        if fn is operator.contains and isinstance(values[0], tuple):
            found: ir.Expr = ir.Const(False)
            for one in values[0]:
                found = ir.Logic("or", found, self.equal(one, values[1], False))
            return found
        if (fn, sig.args) in WRITTEN:
            return self.of_numba(WRITTEN[fn, sig.args], sig.args, values, {}, fn.__name__)
        return self.numeric(fn, values, sig)

    def equal(self, left: Value, right: Value, differ: bool) -> ir.Expr:
        """Return whether two values are equal, or whether they differ."""
        left, right = self.texts(left, right)
        if isinstance(left, tuple) and isinstance(right, tuple):
            found: ir.Expr = ir.Const(len(left) == len(right))
            for one, other in zip(left, right, strict=False):
                found = ir.Logic("and", found, self.equal(one, other, False))
            return ir.Unary("not", found, self.place) if differ else found
        if NONE not in (left, right) and (isinstance(left, ir.Expr) or isinstance(right, ir.Expr)):
            pair = self.single(left), self.single(right)
            return ir.Compare("!=" if differ else "==", *pair, self.place)
        return ir.Const((left == right) != differ)

    def texts(self, left: Value, right: Value) -> tuple[Value, Value]:
        """Two values; if one is a text of an array, both as tuples of as many characters."""
        if not isinstance(left, Text) and not isinstance(right, Text):
            return left, right
        one, other = self.characters(left), self.characters(right)
        more = [ir.Const(0)] * abs(len(one) - len(other))
        return ((*one, *more), other) if len(one) < len(other) else (one, (*other, *more))

    def ordered(self, op: str, left: Value, right: Value) -> ir.Expr:
        """Compare two numbers, or tuples: the first values that differ decide, else the lengths."""
        left, right = self.texts(left, right)
        if not isinstance(left, tuple) or not isinstance(right, tuple):
            return ir.Compare(op, self.single(left), self.single(right), self.place)
        shorter = (len(left) > len(right)) - (len(left) < len(right))
        found: ir.Expr = ir.Compare(op, ir.Const(shorter), ir.Const(0), self.place)
        for one, other in reversed([*zip(left, right, strict=False)]):
            found = ir.Choose(self.equal(one, other, True), self.ordered(op, one, other), found)
        return found

    def attribute(self, source: Any, one: Any) -> Value:
        """The value of x.name."""
        owner: Any = self.type_at(source.value)
        name = source.attr
        value, type_ = self.there(source.value), self.type_at(one.target)
        if isinstance(owner, types.Module):
            return self.outside(getattr(owner.pymod, name), type_, name)
        if isinstance(owner, types.DType):
            return Object(getattr(as_dtype(owner.dtype), name))
        if isinstance(owner, Namespace):
            member = f"{owner.member}.{name}"
            return self.number_of(member) if member in VALUES else Object(member)
        if isinstance(value, Alias) and name in self.fields(value):
            return self.element_or_part(self.fields(value)[name])
        if isinstance(type_, types.BoundFunction):
            return Method(value, name)
        if isinstance(value, Alias):
            return self.attribute_of_array(value, owner, name)
        if isinstance(value, tuple):
            return value[getattr(owner, "fields", AXES).index(name)]
        if isinstance(owner, types.EnumMember) and isinstance(value, ir.Expr):
            return value
        if is_number(owner):
            return ir.Call(name, (value,), self.place)
        if isinstance(value, Object):
            return self.outside(getattr(value.thing, name), type_, name)
        if isinstance(value, Slice | Counted):
            return self.end_of(value, name)
        raise self.refused(f"{owner} has no {name}")

    def field_name(self, var: Any, index: Any) -> str | None:
        """The field of a record that an index names, or gives by its number; None for others."""
        owner: Any = self.type_at(var)
        if isinstance(owner, types.Record) and isinstance(index, int):
            return str(list(owner.fields)[index])
        return index if isinstance(index, str) else None

    def static_item(self, source: Any) -> Value:
        """The value of x[constant]."""
        value = self.there(source.value)
        if isinstance(value, Object):
            return Object(value.thing[source.index])  # a member of an enum
        field = self.field_name(source.value, source.index)
        if field is not None:
            return self.element_or_part(self.fields(value)[field])
        if isinstance(value, tuple) and isinstance(source.index, int | slice):
            return value[source.index]
        return self.item(value, self.of(source.index_var))

    # Choices

    def settle_choices(self, graph: dict[Label, BasicBlock], label: int, block: Any) -> None:
        """Set what the choices at the start of a block take, at the end of the blocks before."""
        edges: dict[int, Settings] = defaultdict(list)
        for one in block.body:
            for var, source in incoming(phi_of(one)):
                if one.target.name in self.values and var.name in self.values:
                    self.place = self.places.of(one)
                    path = f"{self.prefix}{one.target.name}"
                    chosen, value = self.values[one.target.name], self.values[var.name]
                    edges[source] += self.settings(path, chosen, value)
        for source, settings in edges.items():
            self.set_at_end(graph, source, label, settings)

    def settings(self, path: str, target: Value, value: Value) -> Settings:
        """The assignments by which a choice gets a value."""
        if isinstance(target, Text):
            return self.settings(path, target.characters, self.characters(value))
        if isinstance(target, tuple):
            pairs = zip(target, value, strict=True)
            return [
                one for n, pair in enumerate(pairs) for one in self.settings(f"{path}.{n}", *pair)
            ]
        if isinstance(target, Maybe):
            pair = value if isinstance(value, Maybe) else Maybe(ir.Const(True), value)
            if value == NONE:
                pair = Maybe(ir.Const(False), ir.Const(0))
            is_there = self.settings(path, target.is_there, pair.is_there)
            if value == NONE and isinstance(target.value, Alias):
                return is_there
            return is_there + self.settings(path, target.value, pair.value)
        if isinstance(target, ir.Var):
            number = self.as_type(self.single(value), self.type_of(target))
            is_set = isinstance(number, ir.Var) and number.name == target.name
            return [] if is_set else [(target.name, number)]
        if target == value:
            return []
        is_range = isinstance(target, Slice | Counted) and isinstance(target.step, ir.Var)
        if is_range and type(value) is type(target):
            rows = [(getattr(target, name), self.end_of(value, name)) for name in ENDS]
            return [one for row in rows for one in self.settings(path, *row)]
        if not isinstance(target, Alias) or not isinstance(value, Alias):
            raise self.refused("what a name stands for depends on the path to this line")
        merged = self.unit.merged.get(path)
        if merged is None or not merged.holds(value):
            keys = self.unit.keys.setdefault(path, set())
            keys |= set(map(key_of, (*target.parts, *value.parts)))
            remade = [view for view, _ in keys if isinstance(view, Remade)]
            if max(len(remade), *(len(axes) for _, axes in keys)) > MOST_FIXED:
                raise self.refused("an array gets more and more indices", "write a loop")
            raise Restart
        return [
            (one.target, self.known(one.value)) for one in merged.settings(value, self.place, True)
        ]

    def set_at_end(
        self, graph: dict[Label, BasicBlock], source: int, label: int, settings: Settings
    ) -> None:
        """Put assignments on the way from a block to another one; all read the old values."""
        if not settings:
            return
        old, place = graph[source], self.place
        names = {name for name, _ in settings}
        read = {
            one.name for _, value in settings for one in parts(value) if isinstance(one, ir.Var)
        }
        self.block = []
        self.copied |= read
        if names & read:
            settings = [(name, self.kept(value)) for name, value in settings]
        made = (*self.block, *(ir.Assign(name, value, place) for name, value in settings))
        if len(set(old.targets)) == 1:
            graph[source] = replace(old, body=(*old.body, *made))
            return
        between = f"{source}_{label}"
        targets = tuple(between if one == label else one for one in old.targets)
        graph[source] = replace(old, targets=targets)
        graph[between] = BasicBlock(made, (label,), old.place)

    def choice(self, one: Any, is_late: bool = False) -> None:
        """Versions of a name with one type are one variable; those of other types are copied.

        A choice at the head of a loop that only the loop gives a value is `open` until it does.
        """
        name, type_ = one.target.name, self.type_at(one.target)
        if self.group(one.target) is not None:
            place = named(self.place, base_of(one.target))
            if place is self.place:  # as the head of a loop: an error shows the first use
                use = self.live.first.get(name)
                place = named(place if use is None else self.places.of(use), base_of(one.target))
            self.values[name] = read(self.variable(one.target), place)
            return
        known = [self.values[var.name] for var, _ in incoming(one.value) if self.has_value(var)]
        if not known:
            self.open[name] = one
            return
        path = f"{self.prefix}{name}"
        there = next((one for one in known if one != NONE), NONE)
        before = len(self.unit.held.variables)
        self.values[name] = self.chosen(path, base_of(one.target), there, type_, is_late)
        self.late += [*self.unit.held.variables][before:] if is_late else []

    def has_value(self, var: Any) -> bool:
        """Return whether a variable has a value; a choice may have got one behind its block."""
        if var.name in self.open:
            self.choice(self.open.pop(var.name), is_late=True)
        return var.name in self.values

    def of(self, var: Any) -> Value:
        """The value of a variable of Numba's."""
        self.has_value(var)
        return super().of(var)

    def chosen(
        self, path: str, text: str, known: Value, type_: Any, is_late: bool = False
    ) -> Value:
        """The value of a choice like one of those that it takes.

        A late one keeps the value of an earlier trip, also if no other trip chooses another array.
        """
        if isinstance(type_, types.Optional):
            return self.maybe(path, text, known, type_, is_late)
        if isinstance(known, tuple) and hasattr(type_, "count"):
            return tuple(
                self.chosen(f"{path}.{n}", f"{text}_{n}", part, own, is_late)
                for n, (part, own) in enumerate(zip(known, type_, strict=True))
            )
        if isinstance(type_, types.RangeType | types.SliceType):
            given = (self.new_variable(f"{text}_{name}", INT) for name in ENDS)
            return type(known)(*(ir.Var(name, self.place) for name in given))
        if isinstance(known, Text):
            count = range(len(known.characters))
            names = (self.new_variable(f"{text}_{n}", np.dtype(np.uint32)) for n in count)
            return Text(tuple(ir.Var(name, self.place) for name in names))
        if isinstance(known, ir.Expr) or isinstance(type_, types.EnumMember) or is_number(type_):
            return ir.Var(self.new_variable(text, dtype_of(type_)), self.place)
        if isinstance(known, Alias) and is_late:
            self.unit.keys.setdefault(path, set(map(key_of, known.parts)))
        if isinstance(known, Alias) and path in self.unit.keys:
            merged = self.unit.merged[path] = Merged.of(self.unit.keys[path], self.place, self.unit)
            for variable in merged.variables:
                self.unit.held.variables[variable.name] = INT
            return merged.alias
        return known

    def maybe(
        self, path: str, text: str, known: Value, type_: types.Optional, is_late: bool
    ) -> Maybe:
        """A number or an array that may be None, and a variable that says whether it is there."""
        value = known.value if isinstance(known, Maybe) else known
        if not (is_number(type_.type) or isinstance(value, Alias)):
            raise self.refused(f"{text!r} is {type_.type} or None, which depends on the path")
        is_there = ir.Var(self.new_variable(f"{text}_is_there", BOOL), self.place)
        return Maybe(is_there, self.chosen(path, text, value, type_.type, is_late))
