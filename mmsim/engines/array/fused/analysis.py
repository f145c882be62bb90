"""The programs that may be fused: uniform and inlined variables, safe orders of pieces.

A program can be fused if every thread takes the same path through its loops, or if its trips follow
from numbers that are known. Then the list of its accesses is known before it runs. Any other
program raises `CannotFuse`, and is interpreted.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial

from mmsim.ir import nodes as ir
from mmsim.ir.atomics import COMMUTING
from mmsim.ir.atomics import order_matters as order_of_atomics
from mmsim.ir.dtypes import Type, is_int
from mmsim.ir.lower import as_written, is_implied, unchecked
from mmsim.ir.operators import BINARY, OR_ZERO, row_of
from mmsim.ir.uniform import Uniformity
from mmsim.ir.walk import (
    accesses,
    inside,
    parts,
    statements,
    targets,
    with_expressions,
    with_inside,
)

READER = "the fusing of programs"
LONGEST = 30
"""The most parts of an inlined expression: nested ones used twice each grow exponentially."""


class CannotFuse(Exception):
    """The reason why a program has to be interpreted."""


def straighten(block: ir.Block, tail: bool = True, scope: str | None = None) -> ir.Block:
    """The block without jumps: the statements after `if test: return` move into its `else`.

    `tail` says that the end of the block is the end of the program, or of the call `scope`. An
    exception stays where it is, as the end of its block: the fused program gives up there.
    """
    result: list[ir.Stmt] = []
    for position, statement in enumerate(block):
        last = position == len(block) - 1
        if isinstance(statement, ir.Return) and statement.message is not None:
            return (*result, statement)
        if isinstance(statement, ir.Return | ir.Leave):
            if tail and _ends(statement, scope):
                return tuple(result)  # what follows is never reached
            raise CannotFuse("it returns from inside")
        if isinstance(statement, ir.If):
            then, orelse = statement.then, statement.orelse
            if tail and not last and _leaves(then, scope):
                rest = straighten((*orelse, *block[position + 1 :]), tail, scope)
                then = straighten(then, tail, scope)
                result.append(replace(statement, then=then, orelse=rest))
                return tuple(result)
            last = tail and last
            result.append(with_inside(statement, partial(straighten, tail=last, scope=scope)))
        elif isinstance(statement, ir.Scope):
            result += straighten(statement.body, True, statement.name)
        elif isinstance(statement, ir.While | ir.For):
            result.append(replace(statement, body=straighten(statement.body, False)))
        else:
            result.append(with_inside(statement, straighten))
    return tuple(result)


def strict(block: ir.Block) -> ir.Block:
    """A program that gives up where Numba's language goes on, for the interpreter to go on.

    Negative indices don't wrap, and a division of integers by zero has no value.
    """

    def index(value: ir.Expr) -> ir.Expr:
        return of(as_written(value))

    def of(value: ir.Expr) -> ir.Expr:
        value = with_expressions(value, index if isinstance(value, ir.RegisterRead) else of)
        if isinstance(value, ir.Binary) and row_of(value).kind == "division":
            op = value.op.removesuffix(OR_ZERO)
            if op != value.op:
                check = ir.Unary(BINARY[op].refused, value.right, value.place)
                return replace(value, op=op, right=check)
        return value

    def statement(old: ir.Stmt) -> ir.Stmt:
        is_access = isinstance(old, ir.Access | ir.RegisterWrite)
        return with_inside(with_expressions(old, index if is_access else of), strict)

    return tuple(map(statement, block))


def _ends(statement: ir.Return | ir.Leave, scope: str | None) -> bool:
    """Return whether a jump goes to the end of the straightened block; no exception does."""
    if isinstance(statement, ir.Return):
        return scope is None and statement.message is None
    return statement.scope == scope


def _leaves(block: ir.Block, scope: str | None) -> bool:
    return bool(block) and isinstance(block[-1], ir.Return | ir.Leave) and _ends(block[-1], scope)


def breaks(block: ir.Block) -> bool:
    """Return whether the body of a loop leaves this loop by `break`."""
    return any(
        isinstance(one, ir.Break)
        or (isinstance(one, ir.If | ir.Scope) and any(map(breaks, inside(one))))
        for one in block
    )


def last_test(loop: ir.While) -> tuple[ir.Block, ir.Expr, bool]:
    """A trip up to its last test, the test, and whether it leaves the loop.

    That is the loop's own, which is before its body or after its prelude, or the one that a
    `while True` ends with.
    """
    block = (*loop.prelude, *loop.body)
    last = block[-1] if block else None
    if isinstance(loop.test, ir.Const) and loop.test.value and isinstance(last, ir.If):
        for side, (one, other) in enumerate(((last.orelse, last.then), (last.then, last.orelse))):
            if not other and [*map(type, one)] == [ir.Break]:
                return block[:-1], last.test, bool(side)
    return loop.prelude if loop.prelude and not loop.body else loop.body, loop.test, False


class Analysis(Uniformity):
    """The kinds of variables of a straightened program.

    `uniform` variables are the same for all threads; one statement sets those in `same_once`. Of
    the others, one statement sets those in `once`, and those in `definitions` to an expression.
    Those in `inlined` stand for an expression of the thread's own numbers.
    """

    def __init__(self, body: ir.Block) -> None:
        super().__init__(body)
        assigned = [s.target for s in statements(body) if isinstance(s, ir.Assign | ir.For)]
        loading = ir.Load | ir.VectorLoad | ir.Atomic
        loads = [name for s in statements(body) if isinstance(s, loading) for name in targets(s)]
        forgotten = {name for s in statements(body) if isinstance(s, ir.Forget) for name in s.names}
        self.inlined: dict[str, ir.Expr] = {}
        self._length: dict[str, int] = {}  # of inlined variables, written out
        times = Counter([*assigned, *loads])
        single = {name for name, n in times.items() if name is not None and n == 1} - forgotten
        self.once = single - self.uniform
        self.definitions = {
            one.target: one.value
            for one in statements(body)
            if isinstance(one, ir.Assign) and one.target in self.once
        }
        self.same_once = single & self.uniform
        once = self.once - set(loads)
        for statement in statements(body):
            if isinstance(statement, ir.Assign) and statement.target in once:
                target, value = statement.target, statement.value
                length = sum(
                    self._length.get(part.name, 1) if isinstance(part, ir.Var) else 1
                    for part in parts(value)
                )
                if length <= LONGEST and self._inlinable(value):
                    self.inlined[target] = value
                    self._length[target] = length

    def goes_on_together(self, loop: ir.While) -> bool:
        """Return whether all threads make as many trips, as far as the loop's last test says."""
        return self.is_uniform(loop.test) and self.is_uniform(last_test(loop)[1])

    def _parts_threads(self, statement: ir.Stmt) -> bool:
        if isinstance(statement, ir.While):
            return not self.goes_on_together(statement)
        return super()._parts_threads(statement)

    def _inlinable(self, value: ir.Expr) -> bool:
        """Return whether an expression has the same value everywhere, and can't fail.

        In a loop's next trip, a variable that is set once may take another value. It is then set
        before it is read again, because earlier reads are refused.
        """
        if isinstance(value, ir.Var):
            return value.name in self.once or value.name in self.same_once
        for part in parts(value):
            if isinstance(part, ir.RegisterRead | ir.Lookup):
                return False
            if isinstance(part, ir.Var):
                if part.name not in self.inlined and part.name not in self.same_once:
                    return False
            elif isinstance(part, ir.Binary):
                row = row_of(part)
                divisor = unchecked(part.right)
                if row.kind == "division" and self.is_uniform(divisor) and self._inlinable(divisor):
                    continue  # a division by a constant number can't fail
                if row.refused or row.checked:
                    return False
            elif isinstance(part, ir.Unary):
                made = row_of(part).gives
                if made is not None and is_int(made) and not is_implied(part):
                    return False  # a float may not fit
        return True


