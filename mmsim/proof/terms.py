"""Terms: whole numbers with symbols for sizes, as polynomials.

A term is a sum of products of symbols and of powers of two, such as 3 m k + 2^(a - j) - 1. A symbol
stands for a whole number from 0 on. A coefficient is one number, or an array with a number for each
lane of a warp: so one term holds the values of all lanes. Division gives symbols of its own, see
`facts`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

import numpy as np

Powers = tuple[tuple[str, int], ...]
Product = tuple[Powers, Powers]
"""The powers of its symbols, and a power of two: its exponent's symbols with their factors."""
Key = frozenset[tuple[Product, Any]]
ONE: Product = ((), ())
LARGE = 2**30
MANY = 100_000
"""So many results of operations on products are kept."""
least, most = np.minimum.reduce, np.maximum.reduce
Coefficient = Any
"""An int, a Fraction, or an array of one of these for each lane."""


def _joined(one: Powers, other: Powers, sign: int = 1) -> Powers:
    """The sum of two lists of powers."""
    if not other:
        return one
    if not one:
        return other if sign == 1 else tuple((symbol, -power) for symbol, power in other)
    found = dict(one)
    for symbol, power in other:
        found[symbol] = found.get(symbol, 0) + sign * power
    return tuple(sorted((symbol, power) for symbol, power in found.items() if power))


@lru_cache(MANY)
def times(one: Product, other: Product, sign: int = 1) -> Product:
    """A product times another one; with sign -1, divided by it."""
    if other == ONE:
        return one
    if one == other and sign == -1:
        return ONE
    return _joined(one[0], other[0], sign), _joined(one[1], other[1], sign)


def is_zero(value: Coefficient) -> bool:
    """Return whether a coefficient is 0 for all lanes."""
    return not (value.any() if isinstance(value, np.ndarray) else value)


def simple(value: Coefficient) -> Coefficient:
    """One number for an array that is the same for all lanes; an int if it is whole."""
    if type(value) is int:
        return value
    if isinstance(value, np.ndarray):
        low, high = least(value), most(value)
        if low != high:
            if value.dtype != object and (high > LARGE or low < -LARGE):
                value = value.astype(object)  # products would not fit into 64 bits
            return value
        value = low
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Fraction) and value.denominator == 1:
        return value.numerator
    return value


def _sum(value: Coefficient, other: Coefficient) -> Coefficient:
    """The sum of two coefficients; 0 if it is 0 for all lanes."""
    if type(value) is int and type(other) is int:
        return value + other
    return simple(fitting(value, other) + fitting(other, value))


def fitting(value: Coefficient, other: Coefficient) -> Coefficient:
    """The value, for an operation with another one; no bits get lost if that is large."""
    if not isinstance(value, np.ndarray) or value.dtype == object:
        return value
    large = not isinstance(other, np.ndarray) and abs(other) > LARGE
    return value.astype(object) if large else value


class Undecided(Exception):
    """A step that has no rule here: the reason, in words, with a {} for each of the terms.

    Its text is for developers: the terms have symbols of the proof. `Writer.reason` has it for
    users.
    """

    def __init__(self, text: str, *terms: Any) -> None:
        super().__init__(text.format(*terms))
        self.text, self.terms = text, terms


