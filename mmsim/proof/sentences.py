"""Sentences about the sizes of a claim, read as facts.

Such sentences are a claim's preconditions: "w divides p", "n is a square", "w <= p <= n/2", "n, p
and w are powers of two", "k = ceiling(p/w)", "w divides n/f, or n/f divides w", "for transpose, n
is a square". A product without a sign binds closest: n/2w is n/(2w), and sqrt n/w is sqrt(n)/w.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

TOKEN = re.compile(r"\s*(?:(\d+)|([A-Za-z_]+)|([-+*/^()]))")
BETWEEN = re.compile(r",\s*(?:and\s+)?|\s+and\s+")
COMPARISON = re.compile(r"\s*(<=|>=|<|>|=)\s*")
RELATION = re.compile(r" divides | (?:is|are) |[<>=]")
KIND = re.compile(r"(.+) (?:is|are) (?:a )?(?:(square|fourth power)s?|powers? of (\w+))")
MULTIPLE = re.compile(r"(.+) divides (.+), or is a multiple of it")
FUNCTIONS = ("sqrt", "floor", "ceiling")
WORDS = ("as", "at", "in", "is", "ln", "log", "of", "on", "to")
"""Words that are no products of letters."""


@dataclass(frozen=True)
class Fact:
    """A statement about expressions of SymPy.

    "equal": both are. "divides": the second one is a whole multiple of the first. "least": it is at
    least 0. "square": it is the square of a whole number. "power": the first one is a power of the
    second, perhaps 1. "either" has lists of facts instead, of which one list holds.
    """

    kind: Literal["equal", "divides", "least", "square", "power", "either"]
    parts: tuple[Any, ...]


class Reader:
    """Reads the sentences of one claim, in their order.

    A sentence may define a name: "w divides s = sqrt n". `texts` are the words that a case has for
    some parameters: "for transpose, ..." is of no concern to others.
    """

    def __init__(self, names: Iterable[str], texts: Iterable[str] = ()) -> None:
        import sympy

        self.known = {name: sympy.Symbol(name, positive=True, integer=True) for name in names}
        self.texts = set(texts)

    def facts(self, sentence: str) -> list[Fact]:
        """The facts of a sentence; a part that isn't understood has none."""
        return [fact for _, facts in self.parts(sentence) for fact in facts]

    def parts(self, sentence: str) -> Iterator[tuple[str, list[Fact]]]:
        """The parts of a sentence with their facts, none for one that isn't understood."""
        for piece in re.split(r";\s*", sentence):
            if piece.startswith("for "):
                parts = BETWEEN.split(piece[4:])
                count = next((at for at, one in enumerate(parts) if RELATION.search(one)), 0)
                if not self.texts & set(parts[:count]):
                    continue
                piece = piece[piece.index(parts[count - 1]) + len(parts[count - 1]) :].lstrip(", ")
            piece = MULTIPLE.sub(r"\1 divides \2, or \2 divides \1", piece)
            options = [list(self._clauses(one)) for one in re.split(r",?\s+or\s+", piece)]
            if len(options) == 1:
                yield from options[0]
            elif all(facts for clauses in options for _, facts in clauses):
                lists = [tuple(f for _, facts in clauses for f in facts) for clauses in options]
                yield piece, [Fact("either", tuple(lists))]
            else:
                yield piece, []

    def _clauses(self, text: str) -> Iterator[tuple[str, list[Fact]]]:
        """The clauses with their facts.

        A part without a relation belongs to a list: of subjects, "n and w are squares", or of what
        is divided, "w divides k and n".
        """
        clauses: list[tuple[list[str], str, list[str]]] = []
        waiting: list[str] = []
        for part in (*BETWEEN.split(text), ""):
            if part and not RELATION.search(part):
                waiting.append(part)
                continue
            divided = bool(clauses) and " divides " in clauses[-1][1]
            subjects = " are " in part
            if divided and not subjects:
                clauses[-1][2].extend(waiting)
            elif waiting and (divided or not subjects):
                yield ", ".join(waiting), []
                waiting = []
            if part:
                clauses.append((waiting if subjects else [], part, []))
            waiting = []
        for subjects_, part, objects in clauses:
            try:
                yield part, list(self._read(subjects_, part, objects))
            except ValueError:
                yield part, []

    def _read(self, subjects: list[str], part: str, objects: list[str]) -> Iterator[Fact]:
        part, _, more = part.partition(" that divides ")
        if " divides " in part:
            left, _, right = part.partition(" divides ")
            divisor, *_ = yield from self._compared(left)
            for one in (right, *objects):
                *_, divided = yield from self._compared(one)
                yield from self._whole(divided)
                yield Fact("divides", (divisor, divided))
            return
        match = KIND.fullmatch(part)
        if match is None:
            yield from self._compared(part)
            return
        for one in (*subjects, match[1]):
            subject, *_ = yield from self._compared(one)
            if match[3]:
                base = self.expression("2" if match[3] == "two" else match[3])
                yield from self._whole(subject)
                yield Fact("power", (subject, base))
                if more:
                    yield Fact("divides", (subject, self.expression(more)))
                continue
            yield Fact("square", (subject,))
            if match[2] == "fourth power":
                yield Fact("square", (subject**self._half,))

    @property
    def _half(self) -> Any:
        import sympy

        return sympy.Rational(1, 2)

    def _whole(self, expression: Any) -> Iterator[Fact]:
        """The facts that hold if an expression is whole: n is a square, for sqrt(n)/w."""
        import sympy

        roots = [one for one in expression.atoms(sympy.Pow) if not one.exp.is_Integer]
        for root in roots:
            alone = len(roots) == 1 and not (expression / root).has(root)
            if alone and root.exp == self._half and root.base.is_Symbol:
                yield Fact("square", (root.base,))

    def _compared(self, text: str) -> Generator[Fact, None, list[Any]]:
        """The facts of a chain such as w <= p <= n; the expressions of the chain are returned."""
        first, *rest = COMPARISON.split(text.strip())
        terms: list[Any] = []
        for op, right in zip(rest[::2], rest[1::2], strict=True):
            if op == "=" and not terms and first.isalpha() and first not in self.known:
                self.known[first] = self.expression(right)
            root = re.fullmatch(r"([A-Za-z])\^2", right)
            if op == "=" and root and root[1] not in self.known:
                square = terms[-1] if terms else self.expression(first)
                self.known[root[1]] = square**self._half
                yield Fact("square", (square,))
            left = terms[-1] if terms else self.expression(first)
            terms = [*(terms or [left]), self.expression(right)]
            more, less = (terms[-1], left) if op in ("<=", "<") else (left, terms[-1])
            if op == "=":
                if left != terms[-1]:
                    yield Fact("equal", (left, terms[-1]))
                continue
            if len(op) == 1 and not (more - less).is_integer:
                raise ValueError(text)
            yield Fact("least", (more - less - int(len(op) == 1),))
        return terms or [self.expression(first)]

    # Expressions.

    def expression(self, text: str) -> Any:
        """An expression of SymPy: "d w^2", "sqrt n", "2w", "n/(rw)", "ceiling((p/w - 1)/w)"."""
        tokens: list[str] = []
        at = 0
        text = text.strip().replace("**", "^")
        while at < len(text):
            match = TOKEN.match(text, at)
            if match is None or match[2] in WORDS:
                raise ValueError(text)
            name = match[2]
            letters = name and name not in self.known and name not in FUNCTIONS
            tokens += list(name) if letters else [match[1] or name or match[3]]
            at = match.end()
        tokens.reverse()
        found = self._sum(tokens)
        if tokens:
            raise ValueError(text)
        return found

    def _sum(self, tokens: list[str]) -> Any:
        found = self._product(tokens)
        while tokens and tokens[-1] in "+-":
            sign = tokens.pop()
            other = self._product(tokens)
            found = found + other if sign == "+" else found - other
        return found

    def _product(self, tokens: list[str]) -> Any:
        import sympy

        found = self._close(tokens)
        while tokens and tokens[-1] in "*/":
            sign = tokens.pop()
            rounded = sign == "/" and tokens[-1:] == ["/"] and tokens.pop()
            other = self._close(tokens)
            found = found * other if sign == "*" else found / other
            found = sympy.floor(found) if rounded else found
        return found

    def _close(self, tokens: list[str]) -> Any:
        """A product without signs."""
        found = self._power(tokens)
        while tokens and tokens[-1] not in "+-*/^)":
            found = found * self._power(tokens)
        return found

    def _power(self, tokens: list[str]) -> Any:
        import sympy

        token = tokens.pop() if tokens else ""
        if token in FUNCTIONS:
            return getattr(sympy, token)(self._power(tokens))
        if token == "(":
            found = self._sum(tokens)
            if not tokens or tokens.pop() != ")":
                raise ValueError(token)
        elif token.isdigit():
            found = sympy.Integer(token)
        elif token in self.known:
            found = self.known[token]
        else:
            raise ValueError(token)
        if tokens and tokens[-1] == "^":
            tokens.pop()
            found = found ** self._power(tokens)
        return found
