"""Calls of functions in the language of kernels, objects from outside, and loops.

The functions are device functions, and those written out.
"""

from __future__ import annotations

import inspect
import types as python
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numba.core import ir as numba_ir
from numba.core import types
from numba.core.analysis import compute_cfg_from_blocks

from mmsim.errors import Place
from mmsim.frontend.numba.accesses import ArrayLowering
from mmsim.frontend.numba.base import form_of, phi_of
from mmsim.frontend.numba.context import context, inferred
from mmsim.frontend.numba.names import name_of_object
from mmsim.frontend.numba.values import (
    NONE,
    Counted,
    KernelUnit,
    Maybe,
    Object,
    Slice,
    Text,
    Value,
    Walked,
    is_number,
)
from mmsim.frontend.numba.words import VALUES
from mmsim.frontend.python.scope import Alias, View, binary
from mmsim.frontend.python.source import source_of
from mmsim.frontend.python.tables import MOST_CAPTURED, leaves
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import INT, UNSIGNED, supported

ENDLESS = ir.Const(2**63 - 1)
"""The end of a range without one."""
Turn = tuple[str, ir.Expr, ir.Expr, ir.Expr]
"""The head of a loop: the variable of its trips, and their range."""


def text_of(function: python.FunctionType, unit: KernelUnit) -> ir.Source:
    """The text of a function, which belongs to the kernel."""
    text = source_of(function)
    unit.sources[f"{text.file}:{text.first}"] = text
    return text


