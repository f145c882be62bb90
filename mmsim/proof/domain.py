"""The domain of a claim: its parameters as terms in free symbols, from sentences about them.

A divisor and what it divides, p and n, become p and p*q: then terms show what is whole. A sentence
that isn't understood is left out: then more is to be proved.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product as combinations
from typing import Any

from mmsim.proof.facts import Facts, Split, is_power
from mmsim.proof.sentences import Fact, Reader
from mmsim.proof.terms import (
    ONE,
    Powers,
    Product,
    Term,
    Undecided,
    inverse,
    power_of_two,
    simple,
    symbol,
    times,
)

MANY = 64
"""The most values of a symbol that are taken one by one."""
MOST_SOLUTIONS = 100
"""The most cases into which `Case.solutions` divides one."""
MOST_RESIDUES = 10_000
"""The largest modulus by whose residues a case is divided."""

Equation = tuple[Term, Term, Term]
"""Three products: the first one is the second times the third."""


@dataclass(frozen=True)
class Case:
    """A part of a domain.

    `values` are terms for the parameters, in free symbols. Each symbol is a whole number, from its
    value in `lows` on, such that the equations in `shares` hold and the terms in `assumed` are at
    least 0. `conditions` are facts that aren't in these terms: `holds` looks at them. `steps` say
    in words how the case came about, and `moves` as data: rules with the number of the part.
    """

    values: dict[str, Term]
    lows: dict[str, int]
    shares: tuple[Equation, ...] = ()
    conditions: tuple[Fact, ...] = ()
    steps: tuple[str, ...] = ()
    assumed: tuple[Term, ...] = ()
    moves: tuple[Any, ...] = ()

    def facts(self) -> Facts:
        """The facts that are known in this case."""
        found = Facts()
        found.lows = dict(self.lows)
        found.shares = list(self.shares)
        found.assumed = list(self.assumed)
        for equation in self.shares:
            sides = _sides(equation)
            if sides is not None:
                left, a, right, b = sides
                if b == 1:
                    left, a, right, b = right, b, left, a
                found.same.append((left, Term({right: simple(Fraction(b, a))})))
        return found

    def moved(self, *rule: Any, part: int = 0) -> Case:
        """The case with one more move."""
        return replace(self, moves=(*self.moves, (rule, part)))

    # Parts of a case.

    def split(self, split: Split) -> list[Case]:
        """The cases that a split distinguishes, in its order; some of them may be impossible.

        Each point of this case is in one of them.
        """
        try:
            return self._split(split)
        except Undecided as error:
            known = ("place", "array", "reached", "measured")  # where the split was asked for
            vars(error).update({one: value for one, value in vars(split).items() if one in known})
            raise

    def _split(self, split: Split) -> list[Case]:
        if split.assumed is not None:
            return self._by_sign(split.assumed)
        name, low = split.name, self.lows.get(split.name, 0)
        if name not in self.lows:
            raise Undecided("a case for each value of {}", symbol(name))
        found = []
        if split.modulus:
            by, inner = split.modulus, _inner(name)
            if by > MOST_RESIDUES:
                raise Undecided("the remainder of {} divided by {}", symbol(name), by)
            names = [
                f"({inner}-{residue})/{by}" if residue else f"{inner}/{by}" for residue in range(by)
            ]
            for residue, new in enumerate(names):
                term = symbol(new) * by + residue
                least = max(0, -((residue - low) // by))
                part = self.moved("residue", name, names, part=residue)
                found.append(part.with_values({name: term}, {new: least}, f"{name} = {term}"))
            return found
        at = None if split.at is None else split.at.number
        if not isinstance(at, int):
            raise Undecided("whether {} is at least {}", symbol(name), split.at)
        if split.other is not None:
            other = split.other
            more, less = f"({name}-{other}-{at})", f"({other}-{name}+{at - 1})"
            above, below = symbol(other) + at + symbol(more), symbol(name) - at + 1 + symbol(less)
            one, two = (self.moved("beside", name, other, at, more, less, part=k) for k in (0, 1))
            return [
                one.with_values({name: above}, {more: 0}, f"{name} >= {other} + {at}"),
                two.with_values({other: below}, {less: 0}, f"{name} < {other} + {at}"),
            ]
        if at <= low:
            raise Undecided("whether {} is at least {}", symbol(name), at)
        if at - low > MANY:
            step = f"{name} < {at}"
            assumed = (*self.assumed, at - 1 - symbol(name))
            part = self.moved("below", name, at)
            found.append(replace(part, assumed=assumed, steps=(*self.steps, step)))
            lows = {**self.lows, name: at}
            rest = self.moved("below", name, at, part=1)
            return [*found, replace(rest, lows=lows, steps=(*self.steps, f"{name} >= {at}"))]
        for value in range(low, at):
            part = self.moved("at", name, at, part=value)
            found.append(part.with_values({name: Term.of(value)}, {}, f"{name} = {value}"))
        lows = {**self.lows, name: at}
        rest = self.moved("at", name, at, part=at)
        return [*found, replace(rest, lows=lows, steps=(*self.steps, f"{name} >= {at}"))]

    def _by_sign(self, term: Term) -> list[Case]:
        """The cases in which a term is at least 0, and is negative."""
        below = any(power < 0 for product in term.parts for part in product for _, power in part)
        if below or not term.symbols <= self.lows.keys():
            raise Undecided("whether {} is negative", term)
        least = Fraction(
            1, math.lcm(*(Fraction(value).denominator for value in term.parts.values()))
        )
        return [
            replace(
                self.moved("sign", term, part=part),
                assumed=(*self.assumed, one),
                steps=(*self.steps, f"{one} >= 0"),
            )
            for part, one in enumerate((term, -term - least))
        ]

    def with_values(self, values: Mapping[str, Term], lows: Mapping[str, int], step: str) -> Case:
        """The case in which symbols are terms of others; `lows` has the new ones."""
        kept = {one: low for one, low in self.lows.items() if one not in values} | dict(lows)
        facts = Facts()
        facts.lows = kept
        limits = [term - self.lows.get(name, 0) for name, term in values.items()]
        assumed = [one.with_values(values) for one in self.assumed]
        assumed += [one for one in limits if facts.bound(one) < 0]
        return Case(
            {name: value.with_values(values) for name, value in self.values.items()},
            kept,
            tuple(
                (above.with_values(values), below.with_values(values), by.with_values(values))
                for above, below, by in self.shares
            ),
            self.conditions,
            (*self.steps, step),
            tuple(one for one in assumed if one.number is None or one.number < 0),
            self.moves,
        ).solved()

    def related(self, above: Term, below: Term, quotient: Term, step: str) -> Case:
        """The case in which a product is another one times a quotient, perhaps a new symbol."""
        lows = dict.fromkeys(quotient.symbols, 1) | self.lows
        clear = _denominator(above) * _denominator(below * quotient)
        shares = (*self.shares, (above * clear, below * clear, quotient))
        case = self.moved("equation", *shares[-1])
        return replace(case, lows=lows, shares=shares, steps=(*self.steps, step)).solved()

    def solved(self) -> Case:
        """The case without the equations of a symbol alone on one side."""
        for equation in self.shares:
            sides = _sides(equation)
            if sides is None:
                continue
            rest = replace(self, shares=tuple(one for one in self.shares if one is not equation))
            left, a, right, b = sides
            if left == right == ONE:
                return rest.solved() if a == b else rest.refuted()
            if (left == ONE and b > 1) or (right == ONE and a > 1):
                return rest.refuted()
            for one, factor, other, value in ((left, a, right, b), (right, b, left, a)):
                name = _alone(one)
                if name is not None and factor == 1:
                    term = Term({other: value})
                    rest = rest.moved("solve", name, term)
                    return rest.with_values({name: term}, {}, f"{name} = {term}")
        return self

    def refuted(self) -> Case:
        """A case without points."""
        return replace(self, assumed=(Term.of(-1),))

    @property
    def impossible(self) -> bool:
        """Return whether a number is assumed to be at least 0 that isn't."""
        return any(one.number is not None and one.number < 0 for one in self.assumed)

    def finer(self, few: bool = False) -> list[Case] | None:
        """Cases without equations of products; None if there are too many, or no such equation.

        With `few`, these are the equations with few solutions: the factors of a number, or of a
        power of two.
        """

        def wanted(equation: Equation) -> bool:
            sides = _sides(equation)
            return sides is not None and not (few and sides[0][0] and sides[2][0])

        found: list[Case] = []
        todo = [self]
        while todo:
            case = todo.pop()
            equation = next(filter(wanted, case.shares), None)
            if equation is None:
                found.append(case)
            else:
                todo += case.solutions(equation)
            if len(found) + len(todo) > MOST_SOLUTIONS:
                return None
        return None if found == [self] else [case for case in found if not case.impossible]

    def solutions(self, equation: Equation) -> list[Case]:
        """The solutions of one equation of products, in cases without it.

        For each prime, the powers of it in all symbols satisfy a linear equation. Its solutions are
        sums of minimal ones, so those of the equation are products with a new symbol for each:
        n^2 = p q where p = a b^2, q = a c^2, n = a b c. The primes of its numbers give the cases.
        """
        from sympy import factorint, multiplicity

        sides = _sides(equation)
        assert sides is not None
        left, a, right, b = sides
        weights = {**dict(left[0]), **{name: -power for name, power in right[0]}}
        twos = {**dict(left[1]), **{name: -factor for name, factor in right[1]}}
        names = [*weights, *twos]
        every = [*weights.values(), *twos.values()]
        values = dict.fromkeys(names, Term.of(1)) | dict.fromkeys(twos, Term.of(0))
        lows: dict[str, int] = {}
        minimal = _minimal(every)
        for one in minimal:
            new = f"part {len(self.steps)}.{len(lows)}"
            in_twos = any(one[len(weights) :])
            lows[new] = 0 if in_twos else 1
            for name, power in zip(names, one, strict=True):
                if name in twos:
                    values[name] = values[name] + symbol(new) * power
                elif in_twos:
                    values[name] = values[name] * power_of_two(symbol(new) * power)
                else:
                    values[name] = values[name] * symbol(new) ** power
        firsts = []
        for prime in sorted(factorint(a * b)):
            used = every if prime == 2 else list(weights.values())
            constant = int(multiplicity(prime, a) - multiplicity(prime, b))
            firsts.append([(prime, first) for first in _minimal(used, constant)])
        found = []
        rest = replace(self, shares=tuple(one for one in self.shares if one is not equation))
        choices = list(combinations(*firsts))
        for part, choice in enumerate(choices):
            chosen = dict(values)
            for prime, first in choice:
                for name, power in zip(names, first, strict=False):
                    chosen[name] = (
                        chosen[name] + power if name in twos else chosen[name] * prime**power
                    )
            step = ", ".join(f"{name} = {term}" for name, term in chosen.items())
            columns = dict(zip(lows, minimal, strict=True))
            case = rest.moved("factors", equation, names, columns, choices, part=part)
            found.append(case.with_values(chosen, lows, step))
        return found


