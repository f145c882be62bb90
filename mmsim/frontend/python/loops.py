"""Branches and loops: over ranges, while a test holds, and over tuples, which are unrolled.

Where paths meet, after an `if` and around a loop, a name that stands for one array on every path
keeps it. Otherwise variables select the array (`aliases.Merged`).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace

from mmsim.errors import LanguageError, Place
from mmsim.frontend.python import aliases, tables
from mmsim.frontend.python.assignments import Assignments
from mmsim.frontend.python.grammar import MOST_TRIPS
from mmsim.frontend.python.scope import Entity, NoArray, Restart, Value
from mmsim.frontend.python.source import assigned_in, jumps_of
from mmsim.frontend.python.values import targets_of
from mmsim.ir import nodes as ir


@dataclass
class Loop:
    """A loop that is being parsed.

    `merged` are the names of arrays that it gives to others, with their `keys`, and `unset` those
    without an array before it. A loop over a tuple is unrolled: `scope` is its name, `trip` that
    of the trip at work.
    """

    merged: dict[str, aliases.Merged]
    keys: dict[str, set[aliases.Key]] = field(default_factory=dict)
    unset: list[str] = field(default_factory=list)
    scope: str = ""
    trip: str = ""

    def begin_trip(self, bound: dict[str, Entity]) -> None:
        """Give its names their meaning at the start of every trip."""
        for name, merged in self.merged.items():
            bound[name] = merged.alias
        for name in self.unset:
            bound[name] = NoArray()


@dataclass(eq=False)
class Loops(Assignments):
    """The branches and loops of one function; `within` are the loops around the one at work."""

    within: list[Loop] = field(default_factory=list)

    def branch(self, node: ast.If) -> None:
        """if test: ... else: ..."""
        test = self.expression(node.test)
        before = self.array_names()
        then = self.inner(node.body)
        after_then = self.array_names()
        self.bound.update(before)
        orelse = self.inner(node.orelse)
        then, orelse = self.merged(after_then, then, orelse, self.place(node.test))
        self.emit(ir.If(test, then, orelse, self.place(node.test)))

    def while_loop(self, node: ast.While) -> None:
        """while test: ..."""
        self.no_else(node)
        place = self.place(node.test)
        loop = self.enter(node.body, place)
        self.loops += 1  # the test runs again with every iteration
        test, prelude = self.apart(node.test)
        body = self.trip(loop, node.body)
        self.loops -= 1
        self.emit(ir.While(tuple(prelude), test, body, place))

    def for_loop(self, node: ast.For) -> None:
        """for x in range(...), and over values known when the program is parsed."""
        self.no_else(node)
        call = node.iter
        if isinstance(call, ast.Call):
            kind = self.captured(call.func)
            if kind is range:
                start, stop, step = self.range_of(call)
                if not isinstance(node.target, ast.Name):
                    raise self.refuse(node.target, "a loop over a range has one variable here")
                self.for_range(node, node.target, start, stop, step)
                return
            if kind is enumerate and self.counted(node, call):
                return
        self.unroll(node, self.items(call, node.target))

    def range_of(self, call: ast.Call) -> tuple[ir.Expr, ir.Expr, ir.Expr]:
        """Start, stop and step of range(...)."""
        if not 1 <= len(call.args) <= 3 or call.keywords:
            raise self.refuse(call, "range takes one, two or three numbers")
        parts = self.operands(*call.args)
        if len(parts) == 1:
            parts = [ir.Const(0), *parts]
        start, stop, step = (*parts, ir.Const(1))[:3]
        if step == ir.Const(0):
            raise self.refuse(call, "the step of a range can't be 0")
        return start, stop, step

    def for_range(
        self,
        node: ast.For,
        target: ast.Name,
        start: ir.Expr,
        stop: ir.Expr,
        step: ir.Expr,
        counter: tuple[ast.Name, str] | None = None,
    ) -> None:
        """A loop over a range; `counter` is the name that counts its trips, and its variable."""
        role = self.role(target.id)
        if role is not None:
            raise self.two_kinds(target, role)
        place, name = self.place(node.iter), self.variable(target)
        loop = self.enter(node.body, place)
        self.loops += 1
        before: list[ir.Stmt] = []
        if counter is not None:
            own, count = counter
            last = self.place(own)
            more = ir.Binary("+", ir.Var(count, last), ir.Const(1), last)
            before.append(ir.Assign(self.variable(own), ir.Var(count, last), last))
            before.append(ir.Assign(count, more, last))
        body = (*before, *self.trip(loop, node.body))
        self.loops -= 1
        self.emit(ir.For(name, start, stop, step, body, place))

    def counted(self, node: ast.For, call: ast.Call) -> bool:
        """A loop over enumerate(range(...)), with a counter; return whether it is one."""
        inner = call.args[0] if call.args else None
        if not (isinstance(inner, ast.Call) and self.captured(inner.func) is range):
            return False
        names = node.target.elts if isinstance(node.target, ast.Tuple) else []
        if len(names) != 2 or not all(isinstance(one, ast.Name) for one in names):
            raise self.refuse(
                node.target, "a loop over enumerate(range(...)) has two variables here"
            )
        counter, target = names
        assert isinstance(counter, ast.Name)
        assert isinstance(target, ast.Name)
        start, stop, step = self.range_of(inner)
        count = self.unit.unique("trip")
        self.emit(ir.Assign(count, self.first_number(call), self.place(call)))
        self.for_range(node, target, start, stop, step, (counter, count))
        return True

    def first_number(self, call: ast.Call) -> ir.Expr:
        """The first number of enumerate(x, start)."""
        more = [*call.args[1:], *(one.value for one in call.keywords if one.arg == "start")]
        if not call.args or len(more) > 1 or len(more) != len(call.args) - 1 + len(call.keywords):
            raise self.refuse(call, "enumerate takes a tuple or a range, and a first number")
        return self.expression(more[0]) if more else ir.Const(0)

    def items(self, node: ast.expr, target: ast.expr | None = None) -> tuple[Value, ...]:
        """A loop's values by iteration, if they are known when the program is parsed."""
        if isinstance(node, ast.Tuple | ast.List):
            return self.tuple_of(node.elts, [target] * len(node.elts))
        if isinstance(node, ast.Call):
            kind = self.captured(node.func)
            if kind is range:
                return self.known_range(node)
            if kind is enumerate:
                first = tables.constant_of(self.first_number(node))
                if type(first) is not int:
                    raise self.refuse(node, "the first number must be a constant")
                inner = self.items(node.args[0], targets_of(target, 2)[1])
                return tuple((ir.Const(first + trip), item) for trip, item in enumerate(inner))
            if kind is zip and node.args and all(one.arg == "strict" for one in node.keywords):
                return self.zipped(node, target)
        if self.gives_tuple(node) or isinstance(node, ast.Attribute):
            value = self.value(node)
            if isinstance(value, tuple):
                return value
        raise self.refuse(
            node,
            "a for loop runs over range(...) or a tuple here",
            "write for i in range(n), or for x in (1, 2, 3)",
        )

    def known_range(self, node: ast.Call) -> tuple[Value, ...]:
        """The numbers of a range inside zip or enumerate."""
        bounds = [tables.constant_of(part) for part in self.range_of(node)]
        if all(type(bound) is int for bound in bounds):
            trips = range(*bounds)  # type: ignore[arg-type]  # all are integers
            self.count_trips(len(trips), node)
            return tuple(ir.Const(trip) for trip in trips)
        raise self.refuse(
            node,
            "the length of this range must be known before the run here",
            "loop over the range alone, and compute the rest from its variable",
        )

    def zipped(self, node: ast.Call, target: ast.expr | None) -> tuple[Value, ...]:
        """The tuples of zip(x, y)."""
        targets = targets_of(target, len(node.args))
        parts = [self.items(part, own) for part, own in zip(node.args, targets, strict=True)]
        for keyword in node.keywords:
            same = len(set(map(len, parts))) == 1
            strict = self.expression(keyword.value) if not same else ir.Const(False)
            if tables.constant_of(strict):
                raise self.refuse(node, "zip(..., strict=True) of tuples of several sizes")
        return tuple(zip(*parts, strict=False))

    def count_trips(self, trips: int, node: ast.expr) -> None:
        """Refuse a program whose unrolled loops grow without bound."""
        self.unit.trips += trips
        if self.unit.trips > MOST_TRIPS:
            raise self.refuse(
                node,
                f"the program grows to more than {MOST_TRIPS} iterations of loops over tuples",
                "each iteration is a copy of the loop's body; loop over range(n) and read a table",
            )

    def unroll(self, node: ast.For, items: tuple[Value, ...]) -> None:
        """A loop over a tuple: its body, once for each value."""
        self.count_trips(len(items), node.iter)
        place = self.place(node.iter)
        if sum(len(tables.leaves(item)) for item in items) > 1:
            items = tuple(self.spill_all(item, place) for item in items)
        jumps = list(jumps_of(node.body))
        loop = self.enter(node.body, place) if jumps else Loop({})
        if jumps:
            loop.scope = self.unit.unique("loop")
        with self.aside() as block:
            for item in items:
                loop.trip = self.unit.unique("trip") if jumps else ""
                with self.aside() as before:
                    self.depth += 1
                    self.assign(node.target, item, node.iter)
                    self.depth -= 1
                    trip = (*before, *self.trip(loop, node.body))
                if any(isinstance(jump, ast.Continue) for jump in jumps):
                    trip = (ir.Scope(loop.trip, trip),)
                self.block.extend(trip)
        if any(isinstance(jump, ast.Break) for jump in jumps):
            self.emit(ir.Scope(loop.scope, tuple(block)))
        else:
            self.block.extend(block)

    def trip(self, loop: Loop, body: list[ast.stmt]) -> ir.Block:
        """One trip of a loop; then its names get the values for the start of the next trip."""
        self.within.append(loop)
        block = self.inner(body)
        self.within.pop()
        with self.aside() as end:
            if not ends(block):
                self.keep_names(loop, self.place(body[-1]))
        loop.begin_trip(self.bound)
        return (*block, *end)

    def no_else(self, node: ast.For | ast.While) -> None:
        """Refuse else after a loop."""
        if node.orelse:
            raise self.refuse(
                node.orelse[0], "else after a loop isn't in the language", "use a variable"
            )

    def jump(self, node: ast.Break | ast.Continue) -> None:
        """break and continue."""
        loop, place = self.within[-1], self.place(node)
        self.keep_names(loop, place)
        leaves = isinstance(node, ast.Break)
        scope, plain = (loop.scope, ir.Break) if leaves else (loop.trip, ir.Continue)
        self.emit(ir.Leave(scope, place) if scope else plain(place))

    # Names of arrays where paths meet

    def merged(
        self, after_then: dict[str, Entity], then: ir.Block, orelse: ir.Block, place: Place
    ) -> tuple[ir.Block, ir.Block]:
        """Both branches of an `if`; each name stands for one thing after them."""
        if ends(orelse) and not ends(then):
            self.bound.update(after_then)
        if ends(then) or ends(orelse):
            return then, orelse
        first, second = list(then), list(orelse)
        for name, entity in after_then.items():
            one, other = self.stands_for(entity), self.stands_for(self.bound[name])
            if one is not None and other is not None and one != other:
                self.bound[name] = self.met((first, one), (second, other), place)
            elif one != other:
                self.bound[name] = NoArray()
        return tuple(first), tuple(second)

    def enter(self, body: list[ast.stmt], place: Place) -> Loop:
        """Begin a loop: names that its body gives to other arrays are variables from here on."""
        loop, renamed, unit = Loop({}), set(assigned_in(body)), self.unit
        unit.loops += 1
        for name, entity in self.array_names().items():
            if name not in renamed:
                continue
            entry = self.stands_for(entity)
            if entry is None:
                loop.unset.append(name)
            else:
                known = unit.known.keys.setdefault((unit.loops, name), set())
                known.update(aliases.keys_of(entry))
                here = [key for key in known if key[0].array in unit.arrays]
                loop.keys[name], loop.merged[name] = known, aliases.Merged.of(here, place, unit)
                self.block += loop.merged[name].settings(entry, place, True)
        loop.begin_trip(self.bound)
        return loop

    def keep_names(self, loop: Loop, place: Place) -> None:
        """Set the variables of a loop's names before the trip ends.

        A name that stands for one more array now does so from the begin of the loop on: parsing
        begins again with it.
        """
        settings: list[ir.Assign] = []
        is_new = False
        for name, merged in loop.merged.items():
            alias = self.stands_for(self.bound[name])
            more = set(aliases.keys_of(alias)) - loop.keys[name]
            is_missing = alias is None or not (more or merged.holds(alias))
            if is_missing or any(len(axes) > aliases.MOST_FIXED for _, axes in more):
                raise LanguageError(
                    f"{name!r} may not name one array after this iteration of the loop",
                    place,
                    "assign an array to it on every path through the loop's body",
                )
            loop.keys[name] |= more
            is_new |= bool(more)
            if not more and alias is not None:
                settings += merged.settings(alias, place, False)
        if is_new:
            raise Restart
        if len(settings) > 1:
            settings = [replace(one, value=self.spill(one.value, place)) for one in settings]
        self.block += settings


def ends(block: ir.Block) -> bool:
    """Return whether the end of a block is never reached."""
    return bool(block) and isinstance(block[-1], ir.Break | ir.Continue | ir.Return | ir.Leave)
