"""The cost of a program with symbols for its sizes: what the sequencer of lock step does, in terms.

All warps of a launch execute the program together. Warps that do the same are one `Warps`: a range
of warps, with the values of their variables as terms and a mask of active lanes. A loop is executed
once, with a symbol for the number of its trips. Where a fact depends on a symbol, `Split` divides the
warps, the loop, or (by the caller) the sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from mmsim.errors import Place
from mmsim.ir import nodes as ir
from mmsim.ir.walk import all_parts, expressions, has_effect, numbered, statements, targets
from mmsim.proof.facts import Facts, Range, Split, Undecided, is_power
from mmsim.proof.stages import stages
from mmsim.proof.terms import ONE, Term, power_of_two, simple, summed, symbol, total


class Unknown:
    """A value that depends on memory."""

    def __repr__(self) -> str:
        return "unknown"


class Endless(Exception):
    """A loop that can't be executed trip by trip: its trips are no number."""


UNKNOWN = Unknown()
Value = Any
"""A `Term`, an array of bool for the lanes, or `UNKNOWN`."""
LONGEST = 130
DEBUG = bool(__import__("os").environ.get("DBG"))
"""The most trips of a loop that is executed trip by trip."""


@dataclass(frozen=True)
class InTurn:
    """The value of a variable in trips of even and of odd numbers."""

    even: Term
    odd: Term


@dataclass(frozen=True)
class Warps:
    """Warps that do the same: their ranges, variables, and lanes.

    `gone` are lanes that have left: "" the program, a loop's number or a scope's name that.
    `outer` has, for each branch around, the mask before it and its test. `place` has terms for the
    numbers of the block and the warp.
    """

    ranges: tuple[Range, ...]
    env: dict[str, Value]
    mask: np.ndarray
    gone: dict[str, np.ndarray] = field(default_factory=dict)
    outer: tuple[tuple[np.ndarray, np.ndarray], ...] = ()
    place: dict[str, Term] = field(default_factory=lambda: {"block": Term({}), "warp": Term({})})

    @property
    def active(self) -> np.ndarray:
        """The lanes that execute a statement."""
        found = self.mask
        for lanes in self.gone.values():
            found = found & ~lanes
        return found


@dataclass
class Row:
    """An access of the program: requests, stages and rounds of all its executions.

    `busy` is the sum over rounds of the stages of the unit that has most of them.
    """

    place: Place
    array: str
    kind: str
    space: str
    requests: Term = field(default_factory=lambda: Term({}))
    stages: Term = field(default_factory=lambda: Term({}))
    busy: Term = field(default_factory=lambda: Term({}))
    rounds: Term = field(default_factory=lambda: Term({}))
    words: Term = field(default_factory=lambda: Term({}))

    def summed(self, over: str, low: Term, high: Term) -> Row:
        """The sums over a loop's trips."""
        return self.map(lambda term: total(term, over, low, high))

    def map(self, changed: Callable[[Term], Term]) -> Row:
        """The row with other terms."""
        names = ("requests", "stages", "busy", "rounds", "words")
        return replace(self, **{name: changed(getattr(self, name)) for name in names})


Rows = dict[int, Row]


def added(rows: Rows, more: Rows) -> None:
    """Add the costs of more executions."""
    for site, row in more.items():
        if site not in rows:
            rows[site] = row
        else:
            old = rows[site]
            rows[site] = replace(
                old,
                requests=old.requests + row.requests,
                stages=old.stages + row.stages,
                busy=old.busy + row.busy,
                rounds=old.rounds + row.rounds,
                words=old.words + row.words,
            )


@dataclass(frozen=True)
class Sizes:
    """A launch of which the sizes are terms, and the width a number."""

    code: ir.Code
    shapes: dict[str, tuple[Term, ...]]
    numbers: dict[str, Term]
    threads: Term
    block_size: Term
    width: int
    unit: str
    dmms: Term | None = None
    contents: dict[str, Callable[..., Term]] = field(default_factory=dict)
    stages: dict[str, Term] = field(default_factory=dict)


