"""Values while a function is lowered, and their types.

A number is an expression, an array an `Alias`; a tuple consists of values. Everything else is an
`Object`, or one of the classes here.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numba.core import types

from mmsim.errors import Place
from mmsim.frontend.numba.options import Options
from mmsim.frontend.numba.refusals import kind_of
from mmsim.frontend.numba.signatures import Refusal
from mmsim.frontend.python.aliases import Key, Merged
from mmsim.frontend.python.scope import Alias, Numbers, Span, Unit, View
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import BOOL, INT, Type, supported
from mmsim.ir.numba_types import NumbaTyping
from mmsim.ir.operators import BINARY, COMPARE, UNARY
from mmsim.ir.walk import parts, with_expressions

NOWHERE = Place("", "", 0)
DATES = types.NPDatetime | types.NPTimedelta
"""The types of dates and of times between them, which are whole numbers of a unit."""
ZERO, ONE = ir.Const(0), ir.Const(1)
OPERATORS = {
    known: (node, op)
    for table, node in ((UNARY, ir.Unary), (BINARY, ir.Binary), (COMPARE, ir.Compare))
    for op, row in table.items()
    for one in row.means
    for known in (one, getattr(operator, f"i{getattr(one, '__name__', '')}", one))
    if callable(one) and not isinstance(one, type)
} | {abs: (ir.Unary, "abs")}
"""The operation of the representation for a function of `operator` or of NumPy."""
LEAVES = ir.Const | ir.Number | ir.ThreadField | ir.Extent
"""Expressions that nothing can change."""
Value = Any
"""An expression, an `Alias`, a tuple of values, or one of the classes below."""


@dataclass(frozen=True)
class Object:
    """An object from outside of the kernel, or a name of numba.cuda."""

    thing: Any


NONE = Object(None)


@dataclass(frozen=True)
class Method:
    """A method of a number or of an array."""

    owner: Value
    name: str


@dataclass(frozen=True)
class Text:
    """A text of an array: its characters, with zeros behind the last one."""

    characters: tuple[ir.Expr, ...]


@dataclass(frozen=True)
class Maybe:
    """A number or an array that may be None instead: whether it is there, and the value."""

    is_there: ir.Expr
    value: Value


@dataclass(frozen=True)
class Slice:
    """A slice of an index; None for an end that is left out."""

    start: ir.Expr | None
    stop: ir.Expr | None
    step: ir.Expr = ONE


Index = tuple[ir.Expr, ...]


def open_axes(count: int) -> Index:
    """The indices of an array's first axes, wherever they get their values."""
    return tuple(ir.ThreadField(f"axis {number}") for number in range(count))


def replaced(value: ir.Expr, leaf: Callable[[ir.Expr], ir.Expr]) -> ir.Expr:
    """An expression with other leaves, from left to right."""
    if isinstance(value, LEAVES | ir.Var):
        return leaf(value)
    return with_expressions(value, lambda inner: replaced(inner, leaf))


@dataclass(frozen=True)
class Remade(View):
    """An array under other axes, as a.T: `count` of them, in which `own` are its own indices.

    `form` is "real" or "imag" for that part of each element, or a type as which each is read.
    """

    own: Index = ()
    count: int = 0
    form: str = ""

    @property
    def axes(self) -> int:
        """The number of the array's axes that `index` restricts."""
        return len(self.own) + len(self.index) - self.count

    def element(self, index: Sequence[ir.Expr]) -> Index:
        """The array's own indices of an element."""
        whole = super().element(index)
        given = dict(zip(open_axes(self.count), whole, strict=False))
        own = (replaced(one, lambda leaf: given.get(leaf, leaf)) for one in self.own)
        return (*own, *whole[self.count :])

    @property
    def numbers(self) -> Index:
        """The variables in its own indices."""
        inner = (one for own in self.own for one in parts(own))
        return tuple(one for one in inner if isinstance(one, ir.Var))

    def with_numbers(self, index: tuple[ir.Expr | Span, ...], numbers: Numbers) -> Remade:
        """A part of the same kind with other numbers."""
        rest = iter(numbers)
        own = (
            replaced(one, lambda leaf: next(rest) if isinstance(leaf, ir.Var) else leaf)
            for one in self.own
        )
        return replace(self, index=index, own=tuple(own))


