"""Verify a proof that is written as data. It shares no code with the prover.

It applies these lemmas and no others; `mmsim.proof.lemmas` compares the first ones with the engine.

L1. On banks, the stages of a request are the largest number of different words in one bank. A
    number that all lanes add to their words changes nothing.
L2. On address groups, they are the number of different groups.
L3. Atomics to one word don't merge. On banks each of them counts as a word of its own; a group
    takes as many stages as the most atomics to one of its words.
L4. A round takes the stages of the unit that has most of them, plus latency - 1. Rounds follow one
    another. Blocks are dealt to DMMs in turn: of b blocks in a row, some DMM has ceil(b/d), and
    none more.
L5. If S(x + 1) - S(x) = f(x), the sum of f from a to b - 1 is S(b) - S(a).
L6. Words are different if their difference is at least 1, or at most -1, for all sizes.

The data is trusted to list the requests of the program; runs are compared with it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from inspect import signature
from itertools import combinations, islice, product
from random import Random
from types import SimpleNamespace
from typing import Any

from sympy import factorint, multiplicity, sympify

from mmsim.claims.claim import Claim, call_with, show, symbols_of
from mmsim.engines import selection
from mmsim.proof.polynomials import P, Refused, divides, of, read, symbol, two

FORMAT = "mmsim proof 1"
DEEPEST = 3
"""The most assumptions or quotients that one inequality may need."""
POINTS = 60
"""The most points at which the conditions are compared with the claim's own tests."""
LARGEST = 3000
"""The largest size of a run."""


