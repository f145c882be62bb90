"""Calls of helpers, and their returns: a helper is parsed at each of its calls.

A return of a program ends the thread; that of a helper ends one of its calls.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Iterable
from dataclasses import dataclass

from mmsim.errors import LanguageError, Place
from mmsim.frontend.python import tables
from mmsim.frontend.python.function import Function
from mmsim.frontend.python.grammar import MOST_CALLS
from mmsim.frontend.python.loops import Loops
from mmsim.frontend.python.scope import (
    RETURNED,
    Alias,
    Captured,
    Entity,
    Missing,
    Role,
    ThreadName,
    TupleName,
    Value,
    VariableName,
)
from mmsim.frontend.python.source import FunctionText, read
from mmsim.frontend.python.syntax import (
    default_numbers,
    defaults_of,
    is_none,
    parameter_names,
    source_key,
)
from mmsim.ir import nodes as ir


@dataclass(eq=False)
class Inlining(Loops):
    """The calls of helpers in one function, and its own returns.

    The statements of a helper replace its call. `leaves` says whether the scope of a helper is left
    before its end; `given` is the value that it returns.
    """

    given: Value | None = None
    leaves: bool = False

    def inline(self, node: ast.Call, function: types.FunctionType) -> Value | None:
        """Inline a call; return its value, None if it has none."""
        unit = self.unit
        self.check_call(node, function)
        text = read(function)
        arguments = arguments_of(node, self, function, text)
        scope = unit.unique(text.node.name)
        value = unit.unique(f"{text.node.name}_value")
        looping = self.looping or self.loops > 0
        inner = type(self)(unit, function, text, {}, scope, value, looping)
        for name, argument in arguments.items():
            inner.bound[name] = self.argument(name, argument, inner)
        inner.bind_variables()
        unit.sources[source_key(text.source)] = text.source
        unit.stack.append(function)
        body = inner.body()
        unit.stack.pop()
        if looping:
            self.emit(inner.forget(arguments))
        if inner.leaves:
            self.emit(ir.Scope(scope, body))
        else:
            self.block.extend(body)
        given = inner.given
        return None if given is None else placed(given, self.place(node))

    def forget(self, arguments: Iterable[str]) -> ir.Forget:
        """The start of a call in a loop: none of its names keep their old values."""
        own = [self.bound[name] for name in self.assigned if name not in arguments]
        names = [one for one in own if isinstance(one, VariableName | TupleName)]
        values = *(self.variables_of(one, self.text.node) for one in names), self.given or ()
        variables = (leaf.name for leaf in tables.leaves(values) if isinstance(leaf, ir.Var))
        arrays = self.declared.values()
        registers = tuple(one.name for one in arrays if one.kind == "registers")
        return ir.Forget(tuple(variables), registers)

    def check_call(self, node: ast.Call, function: types.FunctionType) -> None:
        """Refuse recursion, and more calls than a program may have."""
        if function in self.unit.stack:
            raise self.refuse(
                node, f"{function.__name__!r} calls itself", "write a loop instead of recursion"
            )
        self.unit.calls += 1
        if self.unit.calls > MOST_CALLS:
            raise self.refuse(
                node,
                f"the program grows to more than {MOST_CALLS} calls",
                "a call stands for the function's body; call fewer functions from functions",
            )

    def argument(self, name: str, argument: ast.expr | Captured, own: Inlining) -> Entity:
        """The meaning of the parameter `name` of an inlined function."""
        assigned = name in own.assigned
        if isinstance(argument, Captured):  # a default
            if not assigned:
                return argument
            default = default_numbers(own.python, own.text)[name]
            return self.value_argument(name, ir.Const(default), own, own.place(own.text.node))
        role = own.role(name)
        if role is not None and role.shape is None:
            return self.alias(argument, role)
        if isinstance(argument, ast.Name):
            entity = self.entity(argument.id)
            if not assigned and not isinstance(entity, VariableName | TupleName | Missing):
                return entity
            if isinstance(entity, ThreadName):
                raise own.refuse(
                    own.text.node, f"{own.python.__name__!r} assigns its parameter {name!r}"
                )
        value, place = self.value(argument), self.place(argument)
        if isinstance(value, Alias):
            if assigned:
                own.learn(name, Role(place))
            return value
        return self.value_argument(name, value, own, place)

    def value_argument(
        self, name: str, value: ir.Expr | tuple[Value, ...], own: Inlining, place: Place
    ) -> VariableName | TupleName:
        """A number or a tuple that an inlined function gets."""
        shape, role = tables.shape_of(value), own.role(name)
        if isinstance(value, ir.Expr):
            known = self.launch_constant(value)
            if known is not None and name not in own.assigned:
                own.constants[name] = known
        else:
            if tables.has_arrays(value):
                raise LanguageError(
                    "a tuple of arrays is handed to a function", place, "hand the arrays one by one"
                )
            if name in own.assigned and role is None:
                own.learn(name, Role(place, shape))
            if role is not None and role.shape != shape:
                raise LanguageError(
                    f"{name!r} of {own.python.__name__!r} is given tuples of several sizes",
                    place,
                    "write a function for each size",
                )
        given = self.unit.several(name, own.python.__name__, shape)
        several = value if isinstance(value, ir.Expr) else self.spill_all(value, place)
        self.set_all(self.variables_of(given, own.text.node), several, place)
        return given

    def return_(self, node: ast.Return) -> None:
        """Return, with a value or without one; in the program this ends the thread."""
        place = self.place(node)
        if self.scope is None:
            self.emit(ir.Return(place))
            return
        last = self.depth == 0 and node is self.text.node.body[-1]
        if node.value is not None and not is_none(node.value):
            role = self.role(RETURNED)
            if role is None:
                self.give(self.value(node.value), node, last)
            else:
                self.give(self.alias(node.value, role), node, last)
        if last:
            return  # the end of the function anyway
        self.leaves = True
        self.emit(ir.Leave(self.scope, place))

    def give(self, value: Value, node: ast.Return, last: bool) -> None:
        """Keep the value that a function returns."""
        place = self.place(node)
        if tables.has_arrays(value):
            if not last or self.given is not None:
                raise self.refuse(
                    node,
                    "an array is returned from more than one place",
                    "return arrays in the function's last line alone",
                )
            self.given = self.spill_all(value, place)
            return
        numbers, shape, own = tables.leaves(value), tables.shape_of(value), self.python.__name__
        if self.given is None:
            if last and all(isinstance(one, ir.Number) for one in numbers):
                self.given = value  # parameters, which may turn out to be arrays
                return
            self.given = ir.Var(self.given_name, place)
            if shape is not None:
                name = self.unit.several(self.given_name, own, shape)
                self.given = self.variables_of(name, node)
        if tables.shape_of(self.given) != shape:
            raise self.refuse(
                node,
                f"{own!r} returns something of another size elsewhere",
                "return a number everywhere, or a tuple of one size",
            )
        if len(numbers) > 1:
            value = self.spill_all(value, place)
        self.set_all(self.given, value, place)


def arguments_of(
    node: ast.Call, caller: Function, function: types.FunctionType, text: FunctionText
) -> dict[str, ast.expr | Captured]:
    """Parameter names, with the arguments of the call."""
    parameters = parameter_names(text)
    given: dict[str, ast.expr | Captured] = {}
    if len(node.args) > len(parameters):
        raise caller.refuse(
            node, f"{function.__name__!r} takes {len(parameters)} arguments, not {len(node.args)}"
        )
    given.update(zip(parameters, node.args, strict=False))
    for keyword in node.keywords:
        if keyword.arg is None:
            raise caller.refuse(
                keyword.value, "** isn't in the language", "write the arguments one by one"
            )
        if keyword.arg not in parameters or keyword.arg in given:
            raise caller.refuse(node, f"{function.__name__!r} can't take {keyword.arg!r} here")
        given[keyword.arg] = keyword.value
    for name, value in defaults_of(function, parameters).items():
        given.setdefault(name, Captured(value))
    missing = [name for name in parameters if name not in given]
    if missing:
        raise caller.refuse(node, f"the call of {function.__name__!r} lacks {missing[0]!r}")
    return given


def placed(value: Value, place: Place) -> Value:
    """The value of a call, at the place of the call."""
    if isinstance(value, tuple):
        return tuple(placed(part, place) for part in value)
    if isinstance(value, ir.Var):
        return ir.Var(value.name, place)
    return value
