"""Walks through a program once for any thread, and notes its accesses and barriers.

A loop is walked for one iteration with an unknown number. Its variables are those of this
iteration: x + ck for one that each iteration increases by c, else a symbol, with what holds at the
head of every iteration (found by induction from tests of the program and from first values).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations

import z3

from mmsim.errors import Place
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import INT, Type
from mmsim.ir.nodes import assert_never
from mmsim.ir.walk import inside, names, parts, statements, targets, written_arrays
from mmsim.proof.races_carried import carried
from mmsim.proof.races_ends import at_ends, unwrapped
from mmsim.proof.races_values import Values, array_of, element
from mmsim.proof.whole_numbers import (
    BLOCK,
    LAUNCH,
    THREAD,
    Number,
    Origin,
    Truth,
    Value,
    constant,
)

Env = dict[str, Value]


def never() -> Truth:
    return z3.BoolVal(False)


@dataclass(eq=False)
class Loop:
    """A loop: its number, the loops around it, and what barriers it is sure to come to.

    `first` says when a thread that comes to it does an iteration. `scopes` are those of barriers
    that its iterations come to, or leave for; `sure` of those that each iteration comes to. `next`
    gives the symbols of an iteration's variables, with the values in the next one.
    """

    number: int
    outer: tuple[Loop, ...]
    place: Place
    position: int = 0
    counter: str = ""
    first: Truth = field(default_factory=lambda: z3.BoolVal(True))
    scopes: set[str] = field(default_factory=set)
    sure: set[str] = field(default_factory=set)
    breaks: bool = False
    next: list[tuple[Value, Value]] = field(default_factory=list)

    @property
    def stack(self) -> tuple[Loop, ...]:
        """The loops around it, and itself."""
        return (*self.outer, self)


@dataclass(frozen=True, eq=False)
class Noted:
    """Something that a thread does if `path` holds, at a position of the text, in loops."""

    position: int
    loops: tuple[Loop, ...]
    path: Truth
    place: Place


@dataclass(frozen=True, eq=False)
class Touched(Noted):
    """An access of `width` elements from an index on. `values` are what is written."""

    kind: str
    array: str
    index: tuple[Value, ...]
    width: int = 1
    values: tuple[Value, ...] = ()


@dataclass(frozen=True, eq=False)
class Met(Noted):
    """A barrier. `sure` says if each whole iteration of the loop around it comes to it."""

    scope: str
    sure: bool


@dataclass(frozen=True, eq=False)
class Parting(Noted):
    """A test on which it depends to which barrier of these scopes a thread comes next."""

    test: Truth
    scopes: frozenset[str]


@dataclass(frozen=True, eq=False)
class Index(Noted):
    """An index that must lie in the extents of an array; `note` says why it can't be known."""

    array: str
    index: tuple[Value, ...]
    extents: tuple[Number, ...]
    width: int = 1


@dataclass(eq=False)
class _Frame:
    """A loop or a scope that is being walked, and where threads leave it or go on."""

    name: str | None
    loop: Loop | None
    stays: list[tuple[Truth, Env]] = field(default_factory=list)  # continue
    leaves: list[tuple[Truth, Env]] = field(default_factory=list)
    unsure: bool = False
    depth: int = 0


@dataclass
class _Head:
    """The variables at the head of an iteration: all, those with a symbol, those with a step."""

    env: Env
    symbols: dict[str, Value] = field(default_factory=dict)
    steps: set[str] = field(default_factory=set)


SERVES = {"block": {"block"}, "grid": {"block", "grid"}}
"""The scopes whose threads a barrier orders."""


def _same(one: Value, other: Value) -> bool:
    """Return whether two values are the same term."""
    if isinstance(one, Number) or isinstance(other, Number):
        return bool(one == other)
    return bool(one.eq(other))


def _scopes(block: Iterable[ir.Stmt]) -> set[str]:
    """The scopes of the barriers in statements."""
    barriers = (one for one in statements(block) if isinstance(one, ir.Barrier))
    return {scope for one in barriers for scope in SERVES[one.scope]}


