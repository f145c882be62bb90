"""The busiest port, wire and slice of a memory with a cache: the items of each access there."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from mmsim.model.cache import COUNTS, OF_A_DMM, PORT, WIRE, Numbers

Integers = npt.NDArray[np.int64]


def at_bottlenecks(
    numbers: Numbers, counts: Integers, lines: Sequence[Hashable], kinds: Sequence[str]
) -> Integers:
    """The items of each row of counts at the busiest port, wire and slice.

    The first three columns are for the port, the wire and the slice that the row's source line
    occupies longest; the others are for those that the run occupies longest. Of several, the first
    one counts. Items that take no time are left out. So these columns can be added up, over the
    rows of a line, of a run, and of several launches.
    """
    found = np.zeros((len(counts), 6), np.int64)
    reads = np.array([kind == "read" for kind in kinds], bool)
    every = np.ones(len(counts), bool)
    parts = [np.array([line == one for one in lines], bool) for line in dict.fromkeys(lines)]
    of_dmms = COUNTS + numbers.slices
    for column, (items, of_reads, of_writes) in enumerate(
        (
            (counts[:, of_dmms + PORT :: OF_A_DMM], numbers.port_time, numbers.write_port_time),
            (counts[:, of_dmms + WIRE :: OF_A_DMM], numbers.wire_time, numbers.write_wire_time),
            (counts[:, COUNTS:of_dmms], 0, numbers.atomic_time),
        )
    ):
        each = np.where(reads, of_reads, of_writes)[:, None]
        times = items * each
        for part, place in (*((part, column) for part in parts), (every, column + 3)):
            if times.size:
                busiest = times[part].sum(axis=0).argmax()
                found[part, place] = np.where(each > 0, items, 0)[part, busiest]
    return found
