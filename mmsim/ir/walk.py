"""Walks through a program's representation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import count

from mmsim.ir import nodes as ir
from mmsim.ir.nodes import assert_never

WALK = "a walk through the program"


def inside(statement: ir.Stmt) -> tuple[ir.Block, ...]:
    """The blocks inside a statement, in the order of the text."""
    match statement:
        case ir.If(_, then, orelse):
            return then, orelse
        case ir.While(prelude, _, body):
            return prelude, body
        case ir.For(_, _, _, _, body) | ir.Scope(_, body):
            return (body,)
        case (
            ir.Assign()
            | ir.Load()
            | ir.Store()
            | ir.VectorLoad()
            | ir.VectorStore()
            | ir.Atomic()
            | ir.RegisterWrite()
            | ir.Break()
            | ir.Continue()
            | ir.Return()
            | ir.Forget()
            | ir.Leave()
            | ir.Barrier()
            | ir.Exchange()
        ):
            return ()
        case _:
            assert_never(statement, WALK)


def with_inside(statement: ir.Stmt, changed: Callable[[ir.Block], ir.Block]) -> ir.Stmt:
    """A statement with other blocks inside, changed in the order of the text."""
    match statement:
        case ir.If(_, then, orelse):
            return replace(statement, then=changed(then), orelse=changed(orelse))
        case ir.While(prelude, _, body):
            return replace(statement, prelude=changed(prelude), body=changed(body))
        case ir.For(_, _, _, _, body) | ir.Scope(_, body):
            return replace(statement, body=changed(body))
        case (
            ir.Assign()
            | ir.Load()
            | ir.Store()
            | ir.VectorLoad()
            | ir.VectorStore()
            | ir.Atomic()
            | ir.RegisterWrite()
            | ir.Break()
            | ir.Continue()
            | ir.Return()
            | ir.Forget()
            | ir.Leave()
            | ir.Barrier()
            | ir.Exchange()
        ):
            return statement
        case _:
            assert_never(statement, WALK)


def numbered(body: ir.Block) -> ir.Block:
    """A program with numbered statements, and separately numbered accesses."""
    numbers, sites = count(), count()

    def block(old: ir.Block) -> ir.Block:
        return tuple(map(one, old))

    def one(statement: ir.Stmt) -> ir.Stmt:
        number = next(numbers)
        statement = with_inside(statement, block)
        if isinstance(statement, ir.Access):
            return replace(statement, number=number, site=next(sites))
        return replace(statement, number=number)

    return block(body)


def statements(block: Iterable[ir.Stmt]) -> Iterator[ir.Stmt]:
    """All statements of a block and of the blocks inside, in the order of the text."""
    for statement in block:
        yield statement
        for inner in inside(statement):
            yield from statements(inner)


def accesses(block: Iterable[ir.Stmt]) -> Iterator[ir.Access]:
    """All memory accesses of a block, in the order of the text."""
    return (one for one in statements(block) if isinstance(one, ir.Access))


def written_arrays(block: Iterable[ir.Stmt]) -> set[str]:
    """The arrays that a block's statements may change."""
    return {one.array for one in accesses(block) if not isinstance(one, ir.Load | ir.VectorLoad)}


def targets(statement: ir.Stmt) -> tuple[str, ...]:
    """The variables that a statement itself sets."""
    match statement:
        case ir.Assign(target) | ir.For(target):
            return (target,)
        case ir.Load(target) | ir.Atomic(target) | ir.Exchange(target) | ir.Barrier(target=target):
            return () if target is None else (target,)
        case ir.VectorLoad(several):
            return several
        case (
            ir.Store()
            | ir.VectorStore()
            | ir.RegisterWrite()
            | ir.If()
            | ir.While()
            | ir.Break()
            | ir.Continue()
            | ir.Return()
            | ir.Forget()
            | ir.Scope()
            | ir.Leave()
        ):
            return ()
        case _:
            assert_never(statement, WALK)


def expressions(statement: ir.Stmt) -> tuple[ir.Expr, ...]:
    """The expressions that a statement itself evaluates."""
    match statement:
        case ir.Assign(_, value):
            return (value,)
        case ir.Load(_, _, index) | ir.VectorLoad(_, _, index):
            return index
        case ir.VectorStore(_, index, values):
            return (*index, *values)
        case ir.Store(_, index, value) | ir.RegisterWrite(_, index, value):
            return (*index, value)
        case ir.Atomic(index=index):
            return (*index, *statement.operands)
        case ir.If(test) | ir.While(_, test):
            return (test,)
        case ir.For(_, start, stop, step):
            return (start, stop, step)
        case ir.Exchange(_, _, given):
            return given
        case ir.Barrier():
            return () if statement.test is None else (statement.test,)
        case ir.Break() | ir.Continue() | ir.Return() | ir.Forget() | ir.Scope() | ir.Leave():
            return ()
        case _:
            assert_never(statement, WALK)


