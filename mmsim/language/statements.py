"""Parsing functions and statements: Python's tree to the intermediate representation."""

from __future__ import annotations

import ast
import types
from typing import Any

import numpy as np

from mmsim.errors import LanguageError
from mmsim.language import ir, names
from mmsim.language.expressions import BINARY, ExpressionParser
from mmsim.language.scope import (
    ArrayName,
    Captured,
    Entity,
    Missing,
    ParameterUse,
    Shared,
    TheThread,
    VariableName,
    number,
)
from mmsim.language.source import FunctionText, read

STATEMENT_ADVICE: dict[type[ast.AST], tuple[str, str]] = {
    ast.FunctionDef: ("a function inside a program", "define it outside and call it"),
    ast.AsyncFunctionDef: ("async", "define a plain function outside"),
    ast.ClassDef: ("a class", "programs compute with numbers and arrays"),
    ast.Delete: ("del", "leave it out; variables vanish with their thread"),
    ast.With: ("with", "write its body alone"),
    ast.Match: ("match", "write if, elif, else"),
    ast.Raise: ("raise", "store a mark in an array and check it after the run"),
    ast.Try: ("try", "avoid the error with an if"),
    ast.TryStar: ("try", "avoid the error with an if"),
    ast.Assert: ("assert", "check the arrays after the run"),
    ast.Import: ("import", "import outside the program"),
    ast.ImportFrom: ("import", "import outside the program"),
    ast.Global: ("global", "pass numbers as parameters, store results in arrays"),
    ast.Nonlocal: ("nonlocal", "pass numbers as parameters, store results in arrays"),
}


class FunctionParser(ExpressionParser):
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
        self.looping = False  # an inlined function: its call stands in a loop
        self.depth = 0  # of loops and branches
        self.assigned = _assigned(text.node)
        self.constants: dict[str, ir.Expr] = {}
        self.assignments = _assignment_counts(text.node)

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
            raise self.refuse(target, f"{ast.unparse(target)!r} can't be assigned")
        else:
            raise self.refuse_kind(target)

    def store(
        self, array: str, index: tuple[ir.Expr, ...], value: ir.Expr, target: ast.expr
    ) -> None:
        place = self.place(target)
        write = ir.RegisterWrite if self.is_registers(array) else ir.Store
        self.emit(write(array, index, value, place))

    def remember_constant(self, name: str, value: ir.Expr) -> None:
        """Keep what a once-assigned name stands for, so that it can be the size of an array."""
        if self.depth == 0 and self.assignments.get(name) == 1:
            known = self.launch_constant(value)
            if known is not None:
                self.constants[name] = known

    def launch_constant(self, value: ir.Expr) -> ir.Expr | None:
        """`value` without variables, None where it may differ between threads."""
        match value:
            case ir.Const() | ir.Number() | ir.Extent():
                return value
            case ir.ThreadField(field):
                return value if field in ir.UNIFORM_FIELDS else None
            case ir.Var(name):
                for own, entity in self.bound.items():
                    if isinstance(entity, VariableName) and entity.name == name:
                        return self.constants.get(own)
                return None
            case ir.Unary(op, operand, place):
                inner = self.launch_constant(operand)
                return None if inner is None else ir.Unary(op, inner, place)
            case ir.Binary(op, left, right, place):
                first, second = self.launch_constant(left), self.launch_constant(right)
                if first is None or second is None:
                    return None
                return ir.Binary(op, first, second, place)
            case _:
                return None

    def local_array(self, target: ast.Name, node: ast.expr) -> bool:
        """Handle name = mm.shared(...) and name = mm.registers(...)."""
        if not isinstance(node, ast.Call):
            return False
        maker = self.captured(node.func)
        if maker not in (names.shared, names.registers):
            return False
        kind = maker.__name__
        if self.depth > 0:
            raise self.refuse(
                node,
                f"mm.{kind} inside a loop or a branch",
                "declare arrays at the top level of the function",
            )
        if target.id in parameter_names(self.text) or self.assignments[target.id] > 1:
            raise self.refuse(
                target,
                f"two arrays or variables of one name: {target.id!r}",
                "give every array a name of its own",
            )
        arguments: dict[str, ast.expr] = {}
        parameters = ["size" if kind == "registers" else "shape", "dtype"]
        for position, argument in enumerate(node.args[:2]):
            arguments[parameters[position]] = argument
        for keyword in node.keywords:
            arguments[keyword.arg or "**"] = keyword.value
        if parameters[0] not in arguments or set(arguments) - set(parameters) or node.args[2:]:
            raise self.refuse(node, f"mm.{kind} takes a {parameters[0]} and a dtype")
        extents = arguments[parameters[0]]
        shape = [
            self.array_extent(extent, kind)
            for extent in (extents.elts if isinstance(extents, ast.Tuple | ast.List) else [extents])
        ]
        reserved = self.bound.get(target.id)
        assert isinstance(reserved, VariableName)  # every assigned name is bound at the start
        name = reserved.name
        dtype = self.array_dtype(arguments.get("dtype"))
        self.shared.locals.append(
            ir.LocalArray(
                name,
                "shared" if kind == "shared" else "registers",
                tuple(shape),
                dtype,
                self.place(node),
            )
        )
        self.bound[target.id] = ArrayName(name, kind)
        return True

    def array_extent(self, node: ast.expr, kind: str) -> ir.Expr:
        value, before = self.apart(node)
        constant = None if before else self.launch_constant(value)
        if constant is None:
            raise self.refuse(
                node,
                f"the size of an mm.{kind} array must be the same for all threads",
                "make it of numbers, parameters, shapes, T.count, T.block_size and T.blocks",
            )
        return constant

    def array_dtype(self, node: ast.expr | None) -> str | tuple[str] | None:
        if node is None or (isinstance(node, ast.Constant) and node.value is None):
            return None
        if isinstance(node, ast.Attribute) and node.attr == "dtype":
            array = self.array(node.value)
            if array is not None:
                return self.dtype_of(array, node)
        given: Any = node.value if isinstance(node, ast.Constant) else self.captured(node)
        try:
            name: str = np.dtype(given).name
        except TypeError:
            name = ""
        if not supported(name):
            raise self.refuse(
                node, f"{ast.unparse(node)!r} is no element type", f"use one of {SUPPORTED_TEXT}"
            )
        return name

    def dtype_of(self, array: str, node: ast.expr) -> str | tuple[str]:
        """The dtype of another array: a parameter's, or one that was given to a local array."""
        for local in self.shared.locals:
            if local.name == array:
                if local.dtype is None:
                    raise self.refuse(
                        node,
                        f"{ast.unparse(node)!r} follows from what the program stores",
                        f"give both arrays a dtype: one of {SUPPORTED_TEXT}",
                    )
                return local.dtype
        return (array,)

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
            raise self.refuse(node.target, f"{ast.unparse(node.target)!r} can't be assigned")
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
        test, prelude = self.apart(node.test)
        self.loops += 1
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
        if self.scope is None:
            if node.value is not None:
                raise self.refuse(
                    node, "a program returns no value", "store the result in an array"
                )
            self.emit(ir.Return(place))
            return
        assert self.value is not None
        if node.value is not None:
            self.returns_value = True
            self.emit(ir.Assign(self.value, self.expression(node.value), place))
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
        text = read(function)
        arguments = self.arguments(node, function, text)
        scope = self.shared.unique(function.__name__)
        value = self.shared.unique(f"{function.__name__}_value")
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
        unique = self.shared.unique(name)
        self.emit(ir.Assign(unique, value, place))
        return VariableName(unique)