class Case:
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

    def put(self, values: dict[str, P], lows: Mapping[str, int]) -> Case:
        """The part of the case in which symbols have values; `lows` has new symbols."""
        if lows.keys() & self.lows.keys():
            raise Refused("a symbol stands for two things")
        kept = {name: low for name, low in self.lows.items() if name not in values} | dict(lows)
        found = Case({k: v.put(values) for k, v in self.values.items()}, kept, self.facts)
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
            return term.number >= 0
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
        """Terms from which it follows, at least 0, that a term with a quotient is; none if unknown."""
        rest, factor = term.put({name: 0}), term.put({name: 1}) - term.put({name: 0})
        if term != rest + factor * symbol(name):
            return []
        if factor.number is not None:  # whole numbers: q >= -r if and only if a >= -r b
            rest = rest / abs(factor.number)
            number = rest.parts.get((), 0)
            rest = rest - number + math.floor(number)
            if self.whole(rest):
                up = factor.number > 0
                return [above + rest * below if up else (rest + 1) * below - above - 1]
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
            formula = sympy.sympify(formula, locals=symbols_of(self.values))
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
            below = [part**-1 for part in one.args if part.is_Pow and part.exp.is_negative]
            rest = [part for part in one.args if not (part.is_Pow and part.exp.is_negative)]
            divisor = math.prod(map(self.value, below), start=of(1))
            same = self.same(term * divisor, math.prod(map(self.value, rest), start=of(1)))
            return same and self.negative(-divisor)
        if one.is_Pow and one.exp.is_Rational:
            power, root = int(one.exp.p), int(one.exp.q)
            same = self.same(term**root, self.value(one.base) ** power)
            return same and self.least_zero(term)
        values = [self.value(part) for part in one.args]
        if name in ("floor", "ceiling"):
            over = term - values[0] if name == "ceiling" else values[0] - term
            under = (1 - over).cleared
            return self.whole(term) and self.least_zero(over.cleared) and self.negative(-under)
        if name in ("Min", "Max"):
            sign = 1 if name == "Max" else -1
            best = any(self.same(term, value) for value in values)
            return best and all(self.least_zero(((term - v) * sign).cleared) for v in values)
        if name == "Log2":
            return self.same(two(term), values[0])
        if name == "GCD":
            by, other = sorted(values, key=lambda value: value.number is None)
            rest = P({p: v for p, v in other.parts.items() if v % (by.number or 1)}).number
            whole = self.whole(other) and by.number and rest is not None
            return whole and math.gcd(int(by.number), int(rest)) == term.number  # type: ignore
        return one.is_Pow and self.value(one.base) == 2 and self.same(two(values[1]), term)

    def same(self, one: P, other: P) -> bool:
        """Return whether two terms are equal."""
        return not self.reduced((one - other).cleared).parts

    # The domain.

    def fails(self, fact: Any) -> bool:
        """Return whether a condition is surely false."""
        kind, *parts = fact
        if kind == "either":
            return all(any(map(self.fails, facts)) for facts in parts[0])
        try:
            one, other = self.value(parts[0]), self.value(parts[-1])
            if kind == "least":
                return self.negative(one.cleared)
            if kind == "equal":
                return self.never((one - other).cleared)
            if kind == "divides":
                quotient = other / one
                rest = {p: v for p, v in quotient.parts.items() if not self.whole(P({p: v}))}
                odd = P(rest).number
                less = self.negative(other - one) and self.negative(-other)
                return less or (odd is not None and odd % 1 != 0)
        except Refused:
            return False
        numbers = one.number, other.number
        return None not in numbers and not true([kind, *map(str, numbers)], {})

    @property
    def empty(self) -> bool:
        """Return whether no sizes are surely in the case."""
        return (
            any(self.negative(one) for one in self.least)
            or any(self.never(one.cleared) for one in self.equal)
            or any(self.fails(fact) for fact in self.facts)
        )

    def parts(self, rule: Any) -> list[Case]:
        """The cases that a rule distinguishes: each point of this case is in one of them."""
        kind, *rest = rule
        if kind == "residue":
            name, names = rest
            low, by = self.lows[name], len(names)
            return [
                self.put({name: symbol(new) * by + at}, {new: max(0, -((at - low) // by))})
                for at, new in enumerate(names)
            ]
        if kind == "at":
            name, at = rest
            low = self.lows[name]
            later = self.put({}, {})
            later.lows[name] = max(low, at)
            return [*(self.put({name: of(number)}, {}) for number in range(low, at)), later]
        if kind == "beside":
            name, other, at, more, less = rest
            return [
                self.put({name: symbol(other) + at + symbol(more)}, {more: 0}),
                self.put({other: symbol(name) - at + 1 + symbol(less)}, {less: 0}),
            ]
        if kind == "sign":
            term = read(rest[0])
            found = [self.put({}, {}), self.put({}, {})]
            if not self.whole(term / term.unit):
                raise Refused(f"{term} may be no multiple of {term.unit}")
            found[0].least.append(term)
            found[1].least.append(-term - term.unit)
            return found
        if kind == "factors":
            return self.factors(*rest)
        if kind == "equation":
            return [self.equation(*map(read, rest))]
        if kind == "powers":
            return [self.powers({name: read(term) for name, term in rest[0].items()})]
        name, term = rest[0], read(rest[1])
        sources = {
            "solve": self.equal,
            "sum": [one - other for one, other in self.stated("equal")],
            "equal": [one for one in self.least if -one in self.least],
        }[kind]
        if not any(self.solves(one.cleared, name, term) for one in sources):
            raise Refused(f"it doesn't follow that {name} = {term}")
        return [self.put({name: term}, {})]

    def stated(self, kind: str) -> Iterator[tuple[P, P]]:
        """The terms of the conditions of a kind."""
        for one, *parts in self.facts:
            try:
                if one == kind:
                    yield self.value(parts[0]), self.value(parts[-1])
            except Refused:
                continue

    def solves(self, equation: P, name: str, term: P) -> bool:
        """Return whether a symbol's one value is a term, by an equation that is linear in it."""
        own = [dict(one) for one in equation.parts if name in dict(one) or f"2^{name}" in dict(one)]
        single = len(own) == 1 and own[0].get(name) == 1 and f"2^{name}" not in own[0]
        others = [n for one in own for n in one if n != name and n[:2] != "2^"]
        sure = single and all(self.lows[other] > 0 for other in others)
        return sure and equation.put({name: term}) == 0 and name not in term.names

    def equation(self, above: P, below: P, quotient: P) -> Case:
        """The case with an equation that follows from a condition; the quotient may be new."""
        products = [above, below, quotient]
        if any(len(one.parts) != 1 or next(iter(one.parts.values())) <= 0 for one in products):
            raise Refused("an equation of sums")
        new = quotient.names - self.lows.keys()
        ratio = above / (below * quotient)
        reasons = [one / other for one, other in self.stated("equal") if len(other.parts) == 1]
        reasons += [one for one, base in self.stated("power") if base == 1]
        if new:
            reasons = [
                other / (one * quotient)
                for one, other in self.stated("divides")
                if len(one.parts) == 1
            ]
            reasons += [one / quotient**2 for one, _ in self.stated("square")]
        fits = any(ratio in (one, one**-1) for one in reasons if len(one.parts) == 1)
        known = all(self.lows[name] > 0 for one in products for name in one.plain - new)
        if not fits or not known or (new and quotient != symbol(*new)):
            raise Refused(f"it isn't a condition that {above} = {below} * {quotient}")
        found = self.put({}, dict.fromkeys(new, 1))
        found.equal.append((above - below * quotient).cleared)
        return found

    def powers(self, values: dict[str, P]) -> Case:
        """The case in which symbols are powers of two, as their product is one."""
        for term, base in self.stated("power"):
            if len(term.parts) != 1 or base.number is None:
                continue
            ((one, value),) = term.parts.items()
            log = int(base.number).bit_length() - 1
            alone = len(one) == 1 and one[0][1] == 1 and value == 1
            whole = value == 2 ** (int(value).bit_length() - 1) and all(p > 0 for _, p in one)
            logs = {name: "".join(term.names) for name, term in values.items()}
            fit = {name: two(symbol(log_) * log) for name, log_ in logs.items()}
            if base == 2**log and whole and (log == 1 or (log > 1 and alone)) and fit == values:
                if values.keys() <= {name for name, _ in one}:
                    return self.put(values, dict.fromkeys(logs.values(), 0))
        raise Refused(f"it isn't a condition that {', '.join(values)} are powers of two")

    def factors(self, equation: Any, names: Any, columns: Any, choices: Any) -> list[Case]:
        """The cases of an equation of products: each prime's powers satisfy a linear equation.

        Its solutions are a first one plus multiples of those in `columns`, a new symbol for each.
        """
        above, below, quotient = map(read, equation)
        ((powers, value),) = (above / (below * quotient)).parts.items()
        pairs = [e.parts.items() for e in self.equal if len(e.parts) == 2]
        ratios = [P({one: a}) / P({other: -b}) for (one, a), (other, b) in pairs]
        weights = [dict(powers).get(name, 0) or dict(powers).get(f"2^{name}", 0) for name in names]
        plain = [name for name in names if name in dict(powers)]
        every = {name.removeprefix("2^") for name, _ in powers}
        known = any(P({powers: value}) ** sign in ratios for sign in (1, -1))
        known = known and len(powers) == len(names) and every == set(names)
        if not known or names[: len(plain)] != plain or any(self.lows[n] < 1 for n in plain):
            raise Refused("an equation of products that isn't known")
        primes = sorted(factorint(value.numerator * value.denominator))
        firsts = []
        for prime in primes:
            own = weights if prime == 2 else weights[: len(plain)]
            firsts.append([(prime, one) for one in solutions(own, valuation(value, prime))])
        needed = {
            tuple((prime, tuple(one)) for prime, one in choice) for choice in product(*firsts)
        }
        given = {tuple((prime, tuple(one)) for prime, one in choice) for choice in choices}
        if not needed <= given or not set(solutions(weights)) <= set(map(tuple, columns.values())):
            raise Refused("solutions of an equation of products are missing")
        found = []
        for choice in choices:
            values = {name: of(int(name in plain)) for name in names}
            lows = {}
            for new, column in columns.items():
                twos = any(column[len(plain) :])
                lows[new] = int(not twos)
                for name, power in zip(names, column, strict=True):
                    if name in plain:
                        factor = two(symbol(new) * power) if twos else symbol(new) ** power
                        values[name] = values[name] * factor
                    else:
                        values[name] = values[name] + symbol(new) * power
            for prime, first in choice:
                for name, power in zip(names, first, strict=False):
                    more = values[name] * prime**power if name in plain else values[name] + power
                    values[name] = more
            found.append(self.put(values, lows))
        return found


def linear(term: P) -> bool:
    """Return whether a term is a sum of symbols with whole factors."""
    plain = all(len(p) < 2 and sum(power for _, power in p) < 2 for p in term.parts)
    return plain and not term.exponents and term.unit == 1


def valuation(value: Fraction, prime: int) -> int:
    """The power of a prime in a number."""
    above, below = (multiplicity(prime, n) for n in (value.numerator, value.denominator))
    return int(above - below)


def solutions(weights: list[int], number: int | None = None) -> list[tuple[int, ...]]:
    """The least solutions of sum(weight x) + number = 0 from 0 on; without number, of those but 0.

    No number in them is larger than the largest weight, or the number.
    """
    most = max(map(abs, (*weights, number or 0)), default=0)
    if (most + 1) ** len(weights) > 300_000:
        raise Refused("an equation of products with too many solutions")
    every = [
        one
        for one in product(range(most + 1), repeat=len(weights))
        if sum(x * weight for x, weight in zip(one, weights, strict=True)) == -(number or 0)
    ]
    steps = [one for one in every if any(one)] if number is None else solutions(weights)
    return [
        one
        for one in (steps if number is None else every)
        if not any(all(a <= b for a, b in zip(s, one, strict=True)) for s in steps if s != one)
    ]


def true(fact: Any, values: Mapping[str, int]) -> bool:
    """Return whether a condition is true of numbers."""
    kind, *parts = fact
    if kind == "either":
        return any(all(true(one, values) for one in facts) for facts in parts[0])
    exact = {name: sympify(number) for name, number in values.items()}
    one, other = (sympify(part, locals=exact) for part in (parts[0], parts[-1]))
    if kind == "power":
        return any(one == other**k for k in range(int(one).bit_length()))
    tests = {"least": one >= 0, "equal": one == other, "square": (one ** sympify("1/2")).is_integer}
    return bool((other / one).is_integer if kind == "divides" else tests[kind])


# Requests.


def stages(case: Case, unit: str, width: int, words: list[P], atomic: bool = False) -> int:
    """The stages of a request for words, each a sum in the symbols of a case: L1 to L3, and L6."""
    if unit == "banks":
        first = words[0].parts.items()
        common = [one for one in first if one[0] and all(one in w.parts.items() for w in words)]
        words = [word - P(dict(common)) for word in words]
    known: dict[Any, bool] = {}
    cells = []
    for word in words:
        row, place = {}, Fraction(0)
        for one, value in (word / width).parts.items():
            part = one, value
            if one and part not in known:
                known[part] = case.whole(P(dict([part])))
            if one and not known[part]:
                raise Refused(f"the bank or group of the word {word} depends on sizes")
            row[one] = value
        number = row.pop((), 0) * width
        cells.append((P(row) + number // width, number % width))
    places = {place for _, place in cells} if unit == "banks" else {None}
    for place in places:
        rows = {row for row, own in cells if place in (None, own)}
        for one in {one - other for one, other in combinations(rows, 2)}:
            if not case.negative(one) and not case.negative(-one):
                raise Refused(f"words that may be the same: {one} may be 0")
    if unit == "banks":
        return max(Counter(place for _, place in (cells if atomic else set(cells))).values())
    if not atomic:
        return len({row for row, _ in cells})
    most: Counter[P] = Counter()
    for (row, _), count in Counter(cells).items():
        most[row] = max(most[row], count)
    return sum(most.values())


Counts = tuple[P, P, P, P]
"""Requests, stages, stages in turn, and rounds."""


COUNTS = ("requests", "stages", "stages in turn", "rounds")


class Rounds:
    """The rounds of an access in a launch."""

    def __init__(self, case: Case, launch: Any, row: Any, sums: Mapping[Any, P]) -> None:
        self.case, self.launch, self.sums = case, launch, sums
        self.kind, self.array = row["kind"], row["array"]
        self.width = int(case.value(launch.machine.width).number or 0)
        machine = type(launch.machine).__name__
        self.shared = machine == "HMM" and self.array not in launch.arguments
        self.space = "memory" if machine != "HMM" else "shared" if self.shared else "global"
        self.unit = "banks" if self.shared or machine == "DMM" else "groups"
        self.requests = 0

    def total(self, term: P, name: str, low: P, high: P) -> P:
        """The sum of a term over a range: L5."""
        hidden = term.names
        for quotient in reversed(self.case.quotients):
            if quotient in hidden:
                hidden = hidden.union(*(one.names for one in self.case.quotients[quotient]))
        if name not in hidden:
            return term * (high - low)
        closed = self.sums.get((name, term))
        if closed is None or name not in term.names:
            raise Refused(f"the sum of {term} over {name} is missing")
        return closed.put({name: high}) - closed.put({name: low})

    @contextmanager
    def over(self, ranges: Any) -> Iterator[list[tuple[str, P, P]]]:
        """Ranges, outermost first; none ends before it begins."""
        case, found = self.case, []
        before = list(case.ranges), case.memory, case.samples
        for name, *ends in ranges:
            low, high = map(read, ends)
            if not self.case.least_zero(low) or not self.case.least_zero(high - low):
                raise Refused(f"the range of {name}, {low} to {high} - 1, may end before it begins")
            if name in self.case.lows or name in (one[0] for one in self.case.ranges):
                raise Refused(f"{name} stands for two things")
            found.append((name, low, high))
            case.ranges.append(found[-1])
            case.memory = {}
            inner = [p for point in case.sampled() for p in inside(case, [(name, *ends)], point)]
            case.samples = inner[:: len(inner) // 12 + 1]
        yield found
        case.ranges, case.memory, case.samples = before

    def counts(self, made: Any) -> Counts:
        """The counts of parts, one after the other: L4."""
        found = (of(0),) * 4
        for one in made:
            if "over" in one:
                with self.over([one["over"]]) as ((name, low, high),):
                    inner = self.counts(one["made"])
                more = tuple(self.total(term, name, low, high) for term in inner)
            elif "times" in one:
                raise Refused("trips of several warps that are taken together")
            else:
                more = self.round(one)
            found = tuple(a + b for a, b in zip(found, more, strict=True))
        return found  # type: ignore[return-value]

    def round(self, one: Any) -> Counts:
        """The counts of one round."""
        requests, total, there = of(0), of(0), False
        groups: dict[Any, Any] = {}
        for own in one["classes"]:
            block = read(own["block"])
            with self.over(own["ranges"]) as ranges:
                stage = self.stages(own)
                there = there or all(self.case.least_zero(b - a - 1) for _, a, b in ranges)
            outer = [over for over in ranges if over[0] in block.names and self.shared]
            size = count = of(1)
            for over in reversed(ranges):
                size = self.total(size, *over)
                count = self.total(count, *over) if over in outer else count
                stage = stage if over in outer else self.total(stage, *over)
            if ranges[: len(outer)] != outer or stage.names & {name for name, _, _ in outer}:
                raise Refused("stages of a shared memory that depend on the block")
            requests, total = requests + size, total + stage * count
            each, _, warps = groups.get((block, *outer), (of(0), count, []))
            groups[block, *outer] = (
                each + stage,
                count,
                [*warps, (ranges[len(outer) :], own["lanes"])],
            )
        rounds = read(one["rounds"])
        if not (rounds == 1 and there) and not (rounds == 0 and requests == 0):
            raise Refused("a round that may have no request")
        return requests, total, self.busy(one, groups) if self.shared else total, rounds

    def stages(self, own: Any) -> P:
        """The stages of a class of requests, verified."""
        given = self.launch.stages.get(self.array)
        if not own["words"]:
            if given is None:
                raise Refused(f"requests to {self.array} without words")
            return of(0) if self.together else self.case.value(given)
        self.requests += 1
        words = lanes(own)
        found = stages(self.case, self.unit, self.width, words, self.kind == "atomic")
        if read(own["stages"]) != found:
            raise Refused(f"a request has {read(own['stages'])} stages in the data, but {found}")
        return of(found)

    @property
    def together(self) -> bool:
        """Return whether the claim gives the stages of all requests together."""
        return bool(getattr(self.launch.stages.get(self.array), "free_symbols", ()))

    def busy(self, one: Any, groups: Any) -> P:
        """The stages of the DMM that has most of them: L4, where blocks have equal stages."""
        case, machine = self.case, self.launch.machine
        dmms, share = case.value(machine.dmms), read(one["share"])
        (each, count, warps), *others = groups.values()
        block, *outer = next(iter(groups))
        in_turn = not outer or (len(outer) == 1 and block == symbol(outer[0][0]))
        if others or not in_turn:
            count = sum((own for _, own, _ in groups.values()), start=of(0))
            size = self.launch.block_size or self.launch.threads
            every = case.same(count * case.value(size), case.value(self.launch.threads))
            if not every or any(other[0] != each or other[2] != warps for other in others):
                raise Refused("blocks that access their shared memories differently")
        rest = share * dmms - count
        if not case.whole(share) or not case.least_zero(rest) or not case.negative(rest - dmms):
            raise Refused(f"{share} is not the largest number of blocks on a DMM")
        return each * share


def lanes(own: Any) -> list[P]:
    """The words of a class of requests, lane by lane."""
    return [read(word, lane) for lane in range(own["lanes"]) for word in own["words"]]


# Proofs.


class Checker:
    """Verifies the proof of a claim at one width, and counts what it verified."""

    def __init__(self, claim: Claim, proof: Any) -> None:
        self.claim, self.width = claim, proof["width"]
        self.domains = proof["domains"]
        self.done: Counter[str] = Counter()
        self.where = ""

    def verify(self) -> Counter[str]:
        """Verify all cases. Raises `Refused` at the first false one."""
        try:
            self.complete()
            for domain in self.domains:
                fixed, texts = domain["fixed"], domain["texts"]
                self.where = show({**fixed, **texts})
                self.read_well(domain)
                values = {name: of(number) for name, number in fixed.items()}
                lows = self.lows(fixed, texts)
                case = Case(values | {name: symbol(name) for name in lows}, lows, domain["facts"])
                self.tree(case, domain["tree"], texts, ())
        except Refused as error:
            about = f"w = {self.width}, " if self.width else ""
            raise Refused(f"{self.claim.id}, {about}{self.where}: {error}") from None
        except (KeyError, IndexError, TypeError, ValueError, ZeroDivisionError) as error:
            kind = type(error).__name__
            raise Refused(
                f"{self.claim.id}, {self.where}: not a proof ({kind}: {error})"
            ) from error
        return self.done

    def lows(self, fixed: Any, texts: Any) -> dict[str, int]:
        """The least value of each parameter that is free."""
        cases = self.claim.cases()
        names = {name for one in cases for name in one} - fixed.keys() - texts.keys()
        return {name: int(all(one.get(name) != 0 for one in cases)) for name in sorted(names)}

    def complete(self) -> None:
        """Check that no text and no fixed number is left out."""
        cases = self.claim.cases()
        strings = {name for one in cases for name, value in one.items() if isinstance(value, str)}
        texts = [{name: one.get(name) for name in strings} for one in cases]
        wide = self.width is not None
        for fixed in {frozenset(one["fixed"].items()) for one in self.domains}:
            own = [one["texts"] for one in self.domains if one["fixed"] == dict(fixed)]
            if (
                any(one not in own for one in texts)
                or wide
                and (dict(fixed).get("w") != self.width)
            ):
                raise Refused("a part of the domain is missing")
        for one in self.domains:
            for name in one["fixed"].keys() - {"w"}:
                given = {other["fixed"][name] for other in self.domains}
                for number in range(1, 4 * self.width + 1):
                    numbers = {"w": self.width, name: number}
                    tests = [r for r in self.claim.requires if parameters(r) <= numbers.keys()]
                    if number not in given and all(call_with(r.holds, numbers) for r in tests):
                        raise Refused(f"{name} = {number} is missing")

    def read_well(self, domain: Any) -> None:
        """Compare the conditions of the data with the claim's own tests, at numbers."""
        fixed, texts, width = domain["fixed"], domain["texts"], self.width or 4
        lows = self.lows(fixed, texts)
        names = list(lows)
        few = sorted({0, 1, 2, 3, 4, 6, 8, width, 2 * width, width**2, 4 * width**2})
        points = [
            dict(zip(names, one, strict=True))
            for one in islice(product(few, repeat=len(names)), 0, 20_000, 7)
        ]
        Random(0).shuffle(points)
        points = [one for one in self.claim.cases() if {**one, **fixed, **texts} == one] + points
        tested = 0
        for point in points:
            numbers = {**point, **fixed, **texts}
            if any(point[name] < low for name, low in lows.items()) or not self.holds(numbers):
                continue
            exact = {name: value for name, value in numbers.items() if isinstance(value, int)}
            for fact in domain["facts"]:
                if not true(fact, exact):
                    raise Refused(f"the condition {fact} is false where {show(numbers)}")
            tested += 1
            if tested == POINTS:
                break
        self.done["points of the domain"] += tested

    def holds(self, numbers: dict[str, Any]) -> bool:
        """Return whether the claim's conditions hold of a case."""
        try:
            derived = {name: call_with(f, numbers) for name, f in self.claim.derived.items()}
            if any(numbers.get(name, value) != value for name, value in derived.items()):
                return False
            return all(call_with(one.holds, numbers | derived) for one in self.claim.requires)
        except (ArithmeticError, ValueError):
            return False

    def tree(self, case: Case, node: Any, texts: Any, path: tuple[str, ...]) -> None:
        """Verify the parts of a case."""
        self.where = f"case {self.done['cases'] + 1} ({', '.join(path)})"
        if node is None:
            if not case.empty:
                raise Refused("this part of the domain isn't covered")
            self.done["empty cases"] += 1
        elif "leaf" in node:
            self.done["cases"] += 1
            self.leaf(case, node["leaf"], texts)
        else:
            kind, name, *_ = node["rule"]
            parts = case.parts(node["rule"])
            if {*node["parts"]} - {str(at) for at in range(len(parts))}:
                raise Refused(f"more parts than {kind} has")
            for at, part in enumerate(parts):
                step = f"{kind} {name if isinstance(name, str) else ''} {at}".replace("  ", " ")
                self.tree(part, node["parts"].get(str(at)), texts, (*path, step))

    def leaf(self, case: Case, data: Any, texts: Any) -> None:
        """Verify a case: sums, requests, the measured and the claimed term, and runs."""
        where = self.where
        case.known = {name: read(term) for name, term in data["expressions"].items()}
        for name, terms in data["quotients"].items():
            case.quotients[name] = read(terms[0]), read(terms[1])
        for name, term in data["values"].items():
            self.define(case, name, read(term))
        sums = {}
        for name, *terms in data["sums"]:
            term, closed = map(read, terms)
            if closed.put({name: symbol(name) + 1}) - closed != term:
                raise Refused(f"{closed} is not the sum of {term} over {name}")
            sums[name, term] = closed
            self.done["sums"] += 1
        numbers = {name: one.number for name, one in case.values.items()}
        exact = {name: sympify(int(n)) for name, n in numbers.items() if n is not None}
        symbols = {**symbols_of(case.values), **exact, **texts}
        launches = list(call_with(self.claim.launches, symbols))
        rows, times = [], []
        for launch, accesses in zip(launches, data["launches"], strict=True):
            for row in accesses:
                self.where = f"{where}, line {row['line']} of {row['function']}, {row['array']}"
                one = Rounds(case, launch, row, sums)
                requests, total, busy, rounds = one.counts(row["made"])
                if one.together:
                    total = busy = case.value(launch.stages[one.array])
                self.done["requests"] += one.requests
                given = [read(row[name]) for name in ("requests", "stages", "busy", "rounds")]
                for name, mine, its in zip(
                    COUNTS, (requests, total, busy, rounds), given, strict=True
                ):
                    if not case.same(mine, its):
                        raise Refused(f"{name} are {mine}, not {its}")
                latency = "latency" if one.space == "memory" else f"{one.space}_latency"
                time = busy + rounds * (case.value(getattr(launch.machine, latency)) - 1)
                times.append(time)
                rows.append(
                    SimpleNamespace(
                        **{key: row[key] for key in ("function", "file", "line", "array", "kind")},
                        space=one.space,
                        requests=requests,
                        stages=total,
                        time=time,
                    )
                )
        self.where = where
        measured = of(
            self.claim.measure(
                SimpleNamespace(
                    time=sum(times, start=of(0)),
                    stages=sum((row.stages for row in rows), start=of(0)),
                    accesses=rows,
                    rounds=rows,
                    machine=SimpleNamespace(width=self.width),
                    launches=len(launches),
                )
            )
        )
        formula = self.claim.formula(**{name: symbols[name] for name in self.claim.parameters})
        claimed = case.value(formula)
        for name, mine in (("measured", measured), ("claimed", claimed)):
            if not case.same(mine, read(data[name])):
                raise Refused(f"the {name} term is {mine}, not {read(data[name])}")
        if not case.same(measured, claimed):
            raise Refused(f"measured - claimed is {measured - claimed}, not 0")
        self.run(case, data, measured, texts)

    def define(self, case: Case, name: str, term: P) -> None:
        """Give a parameter that follows from others its term."""
        old = case.values[name]
        if old == term:
            return
        others = [one for other, one in case.values.items() if other != name]
        used = {n for one in (*others, *case.least, *case.equal) for n in one.names}
        reasons = [fact[2] for fact in case.facts if fact[:2] == ["equal", name]]
        if (
            old != symbol(name)
            or name in used
            or not any(case.same(case.value(one), term) for one in reasons)
        ):
            raise Refused(f"{name} is {old}, not {term}")
        case.values[name] = term

    # Runs.

    def run(self, case: Case, data: Any, measured: P, texts: Any) -> None:
        """Compare the requests of the data with those of a run at a small point."""
        for point in points(case):
            values = {name: valued(case, one, point) for name, one in case.values.items()}
            numbers = {**{name: int(value) for name, value in values.items()}, **texts}
            whole = all(value.denominator == 1 for value in values.values())
            if not whole or max(values.values()) > LARGEST or not self.holds(numbers):
                continue
            run, traces = traced(self.claim, numbers)
            if not traces:  # a run that the claim remembers
                continue
            if len(traces) != len(data["launches"]):
                raise Refused(f"{len(traces)} launches in the run where {show(numbers)}")
            for accesses, trace in zip(data["launches"], traces, strict=True):
                unknown = {place(row) for row in accesses if not sure(row["made"])}
                mine: Counter[Any] = Counter()
                for row in accesses:
                    known = place(row) not in unknown
                    for words in requests(case, row["made"], dict(point)):
                        mine[*place(row), *(words if known else (None, None))] += 1
                its: Counter[Any] = Counter()
                for one in trace.dispatches:
                    key = one.function, one.line, one.array, one.kind
                    words = one.elements, one.stage_count
                    its[*key, *((None, None) if key in unknown else words)] += 1
                if mine != its:
                    wrong = next(iter((mine - its) + (its - mine)))
                    raise Refused(
                        f"where {show(numbers)}, the run has {its[wrong]} requests of line "
                        f"{wrong[1]} for {wrong[2]}{wrong[4]}, not {mine[wrong]}"
                    )
                self.done["requests of runs"] += its.total()
            if self.claim.measure(run) != valued(case, measured, point):
                raise Refused(f"a run measures {self.claim.measure(run)} where {show(numbers)}")
            self.done["runs"] += 1
            return


def valued(case: Case, term: P, point: Mapping[str, int]) -> Any:
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


def points(case: Case, most: int = 300) -> Iterator[dict[str, int]]:
    """Numbers for the symbols of a case, small ones first."""
    names = sorted(case.lows)
    for size in range(6):
        for steps in product(range(size + 1), repeat=len(names)):
            if sum(steps) == size and most:
                most -= 1
                point = {n: case.lows[n] + step for n, step in zip(names, steps, strict=True)}
                if case.has(point):
                    yield point


def inside(case: Case, ranges: Any, point: dict[str, int]) -> Iterator[dict[str, int]]:
    """The points of ranges."""
    if not ranges:
        yield point
        return
    (name, *ends), *rest = ranges
    low, high = (int(valued(case, read(end), point)) for end in ends)
    for number in range(low, high):
        yield from inside(case, rest, {**point, name: number})


def requests(case: Case, made: Any, point: dict[str, int]) -> Iterator[tuple[Any, Any]]:
    """The words and the stages of all requests at numbers."""
    for one in made:
        if "over" in one:
            for inner in inside(case, [one["over"]], point):
                yield from requests(case, one["made"], inner)
        for own in one.get("classes", ()):
            words = lanes(own)
            for inner in inside(case, own["ranges"], point):
                found = tuple(int(valued(case, word, inner)) for word in words)
                yield (found, int(read(own["stages"]).number or 0)) if found else (None, None)


def place(row: Any) -> tuple[Any, ...]:
    """The access of a row."""
    return row["function"], row["line"], row["array"], row["kind"]


def sure(made: Any) -> bool:
    """Return whether the words of all requests are known."""
    return all(
        sure(one["made"]) if "made" in one else all(own["words"] for own in one["classes"])
        for one in made
    )


def traced(claim: Claim, numbers: dict[str, Any]) -> tuple[Any, list[Any]]:
    """A claim's run on the engine of events, and the traces of its launches."""
    found = []
    launch = selection.launch

    def recorded(bound: Any, engine: Any, trace: Any, check: bool) -> Any:
        result = launch(bound, "events", True, check)
        found.append(result.trace)
        return result

    selection.launch = recorded
    try:
        return claim.run(schedule="synchronous", **numbers), found
    finally:
        selection.launch = launch


def parameters(one: Any) -> set[str]:
    return set(signature(one.holds).parameters)


def check(claims: list[Claim], proof: Any) -> Counter[str]:
    """Verify a proof that was read from JSON, and count what was verified.

    Raises `Refused`, which names the claim, the width, the case and the line of what is false.
    """
    if not isinstance(proof, dict) or proof.get("format") != FORMAT:
        raise Refused(f"this is no proof of the format {FORMAT!r}")
    claim = next((one for one in claims if one.id == proof["claim"]), None)
    if claim is None or claim.launches is None:
        raise Refused(f"{proof['claim']!r} is no claim with launches in symbols")
    return Checker(claim, proof).verify()
