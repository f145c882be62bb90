"""The mutants of a module: its text with one small change each, found in its syntax tree.

`KINDS` names the changes. Nothing is changed in annotations, messages of errors, `__repr__`,
decorators, or code for types only, because none of them is a rule; see `_left_out`.
"""

from __future__ import annotations

import ast
import bisect
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

Position = tuple[int, int]
"""A line from 1, and a column from 0, in characters."""

KINDS = {
    "comparison": "a comparison becomes its neighbour (`<` for `<=`) or its opposite",
    "arithmetic": "an arithmetic operator becomes another one",
    "logic": "`and` becomes `or`, `not` is left out, a condition is negated",
    "constant": "a number becomes the one before (0 becomes 1), `True` becomes `False`",
    "extremes": "`min` becomes `max`, `any` becomes `all`",
    "return": "a function returns the other truth value, or the two of a pair exchanged",
    "flow": "`break` becomes `continue`, a loop has no iteration",
    "statement": "a call, an assignment to a field or element, `+=`, is left out",
    "text": "an operator in the text that a writer writes becomes another one",
}
"""The kinds of changes."""


def _becomes(before: str, after: str) -> dict[str, str]:
    """A table of operators and of what becomes of each, which stands below it."""
    return dict(zip(before.split(), after.split(), strict=True))


COMPARISONS = {
    **{"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<")},
    **{"==": ("!=",), "!=": ("==",), "is": ("is not",), "is not": ("is",)},
    **{"in": ("not in",), "not in": ("in",)},
}
ARITHMETIC = _becomes(
    "+ - * // / % ** >> << | & ^ @",
    "- + + * * // * << >> & | | *",
)
AUGMENTED = _becomes(
    "+= -= *= >>= |= &= ^=",
    "-= += += <<= &= |= |=",
)
EXTREMES = _becomes(
    "min max minimum maximum any all",
    "max min maximum minimum all any",
)
WRITTEN = _becomes(
    "+ - * / // % < <= > >= == != && || and or << >> += -= & | ^",
    "- + + * * * <= < >= > != == || && or and >> << -= += | & |",
)
"""Operators in written texts, where a space stands on both sides."""
OPERATOR = re.compile(
    "(?<= )(" + "|".join(map(re.escape, sorted(WRITTEN, key=len, reverse=True))) + ")(?= )"
)


class Piece(NamedTuple):
    """From where to where there is another text."""

    start: Position
    end: Position
    new: str


@dataclass(frozen=True)
class Edit:
    """A change: its kind, the function `where`, what `line` became, and the lines that it runs in.

    `where` is a dotted name, "" at the top. A change over several lines has them joined by a space.
    `nth` counts equal changes of equal lines of a function. `runs` are the first line and the last
    of the smallest statement, or of its header.
    """

    kind: str
    where: str
    line: str
    mutant: str
    nth: int
    runs: tuple[int, int]
    at_import: bool
    pieces: tuple[Piece, ...]


class Text:
    """A module's text, its tree and its tokens."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines = source.splitlines()

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.source)

    @cached_property
    def tokens(self) -> list[tokenize.TokenInfo]:
        """Operators, names, numbers and strings."""
        return [
            one
            for one in tokenize.generate_tokens(io.StringIO(self.source).readline)
            if one.type in (tokenize.OP, tokenize.NAME, tokenize.NUMBER, tokenize.STRING)
        ]

    @cached_property
    def _starts(self) -> list[Position]:
        return [one.start for one in self.tokens]

    def start(self, node: ast.AST) -> Position:
        line = self.lines[node.lineno - 1].encode()  # type: ignore[attr-defined]
        return node.lineno, len(line[: node.col_offset].decode())  # type: ignore[attr-defined]

    def end(self, node: ast.AST) -> Position:
        line = self.lines[node.end_lineno - 1].encode()  # type: ignore[attr-defined]
        return node.end_lineno, len(line[: node.end_col_offset].decode())  # type: ignore[attr-defined]

    def between(self, start: Position, end: Position) -> list[tokenize.TokenInfo]:
        first = bisect.bisect_left(self._starts, start)
        return self.tokens[first : bisect.bisect_left(self._starts, end)]

    def part(self, start: Position, end: Position) -> str:
        """The text from there to there."""
        if start[0] == end[0]:
            return self.lines[start[0] - 1][start[1] : end[1]]
        first = self.lines[start[0] - 1][start[1] :]
        last = self.lines[end[0] - 1][: end[1]]
        return "\n".join([first, *self.lines[start[0] : end[0] - 1], last])

    def changed_lines(self, pieces: tuple[Piece, ...]) -> tuple[int, list[str], list[str]]:
        """The first line of a change, and the lines before and after it."""
        first, last = pieces[0].start[0], pieces[-1].end[0]
        before = self.lines[first - 1 : last]
        text = "\n".join(before)
        for piece in reversed(pieces):
            new, breaks = piece.new, "\n" * (piece.end[0] - piece.start[0])
            start, end = self._offset(piece.start, first), self._offset(piece.end, first)
            new = f"({breaks})" if new == "()" else new + breaks  # a break only where it may stand
            text = text[:start] + new + text[end:]
        return first, before, text.split("\n")

    def _offset(self, position: Position, first: int) -> int:
        return sum(len(line) + 1 for line in self.lines[first - 1 : position[0] - 1]) + position[1]

    def changed(self, edit: Edit) -> str:
        """The whole text with a change; as many lines as before."""
        first, before, after = self.changed_lines(edit.pieces)
        last = first - 1 + len(before)
        return "\n".join([*self.lines[: first - 1], *after, *self.lines[last:]]) + "\n"

    @cached_property
    def scopes(self) -> list[tuple[ast.FunctionDef | ast.ClassDef, str, bool]]:
        """Functions and classes, their dotted names, and whether they are functions or in one."""
        found = []

        def visit(node: ast.AST, name: str, inside: bool) -> None:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.FunctionDef | ast.ClassDef):
                    inner = f"{name}.{child.name}" if name else child.name
                    within = inside or isinstance(child, ast.FunctionDef)
                    found.append((child, inner, within))
                    visit(child, inner, within)
                else:
                    visit(child, name, inside)

        visit(self.tree, "", False)
        return found

    def scope(self, line: int) -> tuple[str, bool]:
        """The innermost function or class around a line, "" at the top, and whether a function."""
        for node, name, inside in reversed(self.scopes):
            if node.lineno <= line <= (node.end_lineno or 0):
                return name, inside
        return "", False

    def functions(self) -> dict[str, list[ast.AST]]:
        """Functions and classes by their dotted names."""
        found: dict[str, list[ast.AST]] = {"": [self.tree]}
        for node, name, _ in self.scopes:
            found.setdefault(name, []).append(node)
        return found

    def instead(self, node: ast.AST, new: str) -> tuple[Piece]:
        """The change by which another text stands in the place of a node's."""
        return (Piece(self.start(node), self.end(node), new),)


