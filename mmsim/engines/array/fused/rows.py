"""Requests known before the run: the lanes access consecutive elements, or one.

Most requests of a textbook's program are for a row of memory, `a[T.id]` or `a[i, j]` with j a
thread's place in its row. Their elements need no list by lane, and no search for their banks or
groups.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from mmsim.engines.array.fused.analysis import Analysis
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import INT
from mmsim.ir.lower import Lowered
from mmsim.ir.uniform import follows_from

Row = Literal["row", "one"]
"""The elements of a warp's lanes: consecutive ones in the order of the lanes, or one."""


OF_ITS_PLACE = ("index", "lane", *ir.UNIFORM_FIELDS)
"""The fields of T that depend on a thread's place in its block."""
OF_THE_WARP = ("block", "warp", *ir.UNIFORM_FIELDS)
"""The fields of T that the lanes of a warp share."""


@dataclass
class Rows:
    """Finds requests for rows in a program.

    `whole` says whether a divisor is a constant multiple of the width, `full` whether all warps
    have all their lanes.
    """

    analysis: Analysis
    typing: Lowered
    whole: Callable[[ir.Expr], bool]
    full: bool

    def of(self, index: tuple[ir.Expr, ...]) -> Row | None:
        """The elements of the active lanes, if all lanes are active; None if not known."""
        *rows, column = [self._step(part) for part in index]
        if any(step != 0 for step in rows) or column is None:
            return None
        return "row" if column else "one"

    def same_in_all_blocks(self, index: tuple[ir.Expr, ...]) -> bool:
        """Return whether the lanes of each block access the same elements in every run."""
        return all(follows_from(value, OF_ITS_PLACE, self._own_place) for value in index)

    def _own_place(self, variable: str) -> bool:
        """Return whether a variable depends only on the place in the block."""
        inlined = self.analysis.inlined
        return variable in inlined and self.same_in_all_blocks((inlined[variable],))

    def _step(self, value: ir.Expr) -> int | None:
        """The difference of the values of consecutive lanes: 0, 1 or None if not known."""
        if self._begins_whole(value):
            return 1
        if isinstance(value, ir.ThreadField):
            return 1 if value.field == "id" else 0  # blocks may begin anywhere
        if isinstance(value, ir.Var) and value.name in self.analysis.inlined:
            return self._step(self.analysis.inlined[value.name])
        # Another type may wrap around before 64 bits do.
        if isinstance(value, ir.Binary) and self.typing.of(value) == INT:
            if value.op == "+":
                first, second = self._step(value.left), self._step(value.right)
                if first is not None and second is not None and first + second < 2:
                    return first + second
                return None
            if value.op == "-" and self._step(value.right) == 0:
                return self._step(value.left)
            if value.op == "//" and self._begins_whole(value.left) and self.whole(value.right):
                return 0
        return 0 if follows_from(value, OF_THE_WARP, self._same) else None

    def _same(self, variable: str) -> bool:
        """Return whether the lanes of a warp have one value of a variable."""
        if variable in self.analysis.inlined:
            return self._step(self.analysis.inlined[variable]) == 0
        return variable in self.analysis.uniform

    def _begins_whole(self, value: ir.Expr) -> bool:
        """Return whether the lanes' values count up from a nonnegative multiple of the width."""
        if isinstance(value, ir.ThreadField):
            return value.field in ("index", "lane") or (value.field == "id" and self.full)
        if isinstance(value, ir.Var):
            inlined = self.analysis.inlined
            return value.name in inlined and self._begins_whole(inlined[value.name])
        if isinstance(value, ir.Binary) and value.op == "%" and self.typing.of(value) == INT:
            return self._begins_whole(value.left) and self.whole(value.right)
        return False
