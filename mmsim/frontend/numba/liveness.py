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
    """The facts of one function: how often a name is set and read, and where it is needed later.

    `group` gives the variables that may share one name for an assigned one, None for none.
    """

    def __init__(self, blocks: dict[int, Any], group: Callable[[Any], Any]) -> None:
        self.uses: Counter[str] = Counter()
        self.sets: Counter[str] = Counter()
        self._groups: dict[str, set[str]] = {}
        self._rows: dict[int, list[tuple[str, set[str]]]] = {label: [] for label in blocks}
        self._out: dict[int, set[str]] = {label: set() for label in blocks}
        together: defaultdict[Any, set[str]] = defaultdict(set)
        for label, block in blocks.items():
            for one in block.body:
                target: Any = getattr(one, "target", None)
                used = _used(one)
                is_set = isinstance(one, numba_ir.Assign)
                self._rows[label].append((target.name if is_set else "", used))
                self.uses.update(used)
                if is_set:
                    self.sets[base_of(target)] += 1
                    together[group(target)].add(target.name)
                for var, source in incoming(phi_of(one)):
                    self.uses[var.name] += 1
                    self._out[source].add(var.name)
        for key, names in together.items():
            if key is not None:
                self._groups |= dict.fromkeys(names, names)
        self._spread(blocks)

    def _spread(self, blocks: dict[int, Any]) -> None:
        """Find what each block leaves to its successors."""
        into: dict[int, set[str]] = {}
        changed = True
        while changed:
            changed = False
            for label in reversed(blocks):
                targets = blocks[label].terminator.get_targets()
                self._out[label].update(*(into.get(target, ()) for target in targets))
                *_, (_, needed) = self._backwards(label)
                changed |= into.get(label) != needed
                into[label] = needed

    def _backwards(self, label: int) -> Iterator[tuple[str, set[str]]]:
        """The names that a block sets, from its end, with what is needed then; "" at its start."""
        needed = self._out[label]
        for name, used in reversed(self._rows[label]):
            yield name, needed
            needed = needed - {name} | used
        yield "", needed

    def is_far(self, name: str, label: int) -> bool:
        """Return whether a name is needed behind a block."""
        return name in self._out[label]

    def clashes(self) -> set[frozenset[str]]:
        """The pairs of names of one group of which one is set while the other is needed."""
        return {
            frozenset((name, other))
            for label in self._rows
            for name, needed in self._backwards(label)
            for other in self._groups.get(name, set()) & needed
            if other != name
        }
