"""The possible values of a program's integers. A range is (low, high), both included.

It allows the writer of CUDA C plain arithmetic. C's integers are undefined when they overflow,
and its `/` and `%` round towards zero. If the numbers show that neither can matter (a thread's
id is less than p, an extent is known), the text may have `i * 32 + j` and `i / 32`, as the papers
do. Otherwise it calls a function that wraps around or rounds down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from mmsim.ir import nodes as ir
from mmsim.ir import walk
from mmsim.ir.dtypes import BOOL, Type, is_int, is_whole, limits
from mmsim.ir.lower import Lowered
from mmsim.ir.nodes import assert_never
from mmsim.ir.operators import row_of
from mmsim.ir.row import WHOLE, Range, is_within

READER = "the search for ranges"
PATIENCE = 4
"""The times that a variable's range may grow before it is assumed to hold any value."""


@dataclass(eq=False)
class Ranges:
    """The ranges of a program's variables and expressions, for the arguments of one launch.

    `fields` are the ranges of T.id and so on, `numbers` the values of number parameters.
    """

    typing: Lowered
    fields: dict[str, Range]
    numbers: dict[str, ir.Scalar]
    extent: Callable[[ir.Extent], int]
    variables: dict[str, Range] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lowered = self.typing
        settings = [
            (name, statement)
            for statement in walk.statements(lowered.code.body)
            if isinstance(statement, ir.Setting)
            for name in walk.targets(statement)
            if is_whole(lowered.variables[name])
        ]
        grown = Counter[str]()
        changed = True
        while changed:
            changed = False
            for name, statement in settings:
                before, type_ = self.variables.get(name), lowered.variables[name]
                after = self._set_to(statement)
                if after is None:
                    continue
                if before is not None:
                    after = (min(before[0], after[0]), max(before[1], after[1]))
                after = self._held(after, type_) or WHOLE
                if after != before:
                    grown[name] += 1
                    self.variables[name] = everything(type_) if grown[name] > PATIENCE else after
                    changed = True

    def _set_to(self, statement: ir.Setting) -> Range | None:
        """The values that a statement gives its targets."""
        match statement:
            case ir.Assign(_, value):
                return self.of(value)
            case ir.Load() | ir.VectorLoad() | ir.Atomic():
                return everything(self.typing.arrays[statement.array])
            case ir.For(_, start, stop, step):
                return self._trips(start, stop, step)
            case ir.Exchange(_, op, operands):
                if op.startswith("shuffle"):
                    return self.of(operands[0])
                return (0, 1) if op in ("any", "all") else WHOLE
            case ir.Barrier(op=op):
                return 0, self.fields["block_size"][1] if op == "count" else 1
            case _:
                assert_never(statement, READER)

    def _held(self, found: Range | None, type_: Type) -> Range | None:
        """The range of a value after conversion to a type; values out of range wrap around."""
        if found is None or not is_int(type_):
            return found
        return found if is_within(found, limits(type_)) else limits(type_)

    def _trips(self, start: ir.Expr, stop: ir.Expr, step: ir.Expr) -> Range | None:
        """The values of a loop's variable."""
        first, last, by = self.of(start), self.of(stop), self.of(step)
        if first is None or last is None or by is None:
            return None
        low = first[0] if by[0] > 0 else min(first[0], last[0] + 1)
        return low, first[1] if by[1] < 0 else max(first[1], last[1] - 1)

    def of(self, value: ir.Expr) -> Range | None:
        """The range of an integer or a bool; None if nothing has been assigned yet."""
        type_ = self.typing.of(value)
        return self._held(self._of(value), type_) if is_whole(type_) else WHOLE

    def _of(self, value: ir.Expr) -> Range | None:
        """The same for a value known not to be a float: its operands are none, except in int(...).

        No operand is a complex number either.
        """
        match value:
            case ir.Const(number):
                return _exactly(number)
            case ir.Number(name):
                return _exactly(self.numbers[name])
            case ir.Extent():
                return self.extent(value), self.extent(value)
            case ir.ThreadField(field):
                return self.fields[field]
            case ir.Var(name):
                return self.variables.get(name)
            case ir.RegisterRead(array):
                return everything(self.typing.arrays[array])
            case ir.Lookup(_, values):
                numbers = [low for low, _ in map(_exactly, values)]
                return min(numbers), max(numbers)
            case ir.Operation():
                return self._operation(value)
            case ir.Logic(_, left, right) | ir.Choose(_, left, right):
                first, second = self.of(left), self.of(right)
                if first is None or second is None:
                    return first or second
                return min(first[0], second[0]), max(first[1], second[1])
            case _:
                assert_never(value, READER)

    def _operation(self, value: ir.Operating) -> Range | None:
        row, type_ = row_of(value), self.typing.of(value)
        if type_ == BOOL:
            return 0, 1
        if row.result == "count":
            return 0, 8 * self.typing.of(walk.expressions(value)[0]).itemsize
        if row.kind == "function":
            return WHOLE
        sides = self.sides(value)
        return None if sides is None else row.range(*sides) or everything(type_)

    def is_exact(self, value: ir.Binary) -> bool:
        """Return whether an operation can't leave its type."""
        sides = self.sides(value)
        found = None if sides is None else row_of(value).range(*sides)
        return found is not None and is_within(found, everything(self.typing.of(value)))

    def sides(self, value: ir.Operating) -> tuple[Range, ...] | None:
        """The ranges of the operands as the operation takes them; None if one has none yet."""
        found = [self.of(operand) for operand in walk.expressions(value)]
        known = tuple(one for one in found if one is not None)
        return known if len(known) == len(found) else None


def _exactly(number: ir.Scalar) -> Range:
    """The range of a number that is known, and is not a float."""
    assert not isinstance(number, complex)
    return int(number), int(number)


def everything(type_: Type) -> Range:
    """All that a type of integers or of bools holds, or 64 bits."""
    return limits(type_) if is_int(type_) else (0, 1) if type_ == BOOL else WHOLE
