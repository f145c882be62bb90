"""Calls: of words such as atomics, of Python's own functions, and other calls."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable

from mmsim.frontend.python import aliases, thread
from mmsim.frontend.python.functions import ADVICE, FUNCTIONS_OF_PYTHON
from mmsim.frontend.python.inlining import Inlining
from mmsim.frontend.python.remedies import remedy
from mmsim.frontend.python.scope import Missing, Role, TupleName, Value, View
from mmsim.frontend.python.source import written
from mmsim.frontend.python.syntax import root
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


class Calls(Inlining):
    """The calls of one function."""

    def number(self, node: ast.Call) -> ir.Expr:
        """A call whose value is one number."""
        return self.single(self.call(node), node)

    def called_word(self, node: ast.expr) -> Word | None:
        """The word for a called expression, of a program or of Python."""
        word = thread.word(node, self)
        if word is not None:
            return word
        return FUNCTIONS_OF_PYTHON.get(self.captured(node))

    def call(self, node: ast.Call) -> Value:
        """The value of a call."""
        called, place = node.func, self.place(node)
        match self.called_word(called):
            case None:
                pass
            case Effect(value=value) as effect:
                if value is None:
                    raise no_value(effect, called, self)
                result = ir.Var(self.temporary(), place)
                self.effect(effect, node, result.name)
                return value(result, place)
            case Intrinsic() as intrinsic:
                return self.intrinsic(intrinsic, node)
            case Atomic() as atomic:
                target = self.temporary()
                self.atomic(node, atomic, target)
                return ir.Var(target, place)
            case Maker(called=name):
                raise self.refuse(
                    node,
                    f"{name} stands inside an expression",
                    remedy(called, self)
                    or f"write name = {name}(...) at the top level of the function",
                )
            case Vectors():
                raise self.refuse(
                    node, "the vectors of an array have an index", f"write {written(node)}[i]"
                )
            case _:
                text = written(called)
                raise self.refuse(node, f"{text!r} is a number", "write it without ()")
        builtin = BUILTINS.get(self.captured(called))
        if builtin is not None:
            return builtin(self, node)
        if isinstance(called, ast.Attribute) and self.is_method(called, "conjugate"):
            return self.conjugate(node, called)
        returned = self.inline(node, self.callee(node))
        if returned is None:
            raise self.refuse(node, f"{written(called)!r} returns nothing")
        return returned

    def effect(self, word: Effect, node: ast.Call, target: str | None) -> None:
        """The statement of a word, after its operands."""
        name, place = word.noun or written(node.func), self.place(node)
        arguments = arguments_of(node, name, word.parameters, self)
        self.emit(word.emit(target, tuple(self.operands(*arguments)), place))

    def atomic(self, node: ast.Call, word: Atomic, target: str | None) -> None:
        """The statement for an atomic."""
        called, place, count = written(node.func), self.place(node), len(word.parameters)
        if len(node.args) != count or node.keywords:
            raise self.refuse(
                node,
                f"{called} takes {count} arguments",
                f"write {called}({', '.join(word.parameters)})",
            )
        array = self.in_memory(
            node.args[0], called, "which no other thread sees", "change it by an assignment"
        )
        operands = self.atomic_index(node.args[1])
        for one in node.args[2:]:
            operands = self.followed(operands, one)

        def atomic(part: View, given: list[ir.Expr]) -> ir.Stmt:
            *at, value = given
            compare = at.pop() if word.op == "cas" else None
            where = part.element(at)
            return ir.Atomic(target, word.op, part.array, where, compare, value, place)

        self.emit_for(array, operands, atomic, place)

    def atomic_index(self, node: ast.expr) -> list[ir.Expr]:
        """The numbers of an atomic's index; for a tuple, those in it."""
        if isinstance(node, ast.Tuple) and node.elts:
            return self.operands(*node.elts)
        if isinstance(node, ast.Name) and isinstance(self.entity(node.id), TupleName):
            raise self.refuse(node, f"{node.id!r} is a tuple", "write its numbers, as in (i, j)")
        return self.operands(node)

    def intrinsic(self, word: Intrinsic, node: ast.Call) -> Value:
        """The value of a function without an effect."""
        if len(node.args) not in word.arities or node.keywords:
            takes = " or ".join(COUNTS[arity] for arity in word.arities)
            raise self.refuse(node, f"{written(node.func)} takes {takes} here")
        of_text = self.float_of_text(node)
        if of_text is not None:
            return of_text
        return word.value(tuple(self.operands(*node.args)), self.place(node))

    def least_or_most(self, node: ast.Call) -> ir.Expr:
        """min(...) and max(...)."""
        op = "min" if self.captured(node.func) is min else "max"
        if len(node.args) < 2 or node.keywords:
            raise self.refuse(node, f"{op} takes two or more numbers here")
        place = self.place(node)
        first, *rest = self.operands(*node.args)
        for position, other in enumerate(rest, start=1):
            first = self.link(ir.Binary(op, first, other, place), position, place)
        return first

    def is_method(self, called: ast.Attribute, name: str) -> bool:
        """Return whether a call is of a number's method, not of a function of that name."""
        return called.attr == name and isinstance(self.captured(called), Missing)

    def conjugate(self, node: ast.Call, called: ast.Attribute) -> ir.Expr:
        """z.conjugate()."""
        if node.args or node.keywords:
            raise self.refuse(node, f"{written(called)} takes no number here")
        number = self.expression(called.value)
        return ir.Call("conjugate", (number,), self.place(node))

    def divmod_of(self, node: ast.Call) -> tuple[ir.Expr, ir.Expr]:
        """divmod(x, y)."""
        if len(node.args) != 2 or node.keywords:
            raise self.refuse(node, "divmod takes two numbers")
        place = self.place(node)
        operands = self.operands(*node.args)
        left, right = (self.spill(one, place) for one in operands)
        return ir.Binary("//", left, right, place), ir.Binary("%", left, right, place)

    def float_of_text(self, call: ast.Call) -> ir.Const | None:
        """float('inf') and other floats in the form of a text; None for any other call."""
        node = call.args[0] if call.args else None
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            return None
        if self.captured(call.func) is not float:
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
            array = self.array(owner)
            is_row = isinstance(owner, ast.Subscript) and self.array(root(owner))
            if array is None and is_row:
                array = self.alias(owner, Role(self.place(owner)))
            if array is not None:
                return aliases.extent_of(array, 0, None, self.place(node))
            if self.gives_tuple(owner) or isinstance(owner, ast.Attribute):
                value = self.value(owner)
                if isinstance(value, tuple):
                    return ir.Const(len(value))
        self.refuse_no_array(owner)
        raise self.refuse(node, "len takes an array, a tuple or a table")

    def callee(self, node: ast.Call) -> types.FunctionType:
        """The helper of a call; every other call is refused."""
        target = self.captured(node.func)
        helper = thread.helper(target)
        if helper is not None:
            return helper
        text = written(node.func)
        advice = remedy(node.func, self)
        if isinstance(target, types.BuiltinFunctionType) and target.__module__ in ADVICE:
            raise self.refuse(
                node.func, f"{text!r} isn't in the language of programs", ADVICE[target.__module__]
            )
        if isinstance(target, Missing):
            advice = advice or "define the function above the program"
            if isinstance(node.func, ast.Name) and node.func.id in self.bound:
                advice = f"{text!r} is a name of this function; give that another name"
            raise self.refuse(node.func, f"{text!r} is not a function here", advice)
        raise self.refuse(
            node.func,
            f"the call of {text!r} isn't in the language of programs",
            advice
            or "call min, max, abs, divmod, len, int, float, complex, bool or a function of the "
            "language",
        )


BUILTINS: Vocabulary[Callable[[Calls, ast.Call], Value]] = Vocabulary(
    [
        (min, Calls.least_or_most),
        (max, Calls.least_or_most),
        (divmod, Calls.divmod_of),
        (len, Calls.length),
    ]
)
"""Python's functions that take more than numbers."""
