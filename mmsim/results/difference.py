"""The differences of two runs, by line and array: plain data."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter

from mmsim.results.rows import ACCESS, IN_SPACE, AccessRow
from mmsim.results.run import Run
from mmsim.tabular import Tabular


@dataclass(frozen=True)
class DifferenceRow:
    """The cost of a line's accesses to an array in two runs; None if a run has no such access.

    `times` are the time units of their rounds, None if a run has no rounds.
    """

    first: AccessRow | None
    second: AccessRow | None
    times: tuple[int | None, int | None]


@dataclass(frozen=True, eq=False, repr=False)
class Difference(Tabular):
    """Two runs and their accesses side by side; `print` it for a table.

    A row has the accesses of one line, array and kind. An access without such a partner, as in runs
    of two programs, pairs with the next access of the same kind to an array of the same name.
    """

    first: Run
    second: Run
    rows: tuple[DifferenceRow, ...]


def difference(first: Run, second: Run) -> Difference:
    """See `Run.diff`."""
    pairs: list[tuple[AccessRow | None, AccessRow | None]] = []
    left, right = list(first.accesses), list(second.accesses)
    for key in (IN_SPACE, ACCESS, attrgetter("array", "kind")):
        for row in tuple(left):
            partner = next((one for one in right if key(one) == key(row)), None)
            if partner is not None:
                left.remove(row)
                right.remove(partner)
                pairs.append((row, partner))
    order = {id(row): number for number, row in enumerate(first.accesses)}
    pairs += [(row, None) for row in left]
    pairs.sort(key=lambda pair: order[id(pair[0])])
    pairs += [(None, row) for row in right]
    rows = [DifferenceRow(*pair, (_time(first, pair[0]), _time(second, pair[1]))) for pair in pairs]
    return Difference(first, second, tuple(rows))


def _time(run: Run, row: AccessRow | None) -> int | None:
    if row is None or not run.rounds:
        return None
    return sum(one.time for one in run.rounds if IN_SPACE(one) == IN_SPACE(row))
