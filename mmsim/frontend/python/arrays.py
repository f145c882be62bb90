"""Elements and extents of arrays, under whatever name an array is accessed.

`mm.vector(a, 4)[i]` accesses four adjacent elements.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from mmsim.errors import LanguageError, Place
from mmsim.frontend.python import aliases, tables, thread
from mmsim.frontend.python.builder import Builder, Part
from mmsim.frontend.python.function import with_article
from mmsim.frontend.python.grammar import OWN_ARRAY
from mmsim.frontend.python.scope import Alias, TupleName, View
from mmsim.frontend.python.source import written
from mmsim.frontend.python.syntax import constant_index, indices_of, root
from mmsim.frontend.python.words import Vectors, arguments_of
from mmsim.ir import nodes as ir


class Arrays(Part):
    """The accesses of one function."""

    def element(self, node: ast.Subscript) -> tuple[Alias, tuple[ir.Expr, ...]]:
        """The array and the index of a[i], a[i, j] or a[i][j]."""
        indices, owner = indices_of(node), root(node)
        array = self.function.array(owner)
        if array is None:
            raise self.no_array(owner)
        if not indices:
            raise self.refuse(node, "an element needs an index", "write a number for each axis")
        return array, self.index(indices)

    def index(self, indices: list[ast.expr]) -> tuple[ir.Expr, ...]:
        """The numbers of an index."""
        for index in indices:
            if isinstance(index, ast.Slice):
                raise self.builder.refuse_kind(index)
            if isinstance(index, ast.Constant) and index.value in (None, Ellipsis):
                raise self.refuse(index, f"{written(index)!r} is not an index", "write a number")
        return tuple(self.builder.operands(*indices))

    def no_array(self, owner: ast.expr) -> LanguageError:
        """The error for an element of a value without elements, or with fixed ones."""
        text, outside = written(owner), self.function.captured(owner)
        if tables.is_table(outside):
            return self.refuse(
                owner,
                f"{text!r} is {with_article(tables.kind_of(outside))} from outside the program",
                "it is constant; make it a parameter and pass it to run",
            )
        if isinstance(owner, ast.Name) and isinstance(self.function.entity(owner.id), TupleName):
            return self.refuse(
                owner,
                f"{text!r} is a tuple, whose values stay as they are",
                f"assign a new tuple, or use {OWN_ARRAY}",
            )
        self.function.refuse_no_array(owner)
        return self.refuse(owner, f"{text!r} is not an array", "only arrays have elements")

    def load(self, array: Alias, index: tuple[ir.Expr, ...], place: Place) -> ir.Expr:
        """An element of an array, read by a statement in front."""
        (first, *others) = array.parts
        if not others and self.is_registers(first.array):
            return ir.RegisterRead(first.array, first.element(index), place)
        target = self.builder.temporary()
        self.touch(array, index, place, target)
        return ir.Var(target, place)

    def touch(
        self, array: Alias, index: tuple[ir.Expr, ...], place: Place, target: str | None = None
    ) -> None:
        """Read an element into a variable, or drop it."""
        self.builder.emit_for(
            array, index, lambda part, given: self.read(target, part, given, place), place
        )

    def read(self, target: str | None, part: View, index: list[ir.Expr], place: Place) -> ir.Stmt:
        """The statement that reads an element."""
        whole = part.element(index)
        if target is not None and self.is_registers(part.array):
            return ir.Assign(target, ir.RegisterRead(part.array, whole, place), place)
        return ir.Load(target, part.array, whole, place)

    def store(self, array: Alias, index: tuple[ir.Expr, ...], value: ir.Expr, place: Place) -> None:
        """Write an element of an array."""

        def write(part: View, given: list[ir.Expr]) -> ir.Stmt:
            kind = ir.RegisterWrite if self.is_registers(part.array) else ir.Store
            return kind(part.array, part.element(given[:-1]), given[-1], place)

        self.builder.emit_for(array, (*index, value), write, place)

    def is_registers(self, array: str) -> bool:
        """Return whether an array is one of each thread's own."""
        return any(
            local.name == array and local.kind == "registers" for local in self.function.unit.locals
        )

    def axes(self, array: Alias) -> int | None:
        """The number of axes of an array, if it is known."""
        known = {local.name: len(local.shape) for local in self.function.unit.locals}
        found = {
            known[one.array] - len(one.index) if one.array in known else None for one in array.parts
        }
        return found.pop() if len(found) == 1 else None

    def extent(self, array: Alias, axis: int, node: ast.AST, place: Place) -> ir.Expr:
        """An extent of an array."""
        if axis < -1 and any(part.index for part in array.parts):
            raise self.refuse(
                node, "the axes of a part of an array are counted from 0 here", "or write -1"
            )
        return aliases.extent_of(array, axis, None, place)

    def sliced_axes(self, node: ast.Slice, owner: ast.expr) -> range:
        """The axes of a.shape[:2] and of a.shape[-2:], if their number is known."""
        first, last, step = map(constant_index, (node.lower, node.upper, node.step))
        start = 0 if first is None else first
        if isinstance(start, int) and step in (None, 1):
            if isinstance(last, int) and start >= 0 and last >= 0:
                return range(start, last)
            if last is None and start < 0:
                return range(start, 0)
        raise self.refuse(
            node,
            "how many axes this takes is not known",
            f"write {written(owner)}[:2], {written(owner)}[-2:] or one axis at a time",
        )


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
        word = thread.word(node.func, self.function)
        return word if isinstance(word, Vectors) else None

    def read(self, node: ast.Subscript) -> tuple[ir.Expr, ...]:
        """The values of a vector, read by a statement in front."""
        array, index = self.element(node)
        place = self.place(node)
        targets = tuple(self.builder.temporary() for _ in range(self.count(node)))

        def load(part: View, index: list[ir.Expr]) -> ir.Stmt:
            return ir.VectorLoad(targets, part.array, part.element(index), place)

        self.builder.emit_for(array, index, load, place)
        return tuple(ir.Var(target, place) for target in targets)

    def write(self, node: ast.Subscript, values: tuple[ir.Expr, ...]) -> None:
        """Write a vector."""
        array, index = self.element(node)
        place = self.place(node)

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
            raise self.refuse(
                given,
                "a vector has 2, 4, 8 or 16 elements, a number that is known before the launch",
                f"write {called}(a, 4)[i]",
            )
        return count

    def element(self, node: ast.Subscript) -> tuple[Alias, tuple[ir.Expr, ...]]:
        """The array and the index of mm.vector(a, 4)[i] or mm.vector(a, 4)[i, j]."""
        if isinstance(node.value, ast.Subscript):
            raise self.refuse(
                node,
                f"{written(node.value)!r} is a vector, whose values have no index here",
                f"give it a name, as in v = {written(node.value)}, and write v[0]",
            )
        owner, _, called = self.given(node)
        array = self.in_memory(
            owner, called, "whose accesses are free", "access its elements one by one"
        )
        return array, self.arrays.index(indices_of(node))
