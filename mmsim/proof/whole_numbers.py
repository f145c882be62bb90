"""Whole numbers of a program as polynomials of symbols, with facts about the symbols for Z3.

A symbol stands for a size of the launch, a number of a thread, or a value that isn't known. It has
a *level*: whether one launch, one block or one thread has a value of its own, and the loops in
whose iterations it has one. The facts of a symbol hold in every run, so a proof may use them
wherever the symbol occurs. A product of symbols is a symbol too, for which a proof gets the
instances of the laws of multiplication that it may need: so Z3 decides only linear problems.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import z3

Mono = tuple[str, ...]
"""The names of the symbols of a product, sorted; none for the number 1."""
LAUNCH, BLOCK, THREAD = range(3)
"""The levels of a symbol."""
SIZES_BELOW = 2**31
"""A proof assumes that sizes and numbers that the launch gives are below this."""
Truth = Any  # z3.BoolRef
Term = Any  # a term of Z3


class Number:
    """A polynomial with whole coefficients: a dictionary from products of symbols to them."""

    __slots__ = ("key", "terms")

    def __init__(self, terms: Mapping[Mono, int]) -> None:
        self.terms = {mono: factor for mono, factor in terms.items() if factor}
        self.key = frozenset(self.terms.items())

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number) and self.key == other.key

    def __add__(self, other: Number) -> Number:
        terms = dict(self.terms)
        for mono, factor in other.terms.items():
            terms[mono] = terms.get(mono, 0) + factor
        return Number(terms)

    def __sub__(self, other: Number) -> Number:
        return self + other * constant(-1)

    def __mul__(self, other: Number) -> Number:
        terms: dict[Mono, int] = {}
        for one, by in self.terms.items():
            for two, factor in other.terms.items():
                mono = tuple(sorted((*one, *two)))
                terms[mono] = terms.get(mono, 0) + by * factor
        return Number(terms)

    @property
    def value(self) -> int | None:
        """The number, if it has no symbols."""
        if not self.terms:
            return 0
        return self.terms.get(()) if len(self.terms) == 1 else None

    @property
    def name(self) -> str:
        """The name of a number that is one symbol."""
        (name,) = self.symbols
        return name

    @property
    def symbols(self) -> set[str]:
        """The names of its symbols."""
        return {name for mono in self.terms for name in mono}

    def split(self, divisor: Number) -> tuple[Number, Number]:
        """A quotient and a rest with self == quotient * divisor + rest, term by term."""
        if len(divisor.terms) != 1:
            return constant(0), self
        ((unit, by),) = divisor.terms.items()
        quotient, rest = {}, {}
        for mono, factor in self.terms.items():
            left = without(mono, unit)
            if left is None or (factor % by and len(unit)):
                rest[mono] = factor
                continue
            quotient[left] = factor // by
            rest[mono] = factor % by
        return Number(quotient), Number(rest)


def without(mono: Mono, unit: Mono) -> Mono | None:
    left = list(mono)
    for name in unit:
        if name not in left:
            return None
        left.remove(name)
    return tuple(left)


def constant(value: int) -> Number:
    """A number without symbols."""
    return Number({(): value})


def product(numbers: Iterable[Number]) -> Number:
    """The product of numbers."""
    return math.prod(numbers, start=constant(1))


@dataclass
class Symbol:
    """A symbol: its term for Z3, its level, its loops, and facts that hold in every run.

    `data` says that it may come from a memory's word, which may be as large as its type allows.
    """

    name: str
    term: Term
    level: int = THREAD
    loops: frozenset[int] = frozenset()
    data: bool = False
    nonnegative: bool = False
    size: bool = False
    facts: list[Truth] = field(default_factory=list)


@dataclass(frozen=True)
class Origin:
    """The dependence of a value: the joined levels and loops of its symbols."""

    level: int = LAUNCH
    loops: frozenset[int] = frozenset()
    data: bool = False

    def __or__(self, other: Origin) -> Origin:
        level = max(self.level, other.level)
        return Origin(level, self.loops | other.loops, self.data or other.data)


Value = Number | Term
"""A whole number, a truth value of Z3, or a term for any other number (`Space.other`)."""


class Space:
    """The symbols of one program, and operations on values of them."""

    def __init__(self) -> None:
        self.symbols: dict[str, Symbol] = {}
        self.products: dict[str, Mono] = {}
        self.other = z3.DeclareSort("Other")
        self.is_power = z3.Function("is a power of two", z3.IntSort(), z3.BoolSort())
        self.knows_powers = False  # facts say that something is a power of two
        self.made: dict[str, tuple[Any, Value, Value]] = {}  # what low bits follow from
        self.parts: dict[str, Number] = {}  # symbols as a multiple of a constant and a rest
        self.halves: set[str] = set()  # symbols of which the double is a quotient
        self.given: list[Truth] = []  # facts of the user
        self.defined: dict[str, Number] = {}  # symbols that the facts say to be others
        self.deadline = math.inf  # of `time.monotonic`; later questions stay open
        self._count = 0
        self._memo: dict[Any, Any] = {}
        self._terms: dict[frozenset[Any], Term] = {}
        self._parsed: dict[int, tuple[Term, Number | None]] = {}
        self._names: dict[int, tuple[Term, list[str]]] = {}

    # Symbols

    def symbol(self, name: str, sort: Any = None, **what: Any) -> Symbol:
        """The symbol of a name, made at its first use."""
        if name not in self.symbols:
            term = z3.Const(name, z3.IntSort() if sort is None else sort)
            self.symbols[name] = Symbol(name, term, **what)
        return self.symbols[name]

    def fresh(self, stem: str, origin: Origin, sort: Any = None) -> Symbol:
        """A symbol that nothing is known of."""
        self._count += 1
        what = {"level": origin.level, "loops": origin.loops, "data": origin.data}
        return self.symbol(f"{stem}#{self._count}", sort, **what)

    def number(self, name: str) -> Number:
        """The symbol of a name as a number."""
        return self.defined.get(name) or Number({(name,): 1})

    def size(self, name: str, least: int) -> Number:
        """A size of the launch."""
        if name not in self.symbols:
            one = self.symbol(name, level=LAUNCH, nonnegative=least >= 0, size=True)
            one.facts += [one.term >= least, one.term < SIZES_BELOW]
        return self.number(name)

    def define(self, name: str, value: Number) -> None:
        """Let a symbol be another number, which a fact says it equals."""
        self.given.append(self.symbols[name].term == self.term(value))
        self.defined = {
            one: self._replaced(name, value, its) for one, its in self.defined.items()
        } | {name: value}

    def _replaced(self, name: str, value: Number, number: Number) -> Number:
        found = constant(0)
        for mono, factor in number.terms.items():
            part = constant(factor)
            for one in mono:
                part *= value if one == name else Number({(one,): 1})
            found += part
        return found

    # Terms

    def term(self, value: Value) -> Term:
        """A value for Z3."""
        if not isinstance(value, Number):
            return value
        found = self._terms.get(value.key)
        if found is None:
            parts = [self._part(mono, factor) for mono, factor in sorted(value.terms.items())]
            found = self._terms[value.key] = (
                z3.Sum(parts) if len(parts) > 1 else (parts[0] if parts else z3.IntVal(0))
            )
        return found

    def _part(self, mono: Mono, factor: int) -> Term:
        if not mono:
            return z3.IntVal(factor)
        term = z3.Int(self._product(mono))
        return term if factor == 1 else factor * term

    def _product(self, mono: Mono) -> str:
        """The name of a product."""
        name = "*".join(mono)
        if len(mono) > 1:
            self.products[name] = mono
        return name

    def parsed(self, term: Term) -> Number | None:
        """The number that a term of Z3 stands for; None if it isn't a polynomial."""
        key = term.get_id()
        if key not in self._parsed:
            self._parsed[key] = term, self._number_of(term)
        return self._parsed[key][1]

    def _number_of(self, term: Term) -> Number | None:
        if z3.is_int_value(term):
            return constant(term.as_long())
        if z3.is_const(term):
            name = term.decl().name()
            return Number({self.products.get(name, (name,)): 1})
        parts = [self.parsed(one) for one in term.children()]
        if any(one is None for one in parts):
            return None
        numbers: list[Number] = [one for one in parts if one is not None]
        if z3.is_add(term):
            return sum(numbers, constant(0))
        if z3.is_sub(term):
            first, *others = numbers
            return first - sum(others, constant(0))
        if z3.is_mul(term):
            return product(numbers)
        return None

    def names(self, value: Value) -> list[str]:
        """The names of the symbols in a value, of products too, in order: Z3 depends on it."""
        if isinstance(value, Number):
            for mono in value.terms:
                self._product(mono)
            return sorted("*".join(mono) for mono in value.terms if mono)
        key = value.get_id()
        found = self._names.get(key)
        if found is None:
            if z3.is_const(value):
                known = value.decl().kind() == z3.Z3_OP_UNINTERPRETED
                names = [value.decl().name()] if known else []
            else:
                names = sorted({name for one in value.children() for name in self.names(one)})
            found = self._names[key] = value, names
        return found[1]

    def factors(self, value: Value) -> list[str]:
        """The names of the symbols in a value, without products, in order."""
        names = self.names(value)
        return sorted({one for name in names for one in self.products.get(name, (name,))})

    def origin(self, *values: Value) -> Origin:
        """The joined origins of values."""
        found = Origin()
        for value in values:
            for name in self.factors(value):
                one = self.symbols[name]
                found |= Origin(one.level, one.loops, one.data)
        return found

    def renamed(self, value: Value, names: Mapping[str, str]) -> Value:
        """A value with other symbols."""
        if isinstance(value, Number):
            terms = {
                tuple(sorted(names.get(one, one) for one in mono)): factor
                for mono, factor in value.terms.items()
            }
            return Number(terms)
        pairs = []
        for name in self.names(value):
            mono = self.products.get(name, (name,))
            new = tuple(sorted(names.get(one, one) for one in mono))
            if new != mono:
                old = self.symbols[name].term if len(mono) == 1 else z3.Int(name)
                same = self.symbols[new[0]].term if len(new) == 1 else self._part(new, 1)
                pairs.append((old, same))
        return z3.substitute(value, *pairs) if pairs else value

    def copies(self, loop: int, level: int) -> Callable[[Value], Value]:
        """A function from values of an iteration to those of the last one, when it is over."""
        names: dict[str, str] = {}

        def copied(value: Value) -> Value:
            new = [name for name in self.factors(value) if name not in names]
            while new:
                old = self.symbols[new.pop()]
                if old.name in names or loop not in old.loops:
                    continue
                names[old.name] = name = f"{old.name}@{loop}"
                one = self.symbol(name, old.term.sort(), level=max(level, old.level))
                one.loops, one.data = old.loops - {loop}, old.data
                one.nonnegative, one.size = old.nonnegative, old.size
                for fact in old.facts:
                    new += self.factors(fact)
            self._fill(names)
            return self.renamed(value, names)

        return copied

    def _fill(self, names: Mapping[str, str]) -> None:
        """Give copies of symbols the facts of what they are copies of."""
        for old, new in names.items():
            one = self.symbols[new]
            if not one.facts:
                one.facts = [self.renamed(fact, names) for fact in self.symbols[old].facts]

    # Operations

    def compared(self, op: str, left: Number, right: Number) -> Truth:
        """A comparison of whole numbers."""
        difference = left - right
        if difference.value is not None:
            return z3.BoolVal(COMPARE[op](difference.value, 0))
        for sign, never, always in ((1, "<", ">="), (-1, ">", "<=")):
            if op in (never, always) and self.nonnegative(difference * constant(sign)):
                return z3.BoolVal(op == always)
        return COMPARE[op](self.term(left), self.term(right))

    def nonnegative(self, value: Number) -> bool:
        """Return whether a number is never negative, as none of its terms is."""
        signs = all(factor > 0 for factor in value.terms.values())
        return signs and all(self.symbols[name].nonnegative for name in value.symbols)

    def power(self, value: Number) -> Truth:
        """Return whether a number is a power of two."""
        known = value.value
        if known is not None:
            return z3.BoolVal(known > 0 and not known & known - 1)
        return self.is_power(self.term(value))

    def chosen(self, test: Truth, then: Value, other: Value) -> Value:
        """`then` if the test holds, else `other`."""
        test = z3.simplify(test)
        if z3.is_true(test):
            return then
        if z3.is_false(test):
            return other
        if isinstance(then, Number) and isinstance(other, Number):
            if then == other:
                return then
            value = z3.If(test, self.term(then), self.term(other))
            found = self.named("if", value, test, then, other)
            self.made[found.name] = test, then, other
            return found
        if isinstance(then, Number) or isinstance(other, Number):
            raise TypeError("values of two kinds")
        return then if then.eq(other) else z3.If(test, then, other)

    def named(self, stem: str, value: Term, *of: Value) -> Number:
        """A term for Z3 as a number: a symbol that equals it."""
        key = stem, value.get_id()
        if key not in self._memo:
            one = self.fresh(stem, self.origin(*of))
            one.facts.append(one.term == value)
            self._memo[key] = value, Number({(one.name,): 1})
        found: Number = self._memo[key][1]
        return found

    def divided(self, value: Number, by: Number) -> tuple[Number, Number]:
        """The floor of a quotient, and the rest; nothing is known of them unless by > 0."""
        if by.value is not None and by.value <= 0:
            return (self.unknown("quotient", value, by), self.unknown("rest", value, by))
        whole, rest = value.split(by)
        if rest.value is not None and by.value is not None:
            return whole + constant(rest.value // by.value), constant(rest.value % by.value)
        if not rest.terms:
            return whole, rest
        key = "divide", rest, by
        if key not in self._memo:
            origin = self.origin(rest, by)
            names = [self.fresh(stem, origin) for stem in ("quotient", "rest")]
            quotient, left = (Number({(one.name,): 1}) for one in names)
            is_sum = self.term(rest) == self.term(quotient * by + left)
            within = (self.term(left) >= 0, self.term(left) < self.term(by))
            fact = z3.Implies(self.term(by) > 0, z3.And(is_sum, *within))
            for one in names:
                one.facts.append(fact)
            names[1].nonnegative = by.value is not None
            for op, one in zip(("//", "%"), names, strict=True):
                self.made[one.name] = op, rest, by
            if by.value is not None and rest == Number({tuple(rest.symbols): 1}):
                self.parts.setdefault(rest.name, quotient * by + left)
            self._memo[key] = quotient, left
        quotient, left = self._memo[key]
        return whole + quotient, left

    def unknown(self, stem: str, *of: Value) -> Number:
        """A number that depends on others in an unknown way, always in the same."""
        key = stem, *(one if isinstance(one, Number) else one.get_id() for one in of)
        if key not in self._memo:
            terms = [self.term(one) for one in of]
            function = z3.Function(stem, *(one.sort() for one in terms), z3.IntSort())
            self._memo[key] = of, self.named(stem, function(*terms), *of)
        found: Number = self._memo[key][1]
        return found

    def whole(self, key: Any) -> Number:
        """A symbol for a number that the laws speak of."""
        if key not in self._memo:
            self._memo[key] = Number({(self.fresh(key[0], Origin()).name,): 1})
        found: Number = self._memo[key]
        return found

    def wrapped(self, value: Number, low: int, high: int) -> Number:
        """A value as an integer of a type holds it: unknown if it doesn't fit."""
        if value.value is not None:
            return constant((value.value - low) % (high - low + 1) + low)
        if low <= -SIZES_BELOW and high >= SIZES_BELOW - 1 and self._is_size(value):
            return value
        key = "wrap", value, low, high
        if key not in self._memo:
            one, term = self.fresh("wrapped", self.origin(value)), self.term(value)
            fits = z3.And(term >= low, term <= high)
            one.facts += [one.term >= low, one.term <= high, z3.Implies(fits, one.term == term)]
            self.made[one.name] = "wrap", value, constant(high - low + 1)
            self._memo[key] = Number({(one.name,): 1})
        wrapped: Number = self._memo[key]
        return wrapped

    def _is_size(self, value: Number) -> bool:
        """Return whether a number is below `SIZES_BELOW` by assumption."""
        if len(value.terms) != 1:
            return False
        ((mono, factor),) = value.terms.items()
        return factor == 1 and len(mono) == 1 and self.symbols[mono[0]].size


COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
