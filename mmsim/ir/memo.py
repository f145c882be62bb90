"""Results kept by node, so that a deep expression is not searched again at each level."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from mmsim.ir import nodes as ir

T = TypeVar("T")


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
        self._found: dict[_Itself, T] = {}

    def __call__(self, node: ir.Expr) -> T:
        key = _Itself(node)
        try:
            return self._found[key]
        except KeyError:
            pass  # so that an error of the search has no other one behind it
        found = self._found[key] = self._find(node)
        return found


class _Itself:
    """A key that equals another only if both are of one node."""

    __slots__ = ("node",)

    def __init__(self, node: ir.Expr) -> None:
        self.node = node

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and self.node is other.node

    def __hash__(self) -> int:
        return object.__hash__(self.node)