def order_matters(body: ir.Block, array: str, inlined: dict[str, ir.Expr]) -> str:
    """Return whether the result depends on the order in which pieces of the grid run.

    "no": no thread writes the array, or every thread keeps to its own elements. "written": threads
    write it and never read it, so the order matters only if two threads write one element. "yes":
    one thread may read the writes of another one.
    """
    uses = [s for s in accesses(body) if s.array == array]
    if all(isinstance(use, ir.Load | ir.VectorLoad) for use in uses):
        return "no"
    writes = all(isinstance(use, ir.Store | ir.VectorStore) for use in uses)
    if any(isinstance(use, ir.VectorLoad | ir.VectorStore) for use in uses):
        return "written" if writes else "yes"
    forms = {tuple(behind(part, inlined) for part in use.index) for use in uses}
    fields = {part.field for part in forms.pop() if isinstance(part, ir.ThreadField)}
    if not forms and ("id" in fields or {"block", "index"} <= fields):  # no two threads share it
        return "no"
    return "written" if writes else "yes"


def gathered(body: ir.Block, array: str, held: Type) -> str | None:
    """The kind of an array's atomics, if it has no other access: then copies can be merged."""
    uses = [s for s in accesses(body) if s.array == array]
    atomics = [s for s in uses if isinstance(s, ir.Atomic)]
    if not uses or len(atomics) < len(uses) or order_of_atomics(atomics, {array: held}):
        return None
    return COMMUTING[atomics[0].op]


def behind(value: ir.Expr, inlined: dict[str, ir.Expr]) -> ir.Expr:
    """The expression for which an inlined variable stands; any other expression itself."""
    while isinstance(value, ir.Var) and value.name in inlined:
        value = inlined[value.name]
    return value
