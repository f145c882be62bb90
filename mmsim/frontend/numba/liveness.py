"""Sharing of variables between versions of a name that are never needed at the same time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from numba.core import ir as numba_ir


def phi_of(one: Any) -> Any:
    """The choice by path that an instruction makes; None for any other instruction."""
    is_phi = isinstance(one, numba_ir.Assign) and isinstance(one.value, numba_ir.Expr)
    return one.value if is_phi and one.value.op == "phi" else None


def incoming(phi: Any) -> Iterator[tuple[Any, int]]:
    """The versions that a choice takes, each with the block from which it comes."""
    for var, label in zip(phi.incoming_values, phi.incoming_blocks, strict=True):
        if var is not numba_ir.UNDEFINED:
            yield var, label


def _used(one: Any) -> set[str]:
    if phi_of(one) is not None:
        return set()
    if isinstance(one, numba_ir.Assign):
        if isinstance(one.value, numba_ir.Var):
            return {one.value.name}
        return {v.name for v in one.value.list_vars()} if hasattr(one.value, "list_vars") else set()
    return {var.name for var in one.list_vars()}


class Liveness:
    """The facts of one function: how often a name is read, and where it is needed later."""

    def __init__(self, blocks: dict[int, Any]) -> None:
        self.blocks = blocks
        self.uses: Counter[str] = Counter()
        self.sets: Counter[str] = Counter()
        for block in blocks.values():
            for one in block.body:
                self.uses.update(_used(one))
                if phi_of(one) is not None:
                    self.uses.update(var.name for var, _ in incoming(phi_of(one)))
        self.last = {label: self._last_uses(block) for label, block in blocks.items()}

    @staticmethod
    def _last_uses(block: Any) -> dict[str, int]:
        return {name: at for at, one in enumerate(block.body) for name in _used(one)}

    def clashes(self, group: Callable[[Any], Any]) -> set[frozenset[str]]:
        """The pairs of versions of one `group` of which one is set while the other is needed.

        That happens within a block alone: behind it, a name stands for its latest version.
        """
        found: set[frozenset[str]] = set()
        groups: dict[Any, set[str]] = {}
        for block in self.blocks.values():
            for one in block.body:
                if isinstance(one, numba_ir.Assign):
                    groups.setdefault(group(one.target), set()).add(one.target.name)
        ends: dict[int, set[str]] = {label: set() for label in self.blocks}
        for block in self.blocks.values():
            for one in block.body:
                for var, label in incoming(phi_of(one)) if phi_of(one) is not None else ():
                    ends[label].add(var.name)
        for label, block in self.blocks.items():
            live = ends[label]
            for one in reversed(block.body):
                if isinstance(one, numba_ir.Assign):
                    name = one.target.name
                    others = groups[group(one.target)]
                    if group(one.target) is not None and len(others) > 1:
                        found |= {frozenset((name, other)) for other in others & live - {name}}
                    live.discard(name)
                live |= _used(one)
        return found