class InlineLowering(ArrayLowering):
    """The inlined functions of one function, objects from outside, and loops.

    `label` is the block at work. `is_again` says that the function may be called again and again.
    """

    label = 0
    is_again = False

    def body(self, prefix: str, ends: Callable[[Place], ir.Stmt] | None) -> ir.Block:
        """The statements of the function."""
        raise NotImplementedError

    def inlined(
        self,
        function: Any,
        given: tuple[types.Type, ...],
        args: Sequence[Value],
        kws: dict[str, Value],
    ) -> Value:
        """The value of a call, whose statements are put at the end."""
        found = inferred(function, given)
        bound = inspect.signature(function).bind(*args, **kws)
        values: list[Value] = []
        for (name, parameter), type_ in zip(
            bound.signature.parameters.items(), found.args, strict=True
        ):
            if name in bound.arguments:
                values.append(self.argument(bound.arguments[name], type_))
            elif parameter.kind is parameter.VAR_POSITIONAL:
                values.append(())
            else:
                own = context().resolve_value_type(parameter.default)
                values.append(self.outside(parameter.default, own, name))
        inner = type(self)(self.unit, found, values, text_of(function, self.unit))
        inner.is_again = self.is_again or self.label in self.in_loops
        prefix, before = self.unit.unique(f"{function.__name__}_call") + "_", len(self.unit.locals)
        outer = self.block
        body, self.block = inner.body(prefix, None), outer
        if inner.is_again:
            made = self.unit.locals[before:]
            registers = tuple(one.name for one in made if one.kind == "registers")
            names = inner.unset()
            self.block += [ir.Forget(names, registers)] if names or registers else []
        self.block += body
        return inner.returned[0] if inner.returned else NONE

    @cached_property
    def in_loops(self) -> set[int]:
        """The blocks in loops."""
        loops = compute_cfg_from_blocks(self.found.ir.blocks).loops().values()
        return {label for loop in loops for label in loop.body}

    def unset(self) -> tuple[str, ...]:
        """The variables that have no value on some way to a choice: none of an earlier call."""
        found: dict[Any, None] = dict.fromkeys(
            name
            for block in self.found.ir.blocks.values()
            for one in block.body
            if phi_of(one) is not None
            and numba_ir.UNDEFINED in phi_of(one).incoming_values
            and self.group(one.target) is not None
            for name in leaves(self.variable(one.target))
        )
        return tuple(found)

    def argument(self, value: Value, type_: types.Type) -> Value:
        """A value as the argument of a call: a number has the type of the parameter."""
        if isinstance(value, ir.Expr | Maybe) and is_number(type_):
            return self.fixed(self.as_type(self.single(value), type_))
        return self.fixed(value)

    def outside(self, thing: Any, type_: Any, name: str) -> Value:
        """The value of an object from outside of the kernel, or of a number of numba.cuda."""
        member = name_of_object(thing)
        if member in VALUES:
            return self.number_of(member)
        if isinstance(thing, np.datetime64 | np.timedelta64):
            return ir.Const(int(thing.view(np.int64)))
        if is_number(type_) and not isinstance(thing, type):
            number = thing.item() if hasattr(thing, "item") else thing
            if isinstance(number, int | float | complex):
                return self.as_type(ir.Const(number), type_)
        if isinstance(thing, tuple) and hasattr(type_, "count"):
            inside = zip(thing, type_, strict=True)
            return tuple(self.outside(one, own, name) for one, own in inside)
        if isinstance(type_, types.Array):
            return self.as_typed(self.array_from_outside(thing, name), type_)
        return Object(thing)

    def number_of(self, member: str) -> ir.Expr:
        """The value of a number of numba.cuda."""
        return ir.Unary("int32", VALUES[member], self.place)

    def array_from_outside(self, array: Any, name: str) -> Value:
        """A captured array: a large one, or one of the device, is an argument of each launch."""
        memory = self.unit.options.memory_of(array)
        if (
            memory is None
            and array.ndim > 0
            and 0 < array.size <= MOST_CAPTURED
            and supported(array.dtype.name)
            and array.dtype != UNSIGNED
        ):
            return self.table(array, name)
        assert self.unit.array_from_outside is not None
        return self.unit.array_from_outside(name, array, memory, self.place)

    def table(self, array: Any, name: str) -> Alias:
        """A captured array whose numbers are part of the program."""
        known = (own for own, other in self.unit.tables.items() if other is array)
        own = next(known, None) or self.unit.unique(name)
        self.unit.tables[own] = array
        self.unit.taken.add(own)
        self.unit.array(own, array.dtype, array.ndim)
        return Alias((View(own),))

    # Loops

    def counted(self, value: Value) -> Counted:
        """The trips of a loop over something."""
        if isinstance(value, Counted):
            return value
        if isinstance(value, Walked):
            return value.trips
        if isinstance(value, Alias):
            return Counted(self.extent(value, 0), item=lambda index: self.item(value, index))
        if isinstance(value, tuple):
            items = tuple(map(self.fixed, value))  # the name may stand for another tuple later
            return Counted(ir.Const(len(items)), item=lambda index: self.picked_at(items, index))
        raise self.refused("this can't be looped over", "loop over a range, an array or a tuple")

    def length(self, value: Value) -> ir.Expr:
        """The count of the items of a value."""
        if isinstance(value, Alias):
            return self.extent(value, 0)
        if isinstance(value, Counted):
            count = self.count(value.start, value.stop, value.step)
            return binary("max", count, ir.Const(0), self.place)
        if isinstance(value, Text):
            found: ir.Expr = ir.Const(0)
            for number, one in enumerate(value.characters, 1):
                is_there = ir.Compare("!=", one, ir.Const(0), self.place)
                found = ir.Choose(is_there, ir.Const(number), found)
            return found
        whole: Any = getattr(value, "thing", value)
        return ir.Const(len(whole))

    def end_of(self, given: Slice | Counted, name: str) -> ir.Expr:
        """The start, stop or step of a range or a slice, which ends as far as a number goes."""
        found: ir.Expr | None = getattr(given, name)
        if found is not None:
            return found
        back = ir.Compare("<", given.step, ir.Const(0), self.place)
        first, last = ir.Const(0), ir.Const(-(2**63))
        ends = (ENDLESS, first) if name == "start" else (last, ENDLESS)
        return ir.Choose(back, *ends)

    def from_zero(self, given: Counted) -> Counted:
        """The same trips, counted from 0 on by ones."""
        start, stop, step, place = given.start, given.stop, given.step, self.place
        if start == ir.Const(0) and step == ir.Const(1):
            return given
        count = self.count(start, stop, step)
        first, by = self.spill(start), self.spill(step)

        def item(index: ir.Expr) -> Value:
            own = index if by == ir.Const(1) else ir.Binary("*", by, index, place)
            return given.at(self.spill(binary("+", first, own, place)))

        return Counted(self.spill(count), item=item)

    def zipped(self, several: list[Value]) -> Counted:
        """zip(...): as many trips as the shortest has."""
        found = [*map(self.counted, several)]
        if any(one.moves for one in found):
            return self.together(found)
        counted = [*map(self.from_zero, found)]
        ends = dict.fromkeys(one.stop for one in counted if one.stop != ENDLESS)
        stop, *others = ends or (ENDLESS if counted else ir.Const(0),)
        for other in others:
            stop = ir.Binary("min", stop, other, self.place)
        return Counted(self.spill(stop), item=lambda index: tuple(one.at(index) for one in counted))

    def numbers_from(self, first: ir.Expr) -> Counted:
        """All numbers from the first one on."""
        begin = self.spill(first)
        return Counted(ENDLESS, item=lambda n: binary("+", n, begin, self.place))

    def indices(self, extents: Sequence[ir.Expr]) -> Counted:
        """np.ndindex(...): the tuples of indices, in row-major order."""
        shape = tuple(map(self.fixed, extents))
        return Counted(self.fixed(self.product(shape)), item=lambda index: self.split(index, shape))

    def iterator(self, given: Counted) -> Counted:
        """The same trips, of which a variable counts those that were."""
        if given.moves:
            return given
        counted, place = self.from_zero(given), self.place
        position, stop = self.kept(ir.Const(0)), self.spill(counted.stop)

        def moves() -> tuple[ir.Expr, Value]:
            at = self.kept(position)
            is_there = self.kept(ir.Compare("<", at, stop, place))

            def move() -> Value:
                self.put(position.name, binary("+", at, ir.Const(1), place))
                return self.fixed(counted.at(at))

            return is_there, self.only_if(is_there, move)

        return Counted(moves=moves)

    def together(self, several: list[Counted]) -> Counted:
        """An iterator over the items of several, as long as all have one."""
        own = [*map(self.iterator, several)]

        def moves() -> tuple[ir.Expr, Value]:
            is_there, items = self.kept(ir.Const(True)), list[Value]()
            for one in own:

                def move(one: Counted = one) -> Value:
                    assert one.moves is not None
                    found, item = one.moves()
                    self.put(is_there.name, found)
                    return item

                items.append(self.only_if(is_there, move))
            return is_there, tuple(items)

        return Counted(moves=moves)

    def next_of(self, given: Counted) -> Value:
        """The next item of an iterator; without one the thread ends."""
        moves = self.iterator(given).moves
        assert moves is not None
        is_there, item = moves()
        self.end_if(ir.Unary("not", is_there, self.place), "StopIteration")
        return item

    def unpacked(self, value: Value, count: int) -> Value:
        """The values for so many names."""
        if isinstance(value, tuple):
            return value
        given = self.counted(value)
        if given.moves:
            found = tuple(self.next_of(given) for _ in range(count))
            self.end_if(given.moves()[0], "ValueError: too many values for the names")
            return found
        given = self.from_zero(given)
        if isinstance(given.stop, ir.Const) and given.stop != ir.Const(count):
            raise self.refused(
                f"{count} names can't take {given.stop.value} values", "write as many"
            )
        if not isinstance(given.stop, ir.Const):
            said = f"ValueError: {count} names can't take {{}} values"
            ends = ir.Return(self.place, said, given.stop)
            differ = ir.Compare("!=", given.stop, ir.Const(count), self.place)
            self.block.append(ir.If(differ, (ends,), (), self.place))
        return tuple(given.at(ir.Const(number)) for number in range(count))

    def turn(self, block: Any, counted: Counted) -> tuple[Turn, set[str]]:
        """The head of a loop, and the names of its item; its body begins with the item.

        The variable of the trips is that of the text, if it gets the plain number.
        """
        copies: set[str] = set()
        for one in block.find_insts(numba_ir.Assign):
            if getattr(one.value, "op", "") == "pair_first" or _copied(one) in copies:
                copies.add(one.target.name)
        body = self.found.ir.blocks[block.terminator.truebr].find_insts(numba_ir.Assign)
        named = (
            one.target
            for one in body
            if counted.item is None
            and _copied(one) in copies
            and not one.target.name.startswith("$")
            and form_of(self.type_at(one.target)) == INT.name
        )
        target = next(map(self.variable, named), None) or self.unit.temporary(INT)
        return (target, counted.start, counted.stop, counted.step), copies


def _copied(one: Any) -> str:
    """The name that an assignment copies; "" for any other assignment."""
    return str(one.value.name) if isinstance(one.value, numba_ir.Var) else ""