class Term:
    """A polynomial: `parts` maps products to coefficients other than 0."""

    __slots__ = ("_key", "_symbols", "parts")

    def __init__(self, parts: Mapping[Product, Coefficient]) -> None:
        self.parts = parts
        self._key: Key | None = None
        self._symbols: frozenset[str] | None = None

    @staticmethod
    def of(value: Term | Coefficient) -> Term:
        """A term as it is, or a number as a term."""
        if type(value) is Term:
            return value
        if type(value) is int:
            return Term({ONE: value} if value else {})
        return Term({} if is_zero(value) else {ONE: simple(value)})

    def __add__(self, other: Term | Coefficient) -> Term:
        other = Term.of(other)
        if not other.parts:
            return self
        if not self.parts:
            return other
        found = dict(self.parts)
        for product, value in other.parts.items():
            old = found.get(product)
            both = value if old is None else _sum(old, value)
            if type(both) is int and both == 0:
                found.pop(product, None)
            else:
                found[product] = both
        return Term(found)

    __radd__ = __add__

    def __neg__(self) -> Term:
        return Term({product: -value for product, value in self.parts.items()})

    def __sub__(self, other: Term | Coefficient) -> Term:
        return self + -Term.of(other)

    def __rsub__(self, other: Coefficient) -> Term:
        return Term.of(other) - self

    def __mul__(self, other: Term | Coefficient) -> Term:
        other = Term.of(other)
        few, many = (self, other) if len(self.parts) < len(other.parts) else (other, self)
        if not few.parts:
            return few
        if len(few.parts) == 1:
            own = few.parts.get(ONE)
            if type(own) is int and own == 1:
                return many
        found: dict[Product, Coefficient] = {}
        for two, factor in few.parts.items():
            for one, value in many.parts.items():
                product = times(one, two)
                if type(value) is int and type(factor) is int:
                    both = value * factor
                else:
                    both = fitting(value, factor) * fitting(factor, value)
                old = found.get(product)
                if old is None:
                    found[product] = both
                elif type(both) is int and type(old) is int:
                    found[product] = old + both
                else:
                    found[product] = fitting(old, both) + fitting(both, old)
        return Term(
            {
                product: value if type(value) is int else simple(value)
                for product, value in found.items()
                if not is_zero(value)
            }
        )

    __rmul__ = __mul__

    def __pow__(self, power: int) -> Term:
        found = Term.of(1)
        for _ in range(power):
            found = found * self
        return found

    def __eq__(self, other: object) -> bool:
        return not (self - other).parts

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def key(self) -> Key:
        """A hashable key that equal terms share."""
        if self._key is None:
            self._key = frozenset(
                (product, tuple(value.tolist()) if isinstance(value, np.ndarray) else value)
                for product, value in self.parts.items()
            )
        return self._key

    @property
    def number(self) -> Coefficient | None:
        """Its value if it has no symbol, an array if lanes differ; else None."""
        if not self.parts:
            return 0
        return self.parts.get(ONE) if len(self.parts) == 1 else None

    @property
    def is_uniform(self) -> bool:
        """Return whether all lanes have the same value."""
        return np.ndarray not in map(type, self.parts.values())

    @property
    def symbols(self) -> frozenset[str]:
        """The symbols of its products, those of exponents too."""
        if self._symbols is None:
            every = (s for powers, exponent in self.parts for s, _ in (*powers, *exponent))
            self._symbols = frozenset(every)
        return self._symbols

    def of_lanes(self, chosen: Any) -> Term:
        """The same for some lanes: an index, or a mask."""
        found = {}
        for product, value in self.parts.items():
            if isinstance(value, np.ndarray):
                value = simple(value[chosen])
            if not is_zero(value):
                found[product] = value
        return Term(found)

    def map(self, changed: Callable[[Coefficient], Coefficient]) -> Term:
        """The term with other coefficients."""
        found = ((product, changed(value)) for product, value in self.parts.items())
        return Term({product: value for product, value in found if not is_zero(value)})

    def by_power(self, symbol: str) -> dict[int, Term] | None:
        """The factor of each power of a symbol; None if it stands in an exponent."""
        found: dict[int, dict[Product, Coefficient]] = {}
        for (powers, exponent), value in self.parts.items():
            if exponent and any(one == symbol for one, _ in exponent):
                return None
            power, rest = 0, (powers, exponent)
            for at, (one, degree) in enumerate(powers):
                if one == symbol:
                    power, rest = degree, (powers[:at] + powers[at + 1 :], exponent)
                    break
            found.setdefault(power, {})[rest] = value
        return {power: Term(parts) for power, parts in found.items()}

    def with_values(self, values: Mapping[str, Term]) -> Term:
        """The term with terms for some symbols; linear ones for those of exponents."""
        if not self.symbols & values.keys():
            return self
        found = Term({})
        for (powers, exponent), value in self.parts.items():
            kept = tuple(one for one in powers if one[0] not in values)
            fixed = tuple(one for one in exponent if one[0] not in values)
            part = Term({(kept, fixed): value})
            for symbol, power in powers:
                if symbol in values:
                    part = part * (
                        values[symbol] ** power if power > 0 else inverse(values[symbol]) ** -power
                    )
            for symbol, factor in exponent:
                if symbol in values:
                    part = part * power_of_two(values[symbol] * factor)
            found = found + part
        return found

    def at(self, values: Mapping[str, int]) -> Fraction:
        """Its exact value for numbers; it must be uniform."""
        total = Fraction(0)
        for (powers, exponent), value in self.parts.items():
            part = Fraction(value)
            for symbol, power in powers:
                part *= Fraction(values[symbol]) ** power
            part *= Fraction(2) ** sum(factor * values[symbol] for symbol, factor in exponent)
            total += part
        return total

    def __str__(self) -> str:
        if not self.parts:
            return "0"
        return " + ".join(
            _written(*one) for one in sorted(self.parts.items(), key=lambda o: (o[0], str(o[1])))
        )

    __repr__ = __str__