class Execution:
    """Executes a program; `rows` are its accesses by their numbers."""

    def __init__(self, sizes: Sizes, facts: Facts) -> None:
        self.sizes = sizes
        self.facts = facts
        self.rows: Rows = {}
        self.totals: dict[int, Term] = {}
        self.width = sizes.width
        self.lanes = np.arange(self.width)
        self.everyone = np.ones(self.width, dtype=bool)
        self.loops: list[int] = []
        if sizes.block_size != sizes.threads and not _knows_blocks(sizes.code):
            if not facts.divmod(sizes.block_size, Term.of(self.width))[1].parts:
                sizes = self.sizes = replace(sizes, block_size=sizes.threads)
        self.blocks, rest = facts.divmod(sizes.threads, sizes.block_size)
        if rest.parts:
            raise Undecided("blocks of different sizes")
        self.warps, self.partial = facts.divmod(sizes.block_size, Term.of(self.width))
        if self.partial.number is None:
            raise facts.residue(self.partial, self.width)
        self.body = body = numbered(sizes.code.body)
        self.needed = _needed(body, sizes.stages)
        self.local = {one.name: one for one in sizes.code.locals}
        self.exchanged = {one.target for one in statements(body) if isinstance(one, ir.Exchange)}

    def run(self) -> Rows:
        """Execute the whole program."""
        facts = self.facts
        classes = []
        blocks = Range("block", Term({}), self.blocks)
        many = self.blocks != Term.of(1)
        for low, high, mask in (
            (Term({}), self.warps, self.everyone),
            (self.warps, self.warps + 1, self.lanes < int(self.partial.number)),
        ):
            if not mask.any() or not facts.holds(high - low - 1):
                continue
            ranges = (Range("warp", low, high),)
            place = {"warp": symbol("warp"), "block": symbol("block") if many else Term({})}
            classes.append(Warps((blocks, *ranges) if many else ranges, {}, mask, place=place))
        self.block(self.body, classes)
        for site, value in self.totals.items():
            row = self.rows[site]
            self.rows[site] = replace(row, stages=value, busy=value)
        return self.rows

    # Statements.

    def block(self, body: ir.Block, classes: list[Warps]) -> list[Warps]:
        """Execute statements one after the other."""
        for statement in body:
            classes = [one for one in classes]
            if not any(one.active.any() for one in classes):
                return classes
            try:
                classes = self.statement(statement, classes)
            except Undecided as error:
                if not hasattr(error, "place"):
                    error.place = getattr(statement, "place", None)  # type: ignore[attr-defined]
                raise
        return classes

    def each(
        self, classes: Sequence[Warps], action: Callable[[Warps], Any]
    ) -> list[tuple[Warps, Any]]:
        """An action for each class of warps, divided where the action depends on the warp."""
        todo, done = list(reversed(classes)), []
        while todo:
            one = todo.pop()
            try:
                with self.facts.within(one.ranges):
                    done.append((one, action(one)))
            except Split as split:
                ranges = [r for r in one.ranges if r.name == split.name]
                if not ranges:
                    raise
                todo.extend(reversed(self.divided(one, ranges[0], split)))
        return done

    def divided(self, one: Warps, range_: Range, split: Split) -> list[Warps]:
        """Two parts of a class of warps, below and from a number on; or one for each residue."""
        at = one.ranges.index(range_)
        before, after = one.ranges[:at], one.ranges[at + 1 :]
        with self.facts.within(before):
            parts = [
                (part, value)
                for part, value in self.parts(range_, split)
                if self.may_be(part[-1].low, part[-1].high)
            ]
        if not parts:
            raise Undecided(f"the parts of {range_.name}")
        found = []
        for part, value in parts:
            new = replace(one, ranges=(*before, *part, *after))
            if value is not None:
                values = {range_.name: value}
                later = tuple(
                    replace(r, low=r.low.with_values(values), high=r.high.with_values(values))
                    for r in after
                )
                new = replace(new, ranges=(*before, *part, *later))
                with self.facts.within(new.ranges):
                    new = self.with_values(new, values)
            found.append(new)
        return found

    def parts(self, one: Range, split: Split) -> list[tuple[tuple[Range, ...], Term | None]]:
        """The parts of a range; by a divisor, the numbers of the quotient and of the rest."""
        if split.divisor is None:
            return [((part,), value) for part, value in divided_range(self.facts, one, split)]
        rows = self.facts.divided_by(one.high, split.divisor)
        if rows is None or one.low.parts:
            raise Undecided(f"{one.name} divided by {split.divisor}")
        outer = f"{one.name} row"
        ranges = Range(outer, Term({}), rows), Range(one.name, Term({}), split.divisor)
        return [(ranges, symbol(outer) * split.divisor + symbol(one.name))]

    def may_be(self, low: Term, high: Term) -> bool:
        """Return whether a range may have a number; it must not end before it begins."""
        if self.facts.bound(high - low) >= 0:
            return not self.facts.bound(low - high) >= 0
        return bool(self.facts.holds(high - low - 1))

    def with_values(self, w: Warps, values: dict[str, Term]) -> Warps:
        """Warps with terms for symbols, within quotients too."""
        env = {k: self.with_quotients(v, values) for k, v in w.env.items()}
        place = {k: v.with_values(values) for k, v in w.place.items()}
        return replace(w, env=env, place=place)

    def with_quotients(self, value: Value, values: dict[str, Term]) -> Value:
        """A value with terms for symbols, also for those that a quotient hides."""
        if isinstance(value, tuple):
            return tuple(self.with_quotients(one, values) for one in value)
        if not isinstance(value, Term):
            return value
        found = {}
        for name in value.symbols & self.facts.quotients.keys():
            if self.facts.hidden(name) & values.keys():
                of = self.facts.quotients[name]
                if of.rest != of.below:
                    raise Undecided(f"the residue of {', '.join(values)} in {name}")
                above, below = (self.with_quotients(t, values) for t in (of.above, of.below))
                found[name] = self.facts.divmod(above, below)[0]
        return value.with_values({**values, **found})

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
                return [self.leave(each, name) for each in classes]
            case ir.Scope():
                classes = self.block(one.body, classes)
                return [self.meet(each, one.name) for each in classes]
            case ir.Forget():
                return [
                    replace(each, env={k: v for k, v in each.env.items() if k not in one.names})
                    for each in classes
                ]

    def leave(self, one: Warps, name: str) -> Warps:
        """The active lanes leave."""
        gone = dict(one.gone)
        gone[name] = gone.get(name, ~self.everyone) | one.active
        return replace(one, gone=gone)

    def meet(self, one: Warps, name: str) -> Warps:
        """The lanes that left a part meet the others again."""
        if name not in one.gone:
            return one
        return replace(one, gone={k: v for k, v in one.gone.items() if k != name})

    def set(self, one: Warps, name: str, value: Value) -> Warps:
        """An assignment to a variable by the active lanes."""
        active = one.active
        if not active.any():
            return one
        old = one.env.get(name)
        if old is not None and not active.all() and not (active == one.mask).all():
            value = merged(active, value, old)
        elif old is not None and not active.all():
            value = merged(active, value, old)
        return replace(one, env={**one.env, name: value})

    def assign(self, one: ir.Assign, classes: list[Warps]) -> list[Warps]:
        if one.target not in self.needed:
            return [self.set(each, one.target, UNKNOWN) for each in classes]
        done = self.each(classes, lambda w: self.value(one.value, w) if w.active.any() else None)
        return [self.set(w, one.target, value) if w.active.any() else w for w, value in done]

    def branch(self, one: ir.If, classes: list[Warps]) -> list[Warps]:
        def test(warps: Warps) -> Any:
            return self.truth(one.test, warps) if warps.active.any() else ~self.everyone

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
            lanes = np.broadcast_to(np.asarray(found), self.everyone.shape)
            begun.append(replace(w, mask=w.mask & lanes, outer=(*w.outer, (w.mask, lanes))))
        after = self.block(one.then, begun)
        if one.orelse:
            after = [replace(w, mask=w.outer[-1][0] & ~w.outer[-1][1]) for w in after]
            after = self.block(one.orelse, after)
        return [replace(w, mask=w.outer[-1][0], outer=w.outer[:-1]) for w in after]

    def _matters(self, one: ir.Stmt) -> bool:
        """Return whether a statement has accesses, or jumps."""
        kinds = (
            ir.Load,
            ir.Store,
            ir.Atomic,
            ir.VectorLoad,
            ir.VectorStore,
            ir.Break,
            ir.Continue,
            ir.Return,
            ir.Leave,
        )
        return any(isinstance(s, kinds) for s in statements((one,)))

    def _unknown(self, one: Warps, names: set[str]) -> Warps:
        return replace(one, env={**one.env, **dict.fromkeys(names, UNKNOWN)})

    # Accesses.

    def access(self, one: ir.Access, classes: list[Warps]) -> list[Warps]:
        """One round: every warp with an active lane sends a request."""
        done = self.each(classes, lambda w: self.any_residue(one, w) if w.active.any() else None)
        sent = [(w, found) for w, found in done if found is not None]
        if sent:
            added(self.rows, {one.site: self.round(one, sent)})
        result = []
        for w, found in done:
            for name in targets(one):
                value = found[1] if found is not None and name in self.needed else UNKNOWN
                w = self.set(w, name, value)
            result.append(w)
        return result

    def any_residue(self, one: ir.Access, w: Warps) -> tuple[Term, Value, Term]:
        """A request whose stages may depend on a quotient's residue: they must be the same."""
        try:
            return self.request(one, w)
        except Split as split:
            name, by = split.name, split.modulus
            if name not in self.facts.quotients or not by:
                raise
        found = []
        before = dict(self.facts.replaced)
        for residue in range(by):
            term = self.facts.with_residue(name, by, residue)
            self.facts.replaced = {**before, name: term}
            try:
                found.append(self.any_residue(one, _with(w, {name: term})))
            finally:
                self.facts.replaced = before
        if any(one[0] != found[0][0] for one in found):
            raise Undecided(f"the residue of {name} modulo {by}")
        stages_, _, words = found[0]
        return stages_, UNKNOWN, words

    def request(self, one: ir.Access, w: Warps) -> tuple[Term, Value, Term]:
        """The stages of a request, the value read, and its words."""
        active = w.active
        count = int(active.sum())
        several = max(
            1,
            len(targets(one))
            if isinstance(one, ir.VectorLoad)
            else len(one.values)
            if isinstance(one, ir.VectorStore)
            else 1,
        )
        try:
            index = [self.value(i, w) for i in one.index]
        except Undecided:
            if one.array not in self.sizes.stages:
                raise
            index = [UNKNOWN]
        value: Value = UNKNOWN
        if any(isinstance(i, Unknown) for i in index):
            given = self.sizes.stages.get(one.array)
            if given is None:
                raise Undecided(
                    f"the index of {one.array} is read from memory; give the stages of its requests"
                )
            return given, UNKNOWN, Term.of(count * several)
        if (
            isinstance(one, ir.Load)
            and one.array in self.sizes.contents
            and one.target in self.needed
        ):
            value = self.sizes.contents[one.array](*index)
        shape = self.shape(one.array)
        if len(index) != len(shape):
            if len(index) == 1:
                shape = (summed([_product(shape)]),)
            else:
                raise Undecided(f"an index of {one.array} with {len(index)} numbers")
        terms = [term.of_lanes(active) for term in index]
        for at, term in enumerate(terms):
            low = self.facts.holds(term)
            if not np.all(low):
                if not np.any(low) and several == 1:  # all count from the end
                    terms[at] = term + shape[at]
                else:
                    mixed = np.broadcast_to(low, (count,))
                    terms[at] = merged(mixed, term, term + shape[at])
        offset = Term({})
        for term, extent in zip(terms, shape, strict=True):
            offset = offset * extent + term
        offset = self.facts.reduced(offset * several)
        if self.is_shared(one.array) or self.sizes.unit == "banks":
            unit = "banks"
        else:
            unit = "groups"
        words = [offset + k for k in range(several)]
        found = stages(self.facts, unit, self.width, words, count, isinstance(one, ir.Atomic))
        return Term.of(found), value, Term.of(count * several)

    def is_shared(self, array: str) -> bool:
        """Return whether an array lies in the shared memory of an HMM."""
        return array in self.local and self.sizes.dmms is not None

    def shape(self, array: str) -> tuple[Term, ...]:
        """The extents of an array."""
        if array in self.sizes.shapes:
            return self.sizes.shapes[array]
        none = Warps((), {}, self.everyone)
        return tuple(self.value(one, none) for one in self.local[array].shape)

    def round(self, one: ir.Access, sent: list[tuple[Warps, tuple[Term, Value, Term]]]) -> Row:
        """The costs of one round."""
        facts = self.facts
        requests, staged, words, busy = Term({}), Term({}), Term({}), Term({})
        rounds = Term({})
        shared = self.is_shared(one.array)
        sure = False
        plain = True
        by_blocks: dict[str, tuple[Term, Term]] = {}
        for w, (found, _, count) in sent:
            if isinstance(one, ir.Access) and found.number is None:
                self.totals[one.site] = found
                found = Term({})
            one_block = [r for r in w.ranges if r.name.startswith("warp")]
            size = Term.of(1)
            each, each_stage = Term.of(1), found
            outer = [r for r in w.ranges if r not in one_block]
            for r in reversed(one_block):
                each = total(each, r.name, r.low, r.high)
                each_stage = total(each_stage, r.name, r.low, r.high)
            size, all_stages = each, each_stage
            for r in reversed(outer):
                size = total(size, r.name, r.low, r.high)
                all_stages = total(all_stages, r.name, r.low, r.high)
            requests, staged = requests + size, staged + all_stages
            words = words + size * count
            sure = sure or self.is_sure(w)
            if shared:
                if {r.name for r in outer} & each_stage.symbols:
                    raise Undecided("stages of shared memory that differ among blocks")
                count = Term.of(1)
                for r in reversed(outer):
                    count = total(count, r.name, r.low, r.high)
                key = str((w.place["block"], [(r.name, r.low, r.high) for r in outer]))
                stages_, _ = by_blocks.get(key, (Term({}), count))
                by_blocks[key] = stages_ + each_stage, count
                plain = plain and (not outer or w.place["block"] == symbol(outer[0].name))
        rounds = Term.of(1)
        if not sure and not any([self.is_there(w) for w, _ in sent]):
            rounds = Term({})
        if shared:
            found, count = next(iter(by_blocks.values()))
            if len(by_blocks) > 1 or not plain:
                # Blocks of several kinds, all with as many stages: it doesn't matter which is where.
                count = summed(each for _, each in by_blocks.values())
                if any(each != found for each, _ in by_blocks.values()) or count != self.blocks:
                    raise Undecided("blocks that access their shared memories differently")
            dmms = self.sizes.dmms
            assert dmms is not None
            busy = found * facts.divmod(count + dmms - 1, dmms)[0]
        else:
            busy = staged
        kind = (
            "atomic"
            if isinstance(one, ir.Atomic)
            else "read"
            if isinstance(one, ir.Load | ir.VectorLoad)
            else "write"
        )
        space = "shared" if shared else "global" if self.sizes.dmms is not None else "memory"
        return Row(one.place, one.array, kind, space, requests, staged, busy, rounds, words)

    def is_sure(self, w: Warps) -> bool:
        """Return whether a class certainly has a warp."""
        for at, one in enumerate(w.ranges):
            with self.facts.within(w.ranges[:at]):
                if not self.facts.bound(one.high - one.low - 1) >= 0:
                    return False
        return True

    def is_there(self, w: Warps) -> bool:
        """Return whether a class has a warp, by a split if it is open."""
        for at, one in enumerate(w.ranges):
            with self.facts.within(w.ranges[:at]):
                if not self.facts.holds(one.high - one.low - 1):
                    return False
        return True

    # Loops.

    def loop(self, one: ir.For | ir.While, classes: list[Warps]) -> list[Warps]:
        """Execute a loop: with a symbol for its trips, or trip by trip."""
        saved = dict(self.rows), dict(self.totals)
        try:
            return self.symbolic_loop(one, classes)
        except Undecided as reason:
            if DEBUG:
                print("LOOP", one.place.line, reason)
            self.rows, self.totals = saved
            if any(
                isinstance(s, ir.Load | ir.VectorLoad) and set(targets(s)) & self.needed
                for s in statements(one.body)
            ):
                raise
            try:
                return self.unrolled(one, classes)
            except Endless:
                raise reason from None

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
                    at = start + step * trip
                    found = self.facts.holds(
                        stop - at - 1 if _positive(self.facts, step) else at - stop - 1
                    )
                    return found

                done = self.tests(counts, goes)
                counts = []
                for w, found in done:
                    w = self._leaves(
                        w, left, ~np.broadcast_to(np.asarray(found), self.everyone.shape)
                    )
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
                    self._leaves(w, left, ~np.broadcast_to(np.asarray(found), self.everyone.shape))
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
        """Whether lanes make a trip; it must not depend on the sizes."""
        try:
            return self.each(classes, test)
        except Split as split:
            if split.name in self.facts.lows or split.assumed is not None:
                raise Endless from None
            raise

    def _leaves(self, w: Warps, name: str, lanes: np.ndarray) -> Warps:
        gone = dict(w.gone)
        gone[name] = gone.get(name, ~self.everyone) | lanes
        return replace(w, gone=gone)

    def bounds(self, one: ir.For, w: Warps) -> tuple[Term, Term, Term]:
        """start, stop and step of a range."""
        found = tuple(self.value(part, w) for part in (one.start, one.stop, one.step))
        if any(not isinstance(part, Term) for part in found):
            raise Undecided("the range of a loop depends on what is in memory")
        return found  # type: ignore[return-value]

    def symbolic_loop(self, one: ir.For | ir.While, classes: list[Warps]) -> list[Warps]:
        """Execute a loop once, with a symbol for the number of the trip."""
        name = f"trip {one.number}"
        if any(
            isinstance(s, ir.Break | ir.Continue | ir.Return | ir.Leave)
            for s in statements(one.body)
        ):
            raise Undecided("a loop from which lanes leave")
        if isinstance(one, ir.While) and has_effect(one.prelude):
            raise Undecided("a loop whose test accesses memory")
        trip = symbol(name)
        idle = [w for w in classes if not w.active.any()]
        classes = [w for w in classes if w.active.any()]
        changed = {t for s in statements(one.body) for t in targets(s)}
        carried, steady = self.carried(one, classes, changed, trip)
        if isinstance(one, ir.For):
            done = self.each(carried, lambda w: self.trips_of(one, w))
            carried = [
                replace(
                    w, env={**w.env, name: found[1], one.target: found[1][0] + found[1][2] * trip}
                )
                for w, found in done
            ]
            counts = [found[0] for _, found in done]
        else:
            done = self.each(carried, lambda w: self.trips_of_test(one, w, name))
            carried, counts = [w for w, _ in done], [found for _, found in done]
        most = counts[0]
        for count in counts[1:]:
            if self.facts.bound(count - most) >= 0:
                most = count
            elif not self.facts.bound(most - count) >= 0 and np.all(self.facts.holds(count - most)):
                most = count
        if isinstance(one, ir.While) and any(count != most for count in counts):
            raise Undecided("a loop whose trips differ among warps")
        if self.facts.holds(most - 1):
            self.pieces(one, carried, Range(name, Term({}), most), steady)
        result = []
        together = isinstance(one, ir.While) or self.trips_agree(carried, name, counts)
        for w in carried:
            env = dict(w.env)
            if isinstance(one, ir.For):
                env[one.target] = UNKNOWN
                env.pop(name)
            for target in changed:
                value = env.get(target)
                if isinstance(value, Term) and target in steady and together:
                    env[target] = value = value.with_values({name: most})
                    if steady[target] == "halve" and isinstance(value.number, Fraction):
                        env[target] = Term.of(math.floor(value.number))
                elif target in self.needed:
                    env.pop(target, None)
                else:
                    env[target] = UNKNOWN
            result.append(replace(w, env=env))
        return [*result, *idle]

    def trips_agree(self, classes: list[Warps], name: str, counts: list[Term]) -> bool:
        """Return whether all lanes make as many trips."""
        for w in classes:
            own = {r.name for r in w.ranges}
            if any(not term.is_uniform or term.symbols & own for term in w.env[name]):
                return False
        return all(count == counts[0] for count in counts)

    def trips_of(self, one: ir.For, w: Warps) -> tuple[Term, tuple[Term, Term, Term]]:
        """At most as many trips as a warp of the class makes, and the range."""
        start, stop, step = bounds = self.bounds(one, w)
        active = w.active
        if not step.is_uniform:
            raise Undecided("a step that differs among lanes")
        up = _positive(self.facts, step)
        length = (stop - start if up else start - stop).of_lanes(active)
        if not length.is_uniform:
            length = Term(
                {
                    p: simple(v.max() if isinstance(v, np.ndarray) else v)
                    for p, v in length.parts.items()
                }
            )
        for r in reversed(w.ranges):
            parts = length.by_power(r.name)
            if parts is None:
                raise Undecided("a number of trips that depends on the warp")
            for power in sorted(parts):
                if power:
                    at = r.high - 1 if self.facts.bound(parts[power]) >= 0 else r.low
                    if not (
                        self.facts.bound(parts[power]) >= 0 or self.facts.bound(-parts[power]) >= 0
                    ):
                        raise Undecided("a number of trips that depends on the warp")
                    length = (
                        length - parts[power] * symbol(r.name) ** power + parts[power] * at**power
                    )
        size = step if up else -step
        if not self.facts.holds(length - 1):
            return Term({}), bounds
        count, _ = self.facts.divmod(length + size - 1, size)
        return count, bounds

    def trips_of_test(self, one: ir.While, w: Warps, name: str) -> Term:
        """How many trips a test allows, whose terms change steadily."""
        test = one.test
        if not isinstance(test, ir.Compare):
            raise Undecided("a loop with such a test")
        self.facts.lows[name] = 0
        try:
            left, right = self.value(test.left, w), self.value(test.right, w)
            if not isinstance(left, Term) or not isinstance(right, Term):
                raise Undecided("a loop depends on what is in memory")
            match test.op:
                case "<":
                    term = right - left - 1
                case "<=":
                    term = right - left
                case ">":
                    term = left - right - 1
                case ">=":
                    term = left - right
                case _:
                    raise Undecided("a loop with such a test")
            if not term.is_uniform or any(r.name in term.symbols for r in w.ranges):
                raise Undecided("a loop whose trips differ among lanes")
            line = term if not any(e for _, e in term.parts) else self.facts.straight(term)
            parts = line.by_power(name) if line is not None else None
            if parts is None or set(parts) - {0, 1} or 1 not in parts:
                raise Undecided("a loop whose number of trips has no rule")
            rate, rest = parts[1], parts.get(0, Term({}))
            if not self.facts.bound(-rate - Fraction(1, 2**20)) >= 0:
                raise Undecided("a loop that may not end")
            if not self.facts.holds(rest):
                return Term({})
            return self.facts.divmod(rest, -rate)[0] + 1
        finally:
            self.facts.lows.pop(name, None)

    def carried(
        self, one: ir.For | ir.While, classes: list[Warps], changed: set[str], trip: Term
    ) -> tuple[list[Warps], dict[str, str]]:
        """The variables at the begin of a trip, and the kinds of those that change steadily."""
        names = sorted(changed & self.needed)
        steady: dict[str, str] = {}
        step = _Steps(one.body, names)
        result = []
        for w in classes:
            env = {k: v for k, v in w.env.items() if k not in changed}
            env.update(dict.fromkeys(changed - self.needed, UNKNOWN))
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
                        if set(_names(amount)).isdisjoint(changed)
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
        except Undecided:
            self.rows, self.totals = saved
            if not isinstance(one, ir.For) or not self.flattened(one, classes, whole):
                raise

    def flattened(self, one: ir.For, classes: list[Warps], trips: Range) -> bool:
        """Execute all trips of all warps as those of one range of warps, if they are numbered so.

        The number of a warp plus the number of warps times that of the trip takes each value once.
        """
        if len(classes) != 1 or len(classes[0].ranges) != 1 or classes[0].ranges[0].low.parts:
            return False
        (w,) = classes
        (warp,) = w.ranges
        start, stop, step = w.env[trips.name]
        number = warp.high * trips.high
        parts = start.by_power(warp.name)
        if parts is not None and set(parts) == {0, 1} or parts is not None and set(parts) == {1}:
            size = parts[1]
            last = self.facts.exact(stop, size)
            if step != size * warp.high or last is None or size.number is None:
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
                self.rows[site] = replace(row, rounds=row.rounds * trips.high)
            self._check_sums(trips)
        except Split as split:
            self.rows = before
            if split.name == trips.name:
                raise Undecided("trips that differ") from None
            raise
        except Undecided:
            self.rows = before
            raise
        found, self.rows = self.rows, before
        added(self.rows, found)
        return True

    def pieces_of_trips(
        self, one: ir.For | ir.While, classes: list[Warps], whole: Range, steady: dict[str, str]
    ) -> None:
        """Execute the trips of a range, divided where the body depends on the trip."""
        todo: list[tuple[Range, Term | None]] = [(whole, None)]
        if set(steady.values()) & {"swap", "toggle"}:
            todo = list(divided_range(self.facts, whole, Split(whole.name, modulus=2)))
        done = 0
        while todo:
            range_, value = todo.pop()
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
            start = (
                [self.with_values(w, {name: value}) for w in classes]
                if value is not None
                else classes
            )
            start = [self._in_turn(w, value) for w in start]
            try:
                with self.facts.within([] if length == 1 else [range_]):
                    self._check_steady(start, steady)
                    self.trip(one, start)
                if length != 1:
                    self._check_sums(range_)
            except Split as split:
                self.rows, self.totals = rows, totals
                if split.name != range_.name or length == 1:
                    raise
                if isinstance(one, ir.For) and range_ == whole and split.at is not None:
                    split = Split(name, at=whole.high - 1)  # the last trip may be for some lanes
                elif split.at is not None:
                    for inside in (split.at - range_.low, range_.high - split.at):
                        if not self.facts.holds(inside):
                            raise Undecided(f"whether {inside} is negative") from None
                for part, term in reversed(divided_range(self.facts, range_, split)):
                    inner = value
                    if term is not None:
                        before = symbol(name) if value is None else value
                        inner = before.with_values({range_.name: term})
                    todo.append((part, inner))
                continue
            found, self.rows = self.rows, rows
            if length != 1:
                sums = range_.name, range_.low, range_.high
                found = {site: row.summed(*sums) for site, row in found.items()}
            added(self.rows, found)

    def _in_turn(self, w: Warps, trip: Term | None) -> Warps:
        """The values of variables that take turns, in a trip of known parity."""
        if trip is None or not any(isinstance(v, InTurn) for v in w.env.values()):
            return w
        rest = self.facts.divmod(trip, Term.of(2))[1].number
        env = {
            k: (v.odd if rest else v.even) if isinstance(v, InTurn) else v for k, v in w.env.items()
        }
        return replace(w, env=env)

    def _check_steady(self, classes: list[Warps], steady: dict[str, str]) -> None:
        """Make sure that halves are whole."""
        for w in classes:
            for name, kind in steady.items():
                value = w.env[name]
                if kind != "add" and isinstance(value, Term):
                    for product, factor in value.parts.items():
                        if self.facts.share(product, factor, ONE, 1) is None:
                            raise Undecided(f"{name} may be halved beyond 1")

    def _check_sums(self, over: Range) -> None:
        """Make sure that no quotient hides the symbol of a sum."""
        for row in self.rows.values():
            for term in (row.busy, row.rounds, row.requests, row.stages, row.words):
                for hidden in term.symbols & self.facts.quotients.keys():
                    if over.name in self.facts.hidden(hidden):
                        by = self.facts.quotients[hidden].below.number
                        if by is None:
                            raise Undecided(f"the sum of {hidden}")
                        raise Split(over.name, modulus=int(by))

    def trip(self, one: ir.For | ir.While, classes: list[Warps]) -> None:
        """One trip, for the lanes that make it."""
        if isinstance(one, ir.For):
            name = f"trip {one.number}"

            def goes(w: Warps) -> Any:
                start, stop, step = w.env[name]
                at = w.env[one.target]
                return self.facts.holds(
                    (stop - at - 1 if _positive(self.facts, step) else at - stop - 1)
                )

            done = self.each(classes, goes)
            classes = [
                replace(w, mask=w.mask & np.broadcast_to(np.asarray(found), self.everyone.shape))
                for w, found in done
            ]
            classes = [w for w in classes if w.active.any()]
        self.block(one.body, classes)

    # Expressions.

    def value(self, value: ir.Expr, w: Warps) -> Value:
        """The value of an expression for each lane."""
        match value:
            case ir.Const(value=number):
                if isinstance(number, bool) or not isinstance(number, int):
                    return UNKNOWN
                return Term.of(number)
            case ir.Var(name=name):
                if name not in w.env:
                    raise Undecided(f"{name} changes from trip to trip without a rule")
                return w.env[name]
            case ir.Number(name=name):
                return self.sizes.numbers.get(name, UNKNOWN)
            case ir.Extent(array=array, axis=axis):
                shape = self.shape(array)
                if axis == "ndim":
                    return Term.of(len(shape))
                return _product(shape) if axis is None else shape[axis]
            case ir.ThreadField(field=name):
                return self.field(name, w)
            case ir.Unary(op=op, operand=operand):
                inner = self.value(operand, w)
                if isinstance(inner, Term):
                    if op == "-":
                        return -inner
                    if op in ("+", "int", "int32", "int64"):
                        return inner
                return UNKNOWN
            case ir.Binary(op=op, left=left, right=right):
                return self.binary(op, self.value(left, w), self.value(right, w), w)
            case ir.Choose(test=test, then=then, other=other):
                found = self.truth(test, w)
                if isinstance(found, Unknown):
                    return UNKNOWN
                lanes = np.broadcast_to(np.asarray(found), self.everyone.shape)
                if lanes[w.active].all():
                    return self.value(then, w)
                if not lanes[w.active].any():
                    return self.value(other, w)
                return merged(lanes, self.value(then, w), self.value(other, w))
            case ir.Compare() | ir.Logic():
                return UNKNOWN
            case ir.Call(op=op, operands=operands):
                inner = [self.value(one, w) for one in operands]
                if len(inner) == 1 and isinstance(inner[0], Term) and op == "bit_length":
                    number = inner[0].number
                    if isinstance(number, int):
                        return Term.of(number.bit_length())
                return UNKNOWN
            case ir.Lookup():
                return UNKNOWN
            case ir.RegisterRead():
                return UNKNOWN
        return UNKNOWN

    def field(self, name: str, w: Warps) -> Value:
        """T.id and the others."""
        block, warp = w.place["block"], w.place["warp"]
        index = warp * self.width + Term.of(self.lanes)
        per_block = self.warps + (1 if self.partial.parts else 0)
        match name:
            case "id":
                found = block * self.sizes.block_size + index
            case "index" | "threadIdx.x":
                found = index
            case "block" | "blockIdx.x":
                found = block
            case "lane":
                found = Term.of(self.lanes)
            case "warp":
                found = block * per_block + warp
            case "count":
                found = self.sizes.threads
            case "block_size" | "blockDim.x":
                found = self.sizes.block_size
            case "blocks" | "gridDim.x":
                found = self.blocks
            case "threadIdx.y" | "threadIdx.z" | "blockIdx.y" | "blockIdx.z":
                found = Term({})
            case _:
                found = Term.of(1)
        return found

    def binary(self, op: str, left: Value, right: Value, w: Warps) -> Value:
        """An operation on two values."""
        if not isinstance(left, Term) or not isinstance(right, Term):
            return UNKNOWN
        facts = self.facts
        match op:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return facts.reduced(left * right)
            case "//" | "%":
                lanes = w.active
                one, two = left, right
                if not right.is_uniform:
                    numbers = (left.number, right.number)
                    if numbers[0] is None or numbers[1] is None:
                        raise Undecided("a division by what differs among lanes")
                    safe = np.where(lanes, numbers[1], 1)
                    found = numbers[0] // safe if op == "//" else numbers[0] % safe
                    return Term.of(simple(found))
                quotient, rest = facts.divmod(_only(one, lanes), two)
                return quotient if op == "//" else rest
            case "<<":
                if right.is_uniform:
                    return left * power_of_two(right)
            case ">>":
                if right.is_uniform:
                    return facts.divmod(_only(left, w.active), power_of_two(right))[0]
            case "**":
                if left.number == 2 and right.is_uniform:
                    return power_of_two(right)
                if isinstance(right.number, int) and right.number >= 0:
                    return left**right.number
            case "min" | "max":
                first = facts.holds(_only(right - left, w.active))
                lanes = np.broadcast_to(np.asarray(first), self.everyone.shape)
                return merged(lanes, left, right) if op == "min" else merged(lanes, right, left)
            case "&" | "|" | "^":
                return self.bits(op, left, right, w)
        return UNKNOWN

    def bits(self, op: str, left: Term, right: Term, w: Warps) -> Value:
        """Bitwise operations on whole numbers from 0 on."""
        one, two = left.number, right.number
        if one is not None and two is not None:
            a, b = np.asarray(one), np.asarray(two)
            return Term.of(simple(a & b if op == "&" else a | b if op == "|" else a ^ b))
        if two is None:
            left, right, two = right, left, one
        if two is not None:
            numbers = np.unique(np.asarray(two))
            top = 1 << int(numbers.max()).bit_length()
            whole, rest = self.facts.divmod(_only(left, w.active), Term.of(top))
            if rest.number is None:
                raise self.facts.residue(rest, top)
            low = self.bits(op, rest, Term.of(two), w)
            return low if op == "&" else whole * top + low
        # A power of two: one bit.
        for a, b in ((left, right), (right, left)):
            if len(b.parts) == 1 and b.is_uniform:
                ((product, value),) = b.parts.items()
                if not product[0] and is_power(value):
                    shifted, _ = self.facts.divmod(_only(a, w.active), b)
                    _, bit = self.facts.divmod(shifted, Term.of(2))
                    if op == "&":
                        return b * bit
                    if op == "^":
                        return a + b - b * bit * 2
                    return a + b - b * bit
        raise Undecided(f"a bitwise operation {op} on {left} and {right}")

    def truth(self, value: ir.Expr, w: Warps) -> Any:
        """A condition: an array of bool or one for all lanes, or `UNKNOWN`."""
        match value:
            case ir.Compare(op=op, left=left, right=right):
                one, two = self.value(left, w), self.value(right, w)
                if not isinstance(one, Term) or not isinstance(two, Term):
                    return UNKNOWN
                difference = _only(two - one, w.active)
                holds = self.facts.holds
                match op:
                    case "<":
                        return holds(difference - 1)
                    case "<=":
                        return holds(difference)
                    case ">":
                        return holds(-difference - 1)
                    case ">=":
                        return holds(-difference)
                    case "==":
                        return np.asarray(holds(difference)) & np.asarray(holds(-difference))
                    case "!=":
                        return ~(np.asarray(holds(difference)) & np.asarray(holds(-difference)))
            case ir.Logic(op=op, left=left, right=right):
                first = self.truth(left, w)
                if isinstance(first, Unknown):
                    return UNKNOWN
                lanes = np.broadcast_to(np.asarray(first), self.everyone.shape)
                rest = w.active & (lanes if op == "and" else ~lanes)
                if not rest.any():
                    return lanes
                second = self.truth(right, replace(w, mask=rest))
                if isinstance(second, Unknown):
                    return UNKNOWN
                other = np.broadcast_to(np.asarray(second), self.everyone.shape)
                return lanes & other if op == "and" else lanes | other
            case ir.Unary(op="not", operand=operand):
                found = self.truth(operand, w)
                return found if isinstance(found, Unknown) else ~np.asarray(found)
            case ir.Const(value=number):
                return bool(number)
            case _:
                found = self.value(value, w)
                if not isinstance(found, Term):
                    return UNKNOWN
                found = _only(found, w.active)
                return ~(np.asarray(self.facts.holds(found)) & np.asarray(self.facts.holds(-found)))
        return UNKNOWN


