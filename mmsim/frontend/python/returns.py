"""Returning: from a program, which ends the thread, and from a helper at one of its calls."""

from __future__ import annotations

import ast

from mmsim.frontend.python import tables
from mmsim.frontend.python.builder import Builder, Part
from mmsim.frontend.python.scope import RETURNED, Alias, Value
from mmsim.frontend.python.values import Values
from mmsim.ir import nodes as ir


class Returns(Part):
    """The returns of one function.

    `scope` is the scope that a helper leaves, None in the program itself. `leaves` says whether it
    is left before its end. `given_name` names the variable of the returned value, `given` is that.
    """

    def __init__(
        self, builder: Builder, values: Values, scope: str | None, given_name: str
    ) -> None:
        super().__init__(builder)
        self.values = values
        self.tuples = values.tuples
        self.scope = scope
        self.given_name = given_name
        self.given: Value | None = None
        self.leaves = False

    def return_(self, node: ast.Return) -> None:
        """Return, with a value or without one; in the program this ends the thread."""
        place = self.function.place(node)
        value = node.value
        if isinstance(value, ast.Constant) and value.value is None:
            value = None
        if self.scope is None:
            self.builder.emit(ir.Return(place))
            return
        last = self.builder.depth == 0 and node is self.function.text.node.body[-1]
        if value is not None:
            role = self.function.role(RETURNED)
            if role is None:
                self.give(self.values.value(value), node, last)
            else:
                self.give(self.values.alias(value, role), node, last)
        if last:
            return  # the end of the function anyway
        self.leaves = True
        self.builder.emit(ir.Leave(self.scope, place))

    def give(self, value: Value, node: ast.Return, last: bool) -> None:
        """Keep the value that a function returns."""
        place = self.function.place(node)
        has_arrays = any(isinstance(leaf, Alias) for leaf in tables.leaves(value))
        if has_arrays:
            if not last or self.given is not None:
                raise self.function.refuse(
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
        place, own = self.function.place(node), self.function.python.__name__
        if self.given is None:
            shape = tables.shape_of(value)
            self.given = ir.Var(self.given_name, place)
            if shape is not None:
                name = self.function.unit.tuple_name(self.given_name, shape, own)
                self.given = self.tuples.tuple_value(name, node)
        if tables.shape_of(self.given) != tables.shape_of(value):
            raise self.function.refuse(
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
