"""Constant folding: the values of expressions that are known before the program runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mmsim.ir import nodes as ir
from mmsim.ir.lower import Lowered
from mmsim.ir.memo import Memo
from mmsim.ir.operators import NoValue
from mmsim.ir.typed import computing
from mmsim.ir.walk import operands, parts

Number = ir.Scalar


class Constants:
    """The constants of a lowered program for one launch.

    `numbers` are the values of number parameters, `uniform` those of the fields of T with the same
    value for all threads, and `extent` gives the size of an array.
    """

    def __init__(
        self,
        lowered: Lowered,
        numbers: Mapping[str, Number],
        uniform: Mapping[str, int],
        extent: Callable[[ir.Extent], int],
    ) -> None:
        self._lowered = lowered
        self._numbers = numbers
        self._uniform = uniform
        self._extent = extent
        self.of = Memo(self._find)
        """The value of an expression; None if it isn't known, or there is none."""

    def _find(self, value: ir.Expr) -> Number | None:
        if isinstance(value, ir.Operating):
            return self._result(value)
        if isinstance(value, ir.Const):
            return value.value
        if isinstance(value, ir.Number):
            return self._numbers[value.name]
        if isinstance(value, ir.Extent):
            return self._extent(value)
        return self._uniform.get(value.field) if isinstance(value, ir.ThreadField) else None

    def _result(self, value: ir.Operating) -> Number | None:
        known = [self.of(operand) for operand in operands(value)]
        if None in known:
            return None
        try:
            found: Number = computing(value, self._lowered.of)(*known, True)
        except NoValue:
            return None  # it is an error only if a thread gets there
        return found


def consists_of(value: ir.Expr, kinds: tuple[type, ...]) -> bool:
    """Return whether an expression has no other parts than nodes of these kinds."""
    return all(isinstance(part, kinds) for part in parts(value))
