"""Kernels and device functions written as a lambda."""

from __future__ import annotations

import ast
import inspect
import linecache
import types

from mmsim.cuda.source_text import function_from
from mmsim.errors import LanguageError, Place

NAME = "function"
"""The name of a lambda."""


def defined(function: types.FunctionType) -> types.FunctionType:
    """Return a function with def for a lambda, any other function unchanged."""
    if function.__name__ != "<lambda>":
        return function
    code = function.__code__
    found = [node for node in _lambdas(code.co_filename) if _is(node, code)]
    if not found:
        raise LanguageError(
            "the text of a lambda can't be read",
            Place(function.__name__, code.co_filename, code.co_firstlineno),
            "write a function with def",
        )
    node = found[0]
    text = f"def {NAME}({ast.unparse(node.args)}):\n    return {ast.unparse(node.body)}\n"
    names = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    made: types.FunctionType = function_from(text, NAME, names)
    return made


def _lambdas(file: str) -> list[ast.Lambda]:
    """All lambdas of a file."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return []
    return [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]


def _is(node: ast.Lambda, code: types.CodeType) -> bool:
    """Return whether a lambda has such code: the same place, names and constants."""
    if not node.lineno <= code.co_firstlineno <= (node.end_lineno or node.lineno):
        return False
    tree = ast.fix_missing_locations(ast.Expression(node))
    [own] = [
        one
        for one in compile(tree, code.co_filename, "eval").co_consts
        if isinstance(one, types.CodeType)
    ]
    names = set(own.co_names) == {*code.co_names, *code.co_freevars} - set(code.co_cellvars)
    return own.co_varnames == code.co_varnames and own.co_consts == code.co_consts and names