def _written(product: Product, value: Coefficient) -> str:
    powers, exponent = product
    factors = [symbol if power == 1 else f"{symbol}^{power}" for symbol, power in powers]
    if exponent:
        factors.append(f"2^({' + '.join(s if f == 1 else f'{f}*{s}' for s, f in exponent)})")
    if not factors:
        return _number(value)
    bare = not isinstance(value, np.ndarray) and value == 1
    return "*".join(factors if bare else [_number(value), *factors])


def _number(value: Coefficient) -> str:
    return (
        f"[{','.join(map(str, value.tolist()))}]" if isinstance(value, np.ndarray) else str(value)
    )


def symbol(name: str) -> Term:
    """The term of a symbol."""
    return Term({(((name, 1),), ()): 1})


def power_of_two(exponent: Term) -> Term:
    """2 to the power of a term that is linear, with whole factors.

    >>> print(power_of_two(symbol("a") * 2 - 1) * 2)
    2^(2*a)
    """
    parts, value = [], Fraction(1)
    for (powers, deeper), factor in exponent.parts.items():
        if not powers and not deeper:
            value = Fraction(2) ** factor if factor >= 0 else Fraction(1, 2**-factor)
        else:
            if deeper or len(powers) != 1 or powers[0][1] != 1 or int(factor) != factor:
                raise Undecided("2 to the power of {}", exponent)
            parts.append((powers[0][0], int(factor)))
    return Term({((), tuple(sorted(parts))): simple(value)})


def inverse(term: Term) -> Term:
    """1 over a term of one product."""
    if len(term.parts) != 1:
        raise Undecided("1/({})", term)
    ((product, value),) = term.parts.items()
    return Term({times(ONE, product, -1): simple(1 / Fraction(value))})


def exponent_of(product: Product) -> Term:
    """The exponent of its power of two."""
    return Term({(((symbol, 1),), ()): factor for symbol, factor in product[1]})


def total(term: Term, symbol_: str, low: Term, high: Term) -> Term:
    """The sum of a term over a symbol from `low` to `high` - 1.

    >>> k, n = symbol("k"), symbol("n")
    >>> print(total(k * 2 + 1, "k", Term.of(0), n), "|", total(power_of_two(k), "k", Term.of(0), n))
    n^2 | -1 + 2^(n)
    """
    if symbol_ not in term.symbols:
        return term * (high - low)
    before = antidifference(term, symbol_)
    return before.with_values({symbol_: high}) - before.with_values({symbol_: low})


def antidifference(term: Term, symbol_: str) -> Term:
    """F with F(k + 1) - F(k) = term, for the symbol k."""
    found = Term({})
    for (powers, exponent), value in term.parts.items():
        degree = next((power for one, power in powers if one == symbol_), 0)
        rate = next((factor for one, factor in exponent if one == symbol_), 0)
        if degree < 0:
            raise Undecided("the sum of {} over {}", term, symbol_)
        rest = (
            tuple(o for o in powers if o[0] != symbol_),
            tuple(o for o in exponent if o[0] != symbol_),
        )
        found = found + Term({rest: value}) * _antidifference(rate, degree, symbol_)
    return found


@cache
def _antidifference(rate: int, degree: int, symbol_: str) -> Term:
    """F with F(k + 1) - F(k) = k^degree 2^(rate k), for the symbol k."""
    ratio, k = Fraction(2) ** rate, symbol(symbol_)
    # The leading part of F: its difference has k^degree 2^(rate k), and lower powers of k.
    top, size = (degree + 1, Fraction(1, degree + 1)) if rate == 0 else (degree, 1 / (ratio - 1))
    found = k**top * power_of_two(k * rate) * size
    for lower in range(degree):
        more = math.comb(top, lower) * ratio * size
        found = found - _antidifference(rate, lower, symbol_) * more
    return found
