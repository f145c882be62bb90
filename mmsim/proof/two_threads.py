"""Questions about two threads of a launch, answered by Z3.

The first thread has the symbols of the walk. The second has others for what is its own: for what
threads have each, for what blocks have each if it is of another block, and for what belongs to an
iteration of a loop in which the two needn't be in the same one.

The two are *aligned* if they come to the same barriers in the same order: then loops with barriers
have the same iterations for both. An access of one and a later one of the other are in one interval
unless a barrier between them is sure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any, Literal

import z3

from mmsim.proof.races_bits import OPERATIONS
from mmsim.proof.races_laws import Laws, of_powers
from mmsim.proof.races_values import Threads, array_of
from mmsim.proof.races_walk import Index, Loop, Met, Noted, Parting, Touched, Walk
from mmsim.proof.whole_numbers import (
    BLOCK,
    THREAD,
    Number,
    Space,
    Symbol,
    Truth,
    Value,
    constant,
)

Scope = Literal["block", "grid"]
Answer = Literal["unsat", "sat", "unknown"]
STEPS = 3_000_000
"""Z3's steps for a question: so the answer doesn't depend on how busy the computer is."""


class Pair:
    """Two threads of one block, or ("grid") of different blocks, in the same iterations of `same`.

    Without a scope it is one thread.
    """

    def __init__(
        self, space: Space, laws: Laws, scope: Scope | None, same: frozenset[int] = frozenset()
    ) -> None:
        self.space, self.laws, self.scope, self.same = space, laws, scope, same
        self.names: dict[str, str] = {}
        self._facts: dict[tuple[str, bool], list[Truth]] = {}

    def _is_own(self, one: Symbol) -> bool:
        least = BLOCK if self.scope == "grid" else THREAD
        return one.level >= least or bool(one.loops - self.same)

    def second(self, value: Value) -> Value:
        """A value of the second thread."""
        for name in self.space.factors(value):
            one = self.space.symbols[name]
            if name not in self.names and self._is_own(one):
                other = self.space.symbol(f"{name}'", one.term.sort(), level=one.level)
                other.nonnegative, other.data = one.nonnegative, one.data
                self.names[name] = other.name
        return self.space.renamed(value, self.names)

    def _known(self, roots: list[tuple[str, bool]]) -> Iterator[Truth]:
        """The facts of symbols, of the first (False) and of the second thread (True)."""
        seen: set[tuple[str, bool]] = set()
        while roots:
            key = name, other = roots.pop()
            if key in seen:
                continue
            seen.add(key)
            facts = self.space.symbols[name].facts
            roots += [(inner, other) for fact in facts for inner in self.space.factors(fact)]
            if key not in self._facts or len(self._facts[key]) != len(facts):
                self._facts[key] = [self.second(fact) for fact in facts] if other else list(facts)
            yield from self._facts[key]

    def ask(
        self,
        first: Sequence[Truth],
        second: Sequence[Truth] = (),
        both: Sequence[Truth] = (),
        *,
        exact: bool = False,
        bits: bool = True,
        more: Sequence[Truth] = (),
    ) -> tuple[Answer, Any]:
        """Return whether it can be that all hold: of the first thread, of the second, and of both.

        `both` have the second thread's symbols already. With `exact` products are multiplied, and
        with `bits` operations on them are bit by bit.
        """
        space = self.space
        goals = [*first, *(self.second(one) for one in second), *both]
        if any(z3.is_false(z3.simplify(one)) for one in goals):
            return "unsat", None
        if monotonic() > space.deadline:
            return "unknown", None
        back = {new: old for old, new in self.names.items()}
        roots = [
            (name, other)
            for parts, other in ((first, False), (space.given, False), (second, True))
            for one in parts
            for name in space.factors(one)
        ]
        roots += [
            (back.get(name, name), name in back) for one in both for name in space.factors(one)
        ]
        known = self._known(roots)
        asked = {one.get_id(): one for one in (*goals, *space.given, *known)}
        if space.knows_powers:
            asked |= {one.get_id(): one for one in of_powers(space, asked.values())}
        names = {name for one in asked.values() for name in space.names(one)}
        solver = z3.Solver()
        solver.set("rlimit", STEPS)
        solver.add(*asked.values(), *more)
        products = sorted(name for name in names if name in space.products)
        if exact:
            for name in products:
                factors = [space.symbols[one].term for one in space.products[name]]
                solver.add(z3.Int(name) == z3.Product(factors))
        elif products and solver.check() != z3.unsat:
            solver.add(*self.laws.of(asked.values(), names))
        answer: Answer = str(solver.check())  # type: ignore[assignment]
        if bits and answer != "unsat" and (of_bits := self._of_bits(names, back)):
            solver.add(*of_bits)
            solver.set("rlimit", 4 * STEPS)
            answer = str(solver.check())  # type: ignore[assignment]
        return answer, solver.model() if answer == "sat" else None

    def _of_bits(self, names: set[str], back: dict[str, str]) -> list[Truth]:
        """The facts about the bits of the symbols in a question that are x ^ y, x & y or x | y."""
        found: list[Truth] = []
        for name in sorted(names):
            made = self.space.made.get(old := back.get(name, name))
            if made is not None and isinstance(made[0], str) and made[0] in OPERATIONS:
                facts = self.laws.bits.operated(old)
                found += [self.second(one) for one in facts] if name in back else facts
        back = {new: old for old, new in self.names.items()}
        new = {name for one in found for name in self.space.factors(one)}
        return [*found, *self._known([(back.get(one, one), one in back) for one in sorted(new)])]


@dataclass(frozen=True, eq=False)
class Open:
    """A question that is not answered: why, in words, and the question, to be asked for a model."""

    reason: str
    ask: Callable[..., tuple[Answer, Any]]


class TwoThreads:
    """The possible mistakes between two threads of a program, or for one."""

    def __init__(self, walk: Walk, threads: Threads, laws: Laws) -> None:
        self.walk, self.space, self.threads, self.laws = walk, walk.space, threads, laws
        self.aligned: dict[Scope, frozenset[int]] = {"block": frozenset(), "grid": frozenset()}
        self.met: dict[Scope, list[Met]] = {"block": [], "grid": []}
        self._pairs: dict[tuple[Scope | None, frozenset[int]], Pair] = {}

    def pair(self, scope: Scope | None, same: frozenset[int] = frozenset()) -> Pair:
        """Two threads of a kind, made once."""
        key = scope, same
        if key not in self._pairs:
            self._pairs[key] = Pair(self.space, self.laws, scope, same)
        return self._pairs[key]

    # Indices

    def indices(self) -> Iterator[Open]:
        """Indices that may be out of range."""
        for one in self.walk.indices:
            if len(one.index) != len(one.extents) or not all(
                isinstance(part, Number) for part in one.index
            ):
                why = f"the index of {one.array} is not a whole number for each axis"
                yield Open(at_lines(why, one), lambda **_: ("unknown", None))
                continue
            outside = self.outside(one, one.extents)
            if z3.is_false(outside):
                continue

            def ask(one: Index = one, outside: Truth = outside, **how: Any) -> tuple[Answer, Any]:
                return self.pair(None).ask([one.path, outside], **how)

            if ask()[0] != "unsat" and ask(exact=True)[0] != "unsat":
                of = self.read_from(*one.index)
                why = f"is read from {of}" if of else "may be out of range"
                yield Open(at_lines(f"the index of {one.array} {why}", one), ask)

    def outside(self, one: Index | Touched, extents: Sequence[Number]) -> Truth:
        """Say that an index is out of range."""
        compared, width = self.space.compared, constant(one.width)
        bad = []
        for axis, (part, extent) in enumerate(zip(one.index, extents, strict=True)):
            assert isinstance(part, Number)
            end = part + constant(1)
            if axis == len(one.index) - 1:
                end = end * width
            bad += [compared("<", part, constant(0)), compared(">", end, extent)]
        return z3.simplify(z3.Or(*bad))

    def read_from(self, *values: Value) -> str:
        """The arrays whose words values depend on, in words."""
        found, new = set(), {name for one in values for name in self.space.factors(one)}
        arrays = self.walk.values.extents
        seen: set[str] = set()
        while new - seen:
            name = (new - seen).pop()
            seen.add(name)
            stem = name.partition("#")[0].removeprefix("word of ")
            stem = array_of(stem) or stem
            if stem in arrays and "#" in name:
                found.add(stem)
            elif "#" in name:
                facts = self.space.symbols[name].facts[:3]
                new |= {inner for fact in facts for inner in self.space.factors(fact)}
        return " and ".join(sorted(found))

    # Exceptions

    def exceptions(self) -> Iterator[Open]:
        """Exceptions that may be raised."""
        for one in self.walk.raised:
            ask = partial(self.pair(None).ask, [one.path])
            if ask()[0] != "unsat" and ask(exact=True)[0] != "unsat":
                of = self.read_from(one.path)
                why = f"; its test is read from {of}" if of else ""
                yield Open(at_lines(f"an exception may be raised{why}", one), ask)

    # Barriers

    def barriers(self) -> Iterator[Open]:
        """Tests that may lead two threads to different barriers. It aligns threads without one."""
        scopes: tuple[Scope, ...] = ("block", "grid")
        for scope in scopes:
            met = [one for one in self.walk.met if scope == "block" or one.scope == "grid"]
            if not met:
                continue
            found = [one for one in self.walk.partings if scope in one.scopes]
            opened = [one for one in (self._parting(one, scope) for one in found) if one]
            if scope == "grid":
                opened += [one for one in map(self._returning, self.walk.returns) if one]
            yield from opened
            if not opened:
                self.met[scope] = met
                loops = {loop.number for loop in self.walk.loops if scope in loop.scopes}
                self.aligned[scope] = frozenset(loops)

    def _parting(self, one: Parting, scope: Scope) -> Open | None:
        same = frozenset(loop.number for loop in one.loops)
        pair = self.pair(scope, same)

        def ask(**how: Any) -> tuple[Answer, Any]:
            differ = z3.Xor(one.test, pair.second(one.test))
            return pair.ask([one.path], [one.path], [differ, *self.different(pair)], **how)

        if ask()[0] != "unsat" and ask(exact=True)[0] != "unsat":
            of = self.read_from(one.test)
            why = f", which is read from {of}," if of else ""
            return Open(at_lines(f"the test{why} may lead threads to different barriers", one), ask)
        return None

    def _returning(self, one: Noted) -> Open | None:
        first = self.space.compared("==", self.threads.index, constant(0))

        def ask(**how: Any) -> tuple[Answer, Any]:
            return self.pair(None).ask([one.path, first], **how)

        if ask()[0] == "unsat":
            return None
        return Open(
            at_lines("the first thread of a block may end before a barrier of the grid", one), ask
        )

    def different(self, pair: Pair, warps: bool = False) -> list[Truth]:
        """Say that two threads are different ones, or of different warps of a block."""
        places = ("blockIdx", "blockDim") if pair.scope == "grid" else ("threadIdx", "blockDim")
        if warps and pair.scope == "block":
            mine = [self.threads.warp_in_block]
        else:
            mine = [self.threads.places[f"{places[0]}.{axis}"] for axis in "xyz"]
        return [z3.Or(*(self.space.term(one) != self.space.term(pair.second(one)) for one in mine))]

    # Races

    def races(self) -> Iterator[Open]:
        """Pairs of accesses that may race."""
        touched = [one for one in self.walk.touched if one.array in self.walk.written]
        shared = {one.name for one in self.walk.lowered.code.locals}
        for place, one in enumerate(touched):
            for other in touched[place:]:
                if one.array != other.array or {one.kind, other.kind} <= {"read"}:
                    continue
                if one.kind == other.kind == "atomic":
                    continue
                scopes: list[Scope] = ["block"] if one.array in shared else ["block", "grid"]
                for scope in scopes:
                    found = next(self._racing(one, other, scope), None)
                    if found is not None:
                        yield found

    def _racing(self, one: Touched, other: Touched, scope: Scope) -> Iterator[Open]:
        """The ways in which two accesses may meet in one interval, which can't be excluded."""
        for first, second, same, between in self._ways(one, other, scope):
            pair = self.pair(scope, same)

            def ask(
                first: Touched = first,
                second: Touched = second,
                pair: Pair = pair,
                between: Callable[[Pair], list[Truth]] = between,
                warps: bool = False,
                **how: Any,
            ) -> tuple[Answer, Any]:
                both = [
                    *self.different(pair, warps),
                    *self._one_element(first, second, pair),
                    *between(pair),
                ]
                return pair.ask([first.path], [second.path], both, **how)

            if ask()[0] == "unsat":
                continue
            if scope == "block" and ask(warps=True)[0] == "unsat":
                continue
            if ask(warps=True, exact=True)[0] != "unsat":
                of = self.read_from(*first.index, *second.index)
                why = f"; the index is read from {of}" if of else ""
                where = "of different blocks" if scope == "grid" else "of one block"
                what = f"threads {where} may access one element of {first.array} in no order{why}"
                yield Open(at_lines(what, first, second), partial(ask, warps=True))

    def _one_element(self, first: Touched, second: Touched, pair: Pair) -> list[Truth]:
        """Say that two accesses meet in an element, and matter."""
        found = []
        for axis, (mine, its) in enumerate(zip(first.index, second.index, strict=True)):
            a, b = self.space.term(mine), self.space.term(pair.second(its))
            if axis == len(first.index) - 1 and (first.width > 1 or second.width > 1):
                a, b = a * first.width, b * second.width
                found += [a < b + second.width, b < a + first.width]
            else:
                found.append(a == b)
        if first.kind == second.kind == "write" and first.width == second.width == 1:
            (mine,), (its,) = first.values, second.values
            a, b = self.space.term(mine), self.space.term(pair.second(its))
            if a.sort() == b.sort():
                found.append(a != b)
        return found

    def _ways(
        self, one: Touched, other: Touched, scope: Scope
    ) -> Iterator[tuple[Touched, Touched, frozenset[int], Callable[[Pair], list[Truth]]]]:
        """The ways of two accesses in one interval: first, second, common iterations, facts."""
        aligned = self.aligned[scope]
        common = []
        for mine, its in zip(one.loops, other.loops, strict=False):
            if mine is not its or mine.number not in aligned:
                break
            common.append(mine)
        orders = [(one, other)] if one is other else [(one, other), (other, one)]
        for first, second in orders:
            if first.position <= second.position:
                yield first, second, aligned, self._passed(first, second, tuple(common), scope)
        for depth, loop in enumerate(common):
            inner = {each.number for each in self.walk.loops if loop in each.stack}
            for first, second in orders:
                same = aligned - inner
                yield first, second, same, self._next(first, second, common[: depth + 1], scope)

    def _passed(
        self, first: Touched, second: Touched, common: tuple[Loop, ...], scope: Scope
    ) -> Callable[[Pair], list[Truth]]:
        """Say that no barrier lies between two accesses in the same iterations of common loops."""

        def facts(pair: Pair) -> list[Truth]:
            found = []
            for met in self.met[scope]:
                if not first.position < met.position < second.position:
                    continue
                if _is_prefix(met.loops, first.loops):  # both threads come to it, or neither
                    found.append(z3.Not(met.path))
                if _is_prefix(met.loops, first.loops) or _is_prefix(met.loops, second.loops):
                    found.append(z3.Not(pair.second(met.path)))
            found += self._whole_loops(first, second, common, scope, pair)
            return found

        return facts

    def _whole_loops(
        self, first: Touched, second: Touched, common: Sequence[Loop], scope: Scope, pair: Pair
    ) -> Iterator[Truth]:
        """Say that no loop between two accesses has a barrier, nor an earlier iteration of one."""
        for loop in self.walk.loops:
            if scope not in loop.sure or not self.met[scope]:
                continue
            if loop not in first.loops and loop not in second.loops:
                between = first.position < loop.position < second.position and not loop.breaks
                if between and _is_prefix(loop.outer, tuple(common)):
                    yield z3.Not(pair.second(loop.first))
            elif loop in second.loops and loop not in common and loop.number in self.aligned[scope]:
                count = Number({(loop.counter,): 1})
                if first.position < loop.position and loop not in first.loops:
                    yield self.space.term(pair.second(count)) == 0

    def _next(
        self, first: Touched, second: Touched, common: Sequence[Loop], scope: Scope
    ) -> Callable[[Pair], list[Truth]]:
        """Say that the later access is in the next iteration of a loop, or in any later one."""
        loop = common[-1]

        def facts(pair: Pair) -> list[Truth]:
            count = Number({(loop.counter,): 1})
            mine, its = self.space.term(count), self.space.term(pair.second(count))
            sure = scope in loop.sure
            found = [its == mine + 1 if sure else mine < its]
            for met in self.met[scope]:
                if loop not in met.loops:
                    continue
                if met.position > first.position:
                    if met.loops == loop.stack and met.sure:
                        return [z3.BoolVal(False)]
                    if _is_prefix(met.loops, first.loops):  # both come to it, or neither
                        found.append(z3.Not(met.path))
                if met.position < second.position and _is_prefix(met.loops, second.loops):
                    found.append(z3.Not(pair.second(met.path)))
            for symbol, value in loop.next if sure else ():
                after = self.space.origin(value)
                if after.level < (BLOCK if scope == "grid" else THREAD):
                    found.append(self.space.term(pair.second(symbol)) == self.space.term(value))
            return found

        return facts


def at_lines(why: str, *where: Noted) -> str:
    """A reason with its lines."""
    lines = sorted({one.place.line for one in where})
    named = f"line {lines[0]}" if len(lines) == 1 else f"lines {lines[0]} and {lines[1]}"
    return f"{where[0].place.function}, {named}: {why}"


def _is_prefix(one: Sequence[Loop], other: Sequence[Loop]) -> bool:
    """Return whether a stack of loops is the beginning of another one."""
    return tuple(other[: len(one)]) == tuple(one)
