"""The domain of a claim: its parameters as terms in free symbols, from sentences about them.

Sentences are as in a claim's preconditions: "w divides p", "n is a square", "w <= p <= n/2", "n, p and w
are powers of two". One that isn't understood is left out: then more is to be proved.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from mmsim.proof.facts import Facts, Split, Undecided
from mmsim.proof.terms import Term, inverse, power_of_two, symbol, times

TOKENS = re.compile(r"\s*(?:(\d+)|([A-Za-z_]+)|(.))")


@dataclass(frozen=True)
class Case:
    """A part of a domain: terms for the parameters, least values of symbols, and equations."""

    values: dict[str, Term]
    lows: dict[str, int]
    shares: tuple[tuple[Term, Term, Term], ...] = ()
    conditions: tuple[Any, ...] = ()
    steps: tuple[str, ...] = ()
    assumed: tuple[Term, ...] = ()

    def facts(self) -> Facts:
        """What is known in this case."""
        found = Facts()
        found.lows = dict(self.lows)
        found.shares = list(self.shares)
        found.assumed = list(self.assumed)
        for above, below, quotient in self.shares:
            both = below * quotient
            if len(both.parts) == len(above.parts) == 1:
                ((left, a),), ((right, b),) = both.parts.items(), above.parts.items()
                common = tuple(sorted(_common(left[0], right[0]))), ()
                if Fraction(b) % Fraction(a) == 0:
                    found.same.append(
                        (
                            times(left, common, -1),
                            Term({times(right, common, -1): int(Fraction(b) / a)}),
                        )
                    )
                else:
                    found.same.append(
                        (times(right, common, -1), Term({times(left, common, -1): Fraction(a) / b}))
                    )
        return found

    def split(self, split: Split) -> list[Case]:
        """The cases that a split distinguishes."""
        if split.assumed is not None:
            if not split.assumed.symbols <= self.lows.keys():
                raise Undecided(f"whether {split.assumed} is negative")
            return [
                replace(self, assumed=(*self.assumed, one), steps=(*self.steps, f"{one} >= 0"))
                for one in (split.assumed, -split.assumed - 1)
            ]
        name, low = split.name, self.lows.get(split.name, 0)
        if name not in self.lows:
            raise Undecided(f"the values of {name}")
        if split.modulus:
            by = split.modulus
            found = []
            for residue in range(by):
                new = f"{_inner(name)}/{by}" if residue == 0 else f"({_inner(name)}-{residue})/{by}"
                least = max(0, -((residue - low) // by))
                term = symbol(new) * by + residue
                step = f"{name} = {term}"
                found.append(self.with_value(name, term, {new: least}, step))
            return found
        assert split.at is not None
        at = split.at.number
        if at is None:
            raise Undecided(f"whether {name} is at least {split.at}")
        if split.other is None:
            if at <= low:
                raise Undecided(f"whether {name} is at least {at}")
            below = [self.with_value(name, Term.of(v), {}, f"{name} = {v}") for v in range(low, at)]
            lows = {**self.lows, name: int(at)}
            rest = replace(self, lows=lows, steps=(*self.steps, f"{name} >= {at}"))
            return [*below, rest]
        other = split.other
        more, less = f"({name}-{other}-{at})", f"({other}-{name}+{at - 1})"
        return [
            self.with_value(
                name, symbol(other) + at + symbol(more), {more: 0}, f"{name} >= {other} + {at}"
            ),
            self.with_value(
                other, symbol(name) - at + 1 + symbol(less), {less: 0}, f"{name} < {other} + {at}"
            ),
        ]

    def with_value(self, name: str, term: Term, lows: Mapping[str, int], step: str) -> Case:
        """The case in which a symbol is a term."""
        values = {name: term}
        left = {one: low for one, low in self.lows.items() if one != name}
        low = self.lows.get(name, 0)
        limits = (term - low,) if low and len(term.parts) > 1 else ()
        return Case(
            {key: value.with_values(values) for key, value in self.values.items()},
            {**left, **lows},
            tuple(tuple(t.with_values(values) for t in one) for one in self.shares),  # type: ignore[misc]
            self.conditions,
            (*self.steps, step),
            (*(t.with_values(values) for t in self.assumed), *limits),
        ).solved()

    def solved(self) -> Case:
        """The case, with equations of one symbol solved."""
        for one in self.shares:
            above, below, quotient = one
            rest = tuple(other for other in self.shares if other is not one)
            both = below * quotient
            if not len(both.parts) == len(above.parts) == 1:
                continue
            ((left, a),), ((right, b),) = both.parts.items(), above.parts.items()
            if left[1] or right[1]:
                continue
            common = tuple(_common(left[0], right[0])), ()
            left, right = times(left, common, -1), times(right, common, -1)
            for (x, f), (y, g) in (((left, a), (right, b)), ((right, b), (left, a))):
                if len(x[0]) == 1 and x[0][0][1] == 1 and Fraction(g) % Fraction(f) == 0:
                    term = Term({y: int(Fraction(g) / f)})
                    new = replace(self, shares=rest)
                    name = x[0][0][0]
                    if name in new.lows:
                        return new.with_value(name, term, {}, f"{name} = {term}")
            if not left[0] and not right[0] and a == b:
                return replace(self, shares=rest).solved()
        return self


def _inner(name: str) -> str:
    return name if re.fullmatch(r"\w+(\(\w+\))?(/\d+)*", name) else f"({name})"


def _common(one: Any, other: Any) -> list[tuple[str, int]]:
    two = dict(other)
    return [(name, min(power, two[name])) for name, power in one if name in two]


def domain(names: Iterable[str], fixed: Mapping[str, int], sentences: Iterable[str]) -> Case | None:
    """The whole domain, with numbers for some parameters; None if it is empty."""
    values = {name: symbol(name) for name in names} | {k: Term.of(v) for k, v in fixed.items()}
    case = Case(values, {name: 1 for name in names if name not in fixed})
    reader = _Reader(tuple(values))
    facts = [fact for sentence in sentences for fact in reader.facts(sentence)]
    for rank in ("equal", "square", "power", "divides"):
        todo = [fact for fact in facts if fact[0] == rank]
        if rank == "divides":
            todo = _ordered(todo)
        for fact in todo:
            found = _assume(case, fact)
            if found is None:
                return None
            case = found
    left = [f for f in facts if f[0] == "equal" and case.values.get(f[1]) == symbol(f[1])]
    conditions = tuple(fact for fact in (*left, *facts) if fact[0] == "least" or fact in left)
    return Case(case.values, case.lows, case.shares, conditions, ())


def _ordered(facts: list[Any]) -> list[Any]:
    """Divisors before what they divide: a fact comes after those that divide its divisor."""
    done: list[Any] = []
    todo = list(facts)
    while todo:
        for fact in todo:
            others = {str(other[2]) for other in todo if other is not fact}
            if not any(str(s) in others or f"sqrt({s})" in others for s in fact[1].free_symbols):
                break
        else:
            fact = todo[0]
        todo.remove(fact)
        done.append(fact)
    return done


def holds(case: Case, facts: Facts) -> bool:
    """Return whether the conditions of a case hold; the case may have to be split.

    Parameters that follow from others by a rounded expression get their terms here.
    """
    for kind, *rest in case.conditions:
        if kind == "equal":
            name, expression = rest
            case.values[name] = of_sympy(expression, case.values, facts)
            continue
        (expression,) = rest
        if not facts.holds(of_sympy(expression, case.values, facts)):
            return False
    return True


def _assume(case: Case, fact: Any) -> Case | None:
    """The case in which a fact holds, by terms for its symbols; None if it can't."""
    kind = fact[0]
    facts = case.facts()
    if kind == "equal":
        _, name, expression = fact
        try:
            value = of_sympy(expression, case.values, facts)
        except Undecided:
            return case
        old = case.values.get(name)
        if old is None:
            return case
        free = _free(old)
        if free is None:
            if old.number is not None and value.number is not None:
                return case if old == value else None
            free = _free(value)
            if free is not None and free in case.lows:
                return case.with_value(free, old, {}, f"{name} = {expression}")
            return case
        if free in value.symbols:
            return case
        return case.with_value(free, value, {}, f"{name} = {expression}")
    if kind in ("square", "power"):
        name = fact[1]
        value = case.values.get(name)
        if value is None:
            return case
        number = value.number
        if number is not None:
            whole = int(number)
            if kind == "square":
                return case if math.isqrt(whole) ** 2 == whole else None
            return case if whole & (whole - 1) == 0 else None
        free = _free(value)
        if kind == "square":
            if free is None:
                return case
            new = f"sqrt({name})"
            return case.with_value(free, symbol(new) ** 2, {new: 1}, f"{name} is a square")
        if free is None:
            ((product, factor),) = value.parts.items() if len(value.parts) == 1 else [(None, 0)]
            if product is None or len(product[0]) != 1 or factor != 1:
                return case
            free = product[0][0][0]
        new = f"log2({free if free.startswith('sqrt') else name})"
        return case.with_value(
            free, power_of_two(symbol(new)), {new: 0}, f"{name} is a power of two"
        )
    _, divisor, of = fact
    try:
        below, above = (of_sympy(one, case.values, facts) for one in (divisor, of))
    except Undecided:
        return case
    if below.number is not None and above.number is not None:
        return case if above.number % below.number == 0 else None
    if facts.exact(above, below) is not None:
        return case
    free = _free(above)
    shown = f"{divisor} divides {of}"
    name = f"{of}/({divisor})" if "*" in str(divisor) or "/" in str(divisor) else f"{of}/{divisor}"
    if free is not None and free in case.lows and free not in below.symbols:
        return case.with_value(free, below * symbol(name), {name: 1}, shown)
    if len(below.parts) == 1 and len(above.parts) == 1:
        ((one, a),), ((two, b),) = below.parts.items(), above.parts.items()
        if not one[0] and not two[0] and one[1] != two[1]:
            # Powers of two: the exponent of one is not below the other's.
            from mmsim.proof.terms import exponent_of

            both = exponent_of(two) - exponent_of(one)
            power = Fraction(b) / Fraction(a)
            if power.numerator & (power.numerator - 1) == 0:
                return case  # by w <= p and the like, or by a split
        # A symbol of what is divided, alone: x = (what is left of the divisor) y.
        if a == 1 or isinstance(a, int):
            common = dict(_common(one[0], two[0]))
            rest_below = {n: p - common.get(n, 0) for n, p in one[0] if p - common.get(n, 0)}
            rest_above = {n: p - common.get(n, 0) for n, p in two[0] if p - common.get(n, 0)}
            g = math.gcd(a, b) if isinstance(b, int) else 1
            if (
                len(rest_above) == 1
                and b // g == 1
                and list(rest_above.values()) == [1]
                and not one[1]
                and not two[1]
            ):
                (x,) = rest_above
                term = Term({(tuple(sorted(rest_below.items())), ()): a // g}) * symbol(name)
                return case.with_value(x, term, {name: 1}, shown)
        quotient = symbol(name)
        return Case(
            case.values,
            {**case.lows, name: 1},
            (*case.shares, (above, below, quotient)),
            case.conditions,
            (*case.steps, shown),
        )
    return case


def _free(value: Term) -> str | None:
    """The symbol that a term is, if it is one."""
    if len(value.parts) != 1:
        return None
    (((powers, exponent), factor),) = value.parts.items()
    if exponent or factor != 1 or len(powers) != 1 or powers[0][1] != 1:
        return None
    return powers[0][0]


class _Reader:
    """Reads sentences about parameters."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.defined: dict[str, Any] = {}

    def facts(self, sentence: str) -> list[Any]:
        """The facts of a sentence, as tuples; none of a part that isn't understood."""
        found = []
        if " or " in sentence or sentence.startswith("for "):
            return []
        sentence = sentence.replace("both sides, rows and n/rows", "rows, w divides n/rows")
        for part in _parts(sentence):
            try:
                found += self._fact(part)
            except (SyntaxError, KeyError, ValueError, IndexError, TypeError):
                continue
        return found

    def _fact(self, part: str) -> list[Any]:
        many = re.fullmatch(r"(.+) (?:is|are) (?:a )?(squares?|powers? of two)", part)
        if many:
            names = re.split(r",\s*|\s+and\s+", many[1])
            kind = "square" if many[2].startswith("square") else "power"
            result: list[Any] = []
            for one in names:
                least = re.fullmatch(r"(.+?) (>=|<=) (.+)", one)
                if least:
                    result += self._compared(one)
                    one = least[1]
                expression = self.expression(one)
                if roots := _under_roots(expression):
                    result += [(kind, name) for name in roots]
                elif str(expression) in self.names:
                    result.append((kind, str(expression)))
            return result
        if " divides " in part:
            left, right = part.split(" divides ")
            result = []
            if re.search(r"<=|>=|<|>|=", left):
                result += self._compared(left)
                left = re.split(r"<=|>=|<|>|=", left)[0]
            for one in re.split(r"\s+and\s+", right):
                if "=" in one:
                    name, _, one = (s.strip() for s in one.partition("="))
                    value = self.expression(one)
                    self.defined[name] = value
                divided = self.expression(one)
                result += [("square", name) for name in _under_roots(divided)]
                result.append(("divides", self.expression(left), divided))
            return result
        return self._compared(part)

    def _compared(self, part: str) -> list[Any]:
        import sympy

        pieces = re.split(r"(<=|>=|<|>|=)", part)
        if len(pieces) < 3:
            return []
        result: list[Any] = []
        for at in range(0, len(pieces) - 2, 2):
            left, op, right = pieces[at : at + 3]
            one = left.strip()
            if op == "=":
                value = self.expression(right)
                if one in self.names:
                    result.append(("equal", one, value))
                else:
                    self.defined[one] = value
                continue
            a, b = self.expression(left), self.expression(right)
            difference = b - a if op[0] == "<" else a - b
            if not op.endswith("="):  # whole numbers: larger is larger by 1
                difference = sympy.fraction(sympy.together(difference))[0] - 1
            result.append(("least", difference))
        return result

    def expression(self, text: str) -> Any:
        """An expression of SymPy: "d w^2", "sqrt n", "2w", "n/(rw)"."""
        import sympy

        tokens = []
        for number, name, sign in TOKENS.findall(text.strip()):
            if number:
                tokens.append(number)
            elif name:
                tokens += self._split(name)
            elif sign.strip():
                tokens.append("**" if sign == "^" else sign)
        pieces: list[str] = []
        at = 0
        while at < len(tokens):
            token = tokens[at]
            called = pieces and pieces[-1] in ("sqrt", "floor")
            if pieces and not called and _ends(pieces[-1]) and _begins(token):
                pieces.append("*")
            if token == "sqrt" and tokens[at + 1] != "(":
                pieces += ["sqrt", "(", tokens[at + 1], ")"]
                at += 2
                continue
            pieces.append(token)
            at += 1
        symbols = {name: sympy.Symbol(name, positive=True, integer=True) for name in self.names}
        known = {**symbols, **self.defined, "sqrt": sympy.sqrt, "floor": sympy.floor}
        tree = compile(" ".join(pieces), "<fact>", "eval")
        if set(tree.co_names) - known.keys():
            raise KeyError(text)
        return sympy.sympify(_evaluated(" ".join(pieces), known))

    def _split(self, name: str) -> list[str]:
        known = {*self.names, *self.defined, "sqrt", "floor"}
        if name in known:
            return [name]
        if all(letter in known for letter in name):
            return list(name)
        raise KeyError(name)


def _evaluated(text: str, known: Mapping[str, Any]) -> Any:
    """The value of an arithmetic expression."""
    import ast

    import sympy

    def of(node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value) if isinstance(value, int):
                return sympy.Integer(value)
            case ast.Name(id=name):
                return known[name]
            case ast.Call(func=ast.Name(id=name), args=[one]):
                return known[name](of(one))
            case ast.UnaryOp(op=ast.USub(), operand=one):
                return -of(one)
            case ast.BinOp(left=left, op=op, right=right):
                a, b = of(left), of(right)
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
        raise ValueError(text)

    return of(ast.parse(text, mode="eval").body)


def _under_roots(expression: Any) -> list[str]:
    """The names of which an expression has the square root."""
    return sorted(one.base.name for one in expression.atoms(type(expression**2)) if one.is_Pow and one.exp * 2 == 1 and one.base.is_Symbol)


def _parts(sentence: str) -> Sequence[str]:
    """The parts of a sentence; a list of names before "is" or "are" stays whole."""
    found: list[str] = []
    for piece in re.split(r";\s*", sentence):
        whole = re.fullmatch(r"(?:\w+(?:/\w+)?(?:, | and ))+\w+(?:/\w+)? are .*?(?:, |$)", piece)
        if whole:
            found.append(piece)
            continue
        match = re.match(
            r"((?:\w+(?:/\w+)?(?:, | and ))+\w+(?:/\w+)? are (?:squares|powers of two))(?:, | and |$)",
            piece,
        )
        if match:
            found.append(match[1])
            piece = piece[match.end() :]
        for part in re.split(r",\s*(?:and\s+)?", piece):
            last = re.split(r"\s+and\s+(?=[^,]*(?:divides|are|is|<|>|=))", part)
            found += last
    return [one.strip() for one in found if one.strip()]


def _ends(token: str) -> bool:
    return token[-1].isalnum() or token == ")"


def _begins(token: str) -> bool:
    return token[0].isalnum() or token == "("


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
            found = Term({})
            for part in one.args:
                found = found + of(part)
            return found
        if one.is_Mul:
            found = Term.of(1)
            below = []
            for part in one.args:
                if part.is_Pow and part.exp == -1 and len(of(part.base).parts) > 1:
                    below.append(of(part.base))
                else:
                    found = found * of(part)
            for divisor in below:
                whole, rest = facts.divmod(facts.reduced(found), divisor)
                if rest.parts:
                    raise Undecided(f"1/({divisor}) in the formula")
                found = whole
            return found
        if one.is_Pow:
            return _power(of(one.base), one.exp, of, facts)
        name = type(one).__name__
        if name in ("Min", "Max"):
            best = of(one.args[0])
            for part in one.args[1:]:
                other = of(part)
                if bool(facts.holds(_whole(best - other))) == (name == "Min"):
                    best = other
            return best
        if name in ("ceiling", "floor"):
            return _rounded(of(one.args[0]), name == "ceiling", facts)
        if name == "GCD":
            return _gcd(of(one.args[0]), of(one.args[1]), facts)
        if name == "Log2":
            return _log2(of(one.args[0]), facts)
        raise Undecided(f"the formula has {name}, for which there is no rule")

    whole = sympy.sympify(expression)
    numbers = {
        one: sympy.Integer(values[one.name].number)
        for one in whole.free_symbols
        if one.name in values and isinstance(values[one.name].number, int)
    }
    return of(whole.xreplace(numbers))


def _whole(term: Term) -> Term:
    """The term times a number that makes its coefficients whole."""
    scale = math.lcm(1, *(Fraction(v).denominator for v in term.parts.values()))
    return term * scale


def _power(base: Term, exponent: Any, of: Any, facts: Facts) -> Term:
    if exponent.is_Integer:
        power = int(exponent)
        if power >= 0:
            return base**power
        try:
            return inverse(base) ** -power
        except ValueError:
            raise Undecided(f"1/({base}) in the formula") from None
    if exponent.is_Rational and int(exponent.q) == 2:
        root = _root(base, facts)
        power = int(exponent.p)
        return root**power if power > 0 else inverse(root) ** -power
    two = base.number
    if isinstance(two, int) and two > 1 and two & (two - 1) == 0:
        return power_of_two(of(exponent) * (two.bit_length() - 1))
    raise Undecided(f"({base})^({exponent}) in the formula")


def _root(term: Term, facts: Facts) -> Term:
    if len(term.parts) != 1:
        raise Undecided(f"the square root of {term}")
    (((powers, exponent), value),) = term.parts.items()
    fraction = Fraction(value)
    for name, factor in exponent:
        if factor % 2:
            raise Split(name, modulus=2)
    above, below = math.isqrt(fraction.numerator), math.isqrt(fraction.denominator)
    if (
        above**2 != fraction.numerator
        or below**2 != fraction.denominator
        or any(p % 2 for _, p in powers)
    ):
        raise Undecided(f"the square root of {term}")
    half = tuple((n, p // 2) for n, p in powers), tuple((n, f // 2) for n, f in exponent)
    found = Fraction(above, below)
    return Term({half: found.numerator if found.denominator == 1 else found})


def _rounded(term: Term, up: bool, facts: Facts) -> Term:
    """A quotient rounded up or down."""
    low: dict[str, int] = {}
    scale = 1
    for (powers, _), value in term.parts.items():
        scale = math.lcm(scale, Fraction(value).denominator)
        for name, power in powers:
            low[name] = min(low.get(name, 0), power)
    below = Term({(tuple(sorted((n, -p) for n, p in low.items() if p < 0)), ()): scale})
    above = term * below
    if up:
        above = above + below - 1
    return facts.divmod(facts.reduced(above), below)[0]


def _gcd(one: Term, other: Term, facts: Facts) -> Term:
    if one.number is not None:
        one, other = other, one
    by = other.number
    if not isinstance(by, int):
        raise Undecided(f"the greatest common divisor of {one} and {other}")
    _, rest = facts.divmod(one, other)
    if rest.number is None:
        raise facts.residue(rest, by)
    return Term.of(math.gcd(by, int(rest.number)))


def _log2(term: Term, facts: Facts) -> Term:
    if len(term.parts) == 1:
        (((powers, exponent), value),) = term.parts.items()
        fraction = Fraction(value)
        power = fraction.numerator.bit_length() - fraction.denominator.bit_length()
        if not powers and fraction == Fraction(2) ** power:
            return Term({(((name, 1),), ()): factor for name, factor in exponent}) + power
    raise Undecided(f"the logarithm of {term}")


def expression(names: Iterable[str], text: str) -> Any:
    """An expression of sizes as one of SymPy: "n/w", "2 n + 1"."""
    return _Reader(tuple(names)).expression(text)


def read_facts(names: Iterable[str], sentence: str) -> tuple[list[Any], str]:
    """The facts of a sentence, and its first part that isn't understood."""
    reader = _Reader(tuple(names))
    found: list[Any] = []
    if " or " in sentence or sentence.startswith("for "):
        return found, sentence
    for part in _parts(sentence):
        try:
            more = reader._fact(part)
        except (SyntaxError, KeyError, ValueError, IndexError, TypeError):
            more = []
        if not more:
            return found, part
        found += more
    return found, ""
