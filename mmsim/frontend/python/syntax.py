"""Facts of a function's text, before names are resolved: indices, jumps, parameters."""

from __future__ import annotations

import ast
import types
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from mmsim.errors import LanguageError
from mmsim.frontend.python.scope import number
from mmsim.frontend.python.source import FunctionText
from mmsim.ir import nodes as ir


def root(node: ast.expr) -> ast.expr:
    """The x of x[i][j]."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def indices_of(node: ast.Subscript) -> list[ast.expr]:
    """The indices of x[i], x[i, j] or x[i][j]."""
    found: list[ast.expr] = []
    owner: ast.expr = node
    while isinstance(owner, ast.Subscript):
        inner = owner.slice
        found[:0] = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        owner = owner.value
    return found


def constant_index(node: ast.expr | None) -> int | str | None:
    """A literal integer, None for none, "varying" for anything else."""
    match node:
        case None:
            return None
        case ast.UnaryOp(ast.USub(), ast.Constant(value)) if type(value) is int:
            return -value
        case ast.Constant(value) if type(value) is int:
            return value
    return "varying"


def is_none(node: ast.expr | None) -> bool:
    """Return whether there is no expression, or the literal None."""
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


def jumps_of(body: Iterable[ast.stmt]) -> Iterator[ast.Break | ast.Continue]:
    """The jumps that leave a loop, or its trip, in the loop's body."""
    for statement in body:
        if isinstance(statement, ast.Break | ast.Continue):
            yield statement
        elif isinstance(statement, ast.If):
            yield from jumps_of((*statement.body, *statement.orelse))


def assigned_in(body: Iterable[ast.stmt]) -> Iterator[str]:
    """The names that statements assign, one for each time."""
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def source_key(source: ir.Source) -> str:
    """A key that distinguishes the functions of one program."""
    return f"{source.file}:{source.first}:{source.function}"


def parameter_names(text: FunctionText) -> list[str]:
    """The names of a function's parameters; kinds that the language lacks are refused."""
    arguments = text.node.args
    odd: list[Any] = [*arguments.posonlyargs, *arguments.kwonlyargs]
    odd += [extra for extra in (arguments.vararg, arguments.kwarg) if extra is not None]
    if odd:
        raise LanguageError(
            f"the parameter {odd[0].arg!r} is of a kind that isn't in the language",
            text.place(odd[0]),
            "write plain parameters",
        )
    return [argument.arg for argument in arguments.args]


def defaults_of(function: types.FunctionType, parameters: list[str]) -> dict[str, Any]:
    """The default values of the last parameters of a function."""
    values = function.__defaults__ or ()
    return dict(zip(parameters[len(parameters) - len(values) :], values, strict=True))


def default_numbers(function: types.FunctionType, text: FunctionText) -> dict[str, Any]:
    """Default values of parameters; only numbers are accepted."""
    found = defaults_of(function, parameter_names(text))
    for (name, value), node in zip(found.items(), text.node.args.defaults, strict=True):
        if number(value) is None:
            raise LanguageError(
                f"the default of {name!r} is not a number",
                text.place(node),
                "give numbers as defaults",
            )
    return {name: number(value) for name, value in found.items()}


def assignment_counts(node: ast.FunctionDef) -> dict[str, int]:
    """The number of assignments to each of a function's names, in order."""
    return dict(Counter(assigned_in(node.body)))
