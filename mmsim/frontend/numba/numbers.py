"""Numbers from outside a kernel, which keep their NumPy types."""

from __future__ import annotations

import ast
import enum
import operator as operators
from typing import Any

import numpy as np

from mmsim.errors import Place
from mmsim.frontend.numba.arrays import NumbaValues
from mmsim.frontend.numba.cmath import OF_COMPLEX
from mmsim.frontend.numba.state import kernel
from mmsim.frontend.python.expressions import Expressions
from mmsim.frontend.python.scope import Alias, Captured, Missing, Value, number
from mmsim.frontend.python.tables import constant_of
from mmsim.frontend.python.tuples import Tuples
from mmsim.ir import nodes as ir
from mmsim.ir.numba_types import WIDE

COMPARISONS = {
    "==": operators.eq,
    "!=": operators.ne,
    "<": operators.lt,
    "<=": operators.le,
    ">": operators.gt,
    ">=": operators.ge,
}


def of_type(value: ir.Expr, dtype: np.dtype[Any], place: Place) -> ir.Expr:
    """A number of a type: 64-bit integers, doubles and bools need no cast."""
    return value if dtype in WIDE else ir.Unary(dtype.name, value, place)


class NumbaExpressions(Expressions):
    """The numbers of one function's expressions."""

    def captured_number(self, node: ast.expr, value: Any) -> ir.Expr:
        """The number for an object from outside, of its own type."""
        found = super().captured_number(node, value)
        if isinstance(value, np.generic):
            return of_type(found, value.dtype, self.function.place(node))
        return found

    def attribute(self, node: ast.Attribute) -> ir.Expr:
        """A field of a record, a name of the dialect, a.size, or a number from outside."""
        assert isinstance(self.values, NumbaValues)
        field = self.values.field(node)
        if field is not None:
            return self.values.single(self.values.element_of(field, node), node)
        named = self.values.named_item(node)
        if named is not None:
            return self.values.single(named, node)
        return super().attribute(self.values.of_named(node))

    def binary(self, node: ast.BinOp) -> ir.Expr:
        """x + y and the like; a power of complex numbers is a separate function."""
        if self.is_complex_power(node):
            return self.builder.expression(self.call_of_power(node))
        return super().binary(self.with_powers(node))

    def is_complex_power(self, node: ast.expr) -> bool:
        """Return whether an expression is a power known to be one of complex numbers."""
        known = kernel(self.function).known.of_complex
        return (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Pow)
            and self.function.place(node) in known
        )

    def with_powers(self, node: ast.BinOp) -> ast.BinOp:
        """An operation with calls for such powers in its left side, which is lowered with it."""
        left = node.left
        if not isinstance(left, ast.BinOp) or not kernel(self.function).known.of_complex:
            return node
        new = self.call_of_power(left) if self.is_complex_power(left) else self.with_powers(left)
        return ast.copy_location(ast.BinOp(new, node.op, node.right), node)

    def call_of_power(self, node: ast.expr) -> ast.expr:
        """The call for a power of complex numbers."""
        assert isinstance(node, ast.BinOp)
        name = "complex_power"
        self.function.bound[name] = Captured(OF_COMPLEX["**"])
        called = ast.copy_location(ast.Name(name, ast.Load()), node)
        return ast.copy_location(ast.Call(called, [node.left, node.right], []), node)

    def comparison(self, node: ast.Compare) -> ir.Expr:
        """x < y < z, x in (2, 3), and `x is None`, which is known beforehand."""
        operator, alone = node.ops[0], len(node.ops) == 1
        if alone and isinstance(operator, ast.Is | ast.IsNot | ast.Eq | ast.NotEq):
            sides = [self.outside(one) for one in (node.left, node.comparators[0])]
            if isinstance(operator, ast.Is | ast.IsNot) and all(
                isinstance(one, enum.Enum) for one in sides
            ):
                return ir.Const((sides[0] is sides[1]) == isinstance(operator, ast.Is))
            known = None in sides or not any(isinstance(one, Missing) for one in sides)
            if known and any(number(one) is None for one in sides):
                same = sides[0] is sides[1]
                return ir.Const(same if isinstance(operator, ast.Is | ast.Eq) else not same)
            if isinstance(operator, ast.Is | ast.IsNot) and any(isinstance(x, bool) for x in sides):
                equal = ast.Eq() if isinstance(operator, ast.Is) else ast.NotEq()
                node = ast.copy_location(ast.Compare(node.left, [equal], node.comparators), node)
        return decided(super().comparison(node))

    def outside(self, node: ast.expr) -> Any:
        """The outside object of a side of `is`, else `Missing()`."""
        if isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool)):
            return node.value
        return self.function.captured(node)


def decided(value: ir.Expr) -> ir.Expr:
    """A comparison, or its result if it is one of integers in the text."""
    if isinstance(value, ir.Compare):
        left, right = constant_of(value.left), constant_of(value.right)
        if type(left) is int and type(right) is int:
            return ir.Const(COMPARISONS[value.op](left, right))
    return value


class NumbaTuples(Tuples):
    """The tuples and constant tables of one function."""

    def chosen_item(self, node: ast.Subscript, owner: ast.expr, values: tuple[Value, ...]) -> Value:
        """The result of an index in a tuple or a table; a table's numbers have its type."""
        item = super().chosen_item(node, owner, values)
        entity = self.function.entity(owner.id) if isinstance(owner, ast.Name) else None
        table = entity.value if isinstance(entity, Captured) else self.function.captured(owner)
        if isinstance(table, np.ndarray) and not isinstance(item, tuple | Alias):
            return of_type(item, table.dtype, self.function.place(node))
        return item
