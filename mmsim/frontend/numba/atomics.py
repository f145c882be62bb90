"""Atomics of kernels: cuda.atomic.add(array, index, value) and the others."""

from __future__ import annotations

import ast

from mmsim.frontend.numba.arrays import NumbaValues
from mmsim.frontend.numba.names import name_of
from mmsim.frontend.python import aliases
from mmsim.frontend.python.atomic_calls import AtomicCalls
from mmsim.frontend.python.scope import Alias, Part, Span
from mmsim.frontend.python.source import written
from mmsim.ir import nodes as ir
from mmsim.ir.nodes import AtomicOp

OPERATIONS: dict[str, AtomicOp] = {
    "add": "add",
    "sub": "sub",
    "max": "max",
    "min": "min",
    "nanmax": "nanmax",
    "nanmin": "nanmin",
    "and_": "and",
    "or_": "or",
    "xor": "xor",
    "exch": "exch",
    "cas": "cas",
    "compare_and_swap": "cas",
    "inc": "inc",
    "dec": "dec",
}
"""The members of cuda.atomic."""
FIRST_WORD = "compare_and_swap"
"""The member without an index: it is for the first word of an array."""


class NumbaAtomics(AtomicCalls):
    """The atomics of one function."""

    values: NumbaValues

    def op(self, node: ast.Call) -> AtomicOp | None:
        """The operation of a call, None if the call is not an atomic."""
        owner, _, name = name_of(node.func, self.function).rpartition(".")
        return OPERATIONS.get(name) if owner == "atomic" else None

    def emit(self, node: ast.Call, op: AtomicOp, target: str | None) -> None:
        """The statement for an atomic."""
        called, place = written(node.func), self.function.place(node)
        first = name_of(node.func, self.function).endswith(FIRST_WORD)
        wanted = ["array", "index", "value"]
        if op == "cas":
            wanted = ["array", "old", "value"] if first else ["array", "index", "old", "value"]
        if len(node.args) != len(wanted) or node.keywords:
            raise self.function.refuse(
                node,
                f"{called} takes {len(wanted)} arguments",
                f"write {called}({', '.join(wanted)})",
            )
        array = self.array(node.args[0], called)
        arguments = list(node.args[1:])
        at = self.first_word(array) if first else self.at(arguments.pop(0), array)
        at = [self.lowering.spill(one, place) for one in at]
        operands = self.lowering.operands(*arguments)
        if len(array.parts) > 1:
            operands = [self.lowering.spill(one, place) for one in operands]
        value = operands[-1]
        compare = operands[0] if op == "cas" else None

        def atomic(part: Part) -> ir.Stmt:
            return ir.Atomic(target, op, part.array, part.element(at), compare, value, place)

        self.lowering.emit(aliases.chosen(array, atomic, place))

    def at(self, node: ast.expr, array: Alias) -> list[ir.Expr]:
        """The numbers of an index, which may be a tuple."""
        found = self.values.arrays.numbers_of([node], array)
        if any(isinstance(one, Span) for one in found):
            raise self.function.refuse(node, f"{written(node)!r} is not an index of one element")
        return [one for one in found if not isinstance(one, Span)]

    def first_word(self, array: Alias) -> list[ir.Expr]:
        """The index of the first word of an array."""
        return [ir.Const(0)] * (self.values.arrays.axes(array) or 1)
