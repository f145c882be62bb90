"""Vector accesses: `mm.vector(a, 4)[i]`, which reads or writes four adjacent elements."""

from __future__ import annotations

import ast
from collections.abc import Callable

from mmsim.frontend.python.arrays import Arrays
from mmsim.frontend.python.builder import Builder, Part
from mmsim.frontend.python.dialect import Vectors, arguments_of
from mmsim.frontend.python.scope import Alias, View
from mmsim.frontend.python.source import written
from mmsim.frontend.python.syntax import indices_of, root
from mmsim.ir import nodes as ir


class VectorAccesses(Part):
    """The vector accesses of one function; `in_memory` gives the array that an expression names."""

    def __init__(
        self,
        builder: Builder,
        arrays: Arrays,
        in_memory: Callable[[ast.expr, str, str, str], Alias],
    ) -> None:
        super().__init__(builder)
        self.arrays = arrays
        self.in_memory = in_memory

    def stands_in(self, node: ast.expr) -> bool:
        """Return whether an expression is an element of `mm.vector(...)`."""
        owner = root(node)
        return owner is not node and self.word(owner) is not None

    def word(self, node: ast.expr) -> Vectors | None:
        """The word of a call of `mm.vector`, None for anything else."""
        if not isinstance(node, ast.Call):
            return None
        word = self.builder.dialect.word(node.func, self.function)
        return word if isinstance(word, Vectors) else None

    def read(self, node: ast.Subscript) -> tuple[ir.Expr, ...]:
        """The values of a vector, read by a statement in front."""
        array, index = self.element(node)
        place = self.function.place(node)
        targets = tuple(self.builder.temporary() for _ in range(self.count(node)))

        def load(part: View, index: list[ir.Expr]) -> ir.Stmt:
            return ir.VectorLoad(targets, part.array, part.element(index), place)

        self.builder.emit_for(array, index, load, place)
        return tuple(ir.Var(target, place) for target in targets)

    def write(self, node: ast.Subscript, values: tuple[ir.Expr, ...]) -> None:
        """Write a vector."""
        array, index = self.element(node)
        place = self.function.place(node)

        def store(part: View, index: list[ir.Expr]) -> ir.Stmt:
            return ir.VectorStore(part.array, part.element(index), values, place)

        self.builder.emit_for(array, index, store, place)

    def given(self, node: ast.Subscript) -> tuple[ast.expr, ast.expr, str]:
        """The array, the length and the name of the function in `mm.vector(array, length)[...]`."""
        call = root(node)
        assert isinstance(call, ast.Call)
        word = self.word(call)
        assert word is not None
        array, count = arguments_of(call, word.called, ("array", "count"), self.function)
        return array, count, word.called

    def count(self, node: ast.Subscript) -> int:
        """The number of elements of a subscript's vector."""
        _, given, called = self.given(node)
        count = given.value if isinstance(given, ast.Constant) else self.function.captured(given)
        if type(count) is not int or count not in ir.VECTORS:
            raise self.function.refuse(
                given,
                "a vector has 2, 4, 8 or 16 elements, a number that is known before the launch",
                f"write {called}(a, 4)[i]",
            )
        return count

    def element(self, node: ast.Subscript) -> tuple[Alias, tuple[ir.Expr, ...]]:
        """The array and the index of mm.vector(a, 4)[i] or mm.vector(a, 4)[i, j]."""
        if isinstance(node.value, ast.Subscript):
            raise self.function.refuse(
                node,
                f"{written(node.value)!r} is a vector, whose values have no index here",
                f"give it a name, as in v = {written(node.value)}, and write v[0]",
            )
        owner, _, called = self.given(node)
        array = self.in_memory(
            owner, called, "whose accesses are free", "access its elements one by one"
        )
        return array, self.arrays.index(indices_of(node))
