"""Loops of kernels: else after a loop, and loops over the elements of arrays."""

from __future__ import annotations

import ast

from mmsim.frontend.python import aliases
from mmsim.frontend.python.loops import Loops
from mmsim.frontend.python.scope import Role, VariableName
from mmsim.frontend.python.syntax import root
from mmsim.ir import nodes as ir

TRIP = "trip"


class NumbaLoops(Loops):
    """The loops of one function.

    A loop over the elements of an array is parsed as a loop over their numbers, from its
    text.
    """

    def while_loop(self, node: ast.While) -> None:
        """while test: ... else: ..."""
        if not node.orelse:
            super().while_loop(node)
            return
        bare = ast.While(node.test, node.body, [])
        self.with_else(ast.copy_location(bare, node), node.orelse)

    def for_loop(self, node: ast.For) -> None:
        """for x in range(...), over arrays, and over values known beforehand."""
        if node.orelse:
            bare = ast.For(node.target, node.iter, node.body, [])
            self.with_else(ast.copy_location(bare, node), node.orelse)
            return
        if not self.has_array(node.iter):
            super().for_loop(node)
            return
        name = self.function.unit.unique(TRIP)
        self.function.bound[name] = VariableName(name)
        lengths: list[ir.Expr] = []
        item = self.item(node.iter, name, lengths)
        first = ast.copy_location(ast.Assign([node.target], item), node.iter)
        target = ast.copy_location(ast.Name(name, ast.Store()), node.iter)
        bare = ast.For(target, node.iter, [ast.fix_missing_locations(first), *node.body], [])
        stop, *others = lengths
        for other in others:
            stop = ir.Binary("min", stop, other, self.function.place(node.iter))
        loop = ast.copy_location(bare, node)
        self.for_range(loop, target, ir.Const(0), stop, ir.Const(1))

    def item(self, node: ast.expr, trip: str, lengths: list[ir.Expr]) -> ast.expr:
        """The text of a trip's values; the lengths of all iterated arrays are noted."""
        number = ast.copy_location(ast.Name(trip, ast.Load()), node)
        called = self.function.captured(node.func) if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and called is zip and not _strict(node):
            parts = [self.item(one, trip, lengths) for one in node.args]
            return ast.copy_location(ast.Tuple(parts, ast.Load()), node)
        if isinstance(node, ast.Call) and called is enumerate:
            first = self.first_number(node)
            counted: ast.expr = number
            if first != ir.Const(0):
                more = [*node.args[1:], *(one.value for one in node.keywords)]
                counted = ast.copy_location(ast.BinOp(more[0], ast.Add(), number), node)
            inside = self.item(node.args[0], trip, lengths)
            return ast.copy_location(ast.Tuple([counted, inside], ast.Load()), node)
        if isinstance(node, ast.Call) and called is range:
            start, stop, step = self.range_of(node)
            if (start, step) == (ir.Const(0), ir.Const(1)):
                lengths.append(stop)
                return number
        if not self.has_array(node):
            raise self.function.refuse(
                node, "this can't be looped over with an array", "write a loop over range(n)"
            )
        array = self.values.alias(node, Role(self.function.place(node)))
        lengths.append(aliases.extent_of(array, 0, None, self.function.place(node)))
        return ast.copy_location(ast.Subscript(node, number, ast.Load()), node)

    def with_else(self, node: ast.For | ast.While, orelse: list[ast.stmt]) -> None:
        """A loop, and the statements for a loop that ends without break."""
        scope = self.function.unit.unique("loop")
        self.ending = scope
        with self.builder.aside() as block:
            if isinstance(node, ast.For):
                self.for_loop(node)
            else:
                self.while_loop(node)
            self.ending = ""
            self.builder.block.extend(self.builder.inner(orelse))
        self.builder.emit(ir.Scope(scope, tuple(block)))

    def has_array(self, node: ast.expr) -> bool:
        """Return whether a loop runs over the elements of an array, among others."""
        if isinstance(node, ast.Call) and self.function.captured(node.func) in (enumerate, zip):
            return any(map(self.has_array, node.args))
        return self.function.is_array(root(node))


def _strict(node: ast.Call) -> bool:
    """Return whether zip must refuse arrays of lengths that differ and are known in the run."""
    return any(
        one.arg != "strict"
        or not isinstance(one.value, ast.Constant)
        or one.value.value is not False
        for one in node.keywords
    )
