"""Calls of device functions: with tuples for their arguments, and with functions among them."""

from __future__ import annotations

import ast
import copy
import types
from dataclasses import replace

from mmsim.frontend.function_parser import Inlining
from mmsim.frontend.scope import Value, ValueName
from mmsim.frontend.source import FunctionText, written


class NumbaInlining(Inlining):
    """The calls of device functions in one function: f(*x), and def f(*x) which takes a tuple."""

    def call(self, node: ast.Call, function: types.FunctionType) -> Value | None:
        """Inline a call; its value, None if it has none."""
        whole = copy.copy(node)
        whole.args = [one for given in node.args for one in self.spread(given)]
        arguments = super().text_of(function).node.args
        if arguments.vararg is not None:
            named = len(arguments.args)
            rest = ast.Tuple(whole.args[named:], ast.Load())
            whole.args = [*whole.args[:named], ast.copy_location(rest, node)]
        return super().call(whole, function)

    def text_of(self, function: types.FunctionType) -> FunctionText:
        """The text of a function, in which *x is a parameter as the others, for a tuple."""
        text = super().text_of(function)
        arguments = copy.copy(text.node.args)
        if arguments.vararg is None:
            return text
        arguments.args = [*arguments.args, arguments.vararg]
        arguments.vararg = None
        node = copy.copy(text.node)
        node.args = arguments
        return replace(text, node=node)

    def spread(self, node: ast.expr) -> list[ast.expr]:
        """An argument, or for *x the values of the tuple one by one."""
        if not isinstance(node, ast.Starred):
            return [node]
        value = self.values.value(node.value)
        if not isinstance(value, tuple):
            raise self.function.refuse(
                node,
                f"{written(node.value)!r} is no tuple",
                "only tuples are spread over arguments",
            )
        value = self.lowering.spill_all(value, self.function.place(node))
        assert isinstance(value, tuple)
        return [self.named(one, node) for one in value]

    def named(self, value: Value, node: ast.expr) -> ast.expr:
        """A name that stands for a value."""
        name = self.function.shared.unique("argument")
        self.function.bound[name] = ValueName(value)
        return ast.copy_location(ast.Name(name, ast.Load()), node)
