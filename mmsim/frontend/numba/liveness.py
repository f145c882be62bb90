"""Sharing of variables between versions of a name that are never needed at the same time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from numba.core import ir as numba_ir


def phi_of(one: Any) -> Any:
    """The choice by path that an instruction makes; None for any other instruction."""
    is_phi = isinstance(one, numba_ir.Assign) and isinstance(one.value, numba_ir.Expr)
    return one.value if is_phi and one.value.op == "phi" else None


def incoming(phi: Any) -> Iterator[tuple[Any, int]]:
    """The versions that a choice takes, each with the block from which it comes; none of None."""
    if phi is None:
        return
    for var, label in zip(phi.incoming_values, phi.incoming_blocks, strict=True):
        if var is not numba_ir.UNDEFINED:
            yield var, label


def base_of(var: Any) -> str:
    """The name of which a variable is a version."""
    return str(var.unversioned_name)


def _used(one: Any) -> set[str]:
    """The names that an instruction reads; a choice reads its versions in the blocks before."""
    if phi_of(one) is not None:
        return set()
    if isinstance(one, numba_ir.Assign) and isinstance(one.value, numba_ir.Var):
        return {one.value.name}
    read = one.value if isinstance(one, numba_ir.Assign) else one
    return {var.name for var in read.list_vars()} if hasattr(read, "list_vars") else set()


class Liveness:
    """The facts of one function: how often a name is set and read."""

    def __init__(self, blocks: dict[int, Any]) -> None:
        self.uses: Counter[str] = Counter()
        self.sets: Counter[str] = Counter()
        self._blocks = blocks
        self._ends: dict[int, set[str]] = {label: set() for label in blocks}
        for block in blocks.values():
            for one in block.body:
                self.uses.update(_used(one))
                if isinstance(one, numba_ir.Assign):
                    self.sets[base_of(one.target)] += 1
                for var, label in incoming(phi_of(one)):
                    self.uses[var.name] += 1
                    self._ends[label].add(var.name)

    def clashes(self, group: Callable[[Any], Any]) -> set[frozenset[str]]:
        """The pairs of versions of one `group` of which one is set while the other is needed.

        That happens within a block alone: behind it, a name stands for its latest version.
        """
        found: set[frozenset[str]] = set()
        groups: defaultdict[Any, set[str]] = defaultdict(set)
        for block in self._blocks.values():
            for one in block.find_insts(numba_ir.Assign):
                groups[group(one.target)].add(one.target.name)
        for label, block in self._blocks.items():
            live = set(self._ends[label])
            for one in reversed(block.body):
                if isinstance(one, numba_ir.Assign):
                    key, name = group(one.target), one.target.name
                    live.discard(name)
                    others = groups[key] & live if key is not None else ()
                    found |= {frozenset((name, other)) for other in others}
                live |= _used(one)
        return found
