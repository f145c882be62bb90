"""The value of an expression: a number, an array, or a tuple of these.

A conditional access (in `and`, `or`, a conditional expression or a chained comparison)
makes the expression an `If` around it.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

from mmsim.errors import Place
from mmsim.frontend.python import aliases, tables, thread
from mmsim.frontend.python.arrays import Arrays
from mmsim.frontend.python.function import with_article
from mmsim.frontend.python.grammar import BINARY, COMPARE, UNARY
from mmsim.frontend.python.remedies import remedy
from mmsim.frontend.python.scope import (
    Alias,
    Captured,
    Missing,
    NoArray,
    ParameterUse,
    Role,
    TupleName,
    Value,
    VariableName,
    number,
)
from mmsim.frontend.python.source import constant_index, root, written
from mmsim.frontend.python.words import value_of
from mmsim.ir import nodes as ir
from mmsim.ir.walk import writes_registers


class Values(Arrays):
    """The values of one function's expressions."""

    def value(self, node: ast.expr, target: ast.expr | None = None) -> Value:
        """The value of an expression, also a tuple or an array; `target` is its assigned target.

        If the target names arrays, the value is an array.
        """
        if isinstance(target, ast.Subscript) and not self.is_vector(target):
            # an element is a number
            return self.expression(node)
        if isinstance(target, ast.Name):
            role = self.role(target.id)
            if role is not None and role.shape is None:
                return self.alias(node, role)
        match node:
            case ast.Tuple():
                with self.nested(node):
                    return self.tuple_of(node.elts, targets_of(target, len(node.elts)))
            case ast.Name():
                return self.named(node)
            case ast.Subscript():
                return self.subscript(node)
            case ast.Call():
                return self.call(node)
            case ast.IfExp(_, body, orelse) if any(map(self.is_array, (body, orelse))):
                if isinstance(target, ast.Name):
                    self.learn(target.id, Role(self.place(target)))
                return self.alias(node, Role(self.place(node)))
            case ast.Attribute():
                whole = self.whole(node, target)
                if whole is not None:
                    return whole
        return self.expression(node)

    def tuple_of(
        self, nodes: Sequence[ast.expr], targets: Sequence[ast.expr | None]
    ) -> tuple[Value, ...]:
        """The values of a tuple, from left to right; `targets` are their assigned targets."""
        values: list[Value] = []
        for part, own in zip(nodes, targets, strict=True):
            with self.aside() as statements:
                value = self.value(part, own)
            if any(writes_registers(statement) for statement in statements):
                values = [self.spill_all(earlier, self.place(part)) for earlier in values]
            self.block.extend(statements)
            values.append(value)
        return tuple(values)

    def whole(self, node: ast.Attribute, target: ast.expr | None) -> Value | None:
        """A captured table, or a.shape as a tuple, with as many values as targets."""
        table = self.captured(node)
        if tables.is_table(table):
            return self.table(node, table)
        if node.attr != "shape":
            return None
        array = self.array(node.value)
        if array is None:
            return self.shape_of_table(node.value)
        place = self.place(node)
        rank = len(target.elts) if isinstance(target, ast.Tuple) else self.axes(array)
        if rank is None:
            return None
        return tuple(aliases.extent_of(array, axis, rank, place) for axis in range(rank))

    def shape_of_table(self, node: ast.expr) -> tuple[Value, ...] | None:
        """The extents of a captured array."""
        table = self.captured(node)
        return tuple(map(ir.Const, table.shape)) if type(table) is np.ndarray else None

    def named(self, node: ast.Name) -> Value:
        """The value of a name."""
        entity = self.entity(node.id)
        match entity:
            case TupleName():
                return self.variables_of(entity, node)
            case Captured(table) if tables.is_table(table):
                return self.table(node, table)
            case Alias() | ParameterUse(use="array"):
                array = self.array(node)
                assert array is not None
                return array
        return self.expression(node)

    def subscript(self, node: ast.Subscript) -> Value:
        """The value of x[i]: an element of an array, an extent, a value of a tuple or a table."""
        shape = self.shape_part(node)
        if shape is not None:
            return shape
        owner = root(node)
        if self.vector_word(owner) is not None:
            return self.read_vector(node)
        if self.array(owner) is None and self.has_values(owner):
            whole = self.value(owner)
            if isinstance(whole, tuple):
                return self.chosen_item(node, owner, whole)
            if isinstance(whole, ir.Expr):
                raise self.refuse(owner, f"{written(owner)!r} is not an array", "it is one number")
        array, index = self.element(node)
        return self.load(array, index, self.place(node))

    def shape_part(self, node: ast.Subscript) -> Value | None:
        """a.shape[axis], a tuple for a.shape[:2], None for any other subscript."""
        owner = node.value
        if not (isinstance(owner, ast.Attribute) and owner.attr == "shape"):
            return None
        array = self.array(owner.value)
        place = self.place(node)
        if array is None:
            whole = self.shape_of_table(owner.value)
            return None if whole is None else self.chosen_item(node, owner, whole)
        if isinstance(node.slice, ast.Slice):
            axes = self.sliced_axes(node.slice, owner)
            return tuple(self.extent(array, axis, node.slice, place) for axis in axes)
        axis = constant_index(node.slice)
        if type(axis) is not int:
            raise self.refuse(
                node.slice, "an axis of a shape must be a constant", f"write {written(owner)}[0]"
            )
        self.constant(axis, node.slice)
        return self.extent(array, axis, node.slice, place)

    def literal(self, node: ast.Constant) -> ir.Expr:
        """A number in the text."""
        value = number(node.value) if not isinstance(node.value, str | bytes) else None
        if value is None:
            raise self.refuse(
                node,
                f"{node.value!r} is not a number",
                "programs compute with int, float, complex and bool",
            )
        return self.constant(value, node)

    def name(self, node: ast.Name) -> Value:
        """A name: of a variable, a parameter, a number outside."""
        entity = self.entity(node.id)
        if isinstance(entity, VariableName):
            return ir.Var(entity.name, self.place(node))
        if isinstance(entity, ParameterUse):
            self.use(entity, "number", node)
            return ir.Number(entity.name)
        if isinstance(entity, Alias | NoArray):
            raise self.refuse(
                node, f"the array {node.id!r} stands where a number must", "read an element of it"
            )
        if isinstance(entity, TupleName):
            return self.variables_of(entity, node)
        own = value_of(thread.word(node, self), node, self)
        if own is not None:
            return own
        if not isinstance(entity, Captured):
            raise self.refuse(
                node,
                f"the name {node.id!r} means nothing here",
                remedy(node, self)
                or "assign it first, make it a parameter, or define it above the program",
            )
        return self.captured_number(node, entity.value)

    def captured_number(self, node: ast.expr, value: Any) -> ir.Expr:
        """The number for an object from outside."""
        converted = number(value)
        if converted is not None:
            return self.constant(converted, node)
        text, kind, advice = written(node), type(value).__name__, remedy(node, self)
        if tables.is_table(value):
            kind = tables.kind_of(value)
            advice = f"read an element of it, as {text}[i], or pass it to run as a parameter"
        elif isinstance(value, enum.Enum):
            advice = f"write {text}.value"
        raise self.refuse(
            node,
            f"{text!r} is {with_article(kind)} from outside the program",
            advice or "numbers, tables of numbers and functions of the language can be captured",
        )

    def attribute(self, node: ast.Attribute) -> Value:
        """A field of the thread, a.size, or a number of a module or a class."""
        own = value_of(thread.word(node, self), node, self)
        if own is not None:
            return own
        if isinstance(node.value, ast.Name):
            entity = self.entity(node.value.id)
            if isinstance(entity, ParameterUse) and node.attr in ("real", "imag"):
                return self.part(node)
            if isinstance(entity, ParameterUse | Alias | NoArray) or (
                isinstance(entity, VariableName) and node.attr in ("size", "ndim", "shape", "dtype")
            ):
                return self.of_array(node, node.value)
        value = self.captured(node)
        if isinstance(value, Missing):
            if node.attr in ("real", "imag"):
                return self.part(node)
            table = self.captured(node.value)
            if type(table) is np.ndarray and node.attr in ("size", "ndim"):
                return ir.Const(table.size if node.attr == "size" else table.ndim)
            raise self.refuse(
                node,
                f"{written(node)!r} means nothing in a program",
                remedy(node, self) or "",
            )
        return self.captured_number(node, value)

    def part(self, node: ast.Attribute) -> ir.Expr:
        """z.real and z.imag."""
        operand = self.expression(node.value)
        return ir.Call(node.attr, (operand,), self.place(node))

    def of_array(self, node: ast.Attribute, owner: ast.Name) -> ir.Expr:
        """a.size and a.ndim."""
        array = self.array(owner)
        assert array is not None
        place = self.place(node)
        if node.attr == "size":
            return aliases.size_of(array, place)
        if node.attr == "ndim":
            return aliases.dimensions_of(array, place)
        advice = "programs know its shape, its size, its ndim, len() and its elements"
        if node.attr == "shape":
            advice = f"write {owner.id}.shape[0], or rows, columns = {owner.id}.shape"
        raise self.refuse(node, f"{written(node)!r} is not a number", advice)

    def unary(self, node: ast.UnaryOp) -> ir.Expr:
        """-x, +x, ~x and not x."""
        op = UNARY[type(node.op)]
        if op == "-" and isinstance(node.operand, ast.Constant):
            value = number(node.operand.value)
            if isinstance(value, int | float | complex) and not isinstance(value, bool):
                return self.constant(-value, node)
        return ir.Unary(op, self.expression(node.operand), self.place(node))

    def binary(self, node: ast.BinOp) -> ir.Expr:
        """x + y and the like."""
        chain = [node]  # a long sum is a deep tree: walk down its left side in a loop
        while isinstance(chain[-1].left, ast.BinOp):
            chain.append(chain[-1].left)
        value = self.expression(chain[-1].left)
        for position, part in enumerate(reversed(chain), start=1):
            place = self.place(part)
            op = BINARY.get(type(part.op))
            if op is None:
                raise self.refuse(part, "the matrix product isn't in the language", "write loops")
            value, right = self.followed([value], part.right)
            value = self.link(ir.Binary(op, value, right, place), position, place)
        return value

    def bool_op(self, node: ast.BoolOp) -> ir.Expr:
        """x and y, x or y: y only for the lanes that need it."""
        op = "and" if isinstance(node.op, ast.And) else "or"
        place = self.place(node)
        value = self.expression(node.values[0])
        for position, other in enumerate(node.values[1:], start=1):
            value = self.link(self.logic(op, value, *self.apart(other), place), position, place)
        return value

    def logic(
        self, op: str, left: ir.Expr, right: ir.Expr, statements: list[ir.Stmt], place: Place
    ) -> ir.Expr:
        """left op right, with `statements` before right, for the lanes that need it."""
        if not statements:
            return ir.Logic("and" if op == "and" else "or", left, right)
        name = self.temporary()
        self.emit(ir.Assign(name, left, place))
        needed = (*statements, ir.Assign(name, right, place))
        test = ir.Var(name, place)
        then, orelse = (needed, ()) if op == "and" else ((), needed)
        self.emit(ir.If(test, then, orelse, place))
        return ir.Var(name, place)

    def comparison(self, node: ast.Compare) -> ir.Expr:
        """x < y < z and x in (2, 3): z only for the lanes that need it."""
        place = self.place(node)
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
            found = self.membership(node.left, node.comparators[0], place)
            return found if isinstance(node.ops[0], ast.In) else ir.Unary("not", found, place)
        self.check_operators(node)
        left, right = self.operands(node.left, node.comparators[0])
        if len(node.ops) > 1:
            right = self.spill(right, place)
        value: ir.Expr = ir.Compare(COMPARE[type(node.ops[0])], left, right, place)
        for position, operator in enumerate(node.ops[1:], start=1):
            left = right
            right, statements = self.apart(node.comparators[position])
            if position < len(node.ops) - 1 and not isinstance(right, ir.Const | ir.Number):
                name = self.temporary()
                statements.append(ir.Assign(name, right, place))
                right = ir.Var(name, place)
            link = ir.Compare(COMPARE[type(operator)], left, right, place)
            value = self.link(self.logic("and", value, link, statements, place), position, place)
        return value

    def check_operators(self, node: ast.Compare) -> None:
        """Refuse a comparison of anything but numbers."""
        for operator in node.ops:
            if isinstance(operator, ast.In | ast.NotIn):
                raise self.refuse(
                    node,
                    "'in' stands alone in the language of programs, not in a chain",
                    "compare in two steps, joined by and",
                )
            if type(operator) not in COMPARE:
                raise self.refuse(
                    node, "'is' isn't in the language of programs", "compare numbers by =="
                )

    def membership(self, left: ast.expr, right: ast.expr, place: Place) -> ir.Expr:
        """x in (2, 3): whether x equals a value of a tuple."""
        value = self.expression(left)
        is_range = isinstance(right, ast.Call) and self.captured(right.func) is range
        with self.aside() as statements:
            inside = self.value(right) if self.gives_tuple(right) and not is_range else None
        if not isinstance(inside, tuple) or any(isinstance(one, tuple | Alias) for one in inside):
            advice = "write start <= x < stop" if is_range else "write x in (2, 3)"
            raise self.refuse(right, "'in' takes a tuple of numbers here", advice)
        (value,) = self.kept([value], statements, right)
        if statements or len(inside) > 1:
            value = self.spill(value, place)
        self.block.extend(statements)
        found: ir.Expr = ir.Const(False)
        for position, item in enumerate(inside):
            equal = ir.Compare("==", value, self.single(item, right), place)
            if position == 0:
                found = equal
            else:
                found = self.link(ir.Logic("or", found, equal), position, place)
        return found

    def choice(self, node: ast.IfExp) -> ir.Expr:
        """x if test else y, each side for its own lanes."""
        place = self.place(node)
        test = self.expression(node.test)
        then, before_then = self.apart(node.body)
        other, before_other = self.apart(node.orelse)
        if not before_then and not before_other:
            return ir.Choose(test, then, other)
        name = self.temporary()
        self.emit(
            ir.If(
                test,
                (*before_then, ir.Assign(name, then, place)),
                (*before_other, ir.Assign(name, other, place)),
                place,
            )
        )
        return ir.Var(name, place)


def targets_of(target: ast.expr | None, count: int) -> Sequence[ast.expr | None]:
    """The target of each of several values, if the text gives them."""
    if isinstance(target, ast.Tuple) and len(target.elts) == count:
        return target.elts
    return [None] * count