class _Steps:
    """The rules by which variables change from trip to trip, found in the text of a loop's body.

    ("add", amount), ("scale", k): times 2^k, ("halve", k): divided by 2^k, rounded down, and
    ("halve up", 1): (x + 1) // 2.
    """

    def __init__(self, body: ir.Block, names: Sequence[str]) -> None:
        self.rules: dict[str, tuple[str, Any]] = {}
        setting = {name: [s for s in statements(body) if name in targets(s)] for name in names}
        top = {id(s) for s in body}
        self.order = {id(s): at for at, s in enumerate(statements(body))}
        self.setting, self.top = setting, top
        for name in names:
            found = setting[name]
            if len(found) == 1 and isinstance(found[0], ir.Assign) and id(found[0]) in top:
                other = self._origin(found[0])
                rule = self._rule(name, found[0].value, setting, top, body)
                back = setting.get(other or "", [])
                if len(back) == 1 and other != name and isinstance(back[0], ir.Assign):
                    if self._origin(back[0]) == name:
                        rule = "swap", other
                if rule is not None:
                    self.rules[name] = rule

    def _origin(self, one: ir.Assign) -> str | None:
        """The variable whose value at the begin of a trip an assignment copies, if it does."""
        if not isinstance(one.value, ir.Var):
            return None
        name = one.value.name
        before = [s for s in self.setting.get(name, []) if self.order[id(s)] < self.order[id(one)]]
        if not before:
            return name
        (last,) = before[-1:]
        return self._origin(last) if isinstance(last, ir.Assign) and id(last) in self.top else None

    def _rule(self, name: str, value: ir.Expr, setting: Any, top: set[int], body: ir.Block) -> Any:
        if (
            isinstance(value, ir.Binary)
            and value.op == "-"
            and isinstance(value.left, ir.Const)
            and isinstance(value.right, ir.Var)
            and value.right.name == name
        ):
            return "toggle", value.left.value
        if isinstance(value, ir.Var) and value.name != name:
            # k = h, where h = k // 2 earlier in the body.
            found = setting.get(value.name, [])
            if len(found) == 1 and isinstance(found[0], ir.Assign) and id(found[0]) in top:
                return self._rule(name, found[0].value, {}, top, body)
            return None
        if not isinstance(value, ir.Binary):
            return None
        left, right = value.left, value.right
        own = isinstance(left, ir.Var) and left.name == name
        other = isinstance(right, ir.Var) and right.name == name
        number = (
            right.value if isinstance(right, ir.Const) and isinstance(right.value, int) else None
        )
        first = left.value if isinstance(left, ir.Const) and isinstance(left.value, int) else None
        if value.op == "+" and own:
            return ("add", right) if name not in _names(right) else None
        if value.op == "+" and other:
            return ("add", left) if name not in _names(left) else None
        if value.op == "-" and own and name not in _names(right):
            return "add", ir.Unary("-", right, value.place)
        if value.op == "*" and own and number is not None and _power(number):
            return "scale", number.bit_length() - 1
        if value.op == "*" and other and first is not None and _power(first):
            return "scale", first.bit_length() - 1
        if value.op == "<<" and own and number is not None:
            return "scale", number
        if value.op == ">>" and own and number is not None:
            return "halve", number
        if value.op == "//" and own and number is not None and _power(number):
            return "halve", number.bit_length() - 1
        if (
            value.op == "//"
            and number == 2
            and isinstance(left, ir.Binary)
            and left.op == "+"
            and isinstance(left.left, ir.Var)
            and left.left.name == name
            and isinstance(left.right, ir.Const)
            and left.right.value == 1
        ):
            return "halve up", 1
        return None


