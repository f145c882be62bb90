"""Whole arrays in kernels, element by element within one thread: a[1:] = x and np.sin(a, out)."""

from __future__ import annotations

import ast
from collections.abc import Callable

import numpy as np

from mmsim.errors import Place
from mmsim.frontend.numba.arrays import NumbaArrays, NumbaValues
from mmsim.frontend.python import aliases
from mmsim.frontend.python.scope import Alias, Value, ValueName
from mmsim.frontend.python.source import written
from mmsim.ir import nodes as ir

Index = tuple[ir.Expr, ...]


class Elementwise:
    """The operations of one function on all elements of arrays, in row-major order."""

    def __init__(self, values: NumbaValues) -> None:
        self.values = values
        self.arrays: NumbaArrays = values.arrays
        self.function = values.function
        self.builder = values.builder

    def fill(self, array: Alias, make: Callable[[Index], ir.Expr], node: ast.AST) -> None:
        """Store in each element the result of `make` for its index."""
        place = self.function.place(node)
        rank = self.arrays.axes(array) or 0
        index = tuple(ir.Var(self.builder.temporary("trip"), place) for _ in range(rank))
        self.builder.loops += rank
        with self.builder.aside() as block:
            self.arrays.store(array, index or self.arrays.only(array), make(index), place)
        self.builder.loops -= rank
        body = tuple(block)
        for axis in reversed(range(rank)):
            stop = aliases.extent_of(array, axis, None, place)
            loop = ir.For(index[axis].name, ir.Const(0), stop, ir.Const(1), body, place)
            body = (loop,)
        self.builder.block.extend(body)

    def part(self, value: Value, index: Index, place: Place) -> ir.Expr:
        """The number for an element: an element of an array along its last axes, or a number."""
        if isinstance(value, tuple):
            raise AssertionError("a tuple is not an array")
        if not isinstance(value, Alias):
            return value
        rank = self.arrays.axes(value) or 0
        own = index[len(index) - rank :] if rank else self.arrays.only(value)
        return self.arrays.load(value, own, place)

    def spread(self, value: Value, node: ast.expr) -> Value:
        """A number or an array to be stored in the elements of an array."""
        if isinstance(value, tuple):
            raise self.function.refuse(
                node, f"{written(node)!r} is a tuple", "store its values one by one"
            )
        return self.builder.spill_all(value, self.function.place(node))

    def assign(self, array: Alias, value: Value, node: ast.expr) -> None:
        """a[...] = value, if axes of `a` are left, or fields."""
        fields = self.values.fields_of(array)
        if fields:
            given = self.values.fields_of(value) if isinstance(value, Alias) else {}
            if set(given) != set(fields):
                raise self.function.refuse(node, "records of other fields are stored here")
            for name, own in fields.items():
                self.assign(own, given[name], node)
            return
        source, place = self.spread(value, node), self.function.place(node)
        self.fill(array, lambda index: self.part(source, index, place), node)

    def is_ufunc(self, node: ast.Call) -> bool:
        """Return whether a call has an output array behind the operands of NumPy's function."""
        called = self.function.captured(node.func)
        return isinstance(called, np.ufunc) and len(node.args) == called.nin + 1

    def ufunc(self, node: ast.Call, call: Callable[[ast.Call], Value]) -> None:
        """np.sin(a, out): for each element, the result of `call` for numbers."""
        *operands, last = node.args
        sources = [self.spread(self.values.value(one), one) for one in operands]
        out = self.values.value(last)
        if not isinstance(out, Alias):
            raise self.function.refuse(last, f"{written(last)!r} is not an array")

        def value(index: Index) -> ir.Expr:
            place = self.function.place(node)
            names = [self.named(self.part(one, index, place), node) for one in sources]
            alone = ast.copy_location(ast.Call(node.func, names, []), node)
            return self.values.single(call(alone), node)

        self.fill(out, value, node)

    def named(self, value: ir.Expr, node: ast.expr) -> ast.expr:
        """A name that stands for a number."""
        name = self.function.unit.unique("element")
        self.function.bound[name] = ValueName(value)
        return ast.copy_location(ast.Name(name, ast.Load()), node)
