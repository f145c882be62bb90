"""Loops that count: `while i < n: ...; i += step`, of which each thread makes its own trips.

The number of trips is known when a thread comes to the loop, if the loop changes neither the bound
nor the step, and only its last line changes i. A kernel steps so through an array larger than its
grid.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mmsim.engines.array.fused.analysis import Analysis, last_test
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import INT, Type, is_int
from mmsim.ir.lower import unconverted
from mmsim.ir.operators import MIRRORED, NEGATED, RISING, STRICT, row_of
from mmsim.ir.walk import inside, names, statements, targets


@dataclass(frozen=True)
class Count:
    """A loop that counts from `start`, up to `stop` if it `rises`, or else down to it.

    It makes a trip for `stop` itself if it `includes` it. Each trip is `body`, and adds or
    subtracts `step`. There are at least `runs` trips. The numbers have to lie in `reach`.
    """

    body: ir.Block
    start: ir.Expr
    stop: ir.Expr
    step: ir.Expr
    subtracts: bool
    rises: bool
    includes: bool
    runs: int
    reach: tuple[int, int]


def count_of(loop: ir.While, body: ir.Block, analysis: Analysis) -> Count | None:
    """The way in which a loop counts; None if that isn't known before it runs."""
    block, test, leaves = last_test(loop)
    if (block == loop.body and loop.prelude) or any(map(_jumps, block)):
        return None
    at, runs = len(block), int(block != loop.body)
    if isinstance(test, ir.Var):
        at = _setting(block, test.name)
        found = block[at] if at >= 0 else None
        test = found.value if isinstance(found, ir.Assign) else test
    if not isinstance(test, ir.Compare) or test.op not in MIRRORED:
        return None
    sign = NEGATED[test.op] if leaves else test.op
    for left, right, op in (
        (test.left, test.right, sign),
        (test.right, test.left, MIRRORED[sign]),
    ):
        held, is_unsigned = _plain(left)
        if not isinstance(held, ir.Var):
            continue
        changed = _setting(block, held.name)
        before = _start(body, loop, held.name, analysis)
        if not 0 <= changed < at or before is None:
            continue
        update, reach = _uncast(block[changed])
        if not isinstance(update, ir.Binary) or update.op not in ("+", "-"):
            return None
        sides = [unconverted(update.left), unconverted(update.right)]
        if update.op == "+" and not _is(sides[0], held.name, block[:changed], reach):
            sides.reverse()
        own, step = sides
        stop = _plain(right)[0]
        changes = {name for one in statements(block) for name in targets(one)}
        steady = changes.isdisjoint(names((step, stop)))
        is_own = _is(own, held.name, block[:changed], reach)
        if not is_own or not steady or not analysis.is_uniform(step):
            return None
        reach = (0 if is_unsigned else reach[0], reach[1])
        rises, includes = op in RISING, op not in STRICT
        return Count(block, before, stop, step, update.op == "-", rises, includes, runs, reach)
    return None


def _is(value: ir.Expr, name: str, block: ir.Block, reach: tuple[int, int]) -> bool:
    """Return whether a value is that of a variable of this reach, or a copy made in the block."""
    if isinstance(value, ir.Unary):
        made = row_of(value).gives
        keeps = made is not None and is_int(made) and 2 ** (8 * made.itemsize) > reach[1] - reach[0]
        return keeps and _is(value.operand, name, block, reach)
    if not isinstance(value, ir.Var) or value.name == name:
        return isinstance(value, ir.Var)
    at = _setting(block, value.name)
    copy = block[at] if at >= 0 else None
    return isinstance(copy, ir.Assign) and _is(copy.value, name, block[:at], reach)


def _jumps(statement: ir.Stmt) -> bool:
    """Return whether a statement can leave its loop, or the rest of a trip."""
    if isinstance(statement, ir.While | ir.For):
        return False
    leaves = isinstance(statement, ir.Break | ir.Continue | ir.Return | ir.Leave)
    leaves &= not (isinstance(statement, ir.Return) and statement.message is not None)
    return leaves or any(_jumps(one) for block in inside(statement) for one in block)


def reach_of(kind: Type) -> tuple[int, int]:
    """The least and the greatest integer of a type."""
    bits = 8 * kind.itemsize
    return (0, 2**bits - 1) if kind.kind == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _setting(block: ir.Block, name: str) -> int:
    """The position of the only statement that sets a variable, on the block's own level; or -1."""
    places = [at for at, one in enumerate(block) if name in targets(one)]
    every = [one for one in statements(block) if name in targets(one)]
    return places[0] if len(places) == len(every) == 1 else -1


def _plain(value: ir.Expr) -> tuple[ir.Expr, bool]:
    """A side of a comparison without its conversion to an unsigned type, and if it had one."""
    value = unconverted(value)
    if isinstance(value, ir.Unary) and value.op in ("uint32", "uint64"):
        return unconverted(value.operand), True
    return value, False


def _uncast(statement: ir.Stmt) -> tuple[ir.Expr | None, tuple[int, int]]:
    """The value of an assignment before it is converted, and the range of what is left."""
    value = statement.value if isinstance(statement, ir.Assign) else None
    kind: Type = INT
    if isinstance(value, ir.Unary) and row_of(value).kind == "cast":
        made = row_of(value).gives
        if made is None or not is_int(made):
            return None, (0, 0)
        value, kind = value.operand, made
    return value, reach_of(kind)


def _start(body: ir.Block, loop: ir.While, name: str, analysis: Analysis) -> ir.Expr | None:
    """The value that a variable has when a thread comes to a loop, if it is known."""
    before = (
        one for block in reversed(next(_paths(body, loop, ()), ())) for one in reversed(block)
    )
    for one in before:
        if name in (target for inner in statements((one,)) for target in targets(inner)):
            if not isinstance(one, ir.Assign):
                return None
            if names((one.value,)) <= analysis.once | analysis.same_once:
                return one.value
            if not isinstance(one.value, ir.Var):
                return None
            name = one.value.name  # a copy: what it had before counts
    return None


def _paths(
    block: ir.Block, loop: ir.While, path: tuple[ir.Block, ...]
) -> Iterator[tuple[ir.Block, ...]]:
    """The blocks around a loop from the nearest loop around it on, each up to the loop."""
    for at, one in enumerate(block):
        around = (
            () if isinstance(one, ir.While | ir.For) and one is not loop else (*path, block[:at])
        )
        if one is loop:
            yield around
        for inner in inside(one):
            yield from _paths(inner, loop, around)