def _inner(name: str) -> str:
    return name if re.fullmatch(r"\w+(\(\w+\))?(/\d+)*", name) else f"({name})"


def _sides(equation: Equation) -> tuple[Product, int, Product, int] | None:
    """An equation as two products without a common factor, each with its number.

    None if a term of it isn't one product, or a symbol is a factor and in an exponent.
    """
    above, below, quotient = equation
    both = below * quotient
    if not len(above.parts) == len(both.parts) == 1:
        return None
    ((one, a),), ((two, b),) = above.parts.items(), both.parts.items()
    left, right = _parted(times(one, two, -1))
    plain, twos = ({name for side in (left, right) for name, _ in side[at]} for at in (0, 1))
    if plain & twos:
        return None
    ratio = Fraction(a) / Fraction(b)
    return left, ratio.numerator, right, ratio.denominator


def _parted(product: Product) -> tuple[Product, Product]:
    """The numerator and the denominator of a product."""

    def of(powers: Powers, sign: int) -> Powers:
        return tuple((name, sign * power) for name, power in powers if sign * power > 0)

    powers, exponent = product
    return (of(powers, 1), of(exponent, 1)), (of(powers, -1), of(exponent, -1))


def _alone(product: Product) -> str | None:
    """The symbol that a product is, if it is one."""
    powers, exponent = product
    return powers[0][0] if not exponent and len(powers) == 1 and powers[0][1] == 1 else None