def _knows_blocks(code: ir.Code) -> bool:
    """Return whether it matters to a program which block a thread is of."""
    fields = {one.field for one in all_parts(code.body) if isinstance(one, ir.ThreadField)}
    shared = any(one.kind == "shared" for one in code.locals)
    return shared or bool(fields - {"id", "lane", "warp", "count"})


def _power(number: int) -> bool:
    return number > 1 and number & (number - 1) == 0


def _names(value: ir.Expr) -> set[str]:
    found = {value.name} if isinstance(value, ir.Var) else set()
    for part in expressions(value):
        found |= _names(part)
    return found


def _needed(body: ir.Block, given: Collection[str]) -> set[str]:
    """The variables on which addresses, branches and numbers of trips depend.

    The stages of accesses to some arrays are given.
    """
    found: set[str] = set()
    for one in statements(body):
        match one:
            case ir.Load() | ir.Store() | ir.VectorLoad() | ir.VectorStore() | ir.Atomic():
                for part in one.index if one.array not in given else ():
                    found |= _names(part)
            case ir.If(test=test) | ir.While(test=test):
                found |= _names(test)
            case ir.For(start=start, stop=stop, step=step):
                found |= _names(start) | _names(stop) | _names(step)
            case _:
                pass
    while True:
        more = set(found)
        for one in statements(body):
            if isinstance(one, ir.Assign) and one.target in found:
                more |= _names(one.value)
        if more == found:
            return found
        found = more


