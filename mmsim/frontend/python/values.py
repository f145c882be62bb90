"""The value of an expression: a number, an array, or a tuple of these."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import numpy as np

from mmsim.frontend.python import aliases, tables
from mmsim.frontend.python.scope import (
    Alias,
    Captured,
    ParameterUse,
    Role,
    TupleName,
    Value,
)
from mmsim.frontend.python.source import written
from mmsim.frontend.python.syntax import constant_index, root
from mmsim.frontend.python.tuples import Tuples
from mmsim.ir import nodes as ir
from mmsim.ir.walk import writes_registers


class Values(Tuples):
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

    def single(self, value: Value, node: ast.expr) -> ir.Expr:
        """A value that must be one number."""
        if isinstance(value, tuple):
            raise self.refuse(
                node,
                f"{written(node)!r} is a tuple of {len(value)} values where a number must stand",
                "assign its values to names, as in x, y = ..., or choose one by its number",
            )
        if isinstance(value, Alias):
            for part in value.parts:
                if not part.index and part.array in self.unit.known.arrays:
                    raise self.unit.known.arrays[part.array]
            raise self.refuse(
                node,
                f"the array {written(node)!r} stands where a number must",
                "read an element of it",
            )
        return value

    def item(self, node: ast.Subscript) -> ir.Expr:
        """x[i], if it is one number."""
        return self.single(self.subscript(node), node)


def targets_of(target: ast.expr | None, count: int) -> Sequence[ast.expr | None]:
    """The target of each of several values, if the text gives them."""
    if isinstance(target, ast.Tuple) and len(target.elts) == count:
        return target.elts
    return [None] * count
