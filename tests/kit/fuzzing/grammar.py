"""Random Python, grown by the grammar that Python's own `ast` documents in its docstrings."""

from __future__ import annotations

import ast
import re
from functools import cache
from random import Random
from typing import Any

_NAMES = """
T a b c n x y i s r f g mm np math shared registers TABLE WORDS TRAP NUMBER LISTED min max abs len
int float bool range print open exec eval compile input globals locals vars getattr setattr
__import__ __builtins__ __class__ __globals__ __dict__ __name__ __code__ __debug__ sys os self
größe _ __private
"""
NAMES = _NAMES.split()
_ATTRIBUTES = """
id index block lane warp count block_size blocks barrier shape size dtype T sum real imag __class__
__dict__ __globals__ __getitem__ shared registers pi tau int32 float64 system load function append
fill
"""
ATTRIBUTES = _ATTRIBUTES.split()
CONSTANTS: list[Any] = [
    *(0, 1, 2, 3, 4, 8, -1, 31, 32, 63, 64, 255, 2**31, 10**40),
    *(2**63 - 1, 2**63, -(2**63), 2**64, 0.0, 0.5, -1.5, 1e300, 1e-320, 1e999),
    *(1j, True, False, None, ..., "text", "int32", "", b"bytes"),
]
MAY_BE_EMPTY = {"orelse", "finalbody", "handlers", "decorator_list", "type_params", "keywords"}
LEAVES = {
    "expr": ("Name", "Constant"),
    "stmt": ("Pass", "Break", "Continue", "Expr", "Return"),
    "pattern": ("MatchSingleton", "MatchStar"),
}


@cache
def kinds(name: str) -> tuple[type[ast.AST], ...]:
    """The nodes that a name of the grammar may stand for."""
    base = getattr(ast, name)
    return tuple(sorted(base.__subclasses__(), key=lambda kind: kind.__name__)) or (base,)


@cache
def fields(kind: type[ast.AST]) -> tuple[tuple[str, str, str], ...]:
    """Type, number ("", "?" or "*") and name of each field: BinOp(expr left, operator op, ...)."""
    document = " ".join((kind.__doc__ or "").split())
    inside = re.fullmatch(rf"{kind.__name__}\((.*)\)", document)
    parts = re.findall(r"(\w+)([?*]?) (\w+)", inside[1]) if inside else []
    return tuple((type_, number, name) for type_, number, name in parts)


class Gardener:
    """Grows nodes. Names are drawn from `names`, too: those of a program, say."""

    def __init__(self, random: Random, names: list[str] | None = None) -> None:
        self.random = random
        self.names = NAMES + 3 * (names or [])

    def grow(self, name: str, depth: int) -> Any:
        """A random node of the grammar's kind `name`, about so many levels high."""
        choices = kinds(name)
        if depth <= 0 and name in LEAVES:
            choices = tuple(kind for kind in choices if kind.__name__ in LEAVES[name])
        return self.node(self.random.choice(choices), depth)

    def node(self, kind: type[ast.AST], depth: int) -> ast.AST:
        """A random node of one kind. All its lists are of one length, as most have to be."""
        length = self.random.choice((1, 1, 2, 3))
        made: dict[str, Any] = {}
        for type_, number, name in fields(kind):
            if number == "?":
                value = self.part(type_, name, depth) if self.random.random() < 0.5 else None
            elif number == "*":
                empty = name in MAY_BE_EMPTY and self.random.random() < 0.7
                value = [self.part(type_, name, depth) for _ in range(0 if empty else length)]
            else:
                value = self.part(type_, name, depth)
            made[name] = value
        return kind(**made)

    def part(self, type_: str, name: str, depth: int) -> Any:
        """The value of a field."""
        if type_ == "identifier":
            return self.random.choice(ATTRIBUTES if name == "attr" else self.names)
        if type_ == "int":
            return -1 if name == "conversion" else 0
        if type_ == "constant":
            return self.random.choice(CONSTANTS)
        if type_ == "string":
            return None
        return self.grow(type_, depth - 1)


def written(node: ast.AST) -> str | None:
    """The text of a node, None where it is not a tree that Python can write."""
    try:
        return ast.unparse(ast.fix_missing_locations(node)) + "\n"
    except Exception:
        return None


def random_program(random: Random) -> str:
    """A function of T and some arrays whose body is random Python."""
    gardener = Gardener(random)
    while True:
        depth, length = random.choice((1, 2, 3)), random.choice((1, 2))
        body = [gardener.grow("stmt", depth) for _ in range(length)]
        function = ast.parse("def f(T, a, b, n=3):\n    pass").body[0]
        assert isinstance(function, ast.FunctionDef)
        function.body = body
        if random.random() < 0.1:
            function.args = gardener.node(ast.arguments, 1)  # type: ignore[assignment]
        text = written(function)
        if text is not None:
            return text
