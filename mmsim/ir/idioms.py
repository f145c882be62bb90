"""Statements for which a compiler has an instruction: the smaller value, counted bits."""

from __future__ import annotations

from collections.abc import Callable

from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import Type, is_whole
from mmsim.ir.operators import row_of
from mmsim.ir.walk import key_of, names

ORDERS = ("<", "<=", ">", ">=")
Of = Callable[[ir.Expr], Type]


def extremes(branch: ir.If, of: Of) -> tuple[ir.Expr, ir.Expr] | None:
    """The two values of which a branch takes the smaller or the larger one; None if it doesn't.

    One of floats has to take the other one from a NaN, as `a if a <= b or b != b else b` does.
    """
    sides = (*branch.then, *branch.orelse)
    if len(branch.then) != 1 or len(sides) != 2:
        return None
    taken, other = sides
    if not isinstance(taken, ir.Assign) or not isinstance(other, ir.Assign):
        return None
    test, values = branch.test, (taken.value, other.value)
    if isinstance(test, ir.Binary) and test.op == "|" and _is_nan(test.right, other.value):
        test = test.left
    elif not is_whole(of(taken.value)):
        return None
    if not isinstance(test, ir.Compare) or test.op not in ORDERS or taken.target != other.target:
        return None
    compared = {key_of(uncast(test.left)), key_of(uncast(test.right))}
    return values if compared == {key_of(uncast(one)) for one in values} else None


def counts_bits(loop: ir.While) -> bool:
    """Return whether a loop takes the bits of a word one by one, and only counts them.

    That is `while x != 0: x = x & (x - 1); n = n + 1`, or with `x >> 1`.
    """
    test = loop.test
    if not isinstance(test, ir.Compare) or test.op != "!=":
        return False
    word, values = uncast(test.left), dict[str, ir.Expr]()
    for one in (*loop.prelude, *loop.body):
        if not isinstance(one, ir.Assign) or one.target in values:
            return False
        values[one.target] = one.value
    if not isinstance(word, ir.Var) or not _is(test.right, 0):
        return False
    moved = values.pop(word.name, test)
    steps = [one for name, one in values.items() if name in names((one,))]
    return _next_word(moved, word.name) and len(steps) == 1 and _adds(steps[0])


def uncast(value: ir.Expr) -> ir.Expr:
    """A value without conversions."""
    while isinstance(value, ir.Unary) and row_of(value).kind == "cast":
        value = value.operand
    return value


def _next_word(value: ir.Expr, name: str) -> bool:
    """Return whether a word is without its lowest bit, or has moved by one."""
    if not isinstance(value, ir.Binary) or not _is_var(value.left, name):
        return False
    less = value.right
    if value.op == "&" and isinstance(less, ir.Binary):
        return less.op == "-" and _is_var(less.left, name) and _is(less.right, 1)
    return value.op == ">>" and _is(less, 1)


def _adds(value: ir.Expr) -> bool:
    return isinstance(value, ir.Binary) and value.op == "+" and _is(value.right, 1)


def _is_nan(value: ir.Expr, of: ir.Expr) -> bool:
    if not isinstance(value, ir.Compare) or value.op != "!=":
        return False
    return all(key_of(each) == key_of(of) for each in (value.left, value.right))


def _is_var(value: ir.Expr, name: str) -> bool:
    return isinstance(value, ir.Var) and value.name == name


def _is(value: ir.Expr, number: int) -> bool:
    value = uncast(value)
    return isinstance(value, ir.Const) and value.value == number