def _free(value: Term) -> str | None:
    """The symbol that a term is, if it is one."""
    return _alone(next(iter(value.parts))) if list(value.parts.values()) == [1] else None


def _of_twos(term: Term) -> bool:
    """Return whether a term is a number times a power of two."""
    return len(term.parts) == 1 and not any(powers for powers, _ in term.parts)


def _minimal(weights: list[int], constant: int | None = None) -> list[tuple[int, ...]]:
    """The minimal solutions of sum(weight x) = 0 in whole numbers from 0 on, other than 0.

    With a constant, those of sum(weight x) + constant = 0 from which no solution without it can be
    subtracted.

    >>> _minimal([2, -1, -1]), _minimal([1, -1], 3)
    ([(1, 0, 2), (1, 1, 1), (1, 2, 0)], [(0, 3)])
    """
    every, last = [*weights, constant or 0], len(weights)
    starts = range(last if constant is None else last + 1)
    todo = {_raised((0,) * len(every), at) for at in starts}
    found: list[tuple[int, ...]] = []
    while todo:
        # Only a step that brings the sum nearer to 0 can lead to a minimal solution.
        sums = {one: sum(map(int.__mul__, every, one)) for one in todo}
        found += sorted(one for one, value in sums.items() if value == 0)
        steps = (
            _raised(one, at) for one in todo for at in range(last) if sums[one] * every[at] < 0
        )
        todo = {one for one in steps if not any(all(map(int.__le__, old, one)) for old in found)}
    return [one[:last] for one in found if one[last] == (constant is not None)]


