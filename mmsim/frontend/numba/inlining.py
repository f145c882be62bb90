"""Calls of device functions: with tuples and functions among their arguments."""

from __future__ import annotations

import ast
import copy
import types
from dataclasses import replace

from mmsim.errors import Place
from mmsim.frontend.numba.arrays import NumbaValues
from mmsim.frontend.numba.renaming import separated
from mmsim.frontend.numba.state import kernel
from mmsim.frontend.python.function import Function
from mmsim.frontend.python.function_parser import FunctionParser, Inlining
from mmsim.frontend.python.scope import (
    Captured,
    Entity,
    Missing,
    Value,
    ValueName,
    VariableName,
    number,
)
from mmsim.frontend.python.source import FunctionText
from mmsim.frontend.python.tables import is_large, is_table
from mmsim.ir import nodes as ir


class NumbaInlining(Inlining):
    """The calls of device functions in one function: f(*x), and def f(*x), which takes a tuple."""

    values: NumbaValues

    def call(self, node: ast.Call, function: types.FunctionType) -> Value | None:
        """Inline a call; return its value, None if it has none."""
        whole = copy.copy(node)
        whole.args = self.values.spread(node.args)
        arguments = super().text_of(function).node.args
        if arguments.vararg is not None:
            named = len(arguments.args)
            rest = ast.Tuple(whole.args[named:], ast.Load())
            whole.args = [*whole.args[:named], ast.copy_location(rest, node)]
        return super().call(whole, function)

    def argument(self, name: str, argument: ast.expr | Captured, inner: FunctionParser) -> Entity:
        """The meaning of a parameter: an outside object that is not a number stays itself."""
        if isinstance(argument, ast.Name | ast.Attribute):
            found = self.function.captured(argument)
            plain = number(found) is None and not is_table(found) and not is_large(found)
            if plain and not isinstance(found, Missing):
                return Captured(found)
        return super().argument(name, argument, inner)

    def number_argument(
        self, name: str, value: ir.Expr, inner: FunctionParser, place: Place
    ) -> VariableName | ValueName:
        """A number that a device function gets; a constant stays one."""
        if isinstance(value, ir.Const) and name not in inner.function.assigned:
            return ValueName(value)
        return super().number_argument(name, value, inner, place)

    def tuple_argument(
        self, name: str, value: tuple[Value, ...], own: Function, place: Place
    ) -> Entity:
        """A tuple that a device function gets: of arrays, too, and of constants."""
        if name in own.assigned:
            return super().tuple_argument(name, value, own, place)
        return ValueName(self.builder.spill_all(value, place))

    def text_of(self, function: types.FunctionType) -> FunctionText:
        """The text of a function, in which *x is an ordinary parameter, for a tuple."""
        text = separated(super().text_of(function), kernel(self.function).known)
        arguments = copy.copy(text.node.args)
        if arguments.vararg is None:
            return text
        arguments.args = [*arguments.args, arguments.vararg]
        arguments.vararg = None
        node = copy.copy(text.node)
        node.args = arguments
        return replace(text, node=node)
