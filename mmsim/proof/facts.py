"""Facts about terms: bounds, quotients and comparisons, under what is known of the symbols.

A free symbol stands for any whole number from 0 on. A bound symbol, a loop's or a warp's number,
has a range. Where a fact doesn't follow, `Split` says which symbol to distinguish cases of.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from mmsim.proof.terms import (
    MANY,
    ONE,
    Coefficient,
    Key,
    Product,
    Term,
    Undecided,
    exponent_of,
    least,
    power_of_two,
    simple,
    symbol,
    times,
)

DEEPEST = 24
"""The most steps of one chain of bounds."""


class Split(Exception):
    """A fact depends on a symbol: below `at`, or from it on; or on its residue modulo `modulus`.

    For two free symbols, `other` and `at`: symbol >= other + at, or not. Else a term is
    `assumed` to be at least 0, or not.
    """

    def __init__(
        self,
        name: str,
        at: Term | None = None,
        modulus: int = 0,
        other: str | None = None,
        assumed: Term | None = None,
        divisor: Term | None = None,
    ) -> None:
        super().__init__(f"{name}: at {at}, modulo {modulus}, beside {other}, {assumed} >= 0")
        self.name, self.at, self.modulus, self.other = name, at, modulus, other
        self.assumed = assumed
        self.divisor = divisor


class _Known(Exception):
    """An answer: whether a term is at least 0 follows from another term."""

    def __init__(self, truth: bool) -> None:
        super().__init__(truth)
        self.truth = truth


@dataclass(frozen=True)
class Range:
    """A symbol of a loop or a warp: from `low` to `high` - 1, which is at least `low`."""

    name: str
    low: Term
    high: Term

    @cached_property
    def key(self) -> tuple[str, Key, Key]:
        """A key that equal ranges share."""
        return self.name, self.low.key, self.high.key


@dataclass(frozen=True)
class Quotient:
    """A symbol for a quotient, rounded down, of terms from 0 on; the remainder is below `rest`."""

    above: Term
    below: Term
    rest: Term


@dataclass
class _Found:
    """Results with the same bound symbols: bounds, and which terms are at least 0."""

    bounds: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    decided: dict[tuple[Any, ...], bool] = field(default_factory=dict)


def _least(value: Coefficient) -> Any:
    return least(value) if isinstance(value, np.ndarray) else value


class Facts:
    """Known facts: ranges of bound symbols, outermost first, and quotients by their symbols.

    `shares` has products (above, below, quotient) that are known to be whole.
    """

    def __init__(self) -> None:
        self.until = math.inf
        self.lows: dict[str, int] = {}
        self.ranges: list[Range] = []
        self.quotients: dict[str, Quotient] = {}
        self.assumed: list[Term] = []
        self.replaced: dict[str, Term] = {}
        self.shares: list[tuple[Term, Term, Term]] = []
        self.same: list[tuple[Product, Term]] = []
        self.most_lanes: float = math.inf  # with quotients of their own
        self.together = True  # execute several residues together
        self._found: dict[tuple[Any, ...], _Found] = {}
        self._here = _Found()
        self.anything: set[str] = set()

    @contextmanager
    def within(self, ranges: Sequence[Range]) -> Iterator[None]:
        """With more bound symbols."""
        before = self._here
        self.ranges.extend(ranges)
        if ranges:
            key = tuple(one.key for one in self.ranges)
            self._here = self._found.setdefault(key, _Found())
        try:
            yield
        finally:
            self._here = before
            if ranges:
                del self.ranges[-len(ranges) :]

    def any_number(self, high: Term | None = None) -> Term:
        """A symbol for any whole number from 0 on, another one in each warp; below `high`."""
        name = f"any {len(self.anything)}"
        self.anything.add(name)
        if high is not None:
            if not high.symbols <= self.lows.keys() or not self.holds(high - 1):
                raise Undecided(f"a number below {high}")
            self.ranges.insert(0, Range(name, Term({}), high))
        return symbol(name)

    def check_known(self, *terms: Term) -> None:
        """Make sure that terms don't depend on any such number."""
        for term in terms:
            if self.symbols_in(term) & self.anything:
                raise Undecided("a cost that depends on what is in memory")

    def reduced(self, term: Term) -> Term:
        """The term after the known equations."""
        return self._rewritten(term, self.same)

    def whole(self, term: Term) -> Term:
        """The term with x for [x/m] + [(x + 1)/m] + ... + [(x + m - 1)/m], for a number m."""
        groups: dict[tuple[str, int], list[str]] = {}
        for name in sorted(term.symbols & self.quotients.keys()):
            of = self.quotients[name]
            by = of.below.number
            if isinstance(by, int) and of.rest == of.below and of.above.is_uniform:
                groups.setdefault((str(of.above - self._constant(of.above)), by), []).append(name)
        for (_, by), names in groups.items():
            rests = {self._constant(self.quotients[name].above): name for name in names}
            parts = [term.by_power(name) for name in names]
            first = min(rests)
            if sorted(rests) != [first + at for at in range(by)]:
                continue
            if any(one is None or set(one) - {0, 1} or one[1] != parts[0][1] for one in parts):  # type: ignore[index]
                continue
            above = self.quotients[rests[first]].above
            for name in names:
                term = term - parts[0][1] * symbol(name)  # type: ignore[index]
            term = term + parts[0][1] * above  # type: ignore[index]
        return term

    def _constant(self, term: Term) -> Any:
        return term.parts.get(ONE, 0)

    def other_ways(self, term: Term, powers: bool = False) -> Iterator[Term]:
        """The term as it is, and after the known equations read backwards."""
        yield term
        common = self.common_power(term)
        if common and powers:
            yield term * power_of_two(Term({(((name, 1),), ()): -f for name, f in common.items()}))
        back = []
        for product, value in self.same:
            ((other, factor),) = value.parts.items()
            if len(other[0]) == 1:
                back.append((other, Term({product: simple(1 / Fraction(factor))})))
        if back:
            yield self._rewritten(term, back)

    def common_power(self, term: Term) -> dict[str, int]:
        """The exponent of a power of two by which all products are divisible, if it isn't 0."""
        if not term.is_uniform or not all(exponent for _, exponent in term.parts):
            return {}
        names = {name for _, exponent in term.parts for name, _ in exponent}
        factors = [dict(exponent) for _, exponent in term.parts]
        found = {name: min(one.get(name, 0) for one in factors) for name in names}
        return {name: factor for name, factor in found.items() if factor}

    def _rewritten(self, term: Term, rules: list[tuple[Product, Term]]) -> Term:
        for product, value in rules:
            while True:
                found = [p for p in term.parts if divides(product, p)]
                if not found:
                    break
                for one in found:
                    rest = Term({times(one, product, -1): term.parts[one]})
                    term = term - Term({one: term.parts[one]}) + rest * value
        return term

    # Bounds.

    def bound(self, term: Term, depth: int = 0) -> Any:
        """A number that a term is not below for any lane, -inf if none is found."""
        if depth == 0 and time.monotonic() > self.until:
            raise Undecided("it takes too long")
        number = term.number
        if number is not None:
            return _least(number)
        if not term.is_uniform:
            lowest = {p: simple(_least(v)) for p, v in term.parts.items()}
            term = Term({p: v for p, v in lowest.items() if v})
        known = self.assumed if depth == 0 else []
        if not known and all(v >= 0 for v in term.parts.values()):
            return self._of_positive(term)
        key = term.key, len(known), depth == 0
        found = self._here.bounds.get(key)
        if found is None:
            found = self._bound(term, depth)
            if known and found <= 0:
                found = max(found, self._by_assumed(term))
            if depth == 0 or found != -math.inf:
                self._here.bounds[key] = found
        return found

    def _by_assumed(self, term: Term) -> Any:
        """A bound of a term minus a multiple of one that is assumed to be at least 0."""
        found: Any = -math.inf
        for known in self.assumed:
            for product, value in known.parts.items():
                times_ = term.parts.get(product, 0)
                if product != ONE and times_ and Fraction(times_) / value > 0:
                    found = max(found, self._bound(term - known * (Fraction(times_) / value), 0))
        return found

    def _bound(self, term: Term, depth: int) -> Any:
        if term.number is not None:
            return term.number
        if all(v >= 0 for v in term.parts.values()):
            return self._of_positive(term)
        if depth > DEEPEST:
            return -math.inf
        names = term.symbols
        inside = names & self.quotients.keys()
        if inside:
            name = next(one for one in reversed(self.quotients) if one in inside)
            return self._without_quotient(term, name, depth)
        for one in reversed(self.ranges):
            if one.name in names:
                return self._without_range(term, one, depth)
        return self._of_free(term)

    def _of_positive(self, term: Term) -> Any:
        """A bound of a term with positive coefficients: products are from 0 on."""
        return sum(value * self.least_product(one) for one, value in term.parts.items())

    def least_product(self, product: Product) -> Any:
        """A number that a product is not below."""
        powers, exponent = product
        found: Any = 1
        for name, power in powers:
            low = self.least_symbol(name)
            if power < 0 or low <= 0:
                return 0
            found *= low**power
        if exponent:
            low = self.exponent_bound(product)
            if low == -math.inf:
                return 0
            found *= Fraction(2) ** int(low)
        return found

    def exponent_bound(self, product: Product) -> Any:
        """A number that the exponent of a product's power of two is not below."""
        term = exponent_of(product)
        if all(factor >= 0 for _, factor in product[1]):
            found = sum(factor * self.least_symbol(name) for name, factor in product[1])
            return max(found, self.bound(term)) if self.assumed else found
        return self.bound(term)

    def least_symbol(self, name: str) -> int:
        """A number that a symbol is not below."""
        for one in self.ranges:
            if one.name == name:
                low = self.bound(one.low)
                return 0 if low == -math.inf else max(0, math.ceil(low))
        return self.lows.get(name, 0)

    def _without_quotient(self, term: Term, name: str, depth: int) -> Any:
        parts = term.by_power(name)
        if parts is None:
            return self._of_free(term)
        if set(parts) - {0, 1}:
            return self._product_by_product(term, name, None, depth)
        factor, rest = parts[1], parts.get(0, Term({}))
        of = self.quotients[name]
        whole = self.exact(factor, of.below)
        best: Any = -math.inf
        if self.bound(factor, depth + 1) >= 0:
            best = self.bound(rest, depth + 1)
            by = of.below.number
            if best < 0 and isinstance(by, int):
                low = self.bound(of.above)
                if low > 0:
                    best = max(best, self.bound(rest + factor * (math.floor(low) // by), depth + 1))
            if best < 0 and whole is not None:
                best = max(best, self.bound(rest + whole * (of.above - of.rest + 1), depth + 1))
        elif self.bound(-factor, depth + 1) >= 0:
            if whole is not None:
                best = self.bound(rest + whole * of.above, depth + 1)
            else:
                most = self.divided(of.above, of.below)
                best = self.bound(rest + factor * (of.above if most is None else most), depth + 1)
        return best

    def divided(self, above: Term, below: Term) -> Term | None:
        """An upper bound of a quotient: the largest value of `above`, divided."""
        for one in reversed(self.ranges):
            parts = above.by_power(one.name)
            if parts is not None and set(parts) == {0, 1} and self.bound(parts[1]) >= 0:
                above = parts[1] * (one.high - 1) + parts[0]
                found = self.exact(above, below)
                if found is not None:
                    return found
        return None

    def _without_range(self, term: Term, one: Range, depth: int) -> Any:
        parts = term.by_power(one.name)
        if parts is None or set(parts) - {0, 1}:
            found = self._of_free(term)
            return max(found, self._product_by_product(term, one.name, one, depth))
        factor, rest = parts[1], parts.get(0, Term({}))
        if self.bound(factor, depth + 1) >= 0:
            return self.bound(rest + factor * one.low, depth + 1)
        if self.bound(-factor, depth + 1) >= 0:
            return self.bound(rest + factor * (one.high - 1), depth + 1)
        return self._product_by_product(term, one.name, one, depth)

    def _product_by_product(self, term: Term, name: str, one: Range | None, depth: int) -> Any:
        """A bound with the least or the largest value of a symbol in each product of its own."""
        found = Term({})
        for product, value in term.parts.items():
            powers, exponent = product
            part = Term({product: value})
            ups = [p for s, p in powers if s == name] + [f for s, f in exponent if s == name]
            if ups:
                if all(up > 0 for up in ups):
                    up = value > 0
                elif all(up < 0 for up in ups):
                    up = value < 0
                else:
                    return -math.inf
                if one is None:
                    if not up or exponent:
                        return -math.inf
                    continue
                part = part.with_values({name: one.low if up else one.high - 1})
            found = found + part
        return self.bound(found, depth + 1)

    def _of_free(self, term: Term) -> Any:
        """A bound of a term of free symbols: negative products consume larger positive ones."""
        above = {p: v for p, v in term.parts.items() if v > 0 and p != ONE}
        found: Any = term.parts.get(ONE, 0)
        for product, value in sorted(term.parts.items(), key=lambda one: -len(one[0][0])):
            if value >= 0 or product == ONE:
                continue
            left = -value
            for larger in list(above):
                rest = times(larger, product, -1)
                if any(power < 0 for _, power in rest[0]):
                    continue
                least = self.least_product(rest)
                if least <= 0:
                    continue
                taken = min(left, above[larger] * least)
                above[larger] -= taken / Fraction(least)
                left -= taken
                if left == 0:
                    break
            if left > 0:
                return -math.inf
        return found + self._of_positive(Term({p: v for p, v in above.items() if v > 0}))

    # Quotients.

    def exact(self, term: Term, divisor: Term) -> Term | None:
        """The quotient of a term by one product, if each product of it is divisible; else None."""
        if len(divisor.parts) != 1:
            return self._long_division(term, divisor)
        ((product, value),) = divisor.parts.items()
        found = {}
        for one, factor in term.parts.items():
            rest = self.share(one, factor, product, value)
            if rest is None:
                return None
            found[rest[0]] = rest[1]
        return Term(found)

    def share(
        self, product: Product, value: Coefficient, divisor: Product, by: Coefficient
    ) -> tuple[Product, Coefficient] | None:
        """A product with its coefficient divided by another one, if the quotient is whole."""
        rest = times(product, divisor, -1)
        if any(power < 0 for _, power in rest[0]):
            return None
        of_objects = isinstance(value, np.ndarray) and value.dtype.kind == "O"
        if not rest[1] and isinstance(by, int) and not (of_objects or isinstance(value, Fraction)):
            whole = bool(np.all(value % by == 0))
            return (rest, simple(value // by)) if whole else None
        numbers = value.tolist() if isinstance(value, np.ndarray) else [value]
        factors = [Fraction(one) / by for one in numbers]
        if rest[1]:
            low = self.exponent_bound(rest)
            if low == -math.inf:
                return None
            scale = Fraction(2) ** int(low)
        else:
            scale = Fraction(1)
        if any((one * scale).denominator != 1 for one in factors):
            return None
        exact = [simple(one) for one in factors]
        return rest, simple(np.array(exact, dtype=object)) if len(exact) > 1 else exact[0]

    def parted(self, term: Term, divisor: Term) -> tuple[Term, Term]:
        """The quotient of the products that one product divides, and the other products."""
        whole, rest = Term({}), Term({})
        ((product, by),) = divisor.parts.items()
        for one, value in term.parts.items():
            part = self.share(one, value, product, by)
            if part is None:
                rest = rest + Term({one: value})
            else:
                whole = whole + Term({part[0]: part[1]})
        return whole, rest

    def _long_division(self, term: Term, divisor: Term) -> Term | None:
        """The quotient by a divisor of several products, if nothing is left."""
        lead = max(divisor.parts, key=lambda p: (sum(x for _, x in p[0]), p))
        found = Term({})
        for _ in range(16):
            if not term.parts:
                return found
            for product, value in term.parts.items():
                rest = self.share(product, value, lead, divisor.parts[lead])
                if rest is not None:
                    part = Term({rest[0]: rest[1]})
                    found, term = found + part, term - part * divisor
                    break
            else:
                return None
        return None

    def divmod(self, term: Term, divisor: Term) -> tuple[Term, Term]:
        """The quotient rounded down, and the remainder. The divisor is positive."""
        if divisor.number == 1:
            return term, Term({})
        positive = self.bound(divisor - 1) >= 0 or np.all(self.holds(divisor - 1))
        if not divisor.is_uniform or not positive:
            raise Undecided("whether {}, by which something is divided, is positive", divisor)
        for way in list(self.other_ways(term))[1:]:
            known = self.exact(way, divisor)
            if known is not None:
                return known, Term({})
        whole, rest, stated, of_stated = Term({}), Term({}), Term({}), Term({})
        if len(divisor.parts) == 1:
            ((product, value),) = divisor.parts.items()
            for one, factor in term.parts.items():
                part = self.share(one, factor, product, value)
                known = self._known(Term({one: factor}), divisor) if part is None else None
                if part is not None:
                    whole = whole + Term({part[0]: part[1]})
                elif one == product and not isinstance(factor, np.ndarray) and factor > value:
                    times_ = Fraction(factor) / value  # as 3/2 2^a by 2^a
                    whole = whole + math.floor(times_)
                    rest = rest + Term({one: simple(factor - math.floor(times_) * value)})
                elif known is not None:
                    whole, stated = whole + known, stated + known
                    of_stated = of_stated + Term({one: factor})
                else:
                    rest = rest + Term({one: factor})
        else:
            found = self._long_division(term, divisor)
            if found is not None:
                return found, Term({})
            whole, rest = self._leading(term, divisor)
        if not rest.parts:
            return whole, rest
        self._compare_powers(rest, divisor)
        if rest.number is not None:
            divisor = self._power_known(divisor)
        if divisor.number is not None and rest.number is not None:
            by = divisor.number
            return whole + simple(rest.number // by), Term.of(simple(rest.number % by))
        if self.bound(rest) >= 0 and self.bound(divisor - 1 - rest) >= 0:
            return whole, rest
        if self.bound(-rest - 1) >= 0 and self.bound(rest + divisor) >= 0:
            return whole - 1, rest + divisor
        if whole.parts and self.bound(rest) < 0:
            constant = Term.of(whole.parts.get(ONE, 0)) if not stated.parts else Term({})
            together = rest + (whole - stated - constant) * divisor + of_stated
            if any(self.bound(way) >= 0 for way in self.other_ways(together)):
                whole, rest = constant, together
        for factor in self._factors(divisor, rest):
            outer, inner = self.parted(rest, factor)
            if inner.number is not None and factor.number is not None:
                outer = outer + simple(inner.number // factor.number)
                inner = Term.of(simple(inner.number % factor.number))
            if not outer.parts:
                continue
            if not (self.bound(inner) >= 0 and self.bound(factor - 1 - inner) >= 0):
                continue
            smaller = self.exact(divisor, factor)
            if smaller is None:
                continue
            quotient, left = self.divmod(outer, smaller)
            return whole + quotient, left * factor + inner
        number = rest.parts.get(ONE)
        if isinstance(number, np.ndarray) and divisor.number is not None:
            more = Term.of(simple(number // divisor.number))
            left = rest - more * divisor
            if self.bound(left) >= 0 and self.bound(divisor - 1 - left) >= 0:
                return whole + more, left
        return self._opaque(whole, rest, divisor)

    def _compare_powers(self, rest: Term, divisor: Term) -> None:
        """Ask whether powers of two are multiples of the divisor, and numbers less, if open."""
        if len(divisor.parts) != 1:
            return
        ((by, factor),) = divisor.parts.items()
        if by[0] or not is_power(factor):
            return
        number = rest.number
        if by[1] and isinstance(number, int) and number > 0:
            self._decided(divisor - number - 1)  # the quotient is 0
        for product, value in rest.parts.items():
            if product[0] or not (product[1] or by[1]) or isinstance(value, np.ndarray):
                continue
            power = self._valuation(ONE, value) - _log_up(Fraction(factor))
            line = exponent_of(product) - exponent_of(by) + power
            if line.number is None and self.bound(line) < 0 and not self.bound(-line) > 0:
                self._decided(line)

    def _power_known(self, term: Term) -> Term:
        """The number that a power of two is, if the bounds of its exponent are one number."""
        for (powers, exponent), value in term.parts.items():
            if exponent and not powers and len(term.parts) == 1:
                line = exponent_of(((), exponent))
                low = self.bound(line)
                if math.isfinite(low) and self.bound(low - line) == 0:
                    return Term.of(simple(value * Fraction(2) ** int(low)))
        return term

    def _known(self, term: Term, divisor: Term) -> Term | None:
        """The quotient of one product that is whole by a stated fact."""
        ((product, value),), ((by, factor),) = term.parts.items(), divisor.parts.items()
        if isinstance(value, np.ndarray):
            return None
        for above, below, quotient in self.shares:
            if not len(above.parts) == len(below.parts) == 1:
                continue
            ((one, a),), ((two, b),) = above.parts.items(), below.parts.items()
            rest = times(times(times(product, by, -1), one, -1), two)
            size = Fraction(value) * b / (Fraction(factor) * a)
            if rest[1] or any(power < 0 for _, power in rest[0]) or size.denominator != 1:
                continue
            return Term({rest: size.numerator}) * quotient
        for way in list(self.other_ways(term))[1:]:
            known = self.exact(way, divisor)
            if known is not None:
                return known
        return None

    def _leading(self, term: Term, divisor: Term) -> tuple[Term, Term]:
        """As many times the divisor as the term's highest products have."""
        lead = max(divisor.parts, key=lambda p: (sum(x for _, x in p[0]), p))
        whole = Term({})
        for _ in range(16):
            for product, value in sorted(term.parts.items(), key=lambda o: str(o[0]), reverse=True):
                part = self.share(product, value, lead, divisor.parts[lead])
                if part is not None:
                    one = Term({part[0]: part[1]})
                    whole, term = whole + one, term - one * divisor
                    break
            else:
                break
        return whole, term

    def _factors(self, divisor: Term, rest: Term) -> Iterator[Term]:
        """The factors of a divisor of one product, large ones first."""
        if len(divisor.parts) != 1:
            return
        (((powers, exponent), value),) = divisor.parts.items()
        numbers = [value] if isinstance(value, int) and value > 1 else []
        names = [symbol(name) for name, power in powers for _ in range(power)]
        two = [power_of_two(symbol(name) * factor) for name, factor in exponent if factor > 0]
        if exponent and len(exponent) > 1:
            two.insert(0, power_of_two(exponent_of((powers, exponent))))
        singles = [*two, *names]
        if numbers:
            for one in singles:
                yield one * numbers[0]
        yield from singles
        if exponent and not powers and not rest.is_uniform:
            content = self._content(rest)
            if content > 1:
                line = exponent_of((powers, exponent)) - (content.bit_length() - 1)
                if self._decided(line):
                    yield Term.of(content)
                else:
                    name = exponent[-1][0]
                    raise Split(name, at=Term.of(self.least_symbol(name) + 1))
        yield from map(Term.of, numbers)

    def _opaque(self, whole: Term, rest: Term, divisor: Term) -> tuple[Term, Term]:
        """Symbols for the quotient of what is left: one for all lanes, or for those that agree."""
        if rest.is_uniform:
            quotient = self._named(rest, divisor)
            return whole + quotient, rest - quotient * divisor
        content = divisor.parts[next(iter(divisor.parts))] if len(divisor.parts) == 1 else 1
        if isinstance(content, int) and content > 1:
            left = Term(
                {p: v for p, v in rest.parts.items() if self.share(p, v, ONE, content) is None}
            )
            if left.number is None:
                raise self.residue(left, content)
        quotient = Term({})
        lanes: dict[tuple[Any, ...], list[int]] = {}
        columns = by_lanes(rest)
        for lane, factors in enumerate(zip(*columns, strict=True)):
            lanes.setdefault(factors, []).append(lane)
        if len(lanes) > self.most_lanes:
            raise Undecided(f"the quotients of {len(lanes)} lanes by {divisor}")
        for factors, chosen in lanes.items():
            one = Term({p: simple(v) for p, v in zip(rest.parts, factors, strict=True) if v})
            mask = np.zeros(len(columns[0]), dtype=np.int64)
            mask[chosen] = 1
            quotient = quotient + self.divmod(one, divisor)[0] * Term.of(mask)
        return whole + quotient, rest - quotient * divisor

    def _named(self, rest: Term, divisor: Term) -> Term:
        if self.bound(rest) < 0:
            for one in self.ranges:
                if one.name in rest.symbols and self.may_divide(one, divisor):
                    raise Split(one.name, divisor=divisor)
        if self.bound(rest) < 0 and not self.holds(rest):
            if self.holds(rest + divisor):
                return Term.of(-1)
            return -self.divmod(divisor - 1 - rest, divisor)[0]
        name = f"[({rest})/({divisor})]"
        self.quotients.setdefault(name, Quotient(rest, divisor, divisor))
        return self.replaced.get(name) or symbol(name)

    def with_residue(self, name: str, modulus: int, residue: int) -> Term:
        """The term of a quotient by its own quotient, if its residue is known."""
        of = self.quotients[name]
        above, below = of.above - of.below * residue, of.below * modulus
        smaller = f"[({above})/({below}), where {name} is {residue} modulo {modulus}]"
        self.quotients[smaller] = Quotient(above, below, of.rest)
        return symbol(smaller) * modulus + residue

    # Comparisons.

    def residue(self, term: Term, modulus: int) -> Exception:
        """The split by which the residue of a term will be known."""
        candidates: list[tuple[int, str, int]] = []
        order = {one.name: at for at, one in enumerate(self.ranges)}
        for (powers, exponent), value in term.parts.items():
            whole = [
                Fraction(x) for x in (value.tolist() if isinstance(value, np.ndarray) else [value])
            ]
            scale = math.lcm(*(x.denominator for x in whole))
            content = math.gcd(modulus * scale, *(int(x * scale) for x in whole))
            if exponent:
                # A power of two with a large exponent vanishes; a small one is a number.
                if not powers and modulus & (modulus - 1) == 0:
                    least = min(self._valuation((powers, ()), x) for x in whole if x)
                    try:
                        self._decided(
                            exponent_of((powers, exponent)) + (least - modulus.bit_length() + 1)
                        )
                    except Split as split:
                        return split
                for name, factor in exponent:
                    if factor:
                        candidates.append((order.get(name, -1), name, 0))
            elif powers and content != modulus * scale:
                for name, _ in powers:
                    if name in self.quotients:
                        return Split(name, modulus=modulus * scale // content)
                    candidates.append((order.get(name, -1), name, modulus * scale // content))
        if not candidates:
            return Undecided("the remainder of {} divided by {}", term, modulus)
        _, name, by = max(candidates)
        if by == 0:
            one = next((one for one in self.ranges if one.name == name), None)
            low = one.low if one is not None else Term.of(self.lows.get(name, 0))
            return Split(name, at=low + 1)
        return Split(name, modulus=by)

    def holds(self, term: Term) -> np.ndarray | bool:
        """For each lane, or for all: whether a term is at least 0."""
        term = _whole(self.reduced(term))
        if term.number is not None:
            found = term.number
            return found >= 0 if isinstance(found, np.ndarray) else bool(found >= 0)
        if term.is_uniform:
            return self._decided(term)
        if self.bound(term) >= 0:
            return True
        if self.bound(-term - 1) >= 0:
            return False
        if all(p == ONE or not isinstance(v, np.ndarray) for p, v in term.parts.items()):
            numbers = term.parts[ONE]
            rest = Term({p: v for p, v in term.parts.items() if p != ONE})
            try:
                return np.asarray(numbers >= self._least_number(rest, np.unique(numbers).tolist()))
            except (Split, Undecided):
                pass  # the first lane that is open says how to go on
        known: dict[tuple[Any, ...], bool] = {}
        result = []
        for factors in zip(*by_lanes(term), strict=True):
            if factors not in known:
                one = zip(term.parts, factors, strict=True)
                known[factors] = self._decided(Term({p: simple(v) for p, v in one if v}))
            result.append(known[factors])
        return np.array(result)

    def _least_number(self, term: Term, numbers: list[Any]) -> Any:
        """The least of some numbers, in order, with which a term is at least 0; else infinity."""
        low, high = 0, len(numbers) - 1
        if self._decided(term + numbers[0]):
            return numbers[0]
        if not self._decided(term + numbers[-1]):
            return math.inf
        while high - low > 1:  # it is not with the one at `low`, and is from `high` on
            middle = (low + high) // 2
            if self._decided(term + numbers[middle]):
                high = middle
            else:
                low = middle
        return numbers[high]

    def _decided(self, term: Term) -> bool:
        if self.replaced or term.number is not None:  # `replaced` holds for one residue alone
            return self._decide(term)
        key = term.key, len(self.assumed)
        found = self._here.decided.get(key)
        if found is None:
            found = self._here.decided[key] = self._decide(term)
        return found

    def _decide(self, term: Term) -> bool:
        term = _whole(term)
        for way in self.other_ways(term, powers=True):
            if self.bound(way) >= 0:
                return True
            if self.bound(-way) > 0:
                return False
        line = self.straight(term)
        if line is not None:
            return self._decided(line)
        try:
            split = self.split(term)
        except _Known as known:
            return known.truth
        raise split if split is not None else Undecided("whether {} is negative", term)

    def may_divide(self, one: Range, divisor: Term) -> bool:
        """Return whether a range of warps can be divided into rows of a symbolic size."""
        if divisor.number is not None or one.low.parts or one.name.startswith("trip"):
            return False
        return self.divided_by(one.high, divisor) is not None

    def divided_by(self, term: Term, divisor: Term) -> Term | None:
        """The quotient of a multiple of a divisor, if it is more than 1."""
        for way in (*self.other_ways(term), self.reduced(term)):
            found = self.exact(way, divisor)
            if found is not None:
                return None if found == 1 else found
        return None

    def straight(self, term: Term) -> Term | None:
        """A linear term at least 0 if and only if this one is, for powers of two; else None."""
        parts = dict(term.parts)
        number = parts.pop(ONE, 0)
        if any(powers for powers, _ in parts) or not 1 <= len(parts) <= 2:
            return None
        if any(isinstance(v, np.ndarray) for v in (*parts.values(), number)):
            return None
        if len(parts) == 1:
            ((product, value),) = parts.items()
            if value > 0 and number < 0:
                need = Fraction(-number) / Fraction(value)  # 2^L >= need
                return exponent_of(product) - _log_up(need)
            if value < 0 and number > 0:
                most = Fraction(number) / -Fraction(value)  # 2^L <= most
                return -exponent_of(product) - _log_up(1 / most)
            return None
        (one, a), (two, b) = parts.items()
        if a < 0:
            (one, a), (two, b) = (two, b), (one, a)
        if a < 0 or b > 0:
            return None
        ratio = Fraction(-b) / Fraction(a)
        if not is_power(ratio):
            return None
        difference = exponent_of(one) - exponent_of(two)
        power = ratio.numerator.bit_length() - ratio.denominator.bit_length()
        if number == 0:
            return difference - power  # a 2^L >= b 2^M
        unit = min(self._valuation(one, a), self._valuation(two, b))
        if unit == -math.inf:
            return None
        step = Fraction(2) ** int(unit)
        least = math.ceil(-Fraction(number) / step)  # of the difference, a multiple of the step
        if least in (0, 1):
            return difference - power - least
        return None

    def _content(self, term: Term) -> int:
        """The largest power of two that divides all products with symbols."""
        found: Any = math.inf
        for product, value in term.parts.items():
            if product != ONE:
                numbers = value.tolist() if isinstance(value, np.ndarray) else [value]
                found = min(found, *(self._valuation(product, one) for one in numbers if one))
        return 1 << int(found) if 0 < found < math.inf else 1

    def _small_powers(self, term: Term) -> None:
        """Ask whether two powers of two are multiples of a number beside them."""
        number = term.parts.get(ONE, 0)
        others = [one for one in term.parts.items() if one[0] != ONE]
        if len(others) != 2 or not number or any(p[0] or not p[1] for p, _ in others):
            return
        if any(isinstance(value, np.ndarray) for value in term.parts.values()):
            return
        need = _log_up(abs(Fraction(number)))
        for product, value in others:
            found = self._valuation(product, value) - self.exponent_bound(product)
            line = exponent_of(product) + (found - need)
            if math.isfinite(found) and self.bound(line) < 0 and not self.bound(-line) > 0:
                self._decided(line)

    def _valuation(self, product: Product, value: Coefficient) -> Any:
        """The power of two by which a product is divisible at least."""
        found = Fraction(value)
        of_value = (
            found.numerator & -found.numerator
        ).bit_length() - found.denominator.bit_length()
        return of_value + (self.exponent_bound(product) if product[1] else 0)

    def split(self, term: Term) -> Split | None:
        """The case distinction that decides whether a term is at least 0."""
        line = self.straight(term)
        if line is not None:
            raise _Known(self._decided(line))
        for name in sorted(term.symbols & self.quotients.keys()):
            below = self.quotients[name].below
            for one in self.ranges:
                if one.name in self.hidden(name) and self.may_divide(one, below):
                    return Split(one.name, divisor=below)
        for name in sorted(term.symbols & self.quotients.keys()):
            of = self.quotients[name]
            open_ = of.below.number is None and of.rest == of.below
            if open_ and self.bound(of.below * 2 - 1 - of.above) >= 0:  # the quotient is 0 or 1
                value = Term.of(int(self._decided(of.above - of.below)))
                raise _Known(self._decided(term.with_values({name: value})))
        self._small_powers(term)
        for name in sorted(term.symbols & self.quotients.keys()):
            parts = term.by_power(name)
            if parts is None or set(parts) != {0, 1} or parts[0].number is None:
                continue
            of, factor, rest = self.quotients[name], parts[1].number, parts.get(0, Term({}))
            if isinstance(factor, int | Fraction):
                # q >= x where the dividend is at least x times the divisor.
                if factor > 0:
                    least = self.divmod(-rest + (factor - 1), Term.of(factor))[0]
                    raise _Known(self._decided(of.above - of.below * least))
                most = self.divmod(rest, Term.of(-factor))[0]
                raise _Known(self._decided(of.below * (most + 1) - of.above - 1))
        for one in reversed(self.ranges):
            if one.name not in term.symbols:
                continue
            parts = term.by_power(one.name)
            if parts is None or set(parts) - {0, 1}:
                continue
            factor, rest = parts[1], parts.get(0, Term({}))
            if self.bound(factor - Fraction(1, 2**20)) >= 0 or (
                self.bound(factor) >= 0 and factor.number is None
            ):
                at = self.divmod(factor - 1 - rest, factor)[0]
                if one.name in self.symbols_in(at):
                    continue
                return self._inside(one, at, True)
            if self.bound(-factor - Fraction(1, 2**20)) >= 0:
                at = self.divmod(rest, -factor)[0] + 1
                if one.name in self.symbols_in(at):
                    continue
                return self._inside(one, at, False)
        return self._of_sizes(term)

    def _inside(self, one: Range, at: Term, above: bool) -> Split:
        """A split of a range at a term between its ends; `above` is what holds from there on."""
        try:
            if not self.bound(at - one.low) >= 0 and not self._decided(at - one.low - 1):
                raise _Known(above)
            if not self.bound(one.high - at) >= 0 and not self._decided(one.high - at - 1):
                raise _Known(not above)
            if self.bound(one.low - at) >= 0:
                raise _Known(above)
            if self.bound(at - one.high) >= 0:
                raise _Known(not above)
        except Undecided:
            if not one.name.startswith("trip"):
                raise
        return Split(one.name, at=at)

    def _of_sizes(self, term: Term) -> Split | None:
        """A case distinction of free symbols."""
        linear = [
            (product[0][0][0], value)
            for product, value in term.parts.items()
            if len(product[0]) == 1 and not product[1] and product[0][0][1] == 1
        ]
        bound = {one.name for one in self.ranges}
        linear = [one for one in linear if one[0] not in bound and one[0] not in self.quotients]
        number = term.parts.get(ONE, 0)
        if len(term.parts) - (number != 0) == 2 == len(linear):
            (x, a), (y, b) = linear
            if a == -b and "log2" in x and "log2" in y:
                if a < 0:
                    (x, a), (y, b) = (y, b), (x, a)
                return Split(x, at=Term.of(math.ceil(-Fraction(number) / a)), other=y)
        if len(linear) == 1 and len(term.parts) - (number != 0) == 1:
            ((x, a),) = linear
            at = (
                math.ceil(-Fraction(number) / a) if a > 0 else math.floor(Fraction(number) / -a) + 1
            )
            return Split(x, at=Term.of(at))
        names = term.symbols
        if not names & (bound | self.quotients.keys()):
            return Split("", assumed=term)
        for name in sorted(names & self.quotients.keys()):
            by = self.quotients[name].below.number
            if isinstance(by, int):
                found = self.residue(self.quotients[name].above, by)
                if isinstance(found, Split):
                    return found
        return None

    def symbols_in(self, term: Term) -> frozenset[str]:
        """The symbols of a term, and those that its quotients hide."""
        names = term.symbols
        return names.union(*(self.hidden(name) for name in names & self.quotients.keys()))

    def hidden(self, name: str) -> frozenset[str]:
        """The symbols of a quotient's terms, of the quotients in these too."""
        of = self.quotients[name]
        found = of.above.symbols | of.below.symbols
        for one in list(found):
            if one in self.quotients:
                found |= self.hidden(one)
        return found


def by_lanes(term: Term) -> list[list[Any]]:
    """The factor of each product of a term for each lane; lanes differ in one of them at least."""
    length = next(len(v) for v in term.parts.values() if isinstance(v, np.ndarray))
    return [v.tolist() if isinstance(v, np.ndarray) else [v] * length for v in term.parts.values()]


def _whole(term: Term) -> Term:
    """A term times a number that makes the factors whole of its products without a power of two."""
    scale = 1
    for (_, exponent), value in term.parts.items():
        if exponent or type(value) is int or getattr(value, "dtype", None) == np.int64:
            continue
        for one in value.tolist() if isinstance(value, np.ndarray) else [value]:
            scale = math.lcm(scale, Fraction(one).denominator)
    return term if scale == 1 else term * scale


def is_power(value: Coefficient) -> bool:
    """Return whether a number is a power of two, perhaps below 1."""
    if isinstance(value, np.ndarray) or value <= 0:
        return False
    found = Fraction(value)
    return not (
        found.numerator & (found.numerator - 1) or found.denominator & (found.denominator - 1)
    )


def _log_up(value: Fraction) -> int:
    """The least power of two not below a value."""
    power = value.numerator.bit_length() - value.denominator.bit_length()
    return power if Fraction(2) ** power >= value else power + 1


@lru_cache(MANY)
def divides(one: Product, other: Product) -> bool:
    """Return whether a product is a factor of another."""
    rest = times(other, one, -1)
    return all(power >= 0 for _, power in rest[0]) and not one[1]
