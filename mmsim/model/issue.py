"""The time that the multiprocessors of a card take for operations (docs/how-to/predict.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from mmsim.ir.operations import (
    OF_ACCESS,
    OF_BARRIER,
    OF_CHOICE,
    OF_EXCHANGE,
    OF_LOGIC,
    OF_PLACE,
    OF_SUM,
)
from mmsim.model.card import SCHEDULERS, Card
from mmsim.model.schedulers import Schedulers
from mmsim.model.threads import Grid

Warps = npt.NDArray[np.float64]
"""The number of each kind of operation, by warp."""

DEPENDENT = 4
"""Clock cycles from an operation of a warp to the next one that needs its result."""
OF_DOUBLES = 8
"""The same from a sum or a product of doubles."""
APART = 2
"""Clock cycles from an operation of a warp to the next one that doesn't need its result."""
JUMP = 6
"""The clock cycles from a choice."""
OVERLAP = 3
"""The exponent of the times that are added: 1 if nothing overlaps, large if all does."""
SINGLE = ("sum ", "product ", "convert ", "logic ")
"""The operations of one instruction."""
DOUBLES = ("sum float64", "product float64")
OWN = ((OF_BARRIER,), (OF_EXCHANGE,), ("product int32",), ("convert ",), DOUBLES)
"""The operations that have units of their own, by unit."""
HALF = {OF_LOGIC: 1.0, OF_CHOICE: 1.0, OF_PLACE: 0.5}
"""The operations of a unit that begins one in two cycles, as shares: half of those of a place."""
READY = (OF_ACCESS, OF_BARRIER, OF_EXCHANGE, OF_PLACE)
"""The operations that don't wait for the results of others."""


def costs(card: Card, kinds: Sequence[str]) -> npt.NDArray[np.int64]:
    """Time units of a multiprocessor for each kind of operation of a warp.

    An unknown type costs as much as one of 32 bits, an unknown function as the slowest known one.
    """
    known = dict(card.operations)

    def cost(kind: str) -> int:
        kind = OF_SUM if kind in (OF_PLACE, OF_LOGIC) else kind
        name, _, type_ = kind.rpartition(" ")
        narrow = f"{name} {'float32' if type_.startswith('float') else 'int32'}"
        return known.get(kind, known.get(narrow, known.get(f"pow {type_}", card.cycle_time)))

    return np.array(list(map(cost, kinds)), np.int64)


def issue(card: Card, kinds: Sequence[str], warps: Warps, grid: Grid, held: int | None) -> int:
    """Time units of the busiest scheduler for the operations of its warps.

    A DMM holds at most `held` blocks at a time (None: all). Their warps have its schedulers in
    turn. An operation with a unit of its own is issued like a sum, while its unit takes longer for
    it. A warp can't issue faster than its operations depend on each other. If the card has no times
    of operations, each scheduler issues one in each cycle.
    """
    if not len(kinds):
        return 0
    at_once = grid.blocks if held is None else held
    if not card.operations:
        all_ = warps.sum(axis=0) * card.cycle_time
        return round(Schedulers(grid, at_once, all_).busiest(all_))
    of_kinds, of_sum = costs(card, kinds), costs(card, (OF_SUM,))[0]
    schedulers = Schedulers(grid, at_once, of_kinds @ warps)
    logic = warps.T @ [HALF.get(kind, 0.0) for kind in kinds]
    times = [2 * card.cycle_time * schedulers.busiest(logic)]
    for unit in OWN:
        own = [place for place, kind in enumerate(kinds) if kind.startswith(unit)]
        times.append(SCHEDULERS * schedulers.busiest(of_kinds[own] @ warps[own]))
        of_kinds[own] = np.minimum(of_kinds[own], of_sum)
    issued = SCHEDULERS * of_kinds @ warps
    return round(max(*times, schedulers.longest(_alone(card, kinds) @ warps, issued)))


def together(times: Mapping[str, float], waits: bool) -> float:
    """The time of requests, operations and beginnings of blocks, which overlap, but not wholly.

    If the requests are bound by latency, their time has that of the operations between them.
    """
    left = dict(times)
    if waits:
        left["memory"] = max(left["memory"], left.pop("instructions"))
    return float(sum(time**OVERLAP for time in left.values()) ** (1 / OVERLAP))


def pauses(card: Card, kinds: Sequence[str], warps: Warps, grid: Grid) -> npt.NDArray[np.int64]:
    """Time units that each warp computes before each of its requests, on average."""
    found = np.zeros(grid.blocks * grid.warps_per_block, np.int64)
    if card.operations:
        computes = _alone(card, kinds) @ warps
        requests = warps[kinds.index(OF_ACCESS)] if OF_ACCESS in kinds else 1
        found[: grid.warps] = computes / np.maximum(requests, 1)
    return found


def _alone(card: Card, kinds: Sequence[str]) -> npt.NDArray[np.int64]:
    """Time units from each kind of operation to the next one of a warp by itself.

    It waits for the result, but not for that of a jump. A function consists of several
    instructions, each of which waits for the one before.
    """
    found = SCHEDULERS * costs(card, kinds)
    for place, kind in enumerate(kinds):
        if kind == OF_CHOICE:
            found[place] = JUMP * card.cycle_time
        elif kind in DOUBLES:
            found[place] = max(found[place], OF_DOUBLES * card.cycle_time)
        elif kind.startswith(SINGLE):
            found[place] = max(found[place], DEPENDENT * card.cycle_time)
        elif kind in READY:
            found[place] = max(found[place], APART * card.cycle_time)
        else:
            found[place] *= DEPENDENT
    return found
