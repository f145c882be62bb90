"""Loops over ranges, arrays and tuples, alone or several at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numba.core import ir as numba_ir

from mmsim.frontend.numba.accesses import ArrayLowering
from mmsim.frontend.numba.values import Counted, Value, Walked, binary, dtype_of, is_number
from mmsim.frontend.python.scope import Alias
from mmsim.frontend.python.tables import leaves
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import INT
from mmsim.ir.walk import statements, targets

Turn = tuple[str, ir.Expr, ir.Expr, ir.Expr]
"""The head of a loop: the variable of its trips, and their range."""


class LoopLowering(ArrayLowering):
    """The loops of one function."""

    def counted(self, value: Value) -> Counted:
        """The trips of a loop over something."""
        if isinstance(value, Counted):
            return value
        if isinstance(value, Walked):
            return value.trips
        if isinstance(value, Alias):
            return Counted(
                ir.Const(0),
                self.extent(value, 0),
                item=lambda index: self.element_or_part(self.part(value, (index,))),
            )
        if isinstance(value, tuple):
            stop = ir.Const(len(value))
            return Counted(ir.Const(0), stop, item=lambda index: self.picked_at(value, index))
        raise self.refused("this can't be looped over", "loop over a range, an array or a tuple")

    def length(self, value: Value) -> ir.Expr:
        """The count of the items of a value."""
        if isinstance(value, Alias):
            return self.extent(value, 0)
        if isinstance(value, Counted):
            count = self.count(value.start, value.stop, value.step)
            return binary("max", count, ir.Const(0), self.place)
        whole: Any = getattr(value, "thing", value)
        return ir.Const(len(whole))

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

        return Counted(ir.Const(0), self.spill(count), item=item)

    def range_of(self, given: list[ir.Expr]) -> Counted:
        """range(...)."""
        if len(given) == 1:
            return Counted(ir.Const(0), given[0])
        start, stop, *step = given
        return Counted(start, stop, step[0] if step else ir.Const(1))

    def zipped(self, several: list[Value]) -> Counted:
        """zip(...): as many trips as the shortest has."""
        found = [*map(self.counted, several)]
        if any(one.moves for one in found):
            return self.together(found, tuple)
        counted = [*map(self.from_zero, found)]
        stop = counted[0].stop
        for one in counted[1:]:
            if one.stop != stop:
                stop = ir.Binary("min", stop, one.stop, self.place)
        return Counted(
            ir.Const(0),
            self.spill(stop),
            item=lambda index: tuple(one.at(index) for one in counted),
        )

    def enumerated(self, value: Value, first: ir.Expr) -> Counted:
        """enumerate(value, first)."""
        given, begin = self.counted(value), self.spill(first)
        if given.moves:
            last = ir.Const(2**63 - 1)
            numbers = Counted(ir.Const(0), last, item=lambda n: binary("+", n, begin, self.place))
            return self.together([given, numbers], lambda items: (items[1], items[0]))
        inner = self.from_zero(given)

        def item(index: ir.Expr) -> Value:
            return binary("+", index, begin, self.place), inner.at(index)

        return Counted(ir.Const(0), inner.stop, item=item)

    def indices(self, extents: Sequence[ir.Expr]) -> Counted:
        """np.ndindex(...): the tuples of indices, in row-major order."""
        shape = tuple(map(self.fixed, extents))
        return Counted(
            ir.Const(0),
            self.fixed(self.product(shape)),
            item=lambda index: self.split(index, shape),
        )

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

        return Counted(counted.start, counted.stop, moves=moves)

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

    def together(self, several: list[Counted], join: Callable[[list[Value]], Value]) -> Counted:
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
            return is_there, join(items)

        return Counted(ir.Const(0), ir.Const(0), moves=moves)

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

    def turn(self, block: Any, one: Any, counted: Counted) -> tuple[Turn, set[str], Counted]:
        """The head of a loop, the names of its item, and its trips; its body begins with the item.

        The variable of the trips is that of the text, if it gets the plain number.
        """
        first = next(item.target.name for item in block.body if _is_first(item))
        copies = {first}
        for item in block.body:
            if _copied(item) in copies:
                copies.add(item.target.name)
        target, plain = "", counted.item is None
        for item in self.found.ir.blocks[block.terminator.truebr].body:
            if plain and _copied(item) in copies and not item.target.name.startswith("$"):
                type_ = self.type_at(item.target)
                if is_number(type_) and dtype_of(type_) == INT and not target:
                    target = self.variable(item.target)
        turn = target or self.unit.temporary(INT), counted.start, counted.stop, counted.step
        return turn, copies, counted


def _is_first(item: Any) -> bool:
    """Return whether an instruction takes the item of a trip."""
    is_expr = isinstance(item, numba_ir.Assign) and isinstance(item.value, numba_ir.Expr)
    return bool(is_expr and item.value.op == "pair_first")


def _copied(item: Any) -> str:
    """The name that an instruction copies; "" for any other instruction."""
    if isinstance(item, numba_ir.Assign) and isinstance(item.value, numba_ir.Var):
        return str(item.value.name)
    return ""
