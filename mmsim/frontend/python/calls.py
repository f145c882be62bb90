"""Calls: of words such as atomics, of Python's own functions, and other calls."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from functools import partial

from mmsim.frontend.python import aliases, thread
from mmsim.frontend.python.functions import ADVICE, FUNCTIONS_OF_PYTHON
from mmsim.frontend.python.remedies import remedy
from mmsim.frontend.python.scope import Missing, Role, TupleName, Value, View
from mmsim.frontend.python.source import written
from mmsim.frontend.python.syntax import root
from mmsim.frontend.python.values import ValuePart, Values
from mmsim.frontend.python.words import (
    Atomic,
    Effect,
    Intrinsic,
    Maker,
    Vectors,
    Vocabulary,
    Word,
    arguments_of,
    no_value,
)
from mmsim.ir import nodes as ir

COUNTS = {0: "no number", 1: "one number", 2: "two numbers", 3: "three numbers"}


class Calls(ValuePart):
    """The calls of one function; `inline` gives the value of a helper's call, None without one."""

    def __init__(
        self, values: Values, inline: Callable[[ast.Call, types.FunctionType], Value | None]
    ) -> None:
        super().__init__(values)
        self.inline = inline
        self.builtins: Vocabulary[Callable[[ast.Call], Value]] = Vocabulary(
            [
                (min, partial(self.least_or_most, "min")),
                (max, partial(self.least_or_most, "max")),
                (divmod, self.divmod_of),
                (len, self.length),
            ]
        )

    def number(self, node: ast.Call) -> ir.Expr:
        """A call whose value is one number."""
        return self.values.single(self.result(node), node)

    def word(self, node: ast.expr) -> Word | None:
        """The word for a called expression, of a program or of Python."""
        word = thread.word(node, self.function)
        if word is not None:
            return word
        return FUNCTIONS_OF_PYTHON.get(self.function.captured(node))

    def result(self, node: ast.Call) -> Value:
        """The value of a call."""
        called = node.func
        match self.word(called):
            case None:
                pass
            case Effect() as effect:
                value = self.effect(effect, node)
                if value is None:
                    raise no_value(effect, called, self.function)
                return value
            case Intrinsic() as intrinsic:
                return self.intrinsic(intrinsic, node)
            case Atomic() as atomic:
                target = self.builder.temporary()
                self.atomic(node, atomic, target)
                return ir.Var(target, self.place(node))
            case Maker(called=name):
                raise self.refuse(
                    node,
                    f"{name} stands inside an expression",
                    remedy(called, self.function)
                    or f"write name = {name}(...) at the top level of the function",
                )
            case Vectors():
                raise self.refuse(
                    node, "the vectors of an array have an index", f"write {written(node)}[i]"
                )
            case _:
                text = written(called)
                raise self.refuse(node, f"{text!r} is a number", "write it without ()")
        builtin = self.builtins.get(self.function.captured(called))
        if builtin is not None:
            return builtin(node)
        if isinstance(called, ast.Attribute) and self.is_method(called, "conjugate"):
            return self.conjugate(node, called)
        value = self.inline(node, self.callee(node))
        if value is None:
            raise self.refuse(node, f"{written(called)!r} returns nothing")
        return value

    def effect(self, word: Effect, node: ast.Call, alone: bool = False) -> Value | None:
        """The statement of a word, after its operands; return its value, None without one."""
        if word.value is None and not alone:
            return None
        target = None if alone else self.builder.temporary()
        name, place = word.noun or written(node.func), self.place(node)
        arguments = arguments_of(node, name, word.parameters, self.function)
        given = tuple(self.builder.operands(*arguments))
        self.builder.emit(word.emit(target, given, place))
        if target is None or word.value is None:
            return None
        return word.value(ir.Var(target, place), place)

    def atomic(self, node: ast.Call, word: Atomic, target: str | None) -> None:
        """The statement for an atomic."""
        called, place, count = written(node.func), self.place(node), len(word.parameters)
        if len(node.args) != count or node.keywords:
            raise self.refuse(
                node,
                f"{called} takes {count} arguments",
                f"write {called}({', '.join(word.parameters)})",
            )
        array = self.values.in_memory(
            node.args[0], called, "which no other thread sees", "change it by an assignment"
        )
        operands = self.index(node.args[1])
        for one in node.args[2:]:
            operands = self.builder.followed(operands, one)

        def atomic(part: View, given: list[ir.Expr]) -> ir.Stmt:
            *at, value = given
            compare = at.pop() if word.op == "cas" else None
            where = part.element(at)
            return ir.Atomic(target, word.op, part.array, where, compare, value, place)

        self.builder.emit_for(array, operands, atomic, place)

    def index(self, node: ast.expr) -> list[ir.Expr]:
        """The numbers of an atomic's index; for a tuple, those in it."""
        if isinstance(node, ast.Tuple) and node.elts:
            return self.builder.operands(*node.elts)
        if isinstance(node, ast.Name) and isinstance(self.function.entity(node.id), TupleName):
            raise self.refuse(node, f"{node.id!r} is a tuple", "write its numbers, as in (i, j)")
        return self.builder.operands(node)

    def intrinsic(self, word: Intrinsic, node: ast.Call) -> Value:
        """The value of a function without an effect."""
        if len(node.args) not in word.arities or node.keywords:
            takes = " or ".join(COUNTS[arity] for arity in word.arities)
            raise self.refuse(node, f"{written(node.func)} takes {takes} here")
        of_text = self.float_of_text(node)
        if of_text is not None:
            return of_text
        return word.value(tuple(self.builder.operands(*node.args)), self.place(node))

    def is_builtin(self, node: ast.Call) -> bool:
        """Return whether a call is of one of Python's functions that take more than numbers."""
        return self.builtins.get(self.function.captured(node.func)) is not None

    def least_or_most(self, op: str, node: ast.Call) -> ir.Expr:
        """min(...) and max(...)."""
        if len(node.args) < 2 or node.keywords:
            raise self.refuse(node, f"{op} takes two or more numbers here")
        place = self.place(node)
        first, *rest = self.builder.operands(*node.args)
        for position, other in enumerate(rest, start=1):
            first = self.builder.link(ir.Binary(op, first, other, place), position, place)
        return first

    def is_method(self, called: ast.Attribute, name: str) -> bool:
        """Return whether a call is of a number's method, not of a function of that name."""
        return called.attr == name and isinstance(self.function.captured(called), Missing)

    def conjugate(self, node: ast.Call, called: ast.Attribute) -> ir.Expr:
        """z.conjugate()."""
        if node.args or node.keywords:
            raise self.refuse(node, f"{written(called)} takes no number here")
        number = self.builder.expression(called.value)
        return ir.Call("conjugate", (number,), self.place(node))

    def divmod_of(self, node: ast.Call) -> tuple[ir.Expr, ir.Expr]:
        """divmod(x, y)."""
        if len(node.args) != 2 or node.keywords:
            raise self.refuse(node, "divmod takes two numbers")
        place = self.place(node)
        operands = self.builder.operands(*node.args)
        left, right = (self.builder.spill(one, place) for one in operands)
        return ir.Binary("//", left, right, place), ir.Binary("%", left, right, place)

    def float_of_text(self, call: ast.Call) -> ir.Const | None:
        """float('inf') and other floats in the form of a text; None for any other call."""
        node = call.args[0] if call.args else None
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            return None
        if self.function.captured(call.func) is not float:
            return None
        try:
            return ir.Const(float(node.value))
        except ValueError:
            raise self.refuse(
                node, f"{node.value!r} is not a float", "write float('inf') or float('nan')"
            ) from None

    def length(self, node: ast.Call) -> ir.Expr:
        """len(a) of an array, a tuple or a table."""
        if len(node.args) == 1 and not node.keywords:
            (owner,) = node.args
            array = self.function.array(owner)
            is_row = isinstance(owner, ast.Subscript) and self.function.array(root(owner))
            if array is None and is_row:
                array = self.values.alias(owner, Role(self.place(owner)))
            if array is not None:
                return aliases.extent_of(array, 0, None, self.place(node))
            if self.tuples.gives_tuple(owner) or isinstance(owner, ast.Attribute):
                value = self.values.value(owner)
                if isinstance(value, tuple):
                    return ir.Const(len(value))
        self.function.refuse_no_array(owner)
        raise self.refuse(node, "len takes an array, a tuple or a table")

    def callee(self, node: ast.Call) -> types.FunctionType:
        """The helper of a call; every other call is refused."""
        target = self.function.captured(node.func)
        helper = thread.helper(target)
        if helper is not None:
            return helper
        text = written(node.func)
        advice = remedy(node.func, self.function)
        if isinstance(target, types.BuiltinFunctionType) and target.__module__ in ADVICE:
            raise self.refuse(
                node.func, f"{text!r} isn't in the language of programs", ADVICE[target.__module__]
            )
        if isinstance(target, Missing):
            advice = advice or "define the function above the program"
            if isinstance(node.func, ast.Name) and node.func.id in self.function.bound:
                advice = f"{text!r} is a name of this function; give that another name"
            raise self.refuse(node.func, f"{text!r} is not a function here", advice)
        raise self.refuse(
            node.func,
            f"the call of {text!r} isn't in the language of programs",
            advice
            or "call min, max, abs, divmod, len, int, float, complex, bool or a function of the "
            "language",
        )
