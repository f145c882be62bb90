"""The cost of a program with symbols for its sizes: what the sequencer of lock step does, in terms.

All warps of a launch execute the program together. Warps that do the same are one `Warps`: a range
of warps, with the values of their variables as terms and a mask of active lanes. A loop is
executed once, with a symbol for the number of its trips. Where a fact depends on a symbol, `Split`
divides the warps, the loop, or (by the caller) the sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from mmsim.ir import nodes as ir
from mmsim.ir.nodes import assert_never
from mmsim.ir.walk import has_effect, statements, targets
from mmsim.proof.accesses import Accesses, divided_range
from mmsim.proof.facts import Range, Split, is_power
from mmsim.proof.steps import Steps, names_of
from mmsim.proof.terms import ONE, Term, Undecided, power_of_two, simple, symbol
from mmsim.proof.warps import (
    UNKNOWN,
    InTurn,
    Rows,
    Unknown,
    Value,
    Warps,
    added,
    copied,
    repeated,
    spread,
)

LONGEST = 130
"""The most trips of a loop that is executed trip by trip."""


COMMON = ("+", "*", "//", "%", ">>", "<<", "min", "max")
"""Operations that give whole numbers from 0 on for such numbers."""


class Endless(Exception):
    """A loop that can't be executed trip by trip: its trips are no number."""


