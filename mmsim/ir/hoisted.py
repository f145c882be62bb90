"""Loads that a compiler moves before a loop: each trip would read the same words.

A load leaves a loop over a range if its index stays the same in it. The index may also depend on
the counters of loops inside that are unrolled whole: then registers keep a word for each of their
trips. In the loop a copy of what is kept stands in the place of the load. Such a load has to come
in the first trip, so it is done if the loop has one. In the loop nothing may write what it reads:
for an array in global memory nothing may write any such array, because two of Numba's may overlap.
Nor may the loop have an atomic, or a barrier of a block or a warp.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count, islice

from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import INT
from mmsim.ir.lower import Lowered
from mmsim.ir.operations import WHOLE, changes
from mmsim.ir.typed import constants
from mmsim.ir.walk import (
    all_parts,
    inside,
    names,
    parts,
    statements,
    with_expressions,
    with_inside,
    written_arrays,
)

LONG = 100
"""The most parts of an index that is computed before a loop."""
YES = ir.Const(True)
Values = dict[str, ir.Expr]


def hoisted(lowered: Lowered) -> Lowered:
    """A program whose loops load once what stays the same in them; itself if there is nothing.

    A load keeps its site and its place.
    """
    return Hoisting(lowered).program()


@dataclass(frozen=True)
class Inner:
    """A loop inside the one that a load leaves.

    `test` is whether it has a trip. `counter` is the counter of a copy of it, and `words` are the
    registers that may keep a word for each of its trips, 0 if none may.
    """

    loop: ir.For
    test: ir.Expr
    counter: str
    words: int

    @property
    def value(self) -> ir.Expr:
        """The value of the copy's counter."""
        return ir.Var(self.counter, self.loop.place)


@dataclass(frozen=True)
class Leaving:
    """A load that leaves a loop if `tests` hold: its index there, which depends on `loops`."""

    load: ir.Load
    index: tuple[ir.Expr, ...]
    loops: tuple[Inner, ...]
    tests: tuple[ir.Expr, ...]


class Hoisting:
    """Moves the loads of one program, those of outer loops first."""

    def __init__(self, lowered: Lowered) -> None:
        self.lowered, self.code = lowered, lowered.code
        self.constant = constants(lowered, {}, {}, lambda _: None)
        self.variables, self.arrays = dict(lowered.variables), dict(lowered.arrays)
        self.kept: list[ir.LocalArray] = []
        self.copies: dict[int, ir.Expr] = {}
        """The copies that stand for loads, by the loads' sites."""
        self.names = count(1)
        self.numbers = count(1 + max((s.number for s in statements(self.code.body)), default=0))

    def program(self) -> Lowered:
        """The program with its loads moved."""
        body = self._block(self.code.body)
        if not self.copies:
            return self.lowered
        made = self.lowered.with_variables(self.variables)
        made.arrays = self.arrays
        body = _without_unread(body, _read(self.code.body))
        made.code = replace(self.code, body=body, locals=(*self.code.locals, *self.kept))
        return made

    def _block(self, block: ir.Block) -> ir.Block:
        made: list[ir.Stmt] = []
        for statement in block:
            if isinstance(statement, ir.For):
                made += self._before(statement)
                statement = with_inside(statement, self._with_copies)
            made.append(with_inside(statement, self._block))
        return tuple(made)

    def _before(self, loop: ir.For) -> Iterator[ir.Stmt]:
        """The statements before a loop: the loads that leave it, each under its tests."""
        test = self.has_trip(loop)
        if test is None:
            return
        groups: dict[tuple[ir.Expr, ...], ir.Block] = {}
        for one in Search(self, loop).found:
            tests = tuple(each for each in (test, *one.tests) if each != YES)
            groups[tests] = (*groups.get(tests, ()), *self._kept(one))
        for tests, block in groups.items():
            for each in reversed(tests):
                block = (ir.If(each, block, (), loop.place, number=next(self.numbers)),)
            yield from block

    def _kept(self, one: Leaving) -> ir.Block:
        """The statements that load words and keep them."""
        load, place = one.load, one.load.place
        assert load.target is not None
        type_, name = self.variables[load.target], self.fresh(load.array)
        self.variables[name] = type_
        value = self.copies[load.site] = ir.Var(name, place)
        made: ir.Block = (replace(load, target=name, index=one.index),)
        if not one.loops:
            return made
        kept = self.fresh(load.array)
        self.arrays[kept] = type_
        shape = tuple(ir.Const(each.words) for each in one.loops)
        self.kept.append(ir.LocalArray(kept, "registers", shape, type_.name, place))
        there = tuple(each.value for each in one.loops)
        here = tuple(ir.Var(each.loop.target, place) for each in one.loops)
        made = (*made, ir.RegisterWrite(kept, there, value, place, number=next(self.numbers)))
        for each in reversed(one.loops):
            self.variables[each.counter], number = INT, next(self.numbers)
            made = (replace(each.loop, target=each.counter, body=made, number=number),)
        self.copies[load.site] = ir.RegisterRead(kept, here, place)
        return made

    def _with_copies(self, block: ir.Block) -> ir.Block:
        """A block with copies of what is kept in the places of loads."""

        def changed(one: ir.Stmt) -> ir.Stmt:
            if isinstance(one, ir.Load) and one.site in self.copies:
                assert one.target is not None
                value, number = self.copies[one.site], next(self.numbers)
                return ir.Assign(one.target, value, one.place, number=number)
            return with_inside(one, self._with_copies)

        return tuple(map(changed, block))

    def has_trip(self, loop: ir.For) -> ir.Expr | None:
        """The test whether a loop has a trip; None if there is no such test."""
        start, stop, step = map(self.constant, (loop.start, loop.stop, loop.step))
        if type(step) is not int or step == 0:
            return None
        if type(start) is int and type(stop) is int:
            return YES if range(start, stop, step) else None
        return ir.Compare("<" if step > 0 else ">", loop.start, loop.stop, loop.place)

    def inner(self, loop: ir.For, test: ir.Expr) -> Inner:
        """A loop inside the one that a load leaves."""
        bounds = (self.constant(one) for one in (loop.start, loop.stop))
        start, stop = (one if type(one) is int else -1 for one in bounds)
        is_kept = 0 <= start < stop <= WHOLE and not _jumps(loop.body)
        return Inner(loop, test, self.fresh(loop.target), stop if is_kept else 0)

    def fresh(self, base: str) -> str:
        """A new name."""
        taken = self.variables.keys() | self.arrays.keys() | self.lowered.numbers.keys()
        return next(name for k in self.names if (name := f"{base}_kept_{k}") not in taken)


