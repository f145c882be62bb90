"""Accesses of warps: the requests of a round, and what they cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cmp_to_key
from itertools import pairwise
from typing import Any

import numpy as np

from mmsim.claims.launch import Rotated
from mmsim.ir import nodes as ir
from mmsim.ir.walk import targets
from mmsim.proof.evaluation import Evaluation
from mmsim.proof.facts import Facts, Range, Split
from mmsim.proof.stages import stages
from mmsim.proof.terms import ONE, Key, Term, Undecided, symbol, total
from mmsim.proof.warps import (
    UNKNOWN,
    InTurn,
    Row,
    Rule,
    Unknown,
    Value,
    Warps,
    added,
    copied,
    merged,
    repeated,
    spread,
    with_symbols,
)

MOST_RESIDUES = 10_000
"""The most cases of residues in which a request is looked at."""

Sent = tuple[Term | None, Value]
"""The stages of a class of requests, None if they are given for all together; the value read."""


class Accesses(Evaluation):
    """Executes accesses; it divides warps where an access depends on the warp.

    Warps or trips of all residues by a number may be executed together, as lanes of one class:
    first those of one trip of `trips`, and among these those of one warp.
    """

    trips = 1
    """The trips that the lanes of a class are of."""
    widest = 1 << 16
    """The most lanes of a class; with 0, there are as many as a warp has."""
    spread = False
    """True when warps of several residues are in one class."""

    def together(
        self, parts: list[tuple[Range, Term]], lanes: int
    ) -> list[tuple[Range, Term, int]]:
        """The parts of a range by a divisor; those of equal length with their residues in one."""
        if lanes * len(parts) > self.widest * self.facts.together:
            return [(*part, 1) for part in parts]
        groups: dict[tuple[Key, Key], list[tuple[Range, Term]]] = {}
        for part, value in parts:
            groups.setdefault((part.low.key, part.high.key), []).append((part, value))
        found = []
        for group in groups.values():
            residues = [value.parts.get(ONE, 0) for _, value in group]
            part, value = group[0]
            value = value - residues[0] + Term.of(np.array(residues))
            found.append((part, value, len(group)))
        return found

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
            except Split as found:
                with self.facts.within(one.ranges):
                    split = self.plain(found)
                ranges = [r for r in one.ranges if r.name == split.name]
                if not ranges:
                    raise split from None
                todo.extend(reversed(self.divided(one, ranges[0], split)))
        return done

    def plain(self, split: Split) -> Split:
        """A split by the remainder of a quotient as one by that of a symbol in it."""
        while split.modulus and split.name in self.facts.quotients:
            of = self.facts.quotients[split.name]
            if not isinstance(of.below.number, int):
                break
            found = self.facts.residue(of.above, of.below.number * split.modulus)
            if not isinstance(found, Split):
                raise found
            split = found
        return split

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
            raise Undecided("whether {} has parts", symbol(range_.name))
        found = []
        if split.modulus and range_.name.startswith("warp") and len(parts) > 1:
            several = self.together(
                [(part[0], value) for part, value in parts if value is not None], len(one.mask)
            )
            try:
                return [self.of_residues(one, at, *each) for each in several]
            except (Undecided, Split):
                pass
        for part, value in parts:
            new = replace(one, ranges=(*before, *part, *after))
            if value is not None:
                values = {range_.name: value}
                later = tuple(
                    replace(
                        r,
                        low=self.with_quotients(r.low, values),
                        high=self.with_quotients(r.high, values),
                    )
                    for r in after
                )
                new = replace(new, ranges=(*before, *part, *later))
                with self.facts.within(new.ranges):
                    new = self.with_values(new, values)
            found.append(new)
        return found

    def of_residues(self, one: Warps, at: int, part: Range, value: Term, copies: int) -> Warps:
        """The part of a class of warps with some residues: there are lanes for each of them."""
        name = part.name
        if any(name in (r.low.symbols | r.high.symbols) for r in one.ranges[at + 1 :]):
            raise Undecided(f"the warps that depend on {name}")
        new = replace(one, ranges=(*one.ranges[:at], part, *one.ranges[at + 1 :]))
        if copies > 1:
            each = len(one.mask) // self.trips
            self.spread = True
            value = copied(repeated(value, each), self.trips)
            new = spread(
                new, lambda v: np.tile(v.reshape(self.trips, each), (1, copies)).reshape(-1)
            )
        with self.facts.within(new.ranges):
            return self.with_values(new, {name: value})

    def parts(self, one: Range, split: Split) -> list[tuple[tuple[Range, ...], Term | None]]:
        """The parts of a range; by a divisor, the numbers of the quotient and of the rest."""
        if split.divisor is None:
            return [((part,), value) for part, value in divided_range(self.facts, one, split)]
        if one.low.parts:
            raise Undecided("the quotient of {} by {}", symbol(one.name), split.divisor)
        rows, rest = self.facts.divmod(one.high, split.divisor)
        outer = f"{one.name} row"
        inner = Range(one.name, Term({}), split.divisor)
        found: list[tuple[tuple[Range, ...], Term]]
        found = [((Range(outer, Term({}), rows), inner), symbol(outer))]
        if rest.parts:  # a last row that isn't full
            found.append(((replace(inner, high=rest),), rows))
        return [(ranges, at * split.divisor + symbol(one.name)) for ranges, at in found]

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
        if isinstance(value, InTurn):
            return value.map(lambda one: self.with_quotients(one, values))
        if not isinstance(value, Term):
            return value
        found = {}
        for name in sorted(value.symbols & self.facts.quotients.keys()):
            if self.facts.hidden(name) & values.keys():
                of = self.facts.quotients[name]
                if of.rest != of.below:
                    raise Undecided(
                        "the quotient {}, of which the remainder is known", symbol(name)
                    )
                above, below = (self.with_quotients(t, values) for t in (of.above, of.below))
                found[name] = self.facts.divmod(above, below)[0]
        return value.with_values({**values, **found})

    def set(self, one: Warps, name: str, value: Value) -> Warps:
        """An assignment to a variable by the active lanes."""
        active = one.active
        if not active.any():
            return one
        old = one.env.get(name)
        if old is not None and not active.all():
            value = merged(active, value, old)
        return replace(one, env={**one.env, name: value})

    def access(self, one: ir.Access, classes: list[Warps]) -> list[Warps]:
        """One round: every warp with an active lane sends a request."""
        done = self.each(classes, lambda w: self.sent(one, w) if w.active.any() else None)
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

    def sent(self, one: ir.Access, w: Warps) -> Sent:
        """A request, of which no quotient hides a symbol of the sums over its warps."""
        found = self.any_residue(one, w)
        terms = [Term({}) if found[0] is None else found[0]]
        for r in reversed(w.ranges):
            self.check_sum(r, terms, symbol(r.name))
            terms += [r.low, r.high]
        return found

    def check_sum(self, over: Range, terms: Iterable[Term], about: Any) -> None:
        """Make sure that no quotient hides the symbol of a sum: a split if one does."""
        known = self.facts.quotients
        for hidden in sorted({name for term in terms for name in term.symbols & known.keys()}):
            if over.name in self.facts.hidden(hidden):
                by = known[hidden].below.number
                if not isinstance(by, int):
                    raise Undecided("the sum of {} over {}", symbol(hidden), about)
                raise Split(over.name, modulus=by)

    def any_residue(self, one: ir.Access, w: Warps, within: int = 1) -> Sent:
        """A request whose stages may depend on a quotient's residue: they must be the same.

        It is within one of so many cases of other residues.
        """
        try:
            return self.request(one, w)
        except Split as split:
            name, by = split.name, split.modulus
            if name not in self.facts.quotients or not by:
                raise
            within *= max(by, 2)
            if within > MOST_RESIDUES or len(w.mask) > self.width:
                raise Undecided(f"the residue of {name} modulo {by} together") from None
        found = []
        before = dict(self.facts.replaced)
        for residue in range(by):
            term = self.facts.with_residue(name, by, residue)
            self.facts.replaced = {**before, name: term}
            try:
                found.append(self.any_residue(one, with_symbols(w, {name: term}), within))
            finally:
                self.facts.replaced = before
        if any(one[0] != found[0][0] for one in found):
            of = self.facts.quotients[name]
            if not isinstance(of.below.number, int):
                raise Undecided("the remainder of {} divided by {}", symbol(name), by)
            raise self.facts.residue(of.above, of.below.number * by)
        return found[0][0], UNKNOWN

    def request(self, one: ir.Access, w: Warps) -> Sent:
        """The stages of the requests of a class, and the value read."""
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
            if one.array not in self.sizes.stages:
                alone = several == 1 and len(w.mask) == self.width
                if alone and (count == 1 or self.apart(one.array, index, active)):
                    return Term.of(1), UNKNOWN
                raise Undecided(
                    f"the index of {one.array} is read from memory; give the stages of its requests"
                )
            return self.given(one.array, w), UNKNOWN
        if (
            isinstance(one, ir.Load)
            and one.array in self.sizes.contents
            and one.target in self.needed
        ):
            value = self.sizes.contents[one.array](*index)
        shape = self.shape(one.array)
        if len(index) != len(shape):
            if len(index) == 1:
                shape = (math.prod(shape, start=Term.of(1)),)
            else:
                raise Undecided("an index of {} with {} numbers", one.array, len(index))
        terms = [term.of_lanes(active) for term in index]
        for term, extent in zip(terms, shape, strict=True):
            inside = np.all(self.facts.holds(term))
            if not inside or self.facts.bound(self.largest(term) - extent) >= 0:
                raise Undecided("an index of {} is {}, out of range for some size", one.array, term)
        rule = self.rule(one.array)
        if several > 1 and one.array in self.sizes.layouts:
            raise Undecided(f"several words of {one.array}, which has a layout")
        try:
            offset = self.facts.reduced(self.offset(one.array, terms, shape, rule) * several)
        except Undecided:
            if one.array not in self.sizes.stages:
                raise
            return self.given(one.array, w), value
        words = [offset + k for k in range(several)]
        senders = np.flatnonzero(active) // self.width
        atomic = isinstance(one, ir.Atomic)
        if rule.words is not None:
            if atomic:
                raise Undecided(f"an atomic access to {one.array} in pairs of words")
            words = [self.facts.reduced(rule.words(word)) for word in words]
        self.asked = words
        found = stages(self.facts, rule.unit, rule.width, words, count, atomic, senders)
        return Term.of(found), value

    def apart(self, array: str, index: list[Value], active: np.ndarray) -> bool:
        """Return whether words that memory names lie in different banks."""
        rule, shape = self.rule(array), self.shape(array)
        plain = rule.unit == "banks" and rule.words is None and array not in self.sizes.layouts
        if not plain or len(shape) != len(index):
            return False
        place, size = None, Term.of(1)
        for part, extent in zip(reversed(index), reversed(shape), strict=True):
            here = self.binary("*", part, size, Warps((), {}, active))
            place = here if place is None else self.binary("+", place, here, Warps((), {}, active))
            size = size * extent
            # A negative index counts from the end.
            if isinstance(part, Unknown) and self.rest(size, rule.width) != 0:
                return False
        rest = self.rest(place, rule.width)
        return isinstance(rest, np.ndarray) and len(set(rest[active].tolist())) == active.sum()

    def rule(self, array: str) -> Rule:
        """The rule of conflicts of the memory in which an array lies."""
        rule = self.sizes.shared if self.is_shared(array) else self.sizes.memory
        assert rule is not None
        return rule

    def largest(self, term: Term) -> Term:
        """The value of a term for the last warp, in the last trip, if it grows with these."""
        if not term.is_uniform:
            lanes = next(len(v) for v in term.parts.values() if isinstance(v, np.ndarray))
            term = term.of_lanes(lanes - 1)
        for one in reversed(self.facts.ranges):
            parts = term.by_power(one.name) if one.name in term.symbols else None
            if parts is not None and set(parts) <= {0, 1} and self.facts.bound(parts[1]) >= 0:
                term = term.with_values({one.name: one.high - 1})
        return term

    def given(self, array: str, w: Warps) -> Term | None:
        """The given stages of a class; None if they are those of all requests together."""
        if array in self.sizes.in_all:
            return None
        return self.sizes.stages[array] * self.senders(w)

    def senders(self, w: Warps) -> int:
        """The requests of a class: its warps with an active lane, for one warp of its range."""
        return int(w.active.reshape(-1, self.width).any(axis=1).sum())

    def offset(self, array: str, index: list[Term], shape: tuple[Term, ...], rule: Rule) -> Term:
        """A word in an array, or a number that meets others in banks as the word does."""
        layout = self.sizes.layouts.get(array)
        if layout is not None and len(index) != len(self.shape(array)):
            raise Undecided(f"an index of {array}, which has a layout, with {len(index)} numbers")
        if isinstance(layout, Rotated):
            if rule.unit != "banks" or rule.words or shape[-1] != Term.of(rule.width):
                raise Undecided(f"the rotated rows of {array}, which are no rows of banks")
            differ = {axis for axis, term in enumerate(index) if not term.is_uniform}
            axis = min(differ, default=0)
            if differ == {axis} and axis in layout.permuted:
                return index[axis]  # as many banks as indices
            if not differ <= {*layout.same, len(shape) - 1}:
                raise Undecided(f"the shifts of the rows of {array}")
        elif layout is not None:
            return layout(*index)
        offset = Term({})
        for term, extent in zip(index, shape, strict=True):
            offset = offset * extent + term
        return offset

    def round(self, one: ir.Access, sent: list[tuple[Warps, Sent]]) -> Row:
        """The costs of one round."""
        facts = self.facts
        requests, staged, busy = Term({}), Term({}), Term({})
        shared = self.is_shared(one.array)
        plain = True
        by_blocks: dict[str, tuple[Term, Term]] = {}
        kinds: list[tuple[Term, Term, Term]] = []
        senders: dict[str, set[str]] = {}  # the same warps: then no block is in two of the kinds
        for w, (found, _) in sent:
            if found is None:
                self.totals[one.site] = self.sizes.stages[one.array]
                found = Term({})
            one_block = [r for r in w.ranges if r.name.startswith("warp")]
            outer = [r for r in w.ranges if r not in one_block]
            each_stage = over(found, one_block)
            requests = requests + over(over(Term.of(self.senders(w)), one_block), outer)
            staged = staged + over(each_stage, outer)
            if shared:
                if {r.name for r in outer} & facts.symbols_in(each_stage):
                    raise Undecided("stages of shared memory that differ among blocks")
                count = over(Term.of(1), outer)
                key = str((w.place["block"], [(r.name, r.low, r.high) for r in outer]))
                stages_, _ = by_blocks.get(key, (Term({}), count))
                by_blocks[key] = stages_ + each_stage, count
                senders.setdefault(key, set()).add(str((one_block, w.active.tolist())))
                plain = plain and (not outer or w.place["block"] == symbol(outer[0].name))
                kinds += [(r.low, r.high, each_stage) for r in outer]
        rounds = Term.of(self.rounds_of([w for w, _ in sent]))
        if shared:
            found, count = next(iter(by_blocks.values()))
            if len(by_blocks) > 1 or not plain:
                if self.trips > 1:
                    raise Undecided("trips whose blocks access their shared memories differently")
                # Blocks of several kinds, all with as many stages: wherever they are.
                count = sum((each for _, each in by_blocks.values()), Term({}))
                same = all(one == senders[next(iter(senders))] for one in senders.values())
                equal = all(each == found for each, _ in by_blocks.values())
                if not same or not equal or count != self.blocks:
                    if not plain:
                        raise Undecided("blocks that access their shared memories differently")
                    found, count = self.of_neighbours(kinds)
            dmms = self.sizes.dmms
            assert dmms is not None
            self.share = facts.divmod(count + dmms - 1, dmms)[0]
            busy = found * self.share
        else:
            busy = staged
        kind = (
            "atomic"
            if isinstance(one, ir.Atomic)
            else "read"
            if isinstance(one, ir.Load | ir.VectorLoad)
            else "write"
        )
        rule = self.rule(one.array)
        return Row(one.place, one.array, kind, rule.space, requests, staged, busy, rounds)

    def rounds_of(self, classes: list[Warps]) -> int:
        """The trips in which one of the classes sends a request; a split if it is open."""
        in_trips = [w.active.reshape(self.trips, -1).any(axis=1) for w in classes]
        found = np.zeros(self.trips, dtype=bool)
        for certain in (self.is_sure, self.is_there):
            for w, sends in zip(classes, in_trips, strict=True):
                if (sends & ~found).any() and certain(w):
                    found = found | sends
        return int(found.sum())

    def of_neighbours(self, kinds: list[tuple[Term, Term, Term]]) -> tuple[Term, Term]:
        """The stages of each block, and the number of blocks, if these are neighbours.

        For ranges of blocks, with the stages of some of their warps: they may overlap. Of k
        neighbours, the largest number on one DMM is k/d, rounded up.
        """

        def above(one: Term, other: Term) -> int:
            if one == other:
                return 0
            if self.facts.bound(one - other) >= 0:
                return 1
            if self.facts.bound(other - one) >= 0:
                return -1
            raise Undecided("blocks that access their shared memories differently")

        ends = sorted((end for kind in kinds for end in kind[:2]), key=cmp_to_key(above))
        found = [
            sum(
                (
                    stages
                    for first, last, stages in kinds
                    if above(first, low) <= 0 and above(high, last) <= 0
                ),
                Term({}),
            )
            for low, high in pairwise(ends)
            if low != high
        ]
        if not found or any(one != found[0] for one in found):
            raise Undecided("blocks that access their shared memories differently")
        return found[0], ends[-1] - ends[0]

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


def over(term: Term, ranges: Sequence[Range]) -> Term:
    """The sum of a term over ranges, outermost first."""
    for one in reversed(ranges):
        term = total(term, one.name, one.low, one.high)
    return term


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
