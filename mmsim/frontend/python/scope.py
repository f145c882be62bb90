"""The meaning of names inside a function of the language.

A name is the thread's, a variable, a parameter, an array of the program, or something
captured from outside: a number, a function, a type, a module. Everything is resolved once, at
decoration.
"""

from __future__ import annotations

import builtins
import re
import types
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any

import numpy as np

from mmsim.errors import LanguageError, Place
from mmsim.host.arguments import is_whole
from mmsim.ir import nodes as ir


def field_names(kind: type) -> tuple[str, ...] | None:
    """The names of the values of named tuples of a class; None for any other class."""
    names = vars(kind).get("_fields")
    return names if kind.__bases__ == (tuple,) and isinstance(names, tuple) else None


INT_MIN, INT_MAX = -(2**63), 2**64 - 1


@dataclass(frozen=True)
class ThreadName:
    """The name of the thread, the first parameter of a program."""


@dataclass
class ParameterUse:
    """A parameter of the program, with its use."""

    name: str
    place: Place
    default: ir.Scalar | None = None
    use: ir.Use = "unused"
    used_at: Place | None = None


@dataclass(frozen=True)
class VariableName:
    """A variable under its unique name."""

    name: str


FIRST = ir.Const(0)
"""The selector of an alias with one part."""


@dataclass(frozen=True)
class Span:
    """Elements of an axis: `count` of them from `start` on, every `step`-th."""

    start: ir.Expr
    step: ir.Expr
    count: ir.Expr
    place: Place

    def at(self, index: ir.Expr) -> ir.Expr:
        """The element of the axis at number `index` of the span, from its end if negative."""
        if isinstance(index, ir.Const) and index.value.real < 0:
            index = binary("+", self.count, index, self.place)
        elif not isinstance(index, ir.Const | ir.ThreadField | ir.Extent):
            below = ir.Compare("<", index, ir.Const(0), self.place)
            index = ir.Choose(below, binary("+", self.count, index, self.place), index)
        return binary("+", self.start, _product(self.step, index, self.place), self.place)

    def within(self, inner: Span) -> Span:
        """A span of this span."""
        start = binary("+", self.start, _product(self.step, inner.start, self.place), self.place)
        step = _product(self.step, inner.step, self.place)
        return Span(start, step, inner.count, self.place)


def binary(op: str, left: ir.Expr, right: ir.Expr, place: Place) -> ir.Expr:
    """An operation of two integers."""
    if right == ir.Const(0) and op in "+-":
        return left
    if left == ir.Const(0) and op == "+":
        return right
    return ir.Binary(op, left, right, place)


def _product(left: ir.Expr, right: ir.Expr, place: Place) -> ir.Expr:
    if ir.Const(1) in (left, right):
        return right if left == ir.Const(1) else left
    return ir.Binary("*", left, right, place)


Numbers = Sequence[ir.Expr]


@dataclass(frozen=True)
class View:
    """An array of the program under its unique name, with its leading axes restricted.

    Each of these has an index, which fixes it, or a span of remaining elements.
    """

    array: str
    index: tuple[ir.Expr | Span, ...] = ()

    @property
    def spans(self) -> tuple[Span, ...]:
        """The axes with a span."""
        return tuple(one for one in self.index if isinstance(one, Span))

    @property
    def axes(self) -> int:
        """The number of the array's axes that `index` restricts."""
        return len(self.index)

    @property
    def numbers(self) -> tuple[ir.Expr, ...]:
        """Further numbers that say which elements these are."""
        return ()

    def with_numbers(self, index: tuple[ir.Expr | Span, ...], numbers: Numbers) -> View:
        """A part of the same kind with other numbers."""
        return replace(self, index=index)

    @property
    def fixed(self) -> int:
        """The number of axes that an index fixes."""
        return len(self.index) - len(self.spans)

    def restricted(self, index: Sequence[ir.Expr | Span]) -> View:
        """This part, restricted by more indices or spans."""
        given = list(index)
        found: list[ir.Expr | Span] = []
        for one in self.index:
            if not isinstance(one, Span) or not given:
                found.append(one)
                continue
            inner = given.pop(0)
            found.append(one.within(inner) if isinstance(inner, Span) else one.at(inner))
        return replace(self, index=(*found, *given))

    def element(self, index: Sequence[ir.Expr]) -> tuple[ir.Expr, ...]:
        """The indices of an element of the array, by those of the element of this part."""
        whole = self.restricted(index).index
        return tuple(one.start if isinstance(one, Span) else one for one in whole)


@dataclass(frozen=True)
class Alias:
    """The meaning of a name of arrays: one of `parts`, by the value of `which`."""

    parts: tuple[View, ...]
    which: ir.Expr = FIRST

    def restricted(self, index: Sequence[ir.Expr | Span]) -> Alias:
        """Each of its parts, restricted by indices or spans."""
        return Alias(tuple(part.restricted(index) for part in self.parts), self.which)


