"""Mutations of a program's tree."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

from fuzzing.grammar import CONSTANTS, Gardener, kinds, written

Slot = tuple[Any, str, int | None]
"""A place in a tree that holds a node: a node, its field, and the position if that is a list."""


def slots(tree: ast.AST, kind: type[ast.AST] | tuple[type[ast.AST], ...]) -> list[Slot]:
    """All places of nodes of a kind."""
    found: list[Slot] = []
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                found += [(node, name, at) for at, one in enumerate(value) if isinstance(one, kind)]
            elif isinstance(value, kind):
                found.append((node, name, None))
    return found


def get(slot: Slot) -> Any:
    """What a slot holds."""
    node, name, at = slot
    return getattr(node, name) if at is None else getattr(node, name)[at]


def put(slot: Slot, value: Any) -> None:
    """Put something else there."""
    node, name, at = slot
    if at is None:
        setattr(node, name, value)
    else:
        getattr(node, name)[at] = value


class TreeMutator:
    """Changes a tree in place, by one of `MUTATIONS` a time."""

    def __init__(self, random: Random, tree: ast.Module, other: ast.Module) -> None:
        self.random = random
        self.tree = tree
        self.other = other  # another program, to take parts from
        own = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
        self.gardener = Gardener(random, sorted(set(own)))

    def pick(self, kind: Any, tree: ast.AST | None = None) -> Slot | None:
        """A slot of the functions' bodies, if there is one."""
        body = [node for node in (tree or self.tree).body if isinstance(node, ast.FunctionDef)]  # type: ignore[attr-defined]
        found = [slot for node in body for slot in slots(node, kind)]
        return self.random.choice(found) if found else None

    def expression_by_a_grown_one(self, slot: Slot) -> None:
        put(slot, self.gardener.grow("expr", self.random.choice((0, 1, 2))))

    def expression_by_another(self, slot: Slot) -> None:
        tree = self.random.choice((self.tree, self.tree, self.other))
        source = self.pick(ast.expr, tree)
        if source is not None:
            put(slot, copy.deepcopy(get(source)))

    def constant(self, slot: Slot) -> None:
        put(slot, ast.Constant(self.random.choice(CONSTANTS)))

    def name(self, slot: Slot) -> None:
        put(slot, ast.Name(self.random.choice(self.gardener.names)))

    def operator(self, slot: Slot) -> None:
        base = next(
            kind
            for kind in (ast.operator, ast.cmpop, ast.boolop, ast.unaryop)
            if isinstance(get(slot), kind)
        )
        put(slot, self.random.choice(kinds(base.__name__))())

    def delete(self, slot: Slot) -> None:
        put(slot, ast.Pass())

    def duplicate(self, slot: Slot) -> None:
        node, name, at = slot
        getattr(node, name).insert(at, copy.deepcopy(get(slot)))

    def swap(self, slot: Slot) -> None:
        other = self.pick(ast.stmt)
        assert other is not None
        first, second = copy.deepcopy(get(slot)), copy.deepcopy(get(other))
        put(slot, second)
        put(other, first)

    def insert(self, slot: Slot) -> None:
        node, name, at = slot
        statement = self.gardener.grow("stmt", self.random.choice((0, 1, 2)))
        getattr(node, name).insert(at, statement)

    def statement_of_another(self, slot: Slot) -> None:
        source = self.pick(ast.stmt, self.other)
        node, name, at = slot
        if source is not None:
            getattr(node, name).insert(at, copy.deepcopy(get(source)))

    def wrap(self, slot: Slot) -> None:
        head = self.random.choice(
            ("if n:", "while n > 1:", "for i in range(T.id):", "with a:", "if T.id % 2:", "try:")
        )
        tail = "\nfinally:\n    pass" if head == "try:" else ""
        around: Any = ast.parse(f"{head}\n    pass{tail}").body[0]
        around.body = [get(slot)]
        put(slot, around)

    def parameters(self, slot: Slot) -> None:
        arguments = get(slot)
        if self.random.random() < 0.5 and arguments.args:
            arguments.args.pop(self.random.randrange(len(arguments.args)))
            arguments.defaults = []
        else:
            put(slot, self.gardener.node(ast.arguments, 1))


OPERATORS = (ast.operator, ast.cmpop, ast.boolop, ast.unaryop)
MUTATIONS: dict[str, Any] = {
    "expression_by_a_grown_one": ast.expr,
    "expression_by_another": ast.expr,
    "constant": ast.Constant,
    "name": ast.Name,
    "operator": OPERATORS,
    "delete": ast.stmt,
    "duplicate": ast.stmt,
    "swap": ast.stmt,
    "insert": ast.stmt,
    "statement_of_another": ast.stmt,
    "wrap": ast.stmt,
    "parameters": ast.arguments,
}
"""The mutations, and what kind of node each of them changes."""


parsed = cache(ast.parse)
"""The tree of a text, not to be changed."""


def mutate_tree(random: Random, text: str, other: str) -> tuple[str, str]:
    """The name of the first mutation, and the text after one to three."""
    while True:
        mutator = TreeMutator(random, ast.parse(text), parsed(other))
        done = []
        for _ in range(random.choice((1, 1, 2, 3))):
            name = random.choice(list(MUTATIONS))
            slot = mutator.pick(MUTATIONS[name])
            if slot is not None:
                change: Callable[[Slot], None] = getattr(mutator, name)
                change(slot)
                done.append(name)
        result = written(mutator.tree)
        if done and result is not None:
            return done[0], result
