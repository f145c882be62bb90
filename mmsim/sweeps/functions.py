"""Programs and functions: their text as it runs, and the outside values that they use.

The text is the same in every process, on every version of Python, for every layout. It omits the
place of a node (files, lines, columns, its number), comments, spaces and docstrings.
"""

from __future__ import annotations

import ast
import dis
import importlib
import importlib.util
import inspect
import sys
import types
import warnings
from collections.abc import Iterator
from dataclasses import is_dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from mmsim.errors import Place
from mmsim.frontend.program import Program
from mmsim.frontend.python.bytecode import does, functions_in, inside
from mmsim.ir import nodes as ir
from mmsim.ir.walk import said

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
            values = [value for field, value in said(node) if field.compare]
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