@dataclass(frozen=True)
class NoArray:
    """A name of arrays where it names none, or different ones on different paths."""


@dataclass(frozen=True)
class TupleName:
    """A name of a tuple: a variable, or a tuple again, for each of its values."""

    items: tuple[VariableName | TupleName, ...]


@dataclass(frozen=True)
class Captured:
    """An object from outside the function."""

    value: Any


@dataclass(frozen=True)
class Missing:
    """A name without a meaning, or without one yet."""


Entity = ThreadName | ParameterUse | Alias | NoArray | VariableName | TupleName | Captured | Missing
Value = ir.Expr | Alias | tuple["Value", ...]
"""The value of an expression at parse time: a number, an array, or a tuple of these."""

NameKey = tuple[types.FunctionType, str]
"""A name that a function assigns, a parameter of the program, or `RETURNED`."""

RETURNED = "return"
"""Stands for the value that a function returns; no variable has this name."""


@dataclass(frozen=True)
class Role:
    """The kind of a name that a function assigns, if not a number.

    It holds arrays if `shape` is None, else tuples of that shape; `place` is the evidence.
    """

    place: Place
    shape: Shape | None = None
    declared: bool = False  # as an array that the program makes


Shape = tuple["Shape | None", ...]
"""The structure of a tuple: a tuple's shape, or None for a number."""


class Restart(Exception):
    """Parsing found the kind of a name or a parameter, and has to begin again with it."""


@dataclass
class Known:
    """The knowledge of a program from earlier parsing.

    `arrays` are the parameters that are used as arrays, though another use seemed to be one as a
    number; each has the error that is right if that use is one. `keys` are the arrays that a name
    may stand for in a loop, by the number of the loop and the name.
    """

    roles: dict[NameKey, Role] = field(default_factory=dict)
    arrays: dict[str, LanguageError] = field(default_factory=dict)
    keys: dict[tuple[int, str], set[tuple[View, tuple[bool, ...]]]] = field(default_factory=dict)


@dataclass
class Unit:
    """The data of one program's parsing, for all its functions."""

    name: str
    sources: dict[str, ir.Source] = field(default_factory=dict)
    locals: list[ir.LocalArray] = field(default_factory=list)
    variables: list[ir.Variable] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    stack: list[types.FunctionType] = field(default_factory=list)
    known: Known = field(default_factory=Known)
    parameters: list[str] = field(default_factory=list)
    constants: dict[str, ir.Expr] = field(default_factory=dict)  # of variables, in sizes of arrays
    doubtful: LanguageError | None = None  # right, unless a later line shows a name's kind
    calls: int = 0
    loops: int = 0
    trips: int = 0  # of unrolled loops
    depth: int = 0  # of blocks and expressions

    @property
    def arrays(self) -> list[str]:
        """The arrays so far: parameters come first, then arrays as they are declared."""
        return [*self.parameters, *(local.name for local in self.locals)]

    def is_registers(self, array: str) -> bool:
        """Return whether an array is one of each thread's own."""
        return any(local.name == array and local.kind == "registers" for local in self.locals)

    def unique(self, name: str) -> str:
        """`name`, or `name_2`, `name_3`, ... if it is taken."""
        candidate, number = name, 1
        while candidate in self.taken:
            number += 1
            candidate = f"{name}_{number}"
        self.taken.add(candidate)
        return candidate

    def variable(self, text: str, function: str) -> VariableName:
        """A variable, or an array, that `function` calls `text`, under a unique name."""
        name = self.unique(re.sub(r"\W+", "_", text.rstrip("]")))
        self.variables.append(ir.Variable(name, text, function))
        return VariableName(name)

    def several(self, text: str, function: str, shape: Shape | None) -> VariableName | TupleName:
        """Variables for the values of a tuple that `function` calls `text`, or for a number."""
        if shape is None:
            return self.variable(text, function)
        parts = (f"{text}[{position}]" for position in range(len(shape)))
        return TupleName(tuple(map(self.several, parts, repeat(function), shape)))


def outside(function: types.FunctionType, name: str) -> Captured | Missing:
    """The meaning of `name` outside `function`: enclosing functions, the module, builtins."""
    code = function.__code__
    if name in code.co_freevars:
        cell = (function.__closure__ or ())[code.co_freevars.index(name)]
        try:
            return Captured(cell.cell_contents)
        except ValueError:
            return Missing()
    if name in function.__globals__:
        return Captured(function.__globals__[name])
    if hasattr(builtins, name):
        return Captured(getattr(builtins, name))
    return Missing()


def number(value: Any) -> ir.Scalar | None:
    """`value` as a Python number if it is one (NumPy scalars too), else None."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if is_whole(value):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value)
    if isinstance(value, complex | np.complexfloating):
        return complex(value)
    return None
