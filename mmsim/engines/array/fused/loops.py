"""The statements of each loop over the warps, and the words that a loop needn't keep.

Each statement runs for all warps before the next statement begins. If no warp can see the effects
of other warps meanwhile, one loop does several statements, each warp all of them: the words that it
has read are at hand when it writes them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from mmsim.engines.array.fused.analysis import Analysis, behind
from mmsim.ir import nodes as ir
from mmsim.ir.lower import unconverted
from mmsim.ir.tidy import read_by
from mmsim.ir.walk import statements, written_arrays

FOR_EACH_LANE = ir.Load | ir.Store | ir.VectorLoad | ir.VectorStore | ir.Atomic | ir.RegisterWrite
"""Statements that each lane does by itself."""


def fused_loops(block: ir.Block, analysis: Analysis) -> Iterator[ir.Block]:
    """The statements of a block in loops; none of a loop uses an array that another one writes."""
    group: list[ir.Stmt] = []
    used: set[str] = set()
    written: set[str] = set()
    for statement in block:
        # Each lane does it by itself, or it has nothing to do.
        by_lanes = isinstance(statement, FOR_EACH_LANE | ir.Forget)
        if isinstance(statement, ir.Assign):
            by_lanes = statement.target not in analysis.uniform
        array = statement.array if isinstance(statement, ir.Access) else ""
        changes = isinstance(statement, ir.Access) and not isinstance(
            statement, ir.Load | ir.VectorLoad
        )
        if not by_lanes or array in (used if changes else written):
            if group:
                yield tuple(group)
            group, used, written = [], set(), set()
        if not by_lanes:
            yield (statement,)
            continue
        group.append(statement)
        used.add(array)
        if changes:
            written.add(array)
    if group:
        yield tuple(group)


def needs_lanes(statement: ir.Stmt, analysis: Analysis) -> bool:
    """Return whether a statement has work for each lane."""
    if isinstance(statement, ir.Assign):
        return statement.target not in (*analysis.inlined, *analysis.uniform)
    if isinstance(statement, ir.Forget):
        return bool(statement.registers)
    return isinstance(statement, FOR_EACH_LANE)


def kept(value: ir.Expr, analysis: Analysis) -> str | None:
    """The variable that a value is, if each lane has its own; None for any other value."""
    value = behind(value, analysis.inlined)
    if isinstance(value, ir.Var) and value.name not in analysis.uniform:
        return value.name
    return None


class Moves:
    """The variables that are set by one read of memory, and their uses.

    `unwritten` are those read from arrays that the program never writes: memory still holds the
    word when it is needed. `forwarded` gives for each group the variables that a later statement of
    the group writes unchanged, and that have no other use.
    """

    def __init__(self, body: ir.Block, analysis: Analysis) -> None:
        self.analysis = analysis
        every = list(statements(body))
        stored = written_arrays(body)
        self.unwritten = {
            s.target
            for s in every
            if isinstance(s, ir.Load) and s.target in analysis.once and s.array not in stored
        }
        self._reads = Counter(name for statement in every for name in read_by(statement))

    def forwarded(self, group: ir.Block) -> set[str]:
        """The variables that a group reads only to write them again."""
        loaded: set[str] = set()
        found: set[str] = set()
        for statement in group:
            if isinstance(statement, ir.Load):
                if statement.target in self.analysis.once:
                    loaded.add(statement.target)
            elif isinstance(statement, ir.Store):
                value = unconverted(statement.value)
                name = kept(value, self.analysis)
                if name in loaded and self._read_once(value):
                    found.add(name)
        return found

    def _read_once(self, value: ir.Expr) -> bool:
        """Return whether a variable, and each for which it stands, is read in one place."""
        while isinstance(value, ir.Var) and self._reads[value.name] == 1:
            if value.name not in self.analysis.inlined:
                return True
            value = self.analysis.inlined[value.name]
        return False
