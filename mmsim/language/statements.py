"""Parsing functions and statements: Python's tree to the intermediate representation."""

from __future__ import annotations

import ast
import types

from mmsim.language import ir, names
from mmsim.language.declarations import DeclarationParser
from mmsim.language.grammar import BINARY, MOST_CALLS, STATEMENT_ADVICE
from mmsim.language.parameters import default_numbers, parameter_names, source_key
from mmsim.language.scope import (
    ArrayName,
    Captured,
    Entity,
    Missing,
    Shared,
    TheThread,
    VariableName,
)
from mmsim.language.source import FunctionText, read, written


class FunctionParser(DeclarationParser):
    """Parses the body of one function: the program itself, or a helper at one of its calls."""

    def __init__(
        self,
        shared: Shared,
        function: types.FunctionType,
        text: FunctionText,
        bound: dict[str, Entity],
        scope: str | None = None,
        value: str | None = None,
    ) -> None:
        super().__init__(shared, function, text, bound)
        self.scope = scope  # None in the program itself
        self.value = value  # the variable that holds an inlined function's value
        self.returns_value = False
        self.leaves = False
        self.loops = 0

    def body(self) -> ir.Block:
        """The function's body."""
        self.statements(self.text.node.body)
        return tuple(self.block)

    def statements(self, nodes: list[ast.stmt]) -> None:
        for node in nodes:
            method = getattr(self, f"do_{type(node).__name__}", None)
            if method is None:
                what, advice = STATEMENT_ADVICE.get(
                    type(node), (f"Python's {type(node).__name__!r}", "leave it out")
                )
                raise self.refuse(node, f"{what} isn't in the language of programs", advice)
            method(node)

    def inner(self, nodes: list[ast.stmt]) -> ir.Block:
        """A block inside a loop or a branch."""
        if not nodes:
            return ()
        outer, self.block = self.block, []
        self.depth += 1
        with self.nested(nodes[0]):
            self.statements(nodes)
        block, self.block = tuple(self.block), outer
        self.depth -= 1
        return block

    # Assignments

    def variable(self, node: ast.Name) -> str:
        """The unique name of a variable that is being assigned."""
        entity = self.bound.get(node.id)
        if isinstance(entity, VariableName):
            return entity.name
        if isinstance(entity, TheThread):
            raise self.refuse(node, f"{node.id!r} is the thread; it can't be assigned")
        if isinstance(entity, ArrayName):
            raise self.refuse(
                node,
                f"{node.id!r} is the name of an array already",
                "give every array and variable a name of its own",
            )
        raise AssertionError(f"unbound {node.id!r}")  # every assigned name is bound at the start

    def do_Assign(self, node: ast.Assign) -> None:
        if len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Name) and self.local_array(target, node.value):
                return
            if isinstance(target, ast.List):
                raise self.refuse(target, "a list can't be assigned", "write the names without []")
            if isinstance(target, ast.Tuple):
                self.assign_tuple(target, node)
                return
            value = self.expression(node.value)
            self.assign(target, value, node)
            return
        if any(isinstance(target, ast.Tuple) for target in node.targets):
            raise self.refuse(node, "a chain of tuple assignments isn't in the language")
        value = self.spill(self.expression(node.value), self.place(node))
        for target in node.targets:
            self.assign(target, value, node)

    def assign_tuple(self, target: ast.Tuple, node: ast.Assign) -> None:
        for part in target.elts:
            if isinstance(part, ast.Starred | ast.Tuple | ast.List):
                raise self.refuse_kind(part)
        values = self.tuple_values(target, node.value)
        place = self.place(node)
        if len(values) > 1:
            values = [self.spill(value, place) for value in values]
        for part, value in zip(target.elts, values, strict=True):
            self.assign(part, value, node)

    def tuple_values(self, target: ast.Tuple, node: ast.expr) -> list[ir.Expr]:
        size = len(target.elts)
        if isinstance(node, ast.Attribute) and node.attr == "shape":
            array = self.array(node.value)
            if array is not None:
                return [ir.Extent(array, axis, size, self.place(node)) for axis in range(size)]
        if not isinstance(node, ast.Tuple):
            raise self.refuse(
                node, "only a tuple of values or a.shape can be assigned to several names"
            )
        if len(node.elts) != size:
            raise self.refuse(node, f"{len(node.elts)} values for {size} names")
        return self.operands(*node.elts)

    def assign(self, target: ast.expr, value: ir.Expr, node: ast.stmt) -> None:
        place = self.place(node)
        if isinstance(target, ast.Name):
            name = self.variable(target)
            self.remember_constant(target.id, value)
            self.emit(ir.Assign(name, value, place))
        elif isinstance(target, ast.Subscript):
            outer, self.block = self.block, []
            array, index = self.element(target)
            before, self.block = self.block, outer
            if before and any(map(_changes, before)):
                value = self.spill(value, place)
            self.block.extend(before)
            self.store(array, index, value, target)
        elif isinstance(target, ast.Attribute):
            raise self.refuse(target, f"{written(target)!r} can't be assigned")
        else:
            raise self.refuse_kind(target)

    def store(
        self, array: str, index: tuple[ir.Expr, ...], value: ir.Expr, target: ast.expr
    ) -> None:
        place = self.place(target)
        write = ir.RegisterWrite if self.is_registers(array) else ir.Store
        self.emit(write(array, index, value, place))

    def do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            whole = ast.Assign([node.target], node.value)
            self.do_Assign(ast.copy_location(whole, node))

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        op = BINARY.get(type(node.op))
        place = self.place(node)
        if op is None:
            raise self.refuse(node, "the matrix product isn't in the language", "write loops")
        if isinstance(node.target, ast.Name):
            name = self.variable(node.target)
            old: ir.Expr = ir.Var(name, self.place(node.target))
            value = self.expression(node.value)
            self.emit(ir.Assign(name, ir.Binary(op, old, value, place), place))
            return
        if not isinstance(node.target, ast.Subscript):
            raise self.refuse(node.target, f"{written(node.target)!r} can't be assigned")
        array, index = self.element(node.target)
        index = tuple(self.spill(part, place) for part in index)
        at = self.place(node.target)
        if self.is_registers(array):
            old = self.spill(ir.RegisterRead(array, index, at), place)
        else:
            name = self.temporary()
            self.emit(ir.Load(name, array, index, at))
            old = ir.Var(name, at)
        value = self.expression(node.value)
        self.store(array, index, ir.Binary(op, old, value, place), node.target)

    # Control

    def do_If(self, node: ast.If) -> None:
        test = self.expression(node.test)
        then, orelse = self.inner(node.body), self.inner(node.orelse)
        self.emit(ir.If(test, then, orelse, self.place(node.test)))

    def do_While(self, node: ast.While) -> None:
        self.no_else(node)
        self.loops += 1  # the test runs again with every iteration
        test, prelude = self.apart(node.test)
        body = self.inner(node.body)
        self.loops -= 1
        self.emit(ir.While(tuple(prelude), test, body, self.place(node.test)))

    def do_For(self, node: ast.For) -> None:
        self.no_else(node)
        call = node.iter
        if not (isinstance(call, ast.Call) and self.captured(call.func) is range):
            raise self.refuse(
                call, "a for loop runs over range(...) here", "write for i in range(n)"
            )
        if not isinstance(node.target, ast.Name):
            raise self.refuse(node.target, "a for loop has one variable here")
        if not 1 <= len(call.args) <= 3 or call.keywords:
            raise self.refuse(call, "range takes one, two or three numbers")
        parts = self.operands(*call.args)
        start = parts[0] if len(parts) > 1 else ir.Const(0)
        stop = parts[1] if len(parts) > 1 else parts[0]
        step = parts[2] if len(parts) > 2 else ir.Const(1)
        if step == ir.Const(0):
            raise self.refuse(call, "the step of a range can't be 0")
        target = self.variable(node.target)
        self.loops += 1
        body = self.inner(node.body)
        self.loops -= 1
        self.emit(ir.For(target, start, stop, step, body, self.place(call)))

    def no_else(self, node: ast.For | ast.While) -> None:
        if node.orelse:
            raise self.refuse(
                node.orelse[0], "else after a loop isn't in the language", "use a variable"
            )

    def do_Break(self, node: ast.Break) -> None:
        self.emit(ir.Break(self.place(node)))

    def do_Continue(self, node: ast.Continue) -> None:
        self.emit(ir.Continue(self.place(node)))

    def do_Pass(self, node: ast.Pass) -> None:
        pass

    def do_Return(self, node: ast.Return) -> None:
        place = self.place(node)
        value = node.value
        if isinstance(value, ast.Constant) and value.value is None:
            value = None
        if self.scope is None:
            if value is not None:
                raise self.refuse(
                    node, "a program returns no value", "store the result in an array"
                )
            self.emit(ir.Return(place))
            return
        assert self.value is not None
        if value is not None:
            self.returns_value = True
            self.emit(ir.Assign(self.value, self.expression(value), place))
        if self.depth == 0 and node is self.text.node.body[-1]:
            return  # the end of the function anyway
        self.leaves = True
        self.emit(ir.Leave(self.scope, place))

    def do_Expr(self, node: ast.Expr) -> None:
        value = node.value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return  # a docstring
        if isinstance(value, ast.Call):
            if self.is_barrier(value):
                self.emit(ir.Barrier(self.place(node)))
                return
            callee = self.callee(value)
            if isinstance(callee, types.FunctionType) and callee not in (
                names.shared,
                names.registers,
            ):
                self.call(value, callee)
                return
        if isinstance(value, ast.Subscript) and self.extent(value) is None:
            array, index = self.element(value)
            if not self.is_registers(array):
                self.emit(ir.Load(None, array, index, self.place(value)))
                return
        self.apart(value)  # what isn't in the language at all is refused for that
        raise self.refuse(
            node,
            "this statement does nothing",
            "statements assign, read an element of an array, branch, loop, call or wait",
        )

    def is_barrier(self, node: ast.Call) -> bool:
        function = node.func
        if not (isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)):
            return False
        if not isinstance(self.entity(function.value.id), TheThread) or function.attr != "barrier":
            return False
        if node.args or node.keywords:
            raise self.refuse(node, "a barrier takes no arguments", "write T.barrier()")
        return True

    # Calls

    def call(self, node: ast.Call, function: types.FunctionType) -> ir.Expr | None:
        if function in self.shared.stack:
            raise self.refuse(
                node, f"{function.__name__!r} calls itself", "write a loop instead of recursion"
            )
        self.shared.calls += 1
        if self.shared.calls > MOST_CALLS:
            raise self.refuse(
                node,
                f"the program grows to more than {MOST_CALLS} calls",
                "a call stands for the function's body; call fewer functions from functions",
            )
        text = read(function)
        arguments = self.arguments(node, function, text)
        scope = self.shared.unique(text.node.name)
        value = self.shared.unique(f"{text.node.name}_value")
        inner = FunctionParser(self.shared, function, text, {}, scope, value)
        for name, argument in arguments.items():
            inner.bound[name] = self.argument(name, argument, inner)
        bind_variables(inner)
        self.shared.sources[source_key(text.source)] = text.source
        self.shared.stack.append(function)
        inner.block = []
        inner.looping = self.looping or self.loops > 0
        body = inner.body()
        self.shared.stack.pop()
        if inner.looping:
            own = [inner.bound[name] for name in inner.assigned if name not in arguments]
            variables = tuple(one.name for one in own if isinstance(one, VariableName))
            registers = tuple(
                one.name for one in own if isinstance(one, ArrayName) and one.kind == "registers"
            )
            self.emit(ir.Forget((*variables, value), registers))
        if inner.leaves:
            self.emit(ir.Scope(scope, body))
        else:
            self.block.extend(body)
        return ir.Var(value, self.place(node)) if inner.returns_value else None

    def arguments(
        self, node: ast.Call, function: types.FunctionType, text: FunctionText
    ) -> dict[str, ast.expr | Captured]:
        """Parameter names and what the call gives for them."""
        parameters = parameter_names(text)
        given: dict[str, ast.expr | Captured] = {}
        if len(node.args) > len(parameters):
            raise self.refuse(
                node,
                f"{function.__name__!r} takes {len(parameters)} arguments, not {len(node.args)}",
            )
        given.update(zip(parameters, node.args, strict=False))
        for keyword in node.keywords:
            if keyword.arg is None:
                raise self.refuse(
                    keyword.value, "** isn't in the language", "write the arguments one by one"
                )
            if keyword.arg not in parameters or keyword.arg in given:
                raise self.refuse(node, f"{function.__name__!r} can't take {keyword.arg!r} here")
            given[keyword.arg] = keyword.value
        defaults = function.__defaults__ or ()
        for name, value in zip(
            parameters[len(parameters) - len(defaults) :], defaults, strict=True
        ):
            given.setdefault(name, Captured(value))
        missing = [name for name in parameters if name not in given]
        if missing:
            raise self.refuse(node, f"the call of {function.__name__!r} lacks {missing[0]!r}")
        return given

    def argument(self, name: str, argument: ast.expr | Captured, inner: FunctionParser) -> Entity:
        """What the parameter `name` of an inlined function stands for."""
        if isinstance(argument, Captured) and name not in inner.assigned:
            return argument
        if isinstance(argument, ast.Name):
            entity = self.entity(argument.id)
            if name not in inner.assigned and not isinstance(entity, VariableName | Missing):
                return entity
            if isinstance(entity, TheThread | ArrayName):
                raise inner.refuse(
                    inner.text.node, f"{inner.function.__name__!r} assigns its parameter {name!r}"
                )
        value: ir.Expr
        if isinstance(argument, Captured):  # a default
            default = default_numbers(inner.function, inner.text)[name]
            value, place = ir.Const(default), inner.place(inner.text.node)
        else:
            value, place = self.expression(argument), self.place(argument)
        known = self.launch_constant(value)
        if known is not None and name not in inner.assigned:
            inner.constants[name] = known
        variable = self.shared.variable(name, inner.function.__name__)
        self.emit(ir.Assign(variable.name, value, place))
        return variable


def bind_variables(parser: FunctionParser) -> None:
    """Bind every name that the function assigns to a variable, unless it is bound already."""
    for name in parser.assigned:
        if name not in parser.bound:
            parser.bound[name] = parser.shared.variable(name, parser.function.__name__)


def _changes(statement: ir.Stmt) -> bool:
    """Whether a hoisted statement may change what an earlier expression reads."""
    return not isinstance(statement, ir.Load | ir.Assign)
