"""Loops over ranges, arrays and tuples, alone or several at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numba.core import ir as numba_ir

from mmsim.frontend.numba.accesses import ArrayLowering
from mmsim.frontend.numba.values import Counted, Value, binary, dtype_of, is_number
from mmsim.frontend.python.scope import Alias
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import INT

Turn = tuple[str, ir.Expr, ir.Expr, ir.Expr]
"""The head of a loop: the variable of its trips, and their range."""


class LoopLowering(ArrayLowering):
    """The loops of one function."""

    def counted(self, value: Value) -> Counted:
        """The trips of a loop over something."""
        if isinstance(value, Counted):
            return value
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

    def from_zero(self, given: Counted) -> Counted:
        """The same trips, counted from 0 on by ones."""
        start, stop, step, place = given.start, given.stop, given.step, self.place
        if start == ir.Const(0) and step == ir.Const(1):
            return given
        sign: ir.Expr = ir.Choose(
            ir.Compare("<", step, ir.Const(0), place), ir.Const(-1), ir.Const(1)
        )
        if isinstance(step, ir.Const):
            sign = ir.Const(-1 if step.value.real < 0 else 1)
        more = binary("-", step, sign, place)
        if isinstance(step, ir.Const) and isinstance(sign, ir.Const):
            more = ir.Const(int(step.value.real) - int(sign.value.real))
        count = binary("+", binary("-", stop, start, place), more, place)
        if step != ir.Const(1):
            count = binary("//", count, step, place)
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
        counted = [self.from_zero(self.counted(one)) for one in several]
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
        inner, begin = self.from_zero(self.counted(value)), self.spill(first)

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
        """Trips that begin at a variable, which `next` moves on."""
        counted = self.from_zero(given)
        return Counted(self.kept(counted.start), counted.stop, item=counted.at)

    def turn(self, block: Any, one: Any) -> tuple[Turn, set[str], Counted]:
        """The head of a loop, the names of its item, and its trips; its body begins with the item.

        The variable of the trips is that of the text, if it gets the plain number.
        """
        counted = self.counted(self.of(one.value.value))
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
