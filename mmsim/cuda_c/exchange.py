"""Writes the exchange between lanes of a warp, and barriers that count, in C.

In CUDA a mask names the lanes that take part. Here it is the text of the lanes that are together.
"""

from __future__ import annotations

from mmsim.cuda_c.expressions import CText
from mmsim.ir import nodes as ir
from mmsim.ir.ranges import Ranges
from mmsim.ir.row import WHOLE


def exchanged(
    statement: ir.Exchange, mask: str, width: int, expressions: CText, ranges: Ranges
) -> str:
    """An exchange among the lanes of a mask."""
    op, given = statement.op, statement.operands
    if op == "active_mask":
        return mask
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
