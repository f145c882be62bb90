"""The builder of statements: their block, and the order of evaluation.

An access inside an expression becomes a `Load` statement in front of it, in Python's order of
evaluation. A value that a later operand's statements could change is first kept in a variable (it
is spilled). Two tables give the part of the parser that lowers each kind of node.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from mmsim.errors import LanguageError, Place, shown
from mmsim.frontend.python import aliases
from mmsim.frontend.python.function import Function
from mmsim.frontend.python.grammar import ADVICE, DEEPEST, LONGEST, STATEMENT_ADVICE
from mmsim.frontend.python.scope import INT_MAX, INT_MIN, Alias, Value, View
from mmsim.frontend.python.source import written
from mmsim.ir import nodes as ir
from mmsim.ir.walk import reads_registers, writes_registers

Node = TypeVar("Node", bound=ast.AST)
Lowered = TypeVar("Lowered")
Forms = Mapping[type[Node], Callable[[Any, Any], Lowered]]


@dataclass(eq=False)
class Builder(Function):
    """The statements of one function: the block at work, and how each kind of node is lowered.

    `expression_forms` and `statement_forms` give the method that lowers each kind of node; all
    other nodes are refused. `depth` counts the loops and branches around the
    statement at work, `loops` the loops whose body or test runs again.
    """

    expression_forms: ClassVar[Forms[ast.expr, Value]]
    statement_forms: ClassVar[Forms[ast.stmt, None]]
    block: list[ir.Stmt] = field(default_factory=list)
    depth: int = 0
    loops: int = 0

    def call(self, node: ast.Call) -> Value:
        """The value of a call."""
        raise NotImplementedError

    def refuse_kind(self, node: ast.AST) -> LanguageError:
        """The error for a node outside of the language."""
        known, unknown = ADVICE, "see the language page of the docs"
        if isinstance(node, ast.stmt):
            known, unknown = STATEMENT_ADVICE, "leave it out"
        what, advice = known.get(type(node), (f"Python's {type(node).__name__!r}", unknown))
        return self.refuse(node, f"{what} isn't in the language of programs", advice)

    # Emitting

    def emit(self, statement: ir.Stmt) -> None:
        """Put a statement at the end of the current block."""
        self.block.append(statement)

    def temporary(self) -> str:
        """A variable without a name in the text."""
        return self.unit.unique("t")

    def spill(self, value: ir.Expr, place: Place) -> ir.Expr:
        """`value` in a separate variable, unless nothing can change it."""
        if isinstance(value, ir.Const | ir.Number | ir.ThreadField | ir.Extent):
            return value
        name = self.temporary()
        self.emit(ir.Assign(name, value, place))
        return ir.Var(name, place)

    def spill_all(self, value: Value, place: Place) -> Value:
        """A value with its numbers in separate variables."""
        if isinstance(value, tuple):
            return tuple(self.spill_all(part, place) for part in value)
        return value if isinstance(value, Alias) else self.spill(value, place)

    def apart(self, node: ast.expr) -> tuple[ir.Expr, list[ir.Stmt]]:
        """An expression and the statements in front of it, kept apart from the current block."""
        with self.aside() as block:
            return self.expression(node), block

    @contextmanager
    def aside(self) -> Iterator[list[ir.Stmt]]:
        """Gather statements apart from the current block."""
        outer, self.block = self.block, []
        yield self.block
        self.block = outer

    def operands(self, *nodes: ast.expr) -> list[ir.Expr]:
        """Operands from left to right. Values that a later one's call could change are kept."""
        values: list[ir.Expr] = []
        for node in nodes:
            values = self.followed(values, node)
        return values

    def followed(self, values: list[ir.Expr], node: ast.expr) -> list[ir.Expr]:
        """Operands and one more after them."""
        value, statements = self.apart(node)
        kept = self.kept(values, statements, node)
        self.block.extend(statements)
        return [*kept, value]

    def kept(
        self, values: Sequence[ir.Expr], statements: list[ir.Stmt], node: ast.expr
    ) -> list[ir.Expr]:
        """Values that `statements` can't change any more."""
        if not any(writes_registers(statement) for statement in statements):
            return list(values)
        place = self.place(node)
        return [self.spill(one, place) if reads_registers(one) else one for one in values]

    def link(self, value: ir.Expr, position: int, place: Place) -> ir.Expr:
        """A chain's value so far: after many operators in a variable, so that it stays flat."""
        return self.spill(value, place) if position % LONGEST == 0 else value

    @contextmanager
    def nested(self, node: ast.AST) -> Iterator[None]:
        """One level further down in the program."""
        unit = self.unit
        unit.depth += 1
        if unit.depth > DEEPEST:
            raise self.refuse(
                node,
                f"this is nested more than {DEEPEST} levels deep",
                "take it apart into several statements",
            )
        yield
        unit.depth -= 1

    def emit_for(
        self,
        array: Alias,
        operands: Sequence[ir.Expr],
        make: Callable[[View, list[ir.Expr]], ir.Stmt],
        place: Place,
    ) -> None:
        """Put an access of an array at the end: one for each view that it may be, behind tests."""
        kept = list(operands)
        if len(array.parts) > 1:
            kept = [self.spill(one, place) for one in operands]
        self.emit(aliases.chosen(array, lambda view: make(view, kept), place))

    # Nesting

    def expression(self, node: ast.expr) -> ir.Expr:
        """The expression of one number."""
        lower = self.expression_forms.get(type(node))
        if lower is None:
            raise self.refuse_kind(node)
        with self.nested(node):
            return self.single(lower(self, node), node)

    def single(self, value: Value, node: ast.expr) -> ir.Expr:
        """A value that must be one number."""
        if isinstance(value, tuple):
            raise self.refuse(
                node,
                f"{written(node)!r} is a tuple of {len(value)} values where a number must stand",
                "assign its values to names, as in x, y = ..., or choose one by its number",
            )
        if isinstance(value, Alias):
            for part in value.parts:
                if not part.index and part.array in self.unit.known.arrays:
                    raise self.unit.known.arrays[part.array]
            raise self.refuse(
                node,
                f"the array {written(node)!r} stands where a number must",
                "read an element of it",
            )
        return value

    def statements(self, nodes: list[ast.stmt]) -> None:
        """Statements, in order."""
        for node in nodes:
            lower = self.statement_forms.get(type(node))
            if lower is None:
                raise self.refuse_kind(node)
            lower(self, node)

    def inner(self, nodes: list[ast.stmt]) -> ir.Block:
        """A block inside a loop or a branch."""
        if not nodes:
            return ()
        self.depth += 1
        with self.aside() as block, self.nested(nodes[0]):
            self.statements(nodes)
        self.depth -= 1
        return tuple(block)

    def body(self) -> ir.Block:
        """The function's body."""
        self.statements(self.text.node.body)
        return tuple(self.block)

    def constant(self, value: ir.Scalar, node: ast.AST) -> ir.Const:
        """A number written in the program."""
        if isinstance(value, int) and not INT_MIN <= value <= INT_MAX:
            raise self.refuse(
                node,
                f"the integer {shown(value)} doesn't fit into 64 bits",
                "programs compute with integers from -2^63 to 2^64 - 1",
            )
        return ir.Const(value)
