"""The source of a function's text, and facts of the text: indices, jumps, parameters.

The source is a file, a notebook cell or a REPL. Python keeps the text of files, of notebook cells
and, from 3.13 on, of REPL input for `inspect`. The REPL of 3.11 and 3.12 does not; its line history
does.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import re
import sys
import textwrap
import tokenize
import types
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from mmsim.errors import LanguageError, Place
from mmsim.frontend.python.bytecode import does, functions_in
from mmsim.frontend.python.scope import number
from mmsim.ir import nodes as ir


@dataclass(frozen=True)
class FunctionText:
    """A function's parsed text, and the places of its nodes in the file."""

    source: ir.Source
    node: ast.FunctionDef

    def place(self, node: ast.AST) -> Place:
        """The place of a node of this function; of several lines, that of the first one."""
        row = node.lineno  # type: ignore[attr-defined]  # only located nodes get here
        text = self.source.lines[row - 1]
        start = _column(text, node.col_offset)  # type: ignore[attr-defined]
        if node.end_lineno == row:  # type: ignore[attr-defined]
            end = _column(text, node.end_col_offset)  # type: ignore[attr-defined]
        else:
            end = len(text.rstrip())
        return Place(
            self.source.function, self.source.file, self.source.first + row - 1, start, end, text
        )


def written(node: ast.AST) -> str:
    """A node as text, for a message; integers of thousands of digits Python itself can't write."""
    try:
        return ast.unparse(node)
    except ValueError:
        return "..."


def _column(text: str, offset: int) -> int:
    """ast counts UTF-8 bytes; people and carets count characters."""
    return len(text.encode()[:offset].decode(errors="ignore"))


def read(function: FunctionType) -> FunctionText:
    """The text of `function`, or a `LanguageError` with a remedy."""
    code = function.__code__
    if hasattr(function, "__wrapped__"):
        raise LanguageError(
            f"{function.__name__!r} is wrapped by another decorator",
            Place(function.__name__, code.co_filename, code.co_firstlineno),
            "put mm.program alone, or under the other decorator",
        )
    source = source_of(function)
    if not source.lines:
        raise LanguageError(
            f"the source of {function.__name__!r} can't be read",
            Place(function.__name__, code.co_filename, code.co_firstlineno),
            "define it in a file, a notebook cell or an interactive session, not through exec",
        )
    first, text = source.first, source.lines[0]
    place = Place(function.__name__, code.co_filename, first, 0, len(text), text)
    node = parsed(source)
    if code.co_name == "<lambda>" or isinstance(node, ast.AsyncFunctionDef):
        kind = "a lambda" if code.co_name == "<lambda>" else "no plain function"
        raise LanguageError(
            f"{function.__name__!r} is {kind}", place, "write a program as a function with def"
        )
    if not isinstance(node, ast.FunctionDef) or not _says(node, function):
        raise LanguageError(
            f"this isn't the text that {function.__name__!r} was compiled from",
            place,
            "its file may have changed since it was loaded: load it again",
        )
    return FunctionText(source, node)


def source_of(function: FunctionType) -> ir.Source:
    """The text of a function; without lines if it can't be read."""
    code = function.__code__
    linecache.checkcache(code.co_filename)
    file = linecache.getlines(code.co_filename, function.__globals__)
    first = code.co_firstlineno
    try:
        if file:  # inspect looks for the module first, among all that are loaded
            lines = inspect.getblock(file[first - 1 :])
        else:
            lines, first = inspect.getsourcelines(code)
    except (OSError, TypeError, IndexError, SyntaxError, tokenize.TokenError):
        lines = _from_history(code)
    whole = tuple(line.rstrip("\n") for line in lines)
    return ir.Source(function.__name__, code.co_filename, first, whole)


def parsed(source: ir.Source) -> ast.stmt | None:
    """The statement in a text, None if there is none.

    Indented lines get a block around them, as in their file.
    """
    lines = source.lines
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python gave its warnings when it read the file
            if lines[0].lstrip("\f")[:1] not in (" ", "\t"):
                return ast.parse("\n".join(lines)).body[0]
            block = ast.parse("\n".join(["if True:", *lines])).body[0]
    except (SyntaxError, IndexError, ValueError):
        return None
    assert isinstance(block, ast.If)
    return ast.increment_lineno(block.body[0], -1)


def _says(node: ast.FunctionDef, function: FunctionType) -> bool:
    """Return whether the text is the one that Python compiled `function` from.

    The whole file is compiled again, because Python's code for a function depends on more than
    its own lines. pytest rewrites `assert`, which is refused anyway.
    """
    code = function.__code__
    if node.name != code.co_name or len(node.args.defaults) != len(function.__defaults__ or ()):
        return False
    text = "".join(linecache.getlines(code.co_filename, function.__globals__))
    if not text:
        return True
    return any(
        one.co_firstlineno == code.co_firstlineno and _same(one, code) for one in functions_in(text)
    ) or any(isinstance(inner, ast.Assert) for inner in ast.walk(node))


def _from_history(code: CodeType) -> list[str]:
    """The lines of the function typed last at the prompt, if it is this one.

    The candidate is compiled and compared with the function, so other lines of the
    history are never taken for it.
    """
    readline = sys.modules.get("readline")
    if code.co_filename != "<stdin>" or readline is None:
        return []
    history = [
        readline.get_history_item(item) or ""
        for item in range(1, readline.get_current_history_length() + 1)
    ]
    head = re.compile(rf"\s*def\s+{re.escape(code.co_name)}\b")
    for start in range(len(history) - 1, -1, -1):
        if head.match(history[start]):
            first = start
            while first > 0 and history[first - 1].lstrip().startswith("@"):
                first -= 1
            for end in range(len(history), start, -1):
                lines = history[first:end]
                text = textwrap.dedent("\n".join(lines)) + "\n"
                if any(_same(one, code) for one in functions_in(text)):
                    return lines
    return []


def _same(one: CodeType, other: CodeType) -> bool:
    return one.co_name == other.co_name and does(one) == does(other)


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