def edits(text: Text, writer: bool = False) -> Iterator[Edit]:
    """The changes of a module, in the order of its tree; of a `writer` also those in its strings.

    >>> [(one.kind, one.mutant) for one in edits(Text("def f(x):\\n    return x + 1 < 2\\n"))]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('comparison', 'return x + 1 <= 2'), ('comparison', 'return x + 1 >= 2'),
     ('arithmetic', 'return x - 1 < 2'), ('constant', 'return x + 1 < 1'),
     ('constant', 'return x + 0 < 2')]
    """
    left_out = sorted(
        (text.start(node), text.end(node)) for node in _left_out(text.tree) if node is not None
    )
    statements = _statements(text.tree)
    lambdas = [
        (node.lineno, node.end_lineno or 0)
        for node in ast.walk(text.tree)
        if isinstance(node, ast.Lambda)
    ]
    seen: Counter[tuple[str, str, str]] = Counter()
    for kind, pieces in _changes(text, writer):
        if any(start <= pieces[0].start < end for start, end in left_out):
            continue
        first, before, after = text.changed_lines(pieces)
        line, mutant = difference(before, after)
        where, inside = text.scope(first)
        number = seen[where, line, mutant]
        seen[where, line, mutant] += 1
        last = first - 1 + len(before)
        in_lambda = any(start <= first and last <= end for start, end in lambdas)
        yield Edit(
            kind,
            where,
            line,
            mutant,
            number,
            _innermost(statements, first, last),
            not inside and not in_lambda,
            pieces,
        )


def _left_out(tree: ast.AST) -> Iterator[ast.AST | None]:
    """Pieces of the tree in which nothing is changed."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name="__repr__" | "__str__" | "_repr_html_"):
                yield node
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                yield node
            case ast.Raise() | ast.Assert():
                yield node
            case ast.FunctionDef():
                yield node.returns
            case ast.arg() | ast.AnnAssign():
                yield node.annotation
            case ast.keyword(arg="strict"):
                yield node.value
            case ast.Assign(targets=[ast.Name(id="__slots__" | "__all__")]):
                yield node
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name.endswith(
                ("Error", "Warning", "refuse", "refused", "warn", "field", "TypeVar")
            ):
                yield node
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield from node.decorator_list


def _statements(tree: ast.AST) -> list[tuple[int, int]]:
    """The lines of each statement, of a compound one those of its header."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if body else node.end_lineno or node.lineno
            found.append((node.lineno, max(last, node.lineno)))
        elif isinstance(node, ast.match_case):
            first = node.pattern.lineno
            found.append((first, max(node.body[0].lineno - 1, first)))
    return found


def _innermost(statements: list[tuple[int, int]], first: int, last: int) -> tuple[int, int]:
    around = [one for one in statements if one[0] <= first and last <= one[1]]
    return min(around, key=lambda one: one[1] - one[0], default=(first, last))


