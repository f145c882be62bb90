"""Lowering: from a typed program to one in which all that its language leaves implicit is a node.

The lowered form has the nodes of `nodes`, and no language: what a node means follows from its
operator and the types of its parts alone. So evaluation and the writers of texts only spell it.
`README.md` lists the meaning of every node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import count
from typing import TypeGuard

import numpy as np

from mmsim.errors import Place
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import BOOL, HALF, INT, SINGLE, Type, holds, is_int, is_whole, no_index
from mmsim.ir.operators import CHECKS, OR_ZERO, row_of
from mmsim.ir.shapes import NOWHERE
from mmsim.ir.types import Types, Typing
from mmsim.ir.walk import (
    Memo,
    expressions,
    numbered,
    targets,
    with_expressions,
    with_inside,
    with_targets,
)

OF_FLOATS: dict[ir.AtomicOp, ir.AtomicOp] = {"max": "greater", "min": "less"}
OF_INTEGERS: dict[ir.AtomicOp, ir.AtomicOp] = {"nanmax": "max", "nanmin": "min"}
"""The name of an atomic operation of Numba's for arrays of these numbers."""


class Lowered(Types):
    """A program in the lowered form: its code, and the type of every name and every node.

    `variables`, `arrays` and `numbers` map unique names to types; `of(value)` is a node's.
    """

    def __init__(self, code: ir.Code, typing: Typing) -> None:
        self.code = code
        self.variables = dict(typing.variables)
        self.arrays = typing.arrays
        self.numbers = typing.numbers
        self.strong = set()
        self._of = Memo(self._find)

    def with_variables(self, more: dict[str, Type]) -> Lowered:
        """The same program with more variables."""
        other = copy(self)
        other.variables = {**self.variables, **more}
        other._of = Memo(other._find)
        return other

    def with_body(self, body: ir.Block) -> Lowered:
        """The same program with another body, of the same variables."""
        other = copy(self)
        other.code = replace(self.code, body=body)
        return other


def is_implied(value: ir.Expr) -> TypeGuard[ir.Unary]:
    """Return whether a node is a conversion that the language of the program implies.

    >>> is_implied(ir.Unary("int64", ir.Const(True), NOWHERE)), is_implied(ir.Const(1))
    (True, False)
    """
    if not isinstance(value, ir.Unary) or value.place is not NOWHERE:
        return False
    return row_of(value).gives is not None


def unconverted(value: ir.Expr) -> ir.Expr:
    """A value without the conversion that the language of the program implies, if there is one."""
    return value.operand if is_implied(value) else value


def is_check(value: ir.Expr) -> TypeGuard[ir.Unary]:
    """Return whether a node is the check of an operand."""
    return isinstance(value, ir.Unary) and value.op in CHECKS


def _is_positive(value: ir.Expr) -> bool:
    """Return whether a number is known to be positive, whatever the arguments are."""
    if isinstance(value, ir.Const):
        return not isinstance(value.value, complex) and value.value > 0
    return isinstance(value, ir.ThreadField) and value.field in ir.UNIFORM_FIELDS


def unchecked(value: ir.Expr) -> ir.Expr:
    """A value without the check around it, if there is one."""
    return value.operand if is_check(value) else value


def as_written(index: ir.Expr) -> ir.Expr:
    """A number of an index as the program has it: a negative one may count from the end."""
    if isinstance(index, ir.Binary) and row_of(index).kind == "index":
        return index.left
    return index


def lower(code: ir.Code, typing: Typing) -> Lowered:
    """The lowered form of a program with known types."""
    return Lowering(code, typing).program()


