"""The lowest bits of whole numbers, as bit vectors of Z3.

The lowest bits of a sum, a product or x ^ y follow from those of its parts, however large they are.
Those of x // 4 follow from two bits more of x. A symbol that nothing else is known of has bits of
its own, and a number above them.
"""

from __future__ import annotations

import operator

import z3

from mmsim.proof.whole_numbers import Number, Space, Term, Truth, constant

OPERATIONS = {"^": operator.xor, "&": operator.and_, "|": operator.or_}
MOST = 12
"""So many of a symbol's bits are known."""


class LowBits:
    """The lowest bits of the numbers of one program."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self._of_symbol: dict[tuple[str, int], Term] = {}
        self._own: dict[str, Term] = {}
        self._above: dict[str, Term] = {}
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
        op, x, y = self.space.made.get(name, ("", constant(0), constant(0)))
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

    def _bits(self, name: str, count: int) -> Term:
        """The bits of a symbol, as far as there are some; others are unknown."""
        if name not in self._own:
            space, one = self.space, self.space.symbols[name]
            bits = space.fresh("bits", space.origin(Number({(name,): 1})), z3.BitVecSort(MOST))
            bits.facts += self._tied(one.term, bits.term, name)
            self._own[name] = bits.term
        return z3.Extract(count - 1, 0, self._own[name])

    def _tied(self, term: Term, bits: Term, name: str) -> list[Truth]:
        """Say that a number has these bits, and a number above them."""
        space = self.space
        above = space.fresh("above", space.origin(Number({(name,): 1})))
        each = [z3.If(z3.Extract(place, place, bits) == 1, 1 << place, 0) for place in range(MOST)]
        total = z3.Sum([*each, above.term * (1 << MOST)])
        whole = z3.And(term <= total, term >= total)  # Z3 would put in an equal term
        above.facts.append(whole)
        self._above[name] = above.term
        few = [
            z3.Implies(z3.And(term >= 0, term < 1 << n), z3.Extract(MOST - 1, n, bits) == 0)
            for n in range(1, MOST)
        ]
        return [whole, bits == self._function(term), *few]

    def operated(self, name: str) -> list[Truth]:
        """Facts about x ^ y, x & y or x | y, given by name."""
        if name not in self._operated:
            _, x, y = self.space.made[name]
            found = self._tied(self.space.symbols[name].term, self._symbol(name, MOST), name)
            small = [
                fact for one in map(self.space.term, (x, y)) for fact in (one >= 0, one < 1 << MOST)
            ]
            found.append(z3.Implies(z3.And(*small), self._above[name] == 0))
            self._operated[name] = found
        return self._operated[name]
