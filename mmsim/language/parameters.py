"""Parameters and assigned names of a function's text."""

from __future__ import annotations

import ast
import types
from typing import Any

from mmsim.errors import LanguageError
from mmsim.language import ir
from mmsim.language.scope import number
from mmsim.language.source import FunctionText


def source_key(source: ir.Source) -> str:
    """What tells the functions of one program apart."""
    return f"{source.file}:{source.first}:{source.function}"


def parameter_names(text: FunctionText) -> list[str]:
    """The names of a function's parameters; refuses the kinds that the language lacks."""
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


def default_numbers(function: types.FunctionType, text: FunctionText) -> dict[str, Any]:
    """Default values of parameters; refuses those that are no numbers."""
    parameters = parameter_names(text)
    values = function.__defaults__ or ()
    found = dict(zip(parameters[len(parameters) - len(values) :], values, strict=True))
    for (name, value), node in zip(found.items(), text.node.args.defaults, strict=True):
        if number(value) is None:
            raise LanguageError(
                f"the default of {name!r} is no number",
                text.place(node),
                "give numbers as defaults",
            )
    return {name: number(value) for name, value in found.items()}


def assigned_names(node: ast.FunctionDef) -> list[str]:
    """The names that a function assigns, in order, without repetition."""
    return list(assignment_counts(node))


def assignment_counts(node: ast.FunctionDef) -> dict[str, int]:
    counts: dict[str, int] = {}
    for inner in (inner for statement in node.body for inner in ast.walk(statement)):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            counts[inner.id] = counts.get(inner.id, 0) + 1
    return counts
