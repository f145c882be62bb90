"""Lock step: refuses programs in which the threads of a block can't stay together."""

from __future__ import annotations

from mmsim.errors import LaunchError, Place
from mmsim.ir import nodes as ir
from mmsim.ir.ranges import Ranges
from mmsim.ir.walk import statements


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
