"""What a case's result follows from besides its parameters: the text of its function.

A row keeps a fingerprint of it, so that a sweep started again after its program was changed doesn't
take the old program's rows for the new one's. Looked at are the function, the programs and the
functions of its own module that it names, and the numbers and texts that it captures, in turn, also
as defaults of its parameters; of a `functools.partial` its parts too. Comments and spaces don't
count. What lists, dictionaries, classes, objects and other modules hold is not looked at.
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

from mmsim.language.codes import does, functions_in, inside
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
        code = inspect.unwrap(thing).__code__
        try:
            yield _normal(inspect.getsource(_as_it_runs(code)))
        except (OSError, TypeError, IndexError, SyntaxError):
            # Typed in where no text is kept, or edited since.
            yield repr(does(code))
        yield from _captured(thing, seen)
    elif callable(thing) and isinstance(type(thing).__call__, types.FunctionType):
        yield from _texts(type(thing).__call__, seen)


def _normal(source: str) -> str:
    """The text of a function without comments and spaces that mean nothing."""
    try:
        return ast.unparse(ast.parse(textwrap.dedent(source)))
    except SyntaxError:  # a lambda in the middle of an expression
        return source


def _as_it_runs(code: types.CodeType) -> types.CodeType:
    """The same code where its file has it now, nearest to where it was.

    Raises `OSError` where it isn't there any more: an edited file doesn't tell what runs.
    """
    lines, _ = inspect.findsource(code)
    found = [
        one.co_firstlineno
        for one in functions_in("".join(lines))
        if one.co_name == code.co_name and does(one) == does(code)
    ]
    if not found:
        raise OSError(f"{code.co_filename} has changed since {code.co_name} was read from it")
    return code.replace(co_firstlineno=min(found, key=lambda line: abs(line - code.co_firstlineno)))


def _captured(function: types.FunctionType, seen: set[int]) -> Iterator[str]:
    """What a function names outside itself, or has as defaults."""
    for name, value in sorted(_named(function).items()):
        own = getattr(value, "__module__", None) == function.__module__
        if isinstance(value, (*PLAIN, Program)) or (own and isinstance(value, types.FunctionType)):
            yield name
            yield from _texts(value, seen)


def _named(function: types.FunctionType) -> dict[str, Any]:
    names = _names(function.__code__)
    found = {name: function.__globals__[name] for name in names if name in function.__globals__}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    for module in [value for value in found.values() if isinstance(value, types.ModuleType)]:
        programs = {name: vars(module).get(name) for name in names}
        for name, value in programs.items():
            if isinstance(value, Program):
                found[f"{module.__name__}.{name}"] = value
    for number, value in enumerate(function.__defaults__ or ()):
        found[f"default {number}"] = value
    return found | (function.__kwdefaults__ or {})


def _names(code: types.CodeType) -> set[str]:
    return set(code.co_names).union(*(one.co_names for one in inside(code)))
