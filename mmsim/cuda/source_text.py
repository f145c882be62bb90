"""Functions made from a text or a lambda, and the place that keeps this text.

mmsim parses a kernel, so it needs the text. The text of a function made by `exec` is not in a file.
It is kept where Python looks for the lines of a traceback.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import inspect
import itertools
import linecache
import sys
import types
from typing import Any

from mmsim.errors import LanguageError, Place

_numbers = itertools.count(1)
FUTURE = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
"""The flags of a caller's code that also hold for the texts that it executes."""


def register_text(text: str) -> str:
    """Keep a text under a new file name; return the name."""
    name = f"<exec {next(_numbers)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return name


def function_from(text: str, name: str, names: dict[str, Any]) -> Any:
    """The function with a name in a text, which may use the given names."""
    space = dict(names)
    exec(compile(text, register_text(text), "exec"), space)
    return space[name]


_exec = builtins.exec


def exec_and_keep(
    source: Any,
    globals: Any = None,
    locals: Any = None,
    /,
    **options: Any,
) -> None:
    """As Python's `exec`, but keeps the text of its definitions."""
    caller = sys._getframe(1)
    if globals is None:
        globals = caller.f_globals
        locals = caller.f_locals if locals is None else locals
    if isinstance(source, str):
        flags = caller.f_code.co_flags & FUTURE
        source = compile(source, register_text(source), "exec", flags, True)
    if locals is None:
        _exec(source, globals, **options)
    else:
        _exec(source, globals, locals, **options)


def keep_all() -> None:
    """From now on, keep the text of each `exec` in this process."""
    builtins.exec = exec_and_keep


# ------------------------------------------------------------ lambdas

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