class Walk:
    """The walk through one program, with `touched`, `met`, `partings` and `indices` in its order.

    `holds(fact)` says if a fact about one thread is proved.
    """

    def __init__(
        self,
        values: Values,
        contents: Callable[[str, Value], list[Truth]],
        holds: Callable[[Truth], bool],
    ) -> None:
        self.values, self.space = values, values.space
        self.lowered = values.lowered
        self.body = self.lowered.code.body
        self.contents, self.holds = contents, holds
        self.written = written_arrays(self.body)
        self.touched: list[Touched] = []
        self.met: list[Met] = []
        self.partings: list[Parting] = []
        self.indices: list[Index] = []
        self.loops: list[Loop] = []
        self.returns: list[Noted] = []
        self.raised: list[Noted] = []
        self._stack: tuple[Loop, ...] = ()
        self._frames: list[_Frame] = []
        self._tests: list[ir.Expr] = []
        self._sure = True
        self._noting = True
        self._position = 0
        self._number = 0
        values.seen = self._index
        self._rest: list[ir.Block] = []
        self._block(self.body, {}, z3.BoolVal(True))

    # What is noted

    def _next(self) -> int:
        self._position += 1
        return self._position

    def _index(
        self,
        array: str,
        index: list[Value],
        extents: tuple[Number, ...],
        path: Truth,
        place: Place,
        width: int = 1,
    ) -> None:
        if self._noting:
            where = self._next(), self._stack, path, place
            self.indices.append(Index(*where, array, tuple(index), extents, width))

    def _touch(
        self,
        one: ir.Access,
        kind: str,
        env: Env,
        path: Truth,
        values: tuple[Value, ...] = (),
        width: int = 1,
    ) -> tuple[Value, ...]:
        """Note an access; return its index."""
        index = tuple(self._of(part, env, path) for part in one.index)
        extents = self.values.extents[one.array]
        self._index(one.array, list(index), extents, path, one.place, width)
        if self._noting and one.array not in self._local:
            where = self._next(), self._stack, path, one.place
            self.touched.append(Touched(*where, kind, one.array, index, width, values))
        if kind != "read":
            self._forget(one.array, env)
        return index

    def _forget(self, array: str, env: Env) -> None:
        """Let nothing be known of the elements of a register array."""
        for name in env:
            if array_of(name) == array:
                env[name] = self.values.unknown(name, self._type(name))

    def _of(self, value: ir.Expr, env: Env, path: Truth) -> Value:
        self.values.path = path
        self.values.loops = frozenset(loop.number for loop in self._stack)
        return self.values.of(value, env)

    # Statements

    def _block(self, block: ir.Block, env: Env, path: Truth) -> Truth:
        """Walk through statements; return who comes to their end, and change the variables."""
        for place, statement in enumerate(block):
            if z3.is_false(path):
                break
            self._rest.append(block[place + 1 :])
            path = self._statement(statement, env, path)
            self._rest.pop()
        return path

    def _statement(self, one: ir.Stmt, env: Env, path: Truth) -> Truth:
        match one:
            case ir.Assign(target=target, value=value):
                env[target] = self._of(value, env, path)
            case ir.Load(target=name, array=array, index=_):
                index = self._touch(one, "read", env, path)
                if name is not None:
                    env[name] = self._word(array, index)
            case ir.VectorLoad(targets=several, array=array):
                index = self._touch(one, "read", env, path, width=len(several))
                for place, name in enumerate(several):
                    last = index[-1] * constant(len(several)) + constant(place)
                    env[name] = self._word(array, (*index[:-1], last))
            case ir.Store(value=value):
                self._touch(one, "write", env, path, (self._of(value, env, path),))
            case ir.VectorStore(values=values):
                all_ = tuple(self._of(value, env, path) for value in values)
                self._touch(one, "write", env, path, all_, len(values))
            case ir.Atomic(target=name, array=array):
                for operand in one.operands:
                    self._of(operand, env, path)
                self._touch(one, "atomic", env, path)
                if name is not None:
                    env[name] = self.values.unknown(array, self.lowered.arrays[array])
            case ir.RegisterWrite(array=array, index=index_of, value=value):
                at = [self._of(part, env, path) for part in index_of]
                held = self._of(value, env, path)
                self._index(array, at, self.values.extents[array], path, one.place)
                if name := element(array, at):
                    env[name] = held
                else:
                    self._forget(array, env)
            case ir.If():
                return self._if(one, env, path)
            case ir.While() | ir.For():
                return self._loop(one, env, path)
            case ir.Break() | ir.Continue():
                frame = next(one for one in reversed(self._frames) if one.loop is not None)
                if isinstance(one, ir.Break):
                    frame.leaves.append((path, dict(env)))
                else:
                    frame.stays.append((path, dict(env)))
                    frame.unsure = True
                return never()
            case ir.Return():
                if self._noting:
                    noted = Noted(self._next(), self._stack, path, one.place)
                    self.returns.append(noted)
                    if one.message is not None:
                        self.raised.append(noted)
                return never()
            case ir.Forget(names=forgotten):
                for name in forgotten:
                    env.pop(name, None)
            case ir.Scope(name=name, body=body):
                frame = _Frame(name, None, depth=len(self._rest))
                self._frames.append(frame)
                path = self._block(body, env, path)
                self._frames.pop()
                for left, its in frame.leaves:
                    path = self._joined(path, env, left, its)
            case ir.Leave(scope=name):
                frame = next(one for one in reversed(self._frames) if one.name == name)
                frame.leaves.append((path, dict(env)))
                frame.unsure = True
                return never()
            case ir.Barrier():
                self._barrier(one, env, path)
            case ir.Exchange(target=name, operands=operands):
                for operand in operands:
                    self._of(operand, env, path)
                if name is not None:
                    env[name] = self.values.unknown(name, self.lowered.variables[name])
            case _:
                assert_never(one, "a proof")
        return path

    def _word(self, array: str, index: tuple[Value, ...]) -> Value:
        """The word that a read gives."""
        type_ = self.lowered.arrays[array]
        if array in self.written or not all(isinstance(i, Number) for i in index):
            word = self.values.unknown(array, type_)
        else:
            if array in self._shared:
                index = self.values.threads.block, *index
            word = self.values.function(f"word of {array}", type_, *index)
            if isinstance(word, Number):
                (name,) = word.symbols
                facts = self.space.symbols[name].facts
                facts += [one for one in self.contents(array, word) if len(facts) < 4]
        return word

    @property
    def _local(self) -> set[str]:
        """The arrays in which each thread has words of its own."""
        return {one.name for one in self.lowered.code.locals if one.kind == "local"}

    @property
    def _shared(self) -> set[str]:
        return {one.name for one in self.lowered.code.locals}

    def _barrier(self, one: ir.Barrier, env: Env, path: Truth) -> None:
        if one.test is not None:
            self._of(one.test, env, path)
        inner = []
        for frame in reversed(self._frames):
            inner.append(frame)
            if frame.loop is not None:
                break
        sure = self._sure and not any(frame.unsure for frame in inner)
        if sure and self._stack:
            self._stack[-1].sure |= SERVES[one.scope]
        if self._noting:
            where = self._next(), self._stack, path, one.place
            self.met.append(Met(*where, one.scope, sure))
        if one.target is not None:
            loops = frozenset(loop.number for loop in self._stack)
            type_ = self.lowered.variables[one.target]
            env[one.target] = self.values.fresh(one.target, type_, Origin(BLOCK, loops, True))

    def _if(self, one: ir.If, env: Env, path: Truth) -> Truth:
        test = z3.simplify(self._of(one.test, env, path))
        self._part(one, test, path)
        other = dict(env)
        sure, self._sure = self._sure, self._sure and (z3.is_true(test) or z3.is_false(test))
        self._tests.append(one.test)
        then = self._block(one.then, env, z3.simplify(z3.And(path, test)))
        orelse = self._block(one.orelse, other, z3.simplify(z3.And(path, z3.Not(test))))
        self._tests.pop()
        self._sure = sure
        if z3.is_false(then):
            env.clear()
            env.update(other)
            return orelse
        if z3.is_false(orelse):
            return then
        self._merge(env, test, other, after=False)
        return z3.simplify(z3.Or(then, orelse))

    def _merge(self, env: Env, test: Truth, its: Env, *, after: bool) -> None:
        """Take the other variables where a test holds, or (`after` is False) where it doesn't."""
        for name in sorted(set(env) | set(its)):
            held = [
                values[name] if name in values else self.values.unknown(name, self._type(name))
                for values in ((its, env) if after else (env, its))
            ]
            env[name] = self.space.chosen(test, *held)

    def _type(self, name: str) -> Type:
        array = array_of(name)
        return self.lowered.arrays[array] if array else self.lowered.variables[name]

    def _joined(self, path: Truth, env: Env, more: Truth, its: Env) -> Truth:
        """Let further threads come to here with their variables."""
        if z3.is_false(path):
            env.clear()
            env.update(its)
            return more
        self._merge(env, more, its, after=True)
        return z3.simplify(z3.Or(path, more))

    def _part(self, one: ir.Stmt, test: Truth, path: Truth) -> None:
        """Note a test that decides about barriers."""
        scopes = self._barriers((one,))
        if scopes and self._noting and not z3.is_true(test) and not z3.is_false(test):
            where = self._next(), self._stack, path, one.place  # type: ignore[union-attr]
            self.partings.append(Parting(*where, test, scopes))

    def _barriers(self, block: ir.Block) -> frozenset[str]:
        """The scopes of barriers in statements, and in what they leave or go on with."""
        found = _scopes(block)
        for name in self._jumps(block, (), False):
            for frame in reversed(self._frames):
                if frame.loop is not None:
                    found |= frame.loop.scopes
                if frame.name == name:
                    found |= _scopes(one for rest in self._rest[frame.depth :] for one in rest)
                    break
                if name is None:
                    break
        return frozenset(found)

    def _jumps(self, block: ir.Block, scopes: tuple[str, ...], inner: bool) -> Iterator[str | None]:
        """The jumps out of statements: the scope's name, or None for the innermost loop."""
        for one in block:
            if isinstance(one, ir.Break | ir.Continue):
                if not inner:
                    yield None
            elif isinstance(one, ir.Leave) and one.scope not in scopes:
                yield one.scope
            own = (*scopes, one.name) if isinstance(one, ir.Scope) else scopes
            for body in inside(one):
                yield from self._jumps(body, own, inner or isinstance(one, ir.While | ir.For))

    # Loops

    def _loop(self, one: ir.While | ir.For, env: Env, path: Truth) -> Truth:
        self._number += 1
        loop = Loop(self._number, self._stack, one.place)
        loop.scopes = set(self._barriers((one,)))
        body = (*one.prelude, *one.body) if isinstance(one, ir.While) else one.body
        changed = {name for each in statements(body) for name in targets(each)}
        for each in statements(body):
            if isinstance(each, ir.Forget):
                changed |= set(each.names)
            if isinstance(each, ir.RegisterWrite | ir.Access):
                changed |= {name for name in env if array_of(name) == each.array}
        entry = dict(env)
        known = {
            name: self.space.origin(env[name]) if name in env else Origin() for name in changed
        }
        noting, self._noting = self._noting, False
        while True:  # until no variable depends on more than its symbol does
            head = self._head(one, loop, changed, entry, known)
            ends, _ = self._iteration(one, loop, entry, head.env, path)
            before = dict(known)
            for name in head.symbols:
                values = [end[name] for _, end in ends if name in end]
                if any(not _same(value, values[0]) for value in values):
                    values += [here for here, _ in ends]  # they decide which one it is
                found = self.space.origin(*values)
                known[name] |= Origin(found.level, frozenset(), found.data)
            if known == before:
                break
        self._induct(one, loop, entry, head, ends, path)
        self._noting = noting
        loop.position = self._next()
        ends, exits = self._iteration(one, loop, entry, head.env, path)
        loop.first = self._first(one, entry, path)
        if noting:
            self.loops.append(loop)
            if len(ends) == 1:
                loop.next = [
                    (symbol, ends[0][1][name])
                    for name, symbol in head.symbols.items()
                    if name in ends[0][1]
                ]
        return self._behind(one, loop, env, changed, path, exits)

    def _head(
        self,
        one: ir.While | ir.For,
        loop: Loop,
        changed: set[str],
        entry: Env,
        known: dict[str, Origin],
    ) -> _Head:
        loops = frozenset(each.number for each in loop.stack)
        counter = self.space.symbol(
            f"iteration {loop.number}", level=LAUNCH, loops=loops, nonnegative=True
        )
        if not counter.facts:
            counter.facts.append(counter.term >= 0)
        loop.counter = counter.name
        count = Number({(counter.name,): 1})
        head = _Head(dict(entry))
        for name in sorted(changed):
            step = self._step(one, name, changed)
            first = entry.get(name)
            if step is not None and isinstance(first, Number):
                head.env[name] = first + self._of(step, entry, never()) * count
                head.steps.add(name)
                continue
            own = known[name]
            origin = Origin(own.level, own.loops | loops, own.data)
            value = self.values.fresh(name, self._type(name), origin)
            head.env[name] = head.symbols[name] = value
        if isinstance(one, ir.For):
            start, step_by = (self._of(part, entry, never()) for part in (one.start, one.step))
            head.env[one.target] = start + step_by * count
            head.symbols.pop(one.target, None)
            head.steps.add(one.target)
            before = head.env[one.target] - step_by
            within = self._within(before, self._of(one.stop, entry, never()), step_by)
            counter.facts[1:] = [z3.Or(counter.term == 0, within)]
        return head

    def _step(self, one: ir.While | ir.For, name: str, changed: set[str]) -> ir.Expr | None:
        """The number that each iteration adds to a variable, if it does nothing else with it."""
        setting = [each for each in statements((one,)) if name in targets(each)]
        if len(setting) != 1 or setting[0] not in one.body:
            return None
        if any(isinstance(each, ir.Continue) for each in statements(one.body)):
            return None
        (only,) = setting
        value = only.value if isinstance(only, ir.Assign) else None
        if (
            not isinstance(value, ir.Binary)
            or value.op not in "+-"
            or self.lowered.of(value) != INT
        ):
            return None
        left, right = value.left, value.right
        if value.op == "+" and isinstance(right, ir.Var) and right.name == name:
            left, right = right, left
        if not isinstance(left, ir.Var) or left.name != name:
            return None
        others = changed | ({one.target} if isinstance(one, ir.For) else set())
        if names([right]) & others or any(isinstance(x, ir.RegisterRead) for x in parts(right)):
            return None
        return right if value.op == "+" else ir.Unary("-", right, value.place)

    def _iteration(
        self, one: ir.While | ir.For, loop: Loop, entry: Env, head: Env, path: Truth
    ) -> tuple[list[tuple[Truth, Env]], list[tuple[_Frame | None, Truth, Env]]]:
        """Walk through an iteration: its ends, and where threads leave the loop for what frame."""
        frame = _Frame(None, loop)
        left = [len(each.leaves) for each in self._frames]
        env = dict(head)
        outer, self._stack = self._stack, loop.stack
        sure, self._sure = self._sure, True
        self._frames.append(frame)
        if isinstance(one, ir.While):
            path = self._block(one.prelude, env, path)
            test = self._of(one.test, env, path)
            self._tests.append(one.test)
        else:
            stop, step = (self._of(part, entry, path) for part in (one.stop, one.step))
            test = self._within(env[one.target], stop, step)
        test = z3.simplify(test)
        self._part(one, test, path)
        exits: list[tuple[_Frame | None, Truth, Env]] = []
        if not z3.is_true(test):
            exits.append((None, z3.simplify(z3.And(path, z3.Not(test))), dict(env)))
        here = self._block(one.body, env, z3.simplify(z3.And(path, test)))
        if isinstance(one, ir.While):
            self._tests.pop()
        self._frames.pop()
        self._stack, self._sure = outer, sure
        ends = [*frame.stays, *([] if z3.is_false(here) else [(here, env)])]
        exits += [(None, here, its) for here, its in frame.leaves]
        loop.breaks = bool(frame.leaves)
        for each, count in zip(self._frames, left, strict=True):
            exits += [(each, here, its) for here, its in each.leaves[count:]]
            loop.breaks |= len(each.leaves) > count
            del each.leaves[count:]
        return ends, exits

    def _within(self, target: Value, stop: Value, step: Value) -> Truth:
        """Return whether a number of a range is before its end."""
        compared = self.space.compared
        up, down = compared("<", target, stop), compared(">", target, stop)
        if step.value is not None:
            return up if step.value > 0 else down
        zero = constant(0)
        return z3.If(compared(">", step, zero), up, z3.And(compared("<", step, zero), down))

    def _first(self, one: ir.While | ir.For, entry: Env, path: Truth) -> Truth:
        """Return who does a first iteration, as far as it is known before."""
        if isinstance(one, ir.While):
            known = not one.prelude and names([one.test]) <= entry.keys()
            return z3.And(path, self._of(one.test, entry, never())) if known else never()
        values = (self._of(part, entry, never()) for part in (one.start, one.stop, one.step))
        return z3.simplify(z3.And(path, self._within(*values)))

    def _behind(
        self,
        one: ir.While | ir.For,
        loop: Loop,
        env: Env,
        changed: set[str],
        path: Truth,
        exits: list[tuple[_Frame | None, Truth, Env]],
    ) -> Truth:
        """Return the threads behind a loop, with the variables with which they left it."""
        origin = self.space.origin(*(here for _, here, _ in exits))
        new = changed | ({one.target} if isinstance(one, ir.For) else set())
        copied = self.space.copies(loop.number, origin.level)
        returns = any(isinstance(each, ir.Return) for each in statements((one,)))
        chosen = Origin(THREAD if returns else origin.level, origin.loops - {loop.number})
        behind: list[tuple[Truth, Env]] = []
        for frame, here, its in exits:
            here = copied(here)
            if returns or len(exits) > 1:
                selected = self.space.fresh("leaves", chosen, z3.BoolSort()).term
                here = z3.And(selected, here)
            here = z3.simplify(z3.And(path, here))
            after = {name: value for name, value in env.items() if name not in new}
            after |= {name: copied(its[name]) for name in new & its.keys()}
            if isinstance(one, ir.For):
                after.pop(one.target, None)  # the number of the last iteration isn't known
            if frame is None:
                behind.append((here, after))
            else:
                frame.leaves.append((here, after))
                frame.unsure = True
        path = never()
        for here, its in behind:
            path = self._joined(path, env, here, its)
        return path

    def _candidates(
        self,
        one: ir.While | ir.For,
        loop: Loop,
        entry: Env,
        head: _Head,
        ends: list[tuple[Truth, Env]],
    ) -> Iterator[Candidate]:
        """Conditions that may hold at the head of each iteration, as functions of variables."""
        read = carried(one, self.body)
        tests = [*self._tests]
        tests += [each.test for each in statements((one,)) if isinstance(each, ir.If | ir.While)]
        for test in tests:
            used = names([test])
            held = used & (head.symbols.keys() | head.steps)
            if used <= head.env.keys() and held and held <= read:
                yield partial(self._tested, test, True)
                yield partial(self._tested, test, False)
        whole = [name for name in head.symbols if isinstance(entry.get(name), Number)]
        whole = [name for name in whole if name in read]
        for name in whole:
            bounds = [(">=", constant(0)), (">=", constant(1))]
            bounds += [("<=", entry[name]), (">=", entry[name])]
            if isinstance(one, ir.For):
                bounds.append(("<", self._of(one.stop, entry, never())))
            for other in whole:
                if entry[other].value is not None and entry[other] != entry[name]:
                    bounds += [("<=", entry[other]), (">=", entry[other])]
            if self.space.knows_powers:
                yield partial(self._power, name, False)
                yield partial(self._power, name, True)
            for op, bound in bounds:
                yield partial(self._summed, (name,), op, bound)
        for name, factor, rest in at_ends(self.space, loop.number, ends, whole):
            yield partial(self._bounded, name, factor, rest)
        for names_of in combinations(whole, 2):
            total = entry[names_of[0]] + entry[names_of[1]]
            if total.value is not None:
                yield partial(self._summed, names_of, "==", total)

    def _tested(self, test: ir.Expr, holds: bool, env: Env) -> Truth:
        truth = self._of(test, env, never())
        return truth if holds else z3.Not(truth)

    def _power(self, name: str, or_none: bool, env: Env) -> Truth:
        if name not in env:
            return never()
        is_power = self.space.power(env[name])
        if not or_none:
            return is_power
        return z3.Or(is_power, self.space.compared("==", env[name], constant(0)))

    def _bounded(self, name: str, factor: int, rest: Number, env: Env) -> Truth:
        if name not in env:
            return never()
        return self.space.compared(">=", env[name] * constant(factor) + rest, constant(0))

    def _summed(self, variables: tuple[str, ...], op: str, bound: Number, env: Env) -> Truth:
        if not env.keys() >= set(variables):
            return never()
        total = sum((env[name] for name in variables), constant(0))
        return self.space.compared(op, total, bound)

    def _induct(
        self,
        one: ir.While | ir.For,
        loop: Loop,
        entry: Env,
        head: _Head,
        ends: list[tuple[Truth, Env]],
        path: Truth,
    ) -> None:
        """Find what holds at the head of every iteration, and note it as facts of its symbols."""
        first = dict(entry)
        if isinstance(one, ir.For):
            first[one.target] = self._of(one.start, entry, never())
        kept: list[tuple[Truth, Candidate]] = []
        for candidate in self._candidates(one, loop, entry, head, ends):
            at_head = z3.simplify(candidate(head.env))
            if loop.number in self.space.origin(at_head).loops and self.holds(
                z3.Implies(path, candidate(first))
            ):
                kept.append((at_head, candidate))
        while kept:
            known = z3.And(*(fact for fact, _ in kept))
            still = [
                (fact, candidate)
                for fact, candidate in kept
                if all(
                    self.holds(
                        z3.Implies(
                            z3.And(known, here), candidate(self._after(one, loop, entry, env))
                        )
                    )
                    for here, env in ends
                )
            ]
            if len(still) == len(kept):
                break
            kept = still
        for fact, _ in kept:
            for name in self.space.factors(fact):
                symbol = self.space.symbols[name]
                if loop.number in symbol.loops:
                    symbol.facts.append(z3.Implies(path, fact))
        self._count(loop, entry, head, ends, path)

    def _count(
        self, loop: Loop, entry: Env, head: _Head, ends: list[tuple[Truth, Env]], path: Truth
    ) -> None:
        """Note which variables are x + ck in iteration k, if they are seen not to wrap around."""
        count = Number({(loop.counter,): 1})
        for name, symbol in head.symbols.items():
            first = entry.get(name)
            values = [env.get(name) for _, env in ends]
            numbers = [one for one in values if isinstance(one, Number)]
            if not isinstance(first, Number) or len(numbers) < len(values):
                continue
            steps = {unwrapped(self.space, one) - symbol for one in numbers}
            if len(steps) != 1 or loop.number in self.space.origin(*steps).loops:
                continue
            (step,) = steps
            after = symbol + step
            if all(
                self.holds(z3.Implies(here, self.space.compared("==", env[name], after)))
                for here, env in ends
            ):
                fact = self.space.compared("==", symbol, first + step * count)
                self.space.symbols[symbol.name].facts.append(z3.Implies(path, fact))

    def _after(self, one: ir.While | ir.For, loop: Loop, entry: Env, env: Env) -> Env:
        """The variables at the head of the next iteration."""
        after = dict(env)
        if isinstance(one, ir.For):
            start, step = (self._of(part, entry, never()) for part in (one.start, one.step))
            after[one.target] = start + step * Number({(loop.counter,): 1, (): 1})
        return after


Candidate = Callable[[Env], Truth]
