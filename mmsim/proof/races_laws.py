"""The laws of products and of powers of two, for the terms of one question."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import permutations

import z3

from mmsim.proof.races_bits import LowBits
from mmsim.proof.whole_numbers import Mono, Number, Space, Truth, constant, without

MOST_POWERS = 5
"""So many powers of two are compared with each other."""
MOST_PRODUCTS = 16
"""So many products with a common factor are compared with each other."""


class Laws:
    """The laws of a program's products, each made once."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.bits = LowBits(space)
        self._of_rows: dict[tuple[str, Number, Number], list[Truth]] = {}
        self._of_formula: dict[int, tuple[Truth, dict[frozenset[object], Truth]]] = {}

    def of(self, formulas: Iterable[Truth], names: set[str]) -> list[Truth]:
        """The laws that formulas with these symbols and products may need."""
        differences: dict[frozenset[object], Truth] = {}
        for formula in formulas:
            differences |= self._of_differences(formula)
        more = list(differences.values())
        names = names.union(*(self.space.names(one) for one in more))
        return [*more, *self._of_products(names)]

    def _of_products(self, names: set[str]) -> Iterator[Truth]:
        """The order of products with a common factor, of the factor itself and of 0."""
        products = self.space.products
        monos = {products[name] for name in names if name in products}
        while (
            rests := {
                rest
                for mono in monos
                for factor in mono
                if (rest := without(mono, (factor,))) is not None and len(rest) > 1
            }
            - monos
        ):
            monos |= rests
        by_factor: dict[str, set[Mono]] = {}
        for mono in sorted(monos):
            for factor in sorted(set(mono)):
                rest = without(mono, (factor,))
                assert rest is not None
                by_factor.setdefault(factor, set()).add(rest)
        for factor, group in sorted(by_factor.items()):
            rows = [Number({rest: 1}) for rest in sorted(group, key=lambda one: (len(one), one))]
            rows += [constant(2) * row for row in rows if row.symbols & self.space.halves]
            for place, one in enumerate(rows):
                for other in (*rows[place + 1 : MOST_PRODUCTS], constant(0), constant(1)):
                    yield from self._of_two(factor, one, other)

    def _of_two(self, factor: str, one: Number, other: Number) -> list[Truth]:
        """The order of x m and y m is that of x and y, and they lie apart by as many m."""
        key = factor, one, other
        if key not in self._of_rows:
            term, unit = self.space.term, Number({(factor,): 1})
            by, x, y = z3.Int(factor), term(one), term(other)
            its, others = term(one * unit), term(other * unit)
            holds = [
                law
                for a, b, c, d in ((x, y, its, others), (y, x, others, its))
                for law in (
                    z3.Implies(a < b, c + by <= d),
                    z3.Implies(a + 1 < b, c + 2 * by <= d),
                )
            ]
            base = self.space.symbols.get(factor)
            if base is None or not base.nonnegative:
                holds = [z3.Implies(by >= 0, z3.And(*holds))]
            self._of_rows[key] = [*holds, z3.Implies(x == y, its == others)]
        return self._of_rows[key]

    def _of_differences(self, formula: Truth) -> dict[frozenset[object], Truth]:
        """The laws for the sides of comparisons: a difference is u m + rest, with u m >= m or so.

        Only those are missing from those of products where u has several terms.
        """
        key = formula.get_id()
        if key not in self._of_formula:
            found: dict[frozenset[object], Truth] = {}
            sides = formula.children()
            if len(sides) == 2 and all(z3.is_int(one) for one in sides):
                left, right = map(self.space.parsed, sides)
                if left is not None and right is not None:
                    self._split(left - right, found)
            else:
                for side in sides:
                    if z3.is_bool(side):
                        found |= self._of_differences(side)
            self._of_formula[key] = formula, found
        return self._of_formula[key][1]

    def _split(self, difference: Number, found: dict[frozenset[object], Truth]) -> None:
        """Add the laws of a number for each of its factors, and of what they are multiplied by."""
        space = self.space
        factors = {one for mono in difference.terms if len(mono) > 1 for one in mono}
        for factor in sorted(factors):
            unit = Number({(factor,): 1})
            times, _ = difference.split(unit)
            common = math.gcd(*times.terms.values())
            times = Number({mono: by // common for mono, by in times.terms.items()})
            product_of = times * unit
            if len(times.terms) < 2 or product_of.key in found:
                continue
            by, one, whole = space.term(unit), space.term(times), space.term(product_of)
            found[product_of.key] = z3.Implies(
                by >= 0,
                z3.And(
                    z3.Implies(one >= 1, whole >= by),
                    z3.Implies(one <= -1, whole <= -by),
                    z3.Implies(one == 0, whole == 0),
                ),
            )
            self._split(times, found)


def of_powers(space: Space, formulas: Iterable[Truth]) -> list[Truth]:
    """The laws of powers of two: the half of one is one, and the smaller of two divides the other.

    They are for the numbers of which formulas say that they are powers of two.
    """
    powers: dict[Number, Truth] = {}
    seen: set[int] = set()
    new = list(formulas)
    while new:
        formula = new.pop()
        if formula.get_id() in seen or not z3.is_bool(formula):
            continue
        seen.add(formula.get_id())
        if z3.is_app(formula) and formula.decl().eq(space.is_power):
            number = space.parsed(formula.children()[0])
            if number is not None:
                powers[number] = formula
        new += formula.children()
    found = []
    for number, is_power in list(powers.items()):
        half = space.whole(("half", number))
        term, its = space.term(number), space.term(half)
        halved = z3.And(term == 2 * its, space.power(half))
        found.append(z3.Implies(is_power, z3.And(term >= 1, z3.Or(term == 1, halved))))
        if all(by % 2 == 0 for by in number.terms.values()):
            exact = Number({mono: by // 2 for mono, by in number.terms.items()})
            found.append(z3.Implies(space.power(exact), is_power))
    for one, other in permutations(list(powers)[:MOST_POWERS], 2):
        times = space.whole(("times", one, other))
        space.halves |= times.symbols
        less = z3.And(powers[one], powers[other], space.compared("<", one, other))
        multiple = space.compared("==", other, constant(2) * one * times)
        found.append(z3.Implies(less, z3.And(space.term(times) >= 1, multiple)))
    return found