def with_expressions(statement: ir.Stmt, changed: Callable[[ir.Expr], ir.Expr]) -> ir.Stmt:
    """A statement with changed expressions; the statements inside it stay."""
    match statement:
        case ir.Assign(_, value):
            return replace(statement, value=changed(value))
        case ir.Load(_, _, index) | ir.VectorLoad(_, _, index):
            return replace(statement, index=tuple(map(changed, index)))
        case ir.VectorStore(_, index, values):
            at, brought = tuple(map(changed, index)), tuple(map(changed, values))
            return replace(statement, index=at, values=brought)
        case ir.Store(_, index, value) | ir.RegisterWrite(_, index, value):
            return replace(statement, index=tuple(map(changed, index)), value=changed(value))
        case ir.Atomic(index=index, value=value, compare=compare):
            return replace(
                statement,
                index=tuple(map(changed, index)),
                value=changed(value),
                compare=None if compare is None else changed(compare),
            )
        case ir.If(test) | ir.While(_, test):
            return replace(statement, test=changed(test))
        case ir.For(_, start, stop, step):
            return replace(statement, start=changed(start), stop=changed(stop), step=changed(step))
        case ir.Exchange(operands=given):
            return replace(statement, operands=tuple(map(changed, given)))
        case ir.Barrier(test=test):
            return statement if test is None else replace(statement, test=changed(test))
        case ir.Break() | ir.Continue() | ir.Return() | ir.Forget() | ir.Scope() | ir.Leave():
            return statement
        case _:
            assert_never(statement, WALK)


def operands(value: ir.Expr) -> tuple[ir.Expr, ...]:
    """The direct parts of an expression."""
    match value:
        case ir.Unary(_, operand):
            return (operand,)
        case ir.Binary(_, left, right) | ir.Compare(_, left, right) | ir.Logic(_, left, right):
            return left, right
        case ir.Choose(test, then, other):
            return test, then, other
        case ir.RegisterRead(_, index):
            return index
        case ir.Lookup():
            return value.index
        case ir.Call(_, arguments):
            return arguments
        case ir.Const() | ir.Var() | ir.Number() | ir.ThreadField() | ir.Extent():
            return ()
        case _:
            assert_never(value, WALK)


def with_operands(value: ir.Expr, changed: Callable[[ir.Expr], ir.Expr]) -> ir.Expr:
    """An expression with changed parts."""
    match value:
        case ir.Unary(_, operand):
            return replace(value, operand=changed(operand))
        case ir.Binary(_, left, right) | ir.Compare(_, left, right) | ir.Logic(_, left, right):
            return replace(value, left=changed(left), right=changed(right))
        case ir.Choose(test, then, other):
            return replace(value, test=changed(test), then=changed(then), other=changed(other))
        case ir.RegisterRead(_, index):
            return replace(value, index=tuple(map(changed, index)))
        case ir.Lookup():
            return replace(value, index=tuple(map(changed, value.index)))
        case ir.Call(_, arguments):
            return replace(value, operands=tuple(map(changed, arguments)))
        case ir.Const() | ir.Var() | ir.Number() | ir.ThreadField() | ir.Extent():
            return value
        case _:
            assert_never(value, WALK)


def parts(value: ir.Expr) -> Iterator[ir.Expr]:
    """An expression and all expressions inside."""
    yield value
    for operand in operands(value):
        yield from parts(operand)


def names(values: Iterable[ir.Expr]) -> set[str]:
    """The variables and the register arrays in expressions."""
    found = set()
    for value in values:
        for part in parts(value):
            if isinstance(part, ir.Var):
                found.add(part.name)
            elif isinstance(part, ir.RegisterRead):
                found.add(part.array)
    return found


def writes_registers(statement: ir.Stmt) -> bool:
    """Whether a statement, or one inside it, writes a register array."""
    return any(isinstance(one, ir.RegisterWrite) for one in statements((statement,)))


def reads_registers(value: ir.Expr) -> bool:
    """Whether an expression reads a register array."""
    return any(isinstance(part, ir.RegisterRead) for part in parts(value))
