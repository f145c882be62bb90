"""The possible terms of a formula: products of powers of parameters, and of a logarithm."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.claims.claim import log2

POWERS = (0, 1, -1, 2)
MOST_NUMERATOR, MOST_DENOMINATOR = 3, 2
"""The degree of a term's numerator and of its denominator."""
FEW_VALUES = 3
"""A parameter with fewer values has the powers 0, 1 and -1 only, and no logarithm."""


@dataclass(frozen=True)
class Term:
    """A product of powers of parameters, times a power of log2 of one.

    >>> term = Term((("n", 1), ("w", -1)), ("n", 1))
    >>> str(term), term.value({"n": 8, "w": 2})
    ('n*log2(n)/w', Fraction(12, 1))
    """

    powers: tuple[tuple[str, int], ...] = ()
    log: tuple[str, int] | None = None

    @property
    def complexity(self) -> int:
        """The complexity of the term: the search prefers a simpler term."""
        return sum(abs(power) for _, power in self.powers) + (2 * self.log[1] if self.log else 0)

    def value(self, case: Mapping[str, Any]) -> Fraction:
        """Its exact value for a case; a logarithm must be whole."""
        found: Fraction = self._product(
            lambda name: Fraction(int(case[name])),
            lambda name: Fraction(int(case[name]).bit_length() - 1),
            Fraction(1),
        )
        return found

    def values(self, columns: Mapping[str, npt.NDArray[np.float64]]) -> Any:
        """Its approximate values for many cases; 1 for the term 1."""
        return self._product(columns.__getitem__, lambda name: np.log2(columns[name]), 1.0)

    def expression(self, symbols: Mapping[str, Any]) -> Any:
        """The term in SymPy's symbols."""
        return self._product(symbols.__getitem__, lambda name: log2(symbols[name]), 1)

    def _product(self, of: Callable[[str], Any], log_of: Callable[[str], Any], one: Any) -> Any:
        """The product for such parameters and logarithms; `one` is the empty product."""
        factors = [of(name) ** power for name, power in self.powers]
        if self.log is not None:
            factors.append(log_of(self.log[0]) ** self.log[1])
        return math.prod(factors, start=one)

    def __str__(self) -> str:
        above = [_power(name, power) for name, power in self.powers if power > 0]
        if self.log is not None:
            above.append(_power(f"log2({self.log[0]})", self.log[1]))
        below = [_power(name, -power) for name, power in self.powers if power < 0]
        top = "*".join(above) or "1"
        if not below:
            return top
        return f"{top}/{below[0]}" if len(below) == 1 else f"{top}/({'*'.join(below)})"


def _power(name: str, power: int) -> str:
    return name if power == 1 else f"{name}^{power}"


def terms_of(values: Mapping[str, Sequence[int]]) -> list[Term]:
    """Return all terms for parameters with such values, simple ones first.

    >>> [str(term) for term in terms_of({"n": [1, 2]})], len(terms_of({"n": [2, 4, 8, 16]}))
    (['1', '1/n', 'n'], 12)
    """
    names = sorted(values)
    few = {name for name in names if len(set(values[name])) < FEW_VALUES}
    logs: list[tuple[str, int] | None] = [None]
    for name in names:
        if name not in few and all(value > 0 == value & (value - 1) for value in values[name]):
            logs += [(name, 1), (name, 2)]
    found = [Term(powers, log) for powers in _powers(names, few) for log in logs]
    return sorted(found, key=lambda term: (term.complexity, str(term)))


def _powers(names: Sequence[str], few: Iterable[str]) -> Iterator[tuple[tuple[str, int], ...]]:
    few = set(few)
    choices = [POWERS[:3] if name in few else POWERS for name in names]
    for powers in product(*choices):
        above = sum(power for power in powers if power > 0)
        below = -sum(power for power in powers if power < 0)
        if above <= MOST_NUMERATOR and below <= MOST_DENOMINATOR:
            yield tuple((name, power) for name, power in zip(names, powers, strict=True) if power)
