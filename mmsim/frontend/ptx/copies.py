"""Registers that are copied before they are set: a compiler writes so what the source leaves open.

A copy of such a register, or a store of it, is no use of it. CUB's radix sort stores keys that an
incomplete tile doesn't have. So these registers begin with 0, as long as nothing else
reads them before they are set.
"""

from __future__ import annotations

from collections.abc import Iterable

from mmsim.ir import nodes as ir
from mmsim.ir.graph import Graph, Step
from mmsim.ir.operators import CASTS
from mmsim.ir.walk import names


def copied_first(body: ir.Block) -> set[str]:
    """The variables that a thread may copy before it sets them, and that it doesn't use so."""
    graph = Graph(body)
    used = [names((*step.asks, *([] if _copies(step) else _value(step)))) for step in graph.steps]
    read = [names((*step.asks, *_value(step))) for step in graph.steps]
    return _before(graph, read) - _before(graph, used)


def _value(step: Step) -> tuple[ir.Expr, ...]:
    return () if step.value is None else (step.value,)


def _copies(step: Step) -> bool:
    """Return whether a step only copies a variable, perhaps to memory."""
    value = step.value
    while isinstance(value, ir.Unary) and value.op in CASTS:
        value = value.operand
    return isinstance(value, ir.Var)


def _before(graph: Graph, read: Iterable[set[str]]) -> set[str]:
    """The variables that may be read before they are set."""
    bits: dict[str, int] = {}

    def of(found: Iterable[str]) -> int:
        joined = 0
        for name in found:
            joined |= bits.setdefault(name, 1 << len(bits))
        return joined

    asked = [of(one) for one in read]
    ends = [of(step.ends) for step in graph.steps]
    found = [0] * len(graph.steps)
    changed = True
    while changed:
        changed = False
        for at, step in enumerate(graph.steps):
            after = 0
            for following in step.next:
                after |= found[following]
            live = asked[at] | (after & ~ends[at])
            if live != found[at]:
                found[at], changed = live, True
    return {name for name, bit in bits.items() if found[graph.entry] & bit}
