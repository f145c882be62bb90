"""Questions about two lanes of a warp that want different words of one bank in one request.

The lanes of a request are in the same iterations of all loops. Addresses of one array differ by as
many words as their elements, wherever it begins. The width is a number here, so what lies in one
bank differs by a multiple of it. A factor of a product may be replaced by its remainder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import z3

from mmsim.model.byte_banks import InPairs, Packed, Twice
from mmsim.model.conflicts import Banks, BanksInTurn, Conflict, InParts
from mmsim.proof.races_walk import Touched
from mmsim.proof.two_threads import Answer, Open, Pair, TwoThreads, at_lines
from mmsim.proof.whole_numbers import LAUNCH, THREAD, Mono, Number, Origin, Truth, constant

RuleOf = Callable[[str, str, int], Conflict | None]
"""The rule of an array's memory, for accesses of a kind to so many elements: `Launch.conflict`."""


@dataclass(frozen=True)
class Served:
    """A request as banks serve it: `lanes` lanes at a time, with `elements` elements to a word.

    Requests for one word are one if it `merges` them.
    """

    banks: int
    lanes: int
    elements: int = 1
    merges: bool = True


def served(rule: Conflict) -> Served | None:
    """The manner in which a rule of banks serves a request; None if a proof doesn't know it."""
    if type(rule) in (Banks, BanksInTurn):
        return Served(rule.width, rule.width, merges=type(rule) is Banks)
    if not isinstance(rule, Packed | InParts | Twice) or isinstance(rule, InPairs):
        return None
    inner = served(rule.rule)
    if inner is None or isinstance(rule, Twice):
        return inner
    if isinstance(rule, Packed):
        return replace(inner, elements=rule.elements)
    return replace(inner, lanes=rule.width)


class TwoLanes:
    """The conflicts between two lanes of a warp that can't be excluded."""

    def __init__(self, two: TwoThreads, rule_of: RuleOf, placed: frozenset[str]) -> None:
        self.two, self.walk, self.space = two, two.walk, two.space
        self.rule_of, self.placed = rule_of, placed
        loops = frozenset(loop.number for loop in self.walk.loops)
        self.bits = two.laws.bits
        self.pair: Pair = two.pair("block", loops)

    def conflicts(self) -> Iterator[Open]:
        """Accesses that may have a conflict."""
        for one in self.walk.touched:
            rule = self.rule_of(one.array, one.kind, one.width)
            if rule is not None and rule.place != "bank":
                continue
            its = None if rule is None or one.width > 1 else served(rule)
            if its is None or one.array in self.placed:
                why = f"its layout decides about the banks of {one.array}"
                if one.array not in self.placed:
                    why = f"the banks of {one.array} have a rule that the proof doesn't know"
                yield Open(at_lines(why, one), lambda **_: ("unknown", None))
            elif not all(isinstance(part, Number) for part in one.index):
                why = f"the index of {one.array} is not a whole number for each axis"
                yield Open(at_lines(why, one), lambda **_: ("unknown", None))
            else:
                yield from self._of(one, its)

    def _of(self, one: Touched, its: Served) -> Iterator[Open]:
        pair, space = self.pair, self.space
        words = self._address(one)
        if its.elements > 1:
            words = space.divided(words, constant(its.elements))[0]
        second = pair.second(words)
        assert isinstance(second, Number)
        apart = words - second
        both = [*self.two.different(pair), *self._same(self.two.threads.warp_in_block)]
        if its.lanes != self.two.threads.width.value:
            lane = space.divided(self.two.threads.index, self.two.threads.width)[1]
            both += self._same(space.divided(lane, constant(its.lanes))[0])
        if its.merges:
            both.append(space.compared("!=", apart, constant(0)))
        inside = z3.Not(self.two.outside(one, self.walk.values.extents[one.array]))

        def ask(*lie: Truth, **how: Any) -> tuple[Answer, Any]:
            return pair.ask([one.path, inside], [one.path, inside], [*both, *lie], **how)

        lies = self._possible(self._rest(apart, its.banks), its.banks, partial(ask, bits=False))

        in_one_bank = self._is_multiple(apart, its.banks)
        if lies is None:
            return
        if its.banks > 1 and its.banks & its.banks - 1 == 0:
            low = self.bits.of(words, its.banks.bit_length() - 1)
            if ask(low == pair.second(low))[0] == "unsat":
                return
        if ask(in_one_bank, exact=True)[0] == "unsat":
            return
        of = self.two.read_from(*one.index)
        why = f"; the index is read from {of}" if of else ""
        what = f"two lanes of a warp may want different words of one bank of {one.array}{why}"
        yield Open(at_lines(what, one), partial(ask, in_one_bank, *lies))

    def _same(self, value: Number) -> list[Truth]:
        return [self.space.term(value) == self.space.term(self.pair.second(value))]

    def _address(self, one: Touched) -> Number:
        """The number of an element in row-major order."""
        found = constant(0)
        for part, extent in zip(one.index, self.walk.values.extents[one.array], strict=True):
            assert isinstance(part, Number)
            found = found * extent + part
        return found

    def _rest(self, number: Number, banks: int) -> Number:
        """A number with the same remainder and small factors."""
        half = (banks - 1) // 2
        terms = {mono: (by + half) % banks - half for mono, by in number.terms.items()}
        return Number(terms)

    def _is_multiple(self, number: Number, banks: int) -> Truth:
        times = self.space.fresh("rows", Origin(THREAD))
        return self.space.term(number) == banks * times.term

    def _possible(
        self, rest: Number, banks: int, ask: Callable[..., tuple[Answer, Any]]
    ) -> list[Truth] | None:
        """The facts of a conflict that can't be excluded; None if every one is excluded.

        That is a remainder of a factor of all products, if there is one.
        """
        if ask(self._is_multiple(rest, banks))[0] == "unsat":
            return None
        own = set(self.pair.names) | set(self.pair.names.values())
        products = [mono for mono in rest.terms if len(mono) > 1]
        common = set.intersection(*map(set, products)) - own if products else set()
        for factor in sorted(common):
            symbol = self.space.symbols[factor]
            for remainder in range(banks):
                times = self.space.fresh("times", Origin(LAUNCH))
                here = self._rest(_replaced(rest, factor, remainder), banks)
                is_so = symbol.term == banks * times.term + remainder
                if ask(is_so, self._is_multiple(here, banks))[0] != "unsat":
                    return [is_so]
            return None
        return []


def _replaced(number: Number, factor: str, value: int) -> Number:
    """A number with a value for one of its symbols."""
    terms: dict[Mono, int] = {}
    for mono, by in number.terms.items():
        left = tuple(name for name in mono if name != factor)
        terms[left] = terms.get(left, 0) + by * value ** (len(mono) - len(left))
    return Number(terms)
