"""The time that the multiprocessors of a card take for operations (docs/how-to/predict.md)."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.ir.operations import OF_ACCESS, OF_BARRIER, OF_CHOICE, OF_EXCHANGE
from mmsim.model.card import SCHEDULERS, Card
from mmsim.model.threads import Grid

Warps = npt.NDArray[np.float64]
"""The number of each kind of operation, by warp."""

DEPENDENT = 4
"""Clock cycles from an operation of a warp to the next one that needs its result."""
OVERLAP = 3
"""The exponent of the times that are added: 1 if nothing overlaps, large if all does."""
SINGLE = ("sum ", "product ", "convert ")
"""The operations of one instruction."""
JUMPS = (OF_ACCESS, OF_BARRIER, OF_CHOICE, OF_EXCHANGE)
"""The operations that don't wait for the results of others."""


def costs(card: Card, kinds: Sequence[str]) -> npt.NDArray[np.int64]:
    """Time units of a multiprocessor for each kind of operation of a warp.

    An unknown type costs as much as one of 32 bits, an unknown function as the slowest known one.
    """
    known = dict(card.operations)

    def cost(kind: str) -> int:
        name, _, type_ = kind.rpartition(" ")
        narrow = f"{name} {'float32' if type_.startswith('float') else 'int32'}"
        return known.get(kind, known.get(narrow, known.get(f"pow {type_}", card.cycle_time)))

    return np.array(list(map(cost, kinds)), np.int64)


def issue(card: Card, kinds: Sequence[str], warps: Warps, grid: Grid, held: int | None) -> int:
    """Time units of the busiest DMM for the operations of its warps.

    Blocks go in order to the DMM with the least to do, which holds at most `held` at a time. A warp
    can't issue faster than its operations depend on each other. If the card has no times of
    operations, each scheduler issues one in each cycle.
    """
    if not len(kinds):
        return 0
    dmms, firsts = grid.dmms, np.arange(0, warps.shape[1], grid.warps_per_block)
    if not card.operations:
        blocks = np.add.reduceat(warps.sum(axis=0), firsts)
        return round(_busiest(blocks, dmms) * card.cycle_time / SCHEDULERS)
    of_kinds = costs(card, kinds)
    at_once = grid.blocks if held is None else held
    serial = np.maximum.reduceat(_alone(card, kinds) @ warps, firsts)
    issued = np.add.reduceat(of_kinds @ warps, firsts)
    longest = float(serial.max())
    return round(max(_busiest(issued, dmms), _busiest(serial / at_once, dmms), longest))


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
        if kind.startswith(SINGLE):
            found[place] = max(found[place], DEPENDENT * card.cycle_time)
        elif kind not in JUMPS:
            found[place] *= DEPENDENT
    return found


def _busiest(blocks: Sequence[float] | npt.NDArray[Any], dmms: int) -> float:
    """The most that a DMM has to do, if each block goes to the one with the least.

    >>> _busiest([3.0, 3.0, 3.0], 2), _busiest([3.0, 5.0, 1.0], 2)
    (6.0, 5.0)
    """
    loads = [0.0] * dmms
    if min(blocks) == max(blocks):  # one DMM has to do as many as any other
        blocks, loads = blocks[::dmms], [0.0]
    for block in blocks:
        heapq.heapreplace(loads, loads[0] + float(block))
    return max(loads)
