"""What a case's result follows from besides its parameters: the text of its function.

A row keeps a fingerprint of it, so that a sweep started again after its program was changed doesn't
take the old program's rows for the new one's. Looked at are the function, the programs and the
functions of its own module that it names, and the numbers and texts that it captures, in turn; of
a `functools.partial` its parts too. Comments and spaces don't count. What other modules do is not
looked at.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import textwrap
import types
from collections.abc import Iterable, Iterator
from typing import Any

from mmsim.language.program import Program

PLAIN = (bool, int, float, str, type(None))


def fingerprint(things: Iterable[Any]) -> str:
    """A word that changes when one of these functions does."""
    digest = hashlib.sha256()
    seen: set[int] = set()
    for thing in things:
        for text in _texts(thing, seen):
            digest.update(text.encode("utf-8", "backslashreplace") + b"\0")
    return f"s{digest.hexdigest()[:16]}"  # no reader of rows takes it for a number


def _texts(thing: Any, seen: set[int]) -> Iterator[str]:
    if isinstance(thing, PLAIN):
        yield repr(thing)
        return
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, Program):
        for source in thing.code.sources:
            yield _normal("\n".join(source.lines))
        yield from _captured(thing.function, seen)
    elif isinstance(thing, functools.partial):
        for part in (thing.func, *thing.args, *sorted(thing.keywords.items())):
            yield from _texts(part, seen)
    elif isinstance(thing, tuple | list):
        for part in thing:
            yield from _texts(part, seen)
    elif isinstance(thing, types.MethodType):
        yield from _texts(thing.__func__, seen)
    elif isinstance(thing, types.FunctionType):
        try:
            yield _normal(inspect.getsource(thing))
        except (OSError, TypeError):  # typed in where no text is kept
            yield repr((thing.__code__.co_code, _constants(thing.__code__)))
        yield from _captured(thing, seen)
    elif callable(thing) and isinstance(type(thing).__call__, types.FunctionType):
        yield from _texts(type(thing).__call__, seen)


def _normal(source: str) -> str:
    """The text of a function without comments and spaces that mean nothing."""
    try:
        return ast.unparse(ast.parse(textwrap.dedent(source)))
    except SyntaxError:  # a lambda in the middle of an expression
        return source


def _constants(code: types.CodeType) -> list[Any]:
    """The constants of a function; of those inside it their code and constants."""
    return [
        (one.co_code, _constants(one)) if isinstance(one, types.CodeType) else one
        for one in code.co_consts
    ]


def _captured(function: types.FunctionType, seen: set[int]) -> Iterator[str]:
    """What a function names outside itself."""
    for name, value in sorted(_named(function).items()):
        own = getattr(value, "__module__", None) == function.__module__
        if isinstance(value, (*PLAIN, Program)) or (own and isinstance(value, types.FunctionType)):
            yield name
            yield from _texts(value, seen)


def _named(function: types.FunctionType) -> dict[str, Any]:
    found = {
        name: function.__globals__[name]
        for name in _names(function.__code__)
        if name in function.__globals__
    }
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return found


def _names(code: types.CodeType) -> set[str]:
    inner = (one for one in code.co_consts if isinstance(one, types.CodeType))
    return set(code.co_names).union(*map(_names, inner))
