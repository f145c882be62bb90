"""The straight code that a compiler makes of a program: which reads are under way together.

A compiler unrolls loops and makes short branches conditional. What is left are blocks of straight
code. In a block all reads begin before the computations that use them; at its end the results of
its computations are there, so these reads have completed. docs/machines.md has the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import permutations
from typing import TypeGuard

from mmsim.errors import Place
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import is_whole
from mmsim.ir.idioms import uncast
from mmsim.ir.lower import Lowered
from mmsim.ir.nodes import assert_never
from mmsim.ir.operations import MANY, PREDICATED, UNROLLED, WHOLE, copies, trips_of
from mmsim.ir.operators import row_of
from mmsim.ir.ranges import Ranges
from mmsim.ir.typed import constants
from mmsim.ir.walk import accesses, expressions, names, parts, statements, targets

Known = Callable[[ir.Expr], ir.Scalar | None]
READER = "straight code"
WITH_A_JUMP = ("sqrt", "sin", "cos", "tan", "pow", "fmod", "remainder", "hypot", "atan2")
"""Functions with a branch for rare operands, as a quotient of floats."""
RESULTS, USE, TEST = "results of a block", "used at an end", "test "
"""Names of what a block computes, of its use at the end, and, with a number, of the test of a short
branch; no variable or register array has these."""
ASSEMBLED = 40
"""The statements of a loop of PTX that the assembler unrolls."""


def known_values(
    lowered: Lowered,
    constant: Known,
    ranges: Ranges,
) -> Known:
    """The values of expressions that a compiler knows.

    The sizes and numbers of a program of mmsim are constants of its CUDA C. A compiler of Numba's
    kernels, or of CUDA C++, doesn't know them.
    """
    if lowered.code.arithmetic != "python":
        return constants(lowered, {}, {}, lambda _: None)

    def known(value: ir.Expr) -> ir.Scalar | None:
        found = constant(value)
        if found is None and is_whole(lowered.of(value)) and (range_ := ranges.of(value)):
            return range_[0] if range_[0] == range_[1] else None
        return found

    return known


class Straight:
    """A program as a compiler for a GPU leaves it, for `needs`.

    `known` gives the value of an expression that the compiler knows. `most` gets for each access in
    a loop that is unrolled the number of unrolled trips, 0 for the others: so many of its requests
    may be under way. PTX has been unrolled already.
    """

    def __init__(
        self,
        body: ir.Block,
        sites: int,
        known: Known,
        arithmetic: str,
    ) -> None:
        self.known, self.unrolls = known, arithmetic != "ptx"
        self.is_numba = arithmetic == "numba"
        self.most = [0] * sites
        self.body = tuple(self._block(body))

    def _block(self, block: ir.Block) -> list[ir.Stmt]:
        """A block whose pieces of straight code end with the use of what they compute."""
        made: list[ir.Stmt] = []
        piece: list[ir.Stmt] = []
        for statement in block:
            straight = self._straight(statement)
            if straight is not None:
                piece += straight
                continue
            made += _ended(piece)
            piece = []
            match statement:
                case ir.If(then=then, orelse=orelse):
                    sides = tuple(self._block(then)), tuple(self._block(orelse))
                    made.append(replace(statement, then=sides[0], orelse=sides[1]))
                case ir.For() | ir.While():
                    made += self._loop(statement)
                case ir.Scope(body=body):
                    made.append(replace(statement, body=tuple(self._block(body))))
                case ir.Assign() | ir.RegisterWrite():  # a computation with a jump
                    made += _ended([statement])
                case ir.Load() | ir.VectorLoad() | ir.Store() | ir.VectorStore() | ir.Atomic():
                    made.append(statement)  # it waits for what it uses
                case ir.Barrier() | ir.Exchange() | ir.Forget():
                    made.append(statement)
                case ir.Break() | ir.Continue() | ir.Return() | ir.Leave():
                    made.append(statement)
                case _:
                    assert_never(statement, READER)
        return [*made, *_ended(piece)]

    def _loop(self, loop: ir.For | ir.While) -> list[ir.Stmt]:
        """A loop; if it is unrolled, its values are used after it."""
        if isinstance(loop, ir.While) and not self.unrolls and _counts_unrolled(loop):
            return self._assembled(loop)
        trips = self._unrolled(loop)
        body = self._all(loop.body) if trips > 1 else None
        if body is None:
            if isinstance(loop, ir.While):
                before = tuple(self._block(loop.prelude))
                return [replace(loop, prelude=before, body=tuple(self._block(loop.body)))]
            return [replace(loop, body=tuple(self._block(loop.body)))]
        for access in accesses(loop.body):
            self.most[access.site] = trips
        return [replace(loop, body=_with_results(body)), *_used(set(), loop.place)]

    def _assembled(self, loop: ir.While) -> list[ir.Stmt]:
        """A loop of PTX that the assembler unrolls once more, if it is short and straight."""
        straight = self._all(loop.prelude)
        if straight is None or len(loop.prelude) > ASSEMBLED:
            return [replace(loop, prelude=tuple(self._block(loop.prelude)))]
        for access in accesses(loop.prelude):
            self.most[access.site] = UNROLLED
        return [replace(loop, prelude=_with_results(straight)), *_used(set(), loop.place)]

    def _unrolled(self, loop: ir.For | ir.While) -> int:
        """The trips of a loop that are unrolled together, if its body is straight code."""
        if not self.unrolls:
            return 1
        if isinstance(loop, ir.While):
            return UNROLLED if _counts(loop) else 1
        start, stop, step = map(self.known, (loop.start, loop.stop, loop.step))
        if self.is_numba:
            requests = sum(1 for _ in accesses(loop.body))
            is_known = start is not None and stop is not None and step is not None
            return halved(MANY // max(1, requests)) if is_known else UNROLLED
        if step is None:
            return 1
        return UNROLLED if stop is None and start is not None else MANY

    def _all(self, block: ir.Block) -> list[ir.Stmt] | None:
        """A block as straight code, or None."""
        found: list[ir.Stmt] = []
        for statement in block:
            straight = self._straight(statement)
            if straight is None:
                return None
            found += straight
        return found

    def _straight(self, statement: ir.Stmt) -> list[ir.Stmt] | None:
        """A statement as straight code, or None if it jumps."""
        match statement:
            case (
                ir.Assign() | ir.RegisterWrite() | ir.Exchange() | ir.Load() | ir.Store()
                | ir.VectorLoad() | ir.VectorStore() | ir.Atomic()
            ):  # fmt: skip
                jumps = any(map(_jumps, expressions(statement)))
                return None if jumps else [statement]
            case ir.Forget():
                return [statement]
            case ir.If():
                return self._conditional(statement)
            case ir.For(body=body):
                if not self.unrolls or copies(statement, self.known) > WHOLE:
                    return None
                straight, trips = self._all(body), trips_of(statement, self.known) or 0
                return straight and straight * trips
            case ir.While() | ir.Scope() | ir.Barrier():
                return None
            case ir.Break() | ir.Continue() | ir.Return() | ir.Leave():
                return None
            case _:
                assert_never(statement, READER)

    def _conditional(self, branch: ir.If) -> list[ir.Stmt] | None:
        """The statements of a short branch, each with its condition."""
        inner = self._all((*branch.then, *branch.orelse))
        if inner is None or _jumps(branch.test) or len(list(accesses(inner))) > PREDICATED:
            return None
        test = ir.Var(f"{TEST}{branch.number}", branch.place)
        tested = ir.Assign(test.name, branch.test, branch.place)
        return [tested, *(_with(test, statement) for statement in inner)]


def halved(most: int) -> int:
    """The largest power of two up to a number, at least 1.

    >>> halved(5), halved(0)
    (4, 1)
    """
    return 1 << max(0, most.bit_length() - 1)


def _with(test: ir.Expr, statement: ir.Stmt) -> ir.Stmt:
    """A conditional statement: its value or its place depends on the test, too.

    What it sets depends on its former value. An access is in an `If`, as no lane may come to it.
    """
    if isinstance(statement, ir.Assign):
        is_test = statement.target.startswith(TEST)
        former = ir.Const(0) if is_test else ir.Var(statement.target, statement.place)
        return replace(statement, value=ir.Choose(test, statement.value, former))
    if isinstance(statement, ir.RegisterWrite):
        return replace(statement, value=ir.Choose(test, statement.value, ir.Const(0)))
    if isinstance(statement, ir.If):
        return _with(test, *statement.then)  # an access
    if not isinstance(statement, ir.Access):
        return statement
    access = replace(statement, index=(*statement.index, test))
    return ir.If(ir.Const(1), (access,), (), access.place)


def _computes(statement: ir.Stmt) -> TypeGuard[ir.Assign | ir.RegisterWrite]:
    """Return whether a statement computes its value and doesn't copy it."""
    if isinstance(statement, ir.Assign) and statement.target.startswith(TEST):
        return False
    return isinstance(statement, ir.Assign | ir.RegisterWrite) and not isinstance(
        statement.value, ir.Var | ir.RegisterRead | ir.Const
    )