class Lowering:
    """Lowers one program, node by node."""

    def __init__(self, code: ir.Code, typing: Typing) -> None:
        self.code = code
        self.typing = typing
        self.result = Lowered(code, typing)
        self.is_numbas = code.arithmetic != "python"
        self.wraps = code.arithmetic == "numba"  # a negative index, which counts from the end
        self.adds = False  # statements, which need numbers
        # A helper may share a part 2^k times: each node is lowered once.
        self.value: Callable[[ir.Expr], ir.Expr] = Memo(self._value)
        self.truth: Callable[[ir.Expr], ir.Expr] = Memo(self._truth)

    def program(self) -> Lowered:
        """The whole program."""
        locals_ = tuple(
            replace(one, shape=tuple(map(self.value, one.shape))) for one in self.code.locals
        )
        body = self._block(self.code.body)
        body = numbered(body) if self.adds else body
        self.result.code = replace(self.code, locals=locals_, body=body)
        return self.result

    # Statements

    def _block(self, block: ir.Block) -> ir.Block:
        return tuple(new for statement in block for new in self._statement(statement))

    def _statement(self, old: ir.Stmt) -> Iterator[ir.Stmt]:
        """A statement and the conversions of its results, which follow it."""
        statement = with_inside(self._with_operands(old), self._block)
        if isinstance(old, ir.Assign) or not isinstance(old, ir.Setting) or not targets(old):
            yield statement
            return
        variables, given = self.result.variables, self.typing.set_to(old)
        assert given is not None, old
        fresh = {
            name: self._fresh(name, given.type)
            for name in targets(old)
            if variables[name] != given.type
        }
        more = tuple(
            ir.Assign(name, self.into(ir.Var(own, NOWHERE), variables[name]), NOWHERE)
            for name, own in fresh.items()
        )
        self.adds |= bool(more)
        if isinstance(statement, ir.For):
            statement = replace(statement, body=(*more, *statement.body))
            more = ()
        yield with_targets(statement, lambda name: fresh.get(name, name))
        yield from more

    def _fresh(self, name: str, type_: Type) -> str:
        """A new variable of a type."""
        variables = self.result.variables
        taken = variables.keys() | self.result.arrays.keys() | self.result.numbers.keys()
        fresh = next(one for k in count(1) if (one := f"{name}_as_read_{k}") not in taken)
        variables[fresh] = type_
        return fresh

    def _with_operands(self, statement: ir.Stmt) -> ir.Stmt:
        """A statement with lowered expressions."""
        if isinstance(statement, ir.Assign):
            wanted = self.result.variables[statement.target]
            return replace(statement, value=self.into(statement.value, wanted))
        if isinstance(statement, ir.If | ir.While | ir.Barrier):
            return with_expressions(statement, self.truth)
        if isinstance(statement, ir.For):
            return with_expressions(statement, partial(self.into, wanted=INT))
        if isinstance(statement, ir.Exchange):
            return self._exchange(statement)
        if isinstance(statement, ir.Access | ir.RegisterWrite):
            return self._access(statement)
        return with_expressions(statement, self.value)

    def _exchange(self, statement: ir.Exchange) -> ir.Exchange:
        """Shuffles take a lane or a distance, votes take tests, matches any value."""
        if statement.op in ("ballot", "any", "all"):
            return with_expressions(statement, self.truth)
        values, lanes = statement.operands[:1], statement.operands[1:]
        whole = (self.into(lane, INT) for lane in lanes)
        return replace(statement, operands=(*map(self.value, values), *whole))

    def _access(self, statement: ir.Access | ir.RegisterWrite) -> ir.Stmt:
        """An access whose index is whole, and whose values have the type of the array."""
        array, place = statement.array, statement.place
        if self.is_numbas and isinstance(statement, ir.Atomic):
            statement = self._numbas(statement)
        index = statement.index
        if isinstance(statement, ir.VectorLoad | ir.VectorStore):
            whole = self._whole(index)
        else:
            whole = self.index(array, index, place)
        brought = expressions(statement)[len(index) :]
        values = iter((*whole, *(self.stored(array, value, place) for value in brought)))
        return with_expressions(statement, lambda _: next(values))

    def _numbas(self, statement: ir.Atomic) -> ir.Atomic:
        """An atomic of Numba's as the one that the representation has for the array's type."""
        is_float = self.result.arrays[statement.array].kind == "f"
        op, value = statement.op, statement.value
        if op == "sub" and is_float:
            op, value = "add", ir.Unary("-", value, statement.place)
        op = (OF_FLOATS if is_float else OF_INTEGERS).get(op, op)
        return replace(statement, op=op, value=value)

    def stored(self, array: str, value: ir.Expr, place: Place) -> ir.Expr:
        """A value as an array holds it; a store itself checks integers that may not fit.

        Numba's stores convert every value, as casts do.
        """
        held, lowered = self.result.arrays[array], self.value(value)
        own = self.result.of(lowered)
        if self.is_numbas:
            lowered = self._by_single(lowered, held)
            return lowered if own == held else ir.Unary(held.name, lowered, place)
        if is_int(held) and is_int(own) and not holds(held, own):
            return lowered
        return self.convert(lowered, held)

    # Expressions

    def into(self, value: ir.Expr, wanted: Type) -> ir.Expr:
        """An expression converted to a type."""
        return self.convert(self.value(value), wanted)

    def convert(self, lowered: ir.Expr, wanted: Type) -> ir.Expr:
        """A lowered expression converted to a type that can hold it, if it has another one."""
        if self.result.of(lowered) == wanted:
            return lowered
        return ir.Unary(wanted.name, self._by_single(lowered, wanted), NOWHERE)

    def _by_single(self, lowered: ir.Expr, wanted: Type) -> ir.Expr:
        """A value before a conversion: those of float16 go by float32, except from wider floats."""
        types = {wanted, held := self.result.of(lowered)}
        if HALF not in types or SINGLE in types or (held.kind == "f" and wanted == HALF):
            return lowered
        return ir.Unary(SINGLE.name, lowered, NOWHERE)

    def _truth(self, value: ir.Expr) -> ir.Expr:
        """The truth value of an expression."""
        if isinstance(value, ir.Logic):
            return replace(value, left=self.truth(value.left), right=self.truth(value.right))
        return self.into(value, BOOL)

    def index(self, array: str, index: tuple[ir.Expr, ...], place: Place) -> tuple[ir.Expr, ...]:
        """An index of whole numbers, as far as it can be; Numba's counts from the end too."""
        extents = (ir.Extent(array, axis, None, place) for axis in range(len(index)))
        return self._whole(index, extents if self.wraps else None, place)

    def _whole(
        self,
        index: tuple[ir.Expr, ...],
        extents: Iterator[ir.Expr] | None = None,
        place: Place = NOWHERE,
    ) -> tuple[ir.Expr, ...]:
        """The numbers of an index as 64-bit integers; with `extents` negative ones wrap."""
        if no_index(map(self.typing.of, index)) is not None:  # an error if a thread gets there
            return tuple(map(self.value, index))
        whole = tuple(self.into(one, INT) for one in index)
        if extents is None:
            return whole
        return tuple(
            ir.Binary("from end", at, extent, place) if self.typing.of(one).kind == "i" else at
            for one, at, extent in zip(index, whole, extents, strict=True)
        )

    def _value(self, value: ir.Expr) -> ir.Expr:
        """An expression in its own type."""
        found = self._computed(value)
        is_half = isinstance(value, ir.Operating) and self.typing.of(value) == HALF
        return self.convert(found, HALF) if is_half else found

    def _computed(self, value: ir.Expr) -> ir.Expr:
        """An expression in its own type, or that in which it is computed."""
        if isinstance(value, ir.Unary):
            return self._unary(value)
        if isinstance(value, ir.Binary):
            return self._binary(value)
        if isinstance(value, ir.Operating):
            wanted = iter(self.typing.operation(value).operands)
            return with_expressions(value, lambda one: self.into(one, next(wanted)))
        if isinstance(value, ir.Logic):
            own = self.typing.of(value)
            return with_expressions(value, partial(self.into, wanted=own))
        if isinstance(value, ir.Choose):
            own = self.typing.of(value)
            then, other = self.into(value.then, own), self.into(value.other, own)
            return ir.Choose(self.truth(value.test), then, other)
        if isinstance(value, ir.RegisterRead):
            return replace(value, index=self.index(value.array, value.index, value.place))
        if isinstance(value, ir.Lookup):
            values = tuple(np.array(value.values, self.typing.of(value)).tolist())
            extents = map(ir.Const, value.shape)
            index = self._whole(value.index, extents, value.place)
            return replace(value, values=values, index=index)
        return with_expressions(value, self.value)

    def _unary(self, value: ir.Unary) -> ir.Expr:
        op, how, row = value.op, self.typing.operation(value), row_of(value)
        if row.gives == BOOL:
            test = self.truth(value.operand)
            return test if op == "bool" else replace(value, operand=test)
        if row.gives is not None:
            inner, wanted = self.value(value.operand), how.result.type
            if self.result.of(inner) == wanted:
                return inner
            inner = self._by_single(inner, wanted)
            return ir.Unary(op if row.gives == wanted else wanted.name, inner, value.place)
        (type_,), kind = how.operands, row.kind
        inner = self.into(value.operand, type_)
        if kind == "same" or (kind == "absolute" and type_.kind == "u"):
            return inner
        return ir.Unary("not" if type_ == BOOL else op, inner, value.place)

    def _binary(self, value: ir.Binary) -> ir.Expr:
        """An operation in one type, on a right operand that is checked unless all pass."""
        how, row, op = self.typing.operation(value), row_of(value), value.op
        type_ = SINGLE if how.result.type == HALF else how.result.type
        left, right = self.into(value.left, type_), self.into(value.right, type_)
        if not row.refused or (how.ieee and not is_whole(type_)):
            return ir.Binary(op, left, right, value.place)
        if row.kind == "power" and not is_whole(type_):
            return ir.Binary(f"finite {op}", left, right, value.place)
        is_passed = type_.kind == "u" and CHECKS[row.refused].sign == "< 0"
        if not is_passed and not _is_positive(value.right):
            if self.is_numbas and row.kind == "division":
                op += OR_ZERO
            else:
                right = ir.Unary(row.refused, right, value.place)
        return ir.Binary(op, left, right, value.place)
