"""How many registers a program needs: the most words that a thread holds at a memory access.

SMM counts the registers of a thread in "words of data" (section 1). A value is a *word* if a read
gave it, or if it was computed from one. A variable or an `mm.registers` array is *live* where a
later statement may use what it holds. The registers needed at an access are the words that are live
just before it; those of a program are the most at any access.

- Of all words, `data` are those that may be written to memory again: what SMM counts. The others
  are only addresses or decide a branch.
- What is made of T, of the arguments and of constants alone is local work: no word.
- A write uses the word that it writes, so a copy needs one register. A read needs none for the word
  that it brings before that has come: what becomes of it counts from the next access on.
- Which element of an `mm.registers` array is live isn't known, so a live array counts whole, from
  where it may hold a word.
- Every branch may be taken and every loop may go round, so no run holds more words than are counted
  here. A loop over a range holds its bounds while it goes round.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from mmsim.ir import nodes as ir
from mmsim.ir.nodes import assert_never
from mmsim.ir.walk import names, operands, statements

READER = "the count of registers"


@dataclass(frozen=True)
class Registers:
    """How many words a thread holds at most while it accesses memory.

    `words` are all that came from memory, `data` those of them that may be written to memory again.
    """

    data: int
    words: int


def registers(body: ir.Block, sizes: Mapping[str, int]) -> Registers:
    """The registers that a program needs; `sizes` are the words of its `mm.registers` arrays."""
    graph = _Graph(body)
    steps = graph.steps
    held = _held(steps, graph.entry)
    data = _live(steps, only_data=True)
    words = _live(steps, only_data=False)

    def most(live: list[frozenset[str]]) -> int:
        return max(
            (
                sum(sizes.get(name, 1) for name in live[at] & held[at])
                for at, step in enumerate(steps)
                if step.access
            ),
            default=0,
        )

    return Registers(most(data), most(words))


@dataclass(frozen=True)
class _Step:
    """A statement, or a part of one, in the graph of what may follow what.

    It evaluates `value` and sets `target` to it, or writes it to memory if there is no target;
    `reads`: the value comes from memory instead. The target `keeps` what it held where only an
    element of it is set, or where that isn't certain. `asks` are expressions that say where and
    whether. `clears` are names that hold nothing afterwards.
    """

    next: tuple[int, ...]
    target: str | None = None
    keeps: bool = False
    value: ir.Expr | None = None
    asks: tuple[ir.Expr, ...] = ()
    access: bool = False
    reads: bool = False
    clears: tuple[str, ...] = ()

    @property
    def ends(self) -> frozenset[str]:
        """The names whose former values end here."""
        overwritten = () if self.target is None or self.keeps else (self.target,)
        return frozenset((*overwritten, *self.clears))


@dataclass(frozen=True)
class _Jumps:
    """The steps at which `break`, `continue` and the `Leave` of each scope go on."""

    leave: int
    again: int
    scopes: Mapping[str, int]


class _Graph:
    """The graph of a program, made from its end: a step is numbered after those that follow it."""

    def __init__(self, body: ir.Block) -> None:
        self.steps: list[_Step] = [_Step(())]
        self.end = 0
        self.entry = self._block(body, self.end, _Jumps(self.end, self.end, {}))

    def _add(self, step: _Step) -> int:
        self.steps.append(step)
        return len(self.steps) - 1

    def _block(self, block: ir.Block, after: int, jumps: _Jumps) -> int:
        """The first step of a block that goes on at the step `after`."""
        for statement in reversed(block):
            after = self._statement(statement, after, jumps)
        return after

    def _statement(self, statement: ir.Stmt, after: int, jumps: _Jumps) -> int:
        match statement:
            case ir.Assign(target, value):
                return self._add(_Step((after,), target, value=value))
            case ir.Load(target, _, index):
                return self._add(_Step((after,), target, asks=index, access=True, reads=True))
            case ir.Store(_, index, value):
                return self._add(_Step((after,), None, value=value, asks=index, access=True))
            case ir.RegisterWrite(array, index, value):
                return self._add(_Step((after,), array, keeps=True, value=value, asks=index))
            case ir.If(test, then, orelse):
                sides = (self._block(then, after, jumps), self._block(orelse, after, jumps))
                return self._add(_Step(sides, asks=(test,)))
            case ir.While(prelude, test, body):
                head = self._add(_Step(()))
                inner = _Jumps(after, head, jumps.scopes)
                going = self._block(body, head, inner)
                tested = self._add(_Step((going, after), asks=(test,)))
                self.steps[head] = _Step((self._block(prelude, tested, inner),))
                return head
            case ir.For():
                return self._for(statement, after, jumps)
            case ir.Break():
                return jumps.leave
            case ir.Continue():
                return jumps.again
            case ir.Return():
                return self.end
            case ir.Leave(scope):
                return jumps.scopes[scope]
            case ir.Scope(name, body):
                scopes = {**jumps.scopes, name: after}
                return self._block(body, after, _Jumps(jumps.leave, jumps.again, scopes))
            case ir.Forget(variables, arrays):
                return self._add(_Step((after,), clears=(*variables, *arrays)))
            case ir.Barrier():
                return after
            case _:
                assert_never(statement, READER)

    def _for(self, loop: ir.For, after: int, jumps: _Jumps) -> int:
        """A loop keeps where it stops, its step, and a counter.

        The target is the counter, unless the body sets it.
        """
        head, place = self._add(_Step(())), loop.place
        own = any(getattr(one, "target", None) == loop.target for one in statements(loop.body))
        counter = ir.Var(f"counter {head}" if own else loop.target, place)
        stop, step = ir.Var(f"stop {head}", place), ir.Var(f"step {head}", place)
        following = ir.Binary("+", counter, step, place)
        again = self._add(_Step((head,), counter.name, value=following))
        going = self._block(loop.body, again, _Jumps(after, again, jumps.scopes))
        if own:
            going = self._add(_Step((going,), loop.target, value=counter))
        self.steps[head] = _Step((going, after), asks=(counter, stop, step))
        # The target keeps its former value where the loop doesn't go round at all.
        first = self._add(_Step((head,), counter.name, keeps=True, value=loop.start))
        for name, value in ((step.name, loop.step), (stop.name, loop.stop)):
            first = self._add(_Step((first,), name, value=value))
        return first


def _sources(value: ir.Expr) -> Iterator[str]:
    """The variables and register arrays whose values go into an expression's.

    What only chooses among values doesn't: the index of a register, the test of a choice.
    """
    match value:
        case ir.Var(name):
            yield name
        case ir.RegisterRead(array):
            yield array
        case ir.Choose(_, then, other):
            yield from _sources(then)
            yield from _sources(other)
        case (
            ir.Unary()
            | ir.Binary()
            | ir.Compare()
            | ir.Logic()
            | ir.Lookup()
            | ir.Const()
            | ir.Number()
            | ir.ThreadField()
            | ir.Extent()
        ):
            for part in operands(value):
                yield from _sources(part)
        case _:
            assert_never(value, READER)


def _held(steps: list[_Step], entry: int) -> list[frozenset[str]]:
    """Before each step the names that may hold a word; none where no thread gets."""
    found: list[frozenset[str]] = [frozenset()] * len(steps)
    reached = {entry}
    left = [entry]
    while left:
        at = left.pop()
        step = steps[at]
        after = found[at] - step.ends
        if step.target is not None and (
            step.reads
            or (step.value is not None and not found[at].isdisjoint(_sources(step.value)))
        ):
            after |= {step.target}
        for following in step.next:
            if following not in reached or not after <= found[following]:
                reached.add(following)
                found[following] |= after
                left.append(following)
    return found


def _live(steps: list[_Step], only_data: bool) -> list[frozenset[str]]:
    """Before each step the names whose values a later step may use.

    A use is an index, a test, or what is written to memory; with `only_data` the last alone. What
    is assigned is used where its target is.
    """
    found: list[frozenset[str]] = [frozenset()] * len(steps)
    asked = [frozenset[str]() if only_data else frozenset(names(step.asks)) for step in steps]
    valued = [_of_value(step, only_data) for step in steps]
    changed = True
    while changed:
        changed = False
        for at, step in enumerate(steps):
            after = frozenset[str]().union(*(found[one] for one in step.next))
            live = asked[at] | (after - step.ends)
            if step.target is None or step.target in after:
                live |= valued[at]
            if live != found[at]:
                found[at], changed = live, True
    return found


def _of_value(step: _Step, only_data: bool) -> frozenset[str]:
    """The names that a step's value is made of."""
    value: Iterable[ir.Expr] = () if step.value is None else (step.value,)
    if not only_data:
        return frozenset(names(value))
    return frozenset(name for one in value for name in _sources(one))
