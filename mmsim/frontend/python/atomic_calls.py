"""Calls of atomics: the statement for each."""

from __future__ import annotations

import ast

from mmsim.frontend.python import aliases
from mmsim.frontend.python.scope import Alias, Part, Role, TupleName
from mmsim.frontend.python.source import written
from mmsim.frontend.python.values import Values
from mmsim.ir import nodes as ir
from mmsim.ir.nodes import AtomicOp


class AtomicCalls:
    """The atomics of one function."""

    def __init__(self, values: Values) -> None:
        self.function = values.function
        self.lowering = values.lowering
        self.values = values

    def op(self, node: ast.Call) -> AtomicOp | None:
        """The operation of a call, None if the call is not an atomic."""
        return self.lowering.dialect.atomic(self.function.captured(node.func))

    def call(self, node: ast.Call, op: AtomicOp) -> ir.Expr:
        """An atomic whose old value is used."""
        target = self.lowering.temporary()
        self.emit(node, op, target)
        return ir.Var(target, self.function.place(node))

    def emit(self, node: ast.Call, op: AtomicOp, target: str | None) -> None:
        """The statement for an atomic."""
        called, place = written(node.func), self.function.place(node)
        wanted = "array, index, compare, value" if op == "cas" else "array, index, value"
        count = len(wanted.split())
        if len(node.args) != count or node.keywords:
            raise self.function.refuse(
                node, f"{called} takes {count} arguments", f"write {called}({wanted})"
            )
        array = self.array(node.args[0], called)
        index = self.index(node.args[1])
        operands = self.lowering.operands(*index, *node.args[2:])
        if len(array.parts) > 1:
            operands = [self.lowering.spill(one, place) for one in operands]
        *at, value = operands
        compare = at.pop() if op == "cas" else None

        def atomic(part: Part) -> ir.Stmt:
            where = part.element(at)
            return ir.Atomic(target, op, part.array, where, compare, value, place)

        self.lowering.emit(aliases.chosen(array, atomic, place))

    def array(self, node: ast.expr, called: str) -> Alias:
        """The array with the changed word, or a row of it."""
        role = Role(self.function.place(node))
        array = self.function.array(node)
        if array is None and not isinstance(node, ast.Subscript | ast.IfExp | ast.Call):
            raise self.function.refuse(
                node, f"{written(node)!r} is not an array", f"the first argument of {called} is one"
            )
        if array is None:
            array = self.values.alias(node, role)
        if any(self.values.arrays.is_registers(part.array) for part in array.parts):
            raise self.function.refuse(
                node,
                f"{written(node)!r} is {self.lowering.dialect.own_array}, which no other thread "
                "sees",
                "change it by an assignment",
            )
        return array

    def index(self, node: ast.expr) -> list[ast.expr]:
        """The numbers of an index; for a tuple, those in it."""
        if isinstance(node, ast.Tuple) and node.elts:
            return node.elts
        if isinstance(node, ast.Name) and isinstance(self.function.entity(node.id), TupleName):
            raise self.function.refuse(
                node, f"{node.id!r} is a tuple", "write its numbers, as in (i, j)"
            )
        return [node]