class Execution(Accesses):
    """Executes a program; `rows` are its accesses by their numbers."""

    def run(self) -> Rows:
        """Execute the whole program."""
        facts = self.facts
        classes = []
        blocks = Range("block", Term({}), self.blocks)
        many = self.blocks != Term.of(1)
        for low, high, mask in (
            (Term({}), self.warps, self.everyone),
            (self.warps, self.warps + 1, self.lanes < np.asarray(self.partial.number)),
        ):
            if not mask.any() or not facts.holds(high - low - 1):
                continue
            ranges = (Range("warp", low, high),)
            place = {"warp": symbol("warp"), "block": symbol("block") if many else Term({})}
            classes.append(Warps((blocks, *ranges) if many else ranges, {}, mask, place=place))
        self.block(self.body, classes)
        for site, value in self.totals.items():
            row, turns, times = self.rows[site], Term.of(1), Term.of(1)
            if self.is_shared(row.array):  # the sum in each block
                assert self.sizes.dmms is not None
                times = self.blocks
                turns, _ = self.facts.divmod(times + self.sizes.dmms - 1, self.sizes.dmms)
            self.rows[site] = replace(row, stages=value * times, busy=value * turns)
        return self.rows

    def block(self, body: ir.Block, classes: list[Warps]) -> list[Warps]:
        """Execute statements in turn."""
        for statement in body:
            if not any(one.active.any() for one in classes):
                return classes
            try:
                classes = self.statement(statement, classes)
            except Exception as error:
                if not hasattr(error, "place"):
                    error.place = getattr(statement, "place", None)  # type: ignore[attr-defined]
                raise
        return classes

    def statement(self, one: ir.Stmt, classes: list[Warps]) -> list[Warps]:
        """Execute a statement."""
        match one:
            case ir.Assign():
                return self.assign(one, classes)
            case ir.Load() | ir.Store() | ir.Atomic() | ir.VectorLoad() | ir.VectorStore():
                return self.access(one, classes)
            case ir.If():
                return self.branch(one, classes)
            case ir.For() | ir.While():
                return self.loop(one, classes)
            case ir.Barrier(target=target) | ir.Exchange(target=target):
                if target is None:
                    return classes
                return [self.set(each, target, UNKNOWN) for each in classes]
            case ir.RegisterWrite():
                return classes
            case ir.Return() | ir.Break() | ir.Continue() | ir.Leave():
                here = self.loops[-1] if self.loops else 0
                names = {ir.Return: "", ir.Break: f"break {here}", ir.Continue: f"continue {here}"}
                name = one.scope if isinstance(one, ir.Leave) else names[type(one)]
                return [self.leave(each, name, each.active) for each in classes]
            case ir.Scope():
                classes = self.block(one.body, classes)
                return [self.meet(each, one.name) for each in classes]
            case ir.Forget():
                return [
                    replace(each, env={k: v for k, v in each.env.items() if k not in one.names})
                    for each in classes
                ]
            case _:
                assert_never(one, "a proof")

    def leave(self, one: Warps, name: str, lanes: np.ndarray) -> Warps:
        """Lanes leave."""
        return replace(one, gone={**one.gone, name: one.gone.get(name, False) | lanes})

    def meet(self, one: Warps, name: str) -> Warps:
        """The lanes that left a part meet the others again."""
        if name not in one.gone:
            return one
        return replace(one, gone={k: v for k, v in one.gone.items() if k != name})

    def assign(self, one: ir.Assign, classes: list[Warps]) -> list[Warps]:
        if one.target not in self.needed:
            return [self.set(each, one.target, UNKNOWN) for each in classes]
        done = self.each(classes, lambda w: self.value(one.value, w) if w.active.any() else None)
        return [self.set(w, one.target, value) if w.active.any() else w for w, value in done]

    def branch(self, one: ir.If, classes: list[Warps]) -> list[Warps]:
        def test(warps: Warps) -> Any:
            return self.truth(one.test, warps) if warps.active.any() else False

        try:
            done = self.each(classes, test)
        except Undecided:
            if self._matters(one):
                raise
            done = [(w, UNKNOWN) for w in classes]
        if any(isinstance(found, Unknown) for _, found in done):
            if self._matters(one):
                raise Undecided("a branch depends on what is in memory")
            names = {name for s in statements((one,)) for name in targets(s)}
            return [self._unknown(w, names) for w, _ in done]
        begun = []
        for w, found in done:
            lanes = np.broadcast_to(np.asarray(found), w.mask.shape)
            begun.append(replace(w, mask=w.mask & lanes, outer=(*w.outer, (w.mask, lanes))))
        after = self.block(one.then, begun)
        if one.orelse:
            after = [replace(w, mask=w.outer[-1][0] & ~w.outer[-1][1]) for w in after]
            after = self.block(one.orelse, after)
        return [replace(w, mask=w.outer[-1][0], outer=w.outer[:-1]) for w in after]

    def _matters(self, one: ir.Stmt) -> bool:
        """Return whether a statement has accesses, or jumps."""
        return any(isinstance(s, ir.Access | ir.Jump | ir.Leave) for s in statements((one,)))

    def _unknown(self, one: Warps, names: set[str]) -> Warps:
        return replace(one, env={**one.env, **dict.fromkeys(names, UNKNOWN)})

    def loop(self, one: ir.For | ir.While, classes: list[Warps]) -> list[Warps]:
        """Execute a loop: with a symbol for its trips, or trip by trip."""
        saved = dict(self.rows), dict(self.totals)
        try:
            return self.symbolic_loop(one, classes)
        except Undecided as reason:
            self.rows, self.totals = dict(saved[0]), dict(saved[1])
            if any(
                isinstance(s, ir.Load | ir.VectorLoad) and set(targets(s)) & self.needed
                for s in statements(one.body)
            ):
                try:
                    without = self.without_trips(one, classes)
                    return without or self.symbolic_loop(one, classes, known=False)
                except Undecided:
                    self.rows, self.totals = saved
                    raise reason from None
            try:
                return self.unrolled(one, classes)
            except Endless:
                found = self.aside(one, classes)
                if found is None:
                    raise reason from None
                return found

    def aside(self, one: ir.For | ir.While, classes: list[Warps]) -> list[Warps] | None:
        """The warps after a loop of assignments alone, of which some values aren't known.

        A variable that all lanes have from sums, products, quotients and rests of numbers from 0
        on is one itself, and the same for all lanes. None if there is more in the loop.
        """
        body = [*one.body, *(one.prelude if isinstance(one, ir.While) else ())]
        if not all(isinstance(s, ir.Assign) for s in body):
            return None
        parts = (one.start, one.stop, one.step) if isinstance(one, ir.For) else (one.test,)
        changed = {t for s in body for t in targets(s)} | set(targets(one))
        result = []
        for w in classes:
            with self.facts.within(w.ranges):
                wrong = {name for name in changed if not self.is_common(w.env.get(name, Term({})))}
                known = {k: v for k, v in w.env.items() if k not in changed}
                while True:
                    more = {
                        s.target
                        for s in body
                        if isinstance(s, ir.Assign)
                        and not self.is_common_of(s.value, known, changed - wrong)
                    }
                    if more <= wrong:
                        break
                    wrong |= more
                if not all(self.is_common_of(part, known, changed - wrong) for part in parts):
                    return None
            for name in sorted(changed):
                value = UNKNOWN if name in wrong else self.facts.any_number()
                w = self.set(w, name, value)
            result.append(w)
        return result

    def is_common(self, value: Value) -> bool:
        """Return whether a value is a number from 0 on that all lanes have."""
        return isinstance(value, Term) and value.is_uniform and bool(self.facts.bound(value) >= 0)

    def is_common_of(self, value: ir.Expr, known: dict[str, Value], others: set[str]) -> bool:
        """Return whether an expression of known and other common numbers is such a number."""
        if isinstance(value, ir.Var):
            return value.name in others or self.is_common(known.get(value.name))
        if isinstance(value, ir.Binary | ir.Compare):
            fine = isinstance(value, ir.Compare) or value.op in COMMON
            sides = (value.left, value.right)
            return fine and all(self.is_common_of(side, known, others) for side in sides)
        if isinstance(value, ir.Const | ir.Number | ir.Extent | ir.ThreadField):
            return self.is_common(self.value(value, Warps((), {}, self.everyone)))
        return False

    def without_trips(self, one: ir.For | ir.While, classes: list[Warps]) -> list[Warps] | None:
        """The warps after a loop whose first test is false for all lanes; else None."""
        if isinstance(one, ir.For) or has_effect(one.prelude):
            return None
        begun = self.block(one.prelude, classes)
        done = self.each(begun, lambda w: w.active.any() and self.truth(one.test, w))
        if any(isinstance(found, Unknown) for _, found in done):
            return None
        if any((np.asarray(found) & w.active).any() for w, found in done):
            return None
        return [w for w, _ in done]

    def unrolled(self, one: ir.For | ir.While, classes: list[Warps]) -> list[Warps]:
        """Execute a loop trip by trip; the number of its trips must be a number."""
        here = one.number
        left, go_on = f"break {here}", f"continue {here}"
        counts: list[Warps] = classes
        index = f"trip {here}"
        bounds = f"bounds {here}"
        if isinstance(one, ir.For):
            done = self.each(
                classes, lambda w: self.bounds(one, w) if w.active.any() else (Term({}),) * 3
            )
            counts = [replace(w, env={**w.env, bounds: found}) for w, found in done]
        for trip in range(LONGEST + 1):
            if isinstance(one, ir.For):

                def goes(w: Warps, trip: int = trip) -> Any:
                    if not w.active.any():
                        return False
                    start, stop, step = w.env[bounds]
                    return self.is_before(start + step * trip, stop, step)

                done = self.tests(counts, goes)
                counts = []
                for w, found in done:
                    w = self.leave(w, left, ~np.broadcast_to(np.asarray(found), w.mask.shape))
                    if w.active.any():
                        start, _, step = w.env[bounds]
                        w = self.set(w, one.target, start + step * trip)
                    counts.append(w)
            else:
                counts = self.block(one.prelude, counts)
                done = self.tests(
                    counts, lambda w: self.truth(one.test, w) if w.active.any() else False
                )
                if any(isinstance(found, Unknown) for _, found in done):
                    raise Undecided("a loop depends on what is in memory")
                counts = [
                    self.leave(w, left, ~np.broadcast_to(np.asarray(found), w.mask.shape))
                    for w, found in done
                ]
            if not any(w.active.any() for w in counts):
                break
            if trip == LONGEST:
                raise Endless
            self.loops.append(here)
            try:
                counts = self.block(one.body, counts)
            finally:
                self.loops.pop()
            counts = [self.meet(w, go_on) for w in counts]
        result = []
        for w in counts:
            w = self.meet(w, left)
            env = {k: v for k, v in w.env.items() if k not in (bounds, index)}
            result.append(replace(w, env=env))
        return result

    def tests(self, classes: list[Warps], test: Callable[[Warps], Any]) -> list[tuple[Warps, Any]]:
        """Return which lanes make a trip; it must not depend on the sizes."""
        try:
            return self.each(classes, test)
        except Split as split:
            if split.name in self.facts.lows or split.assumed is not None:
                raise Endless from None
            raise

    def bounds(self, one: ir.For | ir.While, w: Warps) -> tuple[Term, Term, Term]:
        """start, stop and step of a range; or those of a while loop that counts as a range does."""
        if isinstance(one, ir.While):
            return self.bounds_of_test(one, w)
        found = tuple(self.value(part, w) for part in (one.start, one.stop, one.step))
        if any(not isinstance(part, Term) for part in found):
            raise Undecided("the range of a loop depends on what is in memory")
        return found

    def bounds_of_test(self, one: ir.While, w: Warps) -> tuple[Term, Term, Term]:
        """The range of `while i < n`, where each trip adds the same number to i and n is fixed."""
        name = f"trip {one.number}"
        trip = symbol(name)
        test = one.test
        further = {"<": 0, "<=": 1, ">": 0, ">=": -1}
        if one.prelude or not isinstance(test, ir.Compare) or test.op not in further:
            raise Undecided("the number of trips of a loop with such a test")
        at, stop = self.value(test.left, w), self.value(test.right, w)
        if not isinstance(at, Term) or not isinstance(stop, Term):
            raise Undecided("a loop depends on what is in memory")
        parts = at.by_power(name) or {}
        start, step = parts.get(0, Term({})), parts.get(1, Term({}))
        sign = 1 if test.op.startswith("<") else -1
        fixed = name not in stop.symbols and name not in step.symbols and at == start + step * trip
        if not fixed or not self.facts.bound(step * sign - 1) >= 0:
            raise Undecided("a while loop whose number of trips differs among lanes")
        return start, stop + further[test.op], step

    def symbolic_loop(
        self, one: ir.For | ir.While, classes: list[Warps], known: bool = True
    ) -> list[Warps]:
        """Execute a loop once, with a symbol for the number of the trip.

        A variable without a rule must not be used, unless it counts as one that is not `known`.
        """
        name = f"trip {one.number}"
        if any(isinstance(s, ir.Jump | ir.Leave) for s in statements(one.body)):
            raise Undecided("the number of trips of a loop that lanes leave early")
        if isinstance(one, ir.While) and has_effect(one.prelude):
            raise Undecided("the number of trips of a loop whose test accesses memory")
        trip = symbol(name)
        idle = [w for w in classes if not w.active.any()]
        classes = [w for w in classes if w.active.any()]
        changed = {t for s in statements(one.body) for t in targets(s)}
        carried, steady = self.carried(one, classes, changed, trip, known)
        try:
            if isinstance(one, ir.For):
                raise Undecided("no test")
            done = self.each(carried, lambda w: self.trips_of_test(one, w, name))
            counts = [found for _, found in done]
            if any(count != counts[0] for count in counts):
                raise Undecided("a while loop whose number of trips differs among warps")
            carried = [w for w, _ in done]
        except Undecided:
            done = self.each(carried, lambda w: self.trips_of(one, w))
            counts = [found[0] for _, found in done]
            carried = [replace(w, env={**w.env, name: found[1]}) for w, found in done]
            if isinstance(one, ir.For):
                values = [(w, w.env[name][0] + w.env[name][2] * trip) for w in carried]
                carried = [replace(w, env={**w.env, one.target: at}) for w, at in values]
        most = counts[0]
        for count in counts[1:]:
            if self.facts.bound(count - most) >= 0 or (
                not self.facts.bound(most - count) >= 0 and np.all(self.facts.holds(count - most))
            ):
                most = count
        any_trip = self.facts.holds(most - 1)
        if not any_trip and isinstance(one, ir.For):
            return [*([self.set(w, one.target, UNKNOWN) for w in classes]), *idle]
        if any_trip:
            self.pieces(one, carried, Range(name, Term({}), most), steady)
        result = []
        together = self.trips_agree(carried, name, counts)
        for w in carried:
            env = dict(w.env)
            env.pop(name, None)
            if isinstance(one, ir.For):
                env[one.target] = UNKNOWN
            for target in changed:
                value = env.get(target)
                if isinstance(value, Term) and target in steady and together:
                    env[target] = value = value.with_values({name: most})
                    if steady[target] == "halve" and isinstance(value.number, Fraction):
                        env[target] = Term.of(math.floor(value.number))
                elif isinstance(value, InTurn) and target in steady and together:
                    env[target] = replace(value, count=most)
                elif target in self.needed and known:
                    env.pop(target, None)
                else:
                    env[target] = UNKNOWN
            result.append(replace(w, env=env))
        return [*result, *idle]

    def trips_agree(self, classes: list[Warps], name: str, counts: list[Term]) -> bool:
        """Return whether all lanes make as many trips."""
        for w in classes:
            own = {r.name for r in w.ranges}
            terms = w.env.get(name, ())
            if any(not one.is_uniform or own & self.facts.symbols_in(one) for one in terms):
                return False
        return all(count == counts[0] for count in counts)

    def trips_of(self, one: ir.For | ir.While, w: Warps) -> tuple[Term, tuple[Term, Term, Term]]:
        """At most as many trips as a warp of the class makes, and the range."""
        start, stop, step = bounds = self.bounds(one, w)
        active = w.active
        if not step.is_uniform:
            raise Undecided("a range whose step differs among lanes")
        up = self.is_up(step)
        length = (stop - start if up else start - stop).of_lanes(active)
        if not length.is_uniform:
            length = Term(
                {
                    p: simple(v.max() if isinstance(v, np.ndarray) else v)
                    for p, v in length.parts.items()
                }
            )
        for r in reversed(w.ranges):
            self.check_sum(r, [length], symbol(r.name))
            parts = length.by_power(r.name)
            if parts is None:
                raise Undecided(
                    "a number of trips that depends on the warp in a way without a rule"
                )
            for power in sorted(parts):
                if power:
                    at = r.high - 1 if self.facts.bound(parts[power]) >= 0 else r.low
                    if not (
                        self.facts.bound(parts[power]) >= 0 or self.facts.bound(-parts[power]) >= 0
                    ):
                        raise Undecided(
                            "a number of trips that depends on the warp in a way without a rule"
                        )
                    length = (
                        length - parts[power] * symbol(r.name) ** power + parts[power] * at**power
                    )
        size = step if up else -step
        if not self.facts.holds(length - 1):
            return Term({}), bounds
        count, _ = self.facts.divmod(length + size - 1, size)
        return count, bounds

    def trips_of_test(self, one: ir.While, w: Warps, name: str) -> Term:
        """The number of trips that a test allows, whose terms change steadily."""
        test = one.test
        if not isinstance(test, ir.Compare):
            raise Undecided("the number of trips of a loop with such a test")
        self.facts.lows[name] = 0
        try:
            left, right = self.value(test.left, w), self.value(test.right, w)
            if not isinstance(left, Term) or not isinstance(right, Term):
                raise Undecided("a loop depends on what is in memory")
            if test.op[0] not in "<>":
                raise Undecided("the number of trips of a loop with such a test")
            term = (right - left if test.op[0] == "<" else left - right) - int(len(test.op) == 1)
            own = {r.name for r in w.ranges}
            if not term.is_uniform or own & self.facts.symbols_in(term):
                raise Undecided("a while loop whose number of trips differs among lanes")
            line = term if not any(e for _, e in term.parts) else self.facts.straight(term)
            parts = line.by_power(name) if line is not None else None
            if parts is None or set(parts) - {0, 1} or 1 not in parts:
                raise Undecided("the number of trips of a loop whose test changes without a rule")
            rate, rest = parts[1], parts.get(0, Term({}))
            if not self.facts.bound(-rate - Fraction(1, 2**20)) >= 0:
                raise Undecided("whether a loop ends")
            if not self.facts.holds(rest):
                return Term({})
            return self.facts.divmod(rest, -rate)[0] + 1
        finally:
            self.facts.lows.pop(name, None)

    def carried(
        self,
        one: ir.For | ir.While,
        classes: list[Warps],
        changed: set[str],
        trip: Term,
        known: bool,
    ) -> tuple[list[Warps], dict[str, str]]:
        """The variables at the begin of a trip, and the kinds of those that change steadily."""
        names = sorted(changed & self.needed)
        steady: dict[str, str] = {}
        step = Steps(one.body, names)
        result = []
        for w in classes:
            env = {k: v for k, v in w.env.items() if k not in changed}
            env.update(dict.fromkeys(changed - self.needed if known else changed, UNKNOWN))
            for name in names:
                start = w.env.get(name)
                rule = step.rules.get(name)
                if rule is None or not isinstance(start, Term):
                    continue
                kind, amount = rule
                if kind in ("swap", "toggle"):
                    other = w.env.get(amount) if kind == "swap" else start * -1 + amount
                    if not isinstance(other, Term):
                        continue
                    env[name] = InTurn(start, other)
                elif kind == "add":
                    by = (
                        self.value(amount, replace(w, env=env))
                        if set(names_of(amount)).isdisjoint(changed)
                        else None
                    )
                    if not isinstance(by, Term):
                        continue
                    env[name] = start + by * trip
                elif kind == "scale":
                    env[name] = start * power_of_two(trip * amount)
                else:
                    ((product, value),) = (
                        start.parts.items() if len(start.parts) == 1 else [(None, 0)]
                    )
                    if product is None or product[0] or not start.is_uniform or not is_power(value):
                        continue
                    env[name] = start * power_of_two(trip * -amount)
                steady[name] = kind
            result.append(replace(w, env=env))
        return result, steady

    def pieces(
        self, one: ir.For | ir.While, classes: list[Warps], whole: Range, steady: dict[str, str]
    ) -> None:
        """Execute the trips of a range, divided where the body depends on the trip."""
        saved = dict(self.rows), dict(self.totals)
        try:
            self.pieces_of_trips(one, classes, whole, steady)
        except Undecided as reason:
            self.rows, self.totals = saved
            ranged = all(whole.name in w.env for w in classes)
            try:
                done = ranged and self.flattened(one, classes, whole)
            except Undecided:
                raise reason from None
            if not done:
                raise

    def flattened(self, one: ir.For | ir.While, classes: list[Warps], trips: Range) -> bool:
        """Execute all trips of all warps as those of one range of warps, if they are numbered so.

        The number of a warp plus the number of warps times that of the trip takes each value once.
        """
        if len(classes) != 1 or len(classes[0].ranges) != 1 or classes[0].ranges[0].low.parts:
            return False
        (w,) = classes
        if len(w.mask) > self.width:
            return False
        (warp,) = w.ranges
        start, stop, step = w.env[trips.name]
        if not stop.is_uniform or not step.is_uniform:
            return False
        number = warp.high * trips.high
        parts = start.by_power(warp.name)
        if parts is not None and set(parts) in ({0, 1}, {1}):
            size = parts[1]
            last = self.facts.exact(stop, size)
            if step != size * warp.high or last is None or not isinstance(size.number, int):
                return False
            rest = (
                self.facts.holds(parts.get(0, Term({}))),
                self.facts.holds(size - 1 - parts.get(0, Term({}))),
            )
            if not np.all(rest[0]) or not np.all(rest[1]):
                return False
            number = last
        elif start.parts or step != 1:
            return False
        number = self.facts.reduced(number)
        together = Range(f"turn {one.number}", Term({}), number)
        value = symbol(together.name) - warp.high * symbol(trips.name)
        before = self.rows
        self.rows = {}
        try:
            with self.facts.within([trips]):
                with self.facts.within([together]):
                    new = self.with_values(replace(w, ranges=(together,)), {warp.name: value})
                self.trip(one, [new])
            for site, row in self.rows.items():
                if any(
                    trips.name in term.symbols for term in (row.requests, row.stages, row.rounds)
                ):
                    return False
                if row.space == "shared" or row.requests != row.rounds * number:
                    return False
                made = ((trips.high, warp.high, row.made),) if row.made else ()
                self.rows[site] = replace(row, rounds=row.rounds * trips.high, made=made)
            self._check_sums(trips)
        except Split as split:
            self.rows = before
            if split.name == trips.name:
                raise Undecided("a loop whose trips cost differently") from None
            raise
        except Undecided:
            self.rows = before
            return False
        found, self.rows = self.rows, before
        added(self.rows, found)
        return True

    def pieces_of_trips(
        self, one: ir.For | ir.While, classes: list[Warps], whole: Range, steady: dict[str, str]
    ) -> None:
        """Execute the trips of a range, divided where the body depends on the trip."""
        todo: list[tuple[Range, Term | None, int]] = [(whole, None, 1)]
        if set(steady.values()) & {"swap", "toggle"}:
            halves = divided_range(self.facts, whole, Split(whole.name, modulus=2))
            todo = [(part, value, 1) for part, value in halves]
        done = 0
        while todo:
            range_, value, copies = todo.pop()
            done += 1
            if done > 4 * LONGEST:
                raise Undecided("a loop with too many different trips")
            if not self.may_be(range_.low, range_.high):
                continue
            length = (range_.high - range_.low).number
            rows, totals = self.rows, dict(self.totals)
            self.rows = {}
            name = whole.name
            if length == 1:
                inner = value if value is not None else symbol(name)
                value = inner.with_values({range_.name: range_.low})
            trips = self.trips
            try:
                start = [w if value is None else self.in_trip(w, name, value) for w in classes]
                start = [self._in_turn(w, value) for w in start]
                self.trips *= copies
                with self.facts.within([] if length == 1 else [range_]):
                    self._check_steady(start, steady)
                    self.trip(one, start)
                if length != 1:
                    self._check_sums(range_)
            except (Undecided, Split) as split:
                self.rows, self.totals = rows, totals
                own = isinstance(split, Split) and split.name == range_.name and split.modulus
                if copies > 1 and value is not None and not own:
                    # It may be open for the trips together, and not for each.
                    singles = reversed([value.of_lanes(copy) for copy in range(copies)])
                    todo.extend((range_, single, 1) for single in singles)
                    continue
                if not isinstance(split, Split):
                    raise
                if split.name != range_.name or length == 1:
                    raise
                ranged = all(name in w.env for w in classes)
                if ranged and range_ == whole and split.at is not None:
                    split = Split(name, at=whole.high - 1)  # the last trip may be for some lanes
                elif split.at is not None:
                    for inside in (split.at - range_.low, range_.high - split.at):
                        if not self.facts.holds(inside):
                            raise Undecided("whether {} is negative", inside) from None
                parts = divided_range(self.facts, range_, split)
                if split.at is not None:
                    todo.extend((part, value, 1) for part, _ in reversed(parts))
                    continue
                residues = [(part, term) for part, term in parts if term is not None]
                most = max((len(w.mask) for w in classes), default=0) * copies
                for part, term, by in reversed(self.together(residues, most)):
                    before = symbol(name) if value is None else copied(value, by)
                    new = before.with_values({range_.name: repeated(term, copies)})
                    todo.append((part, new, copies * by))
                continue
            finally:
                self.trips = trips
            found, self.rows = self.rows, rows
            if length != 1:
                sums = range_.name, range_.low, range_.high
                found = {site: row.summed(*sums) for site, row in found.items()}
            added(self.rows, found)

    def in_trip(self, w: Warps, name: str, value: Term) -> Warps:
        """Warps in a trip, or in several: they then have lanes for each of them."""
        copies = next((len(v) for v in value.parts.values() if isinstance(v, np.ndarray)), 1)
        if copies > 1:
            value = repeated(value, len(w.mask))
            w = spread(w, lambda lanes: np.tile(lanes, copies))
        return self.with_values(w, {name: value})

    def _in_turn(self, w: Warps, trip: Term | None) -> Warps:
        """The values of variables that take turns, in a trip of known parity."""
        if trip is None or not any(isinstance(v, InTurn) for v in w.env.values()):
            return w
        rest = self.facts.divmod(trip, Term.of(2))[1].number
        if not isinstance(rest, int):
            raise Undecided("trips of both parities")
        env = {
            k: (v.odd if rest else v.even) if isinstance(v, InTurn) and v.count is None else v
            for k, v in w.env.items()
        }
        return replace(w, env=env)

    def _check_steady(self, classes: list[Warps], steady: dict[str, str]) -> None:
        """Make sure that halves are whole."""
        for w in classes:
            for name, kind in steady.items():
                value = w.env.get(name)
                if kind != "add" and isinstance(value, Term):
                    for product, factor in value.parts.items():
                        if self.facts.share(product, factor, ONE, 1) is None:
                            raise Undecided("whether {} is halved beyond 1", name)

    def _check_sums(self, over: Range) -> None:
        """Make sure that no quotient hides the symbol of the sums over trips."""
        for row in self.rows.values():
            for term in (row.busy, row.rounds, row.requests, row.stages):
                self.check_sum(over, [term], "the trips")

    def trip(self, one: ir.For | ir.While, classes: list[Warps]) -> None:
        """One trip, for the lanes that make it."""
        name = f"trip {one.number}"
        if any(name in w.env for w in classes):

            def goes(w: Warps) -> Any:
                if isinstance(one, ir.While):
                    return self.truth(one.test, w)
                _, stop, step = w.env[name]
                return self.is_before(w.env[one.target], stop, step)

            done = self.each(classes, goes)
            classes = [
                replace(w, mask=w.mask & np.broadcast_to(np.asarray(found), w.mask.shape))
                for w, found in done
            ]
            classes = [w for w in classes if w.active.any()]
        self.block(one.body, classes)

    def is_up(self, step: Term) -> bool:
        """Return whether the numbers of a range rise."""
        return bool(np.all(self.facts.holds(step - 1)))

    def is_before(self, at: Term, stop: Term, step: Term) -> Any:
        """Return for which lanes a number of a range is before its end."""
        return self.facts.holds(stop - at - 1 if self.is_up(step) else at - stop - 1)


def rows_time(rows: Rows, latencies: dict[str, Term]) -> Term:
    """The synchronous time: stages, and latency - 1 for each round."""
    times = (row.busy + row.rounds * (latencies[row.space] - 1) for row in rows.values())
    return sum(times, Term({}))
