"""The lanes of a warp that are together: CUDA's exchange between lanes takes a mask.

The threads of a GPU's warp may run independently. So a kernel keeps a mask of the lanes that are
together in the program. At a branch, a ballot finds the lanes of each side. In lock step all
threads of a block stay together, so a program in which they can't is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import UnionType

from mmsim.cuda_c.expressions import CText
from mmsim.errors import LaunchError, Place
from mmsim.ir import nodes as ir
from mmsim.ir.ranges import Ranges
from mmsim.ir.row import WHOLE
from mmsim.ir.uniform import Uniformity, follows_from
from mmsim.ir.walk import statements

Jump = ir.Break | ir.Continue | ir.Return | ir.Leave


class Lanes:
    """The places where the set of lanes matters; `needed` says whether there are any."""

    def __init__(self, block: ir.Block) -> None:
        self._uniformity = Uniformity(block)
        self.needed = has(block, ir.Exchange)
        # A value that all lanes of an iteration share may differ once some have left a loop or
        # a call before others.
        self._together = True
        self._together = all(self._leave_together(one) for one in statements(block))

    def _leave_together(self, statement: ir.Stmt) -> bool:
        if isinstance(statement, ir.While):
            return self.is_uniform(statement.test)
        if isinstance(statement, ir.If) and not self.is_uniform(statement.test):
            return not has((*statement.then, *statement.orelse), ir.Break | ir.Continue | ir.Leave)
        return True

    def is_uniform(self, value: ir.Expr) -> bool:
        """Return whether an expression has one value for all threads that evaluate it."""
        if self._together:
            return self._uniformity.is_uniform(value)
        return follows_from(value, ir.UNIFORM_FIELDS, lambda name: False)

    def parts(self, statement: ir.If) -> bool:
        """Return whether lanes diverge at a branch, and an exchange needs the lanes of a side."""
        if not self.needed or self.is_uniform(statement.test):
            return False
        return has((*statement.then, *statement.orelse), ir.Exchange | Jump)

    def parts_loop(self, loop: ir.While | ir.For) -> bool:
        """Return whether an exchange in a loop must know the lanes that left the loop earlier."""
        if not has((loop,), ir.Exchange):
            return False
        heads = (loop.test,) if isinstance(loop, ir.While) else (loop.start, loop.stop, loop.step)
        ways = (one for one in statements((loop,)) if isinstance(one, ir.If))
        apart = any(has((*one.then, *one.orelse), Jump) and self.parts(one) for one in ways)
        return apart or not all(map(self.is_uniform, heads))


def through(statement: ir.If, yes: str, no: str) -> str | None:
    """The mask of the lanes that come out of a branch; `yes` and `no` are those of its sides.

    None if jumps inside make it unknown, or no lane comes out.
    """
    then, orelse = has(statement.then, Jump), has(statement.orelse, Jump)
    if not then and not orelse:
        return f"{yes} | {no}"
    if not orelse and _leaves(statement.then):
        return no
    return yes if not then and _leaves(statement.orelse) else None


def has(block: Iterable[ir.Stmt], kind: type[ir.Stmt] | UnionType) -> bool:
    """Return whether a block has a statement of a kind, also inside of others."""
    return any(isinstance(one, kind) for one in statements(block))


def _leaves(block: ir.Block) -> bool:
    """Return whether all lanes leave a block by the jump at its end, and none before."""
    return bool(block) and isinstance(block[-1], Jump) and not has(block[:-1], Jump)


# ------------------------------------------------------------ exchange


def exchanged(
    statement: ir.Exchange, mask: str, width: int, expressions: CText, ranges: Ranges
) -> str:
    """An exchange among the lanes of a mask."""
    op, given = statement.op, statement.operands
    if op == "active_mask":
        return mask
    if op == "clock":
        return "clock64()"
    if op == "sync":
        return f"__syncwarp({mask})"
    if op in ("ballot", "any", "all"):
        return f"__{op}_sync({mask}, {expressions.write(given[0]).code})"
    value = expressions.write(given[0]).code
    if op in ("match_any", "match_all"):
        return f"__{op}_sync({mask}, {value})" if op == "match_any" else f"{op}({mask}, {value})"
    other = expressions.assigned(_near(statement, width, ranges)).code
    name = f"shfl{op.removeprefix('shuffle')}_sync"
    is_complex = expressions.of(given[0]).kind == "c"
    return f"{'complex_' if is_complex else '__'}{name}({mask}, {value}, {other})"


def _near(statement: ir.Exchange, width: int, ranges: Ranges) -> ir.Expr:
    """The requested lane, or its distance, in CUDA's form.

    A GPU reads only the lower bits of a distance. A distance that leaves the warp is replaced by
    one by which each lane gets its own value.
    """
    other, place = statement.operands[1], statement.place
    most = (ranges.of(other) or WHOLE)[1]
    if statement.op == "shuffle_xor":
        end = 1 << (width - 1).bit_length()
        if most >= end:
            inside = ir.Compare("<", other, ir.Const(end), place)
            return ir.Choose(inside, other, ir.Const(0))
    elif statement.op != "shuffle" and most > width:
        return ir.Binary("min", other, ir.Const(width), place)
    return other


# ------------------------------------------------------------ lock step


def refuse_parting(block: ir.Block, ranges: Ranges, program: str) -> None:
    """Refuse lock step for a program whose threads may diverge."""
    for one in statements(block):
        if _parts_threads(one, ranges):
            place = getattr(one, "place", None)
            where = f" (line {place.line} of {place.file})" if isinstance(place, Place) else ""
            raise LaunchError(
                f"program {program!r} can't be written in lock step, because its threads may "
                f"diverge{where}; a GPU's barrier takes all of them"
            )


def _parts_threads(statement: ir.Stmt, ranges: Ranges) -> bool:
    """Return whether threads may diverge at a statement, as far as is known."""
    if isinstance(statement, ir.For):
        return not _same_trips(statement, ranges)
    return isinstance(statement, ir.If | ir.While | ir.Jump | ir.Leave)


def _same_trips(loop: ir.For, ranges: Ranges) -> bool:
    """Return whether all threads have the same number of iterations of a loop."""
    start, stop, step = (ranges.of(bound) for bound in (loop.start, loop.stop, loop.step))
    if start is None or stop is None or step is None:
        return False
    if stop[0] != stop[1] or step[0] != step[1] or step[0] == 0:
        return False
    return len({len(range(first, stop[0], step[0])) for first in start}) == 1
