"""Walks through a program's representation, derived from the annotations of the nodes' fields.

A field of type `Expr` holds an expression, one of type `Block` statements, one of type `Target` the
name of a variable that the statement sets. A field may hold several of them, or None.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import Field, fields, replace
from functools import cache
from itertools import count
from typing import Any, Generic, TypeVar, get_args

from mmsim.errors import Place
from mmsim.ir import nodes as ir

KINDS = (*get_args(ir.Stmt), *get_args(ir.Expr))
Node = TypeVar("Node", bound=ir.Stmt | ir.Expr)
T = TypeVar("T")
Key = Any


def _holding(node: ir.Stmt | ir.Expr, part: str) -> tuple[str, ...]:
    """The fields of a node whose annotation names a type."""
    kind: type = type(node)
    return holding(kind, part)


@cache
def holding(kind: type, part: str) -> tuple[str, ...]:
    """The fields of a kind of node whose annotation names a type."""
    if kind not in KINDS:
        raise NotImplementedError(
            f"a walk through the program has no case for the node {kind.__name__}"
        )
    return tuple(one.name for one in fields(kind) if part in re.findall(r"\w+", str(one.type)))


def said(node: Any) -> Iterator[tuple[Field[Any], Any]]:
    """The fields of a node and what they hold, but for what only some languages say and it doesn't.

    Such a field has a default and is not shown.
    """
    for one in fields(node):
        value = getattr(node, one.name)
        if one.repr or not one.compare or value != one.default:
            yield one, value


def _in(node: ir.Stmt | ir.Expr, part: str) -> tuple[Any, ...]:
    """Return the contents of the fields of a type, in their order."""
    kind: type = type(node)
    return _reader(kind, part)(node)


@cache
def _reader(kind: type, part: str) -> Callable[[Any], tuple[Any, ...]]:
    """The function that returns the contents of the fields of a type, for one kind of node."""
    names = holding(kind, part)
    types = {one.name: one.type for one in fields(kind)}
    held = operator.attrgetter(*names) if names else lambda node: ()
    if all(types[name] == part for name in names):  # one each
        return held if len(names) != 1 else lambda node: (held(node),)

    def read(node: Any) -> tuple[Any, ...]:
        found: tuple[Any, ...] = ()
        for name in names:
            one = getattr(node, name)
            found += one if type(one) is tuple else () if one is None else (one,)
        return found

    return read


def inside(statement: ir.Stmt) -> tuple[ir.Block, ...]:
    """The blocks inside a statement, in the order of the text."""
    return tuple(getattr(statement, name) for name in _holding(statement, "Block"))


def with_inside(statement: ir.Stmt, changed: Callable[[ir.Block], ir.Block]) -> ir.Stmt:
    """A statement with other blocks inside, changed in the order of the text."""
    blocks = _holding(statement, "Block")
    if not blocks:
        return statement
    changes: Any = {name: changed(getattr(statement, name)) for name in blocks}
    return _replaced(statement, changes)


def targets(statement: ir.Stmt) -> tuple[str, ...]:
    """The variables that a statement itself sets."""
    return _in(statement, "Target")


def expressions(node: ir.Stmt | ir.Expr) -> tuple[ir.Expr, ...]:
    """The expressions that a node itself evaluates, without those inside them."""
    return _in(node, "Expr")


def with_expressions(node: Node, changed: Callable[[ir.Expr], ir.Expr]) -> Node:
    """A node with changed expressions; the statements inside it stay."""
    return _changed(node, "Expr", changed)


def with_targets(statement: ir.Stmt, changed: Callable[[str], str]) -> ir.Stmt:
    """A statement that sets other variables."""
    return _changed(statement, "Target", changed)


def _changed(node: Node, part: str, changed: Callable[[Any], Any]) -> Node:
    """A node with changed contents of the fields of a type."""
    changes: Any = {}
    for name in _holding(node, part):
        held = getattr(node, name)
        if held is not None:
            changes[name] = tuple(map(changed, held)) if type(held) is tuple else changed(held)
    return _replaced(node, changes)


def _replaced(node: Node, changes: dict[str, Any]) -> Node:
    """A node with other fields; itself if these are what it has."""
    for name, new in changes.items():
        old = getattr(node, name)
        several = type(old) is tuple and len(old) == len(new)
        if not (all(map(operator.is_, old, new)) if several else old is new):
            return replace(node, **changes)
    return node


def stored(statement: ir.Stmt) -> tuple[ir.Expr, ...]:
    """The values that a statement brings to an array."""
    if isinstance(statement, ir.Access | ir.RegisterWrite):
        return expressions(statement)[len(statement.index) :]
    return ()


def numbered(body: ir.Block) -> ir.Block:
    """A program with numbered statements, and separately numbered accesses."""
    numbers, sites = count(), count()

    def block(old: ir.Block) -> ir.Block:
        return tuple(map(one, old))

    def one(statement: ir.Stmt) -> ir.Stmt:
        number = next(numbers)
        statement = with_inside(statement, block)
        if isinstance(statement, ir.Access):
            return replace(statement, number=number, site=next(sites))
        return replace(statement, number=number)

    return block(body)


def statements(block: Iterable[ir.Stmt]) -> Iterator[ir.Stmt]:
    """All statements of a block and of the blocks inside, in the order of the text."""
    for statement in block:
        yield statement
        for inner in inside(statement):
            yield from statements(inner)


def accesses(block: Iterable[ir.Stmt]) -> Iterator[ir.Access]:
    """All memory accesses of a block, in the order of the text."""
    return (one for one in statements(block) if isinstance(one, ir.Access))


def has_effect(block: Iterable[ir.Stmt]) -> bool:
    """Return whether a statement of a block does more than local work.

    It accesses memory, waits at a barrier, exchanges values, or ends the program with an error.
    """
    effects = ir.Access | ir.Barrier | ir.Exchange
    return any(
        isinstance(one, effects) or (isinstance(one, ir.Return) and one.message is not None)
        for one in statements(block)
    )


def written_arrays(block: Iterable[ir.Stmt]) -> set[str]:
    """The arrays that a block's statements may change."""
    return {one.array for one in accesses(block) if not isinstance(one, ir.Load | ir.VectorLoad)}


