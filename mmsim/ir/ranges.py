"""The possible values of a program's integers. A range is (low, high), both included.

It allows the writer of CUDA C plain arithmetic. C's integers are undefined when they overflow,
and its `/` and `%` round towards zero. If the numbers show that neither can matter (a thread's
id is less than p, an extent is known), the text may have `i * 32 + j` and `i / 32`, as the papers
do. Otherwise it calls a function that wraps around or rounds down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeVar

from mmsim.ir import nodes as ir
from mmsim.ir.functions import FUNCTIONS
from mmsim.ir.lower import Lowered
from mmsim.ir.nodes import assert_never
from mmsim.ir.operators import BINARY, CHECKS, UNARY, WHOLE, Range, row_of
from mmsim.ir.promotion import BOOL, Type, cast, is_int, is_whole, limits
from mmsim.ir.walk import inside, targets

__all__ = ["WHOLE", "Range", "Ranges", "everything", "extremes", "fits"]

READER = "the search for ranges"
PATIENCE = 4
"""The times that a variable's range may grow before it is assumed to hold any value."""

End = TypeVar("End")


def extremes(
    op: str, left: tuple[End, End], right: tuple[End, End]
) -> tuple[list[tuple[End, End]], list[tuple[End, End]]]:
    """The operands at which an operation of two ranges has its least and its greatest result.

    The ends of a range may be numbers, or texts that stand for numbers:

    >>> extremes("-", ("a", "b"), ("c", "d"))
    ([('a', 'd')], [('b', 'c')])
    """
    ends = BINARY[op].ends
    assert ends is not None
    least, greatest = ends
    return [(left[i], right[j]) for i, j in least], [(left[i], right[j]) for i, j in greatest]


def fits(found: Range) -> bool:
    """Return whether 64 bits hold all of a range."""
    return _inside(found, WHOLE)


class Ranges:
    """The ranges of a program's variables and expressions, for the arguments of one launch.

    `fields` are the ranges of T.id and so on, `numbers` the values of number parameters.
    """

    def __init__(
        self,
        lowered: Lowered,
        fields: dict[str, Range],
        numbers: dict[str, ir.Scalar],
        extent: Callable[[ir.Extent], int],
    ) -> None:
        self.typing = lowered
        self.fields = fields
        self.numbers = numbers
        self.extent = extent
        self.variables: dict[str, Range] = {}
        settings = list(self._settings(lowered.code.body))
        grown: dict[str, int] = {}
        changed = True
        while changed:
            changed = False
            for name, found in settings:
                before = self.variables.get(name)
                after = found()
                if after is None:
                    continue
                if before is not None:
                    after = (min(before[0], after[0]), max(before[1], after[1]))
                after = self._held(after, lowered.variables[name]) or WHOLE
                if after != before:
                    grown[name] = grown.get(name, 0) + 1
                    room = everything(lowered.variables[name])
                    self.variables[name] = room if grown[name] > PATIENCE else after
                    changed = True

    def _settings(
        self, block: Iterable[ir.Stmt]
    ) -> Iterable[tuple[str, Callable[[], Range | None]]]:
        """Every assignment to a variable of integers, and the range of the assigned value."""
        for statement in block:
            if isinstance(statement, ir.Setting):
                for target in filter(self._counts, targets(statement)):
                    yield target, partial(self._set_to, statement)
            for inner in inside(statement):
                yield from self._settings(inner)

    def _set_to(self, statement: ir.Setting) -> Range | None:
        """The values that a statement gives its targets."""
        match statement:
            case ir.Assign(_, value):
                return self.of(value)
            case ir.Load() | ir.VectorLoad() | ir.Atomic():
                return self._element(statement.array)
            case ir.For(_, start, stop, step):
                return self._trips(start, stop, step)
            case ir.Exchange():
                return self._exchanged(statement)
            case ir.Barrier(op=op):
                return 0, self.fields["block_size"][1] if op == "count" else 1
            case _:
                assert_never(statement, READER)

    def _counts(self, name: str) -> bool:
        return is_whole(self.typing.variables[name])

    def _held(self, found: Range | None, type_: Type) -> Range | None:
        """The range of a value after conversion to a type; values out of range wrap around."""
        if found is None or not is_int(type_):
            return found
        return found if _inside(found, limits(type_)) else limits(type_)

    def _element(self, array: str) -> Range:
        dtype = self.typing.arrays[array]
        if is_int(dtype):
            return limits(dtype)
        return (0, 1) if dtype.kind == "b" else WHOLE

    def _exchanged(self, statement: ir.Exchange) -> Range | None:
        """The values that lanes exchange."""
        if statement.op.startswith("shuffle"):
            return self.of(statement.operands[0])
        return (0, 1) if statement.op in ("any", "all") else WHOLE

    def _trips(self, start: ir.Expr, stop: ir.Expr, step: ir.Expr) -> Range | None:
        """The values of a loop's variable."""
        first, last, by = self.of(start), self.of(stop), self.of(step)
        if first is None or last is None or by is None:
            return None
        if by[0] > 0:
            return first[0], max(first[1], last[1] - 1)
        if by[1] < 0:
            return min(first[0], last[0] + 1), first[1]
        return min(first[0], last[0]), max(first[1], last[1])

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
                return self._element(array)
            case ir.Lookup(_, values):
                numbers = [low for low, _ in map(_exactly, values)]
                return min(numbers), max(numbers)
            case ir.Compare():
                return 0, 1
            case ir.Unary(op, operand):
                made = cast(op)
                if op in CHECKS or (made is not None and made.type != BOOL):
                    return self.of(operand) if is_whole(self.typing.of(operand)) else WHOLE
                if made is not None:
                    return 0, 1
                inner = self.of(operand)
                return None if inner is None else UNARY[op].range(inner)
            case ir.Binary(op):
                sides = self.sides(value)
                if sides is None:
                    return None
                room = everything(self.typing.of(value))
                return _exact(op, *sides, room) or room
            case ir.Call(op, operands):
                most = 8 * self.typing.of(operands[0]).itemsize
                return (0, most) if FUNCTIONS[op].result == "count" else WHOLE
            case ir.Logic(_, left, right) | ir.Choose(_, left, right):
                first, second = self.of(left), self.of(right)
                if first is None or second is None:
                    return first or second
                return min(first[0], second[0]), max(first[1], second[1])
            case _:
                assert_never(value, READER)

    def exact(self, value: ir.Binary) -> Range | None:
        """The range of an operation that can't leave its type; None if it may."""
        sides = self.sides(value)
        return sides and _exact(value.op, *sides, everything(self.typing.of(value)))

    def sides(self, value: ir.Binary) -> tuple[Range, Range] | None:
        """The ranges of the operands as the operation takes them; None if one has none yet."""
        left, right = self.of(value.left), self.of(value.right)
        return None if left is None or right is None else (left, right)


def _exactly(number: ir.Scalar) -> Range:
    """The range of a number that is known, and is not a float."""
    assert not isinstance(number, complex)
    return int(number), int(number)


def everything(type_: Type) -> Range:
    """All that a type of integers holds, or 64 bits."""
    return limits(type_) if is_int(type_) else WHOLE


def _exact(op: str, left: Range, right: Range, room: Range) -> Range | None:
    """The range of an operation that can't leave `room`; None if it may."""
    found = row_of(op).range(left, right)
    return found if found is not None and _inside(found, room) else None


def _inside(found: Range, room: Range) -> bool:
    """Return whether a range lies in another one."""
    return room[0] <= found[0] and found[1] <= room[1]
