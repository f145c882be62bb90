"""Mutations of a program's tree."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

from tests.kit.fuzzing.grammar import CONSTANTS, Gardener, kinds, written

Slot = tuple[Any, str, int | None]
"""A place in a tree that holds a node: a node, its field, and the position if that is a list."""


def slots(tree: ast.Module) -> list[Slot]:
    """All places in the functions of a module."""
    found: list[Slot] = []
    for function in tree.body:
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                for name, value in vars(node).items():
                    if isinstance(value, list):
                        found += [(node, name, at) for at in range(len(value))]
                    elif isinstance(value, ast.AST):
                        found.append((node, name, None))
    return found


def get(slot: Slot) -> Any:
    """The node in a slot, None if the tree has been changed so that it is gone."""
    node, name, at = slot
    value = getattr(node, name)
    if at is None:
        return value
    return value[at] if isinstance(value, list) and at < len(value) else None


def put(slot: Slot, value: Any) -> None:
    """Put something else there."""
    node, name, at = slot
    if at is None:
        setattr(node, name, value)
    else:
        getattr(node, name)[at] = value


class TreeMutator:
    """Changes a tree in place, by one of `MUTATIONS` a time."""

    def __init__(self, random: Random, tree: ast.Module, other: list[Slot]) -> None:
        self.random = random
        self.tree = tree
        self.places = slots(tree)
        self.other = other  # the places of another program, to take parts from
        own = [get(slot).id for slot in self.places if isinstance(get(slot), ast.Name)]
        self.gardener = Gardener(random, sorted(set(own)))

    def pick(self, kind: Any, places: list[Slot] | None = None) -> Slot | None:
        """A place of a node of a kind, if there is one."""
        found = [slot for slot in places or self.places if isinstance(get(slot), kind)]
        return self.random.choice(found) if found else None

    def expression_by_a_grown_one(self, slot: Slot) -> None:
        put(slot, self.gardener.grow("expr", self.random.choice((0, 1, 2))))

    def expression_by_another(self, slot: Slot) -> None:
        source = self.pick(ast.expr, self.random.choice((self.places, self.places, self.other)))
        if source is not None:
            put(slot, copy.deepcopy(get(source)))

    def constant(self, slot: Slot) -> None:
        put(slot, ast.Constant(self.random.choice(CONSTANTS)))

    def name(self, slot: Slot) -> None:
        put(slot, ast.Name(self.random.choice(self.gardener.names)))

    def operator(self, slot: Slot) -> None:
        base = next(kind for kind in OPERATORS if isinstance(get(slot), kind))
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


@cache
def places_of(text: str) -> list[Slot]:
    """The places of a text, not to be changed."""
    return slots(ast.parse(text))


def mutate_tree(random: Random, text: str, other: str) -> tuple[str, str]:
    """The name of the first mutation, and the text after one to three."""
    while True:
        mutator = TreeMutator(random, ast.parse(text), places_of(other))
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
