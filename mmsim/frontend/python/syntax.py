"""Facts of Python's syntax tree by itself, before names are resolved."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator


def root(node: ast.expr) -> ast.expr:
    """The x of x[i][j]."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def indices_of(node: ast.Subscript) -> list[ast.expr]:
    """The indices of x[i], x[i, j] or x[i][j]."""
    found: list[ast.expr] = []
    owner: ast.expr = node
    while isinstance(owner, ast.Subscript):
        inner = owner.slice
        found[:0] = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        owner = owner.value
    return found


def constant_index(node: ast.expr | None) -> int | str | None:
    """A literal integer, None for none, "varying" for anything else."""
    match node:
        case None:
            return None
        case ast.UnaryOp(ast.USub(), ast.Constant(value)) if type(value) is int:
            return -value
        case ast.Constant(value) if type(value) is int:
            return value
    return "varying"


def jumps_of(body: Iterable[ast.stmt]) -> Iterator[ast.Break | ast.Continue]:
    """The jumps that leave a loop, or its trip, in the loop's body."""
    for statement in body:
        if isinstance(statement, ast.Break | ast.Continue):
            yield statement
        elif isinstance(statement, ast.If):
            yield from jumps_of((*statement.body, *statement.orelse))


def assigned_in(body: Iterable[ast.stmt]) -> Iterator[str]:
    """The names that statements assign, one for each time."""
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id
