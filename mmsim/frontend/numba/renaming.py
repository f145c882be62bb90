"""Names of several loops: if the loops give a name different kinds of values, each has its own.

A name that occurs only in loops that assign it has a separate meaning in each of them.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import replace

from mmsim.frontend.numba.state import KernelKnown, kernel
from mmsim.frontend.python.function import Function
from mmsim.frontend.python.scope import Restart
from mmsim.frontend.python.source import FunctionText


def loops_of(node: ast.AST, name: str) -> Iterator[ast.For]:
    """The outermost loops whose variable has a name."""
    if isinstance(node, ast.For) and isinstance(node.target, ast.Name) and node.target.id == name:
        yield node
        return
    for inner in ast.iter_child_nodes(node):
        yield from loops_of(inner, name)


def names_in(node: ast.AST) -> Iterator[ast.Name]:
    """All places of names."""
    return (one for one in ast.walk(node) if isinstance(one, ast.Name))


def is_separable(node: ast.FunctionDef, name: str) -> bool:
    """Return whether a name occurs only in several loops that assign it."""
    loops = list(loops_of(node, name))
    inside = sum(one.id == name for loop in loops for one in names_in(loop))
    return len(loops) > 1 and inside == sum(one.id == name for one in names_in(node))


def separate(function: Function, name: str) -> None:
    """Begin again with a name for each loop, if a name occurs only in several loops."""
    if is_separable(function.text.node, name):
        known = kernel(function).known
        known.apart.add((function.text.source, name))
        known.roles.pop((function.python, name), None)
        raise Restart


def separated(text: FunctionText, known: KernelKnown) -> FunctionText:
    """A function whose loops have separate names, for those known to need this."""
    if not known.apart:
        return text
    node = copy.deepcopy(text.node)
    taken = {one.id for one in names_in(node)}
    for name in sorted(name for key, name in known.apart if key == text.source):
        for number, loop in enumerate(loops_of(node, name), 1):
            if number == 1:
                continue
            own = next(
                candidate
                for count in range(number, number + len(taken) + 1)
                if (candidate := f"{name}_{count}") not in taken
            )
            taken.add(own)
            for one in names_in(loop):
                if one.id == name:
                    one.id = own
    return replace(text, node=node)