def _raised(one: tuple[int, ...], at: int) -> tuple[int, ...]:
    return (*one[:at], one[at] + 1, *one[at + 1 :])


def domain(
    names: Iterable[str],
    fixed: Mapping[str, int],
    sentences: Iterable[str],
    texts: Mapping[str, Any] | None = None,
    zeros: Iterable[str] = (),
) -> Case | None:
    """The whole domain, with numbers and texts for some parameters; None if it is empty.

    Parameters are from 1 on, those of `zeros` from 0 on.
    """
    values = {name: symbol(name) for name in names} | {k: Term.of(v) for k, v in fixed.items()}
    reader = Reader(values, (texts or {}).values())
    facts = [fact for sentence in sentences for fact in reader.facts(sentence)]
    lows = {name: int(name not in zeros) for name in values if name not in fixed}
    case = Case(values, lows)
    for kind in ("equal", "square", "power", "divides", "least", "either"):
        todo = [fact for fact in facts if fact.kind == kind]
        for fact in _ordered(todo) if kind == "divides" else todo:
            case = _assume(case, fact)
    return None if case.impossible else case


def _ordered(facts: list[Fact]) -> list[Fact]:
    """Divisors before what they divide: a fact comes after those that divide its divisor."""
    done: list[Fact] = []
    todo = list(dict.fromkeys(facts))
    while todo:
        for fact in todo:
            divided = {str(other.parts[1]) for other in todo if other is not fact}
            if not any({str(s), f"sqrt({s})"} & divided for s in fact.parts[0].free_symbols):
                break
        else:
            fact = todo[0]
        todo.remove(fact)
        done.append(fact)
    return done


def _assume(case: Case, fact: Fact) -> Case:
    """The case in which a fact holds, by terms for symbols or as a condition."""
    later = replace(case, conditions=(*case.conditions, fact))
    if fact.kind in ("least", "either"):
        return later
    facts = case.facts()
    try:
        terms = [of_sympy(one, case.values, facts) for one in fact.parts]
    except (Undecided, Split):
        return later
    if facts.quotients:
        return later
    names = [str(part) for part in fact.parts]
    # A product can be divided by its symbols, unless one may be 0.
    products = all(
        len(term.parts) == 1 and all(case.lows[name] for part in term.parts for name, _ in part[0])
        for term in terms
    )
    match fact.kind:
        case "equal" if products:
            return case.related(terms[0], terms[1], Term.of(1), " = ".join(names))
        case "equal":
            return _sum(case, terms[0], terms[1]) or later
        case "power":
            return _power_of(case, terms[0], terms[1])
        case "square" if products:
            return _square(case, terms[0], names[0])
        case "divides" if products:
            divisor = f"({names[0]})" if re.search(r"[*/]", names[0]) else names[0]
            quotient = symbol(f"{names[1]}/{divisor}")
            step = " divides ".join(names)
            return _multiple(case, later, terms[0], terms[1], quotient, step)
    return later


