"""The writes of a program that update: the stored value depends on a read of the same array.

`a[i] += 1` is one, and so is `x = a[i]` with `a[i] = x + 1` some lines later. Only a run shows
whether the element is the same.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from mmsim.ir import nodes as ir
from mmsim.ir.walk import expressions, statements, stored, targets

HARMLESS = ("min", "max", "&", "|")
"""Idempotent operators: a second application with the same value changes nothing."""


class Update(NamedTuple):
    """The reads on which a write may depend, and whether all operations between are harmless.

    Sites number the reads. If it is `harmless`, updates that store equal words lose nothing.
    """

    reads: frozenset[int]
    harmless: bool


def updates(code: ir.Code) -> dict[int, Update]:
    """The updates of a program, by the sites of their writes."""
    flows = _Flows(code)
    found = {}
    for one in statements(code.body):
        if isinstance(one, ir.Store | ir.VectorStore):
            behind = [flows.behind(value) for value in stored(one)]
            loads = (load for loads, _ in behind for load in loads)
            reads = frozenset(load.site for load in loads if load.array == one.array)
            if reads:
                found[one.site] = Update(reads, all(harmless for _, harmless in behind))
    return found


class _Flows:
    """The flow of values into the variables and registers of a program."""

    def __init__(self, code: ir.Code) -> None:
        self.values: dict[str, list[ir.Expr]] = defaultdict(list)
        self.loads: dict[str, list[ir.Load | ir.VectorLoad]] = defaultdict(list)
        self.exchanged: set[str] = set()  # set by a warp's exchange, or by a barrier
        for one in statements(code.body):
            if isinstance(one, ir.RegisterWrite):
                self.values[one.array].append(one.value)
            for target in targets(one):
                if isinstance(one, ir.Assign | ir.Exchange | ir.Barrier):
                    self.values[target] += expressions(one)
                elif isinstance(one, ir.Load | ir.VectorLoad):
                    self.loads[target].append(one)
                if isinstance(one, ir.Exchange | ir.Barrier):
                    self.exchanged.add(target)

    def behind(self, value: ir.Expr) -> tuple[list[ir.Load | ir.VectorLoad], bool]:
        """The reads on which a value depends; whether only harmless operators are between."""
        found: list[ir.Load | ir.VectorLoad] = []
        harmless = True
        met: set[str] = set()
        left = [value]
        while left:
            part = left.pop()
            if isinstance(part, ir.Var | ir.RegisterRead):
                name = part.name if isinstance(part, ir.Var) else part.array
                if name not in met:
                    met.add(name)
                    found += self.loads[name]
                    left += self.values[name]
                    harmless = harmless and name not in self.exchanged
                continue
            left += expressions(part)
            if expressions(part) and not (isinstance(part, ir.Binary) and part.op in HARMLESS):
                harmless = False
        return found, harmless
