"""Exchange between the lanes of a warp: CUDA's shuffles, votes and matches.

Lanes exchange only within their warp, also if a sequencer runs many warps, and only active lanes
take part. `w` is the width of the machine. The rules are those of the CUDA C++
Programming Guide, "Warp Shuffle Functions", "Warp Vote Functions" and "Warp Match Functions", with
`w` for 32. Asking an inactive lane is undefined in CUDA, and an error here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from mmsim.errors import ExchangeError, Place
from mmsim.ir.dtypes import Integers
from mmsim.ir.nodes import ExchangeOp
from mmsim.ir.operators import NoValue, Value
from mmsim.meaning.frame import Frame

Bools = npt.NDArray[np.bool_]
BITS = 64
"""The most lanes of a mask."""
MASKS = ("ballot", "match_any", "match_all", "active_mask")
"""The operations that give a bit for each lane of the warp."""


@dataclass
class InactiveLane(Exception):
    """The lane at `position` of the sequencer asks lane `asked` of its warp.

    The latter is at position `other`, which is None if the warp has no such lane.
    """

    position: int
    asked: int
    other: int | None


def refuse(
    asks: InactiveLane, frame: Frame, place: Place, fault: Callable[..., NoReturn]
) -> NoReturn:
    """Refuse, by `fault`, a lane that asks an inactive one."""
    lane, thread = int(frame.fields["lane"][asks.position]), frame.thread(asks.position)
    other = None if asks.other is None else frame.thread(asks.other)
    which = "which its warp does not have"
    if other is not None:
        which = f"thread {other}, which is not active here"
    fault(
        ExchangeError,
        f"lane {lane}, thread {thread}, asks lane {asks.asked}, {which}; a lane that is asked has "
        "to take part",
        place,
        frame,
        asks.position,
        other=other,
    )


class Warps:
    """The lanes of a sequencer, warp by warp.

    `lane` is each lane's place in its warp; a warp begins where it is 0.
    """

    def __init__(self, lane: Integers, width: int) -> None:
        self.lane = lane
        self.width = width
        self.every = np.ones(len(lane), np.bool_)
        self.starts = np.flatnonzero(lane == 0)
        self.of = np.cumsum(lane == 0) - 1
        """The number of each lane's warp, counted in the sequencer."""
        sizes = np.diff(self.starts, append=len(lane))
        self.first = self.starts[self.of]
        self.size = sizes[self.of]

    def exchange(self, op: ExchangeOp, active: Bools, *operands: Value) -> Any:
        """The result for each lane; that of a lane that isn't active has no meaning.

        >>> warps, active = Warps(np.arange(4), 4), np.array([True, True, True, False])
        >>> warps.exchange("shuffle_up", active, np.array([5, 6, 7, 8]), 1)[:3].tolist()
        [5, 5, 6]
        >>> warps.exchange("ballot", active, np.array([1, 0, 1, 1])).tolist()
        [5, 5, 5, 5]
        """
        shape = self.lane.shape
        arrays = map(np.asarray, operands)
        given = [one if one.shape == shape else np.broadcast_to(one, shape) for one in arrays]
        match op:
            case "shuffle":
                return self.ask(active, given[0], given[1] % self.width)
            case "shuffle_up" | "shuffle_down" | "shuffle_xor":
                return self.ask(active, given[0], self.neighbour(op, active, given[1]))
            case "ballot":
                return self.ballot(active & (given[0] != 0))
            case "any":
                return np.logical_or.reduceat(active & (given[0] != 0), self.starts)[self.of]
            case "all":
                return self.agree(active, given[0] != 0)
            case "match_any":
                return self.match_any(active, bits(given[0]))
            case "match_all":
                return self.match_all(active, bits(given[0]))
            case "active_mask":
                return self.ballot(active)
            case "sync":
                return None

    def neighbour(self, op: ExchangeOp, active: Bools, distance: Integers) -> Integers:
        """The lane that each asks by its distance: itself if the warp ends before.

        An xor joins the bits of the lane's number and of the distance.
        """
        below = active & (distance < 0)
        if below.any():
            lane = int(np.argmax(below))
            raise NoValue(f"{op} takes no negative distance, as {distance[lane]}", lane)
        near = np.minimum(distance, self.width)  # so that no sum leaves the 64 bits
        if op == "shuffle_xor":
            asked = self.lane ^ distance
        else:
            asked = self.lane - near if op == "shuffle_up" else self.lane + near
        inside = (asked >= 0) & (asked < self.width)
        return np.where(inside, asked, self.lane)

    def ask(self, active: Bools, value: npt.NDArray[Any], asked: Integers) -> npt.NDArray[Any]:
        """The value of the lane that each lane asks, which has to be active."""
        there = asked < self.size
        other = np.where(there, self.first + asked, 0)
        wrong = active & ~(there & active[other])
        if wrong.any():
            position = int(np.argmax(wrong))
            known = int(other[position]) if there[position] else None
            raise InactiveLane(position, int(asked[position]), known)
        return value[other]

    def ballot(self, test: Bools) -> Integers:
        """The lanes whose test is true, lane k as bit k."""
        own = np.where(test, np.left_shift(np.int64(1), self.lane), 0)
        found: Integers = np.bitwise_or.reduceat(own, self.starts)[self.of]
        return found

    def agree(self, active: Bools, test: Bools) -> Bools:
        """Return whether the test is true on all active lanes."""
        found: Bools = np.logical_and.reduceat(~active | test, self.starts)[self.of]
        return found

    def match_any(self, active: Bools, value: Integers) -> Integers:
        """The active lanes that hold the lane's own value."""
        found = np.zeros(len(self.lane), np.int64)
        for lane in range(int(self.size.max())):
            there = lane < self.size
            other = np.where(there, self.first + lane, 0)
            equal = there & active[other] & (value[other] == value)
            found |= np.where(equal, np.left_shift(np.int64(1), lane), 0)
        return found

    def match_all(self, active: Bools, value: Integers) -> Integers:
        """The active lanes if all of them hold one value, else 0."""
        positions = np.where(active, np.arange(len(self.lane)), len(self.lane) - 1)
        some = np.minimum.reduceat(positions, self.starts)[self.of]
        return np.where(self.agree(active, value == value[some]), self.ballot(active), 0)


def bits(value: npt.NDArray[Any]) -> Integers:
    """Values as integers that are equal if all bits are, as CUDA compares them."""
    whole = np.ascontiguousarray(value)
    return whole.view(f"u{whole.dtype.itemsize}").astype(np.int64)
