"""The sources of a case's result, in addition to parameters: its function and all that it uses.

A row keeps a fingerprint of them. So a sweep that starts again after a change of its program
doesn't take the old rows for the new program's. docs/sweeps.md lists the sources.

A text is the same in every process, on every version of Python, for every layout. It omits the
place of a node (files, lines, columns, its number), comments, spaces and docstrings.
"""

from __future__ import annotations

import ast
import dataclasses
import dis
import enum
import functools
import hashlib
import importlib
import importlib.util
import inspect
import sys
import types
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from mmsim.errors import MMSimError, Place
from mmsim.frontend.program import Program
from mmsim.frontend.python.bytecode import does, functions_in, inside
from mmsim.ir import nodes as ir

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


INSTALLED = {"site-packages", "dist-packages"}
"""Folders of installed packages."""
UNREAD = ("kind", "type_comment")
"""Fields of Python's nodes without an effect on runs."""


def function_text(function: types.FunctionType) -> str:
    """The text of a function; its code if the text isn't known."""
    code = function.__code__
    try:
        node = _node(code)
    except (OSError, TypeError, IndexError, SyntaxError):  # typed in, or edited since
        node = None
    return repr(does(code)) if node is None else _tree(node)


def captured(function: types.FunctionType) -> dict[str, Any]:
    """The outside values that a function names, and its defaults.

    For a module that it names or imports: the values of its other names there. For a module of an
    installed package: the programs only.
    """
    codes = [function.__code__, *inside(function.__code__)]
    names = {name for code in codes for name in code.co_names if not name.startswith("__")}
    found = {name: function.__globals__[name] for name in names if name in function.__globals__}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    modules = [one for one in found.values() if isinstance(one, types.ModuleType)]
    modules += [module for code in codes for module in _imported(code, function)]
    seen: set[types.ModuleType] = set()
    while modules:
        module = modules.pop()
        if module in seen:
            continue
        seen.add(module)
        own = is_own(module.__name__, function.__module__ or "")
        for name in names & set(vars(module)):
            value = vars(module)[name]
            if isinstance(value, types.ModuleType):
                modules.append(value)
            elif own or isinstance(value, Program):
                found[f"{module.__name__}.{name}"] = value
    for number, value in enumerate(function.__defaults__ or ()):
        found[f"default {number}"] = value
    if "__wrapped__" in vars(function):
        found["wrapped"] = vars(function)["__wrapped__"]
    return found | {f"default {name}": one for name, one in (function.__kwdefaults__ or {}).items()}


def is_own(module: str, near: str) -> bool:
    """Return whether a module is the user's, or belongs to the package of `near`, which names it.

    Modules of Python and of installed packages are ignored, in any version.
    """
    top = module.partition(".")[0]
    if module == near or top == "mmsim":
        return module == near
    return top == near.partition(".")[0] or not _installed(top)


@lru_cache
def _installed(top: str) -> bool:
    if top in sys.stdlib_module_names and top != "__main__":
        return True
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):  # __main__, or made by hand
        return False
    places = [] if spec is None else [spec.origin or "", *(spec.submodule_search_locations or ())]
    return any(INSTALLED & set(Path(place).parts) for place in places)


def _imported(code: types.CodeType, function: types.FunctionType) -> Iterator[types.ModuleType]:
    """The user's modules that a function imports itself.

    They are imported here too, so the result doesn't depend on whether a case ran before.
    """
    if dis.opmap["IMPORT_NAME"] not in code.co_code[::2]:
        return
    instructions = list(dis.get_instructions(code))
    for position, one in enumerate(instructions):
        if one.opname != "IMPORT_NAME":
            continue
        level, names = (before.argval for before in instructions[position - 2 : position])
        package = function.__globals__.get("__package__") or ""
        try:
            name = importlib.util.resolve_name("." * level + one.argval, package)
            if not is_own(name, function.__module__ or ""):
                continue
            wanted = [name.partition(".")[0], name]
            yield from map(importlib.import_module, wanted)
            for inner in names or ():
                if inner not in vars(sys.modules[name]) and inner != "*":
                    yield importlib.import_module(f"{name}.{inner}")
        except Exception:  # a case that imports it reports the error
            continue


def _node(code: types.CodeType) -> ast.AST | None:
    """The function's tree, from its current file; None if it could be another function's.

    Raises `OSError` if the function no longer exists: an edited file doesn't show the running code.
    """
    text = "".join(inspect.findsource(code)[0])
    lines = [
        one.co_firstlineno
        for one in functions_in(text)
        if one.co_name == code.co_name and does(one) == does(code)
    ]
    if not lines:
        raise OSError(f"{code.co_filename} has changed since {code.co_name} was read from it")
    nearest = min(lines, key=lambda line: abs(line - code.co_firstlineno))
    nodes = _nodes(text).get((code.co_name, nearest), [])
    return nodes[0] if len(nodes) == 1 else None


@lru_cache(maxsize=16)
def _nodes(text: str) -> dict[tuple[str, int], list[ast.AST]]:
    """The functions of a text by name and first line, that of their first decorator."""
    found: dict[tuple[str, int], list[ast.AST]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python gave its warnings when it read the text
        tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min(one.lineno for one in (node, *node.decorator_list))
            found.setdefault((node.name, first), []).append(node)
        elif isinstance(node, ast.Lambda):
            found.setdefault(("<lambda>", node.lineno), []).append(node)
    return found


def program_text(code: ir.Code) -> str:
    """A parsed program, with the numbers that it captures and its functions."""
    return _tree((code.name, code.parameters, code.locals, code.variables, code.body))


def literal(value: object) -> str:
    """A number or a text as Python writes it. Integers have base 16, which allows any length."""
    return hex(value) if type(value) is int else repr(value)


def _tree(root: object) -> str:
    """Every node with its parts after it. Without recursion, so a tree may have any depth."""
    parts: list[str] = []
    left: list[Any] = [root]
    while left:
        node = left.pop()
        if isinstance(node, tuple | list):
            parts.append(str(len(node)))
            inner = list(node)
        elif isinstance(node, ast.AST):
            given = {name: value for name, value in _fields(node) if value not in (None, [])}
            parts.append(f"{type(node).__name__}({','.join(given)})")
            inner = list(given.values())
        elif is_dataclass(node):
            values = [getattr(node, field.name) for field in fields(node) if field.compare]
            parts.append(type(node).__name__)
            inner = [value for value in values if not isinstance(value, Place)]
        else:
            parts.append(literal(node))
            inner = []
        left += reversed(inner)
    return " ".join(parts)


def _fields(node: ast.AST) -> list[tuple[str, Any]]:
    found = {name: value for name, value in ast.iter_fields(node) if name not in UNREAD}
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        documented = ast.get_docstring(node, clean=False) is not None
        found["body"] = node.body[documented:]
    elif isinstance(node, ast.JoinedStr):  # Python 3.12 ends some with an empty text
        found["values"] = [
            one for one in node.values if not (isinstance(one, ast.Constant) and one.value == "")
        ]
    return list(found.items())
