"""The control flow of a program: its statements, and parts of them, as steps of a graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from mmsim.ir import nodes as ir
from mmsim.ir.nodes import assert_never
from mmsim.ir.walk import expressions, statements, stored, targets

READER = "the graph of a program"
NO_SITE = -1


@dataclass(frozen=True)
class Step:
    """A statement, or a part of one, in the graph of control flow.

    It evaluates `value` and sets `target` to it, or writes it to memory if there is no target.
    With `reads`, the value comes from memory instead. The target `keeps` its earlier value if only
    an element of it is set, or if that isn't certain. `asks` are expressions that decide where and
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
    site: int = NO_SITE
    exchanged: bool = False

    @property
    def ends(self) -> tuple[str, ...]:
        """The names whose former values end here."""
        return self.clears if self.target is None or self.keeps else (self.target,)


@dataclass(frozen=True)
class _Jumps:
    """The next steps after `break`, `continue` and the `Leave` of each scope."""

    leave: int
    again: int
    scopes: Mapping[str, int]


class Graph:
    """The graph of a program, built from its end.

    A step has a higher number than its successors, except for the step that goes back in a loop.
    """

    def __init__(self, body: ir.Block) -> None:
        self.steps: list[Step] = [Step(())]
        self.end = 0
        self.entry = self._block(body, self.end, _Jumps(self.end, self.end, {}))

    def _add(self, step: Step) -> int:
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
                return self._add(Step((after,), target, value=value))
            case ir.Load() | ir.VectorLoad() | ir.Store() | ir.VectorStore() | ir.Atomic():
                return self._access(statement, after)
            case ir.RegisterWrite(array, index, value):
                return self._add(Step((after,), array, keeps=True, value=value, asks=index))
            case ir.If(test, then, orelse):
                sides = (self._block(then, after, jumps), self._block(orelse, after, jumps))
                return self._add(Step(sides, asks=(test,)))
            case ir.While(prelude, test, body):
                back = self._add(Step(()))
                going = self._block(body, back, _Jumps(after, back, jumps.scopes))
                tested = self._add(Step((going, after), asks=(test,)))
                first = self._block(prelude, tested, jumps)
                self.steps[back] = Step((first,))
                return first
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
                return self._add(Step((after,), clears=(*variables, *arrays)))
            case ir.Exchange(target=target) | ir.Barrier(target=target):
                return self._exchanged(target, expressions(statement), after)
            case _:
                assert_never(statement, READER)

    def _access(self, access: ir.Access, after: int) -> int:
        """A step for each word: those written first, then those read; the first of all accesses."""
        words, asks = stored(access), access.index
        if isinstance(access, ir.Atomic):
            words, asks = (access.value,), (*asks, *words[:-1])
        steps = [Step((), value=word, site=access.site) for word in words]
        read = (access.target,) if isinstance(access, ir.Load | ir.Atomic) else targets(access)
        steps += [Step((), target, reads=True, site=access.site) for target in read]
        for step in steps[:0:-1]:
            after = self._add(replace(step, next=(after,)))
        return self._add(replace(steps[0], next=(after,), asks=asks, access=True))

    def _exchanged(self, target: str | None, given: tuple[ir.Expr, ...], after: int) -> int:
        """The target's value comes from threads' first values; the others select the threads."""
        if target is None or not given:
            return self._add(Step((after,), clears=() if target is None else (target,), asks=given))
        step = Step((after,), target, value=given[0], asks=given[1:], exchanged=True)
        return self._add(step)

    def _for(self, loop: ir.For, after: int, jumps: _Jumps) -> int:
        """A loop keeps its end, its step, and a counter.

        The target is the counter, unless the body sets it.
        """
        back, place = self._add(Step(())), loop.place
        own = any(loop.target in targets(one) for one in statements(loop.body))
        counter = ir.Var(f"counter {back}" if own else loop.target, place)
        stop, step = ir.Var(f"stop {back}", place), ir.Var(f"step {back}", place)
        following = ir.Binary("+", counter, step, place)
        again = self._add(Step((back,), counter.name, value=following))
        going = self._block(loop.body, again, _Jumps(after, again, jumps.scopes))
        if own:
            going = self._add(Step((going,), loop.target, value=counter))
        tested = self._add(Step((going, after), asks=(counter, stop, step)))
        self.steps[back] = Step((tested,))
        # The target keeps its former value if the loop has no iteration.
        first = self._add(Step((tested,), counter.name, keeps=True, value=loop.start))
        for name, value in ((step.name, loop.step), (stop.name, loop.stop)):
            first = self._add(Step((first,), name, value=value))
        return first