def parts(value: ir.Expr) -> Iterator[ir.Expr]:
    """An expression and all expressions inside."""
    yield value
    for operand in expressions(value):
        yield from parts(operand)


def all_parts(block: Iterable[ir.Stmt]) -> Iterator[ir.Expr]:
    """The expressions of a block's statements and of those inside, with all expressions inside."""
    for statement in statements(block):
        for value in expressions(statement):
            yield from parts(value)


class Memo(Generic[T]):
    """Remembers a function's result for each node.

    The key of a node is its identity, not its parts: comparing these would take as long as the
    function. The node is held, so that no later node can have its id.

    >>> calls = []
    >>> memo = Memo(lambda node: calls.append(node) or len(calls))
    >>> one, same = ir.Const(1), ir.Const(1)
    >>> memo(one), memo(same), memo(one)
    (1, 2, 1)
    """

    def __init__(self, find: Callable[[ir.Expr], T]) -> None:
        self._find = find
        self._found: dict[int, tuple[ir.Expr, T]] = {}

    def __call__(self, node: ir.Expr) -> T:
        found = self._found.get(id(node))
        if found is None:
            found = self._found[id(node)] = node, self._find(node)
        return found[1]


def names(values: Iterable[ir.Expr]) -> set[str]:
    """The variables and the register arrays in expressions."""
    found = set()
    for value in values:
        for part in parts(value):
            if isinstance(part, ir.Var):
                found.add(part.name)
            elif isinstance(part, ir.RegisterRead):
                found.add(part.array)
    return found


def writes_registers(statement: ir.Stmt) -> bool:
    """Return whether a statement, or one inside it, writes a register array."""
    return any(isinstance(one, ir.RegisterWrite) for one in statements((statement,)))


def reads_registers(value: ir.Expr) -> bool:
    """Return whether an expression reads a register array."""
    return any(isinstance(part, ir.RegisterRead) for part in parts(value))


def key_of(value: Any) -> Key:
    """An expression without its places: equal for expressions that compute the same."""
    if isinstance(value, tuple):
        return tuple(map(key_of, value))
    if not hasattr(value, "__dataclass_fields__"):
        return value
    parts = ((one.name, getattr(value, one.name)) for one in fields(value))
    return type(value).__name__, *(
        key_of(part) for name, part in parts if not isinstance(part, Place)
    )
