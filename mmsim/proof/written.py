"""Terms as expressions of SymPy in the sizes that a user named.

The symbols of a case are named by what they stand for: n/w, sqrt(n), log2(p), (n-1)/2. So their
names are expressions of the sizes. The symbol of a quotient is written as it is defined.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from mmsim.proof.facts import Facts
from mmsim.proof.terms import ONE, Term, Undecided

LONGEST = 60
"""The characters of the longest term in a reason."""
BOUNDS = {"trip": ("trip",), "turn": ("trip", "warp"), "warp": ("warp",), "block": ("block",)}
"""The things that the symbols of loops, warps and blocks count."""
BOUND = re.compile("|".join(BOUNDS))
INTERNAL = re.compile(r"\b(trip) (\d+)")
"""The number of a loop, beside its trip."""


class Writer:
    """Writes terms of one case; `sizes` are the user's symbols, or numbers for them."""

    def __init__(self, sizes: Mapping[str, Any], facts: Facts) -> None:
        self.sizes, self.facts = sizes, facts
        self.known: dict[str, Any] = {}

    def term(self, term: Term) -> Any:
        """A term that is the same for all lanes."""
        import sympy

        found = sympy.Integer(0)
        for (powers, exponent), value in term.parts.items():
            part = _number(value)
            for name, power in powers:
                part *= self.symbol(name) ** power
            found += part * self.power(exponent)
        return found

    def power(self, exponent: Any) -> Any:
        """2 to the power of a sum of symbols; 2^log2(n) is n."""
        import sympy

        from mmsim.claims.formulas import Log2

        line = sympy.expand(
            sum((self.symbol(name) * by for name, by in exponent), sympy.Integer(0))
        )
        found, rest = sympy.Integer(1), sympy.Integer(0)
        for part in sympy.Add.make_args(line):
            factor, of = part.as_coeff_Mul()
            if isinstance(of, Log2):
                found *= of.args[0] ** factor
            else:
                rest += part
        return found * 2**rest

    def symbol(self, name: str) -> Any:
        """The meaning of a symbol of the case; a symbol of SymPy if it has none in sizes."""
        import sympy

        if name not in self.known:
            if name in self.sizes:
                found = self.sizes[name]
            elif name in self.facts.quotients:
                of = self.facts.quotients[name]
                below = self.term(of.below)
                if of.above.is_uniform and of.above.parts.get(ONE, 0) < 0:  # of whole numbers
                    found = sympy.ceiling(self.term(of.above + 1) / below) - 1
                else:
                    found = sympy.floor(self.term(of.above) / below)
            else:
                try:
                    found = self.named(ast.parse(name, mode="eval").body)
                except (SyntaxError, KeyError):
                    found = sympy.Symbol(name, nonnegative=True, integer=True)
            self.known[name] = found
        return self.known[name]

    def named(self, node: ast.expr) -> Any:
        """The value of the name of a symbol."""
        import sympy

        from mmsim.claims.formulas import Log2

        match node:
            case ast.Constant(value=int(value)):
                return sympy.Integer(value)
            case ast.Name(id=name):
                return self.sizes[name]
            case ast.Call(func=ast.Name(id="sqrt"), args=[one]):
                return sympy.sqrt(self.named(one))
            case ast.Call(func=ast.Name(id="log2"), args=[one]):
                return Log2(self.named(one))
            case ast.UnaryOp(op=ast.USub(), operand=one):
                return -self.named(one)
            case ast.BinOp(left=left, op=op, right=right):
                a, b = self.named(left), self.named(right)
                match op:
                    case ast.Add():
                        return a + b
                    case ast.Sub():
                        return a - b
                    case ast.Mult():
                        return a * b
                    case ast.Div():
                        return a / b
                    case ast.Pow():
                        return a**b
        raise KeyError(ast.unparse(node))

    def reason(self, error: Undecided) -> str:
        """The reason in the user's sizes; a term that has no short form in these is described."""
        return error.text.format(*(self.plain(term) for term in error.terms))

    def divisions(self, error: Undecided) -> tuple[str, ...]:
        """The facts by which what is rounded in the terms of a reason would be whole."""
        import sympy

        terms = [self.term(one) for one in error.terms if isinstance(one, Term) and one.is_uniform]
        ratios = {one.args[0] for term in terms for one in term.atoms(sympy.floor, sympy.ceiling)}
        parts = sorted(map(sympy.fraction, ratios), key=str)
        sizes = set(self.sizes.values())
        return tuple(
            f"{below} divides {above}" for above, below in parts if {above, below} <= sizes
        )

    def plain(self, value: Any) -> str:
        """A term as text, or the numbers on which it depends."""
        if not isinstance(value, Term):
            return str(value)
        count = max((len(v) for v in value.parts.values() if isinstance(v, np.ndarray)), default=1)
        text = INTERNAL.sub(r"\1", self.lanes(value, count))
        symbols = {one for name in value.symbols for one in self.symbol(name).free_symbols}
        names = {INTERNAL.sub(r"\1", one.name) for one in symbols}
        known = [one for one in names if one in self.sizes or one in ("warp", "block", "trip")]
        if len(text) <= LONGEST and len(known) == len(symbols):
            return text
        return f"a number that depends on {_listed(self.parameters(value))}"

    def parameters(self, term: Term) -> list[str]:
        """The sizes on which a term depends, and "the warp", "the block", "the trip"."""
        found = set()
        for name in term.symbols:
            if name in self.facts.quotients:
                of = self.facts.quotients[name]
                found |= {*self.parameters(of.above), *self.parameters(of.below)}
            elif match := BOUND.match(name):
                found |= {f"the {one}" for one in BOUNDS[match[0]]}
            else:
                known = {str(one) for one in self.symbol(name).free_symbols} & self.sizes.keys()
                found |= known or {"the sizes"}
        if "the sizes" in found:
            found -= self.sizes.keys()
        return sorted(found, key=lambda one: (one.startswith("the "), one))

    def lanes(self, term: Term, lanes: int) -> str:
        """A term whose lanes may differ, as text: with `lane` if they are evenly spaced."""
        import sympy

        found = sympy.Integer(0)
        shown = []
        for product, value in term.parts.items():
            rest = self.term(Term({product: 1}))
            if not isinstance(value, np.ndarray):
                found += _number(value) * rest
                continue
            steps = {Fraction(b) - Fraction(a) for a, b in pairwise(value)}
            if len(steps) == 1 and len(value) == lanes:
                (step,) = steps
                lane = sympy.Symbol("lane", nonnegative=True, integer=True)
                found += (_number(Fraction(value[0])) + _number(step) * lane) * rest
            else:
                some = ", ".join(str(x) for x in value[:4].tolist())
                listed = f"({some}, ...)" if len(value) > 4 else f"({some})"
                shown.append(listed if rest == 1 else f"{listed}*({rest})")
        parts = [str(short(found)), *shown] if found != 0 or not shown else shown
        text = " + ".join(parts)
        return INTERNAL.sub(r"\1", text) if len(set(INTERNAL.findall(text))) == 1 else text


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:]))) or "the lane"


def _number(value: Any) -> Any:
    import sympy

    value = Fraction(value)
    return sympy.Rational(value.numerator, value.denominator)


def short(expression: Any) -> Any:
    """The shortest of some forms of an expression: 2 n (l + p/32 - 1)/p for a sum of three."""
    import sympy

    expanded = sympy.expand(expression)
    parts = sympy.Add.make_args(expanded)
    forms = [expanded, sympy.factor_terms(expanded)]
    if 1 < len(parts) <= 16 and not expanded.has(sympy.floor):
        powers = [part.as_powers_dict() for part in parts]
        bases = {base for one in powers for base in one if not base.is_number}
        common = sympy.Mul(*(base ** min(one.get(base, 0) for one in powers) for base in bases))
        for content in {abs(part.as_coeff_Mul()[0]) for part in parts} | {1}:
            inner = sympy.Add(*(part / (common * content) for part in parts))
            forms.append(sympy.Mul(content * common, inner))
        forms.append(sympy.factor_terms(sympy.factor(expanded)))
    return min(forms, key=lambda one: (len(str(one)), str(one)))
