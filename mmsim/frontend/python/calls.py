"""Calls: Python's own functions that a program can call, and other calls."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from typing import Any

from mmsim.errors import Place
from mmsim.frontend.python import aliases, functions
from mmsim.frontend.python.atomic_calls import AtomicCalls
from mmsim.frontend.python.dialect import Joint
from mmsim.frontend.python.grammar import CASTS
from mmsim.frontend.python.lowering import Lowering
from mmsim.frontend.python.scope import Alias, Missing, Role, Value
from mmsim.frontend.python.source import written
from mmsim.frontend.python.trees import root
from mmsim.frontend.python.values import Values
from mmsim.ir import nodes as ir

BUILTINS = (min, max, abs, len, divmod, *CASTS)


class Calls:
    """The calls of one function; `inline` gives the value of a helper's call, None without one."""

    def __init__(
        self,
        lowering: Lowering,
        values: Values,
        inline: Callable[[ast.Call, types.FunctionType], Value | None],
    ) -> None:
        self.function = lowering.function
        self.lowering = lowering
        self.values = values
        self.tuples = values.tuples
        self.inline = inline
        self.atomics = AtomicCalls(values)

    def number(self, node: ast.Call) -> ir.Expr:
        """A call whose value is one number."""
        return self.values.single(self.result(node), node)

    def result(self, node: ast.Call) -> Value:
        """The value of a call."""
        joint = self.lowering.dialect.joint(node, self.function)
        if joint is not None:
            return self.joint_value(joint, node)
        own = self.lowering.dialect.value(node, self.function)
        if own is not None:
            return own
        op = self.atomics.op(node)
        if op is not None:
            return self.atomics.call(node, op)
        called = node.func
        if isinstance(called, ast.Attribute) and self.is_method(called, "conjugate"):
            return self.conjugate(node, called)
        callee = self.callee(node)
        if functions.is_known(callee):
            return functions.call(self.lowering, node, callee)
        if isinstance(callee, types.FunctionType):
            value = self.inline(node, callee)
            if value is None:
                raise self.function.refuse(node, f"{written(node.func)!r} returns nothing")
            return value
        if callee in (min, max):
            return self.least_or_most(node, callee.__name__)
        if callee is divmod:
            return self.divmod_of(node)
        if callee is len:
            return self.length(node)
        return self.cast(node, callee)

    def joint_value(self, joint: Joint, node: ast.Call) -> ir.Expr:
        """The value of a barrier or an exchange, in a separate variable."""
        target, place = self.lowering.temporary(), self.function.place(node)
        self.joined(joint, target, place)
        return ir.Var(target, place)

    def joined(self, joint: Joint, target: str | None, place: Place) -> None:
        """A barrier or an exchange with a value, after its operands."""
        given = tuple(self.lowering.operands(*joint.operands))
        self.lowering.emit(joint.make(target, given, place))

    def least_or_most(self, node: ast.Call, op: str) -> ir.Expr:
        """min(...) and max(...)."""
        if len(node.args) < 2 or node.keywords:
            raise self.function.refuse(node, f"{op} takes two or more numbers here")
        place = self.function.place(node)
        first, *rest = self.lowering.operands(*node.args)
        for position, other in enumerate(rest, start=1):
            first = self.lowering.link(ir.Binary(op, first, other, place), position, place)
        return first

    def is_method(self, called: ast.Attribute, name: str) -> bool:
        """Return whether a call is of a number's method, not of a function of that name."""
        return called.attr == name and isinstance(self.function.captured(called), Missing)

    def conjugate(self, node: ast.Call, called: ast.Attribute) -> ir.Expr:
        """z.conjugate()."""
        if node.args or node.keywords:
            raise self.function.refuse(node, f"{written(called)} takes no number here")
        number = self.lowering.expression(called.value)
        return ir.Call("conjugate", (number,), self.function.place(node))

    def divmod_of(self, node: ast.Call) -> tuple[ir.Expr, ir.Expr]:
        """divmod(x, y)."""
        if len(node.args) != 2 or node.keywords:
            raise self.function.refuse(node, "divmod takes two numbers")
        place = self.function.place(node)
        operands = self.lowering.operands(*node.args)
        left, right = (self.lowering.spill(one, place) for one in operands)
        return ir.Binary("//", left, right, place), ir.Binary("%", left, right, place)

    def cast(self, node: ast.Call, callee: Any) -> ir.Expr:
        """abs(x), int(x), float(x), complex(x, y), bool(x), mm.float32(x) and so on."""
        if callee is complex and len(node.args) == 2 and not node.keywords:
            parts = self.lowering.operands(*node.args)
            return ir.Call("complex", tuple(parts), self.function.place(node))
        if callee is float and len(node.args) == 1 and not node.keywords:
            written_float = self.float_of_text(node.args[0])
            if written_float is not None:
                return written_float
        name = "abs" if callee is abs else CASTS[callee]
        if len(node.args) != 1 or node.keywords:
            several = "one number or two" if callee is complex else "one number"
            raise self.function.refuse(node, f"{name} takes {several} here")
        return ir.Unary(name, self.lowering.expression(node.args[0]), self.function.place(node))

    def float_of_text(self, node: ast.expr) -> ir.Const | None:
        """float('inf') and other floats in the form of a text."""
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            return None
        try:
            return ir.Const(float(node.value))
        except ValueError:
            raise self.function.refuse(
                node, f"{node.value!r} is not a float", "write float('inf') or float('nan')"
            ) from None

    def length(self, node: ast.Call) -> ir.Expr:
        """len(a) of an array, a tuple or a table."""
        if len(node.args) == 1 and not node.keywords:
            (owner,) = node.args
            array = self.function.array(owner)
            if array is None and isinstance(owner, ast.Subscript):
                array = self.array_of_len(owner)
            if array is not None:
                return aliases.extent_of(array, 0, None, self.function.place(node))
            if self.tuples.gives_tuple(owner) or isinstance(owner, ast.Attribute):
                value = self.values.value(owner)
                if isinstance(value, tuple):
                    return ir.Const(len(value))
        self.function.refuse_no_array(owner)
        raise self.function.refuse(node, "len takes an array, a tuple or a table")

    def array_of_len(self, owner: ast.Subscript) -> Alias | None:
        """The row whose length len(a[i]) asks for."""
        if self.function.array(root(owner)) is None:
            return None
        return self.values.alias(owner, Role(self.function.place(owner)))

    def callee(self, node: ast.Call) -> Any:
        """The outside function of a call; every other call is refused."""
        target = self.function.captured(node.func)
        if any(target is function for function in BUILTINS) or functions.is_known(target):
            return target
        helper = self.lowering.dialect.helper(target)
        if helper is not None:
            return helper
        text = written(node.func)
        if self.values.vectors.is_call(node):
            raise self.function.refuse(
                node, "the vectors of an array have an index", f"write {written(node)}[i]"
            )
        remedy = self.lowering.dialect.remedy(node.func, self.function)
        if isinstance(target, types.BuiltinFunctionType) and target.__module__ == "math":
            raise self.function.refuse(
                node.func, f"{text!r} isn't in the language of programs", functions.ADVICE
            )
        if isinstance(target, types.BuiltinFunctionType) and target.__module__ == "cmath":
            raise self.function.refuse(
                node.func, f"{text!r} isn't in the language of programs", functions.OF_PARTS
            )
        if isinstance(target, Missing):
            advice = remedy or "define the function above the program"
            if isinstance(node.func, ast.Name) and node.func.id in self.function.bound:
                advice = f"{text!r} is a name of this function; give that another name"
            raise self.function.refuse(node.func, f"{text!r} is not a function here", advice)
        raise self.function.refuse(
            node.func,
            f"the call of {text!r} isn't in the language of programs",
            remedy
            or "call min, max, abs, divmod, len, int, float, complex, bool or a function of the "
            "language",
        )
