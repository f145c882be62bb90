"""Facts that a user gives about the sizes of a launch and the words of its arrays.

A fact is an expression of Python's: numbers, names, + - * // % **, comparisons, and, or, not, min
and max. Its names are the program's number parameters, `a.size`, `a.shape[0]`, `a.ndim` and
`len(a)` of an array parameter, `threads`, `block_size`, `blocks`, `width`, `blockDim.x` and
`gridDim.x` with their siblings. `all(0 <= x < n for x in a)` says something of each word of an
array. `power_of_two(n)` is a fact, too.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import z3

from mmsim.errors import LaunchError, shown
from mmsim.proof.whole_numbers import SIZES_BELOW, Number, Space, Truth, Value, constant, product

OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
}  # fmt: skip
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
EXPONENT = "an exponent is a number from 0 to 64"
GRAMMAR = (
    "a fact compares whole numbers: parameters, a.size, a.shape[0], threads, block_size, blocks, "
    "width, blockDim.x, gridDim.x, with + - * // % **, and, or, not, min, max; "
    "power_of_two(n); all(0 <= x < n for x in a) is one of the words of an array"
)

KEYWORD = re.compile(rf"\b({'|'.join(filter(str.islower, keyword.kwlist))})(?=\s*[.)])")
"""A name of an array that is a keyword of Python, as `in` in CUDA C++."""


def _as_name(found: re.Match[str]) -> str:
    """A keyword as a name: in bold letters, for which Python reads plain ones in names only."""
    return "".join(chr(ord(one) - ord("a") + 0x1D41A) for one in found[0])


class Fact:
    """One fact: its text, and what it says where names have values."""

    def __init__(self, text: Any) -> None:
        self.text = text
        if not isinstance(text, str):
            raise LaunchError(f"given={shown(text)}, but a fact is text, such as 'n == a.size'")
        try:
            self.tree = ast.parse(KEYWORD.sub(_as_name, text.strip()), mode="eval").body
        except (SyntaxError, ValueError) as error:
            raise LaunchError(f"given={text!r} is not an expression of Python's: {error}") from None
        self.words: tuple[str, str, ast.expr] | None = None  # array, name, what holds of a word
        tree = self.tree
        if isinstance(tree, ast.Call) and _name(tree.func) == "all" and len(tree.args) == 1:
            self.words = self._of_words(tree.args[0])

    def _of_words(self, tree: ast.expr) -> tuple[str, str, ast.expr]:
        if isinstance(tree, ast.GeneratorExp) and len(tree.generators) == 1:
            (loop,) = tree.generators
            array, name = _name(loop.iter), _name(loop.target)
            if array and name and not loop.ifs:
                return array, name, tree.elt
        raise self._refused("write all(CONDITION for x in ARRAY)")

    def _refused(self, why: str) -> LaunchError:
        return LaunchError(f"given={self.text!r}: {why}")

    def truth(self, space: Space, names: Names, word: Value | None = None) -> Truth:
        """The condition that the fact states; of one word of its array if there is one."""
        if self.words is not None:
            _, name, tree = self.words
            inner = Names(names.space, names.known | {name: word}, names.arrays)
            return self._truth(tree, space, inner)
        return self._truth(self.tree, space, names)

    def _truth(self, tree: ast.expr, space: Space, names: Names) -> Truth:
        match tree:
            case ast.BoolOp(op=op, values=values):
                parts = [self._truth(one, space, names) for one in values]
                return z3.And(*parts) if isinstance(op, ast.And) else z3.Or(*parts)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return z3.Not(self._truth(operand, space, names))
            case ast.Compare(left=left, ops=ops, comparators=others) if all(
                type(op) in COMPARISONS for op in ops
            ):
                sides = [self.number(one, space, names) for one in (left, *others)]
                pairs = zip(ops, sides, sides[1:], strict=False)
                return z3.And(*(space.compared(COMPARISONS[type(op)], a, b) for op, a, b in pairs))
            case ast.Call(func=ast.Name(id="power_of_two"), args=[of]):
                space.knows_powers = True
                return space.power(self.number(of, space, names))
        raise self._refused(GRAMMAR)

    def number(self, tree: ast.expr, space: Space, names: Names) -> Number:
        """The value of a part."""
        match tree:
            case ast.Constant(value=int(value)):
                return constant(int(value))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return constant(0) - self.number(operand, space, names)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                if isinstance(op, ast.Pow) and not isinstance(right, ast.Constant):
                    raise self._refused(EXPONENT)
                x, y = self.number(left, space, names), self.number(right, space, names)
                return self._operated(OPERATORS[type(op)], x, y, space)
            case ast.Call(func=ast.Name(id="min" | "max" as which), args=[_, _, *_] as args):
                first, *rest = (self.number(one, space, names) for one in args)
                for other in rest:
                    smaller = space.compared("<", other, first)
                    pair = (other, first) if which == "min" else (first, other)
                    first = space.chosen(smaller, *pair)
                return first
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=array)]):
                return names.extent(array, 0, self._refused)
            case ast.Attribute(value=ast.Name(id=array), attr="size" | "ndim" as which):
                return names.extent(array, which, self._refused)
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id=array), attr="shape"),
                slice=axis,
            ):
                return names.extent(array, self.number(axis, space, names).value, self._refused)
            case ast.Attribute(value=ast.Name(id=name), attr=attr):
                return names.named(f"{name}.{attr}", self._refused)
            case ast.Name(id=name):
                return names.named(name, self._refused)
        raise self._refused(GRAMMAR)

    def _operated(self, op: str, x: Number, y: Number, space: Space) -> Number:
        if op in "+-":
            return x + y if op == "+" else x - y
        if op == "*":
            return x * y
        if op == "**":
            if y.value is None or not 0 <= y.value <= 64:
                raise self._refused(EXPONENT)
            return product((x,) * y.value)
        quotient, rest = space.divided(x, y)
        return quotient if op == "//" else rest

    def defines(self, space: Space, names: Names) -> None:
        """Use an equation of sizes, or a size that another one divides, to have fewer symbols."""
        match self.tree:
            case ast.Compare(
                left=ast.BinOp(left=whole, op=ast.Mod(), right=by),
                ops=[ast.Eq()],
                comparators=[ast.Constant(value=int(rest))],
            ):
                number, divisor = (self.number(one, space, names) for one in (whole, by))
                if _is_symbol(number, space) and not number.symbols & divisor.symbols:
                    signed = _may_be_negative(number, space) or _may_be_negative(divisor, space)
                    name = f"({ast.unparse(whole)}) // ({ast.unparse(by)})"
                    quotient = space.size(name, 1 - SIZES_BELOW if signed else 0)
                    self._define(number - quotient * divisor - constant(rest), space)
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                self._define(
                    self.number(left, space, names) - self.number(right, space, names), space
                )

    def _define(self, zero: Number, space: Space) -> None:
        for mono, factor in sorted(zero.terms.items(), key=lambda one: _rank(one[0])):
            if len(mono) == 1 and abs(factor) == 1 and space.symbols[mono[0]].size:
                rest = zero - Number({mono: factor})
                if mono[0] not in rest.symbols:
                    space.define(mono[0], rest * constant(-factor))
                    return


def _rank(mono: tuple[str, ...]) -> tuple[bool, bool, bool, tuple[str, ...]]:
    """Extents of arrays are first to be defined by others, sizes of blocks last."""
    name = mono[0] if mono else ""
    return (
        name.startswith(("blockDim", "block_size", "width")),
        name in ("threads", "blocks") or name.startswith("gridDim"),
        ".shape" not in name,
        mono,
    )


def _is_symbol(number: Number, space: Space) -> bool:
    ((mono, factor), *others) = number.terms.items() or [((), 0)]
    return not others and factor == 1 and len(mono) == 1 and space.symbols[mono[0]].size


def _may_be_negative(number: Number, space: Space) -> bool:
    symbols = (space.symbols[name] for name in number.symbols)
    return min(number.terms.values(), default=0) < 0 or not all(one.nonnegative for one in symbols)


def _name(tree: ast.expr) -> str:
    return tree.id if isinstance(tree, ast.Name) else ""


class Names:
    """The values of the names of facts; `arrays` are extents of array parameters."""

    def __init__(
        self,
        space: Space,
        known: Mapping[str, Number | None],
        arrays: Mapping[str, tuple[Number, ...]],
    ) -> None:
        self.space, self.known, self.arrays = space, dict(known), arrays

    def named(self, name: str, refused: Callable[[str], LaunchError]) -> Number:
        """The value of a name."""
        found = self.known.get(name)
        if found is not None:
            return found
        if name in self.arrays:
            raise refused(f"{name!r} is an array; its sizes are {name}.size and {name}.shape[0]")
        raise refused(f"there is no {name!r}; there are {', '.join([*self.known, *self.arrays])}")

    def extent(
        self, array: str, axis: int | str | None, refused: Callable[[str], LaunchError]
    ) -> Number:
        """An extent of an array, its number of elements or of axes."""
        if array not in self.arrays:
            there = ", ".join(self.arrays) or "none"
            raise refused(f"there is no array parameter {array!r}; there are {there}")
        extents = self.arrays[array]
        if axis == "size":
            return product(extents)
        if axis == "ndim":
            return constant(len(extents))
        if not isinstance(axis, int) or not -len(extents) <= axis < len(extents):
            raise refused(f"{array!r} has {len(extents)} axes")
        return extents[axis]


def holds(fact: Fact, names: Names, contents: Mapping[str, Any]) -> bool:
    """Return whether a fact holds of a launch, whose names have numbers."""
    if fact.words is None:
        return bool(z3.is_true(z3.simplify(fact.truth(names.space, names))))
    array = fact.words[0]
    if array not in contents:
        there = ", ".join(contents) or "none"
        raise LaunchError(f"given={fact.text!r}: no array parameter {array!r}; there are {there}")
    if contents[array].dtype.kind not in "iu":
        raise LaunchError(f"given={fact.text!r}: the words of {array!r} are not whole numbers")
    words = map(int, np.unique(contents[array]))
    truths = (fact.truth(names.space, names, constant(word)) for word in words)
    return all(z3.is_true(z3.simplify(one)) for one in truths)
