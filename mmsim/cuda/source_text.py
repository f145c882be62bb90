"""Functions made from a text, and the place that keeps this text.

mmsim parses a kernel, so it needs the text. The text of a function made by `exec` is not in a file.
It is kept where Python looks for the lines of a traceback.
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
