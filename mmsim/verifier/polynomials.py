"""Sums of products, exact: the arithmetic of the verifier, which shares none with the prover."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from itertools import product
from typing import Any, ClassVar

from mmsim.errors import MMSimError

Product = tuple[tuple[str, int], ...]
"""Symbols with their powers. The symbol 2^k is 2 to the power of k."""


class Refused(MMSimError):
    """A statement of the data that is false, or that the verifier can't follow."""


class P:
    """A sum of products, with a number for each."""

    is_positive: ClassVar[Callable[[P], bool] | None] = None

    def __init__(self, parts: Mapping[Product, Any]) -> None:
        self.parts = {
            product: value.numerator if value.denominator == 1 else value
            for product, value in parts.items()
            if value
        }
        self.number = None if self.parts.keys() - {()} else self.parts.get((), 0)

    @property
    def names(self) -> set[str]:
        """Its symbols, and those of exponents."""
        return {name.removeprefix("2^") for one in self.parts for name, _ in one}

    @property
    def unit(self) -> Fraction:
        """A number of which all coefficients are multiples."""
        return Fraction(1, math.lcm(*(value.denominator for value in self.parts.values())))

    @property
    def plain(self) -> set[str]:
        """Its symbols outside of exponents."""
        return {name for one in self.parts for name, _ in one if name[:2] != "2^"}

    @property
    def exponents(self) -> set[str]:
        """Its symbols in exponents."""
        return {name[2:] for one in self.parts for name, _ in one if name[:2] == "2^"}

    @property
    def cleared(self) -> P:
        """The sum times the symbols and powers of its denominators."""
        low: Counter[str] = Counter()
        for one in self.parts:
            for name, power in one:
                low[name] = min(low[name], power)
        return self * P({tuple(sorted((n, -p) for n, p in low.items() if p)): Fraction(1)})

    def __add__(self, other: Any) -> P:
        found = dict(self.parts)
        for one, value in of(other).parts.items():
            found[one] = found.get(one, 0) + value
        return P(found)

    def __mul__(self, other: Any) -> P:
        found: dict[Product, Any] = {}
        for (one, value), (two, factor) in product(self.parts.items(), of(other).parts.items()):
            powers = Counter(dict(one))
            powers.update(dict(two))
            both = tuple(sorted((name, power) for name, power in powers.items() if power))
            found[both] = found.get(both, 0) + value * factor
        return P(found)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> P:
        return self * -1

    def __sub__(self, other: Any) -> P:
        return self + -of(other)

    def __rsub__(self, other: Any) -> P:
        return of(other) - self

    def __pow__(self, power: int) -> P:
        if power >= 0:
            return math.prod([self] * power, start=of(1))
        if len(self.parts) != 1:
            raise Refused("a division by a sum")
        ((one, value),) = self.parts.items()
        return P({tuple((name, p * power) for name, p in one): Fraction(value) ** power})

    def __truediv__(self, other: Any) -> P:
        return self * of(other) ** -1

    def __eq__(self, other: object) -> bool:
        return not (self - other).parts

    def __hash__(self) -> int:
        return hash(frozenset(self.parts.items()))

    def __gt__(self, other: Any) -> bool:
        """Return whether it is larger for all sizes, within `comparing`, which knows these."""
        if P.is_positive is not None:
            if P.is_positive(self - other):
                return True
            if P.is_positive(1 - (self - other)):
                return False
        raise Refused("the claim compares numbers whose order depends on sizes")

    def __str__(self) -> str:
        parts = [
            "*".join([str(value), *(f"({n})^{p}" if p != 1 else f"({n})" for n, p in one)])
            for one, value in sorted(self.parts.items())
        ]
        return " + ".join(parts) or "0"

    def put(self, values: Mapping[str, Any]) -> P:
        """The sum with others for some symbols."""
        if not self.names & values.keys():
            return self
        found = of(0)
        for one, value in self.parts.items():
            part = of(value)
            for name, power in one:
                inner = name.removeprefix("2^")
                base = of(values.get(inner, symbol(inner)))
                part = part * (base if inner == name else two(base)) ** power
            found = found + part
        return found


@contextmanager
def comparing(is_positive: Callable[[P], bool]) -> Iterator[None]:
    """Let sums be compared, for the functions of claims, which are written for numbers."""
    before, P.is_positive = P.is_positive, staticmethod(is_positive)
    try:
        yield
    finally:
        P.is_positive = before


def of(value: Any) -> P:
    return value if isinstance(value, P) else P({(): value})


def symbol(name: str) -> P:
    return P({((name, 1),): 1})


def two(exponent: P) -> P:
    """2 to the power of a sum of symbols."""
    found = of(1)
    for one, value in exponent.parts.items():
        if value % 1 or (one and (len(one) > 1 or one[0][1] != 1 or one[0][0][:2] == "2^")):
            raise Refused("an exponent that is no sum of symbols")
        found = found * (symbol(f"2^{one[0][0]}") if one else of(2)) ** int(value)
    return found


def read(data: Any, lane: int = 0) -> P:
    """A sum of the data, of one lane."""
    found: dict[Product, Any] = {}
    for number, powers in data:
        value = number[lane] if isinstance(number, list) else number
        found[tuple(sorted(powers.items()))] = Fraction(value) if isinstance(value, str) else value
    return P(found)


def divides(one: Mapping[str, int], other: Mapping[str, int]) -> bool:
    """Return whether a product is a factor of another."""
    return all(other.get(name, 0) >= power for name, power in one.items())
