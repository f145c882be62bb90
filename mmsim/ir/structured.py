"""From a graph of basic blocks, which end in jumps, to loops and branches.

A front end whose input has jumps, as bytecode and PTX do, builds `BasicBlock`s; `structured` gives
statements that do the same. The method is that of N. Ramsey, "Beyond Relooper" (ICFP 2022): the
tree of dominators gives the nesting. A block that several forward jumps enter follows a `Scope`,
and each of these jumps is a `Leave` of it. The header of a loop begins a `While`, and a jump back
to it is a `Continue`. In one thing this differs: where a loop goes on when it has ended stands
behind it, so that lanes which leave the loop wait for the others there, as on a GPU.

The graph must be reducible: only its header is an entry of a loop. No statement is copied, and no
variable is added.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from mmsim.errors import LanguageError, Place
from mmsim.ir import nodes as ir

Label = int | str
"""The name of a basic block."""
END = ""
"""Stands for the end of a graph; no block has this name."""


@dataclass(frozen=True)
class BasicBlock:
    """Statements without a jump, and the jump at `place` behind them to one of `targets`.

    A block without targets ends the graph. Of two targets the first is for a true `test`. The
    head of a counted loop has a `turn` instead: the variable of its trips, and their range.
    """

    body: ir.Block
    targets: tuple[Label, ...]
    place: Place
    test: ir.Expr | None = None
    turn: tuple[str, ir.Expr, ir.Expr, ir.Expr] | None = None


class Flow:
    """The facts of a graph that give its structure, for the blocks that its entry reaches.

    `number` gives the position of a block in a reverse postorder, `dominator` its immediate
    dominator, and `loops` the blocks of the loop of each header.
    """

    def __init__(self, blocks: Mapping[Label, BasicBlock], entry: Label) -> None:
        order = _reverse_postorder(blocks, entry)
        self.number = {label: position for position, label in enumerate([*order, END])}
        self.sources: dict[Label, list[Label]] = {label: [] for label in order}
        for label in order:
            for target in blocks[label].targets:
                self.sources[target].append(label)
        self.dominator = {entry: entry}
        while self._more_dominators(order):
            pass
        self.loops: dict[Label, set[Label]] = {}
        for source in order:
            for target in blocks[source].targets:
                if self.is_backward(source, target):
                    if not self.dominates(target, source):
                        raise LanguageError(
                            f"the jump from block {source} to block {target} closes a loop that "
                            "has another entry",
                            blocks[source].place,
                            "let every jump into the loop go to one block",
                        )
                    self._add_to_loop(target, source)

    def _more_dominators(self, order: list[Label]) -> bool:
        """Improve the immediate dominators, as Cooper, Harvey and Kennedy (2001) do."""
        before = dict(self.dominator)
        for label in order[1:]:
            nearest, *others = (one for one in self.sources[label] if one in self.dominator)
            for other in others:
                while nearest != other:
                    if self.number[nearest] > self.number[other]:
                        nearest = self.dominator[nearest]
                    else:
                        other = self.dominator[other]
            self.dominator[label] = nearest
        return self.dominator != before

    def _add_to_loop(self, header: Label, latch: Label) -> None:
        """Add the blocks from which `latch`, which jumps back, is reached without the header."""
        loop = self.loops.setdefault(header, {header})
        pending = [latch]
        while pending:
            label = pending.pop()
            if label not in loop:
                loop.add(label)
                pending += self.sources[label]

    def is_backward(self, source: Label, target: Label) -> bool:
        """Return whether a jump goes to its own block or to an earlier one."""
        return self.number[target] <= self.number[source]

    def dominates(self, label: Label, other: Label) -> bool:
        """Return whether every path to `other` passes `label`."""
        while self.number[other] > self.number[label]:
            other = self.dominator[other]
        return other == label

    def is_merge(self, label: Label) -> bool:
        """Return whether several forward jumps enter a block."""
        return sum(not self.is_backward(one, label) for one in self.sources[label]) > 1

    def left_before(self, label: Label) -> Label | None:
        """The header of the outermost loop that the jumps to a block leave; None for none."""
        above = self.dominator[label]
        left = [one for one, loop in self.loops.items() if above in loop and label not in loop]
        return min(left, key=self.number.__getitem__, default=None)


def _reverse_postorder(blocks: Mapping[Label, BasicBlock], entry: Label) -> list[Label]:
    """The blocks that the entry reaches, each before its successors but for jumps back."""
    found: list[Label] = []
    seen, pending = {entry}, [(entry, list(blocks[entry].targets))]
    while pending:
        label, targets = pending[-1]
        if not targets:
            found.append(label)
            pending.pop()
        elif (target := targets.pop()) not in seen:
            seen.add(target)
            pending.append((target, list(blocks[target].targets)))
    return found[::-1]


@dataclass(frozen=True)
class _Around:
    """The surroundings of a statement: the block `after` it, and the header of its `loop`.

    `behind` is the block after the loop.
    """

    after: Label = END
    loop: Label | None = None
    behind: Label | None = None


@dataclass
class _Nesting:
    """The nesting of a graph: the blocks that follow a scope around a block, or around a loop.

    `apart` are all of these. `left` are the names of the scopes that some `Leave` leaves.
    """

    blocks: Mapping[Label, BasicBlock]
    flow: Flow
    prefix: str
    ends: Callable[[Place], ir.Stmt] | None = None
    in_scope: dict[Label, list[Label]] = field(default_factory=dict)
    behind_loop: dict[Label, list[Label]] = field(default_factory=dict)
    apart: set[Label] = field(default_factory=set)
    left: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for label in list(self.flow.dominator)[1:]:  # in reverse postorder
            header = self.flow.left_before(label)
            if header is not None:
                self.behind_loop.setdefault(header, []).append(label)
            elif self.flow.is_merge(label):
                self.in_scope.setdefault(self.flow.dominator[label], []).append(label)
        for header, exits in self.behind_loop.items():
            own = self.blocks[header].targets
            shared = [one for one in exits if one in own or self.flow.is_merge(one)]
            exits[:] = shared or exits[-1:]  # any other exit stands at the jump to it
        rows = (*self.in_scope.values(), *self.behind_loop.values())
        self.apart = {one for row in rows for one in row}

    def tree(self, label: Label | None, around: _Around) -> ir.Block:
        """A block and all blocks that it dominates; a loop over what follows, not a recursion."""
        found: list[ir.Stmt] = []
        while label is not None:
            is_loop = label in self.flow.loops
            others = (self.behind_loop if is_loop else self.in_scope).get(label, [])
            statements, label = self.followed(label, others, around, is_loop)
            found += statements
        return tuple(found)

    def followed(
        self, label: Label, others: list[Label], around: _Around, is_loop: bool
    ) -> tuple[ir.Block, Label | None]:
        """A block or a loop in a scope for each of `others`, and the block that goes on from it."""
        if not others:
            return (self.loop(label, around), None) if is_loop else self.straight(label, around)
        *first, last = others
        inner = _Around(last, around.loop, around.behind)
        body, rest = self.followed(label, first, inner, is_loop)
        return self.scope(self.to(last), (*body, *self.tree(rest, inner))), last

    def loop(self, header: Label, around: _Around) -> ir.Block:
        """The loop of a header; its test decides if the header leaves it for what follows."""
        block, inner = self.blocks[header], _Around(header, header, around.after)
        if block.turn is not None:
            first, behind = block.targets
            goes_on: ir.Block = ()
            if behind != around.after:  # as an else does: jumps in the body go further
                inner = replace(inner, behind=None)
                goes_on = self.jump(header, behind, around)
            body = self.scope(self.again(header), self.jump(header, first, inner))
            return (*block.body, ir.For(*block.turn, body, block.place), *goes_on)
        if block.test is not None and block.targets.count(around.after) == 1:
            leaves_first = block.targets[0] == around.after
            test = ir.Unary("not", block.test, block.place) if leaves_first else block.test
            body = self.jump(header, block.targets[leaves_first], inner)
            return (ir.While(block.body, test, self.scope(self.again(header), body), block.place),)
        statements, rest = self.followed(header, self.in_scope.get(header, []), inner, False)
        body = (*statements, *self.tree(rest, inner))
        return (ir.While((), ir.Const(True), self.scope(self.again(header), body), block.place),)

    def straight(self, label: Label, around: _Around) -> tuple[ir.Block, Label | None]:
        """A block and its jump, and the target if that simply goes on from there."""
        block = self.blocks[label]
        targets = block.targets or (END,)
        if block.turn is not None:  # of a loop with one trip at most
            then, orelse = (self.jump(label, target, around) for target in targets)
            name, start, _, _ = block.turn
            then = (ir.Assign(name, start, block.place), *then)
            return (*block.body, ir.If(_has_trips(block), then, orelse, block.place)), None
        if block.test is None:
            (target,) = targets
            if self.is_own(label, target, around):
                return block.body, target
            return (*block.body, *self.jump(label, target, around)), None
        then, orelse = (self.jump(label, target, around) for target in targets)
        return (*block.body, ir.If(block.test, then, orelse, block.place)), None

    def is_own(self, source: Label, target: Label, around: _Around) -> bool:
        """Return whether the target of a jump stands in its place."""
        return not (
            target in (around.after, END)
            or self.flow.is_backward(source, target)
            or target in self.apart
        )

    def jump(self, source: Label, target: Label, around: _Around) -> ir.Block:
        """A jump: nothing if the target follows anyway, the target itself, or a statement."""
        place = self.blocks[source].place
        if target == around.after:
            return ()
        if target == END and self.ends is not None:
            return (self.ends(place),)
        if self.is_own(source, target, around):
            return self.tree(target, around)
        if target == around.loop:
            return (ir.Continue(place),)
        if target == around.behind:
            return (ir.Break(place),)
        back = self.flow.is_backward(source, target)
        name = self.again(target) if back else self.to(target)
        self.left.add(name)
        return (ir.Leave(name, place),)

    def scope(self, name: str, body: ir.Block) -> ir.Block:
        """A scope around statements, if one of them leaves it."""
        return (ir.Scope(name, body),) if name in self.left else body

    def to(self, label: Label) -> str:
        """The name of the scope in front of a block."""
        return f"{self.prefix}{self.flow.number[label]}"

    def again(self, header: Label) -> str:
        """The name of the scope that is the body of a loop; it is left to go on with the loop."""
        return f"{self.to(header)}_again"


def _has_trips(block: BasicBlock) -> ir.Expr:
    """Return whether the range of a counted loop holds a number."""
    assert block.turn is not None
    _, start, stop, step = block.turn
    up, down = (ir.Compare(op, start, stop, block.place) for op in ("<", ">"))
    if isinstance(step, ir.Const):
        return up if step.value.real > 0 else down
    return ir.Choose(ir.Compare(">", step, ir.Const(0), block.place), up, down)


def structured(
    blocks: Mapping[Label, BasicBlock],
    entry: Label,
    prefix: str = "block_",
    ends: Callable[[Place], ir.Stmt] | None = None,
) -> ir.Block:
    """The statements that do the same as a graph from its block `entry` on.

    The names of their scopes begin with `prefix`, which keeps those of several graphs apart.
    Raises `LanguageError`, which names a jump, for a graph that is not reducible.

    >>> place = Place("f", "f.py", 1)
    >>> x = ir.Var("x", place)
    >>> less = ir.Assign("x", ir.Binary("-", x, ir.Const(1), place), place)
    >>> head, body = ("body", "exit"), ("head",)
    >>> blocks = {"head": BasicBlock((), head, place, x), "body": BasicBlock((less,), body, place)}
    >>> (loop,) = structured({**blocks, "exit": BasicBlock((), (), place)}, "head")
    >>> loop == ir.While((), x, (less,), place)
    True
    """
    nesting = _Nesting(blocks, Flow(blocks, entry), prefix, ends)
    return nesting.scope(nesting.to(END), nesting.tree(entry, _Around()))
