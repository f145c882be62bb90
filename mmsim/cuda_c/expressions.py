"""Writes the expressions of a program in C.

The types come from `mmsim.ir.types`, the meaning from `mmsim.ir.operators`. Every text
has the C type of its expression, except for a short literal, which is an `int`. Such a
literal never stands alone with another literal, because those are folded.
"""

from __future__ import annotations

from collections.abc import Callable

from mmsim.cuda_c import typed
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
    literal,
    literal_of,
)
from mmsim.ir import nodes as ir
from mmsim.ir.fold import made_of
from mmsim.ir.nodes import assert_never
from mmsim.ir.operators import BINARY, convert
from mmsim.ir.promotion import BOOL, INT, UNSIGNED, Type, cast, no_index, wide
from mmsim.ir.ranges import WHOLE, Range, Ranges
from mmsim.ir.types import Typing
from mmsim.ir.walk import operands

WRITER = "the writer of CUDA C"
FOLDED = (ir.Const, ir.Extent, ir.Unary, ir.Binary, ir.Call)
"""The nodes of an expression whose value is written into the text."""


class Expressions:
    """Writes expressions for one launch.

    `constant` gives the value of an expression that is known before the launch, `element` the text
    of a register.
    """

    def __init__(
        self,
        typing: Typing,
        ranges: Ranges,
        constant: Callable[[ir.Expr], ir.Scalar | None],
        name: Callable[[str], str],
        element: Callable[[str, tuple[ir.Expr, ...]], str],
    ) -> None:
        self.typing = typing
        self.ranges = ranges
        self.constant = constant
        self.name = name
        self.element = element
        self.tables: dict[tuple[Type, tuple[ir.Scalar, ...]], str] = {}
        self.loads: dict[str, str] = {}  # variables that stand for an access in the same statement

    def write(self, value: ir.Expr) -> Text:
        """The text of an expression, in its own type."""
        known = self.folded(value)
        if known is not None:
            return literal_of(known, self.typing.of(value))
        match value:
            case ir.Number(name):
                return Text(self.name(name), PRIMARY)
            case ir.Var(name):
                return Text(self.loads.get(name) or self.name(name), PRIMARY)
            case ir.ThreadField(field):
                return Text(f"T.{field}", PRIMARY)
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
            case ir.Call(op):
                (type_, *_) = self.typing.operation(value).operands
                return typed.function(op, type_, self._operands(value))
            case ir.Logic():
                return self._logic(value)
            case ir.Choose(test, then, other):
                result = self.typing.of(value)
                first = self._arm(then, result).within(CHOICE + 1)
                second = self._arm(other, result).within(CHOICE)
                return Text(f"{self.truth(test).within(OR)} ? {first} : {second}", CHOICE)
            case ir.Const() | ir.Extent():
                raise AssertionError(f"{value} is folded")
            case _:
                assert_never(value, WRITER)

    def folded(self, value: ir.Expr) -> ir.Scalar | None:
        """The value of an expression of literals and extents, None of any other."""
        return self.constant(value) if made_of(value, FOLDED) else None

    def converted(self, value: ir.Expr, wanted: Type) -> Text:
        """The text of an expression, as a value of a type that can hold it."""
        held, known = self.typing.of(value), self.folded(value)
        if known is not None:
            return literal_of(convert(known, held, wanted), wanted)
        if held == wanted:
            return self.write(value)
        return Text(f"({C_TYPES[wanted.name]}){self.write(value).within(UNARY_RANK)}", UNARY_RANK)

    def _operands(self, value: ir.Operating) -> list[Text]:
        """The texts of an operation's operands, converted for it."""
        types = self.typing.operation(value).operands
        return [self.converted(*pair) for pair in zip(operands(value), types, strict=True)]

    def _sides(self, value: ir.Binary) -> tuple[Range, Range]:
        """The ranges of the operands as an operation on integers takes them."""
        return self.ranges.sides(value) or (WHOLE, WHOLE)

    def _comparison(self, value: ir.Compare) -> Text:
        """A comparison. C converts a negative number to a huge one when the other is unsigned."""
        types = self.typing.operation(value).operands
        left, right = self._operands(value)
        if types[0] != types[1]:
            return typed.mixed_comparison(value.op, left, right, types[0] == UNSIGNED)
        first, second = left.within(COMPARING + 1), right.within(COMPARING + 1)
        return Text(f"{first} {value.op} {second}", COMPARING)

    def wide(self, value: ir.Expr) -> Text:
        """The text of an expression as an operand of arithmetic."""
        return self.converted(value, wide(self.typing.of(value)))

    def truth(self, value: ir.Expr) -> Text:
        """The text of an expression's truth value."""
        if isinstance(value, ir.Unary) and value.op == "not":
            return Text(f"!{self.truth(value.operand).within(UNARY_RANK)}", UNARY_RANK)
        if isinstance(value, ir.Unary) and value.op == "bool":
            return self.truth(value.operand)
        if isinstance(value, ir.Logic):
            rank = AND if value.op == "and" else OR
            sign = "&&" if value.op == "and" else "||"
            # Parentheses around the other operator of the two: compilers warn without them.
            sides = [
                side.within(OR) if side.rank == rank else side.within(AND + 1)
                for side in (self.truth(value.left), self.truth(value.right))
            ]
            return Text(f" {sign} ".join(sides), rank)
        if self.typing.of(value) == BOOL:
            return self.write(value)
        return Text(f"{self.wide(value).within(COMPARING + 1)} != 0", COMPARING)

    def _arm(self, value: ir.Expr, wanted: Type) -> Text:
        """One of two values to choose from: never an `int` literal, which would make the choice
        an `int`."""
        known = self.folded(value)
        if isinstance(known, int) and wanted == INT:
            return literal(int(known), always_long=True)
        return self.converted(value, wanted)

    def _lookup(self, value: ir.Lookup) -> Text:
        """An element of a constant table; a negative index counts from the end."""
        number: Text | None = None
        for part, extent in zip(value.index, value.shape, strict=True):
            at = self.wide(part)
            low = (self.ranges.of(part) or WHOLE)[0]
            if low < 0:
                at = call("from_end", at, literal(extent))
            if number is None:
                number = at
            else:
                left = f"{number.within(PRODUCT)} * {extent}"
                number = Text(f"{left} + {at.within(SUM + 1)}", SUM)
        assert number is not None
        name = self.tables[self.typing.of(value), value.values]
        return Text(f"{name}[{number.code}]", PRIMARY)

    def index(self, value: ir.Expr, extent: int | None) -> str:
        """An index along an axis; with an extent, a negative one counts from the end."""
        low = (self.ranges.of(value) or WHOLE)[0]
        if extent is None or low >= 0 or self.typing.of(value).kind != "i":
            return self.write(value).code
        return call("from_end", self.wide(value), literal(extent)).code

    def _unary(self, value: ir.Unary) -> Text:
        how, made = self.typing.operation(value), cast(value.op)
        if made is not None and made.type == BOOL:
            return self.truth(value)
        held = how.operands[0]
        if made is not None and how.result.type.kind != "c":
            held = self.typing.of(value.operand)
        low = (self.ranges.of(value.operand) or WHOLE)[0]
        text = self.converted(value.operand, held)
        return typed.unary(value.op, held, how.result.type, text, low)

    def _binary(self, value: ir.Binary) -> Text:
        how, row = self.typing.operation(value), BINARY[value.op]
        type_ = how.operands[0] if how.asked else how.result.type
        left, right = (self.converted(side, type_) for side in (value.left, value.right))
        if type_.kind not in "iu":
            return typed.binary(row, type_, left, right, False, False)
        (low, _), (least, most) = self._sides(value)
        if how.total and row.kind == "division" and least <= 0 <= most:  # whose quotient is then 0
            unsigned = "unsigned_" if type_ == UNSIGNED else ""
            return call(f"{unsigned}{row.c.call}_or_zero", left, right)
        exact = self.ranges.exact(value) is not None
        natural = low >= 0 and (exact if row.kind == "shift" else least >= 0)
        if row.kind == "shift" and natural:
            left = self._arm(value.left, type_)
        return typed.binary(row, type_, left, right, exact, natural)

    def _logic(self, value: ir.Logic) -> Text:
        result = self.typing.of(value)
        if result == BOOL:
            return self.truth(value)
        left, right = self._arm(value.left, result), self._arm(value.right, result)
        function = f"[&]() -> {C_TYPES[result.name]} {{ return {right.code}; }}"
        return Text(f"value_{value.op}({left.code}, {function})", PRIMARY)

    def index_faults(self, array: str, index: tuple[ir.Expr, ...], rank: int) -> str | None:
        """The fault of an index for all of its values, None without one."""
        if len(index) != rank:
            return f"{array!r} has {rank} dimensions but is used with {len(index)}"
        return no_index(map(self.typing.of, index))
