"""From a function to its representation (docs/language.md)."""

from __future__ import annotations

import ast
import linecache
import types
from collections.abc import Callable
from typing import Any, ClassVar

from mmsim.errors import LanguageError, Place, shown
from mmsim.frontend.python.builder import Forms
from mmsim.frontend.python.calls import BUILTINS, Calls
from mmsim.frontend.python.scope import (
    Entity,
    Known,
    ParameterUse,
    Restart,
    ThreadName,
    Unit,
    Value,
)
from mmsim.frontend.python.source import (
    FunctionText,
    default_numbers,
    is_none,
    parameter_names,
    read,
    root,
    source_key,
)
from mmsim.frontend.python.words import Atomic, Effect
from mmsim.ir import nodes as ir
from mmsim.ir.walk import numbered


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
            if not any(self.unit.is_registers(part.array) for part in array.parts):
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

    expression_forms: ClassVar[Forms[ast.expr, Value]] = {
        ast.Constant: Calls.literal,
        ast.Name: Calls.name,
        ast.Attribute: Calls.attribute,
        ast.UnaryOp: Calls.unary,
        ast.BinOp: Calls.binary,
        ast.BoolOp: Calls.bool_op,
        ast.Compare: Calls.comparison,
        ast.IfExp: Calls.choice,
        ast.Subscript: Calls.subscript,
        ast.Call: Calls.call,
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


def plain_function(function: Callable[..., Any]) -> types.FunctionType:
    """The object to be parsed, or a `LanguageError` if it is not a function."""
    if isinstance(function, types.FunctionType):
        return function
    raise LanguageError(
        f"{shown(function)} is not a function",
        Place(shown(function), "<unknown>", 0),
        "decorate a function written with def",
    )


def parse(function: types.FunctionType) -> ir.Code | Place:
    """The representation of `function`, or a `LanguageError` at the first fault.

    A function that returns a value is a helper, which is parsed at its calls. Before, only the
    place of its return is known.
    """
    try:
        text = read(function)
        return returns_value(text) or parse_program(function, text)
    except RecursionError:
        code = function.__code__
        number = code.co_firstlineno
        line = linecache.getline(code.co_filename, number).rstrip("\n")
        raise LanguageError(
            f"an expression or a block of {function.__name__!r} is nested too deeply",
            Place(function.__name__, code.co_filename, number, 0, len(line), line),
            "take it apart into several statements",
        ) from None


def returns_value(text: FunctionText) -> Place | None:
    """The place where a function returns a value, None if it returns none."""
    pending: list[ast.AST] = list(text.node.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Return) and not is_none(node.value):
            return text.place(node)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
            pending += ast.iter_child_nodes(node)
    return None


def parse_program(function: types.FunctionType, text: FunctionText) -> ir.Code:
    """The representation of a program."""
    names = parameter_names(text)
    if not names:
        name = text.source.function
        raise LanguageError(
            f"the program {name!r} has no parameter",
            text.place(text.node),
            f"its first parameter is the thread: def {name}(T, ...)",
        )
    bound: dict[str, Entity] = {names[0]: ThreadName()}
    defaults = default_numbers(function, text)
    known = Known()
    while True:
        unit = Unit(
            function.__name__, {source_key(text.source): text.source}, stack=[function], known=known
        )
        try:
            return _parsed(FunctionParser(unit, function, text, dict(bound)), defaults)
        except Restart:  # the kind of one more name or parameter; so this ends
            continue


def _parsed(parser: FunctionParser, defaults: dict[str, ir.Scalar]) -> ir.Code:
    """The representation, if enough is known of the names; else `Restart`."""
    unit = parser.unit
    uses = [
        _parameter(node, parser, defaults.get(node.arg))
        for node in parser.text.node.args.args
        if node.arg not in parser.bound
    ]
    parser.bind_variables()
    try:
        body = parser.body()
    except LanguageError as error:
        raise unit.doubtful or error from None
    if unit.doubtful is not None:
        raise unit.doubtful
    return ir.Code(
        unit.name,
        tuple(ir.Parameter(use.name, use.use, use.default, use.place) for use in uses),
        tuple(unit.locals),
        tuple(unit.variables),
        numbered(body),
        tuple(unit.sources.values()),
    )


def _parameter(node: ast.arg, parser: FunctionParser, default: ir.Scalar | None) -> ParameterUse:
    """A parameter of the program, bound to the initial meaning of its name."""
    unit, name = parser.unit, node.arg
    unit.taken.add(name)
    unit.parameters.append(name)
    parameter = ParameterUse(name, parser.text.place(node), default)
    if name in unit.known.arrays:
        parameter.use, parameter.used_at = "array", parameter.place
    role = parser.role(name)
    if name in parser.assigned and role is None:
        parameter.use, parameter.used_at = "number", parameter.place
        variable = parser.bound[name] = unit.variable(name, unit.name)
        value = ir.Number(name)  # the program assigns it: a variable of each thread
        parser.emit(ir.Assign(variable.name, value, parameter.place))
    elif role is None or role.shape is None:
        parser.bound[name] = parameter
        if role is not None:  # its name holds arrays, from the beginning
            parameter.use, parameter.used_at = "array", role.place
    return parameter
