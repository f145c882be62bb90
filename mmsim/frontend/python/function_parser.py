"""Parsing of functions, by parts of one idea each; a helper is parsed at each of its calls."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterable, Iterator

from mmsim.errors import LanguageError, Place
from mmsim.frontend.python import tables
from mmsim.frontend.python.arrays import Arrays
from mmsim.frontend.python.assignments import Assignments
from mmsim.frontend.python.builder import Builder
from mmsim.frontend.python.calls import Calls
from mmsim.frontend.python.declarations import Declarations
from mmsim.frontend.python.expressions import Expressions
from mmsim.frontend.python.function import Function
from mmsim.frontend.python.grammar import MOST_CALLS
from mmsim.frontend.python.loops import Loops
from mmsim.frontend.python.scope import (
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
from mmsim.frontend.python.statements import Returns, Statements
from mmsim.frontend.python.syntax import default_numbers, parameter_names, source_key
from mmsim.frontend.python.tuples import Tuples
from mmsim.frontend.python.values import ValuePart, Values
from mmsim.ir import nodes as ir


class Inlining(ValuePart):
    """The calls of helpers in one function: the statements of a helper replace its call."""

    def __init__(self, values: Values, declarations: Declarations) -> None:
        super().__init__(values)
        self.declarations = declarations

    def call(self, node: ast.Call, function: types.FunctionType) -> Value | None:
        """Inline a call; return its value, None if it has none."""
        unit = self.function.unit
        self.check_call(node, function)
        text = read(function)
        arguments = arguments_of(node, self.function, function, text)
        scope = unit.unique(text.node.name)
        value = unit.unique(f"{text.node.name}_value")
        looping = self.builder.looping or self.builder.loops > 0
        own = Function(unit, function, text, {})
        inner = FunctionParser(own, scope, value, looping)
        for name, argument in arguments.items():
            own.bound[name] = self.argument(name, argument, inner)
        own.bind_variables()
        unit.sources[source_key(text.source)] = text.source
        unit.stack.append(function)
        body = inner.body()
        unit.stack.pop()
        if looping:
            self.builder.emit(forget(inner, arguments))
        if inner.returns.leaves:
            self.builder.emit(ir.Scope(scope, body))
        else:
            self.builder.block.extend(body)
        given = inner.returns.given
        return None if given is None else placed(given, self.place(node))

    def check_call(self, node: ast.Call, function: types.FunctionType) -> None:
        """Refuse recursion, and more calls than a program may have."""
        if function in self.function.unit.stack:
            raise self.refuse(
                node, f"{function.__name__!r} calls itself", "write a loop instead of recursion"
            )
        self.function.unit.calls += 1
        if self.function.unit.calls > MOST_CALLS:
            raise self.refuse(
                node,
                f"the program grows to more than {MOST_CALLS} calls",
                "a call stands for the function's body; call fewer functions from functions",
            )

    def argument(self, name: str, argument: ast.expr | Captured, inner: FunctionParser) -> Entity:
        """The meaning of the parameter `name` of an inlined function."""
        own = inner.function
        assigned = name in own.assigned
        if isinstance(argument, Captured):  # a default
            if not assigned:
                return argument
            default = default_numbers(own.python, own.text)[name]
            return self.number_argument(name, ir.Const(default), inner, own.place(own.text.node))
        role = own.role(name)
        if role is not None and role.shape is None:
            return self.values.alias(argument, role)
        if isinstance(argument, ast.Name):
            entity = self.function.entity(argument.id)
            if not assigned and not isinstance(entity, VariableName | TupleName | Missing):
                return entity
            if isinstance(entity, ThreadName):
                raise own.refuse(
                    own.text.node, f"{own.python.__name__!r} assigns its parameter {name!r}"
                )
        value, place = self.values.value(argument), self.place(argument)
        if isinstance(value, Alias):
            if assigned:
                own.learn(name, Role(place))
            return value
        if isinstance(value, tuple):
            return self.tuple_argument(name, value, own, place)
        return self.number_argument(name, value, inner, place)

    def number_argument(
        self, name: str, value: ir.Expr, inner: FunctionParser, place: Place
    ) -> VariableName:
        """A number that an inlined function gets."""
        known = self.declarations.launch_constant(value)
        if known is not None and name not in inner.function.assigned:
            inner.declarations.constants[name] = known
        variable = self.function.unit.variable(name, inner.function.python.__name__)
        self.builder.emit(ir.Assign(variable.name, value, place))
        return variable

    def tuple_argument(
        self, name: str, value: tuple[Value, ...], own: Function, place: Place
    ) -> Entity:
        """A tuple that an inlined function gets."""
        shape, role = tables.shape_of(value), own.role(name)
        assert shape is not None
        if any(isinstance(leaf, Alias) for leaf in tables.leaves(value)):
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
        given = self.function.unit.tuple_name(name, shape, own.python.__name__)
        variables = self.tuples.tuple_value(given, own.text.node)
        self.tuples.set_all(variables, self.builder.spill_all(value, place), place)
        return given


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
    defaults = function.__defaults__ or ()
    for name, value in zip(parameters[len(parameters) - len(defaults) :], defaults, strict=True):
        given.setdefault(name, Captured(value))
    missing = [name for name in parameters if name not in given]
    if missing:
        raise caller.refuse(node, f"the call of {function.__name__!r} lacks {missing[0]!r}")
    return given


def forget(inner: FunctionParser, arguments: Iterable[str]) -> ir.Forget:
    """The start of an inlined call in a loop: none of its names keep their old values."""
    function = inner.function
    own = [function.bound[name] for name in function.assigned if name not in arguments]
    arrays = inner.declarations.arrays.values()
    registers = tuple(one.name for one in arrays if one.kind == "registers")
    return ir.Forget((*variables_of(own), *inner.returns.variables()), registers)


def variables_of(names: Iterable[Entity]) -> Iterator[str]:
    """The variables that names stand for."""
    for name in names:
        if isinstance(name, VariableName):
            yield name.name
        elif isinstance(name, TupleName):
            yield from variables_of(name.items)


def placed(value: Value, place: Place) -> Value:
    """The value of a call, at the place of the call."""
    if isinstance(value, tuple):
        return tuple(placed(part, place) for part in value)
    if isinstance(value, ir.Var):
        return ir.Var(value.name, place)
    return value


class FunctionParser:
    """Parses the program itself, or a helper at one of its calls, by parts of one idea each.

    The tables define the lowering of expressions and statements, and so the language. A helper has
    a `scope` that it leaves where it returns, and a variable for its value, called `given_name`.
    `looping` says whether its call is in a loop.
    """

    def __init__(
        self,
        function: Function,
        scope: str | None = None,
        given_name: str = "",
        looping: bool = False,
    ) -> None:
        self.function = function
        builder = self.builder = Builder(function, looping)
        values = Values(builder, Arrays(builder), Tuples(builder), self.result)
        declarations = self.declarations = Declarations(builder)
        calls = self.calls = Calls(values, Inlining(values, declarations).call)
        assignments = Assignments(values, declarations)
        expressions, loops = Expressions(values), Loops(values, assignments)
        statements = Statements(values, calls)
        self.returns = Returns(values, scope, given_name)
        builder.expression_forms = {
            ast.Constant: expressions.literal,
            ast.Name: expressions.name,
            ast.Attribute: expressions.attribute,
            ast.UnaryOp: expressions.unary,
            ast.BinOp: expressions.binary,
            ast.BoolOp: expressions.bool_op,
            ast.Compare: expressions.comparison,
            ast.IfExp: expressions.choice,
            ast.Subscript: values.item,
            ast.Call: calls.number,
        }
        builder.statement_forms = {
            ast.Assign: assignments.assignment,
            ast.AnnAssign: assignments.annotated,
            ast.AugAssign: assignments.augmented,
            ast.If: statements.branch,
            ast.While: loops.while_loop,
            ast.For: loops.for_loop,
            ast.Break: loops.jump,
            ast.Continue: loops.jump,
            ast.Pass: statements.nothing,
            ast.Return: self.returns.return_,
            ast.Expr: statements.alone,
        }

    def result(self, node: ast.Call) -> Value:
        """The value of a call: values contain calls, whose arguments are values."""
        return self.calls.result(node)

    def body(self) -> ir.Block:
        """The function's body."""
        self.builder.statements(self.function.text.node.body)
        return tuple(self.builder.block)
