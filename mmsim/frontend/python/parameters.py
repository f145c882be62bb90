"""Parameters and assigned names of a function's text."""

from __future__ import annotations

import ast
import types
from collections import Counter
from typing import Any

from mmsim.errors import LanguageError
from mmsim.frontend.python.scope import number
from mmsim.frontend.python.source import FunctionText
from mmsim.frontend.python.syntax import assigned_in
from mmsim.ir import nodes as ir


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


def default_numbers(function: types.FunctionType, text: FunctionText) -> dict[str, Any]:
    """Default values of parameters; only numbers are accepted."""
    parameters = parameter_names(text)
    values = function.__defaults__ or ()
    found = dict(zip(parameters[len(parameters) - len(values) :], values, strict=True))
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
