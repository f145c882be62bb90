"""The sources of a case's result, in addition to parameters: its function and all that it uses.

A row keeps a fingerprint of them. So a sweep that starts again after a change of its program
doesn't take the old rows for the new program's. docs/sweeps.md lists the sources.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import inspect
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from mmsim.errors import MMSimError
from mmsim.frontend.program import Program
from mmsim.sweeps.functions import captured, function_text, is_own, literal, program_text

PREFIX = "p"
"""Begins a fingerprint, so that no reader takes it for a number; one for each method."""

LITERAL = (bool, int, float, complex, str, bytes, range, type(None), type(...))


Texts = dict[types.CodeType, str]


def fingerprint(things: Iterable[Any], texts: Texts | None = None) -> str:
    """Return a word that changes if one of these functions does, or something that it uses.

    `texts` keeps the functions' texts for later fingerprints of the same sweep.
    """
    digest = hashlib.sha256()
    for text in Reachable(things, {} if texts is None else texts).texts():
        digest.update(text.encode("utf-8", "backslashreplace") + b"\0")
    return f"{PREFIX}{digest.hexdigest()[:16]}"


class Reachable:
    """The things that some functions use, numbered in the order in which they are met.

    A text refers by number to things with their own texts. So functions may call each other, and
    lists may hold themselves.
    """

    def __init__(self, things: Iterable[Any], texts: Texts) -> None:
        self._texts = texts
        self._numbers: dict[int, int] = {}
        self._met: list[tuple[Any, str]] = []  # with the module that names it
        for thing in things:
            self._of(thing, _module(thing))

    def texts(self) -> Iterable[str]:
        described = 0
        while described < len(self._met):
            thing, near = self._met[described]
            yield self._described(thing, near)
            described += 1

    def _of(self, value: Any, near: str) -> str:
        """A value as a text, or as a thing's number. `near` is the module that names the value."""
        if isinstance(value, enum.Enum):
            return f"{type(value).__name__}.{value.name}"
        if isinstance(value, np.generic):
            return f"{value.dtype.str} {value}"
        if isinstance(value, LITERAL):
            return literal(value)
        if isinstance(value, np.dtype):
            return value.str
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            words = hashlib.sha256(np.ascontiguousarray(value).view(np.uint8).data).hexdigest()
            return f"array {value.dtype.str} {value.shape} {words}"
        if isinstance(value, tuple):
            return f"({', '.join(self._of(one, near) for one in value)})"
        if isinstance(value, set | frozenset):  # their order depends on chance
            return f"{{{', '.join(sorted(self._of(one, near) for one in _in_order(value)))}}}"
        if isinstance(value, functools.partial):
            return self._of((value.func, value.args, sorted(value.keywords.items())), near)
        if isinstance(value, types.MethodType):
            return self._of((value.__func__, value.__self__), near)
        if isinstance(value, staticmethod | classmethod):
            return self._of(value.__func__, near)
        if isinstance(value, property):
            return self._of((value.fget, value.fset), near)
        if isinstance(value, types.FunctionType | type) and not is_own(_module(value), near):
            return value.__qualname__
        if isinstance(value, types.ModuleType):
            return "module"  # the used parts are in the module too
        if id(value) not in self._numbers:
            self._numbers[id(value)] = len(self._met)
            self._met.append((value, near))
        return f"#{self._numbers[id(value)]}"

    def _described(self, thing: Any, near: str) -> str:
        if isinstance(thing, Program):
            if thing.is_helper or thing.parsed_late:
                return self._described(thing.function, near)
            example = _example(thing)
            return f"{program_text(thing.code)} {self._of(example, _module(example))}"
        if isinstance(thing, types.FunctionType):
            if thing.__code__ not in self._texts:
                self._texts[thing.__code__] = function_text(thing)
            text = self._texts[thing.__code__]
            return " ".join([text, *self._items(captured(thing), _module(thing))])
        if isinstance(thing, list):
            return f"[{', '.join(self._of(one, near) for one in thing)}]"
        if isinstance(thing, np.ndarray):
            return f"array {thing.shape} {self._of(thing.tolist(), near)}"
        if isinstance(thing, dict):
            return f"{{{', '.join(self._of(item, near) for item in thing.items())}}}"
        if isinstance(thing, type):
            bases = [one for one in thing.__bases__ if one is not object]
            members = self._items(_members(thing), _module(thing))
            return " ".join([thing.__name__, self._of(tuple(bases), near), *members])
        kind = type(thing)
        text = self._of(kind, near)
        if dataclasses.is_dataclass(thing):
            names = [field.name for field in dataclasses.fields(thing)]
            values = {name: getattr(thing, name, None) for name in names}
            return " ".join([text, *self._items(values, near)])
        if kind is types.SimpleNamespace or is_own(_module(kind), near):
            return " ".join([text, *self._items(getattr(thing, "__dict__", {}), near)])
        wrapped = inspect.getattr_static(thing, "__wrapped__", None)  # kept by a cache, compiled
        return f"{text} {_name(thing)} {self._of(wrapped, near)}"

    def _items(self, values: dict[str, Any], near: str) -> Iterable[str]:
        return [f"{name}={self._of(value, near)}" for name, value in sorted(values.items())]


def _example(program: Program) -> Any:
    """The function that prepares arguments, if present: a pickle may lack it."""
    try:
        return program.example_function
    except MMSimError:
        return None


def _module(thing: Any) -> str:
    module = getattr(thing, "__module__", None)
    return module if isinstance(module, str) else ""


def _name(thing: Any) -> str:
    name = getattr(thing, "__qualname__", None) or getattr(thing, "__name__", None)
    return name if isinstance(name, str) else ""


def _members(thing: type) -> dict[str, Any]:
    """The members that a class defines, without those that Python and decorators add."""

    def written(name: str, value: Any) -> bool:
        if not name.startswith("__"):
            return True
        return isinstance(value, types.FunctionType) and value.__code__.co_filename != "<string>"

    return {name: value for name, value in vars(thing).items() if written(name, value)}


def _in_order(values: set[Any] | frozenset[Any]) -> list[Any]:
    """The elements of a set, in an order that doesn't change from process to process."""

    def key(value: Any) -> str:
        if isinstance(value, Program):
            named = value.is_helper or value.parsed_late
            return value.name if named else program_text(value.code)
        return _name(value) or (repr(value) if isinstance(value, (*LITERAL, tuple)) else "")

    return sorted(values, key=key)