def _kept(statement: ir.Stmt) -> list[ir.Stmt]:
    """A statement that keeps the result of another one, if that computes."""
    if not _computes(statement):
        return []
    return [ir.RegisterWrite(RESULTS, (), statement.value, statement.place)]


def _with_results(body: Iterable[ir.Stmt]) -> ir.Block:
    """The statements of a loop's body, each with one that keeps its result."""
    return tuple(part for one in body for part in (one, *_kept(one)))


def _ended(piece: list[ir.Stmt]) -> list[ir.Stmt]:
    """A piece, and the use of its results at its end.

    A result is kept unless the variable still has it then, or a result to which it has led.
    """
    made: list[ir.Stmt] = []
    held, lost, later = set[str](), set[str](), set[str]()
    place: Place | None = None
    for one in reversed(piece):
        own = {name for inner in statements((one,)) for name in targets(inner)}
        if _computes(one) and (not own or own & lost):
            made += _kept(one)
        elif _computes(one):
            held |= own - later
        made.append(one)
        later |= own
        lost |= own
        if _computes(one):
            lost -= names((one.value,))
            place = one.place
    return made[::-1] + ([] if place is None else _used(held, place))


def _used(held: Iterable[str], place: Place) -> list[ir.Stmt]:
    """The use of the results that are kept, and of those that variables have."""
    results = (ir.Var(RESULTS, place), *(ir.Var(name, place) for name in sorted(held)))
    return [ir.RegisterWrite(USE, results, ir.Const(0), place), ir.Forget((RESULTS,), ())]


