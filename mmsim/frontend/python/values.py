"""The value of an expression: a number, an array, or a tuple of these."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

import numpy as np

from mmsim.errors import LanguageError, Place
from mmsim.frontend.python import aliases, tables, thread
from mmsim.frontend.python.arrays import Arrays, VectorAccesses
from mmsim.frontend.python.builder import Builder, Part
from mmsim.frontend.python.grammar import OWN_ARRAY
from mmsim.frontend.python.scope import (
    RETURNED,
    Alias,
    ArrayName,
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


class Values(Part):
    """The values of one function's expressions; `call` gives the value of a call."""

    def __init__(
        self, builder: Builder, arrays: Arrays, tuples: Tuples, call: Callable[[ast.Call], Value]
    ) -> None:
        super().__init__(builder)
        self.arrays = arrays
        self.tuples = tuples
        self.call = call
        self.vectors = VectorAccesses(builder, arrays, self.in_memory)

    def value(self, node: ast.expr, target: ast.expr | None = None) -> Value:
        """The value of an expression, also a tuple or an array; `target` is its assigned target.

        If the target names arrays, the value is an array.
        """
        if isinstance(target, ast.Subscript) and not self.vectors.stands_in(target):
            # an element is a number
            return self.builder.expression(node)
        if isinstance(target, ast.Name):
            role = self.function.role(target.id)
            if role is not None and role.shape is None:
                return self.alias(node, role)
        match node:
            case ast.Tuple():
                with self.builder.nested(node):
                    return self.tuple_of(node.elts, targets_of(target, len(node.elts)))
            case ast.Name():
                return self.named(node)
            case ast.Subscript():
                return self.subscript(node)
            case ast.Call():
                return self.call(node)
            case ast.IfExp(_, body, orelse) if any(map(self.function.is_array, (body, orelse))):
                if isinstance(target, ast.Name):
                    self.function.learn(target.id, Role(self.place(target)))
                return self.alias(node, Role(self.place(node)))
            case ast.Attribute():
                whole = self.whole(node, target)
                if whole is not None:
                    return whole
        return self.builder.expression(node)

    def tuple_of(
        self, nodes: Sequence[ast.expr], targets: Sequence[ast.expr | None]
    ) -> tuple[Value, ...]:
        """The values of a tuple, from left to right; `targets` are their assigned targets."""
        values: list[Value] = []
        for part, own in zip(nodes, targets, strict=True):
            with self.builder.aside() as statements:
                value = self.value(part, own)
            if any(writes_registers(statement) for statement in statements):
                values = [self.builder.spill_all(earlier, self.place(part)) for earlier in values]
            self.builder.block.extend(statements)
            values.append(value)
        return tuple(values)

    def whole(self, node: ast.Attribute, target: ast.expr | None) -> Value | None:
        """A captured table, or a.shape as a tuple, with as many values as targets."""
        table = self.function.captured(node)
        if tables.is_table(table):
            return self.tuples.table(node, table)
        if node.attr != "shape":
            return None
        array = self.function.array(node.value)
        if array is None:
            table = self.function.captured(node.value)
            if type(table) is np.ndarray:
                return tuple(ir.Const(extent) for extent in table.shape)
            return None
        place = self.place(node)
        rank = len(target.elts) if isinstance(target, ast.Tuple) else self.arrays.axes(array)
        if rank is None:
            return None
        return tuple(aliases.extent_of(array, axis, rank, place) for axis in range(rank))

    def named(self, node: ast.Name) -> Value:
        """The value of a name."""
        entity = self.function.entity(node.id)
        match entity:
            case TupleName():
                return self.tuples.tuple_value(entity, node)
            case Captured(table) if tables.is_table(table):
                return self.tuples.table(node, table)
            case ArrayName() | Alias() | ParameterUse(use="array"):
                array = self.function.array(node)
                assert array is not None
                return array
        return self.builder.expression(node)

    def subscript(self, node: ast.Subscript) -> Value:
        """The value of x[i]: an element of an array, an extent, a value of a tuple or a table."""
        shape = self.shape_part(node)
        if shape is not None:
            return shape
        owner = root(node)
        if self.vectors.word(owner) is not None:
            return self.vectors.read(node)
        if self.function.array(owner) is None and self.tuples.has_values(owner):
            whole = self.value(owner)
            if isinstance(whole, tuple):
                return self.tuples.chosen_item(node, owner, whole)
            if isinstance(whole, ir.Expr):
                raise self.refuse(owner, f"{written(owner)!r} is not an array", "it is one number")
        array, index = self.arrays.element(node)
        return self.arrays.load(array, index, self.place(node))

    def shape_part(self, node: ast.Subscript) -> Value | None:
        """a.shape[axis], a tuple for a.shape[:2], None for any other subscript."""
        owner = node.value
        if not (isinstance(owner, ast.Attribute) and owner.attr == "shape"):
            return None
        array = self.function.array(owner.value)
        place = self.place(node)
        if array is None:
            table = self.function.captured(owner.value)
            if type(table) is not np.ndarray:
                return None
            whole = tuple(ir.Const(extent) for extent in table.shape)
            return self.tuples.chosen_item(node, owner, whole)
        if isinstance(node.slice, ast.Slice):
            axes = self.arrays.sliced_axes(node.slice, owner)
            return tuple(self.arrays.extent(array, axis, node.slice, place) for axis in axes)
        axis = constant_index(node.slice)
        if type(axis) is not int:
            raise self.refuse(
                node.slice, "an axis of a shape must be a constant", f"write {written(owner)}[0]"
            )
        self.builder.constant(axis, node.slice)
        return self.arrays.extent(array, axis, node.slice, place)

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
                if not part.index and part.array in self.function.unit.known.arrays:
                    raise self.function.unit.known.arrays[part.array]
            raise self.refuse(
                node,
                f"the array {written(node)!r} stands where a number must",
                "read an element of it",
            )
        return value

    def alias(self, node: ast.expr, role: Role) -> Alias:
        """The array that an expression stands for, if its target names arrays."""
        place = self.place(node)
        match node:
            case ast.Name():
                array = self.function.array(node)
                if array is not None:
                    return array
            case ast.Subscript() if self.function.array(root(node)) is not None:
                array, index = self.arrays.element(node)
                fixed = tuple(self.builder.spill(part, place) for part in index)
                return array.restricted(fixed)
            case ast.IfExp(test, body, orelse):
                return self.either_alias(test, body, orelse, role, place)
            case ast.Call():
                value = self.call(node)
                if isinstance(value, Alias):
                    return value
                called = self.function.captured(node.func)
                helper = thread.helper(called)
                if helper is not None:
                    self.function.learn_once((helper, RETURNED), role)
        text = role.place.text[role.place.column : role.place.end_column]
        if role.declared:
            raise LanguageError(
                f"two arrays or variables of one name: {text!r}",
                role.place,
                "give every array a name of its own",
            )
        raise LanguageError(
            f"{text!r} is not an array: line {place.line} assigns something else to it",
            role.place,
            "only arrays have elements; give arrays and numbers names of their own",
        )

    def in_memory(self, node: ast.expr, called: str, why: str, advice: str) -> Alias:
        """The array in memory that a function takes, or a row of it."""
        array = self.function.array(node)
        if array is None and not isinstance(node, ast.Subscript | ast.IfExp | ast.Call):
            raise self.refuse(
                node, f"{written(node)!r} is not an array", f"the first argument of {called} is one"
            )
        if array is None:
            array = self.alias(node, Role(self.place(node)))
        if any(self.arrays.is_registers(part.array) for part in array.parts):
            own_array = OWN_ARRAY
            raise self.refuse(node, f"{written(node)!r} is {own_array}, {why}", advice)
        return array

    def either_alias(
        self, test: ast.expr, body: ast.expr, orelse: ast.expr, role: Role, place: Place
    ) -> Alias:
        """The array that a conditional expression stands for."""
        chosen = self.builder.expression(test)
        with self.builder.aside() as before_then:
            then = self.alias(body, role)
        with self.builder.aside() as before_other:
            other = self.alias(orelse, role)
        keys = [*aliases.keys_of(then), *aliases.keys_of(other)]
        merged = aliases.Merged.of(keys, place, self.function.unit)
        for block, alias in ((before_then, then), (before_other, other)):
            block += merged.settings(alias, place, True)
        self.builder.emit(ir.If(chosen, tuple(before_then), tuple(before_other), place))
        return merged.alias

    def item(self, node: ast.Subscript) -> ir.Expr:
        """x[i], if it is one number."""
        return self.single(self.subscript(node), node)


def targets_of(target: ast.expr | None, count: int) -> Sequence[ast.expr | None]:
    """The target of each of several values, if the text gives them."""
    if isinstance(target, ast.Tuple) and len(target.elts) == count:
        return target.elts
    return [None] * count


class ValuePart(Part):
    """A part of the parser that lowers values of expressions, too."""

    def __init__(self, values: Values) -> None:
        super().__init__(values.builder)
        self.values, self.arrays, self.tuples = values, values.arrays, values.tuples
        self.vectors = values.vectors
