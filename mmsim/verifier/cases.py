"""Cases of a domain: a part without sizes, and the parts that a rule distinguishes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

from sympy import Integer, divisors, factorint, multiplicity, sqrt, sympify

from mmsim.claims.claim import symbols_of
from mmsim.verifier.polynomials import P, Refused, of, read, symbol, two
from mmsim.verifier.sizes import Sizes


class Case(Sizes):
    """A part of a claim's domain."""

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
                if other.number and all(self.never(one - n) for n in divisors(other.number)):
                    return True
                if self.negative(other - one) and self.negative(-other):
                    return True
                quotient = other / one
                for twos, value in quotient.parts.items() if len(quotient.parts) == 1 else ():
                    below = value.denominator  # 2^k has no odd divisor but 1
                    if below & (below - 1) and all(name[:2] == "2^" for name, _ in twos):
                        return True
                rest = {p: v for p, v in quotient.parts.items() if not self.whole(P({p: v}))}
                odd = P(rest).number
                return odd is not None and odd % 1 != 0
        except Refused:
            return False
        numbers = one.number, other.number
        return None not in numbers and not true([kind, *map(str, numbers)], {})

    @property
    def empty(self) -> bool:
        """Return whether no sizes are surely in the case."""
        free = self.put({}, {})
        free.equal = []
        return (
            any(self.negative(one) for one in self.least)
            or any(free.never(one.cleared) or self.unsolvable(one) for one in self.equal)
            or any(self.unsolvable(one) for one in self.least if -one in self.least)
            or any(self.fails(fact) for fact in self.facts)
            or any(self.odd(fact[1]) for fact in self.facts if fact[::2] == ["power", "2"])
            or any(case.empty for case in self.simpler())
        )

    def odd(self, text: str) -> bool:
        """Return whether what divides an expression, by the conditions, has an odd divisor."""
        texts = [text]
        for one in texts:
            own = [fact for fact in self.facts if fact[0] == "divides" and fact[1] not in texts]
            texts += [fact[1] for fact in own if fact[2] in (one, f"sqrt({one})")]
        numbers = [int(self.values.get(one, of(0)).number or 0) for one in texts]
        return any(number & (number - 1) for number in numbers)

    def simpler(self) -> Iterator[Case]:
        """The same case with a symbol's term, or with the logarithm of a power of two."""
        for one, term in self.stated("equal"):
            for name in one.names - term.names if one.names <= self.lows.keys() else ():
                if one == symbol(name):
                    yield self.put({name: term}, {})
                    return
        for term, base in self.stated("power"):
            for name in term.names if base == 2 else ():
                if term == symbol(name):
                    yield self.powers({name: two(symbol(f"log {name}"))})
                    return

    def unsolvable(self, equation: P) -> bool:
        """Return whether the powers of a prime in an equation of two products never agree."""
        if len(equation.parts) != 2:
            return False
        (one, a), (other, b) = equation.parts.items()
        ((powers, value),) = (P({one: a}) / P({other: -b})).parts.items()
        plain = [power for name, power in powers if name[:2] != "2^"]
        odd = all(name[:2] != "2^" for name, _ in powers)
        sure = all(self.lows[name] > 0 for name, _ in powers if name[:2] != "2^")
        primes = factorint(value.numerator * value.denominator) if value > 0 and sure else ()
        return any((p > 2 or odd) and not solutions(plain, valuation(value, p)) for p in primes)

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
        if kind == "below":
            name, at = rest
            below, later = self.put({}, {}), self.put({}, {})
            below.least.append(at - 1 - symbol(name))
            later.lows[name] = max(self.lows[name], at)
            return [below, later]
        if kind == "at":
            name, at = rest
            later = self.put({}, {})
            later.lows[name] = max(self.lows[name], at)
            return [*(self.put({name: of(number)}, {}) for number in range(at)), later]
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
        for kind, *parts in self.facts if new else ():
            if kind == "square" and found.same(self.value(parts[0]), quotient**2):
                found.known[f"sqrt({parts[0]})"] = quotient
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
            known = whole and values.keys() <= {name for name, _ in one}
            if base == 2**log and known and (log == 1 or (log > 1 and alone)) and fit == values:
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


@cache
def parsed(text: str, names: tuple[str, ...]) -> Any:
    """An expression with symbols of these names."""
    return sympify(text, locals=symbols_of(names))


def true(fact: Any, values: Mapping[str, int]) -> bool:
    """Return whether a condition is true of numbers."""
    kind, *parts = fact
    if kind == "either":
        return any(all(true(one, values) for one in facts) for facts in parts[0])
    names = symbols_of(sorted(values))
    exact = {names[name]: Integer(number) for name, number in values.items()}
    one, other = (parsed(part, tuple(names)).xreplace(exact) for part in (parts[0], parts[-1]))
    if kind == "power":
        return any(one == other**k for k in range(int(one).bit_length()))
    tests = {"least": one >= 0, "equal": one == other, "square": sqrt(one).is_integer}
    return bool((other / one).is_integer if kind == "divides" else tests[kind])