def _sum(case: Case, one: Term, other: Term) -> Case | None:
    """The case in which a symbol is a sum; None if neither term is such a symbol."""
    difference = (one - other).number
    if difference is not None:
        return case.refuted() if difference else case
    for name, term in ((_free(one), other), (_free(other), one)):
        whole = all(power > 0 for powers, _ in term.parts for _, power in powers)
        if name is not None and name not in term.symbols and whole:
            # The sum may be 0, so the symbol's least value says nothing.
            lows = {key: low for key, low in case.lows.items() if key != name}
            case = replace(case.moved("sum", name, term), lows=lows)
            return case.with_values({name: term}, {}, f"{name} = {term}")
    return None


def _square(case: Case, term: Term, name: str) -> Case:
    """The case in which a product is a square."""
    (((powers, exponent), value),) = term.parts.items()
    number = Fraction(value)
    exact = number.denominator == 1 and math.isqrt(int(number)) ** 2 == number
    if not powers and not exponent:
        return case if exact else case.refuted()
    if exact and all(power % 2 == 0 for _, power in (*powers, *exponent)):
        return case
    root = symbol(f"sqrt({name})")
    return case.related(term, root, root, f"{name} is a square")


def _power_of(case: Case, term: Term, base: Term) -> Case:
    """The case in which a product is a power of a number; the same case if there is no rule."""
    by = base.number
    if not isinstance(by, int) or len(term.parts) != 1:
        return case
    (((powers, _), value),) = term.parts.items()
    if by == 1:
        return case.related(term, Term.of(1), Term.of(1), f"{term} = 1")
    if term.number is not None:
        whole = isinstance(value, int) and any(by**k == value for k in range(value.bit_length()))
        return case if whole else case.refuted()
    if not is_power(by) or (by > 2 and _free(term) is None):
        return case
    if not is_power(value):
        return case.refuted()
    each = by.bit_length() - 1
    logs = {name: f"log2({name})" if by == 2 else f"log2({name})/{each}" for name, _ in powers}
    values = {name: power_of_two(symbol(log) * each) for name, log in logs.items()}
    step = f"{', '.join(logs)} power of {by}"
    moved = case.moved("powers", values)
    return moved.with_values(values, dict.fromkeys(logs.values(), 0), step)


def _multiple(
    case: Case, later: Case, divisor: Term, term: Term, quotient: Term, step: str
) -> Case:
    """The case in which a product divides another one."""
    sides = _sides((term, divisor, Term.of(1)))
    if sides is None:
        return later
    (powers, exponent), _, (below, lower), by = sides
    if not below and not lower and by == 1:
        return case
    if not powers and not below and (exponent or lower):
        return later if is_power(by) else case.refuted()  # `holds` compares them
    return case.related(term, divisor, quotient, step)


def holds(case: Case, facts: Facts) -> bool:
    """Return whether the conditions of a case hold; the case may have to be split.

    Parameters that follow from others by a rounded expression get their terms here. A condition
    that can't be decided is left out.
    """
    if case.impossible:
        return False
    for fact in sorted(case.conditions, key=lambda fact: fact.kind != "equal"):
        if fact.kind == "equal" and _defined(case, str(fact.parts[0])):
            case.values[str(fact.parts[0])] = of_sympy(fact.parts[1], case.values, facts)
            continue
        try:
            if not _true(case, fact, facts):
                return False
        except Undecided:
            continue
    return True


def _defined(case: Case, name: str) -> bool:
    """Return whether a parameter is a symbol that nothing else depends on."""
    others = [term for key, term in case.values.items() if key != name]
    others += [*case.assumed, *(term for equation in case.shares for term in equation)]
    alone = name in case.values and case.values[name] == symbol(name)
    return alone and not any(name in term.symbols for term in others)