def _changes(text: Text, writer: bool) -> Iterator[tuple[str, tuple[Piece, ...]]]:
    documents = {
        (node.body[0].value.lineno, node.body[0].value.col_offset)
        for node in ast.walk(text.tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
        and isinstance(node.body[0].value, ast.Constant)
    }
    in_strings = {  # positions within them are not those of the text
        id(inner)
        for node in ast.walk(text.tree)
        if isinstance(node, ast.JoinedStr)
        for inner in ast.walk(node)
    }
    for node in ast.walk(text.tree):
        if id(node) in in_strings:
            continue
        yield from _at(text, node)
    if writer:
        for token in text.tokens:
            if token.type == tokenize.STRING and token.start not in documents:
                yield from _in_string(token)


def _at(text: Text, node: ast.AST) -> Iterator[tuple[str, tuple[Piece, ...]]]:
    match node:
        case ast.Compare():
            sides = [node.left, *node.comparators]
            for left, right in pairwise(sides):
                yield from _symbol(text, "comparison", left, right, COMPARISONS)
        case ast.BinOp():
            yield from _symbol(text, "arithmetic", node.left, node.right, ARITHMETIC)
        case ast.AugAssign():
            yield from _symbol(text, "arithmetic", node.target, node.value, AUGMENTED)
            yield "statement", text.instead(node, "pass")
        case ast.BoolOp():
            for left, right in pairwise(node.values):
                yield from _symbol(text, "logic", left, right, WRITTEN)
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
            token = text.between(text.start(node), text.end(node))[0]
            end = text.start(node.operand) if token.string == "not" else token.end
            if text.part(token.start, end).strip() != token.string:
                end = token.end  # a parenthesis follows
            kind = "logic" if token.string == "not" else "arithmetic"
            yield kind, (Piece(token.start, end, ""),)
        case ast.Constant(value=bool(value)):
            yield "constant", text.instead(node, str(not value))
        case ast.Constant(value=int(value)):
            yield "constant", text.instead(node, str(value - 1 if value else 1))
        case ast.Constant(value=float(value)):
            yield "constant", text.instead(node, repr(value + 1))
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield from _negated(text, "logic", test)
        case ast.comprehension():
            for test in node.ifs:
                yield from _negated(text, "logic", test)
        case ast.Call(func=ast.Name() | ast.Attribute()):
            token = text.between(text.start(node.func), text.end(node.func))[-1]
            if token.string in EXTREMES:
                yield "extremes", (Piece(token.start, token.end, EXTREMES[token.string]),)
        case ast.Break():
            yield "flow", text.instead(node, "continue")
        case ast.Continue():
            yield "flow", text.instead(node, "break")
        case ast.For():
            yield "flow", text.instead(node.iter, "()")
        case ast.Return(value=ast.Tuple(elts=[one, other])):
            flat = (_flat(text, other), _flat(text, one))
            yield "return", text.instead(one, flat[0]) + text.instead(other, flat[1])
        case ast.FunctionDef(returns=ast.Name(id="bool")):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Return) and isinstance(
                    inner.value, ast.Name | ast.Attribute | ast.Call | ast.BoolOp
                ):
                    yield from _negated(text, "return", inner.value)
        case ast.Expr(value=ast.Call()):
            yield "statement", text.instead(node, "pass")
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            target = text.part(text.start(node.targets[0]), text.end(node.targets[0]))
            if not re.search(r"memo|cache|kept", target):  # only speed
                yield "statement", text.instead(node, "pass")


def _flat(text: Text, node: ast.AST) -> str:
    return " ".join(text.part(text.start(node), text.end(node)).split())


def _symbol(
    text: Text,
    kind: str,
    left: ast.AST,
    right: ast.AST,
    others: Mapping[str, str | tuple[str, ...]],
) -> Iterator[tuple[str, tuple[Piece, ...]]]:
    """The changes of the operator between two operands."""
    tokens = [
        one for one in text.between(text.end(left), text.start(right)) if one.string not in "()"
    ]
    if not tokens:
        return
    symbol = " ".join(one.string for one in tokens)
    several = others.get(symbol, ())
    for new in (several,) if isinstance(several, str) else several:
        yield kind, (Piece(tokens[0].start, tokens[-1].end, new),)


def _negated(text: Text, kind: str, test: ast.AST) -> Iterator[tuple[str, tuple[Piece, ...]]]:
    match test:
        case ast.Compare() | ast.UnaryOp(op=ast.Not()) | ast.Constant():
            return  # changed as such
    start, end = text.start(test), text.end(test)
    yield kind, (Piece(start, start, "not ("), Piece(end, end, ")"))


def _in_string(token: tokenize.TokenInfo) -> Iterator[tuple[str, tuple[Piece, ...]]]:
    row, column = token.start
    for number, line in enumerate(token.string.split("\n")):
        before = column if number == 0 else 0
        for found in OPERATOR.finditer(line):
            place = row + number
            start, end = (place, before + found.start()), (place, before + found.end())
            yield "text", (Piece(start, end, WRITTEN[found.group()]),)


def difference(before: list[str], after: list[str]) -> tuple[str, str]:
    """The lines in which two texts differ, stripped and joined by a space.

    >>> difference(["if a:", "  b = 1", "  c"], ["if a:", "  b = 0", "  c"])
    ('b = 1', 'b = 0')
    """
    old, new = list(before), list(after)
    while old and new and old[0] == new[0]:
        del old[0], new[0]
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
    one, other = (" ".join(filter(None, map(str.strip, lines))) for lines in (old, new))
    return one, other
