"""Elements and extents of arrays, under whatever name an array is accessed."""

from __future__ import annotations

import ast

from mmsim.errors import LanguageError, Place
from mmsim.frontend.python import aliases, tables
from mmsim.frontend.python.builder import Part
from mmsim.frontend.python.function import with_article
from mmsim.frontend.python.scope import Alias, TupleName, View
from mmsim.frontend.python.source import written
from mmsim.frontend.python.syntax import constant_index, indices_of, root
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
            raise self.function.refuse(
                node, "an element needs an index", "write a number for each axis"
            )
        return array, self.index(indices)

    def index(self, indices: list[ast.expr]) -> tuple[ir.Expr, ...]:
        """The numbers of an index."""
        for index in indices:
            if isinstance(index, ast.Slice):
                raise self.builder.refuse_kind(index)
            if isinstance(index, ast.Constant) and index.value in (None, Ellipsis):
                raise self.function.refuse(
                    index, f"{written(index)!r} is not an index", "write a number"
                )
        return tuple(self.builder.operands(*indices))

    def no_array(self, owner: ast.expr) -> LanguageError:
        """The error for an element of a value without elements, or with fixed ones."""
        text, outside = written(owner), self.function.captured(owner)
        dialect = self.builder.dialect
        if tables.is_table(outside):
            return self.function.refuse(
                owner,
                f"{text!r} is {with_article(tables.kind_of(outside))} from outside the program",
                f"it is constant; make it a parameter and pass it to {dialect.launch}",
            )
        if isinstance(owner, ast.Name) and isinstance(self.function.entity(owner.id), TupleName):
            return self.function.refuse(
                owner,
                f"{text!r} is a tuple, whose values stay as they are",
                f"assign a new tuple, or use {dialect.own_array}",
            )
        self.function.refuse_no_array(owner)
        return self.function.refuse(owner, f"{text!r} is not an array", "only arrays have elements")

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

    def rank(self, part: View) -> int | None:
        """The number of axes of a part of an array, if it is known."""
        fixed = len(part.index) - len(part.spans)
        for local in self.function.unit.locals:
            if local.name == part.array:
                return len(local.shape) - fixed
        return None

    def extent(self, array: Alias, axis: int, node: ast.AST, place: Place) -> ir.Expr:
        """An extent of an array."""
        if axis < -1 and any(part.index for part in array.parts):
            raise self.function.refuse(
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
        raise self.function.refuse(
            node,
            "how many axes this takes is not known",
            f"write {written(owner)}[:2], {written(owner)}[-2:] or one axis at a time",
        )