def _true(case: Case, fact: Fact, facts: Facts) -> bool:
    """Return whether a condition holds."""
    if fact.kind == "either":
        return any(all(_true(case, one, facts) for one in facts_) for facts_ in fact.parts)
    try:
        one, other = (of_sympy(x, case.values, facts) for x in (fact.parts[0], fact.parts[-1]))
    except Undecided:
        squares = _squared(fact.parts[0]) if fact.kind == "least" else None
        if squares is None:
            raise
        one = other = of_sympy(squares, case.values, facts)

    def least(term: Term) -> bool:
        return bool(facts.holds(_whole(cleared(term))))

    match fact.kind:
        case "least":
            return least(one)
        case "equal":
            return least(one - other) and least(other - one)
        case "square":
            return bool(_root(one, 2, facts).parts)
        case "divides" if facts.exact(other, one) is not None:
            return True
        case "divides" if one.number is not None and other.number is not None:
            return False
        case "divides" if _of_twos(one) and _of_twos(other):
            return least(other - one)
        case "divides" if isinstance(one.number, int):
            rest = facts.divmod(other, one)[1]
            if rest.number is None:
                raise facts.residue(rest, one.number)
            return bool(rest.number == 0)
        case "divides" if other.number is not None and not least(other - one):
            return False
    raise Undecided("whether a condition holds")


def _squared(difference: Any) -> Any:
    """An expression that is at least 0 if and only if sqrt(n) - x is, x >= 0; else None."""
    import sympy

    for root in difference.atoms(sympy.Pow):
        rest = root - difference
        if root.exp == sympy.Rational(1, 2) and rest.is_nonnegative:
            return root.base - rest**2
    return None


# Formulas.


def of_sympy(expression: Any, values: Mapping[str, Term], facts: Facts) -> Term:
    """An expression of SymPy as a term; rounded, compared and rooted parts need facts.

    The term may have symbols in denominators.
    """
    import sympy

    if isinstance(expression, Term):
        return expression
    if isinstance(expression, int | Fraction):
        return Term.of(expression)

    def of(one: Any) -> Term:
        if one.is_Rational:
            return Term.of(Fraction(int(one.p), int(one.q)))
        if one.is_Symbol:
            return values[one.name] if one.name in values else symbol(one.name)
        if one.is_Add:
            return sum(map(of, one.args), Term({}))
        if one.is_Mul:
            return _product(one.args, of, facts)
        if one.is_Pow:
            return _power(of(one.base), one.exp, of, facts)
        name = type(one).__name__
        if name in ("Min", "Max"):
            best, *others = map(of, one.args)
            for other in others:
                if bool(facts.holds(_whole(cleared(best - other)))) == (name == "Min"):
                    best = other
            return best
        if name in ("ceiling", "floor"):
            return _rounded(of(one.args[0]), name == "ceiling", facts)
        if name == "GCD":
            return _gcd(of(one.args[0]), of(one.args[1]), facts)
        if name == "Log2":
            return _log2(of(one.args[0]))
        raise Undecided("the formula has {}, for which there is no rule", name)

    whole = sympy.sympify(expression)
    numbers = {
        one: sympy.Integer(values[one.name].number)
        for one in whole.free_symbols
        if one.name in values and isinstance(values[one.name].number, int)
    }
    return of(whole.xreplace(numbers))


def cleared(term: Term) -> Term:
    """A term times the symbols of its denominators."""
    return term * _denominator(term)


def _denominator(term: Term) -> Term:
    """The least product of symbols by which a term has no symbol in a denominator."""
    low: dict[str, int] = {}
    for powers, _ in term.parts:
        for name, power in powers:
            low[name] = min(low.get(name, 0), power)
    return Term(
        {(tuple(sorted((name, -power) for name, power in low.items() if power < 0)), ()): 1}
    )


def _whole(term: Term) -> Term:
    """The term times a number that makes its coefficients whole."""
    return term * math.lcm(*(Fraction(v).denominator for v in term.parts.values()))


