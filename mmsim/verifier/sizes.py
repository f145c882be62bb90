"""Sizes as terms: what is known of their signs, and the values of formulas."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import islice, product
from typing import Any, Self

from mmsim.claims.claim import symbols_of
from mmsim.verifier.polynomials import P, Refused, divides, of, symbol, two

DEEPEST = 3
"""The most assumptions or quotients that one inequality may need."""


class Sizes:
    """Sizes as terms in symbols: whole numbers from `lows` on, for which `equal` terms are 0.

    The terms in `least` are at least 0. `ranges` are those of warps and trips, outermost first,
    `quotients` symbols for quotients rounded down. `known` has terms of the data for formulas.
    """

    def __init__(self, values: dict[str, P], lows: dict[str, int], facts: Any) -> None:
        self.values, self.lows, self.facts = values, lows, facts
        self.equal: list[P] = []
        self.least: list[P] = []
        self.ranges: list[tuple[str, P, P]] = []
        self.quotients: dict[str, tuple[P, P]] = {}
        self.known: dict[str, P] = {}
        self.memory: dict[Any, bool] = {}
        self.samples: list[dict[str, int]] | None = None

    def put(self, values: dict[str, P], lows: Mapping[str, int]) -> Self:
        """The part of the case in which symbols have values; `lows` has new symbols."""
        if lows.keys() & self.lows.keys():
            raise Refused("a symbol stands for two things")
        kept = {name: low for name, low in self.lows.items() if name not in values} | dict(lows)
        found = type(self)({k: v.put(values) for k, v in self.values.items()}, kept, self.facts)
        found.known = {text: term.put(values) for text, term in self.known.items()}
        limits = [one - self.lows[name] for name, one in values.items()]
        least = [*(one.put(values) for one in self.least), *limits]
        found.equal = [one for one in (old.put(values) for old in self.equal) if one.parts]
        found.least = [one for one in least if one.number is None or one.number < 0]
        return found

    def reduced(self, term: P) -> P:
        """The term after the equations of two products."""
        for _ in self.equal:
            for equation in self.equal:
                term = self.rewritten(term, equation)
        return term

    def rewritten(self, term: P, equation: P) -> P:
        """The term after an equation: one of its products for the other."""
        if len(equation.parts) != 2 or any(self.lows.get(n, 0) < 1 for n in equation.plain):
            return term
        (one, a), (other, b) = sorted(equation.parts.items(), key=lambda o: (abs(o[1]), o[0]))
        (ratio,) = (P({one: 1}) / P({other: 1})).parts
        left = {name: power for name, power in ratio if power > 0}
        by = (
            P({ratio: Fraction(-a) / b}) ** -1
        )  # it is 1: the product `one` is the other times this
        while found := [p for p in term.parts if left and divides(left, dict(p))]:
            part = P({p: term.parts[p] for p in found})
            term = term - part + part * by
        return term

    def least_zero(self, term: P, depth: int = 0) -> bool:
        """Return whether a term is surely at least 0."""
        term = self.reduced(term)
        if term.number is not None:
            return bool(term.number >= 0)
        key = term, depth
        if key not in self.memory:
            below = term.parts.get((), 0) < 0 and all(value < 0 for value in term.parts.values())
            below = below or any(valued(self, term, point) < 0 for point in self.sampled())
            self.memory[key] = not below and self.found_least_zero(term, depth)
        return self.memory[key]

    def found_least_zero(self, term: P, depth: int) -> bool:
        """The same, for a term that is at least 0 at small numbers."""
        for name, low, high in reversed(self.ranges):
            if name in term.names:
                return self.over_range(term, name, low, high - 1, depth)
        for name, (above, below) in reversed(self.quotients.items()):
            if name in term.names and depth < DEEPEST and self.negative(-below):
                ends = self.of_quotient(term, name, above, below)
                if ends and all(self.least_zero(end, depth + 1) for end in ends):
                    return True
        if self.by_products(term):
            return True
        known = [*self.least, *(high - low - 1 for _, low, high in self.ranges)]
        known += [two(one) - 1 for one in known if linear(one) and one.names & term.exponents]
        for one in known if depth < DEEPEST else ():
            for (mine, a), (other, b) in product(term.parts.items(), one.parts.items()):
                if a < 0 and b < 0 and divides(dict(other), dict(mine)):
                    ratio = P({mine: a}) / P({other: b})
                    if self.least_zero(term - one * ratio, depth + 1):
                        return True
        return False

    def of_quotient(self, term: P, name: str, above: P, below: P) -> list[P]:
        """Terms that are at least 0 only if a term with a quotient is; none if unknown."""
        rest, factor = term.put({name: 0}), term.put({name: 1}) - term.put({name: 0})
        if term != rest + factor * symbol(name):
            return []
        if factor.number is not None:  # whole numbers: q >= -r if and only if a >= -r b
            scaled = rest / abs(factor.number)
            number = scaled.parts.get((), 0)
            scaled = scaled - number + math.floor(number)
            if self.whole(scaled):
                up = factor.number > 0
                return [above + scaled * below if up else (scaled + 1) * below - above - 1]
        return [rest * below + factor * one for one in (above, above - below + 1)]

    def over_range(self, term: P, name: str, low: P, high: P, depth: int) -> bool:
        """The same over a range: at its ends if it is linear there; else each product at one."""
        atoms = [[one for one in p if one[0] in (name, f"2^{name}")] for p in term.parts]
        if len({tuple(one) for one in atoms if one}) == 1 and max(map(len, atoms)) == 1:
            at_low, at_high = term.put({name: low}), term.put({name: high})
            if self.least_zero(at_low, depth):  # a term may rise, too, and its range be empty
                return self.least_zero(at_high - at_low, depth) or self.least_zero(at_high, depth)
            return self.least_zero(at_high, depth) and self.least_zero(at_low - at_high, depth)
        found = of(0)
        for own, (one, value) in zip(atoms, term.parts.items(), strict=True):
            up = {power > 0 for _, power in own} or {True}
            if len(up) == 2:
                return False
            found = found + P({one: value}).put({name: low if (value > 0) in up else high})
        return self.least_zero(found, depth)

    def by_products(self, term: P) -> bool:
        """Return whether a term has no negative product, in what symbols exceed their least."""
        below = {
            n: min(dict(one).get(n, 0) for one in term.parts) for p in term.parts for n, _ in p
        }
        below = {name: power for name, power in below.items() if power < 0}
        if any(name[:2] != "2^" and self.lows.get(name, 0) < 1 for name in below):
            return False
        for name in term.names & self.quotients.keys():
            if not all(
                map(self.least_zero, (self.quotients[name][0], self.quotients[name][1] - 1))
            ):
                return False
        term = term * P({tuple(sorted(below.items())): 1}) ** -1
        term = term.put({name: symbol(name) + self.lows.get(name, 0) for name in term.names})
        found = of(0)
        for one, value in term.parts.items():
            part = of(value)
            for name, power in one:  # 2^x is 1 + x + a number from 0 on
                more = 1 + symbol(name[2:]) if name[:2] == "2^" else 0
                part = part * (symbol(name) + more) ** power
            found = found + part
        return all(value >= 0 for value in found.parts.values())

    def negative(self, term: P) -> bool:
        """Return whether a term is surely below 0."""
        return self.least_zero(-term - term.unit)

    def sampled(self) -> list[dict[str, int]]:
        """Some points of the case: what is negative there needs no search."""
        if self.samples is None:
            even = ({name: low + k for name, low in self.lows.items()} for k in range(7))
            self.samples = [*filter(self.has, even), *islice(points(self), 0, 60, 9)]
        return self.samples

    def has(self, point: Mapping[str, int]) -> bool:
        """Return whether numbers are in the case."""
        return all(valued(self, one, point) == 0 for one in self.equal) and all(
            valued(self, one, point) >= 0 for one in self.least
        )

    def whole(self, term: P) -> bool:
        """Return whether each product of a term is surely a whole number."""
        for one, value in term.parts.items():
            exponent = sum((symbol(n[2:]) * p for n, p in one if n[:2] == "2^"), start=of(0))
            twos = value.denominator.bit_length() - 1
            if value.denominator != 2**twos or any(p < 0 for n, p in one if n[:2] != "2^"):
                return False
            if (twos or exponent.parts) and not self.least_zero(exponent - twos):
                return False
        return True

    def never(self, term: P) -> bool:
        """Return whether a term is surely not 0: by its sign, or by a common divisor."""
        if self.negative(term) or self.negative(-term):
            return True
        scaled = term / term.unit
        rest = [int(value) for one, value in scaled.parts.items() if one]
        whole = self.whole(P({one: value for one, value in scaled.parts.items() if one}))
        return whole and bool(rest) and scaled.parts.get((), 0) % math.gcd(*rest) != 0

    # Formulas.

    def value(self, formula: Any) -> P:
        """A formula in the sizes. The data has terms for what isn't a sum or a product."""
        import sympy

        if isinstance(formula, str):
            names = symbols_of(self.values)
            formula = sympy.sympify(formula, locals=names)
            known = {names[name]: term.number for name, term in self.values.items()}
            numbers = {name: sympy.Integer(n) for name, n in known.items() if n is not None}
            try:
                return self.value(formula)
            except Refused:  # sqrt(w)/sqrt(r), where w and r are 2
                if not formula.free_symbols & numbers.keys():
                    raise
                return self.value(formula.xreplace(numbers))
        one = sympy.sympify(formula)
        if one.is_Rational:
            return of(Fraction(int(one.p), int(one.q)))
        if one.is_Symbol and one.name in self.values:
            return self.values[one.name]
        term = self.known.get(str(one))
        if term is not None:
            if not self.is_value(term, one):
                raise Refused(f"{one} is not {term}")
            return term
        if one.is_Add:
            return sum(map(self.value, one.args), start=of(0))
        if one.is_Mul:
            return math.prod(map(self.value, one.args), start=of(1))
        if one.is_Pow and one.exp.is_Rational:
            base, root = self.value(one.base), int(one.exp.q)
            for powers, number in base.parts.items() if len(base.parts) == 1 and root > 1 else ():
                values = [round(part ** (1 / root)) for part in number.as_integer_ratio()]
                found = P({tuple((n, p // root) for n, p in powers): Fraction(*values)})
                base, root = (found, 1) if found**root == base else (base, root)
            if root == 1:
                return base ** int(one.exp.p)
        raise Refused(f"the value of {one} is missing")

    def is_value(self, term: P, one: Any) -> bool:
        """Return whether a term is the value of a formula."""
        name = type(one).__name__
        if one.is_Mul:
            under = [part**-1 for part in one.args if part.is_Pow and part.exp.is_negative]
            above = [part for part in one.args if not (part.is_Pow and part.exp.is_negative)]
            divisor = math.prod(map(self.value, under), start=of(1))
            same = self.same(term * divisor, math.prod(map(self.value, above), start=of(1)))
            return same and self.negative(-divisor)
        if one.is_Pow and one.exp.is_Rational:
            power, root = int(one.exp.p), int(one.exp.q)
            same = self.same(term**root, self.value(one.base) ** power)
            return same and self.least_zero(term)
        values = [self.value(part) for part in one.args]
        if name in ("floor", "ceiling"):
            over = term - values[0] if name == "ceiling" else values[0] - term
            less = (1 - over).cleared
            return self.whole(term) and self.least_zero(over.cleared) and self.negative(-less)
        if name in ("Min", "Max"):
            sign = 1 if name == "Max" else -1
            best = any(self.same(term, value) for value in values)
            return best and all(self.least_zero(((term - v) * sign).cleared) for v in values)
        if name == "Log2":
            return self.same(two(term), values[0])
        if name == "GCD":
            divisor, other = sorted(values, key=lambda value: value.number is None)
            by = int(divisor.number or 0)
            rest = P({p: v for p, v in other.parts.items() if not by or v % by}).number
            sure = self.whole(other) and rest is not None
            return sure and math.gcd(by, int(rest or 0)) == term.number
        return one.is_Pow and self.value(one.base) == 2 and self.same(two(values[1]), term)

    def same(self, one: P, other: P) -> bool:
        """Return whether two terms are equal, for each residue of a symbol in a quotient too."""
        rest = self.reduced((one - other).cleared)
        for name in sorted(rest.names & self.quotients.keys()):
            above, below = self.quotients[name]
            if below.number is not None and len(above.names) == 1 and above.names <= set(self.lows):
                (own,) = above.names
                by = int(below.number)
                parts = (self.with_residue(own, by, residue) for residue in range(by))
                return all(not self.reduced(rest.put(values)).parts for values in parts)
        return not rest.parts

    def with_residue(self, own: str, by: int, residue: int) -> dict[str, P]:
        """The values of a symbol and of its quotients, if its residue is known."""
        values = {own: symbol(own) * by + residue}
        for name, (above, below) in self.quotients.items():
            if below.number == by and above.names == {own}:
                term = above.put(values) / by
                number = term.parts.get((), 0)
                term = term - number + math.floor(number)
                if self.whole(term):
                    values[name] = term
        return values


def linear(term: P) -> bool:
    """Return whether a term is a sum of symbols with whole factors."""
    plain = all(len(p) < 2 and sum(power for _, power in p) < 2 for p in term.parts)
    return plain and not term.exponents and term.unit == 1


def valued(case: Sizes, term: P, point: Mapping[str, int]) -> Any:
    """A term at numbers, quotients rounded down."""
    numbers = dict(point)
    for name in term.names - numbers.keys():
        above, below = (valued(case, one, point) for one in case.quotients[name])
        numbers[name] = int(above // below)
    found: Any = 0
    for one, value in term.parts.items():
        for name, power in one:
            base, up = (
                (numbers[name], power) if name[:2] != "2^" else (2, numbers[name[2:]] * power)
            )
            value = value * base**up if up >= 0 else value * Fraction(1, base**-up)
        found += value
    return found


def points(case: Sizes, most: int = 300) -> Iterator[dict[str, int]]:
    """Numbers for the symbols of a case, small ones first."""
    names = sorted(case.lows)
    for size in range(6):
        for steps in product(range(size + 1), repeat=len(names)):
            if sum(steps) == size and most:
                most -= 1
                point = {n: case.lows[n] + step for n, step in zip(names, steps, strict=True)}
                if case.has(point):
                    yield point
