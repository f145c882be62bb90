"""The text of one Python file that defines a program as it is, with everything that it uses.

The file has the imports, the captured constants, the helpers, each above the functions that call
it, and the program. Comments stay. What has no text, such as an object of the user's own classes,
is refused.
"""

from __future__ import annotations

import ast
import math
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mmsim.errors import LanguageError, Place, shown
from mmsim.frontend.program import Program
from mmsim.frontend.python import tables
from mmsim.frontend.python.function import member
from mmsim.frontend.python.scope import Captured, Missing, number, outside
from mmsim.frontend.python.source import FunctionText, read
from mmsim.frontend.python.thread import helper
from mmsim.ir import nodes as ir

MODULES = ("mmsim", "numpy", "math", "cmath")
"""The modules that a file imports."""
Edit = tuple[int, int, int, str]
"""Text for a part of a line: the line, its two ends, and what stands there instead."""


def text_of(program: Program) -> str:
    """Return the text of a file that defines the program.

    Raises `LanguageError` for a program that isn't written with `mm.program`, and for one that uses
    what has no text.

    >>> import mmsim as mm
    >>> FACTOR = 3
    >>> @mm.program
    ... def scaled(T, a):
    ...     a[T.id] = FACTOR * a[T.id]
    >>> print(text_of(scaled), end="")
    import mmsim as mm
    <BLANKLINE>
    FACTOR = 3
    <BLANKLINE>
    <BLANKLINE>
    @mm.program
    def scaled(T, a):
        a[T.id] = FACTOR * a[T.id]
    """
    code, function = program.code, program.function
    if code.arithmetic != "python" or not isinstance(function, types.FunctionType):
        raise LanguageError(
            f"{program.name!r} has no text in the language of programs",
            _place(program, code),
            "write it with mm.program",
        )
    text = Text()
    text.add_function(function, is_program=True)
    return text.whole


def _place(program: Program, code: ir.Code) -> Place:
    source = code.sources[0] if code.sources else None
    return Place(program.name, source.file if source else "", source.first if source else 0)


@dataclass
class Text:
    """A file as it grows: `meant` are the objects by their names in it."""

    imports: dict[str, None] = field(default_factory=dict)
    constants: list[str] = field(default_factory=list)
    classes: dict[str, dict[str, str]] = field(default_factory=dict)  # of constants, by their names
    functions: list[str] = field(default_factory=list)
    meant: dict[str, Any] = field(default_factory=dict)
    is_annotated: bool = False

    @property
    def whole(self) -> str:
        """The text."""
        heads = ["from __future__ import annotations"] * self.is_annotated
        lines = "\n".join(sorted(self.imports, key=_order))
        blocks = ["\n\n".join(filter(None, [*heads, lines, "\n".join(self.constants)]))]
        for name, members in self.classes.items():
            inside = (f"    {member} = {value}" for member, value in members.items())
            blocks.append("\n".join([f"class {name}:", *inside]))
        return "\n\n\n".join([*blocks, *self.functions]) + "\n"

    def add_function(self, function: types.FunctionType, is_program: bool) -> None:
        """Add a function, after everything that it uses."""
        text = read(function)
        self.name(function.__name__, function, text, text.node)
        edits: list[Edit] = []
        for node in _captured_names(text):
            self.add(node, function, text)
        for node, value in zip(text.node.args.defaults, function.__defaults__ or (), strict=True):
            if not _is_literal(node):
                edits.append(_edit(node, self.written(value, node, text)))
        arguments = text.node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        annotations = [one.annotation for one in every]
        if text.node.returns is not None or any(one is not None for one in annotations):
            self.is_annotated = True
            if any(isinstance(one, ast.Name) and one.id == "mm" for one in ast.walk(text.node)):
                self.use("mmsim", "mm", text, text.node)
        head = ["@mm.program"] if is_program else []
        if is_program:
            self.use("mmsim", "mm", text, text.node)
        self.functions.append("\n".join([*head, *_lines(text, edits)]))

    def add(self, node: ast.expr, function: types.FunctionType, text: FunctionText) -> None:
        """Add what a name, or a dotted name, stands for."""
        root: ast.expr = node
        attribute = ""
        while isinstance(root, ast.Attribute):
            attribute = root.attr
            root = root.value
        assert isinstance(root, ast.Name)
        entity = outside(function, root.id)
        if not isinstance(entity, Captured) or _is_builtin(root.id, entity.value):
            return
        value = entity.value
        if isinstance(value, types.ModuleType) and value.__name__ in MODULES:
            self.use(value.__name__, root.id, text, node)
            return
        known = _imported(value)
        if known is not None:
            usual = "" if known[1] == root.id else f" as {root.id}"
            self.imports[f"from {known[0]} import {known[1]}{usual}"] = None
            self.name(root.id, value, text, node)
            return
        called = helper(value)
        if called is not None:
            if self.name(root.id, called, text, node):
                self.add_helper(root.id, called, isinstance(value, Program))
            return
        if attribute and not tables.is_table(value):
            inside = self.written(member(value, attribute), node, text)
            self.name(root.id, value, text, node)
            self.classes.setdefault(root.id, {})[attribute] = inside
            return
        if self.name(root.id, value, text, node):
            self.constants.append(f"{root.id} = {self.written(value, node, text)}")

    def add_helper(self, name: str, function: types.FunctionType, is_program: bool) -> None:
        """Add a helper that a function calls by a name."""
        own = function.__name__
        if name == own:
            del self.meant[name]
        if self.meant.get(own) is not function:
            self.add_function(function, is_program)
        if name != own:
            self.functions.append(f"{name} = {own}")

    def use(self, module: str, name: str, text: FunctionText, node: ast.AST) -> None:
        """Import a module by a name."""
        usual = "" if module == name else f" as {name}"
        self.imports[f"import {module}{usual}"] = None
        self.name(name, sys.modules[module], text, node)

    def name(self, name: str, value: Any, text: FunctionText, node: ast.AST) -> bool:
        """Give an object a name; return whether it is new. Two objects of one name are refused."""
        if name not in self.meant:
            self.meant[name] = value
            return True
        known = self.meant[name]
        if known is value or _same(known, value):
            return False
        raise LanguageError(
            f"two objects are called {name!r}, which one file can't hold",
            text.place(node),
            "give one of them another name",
        )

    def written(self, value: Any, node: ast.AST, text: FunctionText) -> str:
        """A number or a table as text."""
        if type(value) is np.ndarray and value.dtype.kind in "biufc":
            self.use("numpy", "np", text, node)
            inside = self.items(value.tolist(), node, text)
            return f"np.array({inside}, dtype=np.{value.dtype.name})"
        if tables.is_table(value):
            return self.items(value, node, text)
        if isinstance(value, np.dtype):
            self.use("numpy", "np", text, node)
            return f'np.dtype("{value.name}")'
        known = number(value)
        if known is None and not isinstance(value, str):
            raise self.refusal(node, text, value)
        return _number(known) if known is not None else repr(value)

    def items(self, value: Any, node: ast.AST, text: FunctionText) -> str:
        """A tuple or a list as text; a number for an array without axes."""
        if isinstance(value, tuple | list):
            inside = ", ".join(self.items(one, node, text) for one in value)
            if isinstance(value, list):
                return f"[{inside}]"
            return f"({inside},)" if len(value) == 1 else f"({inside})"
        return self.written(value, node, text)

    def refusal(self, node: ast.AST, text: FunctionText, value: Any) -> LanguageError:
        """The error for an object that has no text."""
        return LanguageError(
            f"{ast.unparse(node)!r} stands for {shown(value)}, which this file can't hold",
            text.place(node),
            "capture numbers, tables of numbers and functions",
        )


