"""The parser of a function, by the forms of expressions and statements: these are the language."""

from __future__ import annotations

import ast
from typing import ClassVar

from mmsim.frontend.python.builder import Forms
from mmsim.frontend.python.calls import BUILTINS, Calls
from mmsim.frontend.python.syntax import root
from mmsim.frontend.python.words import Atomic, Effect
from mmsim.ir import nodes as ir


class FunctionParser(Calls):
    """Parses the program itself, or a helper at one of its calls, by parts of one idea each."""

    def nothing(self, node: ast.Pass) -> None:
        """pass."""

    def alone(self, node: ast.Expr) -> None:
        """An expression on a separate line: a call, or an element that is read and dropped."""
        value = node.value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return  # a docstring
        if isinstance(value, ast.Call) and self.called(node, value):
            return
        if isinstance(value, ast.Subscript) and self.is_vector(value):
            self.read_vector(value)
            return
        if isinstance(value, ast.Subscript) and self.array(root(value)) is not None:
            array, index = self.element(value)
            if not any(self.is_registers(part.array) for part in array.parts):
                self.touch(array, index, self.place(value))
                return
        self.apart(value)  # refuses everything outside of the language
        raise self.refuse(
            node,
            "this statement does nothing",
            "statements assign, read an element of an array, branch, loop, call or wait",
        )

    def called(self, node: ast.Expr, call: ast.Call) -> bool:
        """Return whether a call is a statement: a word's, or a helper's, whose value is dropped."""
        match self.called_word(call.func):
            case Effect() as effect:
                self.effect(effect, call, None)
            case Atomic() as atomic:
                self.atomic(call, atomic, None)
            case None if not BUILTINS.get(self.captured(call.func)):
                self.inline(call, self.callee(call))
            case _:
                return False
        return True

    expression_forms: ClassVar[Forms[ast.expr, ir.Expr]] = {
        ast.Constant: Calls.literal,
        ast.Name: Calls.name,
        ast.Attribute: Calls.attribute,
        ast.UnaryOp: Calls.unary,
        ast.BinOp: Calls.binary,
        ast.BoolOp: Calls.bool_op,
        ast.Compare: Calls.comparison,
        ast.IfExp: Calls.choice,
        ast.Subscript: Calls.item,
        ast.Call: Calls.number,
    }
    statement_forms: ClassVar[Forms[ast.stmt, None]] = {
        ast.Assign: Calls.assignment,
        ast.AnnAssign: Calls.annotated,
        ast.AugAssign: Calls.augmented,
        ast.If: Calls.branch,
        ast.While: Calls.while_loop,
        ast.For: Calls.for_loop,
        ast.Break: Calls.jump,
        ast.Continue: Calls.jump,
        ast.Pass: nothing,
        ast.Return: Calls.return_,
        ast.Expr: alone,
    }
