"""Constant folding: the values of expressions that are known before the program runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mmsim.ir import nodes as ir
from mmsim.ir.memo import Memo
from mmsim.ir.operators import NoValue, convert
from mmsim.ir.typed import computing
from mmsim.ir.types import Typing
from mmsim.ir.walk import operands, parts

Number = ir.Scalar


class Constants:
    """The constants of a program for one launch.

    `numbers` are the values of number parameters, `uniform` those of the fields of T with the same
    value for all threads, and `extent` gives the size of an array.
    """

    def __init__(
        self,
        typing: Typing,
        numbers: Mapping[str, Number],
        uniform: Mapping[str, int],
        extent: Callable[[ir.Extent], int],
    ) -> None:
        self._typing = typing
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
        how = self._typing.operation(value)
        known = []
        for operand, wanted in zip(operands(value), how.operands, strict=True):
            number = self.of(operand)
            if number is None:
                return None
            known.append(convert(number, self._typing.of(operand), wanted))
        try:
            found: Number = computing(value, how)(*known, True)
        except NoValue:
            return None  # it is an error only if a thread gets there
        return found


def made_of(value: ir.Expr, kinds: tuple[type, ...]) -> bool:
    """Return whether an expression has no other parts than nodes of these kinds."""
    return all(isinstance(part, kinds) for part in parts(value))