def _order(line: str) -> tuple[bool, str]:
    return line.startswith("import mmsim") or line.startswith("from mmsim"), line


def _number(value: ir.Scalar) -> str:
    """A number as an expression of Python's."""
    if isinstance(value, complex):
        return f"complex({_number(value.real)}, {_number(value.imag)})"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value)


def _same(one: Any, other: Any) -> bool:
    """Return whether two constants are the same number or table."""
    if type(one) is not type(other) or not (tables.is_table(one) or number(one) is not None):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=True)
    return repr(one) == repr(other)


def _is_builtin(name: str, value: Any) -> bool:
    builtins = sys.modules["builtins"]
    return getattr(builtins, name, Missing()) is value


def _imported(value: Any) -> tuple[str, str] | None:
    """The module that a file imports an object from, and its name there."""
    for module in MODULES:
        owner = sys.modules.get(module)
        name = getattr(value, "__name__", "")
        name = name.rsplit(".")[-1] if isinstance(value, types.ModuleType) else name
        if owner is not None and name and member(owner, name) is value:
            return module, name
    return None


def _is_literal(node: ast.expr) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant)


def _captured_names(text: FunctionText) -> Iterator[ast.expr]:
    """The names, and dotted names, that the body of a function takes from outside, in order."""
    body = text.node.body
    every = [node for statement in body for node in ast.walk(statement)]
    own = {one.arg for one in text.node.args.args}
    own |= {one.id for one in every if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    inside: set[ast.AST] = set()
    found: list[ast.expr] = []
    for node in every:
        if isinstance(node, ast.AnnAssign):
            inside.update(ast.walk(node.annotation))
        root: ast.AST = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and root.id not in own and node not in inside:
            found.append(node)  # type: ignore[arg-type]  # a name or an attribute
            inside.update(ast.walk(node))
    yield from sorted(found, key=lambda one: (one.lineno, one.col_offset))


def _edit(node: ast.expr, text: str) -> Edit:
    assert node.end_col_offset is not None
    return node.lineno, node.col_offset, node.end_col_offset, text


def _lines(text: FunctionText, edits: list[Edit]) -> list[str]:
    """The lines of a function from its `def` on, without decorators and without indentation."""
    lines = list(text.source.lines)
    for row, start, end, new in sorted(edits, reverse=True):
        line = lines[row - 1].encode()
        lines[row - 1] = (line[:start] + new.encode() + line[end:]).decode()
    lines = lines[text.node.lineno - 1 :]
    indent = len(lines[0]) - len(lines[0].lstrip())
    return [line[min(indent, len(line) - len(line.lstrip())) :].rstrip() for line in lines]