class Search:
    """A search for the loads that leave a loop.

    It follows the values of variables from the beginning of a trip, as far as they are computed
    from what stays the same and from counters.
    """

    def __init__(self, hoisting: Hoisting, loop: ir.For) -> None:
        self.hoisting = hoisting
        self.found: list[Leaving] = []
        if any(map(_synchronizes, statements(loop.body))):
            return
        self.changed, self.written = changes((loop,)), written_arrays(loop.body)
        self.own = {one.name for one in hoisting.code.locals}
        self._block(loop.body, {}, ())

    def _block(self, block: ir.Block, values: Values, around: tuple[Inner, ...]) -> None:
        """Search the statements to which the first trip comes for certain."""
        values = dict(values)
        for statement in block:
            value = None
            if isinstance(statement, ir.Load):
                self._load(statement, values, around)
            elif isinstance(statement, ir.For):
                self._inner(statement, values, around)
            elif isinstance(statement, ir.Assign):
                value = self._known(statement.value, values)
            if _jumps((statement,)):
                return
            for name in changes((statement,)):
                values.pop(name, None)
            if isinstance(statement, ir.Assign) and value is not None:
                values[statement.target] = value

    def _inner(self, loop: ir.For, values: Values, around: tuple[Inner, ...]) -> None:
        test = self.hoisting.has_trip(loop)
        test = None if test is None else self._known(test, values)
        if test is None:
            return
        one = self.hoisting.inner(loop, test)
        changed = changes((loop,))
        own = {name: value for name, value in values.items() if name not in changed}
        own[loop.target] = one.value
        self._block(loop.body, own, (*around, one))

    def _load(self, load: ir.Load, values: Values, around: tuple[Inner, ...]) -> None:
        """Note a load if it may leave."""
        others = {load.array} if load.array in self.own else self.written - self.own
        index = tuple(self._known(one, values) for one in load.index)
        if load.target is None or others & self.written:
            return
        known = tuple(one for one in index if one is not None)
        counters = {one.counter for one in around}
        used = names(known) & counters
        loops = tuple(one for one in around if one.counter in used)
        tests = tuple(one.test for one in around if one not in loops)
        is_held = all(values.get(one.loop.target) == one.value for one in loops)
        words = math.prod(one.words for one in loops)
        is_known = len(known) == len(index) and not names(tests) & counters
        if is_known and is_held and 0 < words <= WHOLE:
            self.found.append(Leaving(load, known, loops, tests))

    def _known(self, value: ir.Expr, values: Values) -> ir.Expr | None:
        """An expression by what stays the same and counters; None if there is no short one."""
        if not names((value,)) & self.changed <= values.keys():
            return None
        found = _with_values(value, values)
        return None if len(list(islice(parts(found), LONG + 1))) > LONG else found


def _with_values(value: ir.Expr, values: Values) -> ir.Expr:
    """An expression with values for variables."""
    if isinstance(value, ir.Var):
        return values.get(value.name, value)
    return with_expressions(value, lambda one: _with_values(one, values))


def _synchronizes(statement: ir.Stmt) -> bool:
    """Return whether threads may wait for each other at a statement."""
    is_sync = isinstance(statement, ir.Exchange) and statement.op == "sync"
    return is_sync or isinstance(statement, ir.Barrier | ir.Atomic)


def _jumps(block: ir.Block) -> bool:
    """Return whether a jump may skip what follows a block, or a part of the block itself."""
    every = list(statements(block))
    scopes = {one.name for one in every if isinstance(one, ir.Scope)}
    out = (isinstance(one, ir.Leave) and one.scope not in scopes for one in every)
    return any(isinstance(one, ir.Return) for one in every) or any(out) or _breaks(block)


def _breaks(block: ir.Block) -> bool:
    """Return whether a block has a `break` or a `continue` of a loop around."""
    return any(
        isinstance(one, ir.Break | ir.Continue)
        or (not isinstance(one, ir.For | ir.While) and any(map(_breaks, inside(one))))
        for one in block
    )


def _read(block: ir.Block) -> set[str]:
    """The variables that a block reads."""
    return {part.name for part in all_parts(block) if isinstance(part, ir.Var)}


def _without_unread(block: ir.Block, read: set[str]) -> ir.Block:
    """A block without the computation of what only moved loads have read."""
    while True:
        gone = read - _read(block)
        made = _without(block, gone)
        if len(list(statements(made))) == len(list(statements(block))):
            return made
        block = made


def _without(block: ir.Block, gone: set[str]) -> ir.Block:
    """A block that sets no variables of these names."""
    return tuple(
        with_inside(one, lambda inner: _without(inner, gone))
        for one in block
        if not (isinstance(one, ir.Assign) and one.target in gone)
    )
