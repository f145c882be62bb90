"""Expressions of the representation, written with Python's operators.

A `Value` is an expression and its type by Numba's rules (see `mmsim.ir.numba_types`): the sum of
two integers has 64 bits, floats compute in their own type. A number of Python's takes the type of
the value that it meets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mmsim.errors import Place
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import BOOL, UNSIGNED, Type, is_whole, type_of_number
from mmsim.ir.numba_types import NumbaTyping, arithmetic
from mmsim.ir.types import ValueType

_RULES = NumbaTyping(ir.Code("", (), (), (), (), ()), {}, {})


@dataclass(frozen=True, slots=True)
class Value:
    """An expression of a type, in an instruction at a place."""

    node: ir.Expr
    type: Type
    place: Place

    def meeting(self, other: Value | float) -> Value:
        """An operand as a value; an integer has 64 bits, a float the type of this value."""
        if isinstance(other, Value):
            return other
        found = Value(ir.Const(other), type_of_number(other), self.place)
        if is_whole(self.type) and self.type != UNSIGNED:
            return found
        return found.cast(self.type)

    def cast(self, wanted: Type | str) -> Value:
        """The value in another type: the low bits of an integer, the nearest float."""
        wanted = np.dtype(wanted)
        if self.type == wanted:
            return self
        return Value(ir.Unary(wanted.name, self.node, self.place), wanted, self.place)

    def _computed(self, node: ir.Operating, *operands: Value) -> Value:
        held = (ValueType(one.type) for one in operands)
        return Value(node, _RULES.computes(node, *held).result.type, self.place)

    def _unary(self, op: str) -> Value:
        return self._computed(ir.Unary(op, self.node, self.place), self)

    def _binary(self, op: str, other: Value | float) -> Value:
        right = self.meeting(other)
        return self._computed(ir.Binary(op, self.node, right.node, self.place), self, right)

    def compared(self, op: str, other: Value | float) -> Value:
        """A comparison by its sign."""
        right = self.meeting(other)
        return Value(ir.Compare(op, self.node, right.node, self.place), BOOL, self.place)

    def call(self, function: str, *others: Value | float) -> Value:
        """A function of the representation, of operands of this value's type."""
        operands = (self, *(self.meeting(other).cast(self.type) for other in others))
        node = ir.Call(function, tuple(one.node for one in operands), self.place)
        return self._computed(node, *operands)

    def choose(self, then: Value | float, other: Value | float) -> Value:
        """`then` where this is true, else `other`."""
        first = then if isinstance(then, Value) else self.meeting(then)
        second = first.meeting(other)
        if not isinstance(then, Value):
            first = second.meeting(then)
        common = first.type if first.type == second.type else arithmetic(first.type, second.type)
        node = ir.Choose(self.node, first.cast(common).node, second.cast(common).node)
        return Value(node, common, self.place)

    def least(self, other: Value | float) -> Value:
        """The other one only if it is smaller."""
        return self._binary("min", other)

    def greatest(self, other: Value | float) -> Value:
        """The other one only if it is larger."""
        return self._binary("max", other)

    def is_not(self) -> Value:
        """The other truth value."""
        return self._unary("not")

    def equals(self, other: Value | float) -> Value:
        """Return whether both are equal."""
        return self.compared("==", other)

    def differs(self, other: Value | float) -> Value:
        """Return whether they are not equal."""
        return self.compared("!=", other)

    def is_nan(self) -> Value:
        """Return whether this is a NaN, which differs from itself."""
        return self.differs(self)

    def __lt__(self, other: Value | float) -> Value:
        return self.compared("<", other)

    def __le__(self, other: Value | float) -> Value:
        return self.compared("<=", other)

    def __gt__(self, other: Value | float) -> Value:
        return self.compared(">", other)

    def __ge__(self, other: Value | float) -> Value:
        return self.compared(">=", other)

    def __add__(self, other: Value | float) -> Value:
        return self._binary("+", other)

    def __sub__(self, other: Value | float) -> Value:
        return self._binary("-", other)

    def __mul__(self, other: Value | float) -> Value:
        return self._binary("*", other)

    def __truediv__(self, other: Value | float) -> Value:
        return self._binary("/", other)

    def __floordiv__(self, other: Value | float) -> Value:
        return self._binary("//", other)

    def __mod__(self, other: Value | float) -> Value:
        return self._binary("%", other)

    def __and__(self, other: Value | float) -> Value:
        return self._binary("&", other)

    def __or__(self, other: Value | float) -> Value:
        return self._binary("|", other)

    def __xor__(self, other: Value | float) -> Value:
        return self._binary("^", other)

    def __lshift__(self, other: Value | float) -> Value:
        return self._binary("<<", other)

    def __rshift__(self, other: Value | float) -> Value:
        return self._binary(">>", other)

    def __neg__(self) -> Value:
        return self._unary("-")

    def __invert__(self) -> Value:
        return self._unary("~")

    def __abs__(self) -> Value:
        return self._unary("abs")
