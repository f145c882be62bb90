"""Statements other than assignments and loops.

A return of a program ends the thread; that of a helper ends one of its calls.
"""

from __future__ import annotations

import ast

from mmsim.frontend.python import tables
from mmsim.frontend.python.calls import Calls
from mmsim.frontend.python.merging import Merging
from mmsim.frontend.python.scope import RETURNED, Alias, Value
from mmsim.frontend.python.syntax import is_none, root
from mmsim.frontend.python.values import ValuePart, Values
from mmsim.frontend.python.words import Atomic, Effect
from mmsim.ir import nodes as ir


class Statements(ValuePart):
    """Branches, and expressions on a separate line."""

    def __init__(self, values: Values, calls: Calls) -> None:
        super().__init__(values)
        self.calls, self.merging = calls, Merging(values.builder)

    def branch(self, node: ast.If) -> None:
        """if test: ... else: ..."""
        test = self.builder.expression(node.test)
        before = self.function.array_names()
        then = self.builder.inner(node.body)
        after_then = self.function.array_names()
        self.function.bound.update(before)
        orelse = self.builder.inner(node.orelse)
        then, orelse = self.merging.merged(after_then, then, orelse, self.place(node.test))
        self.builder.emit(ir.If(test, then, orelse, self.place(node.test)))

    def nothing(self, node: ast.Pass) -> None:
        """pass."""

    def alone(self, node: ast.Expr) -> None:
        """An expression on a separate line: a call, or an element that is read and dropped."""
        value = node.value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return  # a docstring
        if isinstance(value, ast.Call) and self.called(node, value):
            return
        if isinstance(value, ast.Subscript) and self.vectors.stands_in(value):
            self.vectors.read(value)
            return
        if isinstance(value, ast.Subscript) and self.function.array(root(value)) is not None:
            array, index = self.arrays.element(value)
            if not any(self.arrays.is_registers(part.array) for part in array.parts):
                self.arrays.touch(array, index, self.place(value))
                return
        self.builder.apart(value)  # refuses everything outside of the language
        raise self.refuse(
            node,
            "this statement does nothing",
            "statements assign, read an element of an array, branch, loop, call or wait",
        )

    def called(self, node: ast.Expr, call: ast.Call) -> bool:
        """Return whether a call is a statement: a word's, or a helper's, whose value is dropped."""
        match self.calls.word(call.func):
            case Effect() as effect:
                self.calls.effect(effect, call, alone=True)
            case Atomic() as atomic:
                self.calls.atomic(call, atomic, None)
            case None if not self.calls.is_builtin(call):
                self.calls.inline(call, self.calls.callee(call))
            case _:
                return False
        return True


class Returns(ValuePart):
    """The returns of one function.

    `scope` is the scope that a helper leaves, None in the program itself. `leaves` says whether it
    is left before its end. `given_name` names the variable of the returned value, `given` is that.
    """

    def __init__(self, values: Values, scope: str | None, given_name: str) -> None:
        super().__init__(values)
        self.scope, self.given_name = scope, given_name
        self.given: Value | None = None
        self.leaves = False

    def return_(self, node: ast.Return) -> None:
        """Return, with a value or without one; in the program this ends the thread."""
        place = self.place(node)
        if self.scope is None:
            self.builder.emit(ir.Return(place))
            return
        last = self.builder.depth == 0 and node is self.function.text.node.body[-1]
        if node.value is not None and not is_none(node.value):
            role = self.function.role(RETURNED)
            if role is None:
                self.give(self.values.value(node.value), node, last)
            else:
                self.give(self.values.alias(node.value, role), node, last)
        if last:
            return  # the end of the function anyway
        self.leaves = True
        self.builder.emit(ir.Leave(self.scope, place))

    def give(self, value: Value, node: ast.Return, last: bool) -> None:
        """Keep the value that a function returns."""
        place = self.place(node)
        has_arrays = any(isinstance(leaf, Alias) for leaf in tables.leaves(value))
        if has_arrays:
            if not last or self.given is not None:
                raise self.refuse(
                    node,
                    "an array is returned from more than one place",
                    "return arrays in the function's last line alone",
                )
            self.given = self.builder.spill_all(value, place)
            return
        if (
            last
            and self.given is None
            and all(isinstance(one, ir.Number) for one in tables.leaves(value))
        ):
            self.given = value  # parameters, which may turn out to be arrays
            return
        self.set_given(value, node)

    def set_given(self, value: Value, node: ast.Return) -> None:
        """Set the variables of the returned value."""
        place, own = self.place(node), self.function.python.__name__
        if self.given is None:
            shape = tables.shape_of(value)
            self.given = ir.Var(self.given_name, place)
            if shape is not None:
                name = self.function.unit.tuple_name(self.given_name, shape, own)
                self.given = self.tuples.tuple_value(name, node)
        if tables.shape_of(self.given) != tables.shape_of(value):
            raise self.refuse(
                node,
                f"{own!r} returns something of another size elsewhere",
                "return a number everywhere, or a tuple of one size",
            )
        if len(tables.leaves(value)) > 1:
            value = self.builder.spill_all(value, place)
        self.tuples.set_all(self.given, value, place)

    def variables(self) -> tuple[str, ...]:
        """The variables of the returned value."""
        if isinstance(self.given, tuple):
            return tuple(
                leaf.name for leaf in tables.leaves(self.given) if isinstance(leaf, ir.Var)
            )
        return (self.given_name,)
