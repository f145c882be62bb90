"""Tuples and constant tables: their values, and the results of indices."""

from __future__ import annotations

import ast
from typing import Any

from mmsim.errors import Place
from mmsim.frontend.python import tables
from mmsim.frontend.python.arrays import Arrays
from mmsim.frontend.python.grammar import OWN_ARRAY
from mmsim.frontend.python.scope import Alias, Captured, TupleName, Value, VariableName
from mmsim.frontend.python.source import written
from mmsim.frontend.python.syntax import constant_index, indices_of, root
from mmsim.ir import nodes as ir


class Tuples(Arrays):
    """The tuples of one function."""

    def table(self, node: ast.expr, table: Any) -> Value:
        """A constant table from outside."""
        text = written(node)
        try:
            value = tables.values_of(table)
        except tables.TooMany:
            raise self.refuse(
                node,
                f"{text!r} has more than {tables.MOST_CAPTURED} numbers",
                "make it a parameter and pass it to run",
            ) from None
        if value is None:
            raise self.refuse(
                node,
                f"{text!r} from outside the program holds something other than numbers of 64 bits",
                "capture tuples, lists and NumPy arrays of integers, floats and bools",
            )
        return value

    def variables_of(self, name: VariableName | TupleName, node: ast.AST) -> Value:
        """The variable of a number, or those of a tuple."""
        if isinstance(name, VariableName):
            return ir.Var(name.name, self.place(node))
        return tuple(self.variables_of(item, node) for item in name.items)

    def has_values(self, owner: ast.expr) -> bool:
        """Return whether an expression may give a tuple or a table."""
        match owner:
            case ast.Name():
                entity = self.entity(owner.id)
                if isinstance(entity, Captured):
                    return tables.is_table(entity.value)
                return isinstance(entity, TupleName)
            case ast.Attribute():
                return tables.is_table(self.captured(owner))
        return isinstance(owner, ast.Tuple | ast.Call)

    def gives_tuple(self, node: ast.expr) -> bool:
        """Return whether an expression may be a tuple, so that it can be taken as one."""
        if isinstance(node, ast.Subscript):
            return self.has_values(root(node))
        return self.has_values(node)

    def chosen_item(self, node: ast.Subscript, owner: ast.expr, values: tuple[Value, ...]) -> Value:
        """The result of one or several indices in a tuple, counted as in Python."""
        item: Value = values
        text = written(owner)
        indices = indices_of(node)
        while indices:
            index = indices[0]
            if isinstance(index, ast.Slice):
                item = self.sliced(index, item)
                del indices[0]
                continue
            if not isinstance(item, tuple):
                raise self.refuse(node, f"{text!r} has fewer axes", "leave some out")
            value = self.expression(index)
            position = tables.constant_of(value)
            if type(position) is not int:
                return self.looked_up(node, text, item, value, indices)
            if not -len(item) <= position < len(item):
                raise self.refuse(
                    index,
                    f"{text!r} has {len(item)} values, none at {position}",
                    "the first is at 0, the last at -1",
                )
            item = item[position]
            text += f"[{position}]"
            del indices[0]
        return item

    def looked_up(
        self,
        node: ast.Subscript,
        text: str,
        table: tuple[Value, ...],
        first: ir.Expr,
        indices: list[ast.expr],
    ) -> Value:
        """The value of a table of constants at indices, of which `first` is evaluated already."""
        shape = tables.regular(table)
        if shape is None:
            raise self.refuse(
                indices[0],
                f"{text!r} is not a regular table of constants",
                f"write its index as a number, or use {OWN_ARRAY}",
            )
        if len(indices) > len(shape):
            raise self.refuse(node, f"{text!r} has fewer axes", "leave some out")
        values = [first]
        for index in indices[1:]:
            if isinstance(index, ast.Slice):
                raise self.refuse_kind(index)
            values = self.followed(values, index)
        place = self.place(node)
        if len(values) < len(shape):  # several values are read by them
            values = [self.spill(value, place) for value in values]
        return tables.lookup(text, table, shape, tuple(values), place)

    def sliced(self, node: ast.Slice, item: Value) -> Value:
        """A part of a tuple, whose bounds are constants."""
        bounds: list[Any] = list(map(constant_index, (node.lower, node.upper, node.step)))
        if isinstance(item, tuple) and "varying" not in bounds and bounds[-1] != 0:
            part: tuple[Value, ...] = item[slice(*bounds)]
            return part
        raise self.refuse_kind(node)

    def set_all(self, variables: Value, value: Value, place: Place) -> None:
        """Set variables to the numbers of a value."""
        for variable, number in zip(tables.leaves(variables), tables.leaves(value), strict=True):
            assert isinstance(variable, ir.Var)
            assert not isinstance(number, Alias)
            self.emit(ir.Assign(variable.name, number, place))