@dataclass(frozen=True)
class Counted:
    """The trips of a loop: numbers of a range, and the item for each of them; None for itself.

    An iterator, which several loops share, `moves` to its next item instead: this puts statements
    at the end, and gives whether there is an item, and the item.
    """

    stop: ir.Expr = ZERO
    start: ir.Expr = ZERO
    step: ir.Expr = ONE
    item: Callable[[ir.Expr], Value] | None = None
    moves: Callable[[], tuple[ir.Expr, Value]] | None = None

    def at(self, number: ir.Expr) -> Value:
        """The item of a trip."""
        return number if self.item is None else self.item(number)

    def of_items(self, make: Callable[[Value], Value]) -> Counted:
        """The same trips from 0 on, with what is made of each item."""
        return Counted(self.stop, self.start, item=lambda number: make(self.at(number)))


@dataclass(frozen=True)
class Walked(Alias):
    """The elements of an array that are also an iterator, as a.flat."""

    trips: Counted = field(default_factory=Counted)


class Held(NumbaTyping):
    """The types that names have so far, and so those of expressions."""

    def __init__(self) -> None:
        self.variables: dict[str, Type] = {}
        self.arrays: dict[str, Type] = {}
        self.numbers: dict[str, Type] = {}
        self.strong: set[str] = set()
        self._of = self._find


@dataclass
class KernelUnit(Unit):
    """The data of one kernel's lowering, for all its functions.

    `ranks` has the numbers of axes of arrays, `records` the arrays of the fields of arrays of
    records, `tables` constant arrays from outside. `held` are the types of names, `block` the
    statements of the block at work. `keys` are the arrays that a name may stand for, if they depend
    on the path, found by earlier tries, and `merged` their variables. `words` are the types of the
    memory of arrays that are viewed as smaller numbers; parameters can be that are `whole`, in
    row-major order.
    """

    options: Options = field(default_factory=Options)
    array_from_outside: Callable[[str, Any, Any, Place], Alias] | None = None
    ranks: dict[str, int] = field(default_factory=dict)
    records: dict[str, dict[str, str]] = field(default_factory=dict)
    held: Held = field(default_factory=Held)
    keys: dict[str, set[Key]] = field(default_factory=dict)
    merged: dict[str, Merged] = field(default_factory=dict)
    tables: dict[str, Any] = field(default_factory=dict)
    block: list[ir.Stmt] = field(default_factory=list)
    words: dict[str, Type] = field(default_factory=dict)
    whole: set[str] = field(default_factory=set)

    @property
    def arrays(self) -> list[str]:
        """The arrays so far; constant ones and arrays of records come last."""
        return [*super().arrays, *self.tables, *self.records]

    def temporary(self, type_: Type) -> str:
        """A new variable for a number without a name."""
        name = self.unique("t")
        self.held.variables[name] = type_
        return name

    def array(self, array: str, type_: Type, rank: int) -> None:
        """Note an array that the kernel makes."""
        self.held.arrays[array] = type_
        self.ranks[array] = rank

    def of_records(
        self, name: str, records: Any, shape: Index, make: Callable[[str, Type, Index], str]
    ) -> None:
        """Note an array of records: one array for each field, with the field's axes last.

        `make` gives the name of the array of a field with a type and a shape.
        """
        fields = {}
        for one in records.names or ():
            own, whole = records[one].base, (*shape, *map(ir.Const, records[one].shape))
            inner = fields[one] = self.unique(f"{name}_{one}")
            if own.names:
                self.of_records(inner, own, whole, make)
            else:
                fields[one] = make(inner, own, whole)
        self.records[name], self.ranks[name] = fields, len(shape)


def dtype_of(type_: types.Type) -> Type:
    """NumPy's type of Numba's type of a number."""
    own = types.unliteral(type_)
    own = own.type if isinstance(own, types.Optional) else own
    own = own.dtype if isinstance(own, types.EnumMember) else own
    if isinstance(own, types.Boolean):
        return BOOL
    if isinstance(own, DATES):
        return INT
    if isinstance(own, types.Number) and supported(own.name):
        return np.dtype(own.name)
    advice = "give it a number on every path" if isinstance(own, types.Optional) else ""
    raise Refusal(f"{kind_of(own)} stands where a number must", advice)


def is_number(type_: types.Type) -> bool:
    """Return whether a type is of numbers."""
    return isinstance(types.unliteral(type_), types.Number | types.Boolean | DATES)