def divided_range(facts: Facts, one: Range, split: Split) -> list[tuple[Range, Term | None]]:
    """The parts of a range, with the value of its symbol in each, None for the symbol itself."""
    if split.at is not None:
        below = replace(one, high=split.at)
        return [(below, None), (replace(one, low=split.at), None)]
    by = split.modulus
    found = []
    for residue in range(by):
        low, _ = facts.divmod(one.low + (by - 1 - residue), Term.of(by))
        high, _ = facts.divmod(one.high + (by - 1 - residue), Term.of(by))
        found.append((replace(one, low=low, high=high), symbol(one.name) * by + residue))
    return found  # type: ignore[return-value]


def _with(w: Warps, values: dict[str, Term]) -> Warps:
    """Warps with terms for a symbol in their values."""

    def changed(value: Value) -> Value:
        if isinstance(value, Term):
            return value.with_values(values)
        if isinstance(value, tuple) and value and isinstance(value[0], Term):
            return tuple(changed(one) for one in value)
        return value

    return replace(w, env={name: changed(value) for name, value in w.env.items()})


def merged(lanes: np.ndarray, value: Value, other: Value) -> Value:
    """One value for some lanes and another one for the others."""
    if isinstance(value, np.ndarray | bool) or isinstance(other, np.ndarray | bool):
        return UNKNOWN
    if not isinstance(value, Term) or not isinstance(other, Term):
        return UNKNOWN
    chosen = Term.of(lanes.astype(np.int64))
    return value * chosen + other * (1 - chosen) if not (value - other).parts == {} else value


def _only(term: Term, lanes: np.ndarray) -> Term:
    """A term whose idle lanes have the value of an active one, so that only these are judged."""
    if term.is_uniform or lanes.all():
        return term
    first = int(np.argmax(lanes))
    return term.map(
        lambda v: simple(np.where(lanes, v, v[first])) if isinstance(v, np.ndarray) else v
    )


def _positive(facts: Facts, step: Term) -> bool:
    found = facts.holds(step - 1)
    return bool(np.all(found))


def _product(shape: Sequence[Term]) -> Term:
    found = Term.of(1)
    for one in shape:
        found = found * one
    return found


def rows_time(rows: Rows, latencies: dict[str, Term]) -> Term:
    """The synchronous time: stages, and latency - 1 for each round."""
    return summed(row.busy + row.rounds * (latencies[row.space] - 1) for row in rows.values())
