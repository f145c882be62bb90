"""Calls of atomics: the statement for each."""

from __future__ import annotations

import ast

from mmsim.frontend.python.dialect import Atomic
from mmsim.frontend.python.scope import Alias, TupleName, View
from mmsim.frontend.python.source import written
from mmsim.frontend.python.values import Values
from mmsim.ir import nodes as ir


class AtomicCalls:
    """The atomics of one function."""

    def __init__(self, values: Values) -> None:
        self.function = values.function
        self.builder = values.builder
        self.values = values

    def emit(self, node: ast.Call, word: Atomic, target: str | None) -> None:
        """The statement for an atomic."""
        called, place, count = written(node.func), self.function.place(node), len(word.parameters)
        if len(node.args) != count or node.keywords:
            raise self.function.refuse(
                node,
                f"{called} takes {count} arguments",
                f"write {called}({', '.join(word.parameters)})",
            )
        array = self.values.in_memory(
            node.args[0], called, "which no other thread sees", "change it by an assignment"
        )
        arguments = node.args[1:]
        if "index" in word.parameters:
            operands = self.index(arguments.pop(0), array)
        else:
            operands = self.first_word(array)
        for one in arguments:
            operands = self.builder.followed(operands, one)

        def atomic(part: View, given: list[ir.Expr]) -> ir.Stmt:
            *at, value = given
            compare = at.pop() if word.op == "cas" else None
            where = part.element(at)
            return ir.Atomic(target, word.op, part.array, where, compare, value, place)

        self.builder.emit_for(array, operands, atomic, place)

    def index(self, node: ast.expr, array: Alias) -> list[ir.Expr]:
        """The numbers of an index; for a tuple, those in it."""
        if isinstance(node, ast.Tuple) and node.elts:
            return self.builder.operands(*node.elts)
        if isinstance(node, ast.Name) and isinstance(self.function.entity(node.id), TupleName):
            raise self.function.refuse(
                node, f"{node.id!r} is a tuple", "write its numbers, as in (i, j)"
            )
        return self.builder.operands(node)

    def first_word(self, array: Alias) -> list[ir.Expr]:
        """The index of the first word of an array, by the axes of its parts."""
        return [ir.Const(0)] * (self.values.arrays.rank(array.parts[0]) or 1)
