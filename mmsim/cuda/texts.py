"""Functions that are made from a text, and where that text is kept.

A kernel is parsed, so its text must be known. That of a function made by `exec` stands in no file;
it is kept where Python looks for the lines of a traceback.
"""

from __future__ import annotations
import __future__

import builtins
import itertools
import linecache
import sys
from typing import Any

_numbers = itertools.count(1)
FUTURE = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
"""The flags of a caller's code that hold for the texts that it executes, too."""


def kept(text: str) -> str:
    """Keep a text under a file name of its own; that name."""
    name = f"<exec {next(_numbers)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return name


def function_from(text: str, name: str, names: dict[str, Any]) -> Any:
    """The function of that name that a text defines, which may use the names given."""
    space = dict(names)
    exec(compile(text, kept(text), "exec"), space)
    return space[name]


_exec = builtins.exec


def exec_and_keep(
    source: Any,
    globals: Any = None,
    locals: Any = None,
    /,
    **options: Any,
) -> None:
    """As Python's `exec`, but keeps the text of what it defines."""
    caller = sys._getframe(1)
    if globals is None:
        globals = caller.f_globals
        locals = caller.f_locals if locals is None else locals
    if isinstance(source, str):
        flags = caller.f_code.co_flags & FUTURE
        source = compile(source, kept(source), "exec", flags, True)
    if locals is None:
        _exec(source, globals, **options)
    else:
        _exec(source, globals, locals, **options)


def keep_all() -> None:
    """From now on keep the texts of all that `exec` makes in this process."""
    builtins.exec = exec_and_keep
