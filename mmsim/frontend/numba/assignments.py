"""Assignments of kernels: constant arrays, and parts of arrays."""

from __future__ import annotations

import ast
import copy
from typing import Any

import numpy as np

from mmsim.errors import LanguageError
from mmsim.frontend.numba.arrays import NumbaValues
from mmsim.frontend.numba.elementwise import Elementwise
from mmsim.frontend.numba.names import name_of
from mmsim.frontend.numba.renaming import separate
from mmsim.frontend.numba.state import kernel
from mmsim.frontend.numba.words import GRID
from mmsim.frontend.python.assignments import Assignments
from mmsim.frontend.python.grammar import BINARY
from mmsim.frontend.python.scope import Alias, Captured, Role, Value, outside
from mmsim.frontend.python.source import written
from mmsim.frontend.python.tables import is_large
from mmsim.ir import nodes as ir


class NumbaAssignments(Assignments):
    """The assignments of one function."""

    def assignment(self, node: ast.Assign) -> None:
        """x = value; a name of a constant array stands for the outside array."""
        first = node.targets[0]
        if isinstance(first, ast.Name) and isinstance(node.value, ast.Call):
            if name_of(node.value.func, self.function) == "cg.this_grid":
                self.function.bound[first.id] = GRID
                return
            constant = self.constant_array(node.value)
            if constant is not None:
                self.function.bound[first.id] = self.constant(first.id, constant, node.value)
                return
        super().assignment(node)

    def assign(self, target: ast.expr, value: Value, node: ast.AST) -> None:
        """Assign the value of `node` for one of its targets, which may be a part of an array."""
        values = self.values
        assert isinstance(values, NumbaValues)
        field = values.field(target)
        if field is not None:
            Elementwise(values).assign(field, value, target)
            return
        if isinstance(target, ast.Subscript):
            with self.builder.aside() as before:
                array, index = values.arrays.element(target)
            if values.leaves_axes(array, index):
                self.builder.block.extend(before)
                parts = tuple(part.restricted(index) for part in array.parts)
                Elementwise(values).assign(Alias(parts, array.which), value, target)
                return
        super().assign(target, value, node)

    def augmented(self, node: ast.AugAssign) -> None:
        """x += value, a[i] += value and a[i].x += value."""
        values = self.values
        assert isinstance(values, NumbaValues)
        field = values.field(node.target)
        if self.function.place(node) in kernel(self.function).known.of_complex:
            read = copy.copy(node.target)
            read.ctx = ast.Load()
            power = ast.copy_location(ast.BinOp(read, node.op, node.value), node)
            self.assignment(ast.copy_location(ast.Assign([node.target], power), node))
            return
        if field is None:
            super().augmented(node)
            return
        place, at = self.function.place(node), values.arrays.only(field)
        old = self.builder.spill(values.arrays.load(field, at, place), place)
        op = BINARY[type(node.op)]
        new = ir.Binary(op, old, self.builder.expression(node.value), place)
        values.arrays.store(field, at, new, place)

    def two_kinds(self, target: ast.Name, role: Role) -> LanguageError:
        """The error for a name with two kinds of values, unless two loops have it."""
        separate(self.function, target.id)
        return super().two_kinds(target, role)

    def constant(self, name: str, array: Any, node: ast.expr) -> Captured | Alias:
        """A constant array: a table of a few numbers, or an argument of every launch."""
        if not is_large(array):
            return Captured(array)
        take = kernel(self.function).array_from_outside
        assert take is not None  # kernels have it
        return take(name, array, None, self.function.place(node))

    def constant_array(self, call: ast.Call) -> Any:
        """The value of cuda.const.array_like(table); None for any other call."""
        if name_of(call.func, self.function) != "const.array_like":
            return None
        if len(call.args) != 1 or call.keywords:
            raise self.function.refuse(call, "cuda.const.array_like takes one array")
        given = call.args[0]
        table = self.function.captured(given)
        if isinstance(given, ast.Name) and given.id not in self.function.bound:
            beyond = outside(self.function.python, given.id)
            table = beyond.value if isinstance(beyond, Captured) else table
        if not isinstance(table, np.ndarray):
            raise self.function.refuse(
                call.args[0],
                f"{written(call.args[0])!r} is not an array from outside the kernel",
                "make a NumPy array outside, which the kernel holds from then on",
            )
        return table
