"""Trees as text, the same in every process, on every version of Python, for every layout.

The text omits the place of a node (files, lines, columns, its number), comments, spaces and
docstrings. It keeps only the code that runs.
"""

from __future__ import annotations

import ast
from dataclasses import fields, is_dataclass
from typing import Any

from mmsim.errors import Place
from mmsim.ir import nodes as ir

UNREAD = ("kind", "type_comment")
"""Fields of Python's nodes without an effect on runs."""


def program_text(code: ir.Code) -> str:
    """A parsed program, with the numbers that it captures and its functions."""
    return _tree((code.name, code.parameters, code.locals, code.variables, code.body))


def python_text(node: ast.AST) -> str:
    """Python's own tree of a function."""
    return _tree(node)


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
