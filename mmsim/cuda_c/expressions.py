"""Writes the expressions of a program in C.

It spells the lowered form (`mmsim.ir.lower`). Every text has the C type of its expression, except
for a short literal, which is an `int`. Such a literal never stands alone with another literal,
because those are folded. Where C converts by itself, the text leaves out an implied conversion.
"""

from __future__ import annotations

from collections.abc import Callable

from mmsim.cuda_c import spelling
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
from mmsim.ir.fold import consists_of
from mmsim.ir.lower import Lowered, as_written, is_implied
from mmsim.ir.nodes import assert_never
from mmsim.ir.operators import BINARY, CHECKS, OR_ZERO, row_of
from mmsim.ir.promotion import BOOL, INT, UNSIGNED, Type, cast, no_index
from mmsim.ir.ranges import WHOLE, Range, Ranges

WRITER = "the writer of CUDA C"
FOLDED = (ir.Const, ir.Extent, ir.Unary, ir.Binary, ir.Call)
"""The nodes of an expression whose value is written into the text."""


class CText:
    """Writes expressions for one launch.

    `constant` gives the value of an expression that is known before the launch, `element` the text
    of a register.
    """

    def __init__(
        self,
        lowered: Lowered,
        ranges: Ranges,
        constant: Callable[[ir.Expr], ir.Scalar | None],
        name: Callable[[str], str],
        element: Callable[[str, tuple[ir.Expr, ...]], str],
    ) -> None:
        self.of = lowered.of
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
            return literal_of(known, self.of(value))
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
            case ir.Compare(op, left, right):
                types = self.of(left), self.of(right)
                return spelling.comparison(op, types, self.write(left), self.write(right))
            case ir.Call(op, operands):
                return spelling.function(op, self.of(operands[0]), list(map(self.write, operands)))
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
        number: Text | None = None
        for part, extent in zip(value.index, value.shape, strict=True):
            at = self.write(part)
            if number is None:
                number = at
            else:
                left = f"{number.within(PRODUCT)} * {extent}"
                number = Text(f"{left} + {at.within(SUM + 1)}", SUM)
        assert number is not None
        name = self.tables[self.of(value), value.values]
        return Text(f"{name}[{number.code}]", PRIMARY)

    def _unary(self, value: ir.Unary) -> Text:
        op, text, made = value.op, self.write(value.operand), cast(value.op)
        if op in CHECKS:  # a GPU has none
            return text
        if op == "not":
            return Text(f"!{text.within(UNARY_RANK)}", UNARY_RANK)
        if made is not None and made.type == BOOL:
            return Text(f"{text.within(COMPARING + 1)} != 0", COMPARING)
        if made is not None:
            return Text(f"({C_TYPES[made.type.name]}){text.within(UNARY_RANK)}", UNARY_RANK)
        return spelling.unary(op, self.of(value.operand), text, self._low(value.operand))

    def _binary(self, value: ir.Binary) -> Text:
        row, type_ = row_of(value.op), self.of(value)
        if row.kind == "index" and self._low(value) >= 0:
            return self.write(value.left)
        left, right = self.write(value.left), self.write(value.right)
        if type_.kind not in "iu":
            return spelling.binary(row, type_, left, right, False, False)
        sides: tuple[Range, Range] = self.ranges.sides(value) or (WHOLE, WHOLE)
        (low, _), (least, most) = sides
        if value.op.endswith(OR_ZERO):
            if least <= 0 <= most:
                unsigned = "unsigned_" if type_ == UNSIGNED else ""
                return call(f"{unsigned}{row.c.call}", left, right)
            row = BINARY[value.op.removesuffix(OR_ZERO)]
        exact = self.ranges.exact(value) is not None
        natural = low >= 0 and (exact if row.kind == "shift" else least >= 0)
        if row.kind == "shift" and natural:
            left = self._arm(value.left)
        return spelling.binary(row, type_, left, right, exact, natural)

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
