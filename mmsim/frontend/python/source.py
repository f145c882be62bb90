"""The source of a function's text: a file, a notebook cell, a REPL.

Python keeps the text of files, of notebook cells and, from 3.13 on, of REPL input for
`inspect`. The REPL of 3.11 and 3.12 does not; its line history does.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import re
import sys
import textwrap
import tokenize
import warnings
from dataclasses import dataclass
from types import CodeType, FunctionType

from mmsim.errors import LanguageError, Place
from mmsim.frontend.python.bytecode import does, functions_in
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
    """The statement in a text, None if there is none."""
    try:
        return _parse(list(source.lines))
    except (SyntaxError, IndexError, ValueError):
        return None


def _parse(lines: list[str]) -> ast.stmt:
    """The statement in `lines`. Indented ones get a block around them, as in their file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python gave its warnings when it read the file
        if lines[0].lstrip("\f")[:1] not in (" ", "\t"):
            return ast.parse("\n".join(lines)).body[0]
        block = ast.parse("\n".join(["if True:", *lines])).body[0]
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