def bind_variables(parser: FunctionParser) -> None:
    """Bind every name that the function assigns to a variable, unless it is bound already."""
    for name in parser.assigned:
        if name not in parser.bound:
            parser.bound[name] = VariableName(parser.shared.unique(name))


def source_key(source: ir.Source) -> str:
    """What tells the functions of one program apart."""
    return f"{source.file}:{source.first}:{source.function}"


def parameter_names(text: FunctionText) -> list[str]:
    """The names of a function's parameters; refuses the kinds that the language lacks."""
    arguments = text.node.args
    odd: list[Any] = [*arguments.posonlyargs, *arguments.kwonlyargs]
    odd += [extra for extra in (arguments.vararg, arguments.kwarg) if extra is not None]
    if odd:
        raise LanguageError(
            f"the parameter {odd[0].arg!r} is of a kind that isn't in the language",
            text.place(odd[0]),
            "write plain parameters",
        )
    return [argument.arg for argument in arguments.args]


def default_numbers(function: types.FunctionType, text: FunctionText) -> dict[str, Any]:
    """Default values of parameters; refuses those that are no numbers."""
    parameters = parameter_names(text)
    values = function.__defaults__ or ()
    found = dict(zip(parameters[len(parameters) - len(values) :], values, strict=True))
    for (name, value), node in zip(found.items(), text.node.args.defaults, strict=True):
        if number(value) is None:
            raise LanguageError(
                f"the default of {name!r} is no number",
                text.place(node),
                "give numbers as defaults",
            )
    return {name: number(value) for name, value in found.items()}


SUPPORTED = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "float32",
    "float64",
)
SUPPORTED_TEXT = "bool, int8 to int64, uint8 to uint32, float32, float64"


def supported(dtype: str) -> bool:
    """Whether arrays of a NumPy dtype of that name can be used."""
    return dtype in SUPPORTED


def _changes(statement: ir.Stmt) -> bool:
    """Whether a hoisted statement may change what an earlier expression reads."""
    return not isinstance(statement, ir.Load | ir.Assign)


def _assigned(node: ast.FunctionDef) -> list[str]:
    """The names that a function assigns, in order, without repetition."""
    return list(_assignment_counts(node))


def _assignment_counts(node: ast.FunctionDef) -> dict[str, int]:
    counts: dict[str, int] = {}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            counts[inner.id] = counts.get(inner.id, 0) + 1
    return counts


__all__ = ["FunctionParser", "ParameterUse", "bind_variables", "parameter_names"]
