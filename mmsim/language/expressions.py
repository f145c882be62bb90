"""Parsing expressions: Python's tree to pure expressions, with memory accesses hoisted.

An access inside an expression becomes a `Load` statement in front of it, in Python's order of
evaluation. Where an access is conditional (in `and`, `or`, a conditional expression or a chained
comparison) the expression becomes an `If` around it.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from mmsim.errors import LanguageError, Place, shown
from mmsim.language import ir, names
from mmsim.language.grammar import ADVICE, BINARY, CASTS, COMPARE, DEEPEST, LONGEST, UNARY
from mmsim.language.scope import (
    INT_MAX,
    INT_MIN,
    ArrayName,
    Captured,
    Entity,
    Missing,
    ParameterUse,
    Shared,
    TheThread,
    VariableName,
    number,
    outside,
)
from mmsim.language.source import FunctionText, written
from mmsim.language.walk import reads_registers, writes_registers


class ExpressionParser:
    """Parses the expressions of one function; statements in front of them go to `self.block`."""

    def __init__(
        self,
        shared: Shared,
        function: types.FunctionType,
        text: FunctionText,
        bound: dict[str, Entity],
    ) -> None:
        self.shared = shared
        self.function = function
        self.text = text
        self.bound = bound
        self.block: list[ir.Stmt] = []

    # Places and refusals

    def place(self, node: ast.AST) -> Place:
        return self.text.place(node)

    def refuse(self, node: ast.AST, message: str, advice: str = "") -> LanguageError:
        return LanguageError(message, self.place(node), advice)

    def refuse_kind(self, node: ast.AST) -> LanguageError:
        what, advice = ADVICE.get(
            type(node), (f"Python's {type(node).__name__!r}", "see the language page of the docs")
        )
        return self.refuse(node, f"{what} isn't in the language of programs", advice)

    # Names

    def entity(self, name: str) -> Entity:
        """What a name means here; names of this function hide those outside."""
        found = self.bound.get(name)
        return found if found is not None else outside(self.function, name)

    def captured(self, node: ast.expr) -> Any:
        """The outside object that a name or a dotted name means, else `Missing()`."""
        if isinstance(node, ast.Name):
            entity = self.entity(node.id)
            return entity.value if isinstance(entity, Captured) else Missing()
        if isinstance(node, ast.Attribute):
            owner = self.captured(node.value)
            if isinstance(owner, types.ModuleType):
                return vars(owner).get(node.attr, Missing())  # getattr may run the module's code
        return Missing()

    def array(self, node: ast.expr) -> str | None:
        """The unique name of the array that `node` names, None if it names something else.

        Naming a parameter like this makes it an array parameter.
        """
        if not isinstance(node, ast.Name):
            return None
        entity = self.entity(node.id)
        if isinstance(entity, ArrayName):
            return entity.name
        if isinstance(entity, ParameterUse):
            self.use(entity, "array", node)
            return entity.name
        return None

    def use(self, parameter: ParameterUse, use: ir.Use, node: ast.AST) -> None:
        if parameter.use not in ("unused", use):
            before = parameter.used_at.line if parameter.used_at else 0
            raise self.refuse(
                node,
                f"{parameter.name!r} is used as {_a(use)} here and as {_a(parameter.use)} in "
                f"line {before}",
                "a parameter is either an array or a number",
            )
        if parameter.use == "unused":
            parameter.use, parameter.used_at = use, self.place(node)

    # Emitting

    def emit(self, statement: ir.Stmt) -> None:
        self.block.append(statement)

    def temporary(self, hint: str = "t") -> str:
        return self.shared.unique(hint)

    def spill(self, value: ir.Expr, place: Place, hint: str = "t") -> ir.Expr:
        """`value` in a variable of its own, unless nothing can change it."""
        if isinstance(value, ir.Const | ir.Number | ir.ThreadField | ir.Extent):
            return value
        name = self.temporary(hint)
        self.emit(ir.Assign(name, value, place))
        return ir.Var(name, place)

    def apart(self, node: ast.expr) -> tuple[ir.Expr, list[ir.Stmt]]:
        """An expression and the statements in front of it, kept apart from the current block."""
        outer, self.block = self.block, []
        try:
            value = self.expression(node)
            return value, self.block
        finally:
            self.block = outer

    def operands(self, *nodes: ast.expr) -> list[ir.Expr]:
        """Operands from left to right. What a later one's call could change is kept before it."""
        values: list[ir.Expr] = []
        for node in nodes:
            values = self.followed(values, node)
        return values

    def followed(self, values: list[ir.Expr], node: ast.expr) -> list[ir.Expr]:
        """Operands and one more after them."""
        value, statements = self.apart(node)
        if any(writes_registers(statement) for statement in statements):
            values = [
                self.spill(earlier, self.place(node)) if reads_registers(earlier) else earlier
                for earlier in values
            ]
        self.block.extend(statements)
        return [*values, value]

    def link(self, value: ir.Expr, position: int, place: Place) -> ir.Expr:
        """A chain's value after so many operators: in a variable now and then, so it stays flat."""
        return self.spill(value, place) if position % LONGEST == 0 else value

    @contextmanager
    def nested(self, node: ast.AST) -> Iterator[None]:
        """One level further down in the program."""
        self.shared.depth += 1
        if self.shared.depth > DEEPEST:
            raise self.refuse(
                node,
                f"this is nested more than {DEEPEST} levels deep",
                "take it apart into several statements",
            )
        yield
        self.shared.depth -= 1

    # Expressions

    def expression(self, node: ast.expr) -> ir.Expr:
        method = getattr(self, f"on_{type(node).__name__}", None)
        if method is None:
            raise self.refuse_kind(node)
        with self.nested(node):
            value: ir.Expr = method(node)
        return value

    def on_Constant(self, node: ast.Constant) -> ir.Expr:
        value = number(node.value) if not isinstance(node.value, complex | str | bytes) else None
        if value is None:
            raise self.refuse(
                node, f"{node.value!r} is no number", "programs compute with int, float and bool"
            )
        return self.constant(value, node)

    def constant(self, value: int | float | bool, node: ast.AST) -> ir.Const:
        if isinstance(value, int) and not INT_MIN <= value <= INT_MAX:
            raise self.refuse(
                node,
                f"the integer {shown(value)} doesn't fit into 64 bits",
                "programs compute with 64-bit integers",
            )
        return ir.Const(value)

    def on_Name(self, node: ast.Name) -> ir.Expr:
        entity = self.entity(node.id)
        if isinstance(entity, VariableName):
            return ir.Var(entity.name, self.place(node))
        if isinstance(entity, ParameterUse):
            self.use(entity, "number", node)
            return ir.Number(entity.name)
        if isinstance(entity, ArrayName):
            raise self.refuse(
                node, f"the array {node.id!r} stands where a number must", "read an element of it"
            )
        if isinstance(entity, TheThread):
            raise self.refuse(node, f"{node.id!r} is the thread", "use one of its fields, as T.id")
        if isinstance(entity, Missing):
            raise self.refuse(
                node,
                f"the name {node.id!r} means nothing here",
                "assign it first, make it a parameter, or define it above the program",
            )
        return self.captured_number(node, entity.value)

    def captured_number(self, node: ast.expr, value: Any) -> ir.Const:
        converted = number(value)
        if converted is None:
            text = written(node)
            if isinstance(value, np.ndarray):
                raise self.refuse(
                    node,
                    f"{text!r} is an array from outside the program",
                    "make it a parameter and pass it to run",
                )
            raise self.refuse(
                node,
                f"{text!r} is {_a(type(value).__name__)} from outside the program",
                "only integers, floats and functions of the language can be captured",
            )
        return self.constant(converted, node)

    def on_Attribute(self, node: ast.Attribute) -> ir.Expr:
        if isinstance(node.value, ast.Name):
            entity = self.entity(node.value.id)
            if isinstance(entity, TheThread):
                return self.thread_field(node)
            if isinstance(entity, ArrayName | ParameterUse):
                array = self.array(node.value)
                assert array is not None
                if node.attr == "size":
                    return ir.Extent(array, None, None, self.place(node))
                advice = "programs know its shape, its size, len() and its elements"
                if node.attr == "shape":
                    name = node.value.id
                    advice = f"write {name}.shape[0], or rows, columns = {name}.shape"
                raise self.refuse(node, f"{written(node)!r} is no number", advice)
        value = self.captured(node)
        if isinstance(value, Missing):
            raise self.refuse(node, f"{written(node)!r} means nothing in a program")
        return self.captured_number(node, value)

    def thread_field(self, node: ast.Attribute) -> ir.Expr:
        if node.attr in ir.THREAD_FIELDS:
            return ir.ThreadField(node.attr)
        if node.attr == "barrier":
            raise self.refuse(
                node, "a barrier has no value", "write T.barrier() as a statement of its own"
            )
        thread = written(node.value)
        known = ", ".join(f"{thread}.{name}" for name in ir.THREAD_FIELDS)
        raise self.refuse(
            node, f"the thread has no {node.attr!r}", f"it has {known} and {thread}.barrier()"
        )

    def on_Subscript(self, node: ast.Subscript) -> ir.Expr:
        extent = self.extent(node)
        if extent is not None:
            return extent
        array, index = self.element(node)
        place = self.place(node)
        if self.is_registers(array):
            return ir.RegisterRead(array, index, place)
        target = self.temporary()
        self.emit(ir.Load(target, array, index, place))
        return ir.Var(target, place)

    def is_registers(self, array: str) -> bool:
        return any(
            local.name == array and local.kind == "registers" for local in self.shared.locals
        )

    def extent(self, node: ast.Subscript) -> ir.Extent | None:
        """a.shape[axis], None for any other subscript."""
        owner = node.value
        if not (isinstance(owner, ast.Attribute) and owner.attr == "shape"):
            return None
        array = self.array(owner.value)
        if array is None:
            return None
        axis = node.slice
        if isinstance(axis, ast.UnaryOp) and isinstance(axis.op, ast.USub):
            axis = axis.operand
        value = number(axis.value) if isinstance(axis, ast.Constant) else None
        if type(value) is not int:
            raise self.refuse(
                node.slice,
                "an axis of a shape must be a number as it stands",
                f"write {written(owner)}[0]",
            )
        signed = value if axis is node.slice else -value
        self.constant(signed, node.slice)
        return ir.Extent(array, signed, None, self.place(node))

    def element(self, node: ast.Subscript) -> tuple[str, tuple[ir.Expr, ...]]:
        """The array and the index of a[i], a[i, j] or a[i][j]."""
        indices: list[ast.expr] = []
        owner: ast.expr = node
        while isinstance(owner, ast.Subscript):
            inner = owner.slice
            indices[:0] = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            owner = owner.value
        array = self.array(owner)
        if array is None:
            text = written(owner)
            if isinstance(self.captured(owner), np.ndarray):
                raise self.refuse(
                    owner,
                    f"{text!r} is an array from outside the program",
                    "make it a parameter and pass it to run",
                )
            raise self.refuse(owner, f"{text!r} is no array", "only arrays have elements")
        if not indices:
            raise self.refuse(node, "an element needs an index", "write a number for each axis")
        for index in indices:
            if isinstance(index, ast.Slice):
                raise self.refuse_kind(index)
            if isinstance(index, ast.Constant) and index.value in (None, Ellipsis):
                raise self.refuse(index, f"{written(index)!r} is no index", "write a number")
        return array, tuple(self.operands(*indices))

    def on_UnaryOp(self, node: ast.UnaryOp) -> ir.Expr:
        op = UNARY[type(node.op)]
        if op == "-" and isinstance(node.operand, ast.Constant):
            value = number(node.operand.value)
            if isinstance(value, int | float) and not isinstance(value, bool):
                return self.constant(-value, node)
        return ir.Unary(op, self.expression(node.operand), self.place(node))

    def on_BinOp(self, node: ast.BinOp) -> ir.Expr:
        chain = [node]  # a long sum is a deep tree: walk down its left side in a loop
        while isinstance(chain[-1].left, ast.BinOp):
            chain.append(chain[-1].left)
        value = self.expression(chain[-1].left)
        for position, part in enumerate(reversed(chain), start=1):
            place = self.place(part)
            op = BINARY.get(type(part.op))
            if op is None:
                raise self.refuse(part, "the matrix product isn't in the language", "write loops")
            value, right = self.followed([value], part.right)
            value = self.link(ir.Binary(op, value, right, place), position, place)
        return value

    def on_BoolOp(self, node: ast.BoolOp) -> ir.Expr:
        op = "and" if isinstance(node.op, ast.And) else "or"
        place = self.place(node)
        value = self.expression(node.values[0])
        for position, other in enumerate(node.values[1:], start=1):
            value = self.link(self.logic(op, value, *self.apart(other), place), position, place)
        return value

    def logic(
        self, op: str, left: ir.Expr, right: ir.Expr, statements: list[ir.Stmt], place: Place
    ) -> ir.Expr:
        """left op right, where `statements` come before right for the lanes that need it."""
        if not statements:
            return ir.Logic("and" if op == "and" else "or", left, right)
        name = self.temporary()
        self.emit(ir.Assign(name, left, place))
        needed = (*statements, ir.Assign(name, right, place))
        test = ir.Var(name, place)
        then, orelse = (needed, ()) if op == "and" else ((), needed)
        self.emit(ir.If(test, then, orelse, place))
        return ir.Var(name, place)

    def on_Compare(self, node: ast.Compare) -> ir.Expr:
        place = self.place(node)
        for operator in node.ops:
            if type(operator) not in COMPARE:
                raise self.refuse(
                    node, "'is' and 'in' aren't in the language of programs", "compare numbers"
                )
        left, right = self.operands(node.left, node.comparators[0])
        if len(node.ops) > 1:
            right = self.spill(right, place)
        value: ir.Expr = ir.Compare(COMPARE[type(node.ops[0])], left, right, place)
        for position, operator in enumerate(node.ops[1:], start=1):
            left = right
            right, statements = self.apart(node.comparators[position])
            if position < len(node.ops) - 1 and not isinstance(right, ir.Const | ir.Number):
                name = self.temporary()
                statements.append(ir.Assign(name, right, place))
                right = ir.Var(name, place)
            link = ir.Compare(COMPARE[type(operator)], left, right, place)
            value = self.link(self.logic("and", value, link, statements, place), position, place)
        return value

    def on_IfExp(self, node: ast.IfExp) -> ir.Expr:
        place = self.place(node)
        test = self.expression(node.test)
        then, before_then = self.apart(node.body)
        other, before_other = self.apart(node.orelse)
        if not before_then and not before_other:
            return ir.Choose(test, then, other)
        name = self.temporary()
        self.emit(
            ir.If(
                test,
                (*before_then, ir.Assign(name, then, place)),
                (*before_other, ir.Assign(name, other, place)),
                place,
            )
        )
        return ir.Var(name, place)

    # Calls

    def on_Call(self, node: ast.Call) -> ir.Expr:
        callee = self.callee(node)
        place = self.place(node)
        if callee in (min, max):
            if len(node.args) < 2 or node.keywords:
                raise self.refuse(node, f"{callee.__name__} takes two or more numbers here")
            first, *rest = self.operands(*node.args)
            for position, other in enumerate(rest, start=1):
                first = self.link(ir.Binary(callee.__name__, first, other, place), position, place)
            return first
        if callee is abs or callee in CASTS:
            name = "abs" if callee is abs else CASTS[callee]
            if len(node.args) != 1 or node.keywords:
                raise self.refuse(node, f"{name} takes one number here")
            return ir.Unary(name, self.expression(node.args[0]), place)
        if callee is len:
            array = self.array(node.args[0]) if len(node.args) == 1 else None
            if array is None:
                raise self.refuse(node, "len takes an array")
            return ir.Extent(array, 0, None, place)
        if callee in (names.shared, names.registers):
            raise self.refuse(
                node,
                f"mm.{callee.__name__} stands inside an expression",
                f"write name = mm.{callee.__name__}(...) at the top level of the function",
            )
        value = self.call(node, callee)
        if value is None:
            raise self.refuse(node, f"{written(node.func)!r} returns nothing")
        return value

    def callee(self, node: ast.Call) -> Any:
        """The outside function that is called; refuses everything else that is called."""
        from mmsim.language.program import Program  # which parses with this

        target = self.captured(node.func)
        known = (min, max, abs, len, names.shared, names.registers, *CASTS)
        if any(target is function for function in known):
            return target
        if type(target) is types.FunctionType:
            return target
        if isinstance(target, Program):
            return target.function
        text = written(node.func)
        if isinstance(target, Missing):
            field = node.func
            if isinstance(field, ast.Attribute) and isinstance(field.value, ast.Name):
                entity = self.entity(field.value.id)
                if isinstance(entity, TheThread):
                    self.thread_field(field)
                    raise self.refuse(node, f"{text!r} is a number", "write it without ()")
            advice = "define the function above the program"
            if isinstance(node.func, ast.Name) and node.func.id in self.bound:
                advice = f"{text!r} is a name of this function; give that another name"
            raise self.refuse(node.func, f"{text!r} is no function here", advice)
        raise self.refuse(
            node.func,
            f"the call of {text!r} isn't in the language of programs",
            "call min, max, abs, len, int, float, bool or a function written in the language",
        )

    def call(self, node: ast.Call, function: types.FunctionType) -> ir.Expr | None:
        """Inline a call; its value, None if it has none. Statements know how to."""
        raise AssertionError("only a parser of statements can inline")


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"
