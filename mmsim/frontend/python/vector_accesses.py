"""Vector accesses: `mm.vector(a, 4)[i]`, which reads or writes four adjacent elements."""

from __future__ import annotations

import ast
from collections.abc import Callable

from mmsim.frontend.python import aliases
from mmsim.frontend.python.arrays import Arrays
from mmsim.frontend.python.lowering import Lowering
from mmsim.frontend.python.scope import Alias, Part, Role
from mmsim.frontend.python.source import written
from mmsim.frontend.python.trees import indices_of, root
from mmsim.ir import nodes as ir


class VectorAccesses:
    """The vector accesses of one function; `alias` gives the array that an expression names."""

    def __init__(
        self, lowering: Lowering, arrays: Arrays, alias: Callable[[ast.expr, Role], Alias]
    ) -> None:
        self.function = lowering.function
        self.lowering = lowering
        self.arrays = arrays
        self.alias = alias

    def stands_in(self, node: ast.expr) -> bool:
        """Return whether an expression is an element of `mm.vector(...)`."""
        owner = root(node)
        return owner is not node and self.is_call(owner)

    def is_call(self, node: ast.expr) -> bool:
        """Return whether an expression is a call of `mm.vector`."""
        dialect = self.lowering.dialect
        return isinstance(node, ast.Call) and dialect.vector(node, self.function) is not None

    def read(self, node: ast.Subscript) -> tuple[ir.Expr, ...]:
        """The values of a vector, read by a statement in front."""
        array, count, index = self.element(node)
        place = self.function.place(node)
        targets = tuple(self.lowering.temporary() for _ in range(count))
        if len(array.parts) > 1:
            index = tuple(self.lowering.spill(one, place) for one in index)

        def load(part: Part) -> ir.Stmt:
            return ir.VectorLoad(targets, part.array, part.element(index), place)

        self.lowering.emit(aliases.chosen(array, load, place))
        return tuple(ir.Var(target, place) for target in targets)

    def count(self, node: ast.Subscript) -> int:
        """The number of elements of a subscript's vector."""
        return self.given(node)[1]

    def write(self, node: ast.Subscript, values: tuple[ir.Expr, ...]) -> None:
        """Write a vector."""
        array, _, index = self.element(node)
        place = self.function.place(node)
        if len(array.parts) > 1:
            index = tuple(self.lowering.spill(one, place) for one in index)

        def store(part: Part) -> ir.Stmt:
            return ir.VectorStore(part.array, part.element(index), values, place)

        self.lowering.emit(aliases.chosen(array, store, place))

    def given(self, node: ast.Subscript) -> tuple[ast.expr, int]:
        """The array and the length in `mm.vector(array, length)[...]`."""
        call = root(node)
        assert isinstance(call, ast.Call)
        found = self.lowering.dialect.vector(call, self.function)
        assert found is not None
        return found

    def element(self, node: ast.Subscript) -> tuple[Alias, int, tuple[ir.Expr, ...]]:
        """The array, the length and the index of mm.vector(a, 4)[i] or mm.vector(a, 4)[i, j]."""
        if isinstance(node.value, ast.Subscript):
            raise self.function.refuse(
                node,
                f"{written(node.value)!r} is a vector, whose values have no index here",
                f"give it a name, as in v = {written(node.value)}, and write v[0]",
            )
        called, count = self.given(node)
        array = self.array(called)
        return array, count, self.arrays.index(indices_of(node))

    def array(self, node: ast.expr) -> Alias:
        """The array of the vectors, or a row of it."""
        array = self.function.array(node)
        if array is None and not isinstance(node, ast.Subscript | ast.IfExp | ast.Call):
            raise self.function.refuse(
                node, f"{written(node)!r} is not an array", "the first argument of mm.vector is one"
            )
        if array is None:
            array = self.alias(node, Role(self.function.place(node)))
        if any(self.arrays.is_registers(part.array) for part in array.parts):
            raise self.function.refuse(
                node,
                f"{written(node)!r} is {self.lowering.dialect.own_array}, whose accesses are free",
                "access its elements one by one",
            )
        return array
