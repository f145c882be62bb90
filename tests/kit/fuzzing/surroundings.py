"""All that a mutated program could reach, and its functions, defined without running anything.

A program's module is never run: of its text only function definitions are, their decorators
replaced by one that does nothing and their defaults by numbers where they are not plain constants.
Annotations are not evaluated. So nothing in a mutated text runs unless mmsim runs it.
"""

from __future__ import annotations
import __future__

import ast
import linecache
import math
import types
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

import mmsim as mm

FILE = "<a mutated program>"
TOUCHED: list[str] = []


class Trap:
    """An object that notes whatever is done to it."""

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":  # isinstance asks for it, and does nothing with it
            return Trap
        TOUCHED.append(name)
        raise AttributeError(name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        TOUCHED.append("()")

    def __getitem__(self, index: Any) -> Any:
        TOUCHED.append("[]")

    def __setitem__(self, index: Any, value: Any) -> None:
        TOUCHED.append("[]=")

    def __eq__(self, other: object) -> bool:
        TOUCHED.append("==")
        return False

    __hash__ = None  # type: ignore[assignment]

    def __index__(self) -> int:
        TOUCHED.append("index")
        return 0

    def __float__(self) -> float:
        TOUCHED.append("float")
        return 0.0

    def __bool__(self) -> bool:
        TOUCHED.append("bool")
        return True


def nothing(function: Any) -> Any:
    """The decorator that stands for every decorator."""
    return function


def surroundings(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """The globals of a mutated program: what it needs, and what it must not touch."""
    return {
        "__name__": __name__,
        **numbers,
        "mm": mm,
        "np": np,
        "math": math,
        "shared": mm.shared,
        "registers": mm.registers,
        "min_of": mm.program,
        "TABLE": np.arange(4),
        "WORDS": [1, 2, 3],
        "LISTED": {"a": [1]},
        "TRAP": Trap(),
        "NUMBER": 10**5000,
    }


def contents(space: Mapping[str, Any]) -> dict[str, Any]:
    """The identity of every global, and what those hold that could be changed."""
    held = {name: id(value) for name, value in space.items() if name != "__builtins__"}
    return held | {
        "TABLE": space["TABLE"].tolist(),
        "WORDS": list(space["WORDS"]),
        "LISTED": repr(space["LISTED"]),
    }


def harmless(tree: ast.Module) -> ast.Module:
    """The functions at the top of a module, or inside its first `if`, fit to be defined."""
    body = tree.body
    if body and isinstance(body[0], ast.If):
        body = body[0].body
    kept: list[ast.stmt] = []
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.decorator_list = [
                ast.copy_location(ast.Name("__nothing__", ast.Load()), one)
                for one in node.decorator_list
            ]
            node.args.defaults = list(map(constant, node.args.defaults))
            node.args.kw_defaults = [one and constant(one) for one in node.args.kw_defaults]
            kept.append(node)
    return ast.Module(kept, [])


def constant(node: ast.expr) -> ast.expr:
    """A default that is a constant, else None in its place."""
    if isinstance(node, ast.Constant):
        return node
    return ast.copy_location(ast.Constant(None), node)


def define(text: str, numbers: Mapping[str, Any]) -> types.FunctionType | None:
    """The last function of a text, as if its module had been imported; None if there is none.

    Raises what Python raises for what is not Python: SyntaxError, ValueError for a null character,
    MemoryError and RecursionError for what is nested too deeply for its own parser.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python's own, for odd escapes and comparisons
        tree = harmless(ast.parse(text))
        code = compile(tree, FILE, "exec", __future__.annotations.compiler_flag, True)
    # A file is read with universal newlines, and its lines end at those alone.
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    lines = [f"{line}\n" for line in lines]
    linecache.cache[FILE] = (len(text), None, lines, FILE)
    space = surroundings(numbers) | {"__nothing__": nothing}
    exec(code, space)
    functions = [
        value
        for value in space.values()
        if type(value) is types.FunctionType and value.__code__.co_filename == FILE
    ]
    return functions[-1] if functions else None
