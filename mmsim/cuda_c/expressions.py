"""Writes the expressions of a program in C.

It spells the lowered form (`mmsim.ir.lower`). Every text has the C type of its expression, except
for a short literal, which is an `int`. Such a literal never stands alone with another literal,
because those are folded. Where C converts by itself, the text leaves out an implied conversion.

C computes with at least 32 bits, and a signed result beyond its type is undefined. So such an
operation is done without a sign, and cast back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from mmsim.cuda_c.text import (
    AND,
    C_TYPES,
    CHOICE,
    COMPARING,
    OR,
    PRIMARY,
    PRODUCT,
    SUM,
    UNARY_RANK,
    Text,
    call,
    cast,
    infix,
    literal,
    literal_of,
)
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import BOOL, FLOAT, INT, UNSIGNED, Type, is_int, limits, no_index
from mmsim.ir.lower import as_written, is_implied
from mmsim.ir.nodes import assert_never
from mmsim.ir.operators import BINARY, OR_ZERO, row_of
from mmsim.ir.ranges import Ranges
from mmsim.ir.row import WHOLE, Row
from mmsim.ir.typed import consists_of
from mmsim.ir.walk import expressions

WRITER = "the writer of CUDA C"
FOLDED = (ir.Const, ir.Extent, ir.Unary, ir.Binary, ir.Call)
"""The nodes of an expression whose value is written into the text."""
BITS: Type = np.dtype(np.uint32)
"""The type in which integers of up to 32 bits wrap around."""


@dataclass(eq=False)
class CText:
    """Writes expressions for one launch.

    `of` gives the type of an expression, `constant` its value if it is known before the launch,
    `element` the text of a register.
    """

    of: Callable[[ir.Expr], Type]
    ranges: Ranges
    constant: Callable[[ir.Expr], ir.Scalar | None]
    name: Callable[[str], str]
    element: Callable[[str, tuple[ir.Expr, ...]], str]
    tables: dict[tuple[Type, tuple[ir.Scalar, ...]], str] = field(default_factory=dict)
    loads: dict[str, str] = field(default_factory=dict)
    """Variables that stand for an access in the same statement."""

    def write(self, value: ir.Expr) -> Text:
        """The text of an expression, in its own type."""
        known = self.folded(value)
        if known is not None:
            return literal_of(known, self.of(value))
        match value:
            case ir.Number(name):
                return Text(self.name(name), PRIMARY)
            case ir.Var(name):
                return Text(self.loads.get(name) or self.name(name), PRIMARY)
            case ir.ThreadField():
                return Text(f"T.{value.field}", PRIMARY)
            case ir.RegisterRead(array, index):
                return Text(self.element(array, index), PRIMARY)
            case ir.Lookup():
                return self._lookup(value)
            case ir.Unary():
                return self._unary(value)
            case ir.Binary():
                return self._binary(value)
            case ir.Compare():
                return self._comparison(value)
            case ir.Operation():
                operands = expressions(value)
                row, type_ = row_of(value), self.of(operands[0])
                return function(value.op, row, type_, *map(self.write, operands))
            case ir.Logic():
                return self._logic(value)
            case ir.Choose(test, then, other):
                first = self._arm(then).within(CHOICE + 1)
                second = self._arm(other).within(CHOICE)
                return Text(f"{self.write(test).within(OR)} ? {first} : {second}", CHOICE)
            case ir.Const() | ir.Extent():
                raise AssertionError(f"{value} is folded")
            case _:
                assert_never(value, WRITER)

    def folded(self, value: ir.Expr) -> ir.Scalar | None:
        """The value of an expression of literals and extents, None of any other."""
        return self.constant(value) if consists_of(value, FOLDED) else None

    def assigned(self, value: ir.Expr) -> Text:
        """The text of a value in an assignment, where C itself converts most numbers.

        It converts no complex number to a real one, and no number to a truth value in memory.
        """
        if not is_implied(value):
            return self.write(value)
        held, wanted = self.of(value.operand), self.of(value)
        by_c = wanted != BOOL and (held.kind != "c" or wanted.kind == "c")
        return self.write(value.operand if by_c else value)

    def bound(self, value: ir.Expr) -> Text:
        """The text of a bound of a loop: C compares unsigned numbers in another way."""
        unsigned = is_implied(value) and self.of(value.operand) == UNSIGNED
        return self.write(value) if unsigned else self.assigned(value)

    def index(self, value: ir.Expr) -> str:
        """The text of an index along an axis."""
        return self.assigned(as_written(value) if self._low(value) >= 0 else value).code

    def index_faults(self, array: str, index: tuple[ir.Expr, ...], rank: int) -> str | None:
        """The fault of an index for all of its values, None without one."""
        if len(index) != rank:
            return f"{array!r} has {rank} dimensions but is used with {len(index)}"
        return no_index(map(self.of, map(as_written, index)))

    def _low(self, value: ir.Expr) -> int:
        """The least possible value of a number; of an index, of the number in the program."""
        return (self.ranges.of(as_written(value)) or WHOLE)[0]

    def _arm(self, value: ir.Expr) -> Text:
        """One of two values to choose from: never an `int` literal, which would make the choice
        an `int`."""
        known = self.folded(value)
        if isinstance(known, int) and self.of(value) == INT:
            return literal(int(known), always_long=True)
        return self.write(value)

    def _lookup(self, value: ir.Lookup) -> Text:
        """An element of a constant table."""
        number, *others = map(self.write, value.index)
        for at, extent in zip(others, value.shape[1:], strict=True):
            left = f"{number.within(PRODUCT)} * {extent}"
            number = Text(f"{left} + {at.within(SUM + 1)}", SUM)
        name = self.tables[self.of(value), value.values]
        return Text(f"{name}[{number.code}]", PRIMARY)

    def _unary(self, value: ir.Unary) -> Text:
        row, held, text = row_of(value), self.of(value.operand), self.write(value.operand)
        if row.kind == "check":  # a GPU has none
            return text
        if row.kind == "not":
            return Text(f"!{text.within(UNARY_RANK)}", UNARY_RANK)
        if row.gives == BOOL:
            return Text(f"{text.within(COMPARING + 1)} != 0", COMPARING)
        if row.gives is not None:
            return cast(row.gives, text)
        if row.kind == "absolute" and not is_int(held):
            name = {"c": "complex_abs", "f": "fabs" if held == FLOAT else "fabsf"}[held.kind]
            return call(name, text)
        overflows = held.kind == "i" and self._low(value.operand) == limits(held)[0]
        if row.kind == "absolute" or (row.kind == "sign" and overflows):
            return _as(held, INT, call(row.c, text))
        plain = Text(f"{row.sign}{text.within(PRIMARY)}", UNARY_RANK)
        return cast(held, plain) if held.itemsize < 4 else plain

    def _binary(self, value: ir.Binary) -> Text:
        row, type_ = row_of(value), self.of(value)
        if row.kind == "index" and self._low(value) >= 0:
            return self.write(value.left)
        finds_type = row.kind in ("shift", "power", "extreme")  # C finds it by the left operand
        left = (self._arm if finds_type else self.write)(value.left)
        right = self.write(value.right)
        of_type = "" if type_ in (INT, FLOAT) else f"<{C_TYPES[type_.name]}>"
        if not is_int(type_):
            if row.kind == "power":
                power = call(f"float_{row.c}", _as(FLOAT, type_, left), _as(FLOAT, type_, right))
                return _as(type_, FLOAT, power)
            if row.kind in ("extreme", "division"):
                kind = "float_" if row.kind == "division" else ""
                return call(f"{kind}{row.c}{of_type}", left, right)
            return infix(row, left, right)
        (low, _), (least, most) = self.ranges.sides(value) or (WHOLE, WHOLE)
        exact, unsigned = self.ranges.is_exact(value), type_.kind == "u"
        natural = low >= 0 and (exact if row.kind == "shift" else least >= 0)
        if value.op.endswith(OR_ZERO) and least <= 0 <= most:
            if unsigned:
                return call(f"unsigned_{row.c}", left, right)
            natural = False
        narrow = type_.itemsize < 4
        if row.kind == "sum" and type_ != INT and (narrow or not (exact or unsigned)):
            return cast(type_, infix(row, cast(BITS, left), cast(BITS, right)))
        plain = {"sum": exact or unsigned, "division": natural or unsigned, "shift": natural}
        if row.kind == "bits" or plain.get(row.kind):
            text = infix(row, left, right)
            return cast(type_, text) if narrow else text
        if row.kind in ("sum", "division", "index"):
            return _as(type_, INT, call(row.c, left, right))
        return call(f"{row.c}{of_type}", left, right)

    def _comparison(self, value: ir.Compare) -> Text:
        """A comparison. C converts a negative number to a huge one when the other is unsigned."""
        left, right = self.write(value.left), self.write(value.right)
        if self.of(value.left) == self.of(value.right):
            first, second = left.within(COMPARING + 1), right.within(COMPARING + 1)
            return Text(f"{first} {value.op} {second}", COMPARING)
        if self.of(value.left) == UNSIGNED:
            return Text(f"{call('order', left, right).code} {value.op} 0", COMPARING)
        return Text(f"0 {value.op} {call('order', right, left).code}", COMPARING)

    def _logic(self, value: ir.Logic) -> Text:
        result = self.of(value)
        if result == BOOL:
            rank = AND if value.op == "and" else OR
            sign = "&&" if value.op == "and" else "||"
            # Parentheses around the other operator of the two: compilers warn without them.
            sides = [
                side.within(OR) if side.rank == rank else side.within(AND + 1)
                for side in (self.write(value.left), self.write(value.right))
            ]
            return Text(f" {sign} ".join(sides), rank)
        left, right = self._arm(value.left), self._arm(value.right)
        function = f"[&]() -> {C_TYPES[result.name]} {{ return {right.code}; }}"
        return Text(f"value_{value.op}({left.code}, {function})", PRIMARY)


def _as(wanted: Type, held: Type, text: Text) -> Text:
    """A text with a cast if one is needed."""
    return text if held == wanted else cast(wanted, text)


def function(op: str, row: Row, type_: Type, *arguments: Text) -> Text:
    """A function of values of a type; a real number may stand for a complex one."""
    if row.result == "complex":
        return call(C_TYPES["complex128"], *arguments)
    if row.result in ("integer", "floating"):
        return call(row.c.split()[type_.itemsize == 8], *arguments)
    if row.takes == "float":
        single = type_.itemsize == 4 and row.result == "same"
        return call(f"{row.c}f" if single else row.c, *arguments)
    if row.takes == "complex" and type_.kind != "c":
        return literal_of(0, type_) if op == "imag" else arguments[0]
    if row.takes == "complex":
        if row.result == "same":
            return call(f"complex_{row.c}", *arguments)
        return Text(f"{arguments[0].within(PRIMARY)}.{row.c}", PRIMARY)
    width = 8 * type_.itemsize
    word = max(width, 32)
    taken: Type = np.dtype(f"{'int' if row.signed else 'uint'}{word}")
    bits = arguments[0]
    if word == 32:
        bits = cast(BITS, cast(np.dtype(f"uint{width}"), bits))
    found = call(
        f"__{row.c}{'ll' if word == 64 else ''}", bits if taken == BITS else cast(taken, bits)
    )
    if row.from_top and width < word:
        shifted = BINARY["-" if row.result == "count" else ">>"]
        found = infix(shifted, found, Text(str(word - width), PRIMARY))
    return cast(INT if row.result == "count" else type_, found)
