"""The reads of a program that are waits: the end of their `while` loop depends on their values.

A loop waits if another thread could end it by a write. So its end must depend on the value read.
Also the program must write that array somewhere, or the loop must read the same elements each time,
as one that waits for a flag. A search without progress, in an array that no line writes, is not a
wait: it chooses its next read itself, and no other thread can end it.
"""

from __future__ import annotations

from collections.abc import Iterable

from mmsim.errors import Place
from mmsim.ir import nodes as ir
from mmsim.ir.walk import accesses, expressions, inside, names, statements, targets, written_arrays

READ = "memory"
"""Stands among names for the values read; no variable that a program can see has this name."""


class Waits:
    """For each access in text order, whether it is a wait, and its innermost loop."""

    def __init__(self, code: ir.Code) -> None:
        written = written_arrays(code.body)
        waits: set[int] = set()
        loops: dict[int, Place] = {}
        for loop in statements(code.body):
            if isinstance(loop, ir.While):
                dependences = _Dependences(loop)
                loops |= {one.site: loop.place for one in accesses((loop,))}
                waits |= {
                    load.site
                    for load in dependences.loads_of_the_end()
                    if load.array in written or not dependences.moves(load.index)
                }
        sites = [one.site for one in accesses(code.body)]
        self.is_wait = [site in waits for site in sites]
        self.loop = [loops.get(site) for site in sites]


class _Dependences:
    """The dependences of a loop's variables: `on[name]` are the names behind an assignment."""

    def __init__(self, loop: ir.While) -> None:
        self.on: dict[str, set[str]] = {}
        self.loads: list[ir.Load | ir.VectorLoad | ir.Atomic] = []
        self.end = names((loop.test,))
        self._block(loop.prelude, set(), True)
        self._block(loop.body, _jumps(loop.body), True)

    def loads_of_the_end(self) -> list[ir.Load | ir.VectorLoad | ir.Atomic]:
        """The reads whose values decide whether the loop ends."""
        behind = self._behind(self.end)
        return [load for load in self.loads if not behind.isdisjoint(targets(load))]

    def moves(self, index: Iterable[ir.Expr]) -> bool:
        """Return whether an index depends on a value read, or on its own last value."""
        return any(
            {READ, name} & self._behind(self.on.get(name, set()))
            for name in self._behind(names(index))
        )

    def _behind(self, first: Iterable[str]) -> set[str]:
        """Names and all on which they depend."""
        found: set[str] = set()
        left = list(first)
        while left:
            name = left.pop()
            if name not in found:
                found.add(name)
                left += self.on.get(name, ())
        return found

    def _assigned(self, name: str, *behind: Iterable[str]) -> None:
        self.on.setdefault(name, set()).update(*behind)

    def _block(self, block: ir.Block, control: set[str], own: bool) -> None:
        """`control` are the names that decide whether the block is run.

        `own` says that a `break` in it leaves the loop itself.
        """
        for one in block:
            read = names(expressions(one))
            brought = isinstance(one, ir.Load | ir.VectorLoad | ir.Atomic)
            for name in (one.array,) if isinstance(one, ir.RegisterWrite) else targets(one):
                self._assigned(name, read, control, {READ} if brought else ())
            if isinstance(one, ir.Load | ir.VectorLoad | ir.Atomic):
                self.loads.append(one)
            elif isinstance(one, ir.Return) or (isinstance(one, ir.Break) and own):
                self.end |= control
            for inner in inside(one):
                decides = read
                if isinstance(one, ir.While) and inner is one.prelude:
                    decides = set()
                elif not isinstance(one, ir.If):
                    decides = read | _jumps(inner)
                own_break = own and not isinstance(one, ir.For | ir.While)
                self._block(inner, control | decides, own_break)


def _jumps(block: ir.Block, control: frozenset[str] = frozenset(), loop: bool = False) -> set[str]:
    """The names that decide whether a jump skips a part of a block.

    In an inner `loop` a `break` or a `continue` skips nothing of the block.
    """
    found: set[str] = set()
    for one in block:
        if isinstance(one, ir.Leave) or (isinstance(one, ir.Break | ir.Continue) and not loop):
            found |= control
        around = control | names(expressions(one))
        for inner in inside(one):
            if not (isinstance(one, ir.While) and inner is one.prelude):
                found |= _jumps(inner, around, loop or isinstance(one, ir.For | ir.While))
    return found
