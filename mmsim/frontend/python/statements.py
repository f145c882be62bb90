"""Statements other than assignments, loops and returns."""

from __future__ import annotations

import ast

from mmsim.frontend.python.builder import Builder, Part
from mmsim.frontend.python.calls import Calls
from mmsim.frontend.python.dialect import Atomic, Effect
from mmsim.frontend.python.merging import Merging
from mmsim.frontend.python.syntax import root
from mmsim.frontend.python.values import Values
from mmsim.ir import nodes as ir


class Statements(Part):
    """Branches, and expressions on a separate line."""

    def __init__(self, builder: Builder, values: Values, calls: Calls, merging: Merging) -> None:
        super().__init__(builder)
        self.arrays = values.arrays
        self.vectors = values.vectors
        self.calls = calls
        self.merging = merging

    def branch(self, node: ast.If) -> None:
        """if test: ... else: ..."""
        self.split(node, self.builder.expression(node.test))

    def split(self, node: ast.If, test: ir.Expr) -> None:
        """The branches of an `if`, for the lanes whose test is true and for the others."""
        before = self.function.array_names()
        then = self.builder.inner(node.body)
        after_then = self.function.array_names()
        self.function.bound.update(before)
        orelse = self.builder.inner(node.orelse)
        then, orelse = self.merging.merged(after_then, then, orelse, self.function.place(node.test))
        self.builder.emit(ir.If(test, then, orelse, self.function.place(node.test)))

    def nothing(self, node: ast.Pass) -> None:
        """pass."""

    def alone(self, node: ast.Expr) -> None:
        """An expression on a separate line: a call, or an element that is read and dropped."""
        value = node.value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return  # a docstring
        if isinstance(value, ast.Call) and self.called(node, value):
            return
        if isinstance(value, ast.Subscript) and self.vectors.stands_in(value):
            self.vectors.read(value)
            return
        if isinstance(value, ast.Subscript) and self.function.array(root(value)) is not None:
            array, index = self.arrays.element(value)
            if not any(self.arrays.is_registers(part.array) for part in array.parts):
                self.arrays.touch(array, index, self.function.place(value))
                return
        self.builder.apart(value)  # refuses everything outside of the language
        raise self.function.refuse(
            node,
            "this statement does nothing",
            "statements assign, read an element of an array, branch, loop, call or wait",
        )

    def called(self, node: ast.Expr, call: ast.Call) -> bool:
        """Return whether a call is a statement: a word's, or a helper's, whose value is dropped."""
        match self.calls.word(call.func):
            case Effect() as effect:
                self.calls.effect(effect, call, alone=True)
            case Atomic() as atomic:
                self.calls.atomics.emit(call, atomic, None)
            case None if not self.calls.is_builtin(call):
                self.calls.inline(call, self.calls.callee(call))
            case _:
                return False
        return True
