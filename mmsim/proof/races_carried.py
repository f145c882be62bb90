"""The variables that a loop carries from one iteration to the next.

Compiled code sets most variables anew in each iteration. Nothing has to be known of these.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from mmsim.ir import nodes as ir
from mmsim.ir.walk import all_parts, expressions, inside, names, targets


def carried(loop: ir.While | ir.For, program: ir.Block) -> set[str]:
    """The variables that are read before an iteration sets them, or outside of the loop."""
    walk = _Reads()
    walk.statement(loop, set())
    return walk.found | (_reads(program) - _reads((loop,))).keys()


def _reads(block: ir.Block) -> Counter[str]:
    """The number of times that statements read each variable."""
    return Counter(one.name for one in all_parts(block) if isinstance(one, ir.Var))


class _Reads:
    def __init__(self) -> None:
        self.found: set[str] = set()
        self.leaves: dict[str, list[set[str]]] = defaultdict(list)

    def block(self, block: ir.Block, known: set[str]) -> set[str] | None:
        """The variables that are set behind statements; None if no thread comes to their end."""
        for one in block:
            after = self.statement(one, known)
            if after is None:
                return None
            known = after
        return known

    def statement(self, one: ir.Stmt, known: set[str]) -> set[str] | None:
        """The variables that are set behind a statement, where `known` are set before it."""
        if isinstance(one, ir.While):
            inner = self.block(one.prelude, known)
            if inner is not None:
                self.found |= names([one.test]) - inner
                self.block(one.body, inner)
            return known
        self.found |= names(expressions(one)) - known
        ends = [self.block(body, known | {*targets(one)}) for body in inside(one)]
        if isinstance(one, ir.For):
            return known
        if isinstance(one, ir.Return | ir.Break | ir.Continue):
            return None
        if isinstance(one, ir.Leave):
            self.leaves[one.scope].append(known)
            return None
        if isinstance(one, ir.Scope):
            ends += self.leaves.pop(one.name, [])
        elif not ends:
            return known | {*targets(one)}
        kept = [end for end in ends if end is not None]
        return set.intersection(*kept) if kept else None
