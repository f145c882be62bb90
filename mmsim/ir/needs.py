"""The dependences between the accesses of a program: needs, waits and updates.

A warp that may have several requests under way sends the next one without waiting for the earlier
ones, unless their values are *used* in between: by an index, a condition, a write to memory or an
exchange. Then the next access `needs` them. A value that is computed from the word of a read or an
atomic, or copied to variables and register arrays, is used where the result is. The sites whose
values a name may hold follow from the program's text alone, over all paths of a thread. So do the
sites whose values are used between one access and the next. A register array is one name for all of
its elements.

A read is a *wait* if the end of its `while` loop depends on its value, and another thread could end
the loop by a write. So the program must write that array somewhere, or the loop must read the same
elements each time, as one that waits for a flag. A search without progress, in an array that no
line writes, is not a wait: it chooses its next read itself, and no other thread can end it.

A write *updates* if the stored value depends on a read of the same array. `a[i] += 1` does, and so
does `x = a[i]` with `a[i] = x + 1` some lines later. Only a run shows whether the element is the
same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from mmsim.errors import Place
from mmsim.ir import nodes as ir
from mmsim.ir.graph import NO_SITE, Graph, Step
from mmsim.ir.walk import (
    accesses,
    expressions,
    inside,
    names,
    parts,
    statements,
    stored,
    targets,
    written_arrays,
)

USED = ""
"""Stands among names for the values used since the last access; no variable has this name."""


def needs(body: ir.Block, sites: int) -> tuple[frozenset[int], ...]:
    """For each access of a numbered program the sites for whose requests it waits.

    >>> from mmsim import program
    >>> @program
    ... def scatter(T, a, b, d):
    ...     place, value = d[T.id], a[T.id]
    ...     b[place] = value
    >>> [sorted(one) for one in needs(scatter.code.body, 3)]
    [[], [], [0, 1]]
    """
    graph = Graph(body)
    held: list[set[tuple[str, int]]] = [set() for _ in graph.steps]
    found: list[frozenset[int]] = [frozenset()] * sites
    reached, waiting = {graph.entry}, {graph.entry}
    while waiting:
        at = max(waiting)  # a step has a higher number than those that follow it
        waiting.remove(at)
        step = graph.steps[at]
        asked = {USED, *names(_operated(step))}
        used = {site for name, site in held[at] if name in asked}
        ended = {USED, *step.ends}
        after = {one for one in held[at] if one[0] not in ended}
        if step.site == NO_SITE:
            after |= {(USED, site) for site in used}
        else:
            found[step.site] |= used
        if step.target is not None and step.reads:
            after.add((step.target, step.site))
        elif step.target is not None and step.value is not None and not step.exchanged:
            sources = names((step.value,))
            after |= {(step.target, site) for name, site in held[at] if name in sources}
        for following in step.next:
            if following not in reached or not after <= held[following]:
                reached.add(following)
                held[following] |= after
                waiting.add(following)
    return tuple(found)


def _operated(step: Step) -> Iterable[ir.Expr]:
    """The expressions of a step whose values it needs itself, not only for a result."""
    yield from step.asks
    if step.value is None:
        return
    if step.target is None or step.exchanged:
        yield step.value
    for part in parts(step.value):
        if isinstance(part, ir.RegisterRead):
            yield from part.index


def decides(code: ir.Code, arrays: Iterable[str]) -> bool:
    """Return whether words of some arrays may decide which statements a thread executes.

    Variables and arrays may hold them that a statement sets to a value which depends on one. A wait
    for another thread counts, too.

    >>> from mmsim import atomic, program
    >>> @program
    ... def ranks(T, count, rank):
    ...     own = atomic.add(count, 0, 1)
    ...     rank[own] = T.id
    >>> decides(ranks.code, ["count"]), decides(ranks.code, ["rank"])
    (False, False)
    """
    every = [*statements(code.body)]
    held, before = set(arrays), -1
    while len(held) > before:
        before = len(held)
        for one in every:
            used = set(names(expressions(one)))
            if isinstance(one, ir.MemoryAccess) and not isinstance(one, ir.Store | ir.VectorStore):
                used.add(one.array)
            if used & held:
                if isinstance(one, ir.If | ir.While | ir.For):
                    return True
                held.update(targets(one))
                if isinstance(one, ir.Access | ir.RegisterWrite) and stored(one):
                    held.add(one.array)
    return any(Waits(code).is_wait)


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
    setting: dict[str, list[ir.Stmt]] = defaultdict(list)
    for one in statements(code.body):
        for name in (one.array,) if isinstance(one, ir.RegisterWrite) else targets(one):
            setting[name].append(one)
    found = {}
    for one in statements(code.body):
        if isinstance(one, ir.Store | ir.VectorStore):
            behind = [_behind(value, setting) for value in stored(one)]
            loads = (load for loads, _ in behind for load in loads)
            reads = frozenset(load.site for load in loads if load.array == one.array)
            if reads:
                found[one.site] = Update(reads, all(harmless for _, harmless in behind))
    return found


def _behind(
    value: ir.Expr, setting: Mapping[str, list[ir.Stmt]]
) -> tuple[list[ir.Load | ir.VectorLoad], bool]:
    """The reads on which a value depends; whether only harmless operators are between.

    `setting` has the statements that set each variable, or write to each register array.
    """
    found: list[ir.Load | ir.VectorLoad] = []
    harmless, met, left = True, set[str](), [value]
    while left:
        part = left.pop()
        if not isinstance(part, ir.Var | ir.RegisterRead):
            inner = expressions(part)
            left += inner
            harmless &= not inner or (isinstance(part, ir.Binary) and part.op in HARMLESS)
            continue
        name = part.name if isinstance(part, ir.Var) else part.array
        for one in () if name in met else setting.get(name, ()):
            if isinstance(one, ir.Load | ir.VectorLoad):
                found.append(one)
            elif isinstance(one, ir.RegisterWrite):
                left.append(one.value)
            elif isinstance(one, ir.Assign | ir.Exchange | ir.Barrier):
                left += expressions(one)
                harmless &= isinstance(one, ir.Assign)
        met.add(name)
    return found, harmless