def _product(factors: Iterable[Any], of: Callable[[Any], Term], facts: Facts) -> Term:
    """A product in a formula; a sum in a denominator has to divide the rest."""
    found, divisors = Term.of(1), []
    for factor in factors:
        base = of(factor.base) if factor.is_Pow and factor.exp.is_negative else None
        if base is not None and len(base.parts) > 1 and factor.exp.is_Integer:
            divisors += [base] * -int(factor.exp)
        else:
            found = found * of(factor)
    for divisor in divisors:
        content = math.gcd(*(Fraction(value).numerator for value in divisor.parts.values()))
        found, rest = facts.divmod(facts.reduced(found), divisor * Fraction(1, content))
        if rest.parts:
            raise Undecided("the formula divides by {}", divisor)
        found = found * Fraction(1, content)
    return found


def _power(base: Term, exponent: Any, of: Callable[[Any], Term], facts: Facts) -> Term:
    if exponent.is_Rational:
        power = int(exponent.p)
        root = _root(base, int(exponent.q), facts)
        if power >= 0:
            return root**power
        if len(root.parts) != 1:
            raise Undecided("the formula divides by {}", root)
        return inverse(root) ** -power
    two = base.number
    if isinstance(two, int) and two > 1 and is_power(two):
        return power_of_two(of(exponent) * (two.bit_length() - 1))
    raise Undecided("the formula has {} to the power of {}", base, str(exponent))


def _root(term: Term, order: int, facts: Facts) -> Term:
    """The square root of a term, or that of another order."""
    if order == 1 or not term.parts:
        return term
    unknown = Undecided("the root of {} of order {}", term, order)
    names = sorted(term.symbols)

    def degrees(product: Product) -> list[int]:
        powers, exponent = map(dict, product)
        return [one.get(name, 0) for name in names for one in (exponent, powers)]

    lead = max(term.parts, key=degrees)
    first = found = _root_of_product(lead, Fraction(term.parts[lead]), order, unknown)
    for _ in term.parts:
        # The leading product of what is left comes from that of the root's next part.
        left = term - found**order
        if not left.parts:
            return found if facts.holds(found) else -found
        lead = max(left.parts, key=degrees)
        found = found + Term({lead: left.parts[lead]}) * inverse(first ** (order - 1) * order)
    raise unknown


def _root_of_product(product: Product, value: Fraction, order: int, unknown: Undecided) -> Term:
    from sympy import integer_nthroot

    powers, exponent = product
    for name, factor in exponent:
        if factor % order:
            raise Split(name, modulus=order // math.gcd(order, factor))
    if value <= 0 or any(power % order for _, power in powers):
        raise unknown
    above, exact = integer_nthroot(value.numerator, order)
    below, whole = integer_nthroot(value.denominator, order)
    if not exact or not whole:
        raise unknown
    root = tuple((n, p // order) for n, p in powers), tuple((n, f // order) for n, f in exponent)
    return Term({root: simple(Fraction(above, below))})


def _rounded(term: Term, up: bool, facts: Facts) -> Term:
    """A quotient rounded up or down."""
    below = _denominator(term) * math.lcm(*(Fraction(v).denominator for v in term.parts.values()))
    above = term * below
    if up:
        above = above + below - 1
    return facts.divmod(facts.reduced(above), below)[0]


def _gcd(one: Term, other: Term, facts: Facts) -> Term:
    if one.number is not None:
        one, other = other, one
    by = other.number
    if not isinstance(by, int) or by < 1 or cleared(one) != one:
        raise Undecided("the greatest common divisor of {} and {}", one, other)
    _, rest = facts.divmod(one, other)
    if rest.number is None:
        raise facts.residue(rest, by)
    return Term.of(math.gcd(by, int(rest.number)))


def _log2(term: Term) -> Term:
    if len(term.parts) == 1:
        (((powers, exponent), value),) = term.parts.items()
        fraction = Fraction(value)
        power = fraction.numerator.bit_length() - fraction.denominator.bit_length()
        if not powers and fraction == Fraction(2) ** power:
            return Term({(((name, 1),), ()): factor for name, factor in exponent}) + power
    raise Undecided("the logarithm of {}", term)


def expression(names: Iterable[str], text: str) -> Any:
    """An expression of sizes as one of SymPy: "n/w", "2 n + 1"."""
    return Reader(names).expression(text)
