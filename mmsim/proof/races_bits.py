"""The lowest bits of whole numbers, as bit vectors of Z3.

The lowest bits of a sum, a product or x ^ y follow from those of its parts, however large they are.
Those of x // 4 follow from two bits more of x. A symbol that nothing else is known of has bits of
its own, and a number above them.
"""

from __future__ import annotations

import operator

import z3

from mmsim.proof.whole_numbers import Number, Space, Term, Truth, constant

NONE = constant(0)
OPERATIONS = {"^": operator.xor, "&": operator.and_, "|": operator.or_}
MOST = 12
"""So many of a symbol's bits are known."""


class LowBits:
    """The lowest bits of the numbers of one program."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self._of_symbol: dict[tuple[str, int], Term] = {}
        self._own: dict[str, Term] = {}
        self._above: dict[Number, Term] = {}
        self._facts: dict[Number, list[Truth]] = {}
        self._operated: dict[str, list[Truth]] = {}
        self._function = z3.Function("bits of", z3.IntSort(), z3.BitVecSort(MOST))

    def of(self, number: Number, count: int) -> Term:
        """The lowest `count` bits of a number."""
        found = z3.BitVecVal(0, count)
        for mono, factor in sorted(number.terms.items()):
            part = z3.BitVecVal(factor, count)
            for name in mono:
                part = part * self._symbol(name, count)
            found = found + part
        return z3.simplify(found)

    def _symbol(self, name: str, count: int) -> Term:
        key = name, count
        if key not in self._of_symbol:
            self._of_symbol[key] = self._made(name, count)
        return self._of_symbol[key]

    def _made(self, name: str, count: int) -> Term:
        if self._is_own(name):
            parts = self.space.parts.get(name)
            return self._bits(name, count) if parts is None else self.of(parts, count)
        op, x, y = self.space.made[name]
        if not isinstance(op, str):  # a test
            return z3.If(op, self.of(x, count), self.of(y, count))
        if op in OPERATIONS:
            return OPERATIONS[op](self.of(x, count), self.of(y, count))
        by = y.value or 0
        places = by.bit_length() - 1
        if by > 0 and by == 1 << places:
            if op == "wrap" and count <= places:
                return self.of(x, count)
            if op == "%":
                low = self.of(x, min(count, places)) if places else z3.BitVecVal(0, count)
                return z3.ZeroExt(count - low.size(), low)
            if op == "//" and count + places <= MOST:
                return z3.Extract(count + places - 1, places, self.of(x, count + places))
        return self._bits(name, count)

    def _is_own(self, name: str) -> bool:
        """Return whether a symbol has own bits: those that it is a part of have none then."""
        op, x, _ = self.space.made.get(name, ("", NONE, NONE))
        if not isinstance(op, str) or op not in ("", "//", "%"):
            return False
        parts = next(
            (self.space.parts[one] for one in sorted(x.symbols) if one in self.space.parts), NONE
        )
        return op == "" or (name in parts.symbols and all(map(self._is_own, x.symbols)))

    def _bits(self, name: str, count: int) -> Term:
        """The bits of a symbol, as far as there are some; others are unknown."""
        if name not in self._own:
            number = Number({(name,): 1})
            bits = self.space.fresh("bits", self.space.origin(number), z3.BitVecSort(MOST))
            bits.facts += self._tied(number, bits.term)
            self._own[name] = bits.term
        return z3.Extract(count - 1, 0, self._own[name])

    def _tied(self, number: Number, bits: Term) -> list[Truth]:
        """Say that a number has these bits, and a number above them."""
        if number not in self._facts:
            above = self.space.fresh("above", self.space.origin(number))
            term = self.space.term(number)
            each = [
                z3.If(z3.Extract(place, place, bits) == 1, 1 << place, 0) for place in range(MOST)
            ]
            total = z3.Sum([*each, above.term * (1 << MOST)])
            whole = z3.And(term <= total, term >= total)  # Z3 would put in an equal term
            above.facts.append(whole)
            few = [
                z3.Implies(z3.And(term >= 0, term < 1 << n), z3.Extract(MOST - 1, n, bits) == 0)
                for n in range(1, MOST)
            ]
            self._above[number] = above.term
            self._facts[number] = [whole, bits == self._function(term), *few]
        return self._facts[number]

    def operated(self, name: str) -> list[Truth]:
        """Facts about x ^ y, x & y or x | y, given by name."""
        if name not in self._operated:
            op, x, y = self.space.made[name]
            found: list[Truth] = []
            numbers = x, y, Number({(name,): 1})
            for number in numbers:
                found += self._tied(number, self.of(number, MOST))
            one, other, above = (self._above[number] for number in numbers)
            function = z3.Function(f"above {op}", *[z3.IntSort()] * 3)
            found.append(above == function(one, other))
            for here, there in ((one, other), (other, one)):
                found.append(z3.Implies(here == 0, above == (0 if op == "&" else there)))
            self._operated[name] = found
        return self._operated[name]