def _jumps(value: ir.Expr) -> bool:
    """Return whether a compiler computes a value with a branch."""
    for part in parts(value):
        if isinstance(part, ir.Call) and part.op in WITH_A_JUMP:
            return True
        if isinstance(part, ir.Binary) and row_of(part).kind == "quotient":
            return True
    return False


def _counts(loop: ir.While) -> bool:
    """Return whether a loop compares a counter, which its body moves once, with what stays."""
    changed = [name for one in statements(loop.body) for name in targets(one)]
    if loop.prelude or not isinstance(loop.test, ir.Compare):
        return False
    for counter, limit in permutations((loop.test.left, loop.test.right)):
        if isinstance(counter, ir.Var) and changed.count(counter.name) == 1:
            steps = [step for one in loop.body for step in _steps(one, counter.name)]
            staying = (limit, *steps)
            return bool(steps) and set(names(staying)).isdisjoint(changed)
    return False


def _counts_unrolled(loop: ir.While) -> bool:
    """Return whether a loop of PTX has unrolled trips: its counter moves by several at a time."""
    values = {one.target: one.value for one in loop.prelude if isinstance(one, ir.Assign)}
    test = values.get(loop.test.name) if isinstance(loop.test, ir.Var) else None
    if loop.body or not isinstance(test, ir.Compare):
        return False
    counter, end = uncast(test.left), test.right
    if not isinstance(counter, ir.Var) or values.keys() & set(names((end,))):
        return False
    step = uncast(values.get(counter.name, end))
    if not isinstance(step, ir.Binary) or step.op != "+" or not _is_var(step.left, counter.name):
        return False
    by = step.right.value if isinstance(step.right, ir.Const) else 0
    return isinstance(by, int) and abs(by) >= UNROLLED


def _is_var(value: ir.Expr, name: str) -> bool:
    """Return whether a value is a variable, or one that is converted."""
    value = uncast(value)
    return isinstance(value, ir.Var) and value.name == name


def _steps(statement: ir.Stmt, counter: str) -> Iterator[ir.Expr]:
    """The step by which a statement moves a counter, if it does."""
    if not isinstance(statement, ir.Assign) or statement.target != counter:
        return
    value = statement.value
    if not isinstance(value, ir.Binary) or value.op not in ("+", "-"):
        return
    if isinstance(value.left, ir.Var) and value.left.name == counter:
        yield value.right
