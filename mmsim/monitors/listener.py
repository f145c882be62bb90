"""An engine's reports on a run, and their listeners: monitors, the recorder of a trace.

An engine makes an `Access` only if there is a listener, so a run without one loses no time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.errors import Place
from mmsim.ir.dtypes import Integers
from mmsim.ir.nodes import BarrierScope
from mmsim.ir.operators import Mask
from mmsim.meaning.frame import Frame, Site
from mmsim.model.machines import Unit
from mmsim.model.memory import ArrayInMemory


@dataclass(slots=True, eq=False)
class Access:
    """One memory instruction: a warp's request, or those of many warps together.

    The arrays have an entry for each active lane, by thread number; there is at most one request of
    each warp. Values that are the same for all lanes may be one number.

    Attributes
    ----------
    threads, warps, blocks
        The threads of the request, their warps and blocks.
    elements
        Row-major element numbers in `array`.
    values
        The values that a write stores, of the array's type; those of a read, None before it.
    intervals
        The barriers that a lane's warp has passed, or the number of rounds so far.
    times
        When the requests are dispatched, -1 if that isn't known.
    addresses
        Where the elements lie, None if only monitors listen.
    grid_intervals
        The barriers of the grid that a lane's warp has passed, if warps run independently.
    """

    site: Site
    array: ArrayInMemory
    threads: Integers
    warps: Integers | int
    blocks: Integers | int
    elements: Integers
    values: npt.NDArray[Any] | None
    intervals: Integers | int
    times: Integers | int = -1
    addresses: Integers | None = None
    grid_intervals: Integers | int = 0

    @property
    def writes(self) -> bool:
        """Return whether it writes."""
        return self.site.kind == "write"

    @property
    def copies(self) -> Integers | int:
        """The copy of the array that each lane touches: its block's if the array is shared."""
        return self.blocks if self.array.shared else 0

    @property
    def cells(self) -> Integers:
        """The elements' numbers, counted over all copies of the array."""
        return self.copies * self.array.size + self.elements

    @property
    def bits(self) -> Integers:
        """The bits of the values that it stores, as `bits_of` gives them."""
        assert self.values is not None
        return bits_of(self.values.astype(self.array.dtype, copy=False))

    @property
    def changes(self) -> npt.NDArray[np.bool_]:
        """Mark the lanes that store other bits than their element has."""
        if self.values is None:
            return np.zeros(len(self.elements), bool)
        before = bits_of(self.array.read(self.elements, self.blocks))
        marked: npt.NDArray[np.bool_] = before != self.bits
        return marked

    @staticmethod
    def of_lane(column: Integers | int, lane: int) -> int:
        """A column's value for one lane; lanes are counted among the active ones."""
        return int(column[lane]) if isinstance(column, np.ndarray) else column

    def columns(self, lanes: Integers, *columns: Integers | int) -> Iterator[Integers]:
        """The values of columns for some lanes."""
        return (np.broadcast_to(column, len(self.elements))[lanes] for column in columns)

    def of_lanes(self, lanes: slice) -> Access:
        """The part of some lanes, all of one warp."""
        first = lanes.start
        return Access(
            self.site,
            self.array,
            self.threads[lanes],
            self.of_lane(self.warps, first),
            self.of_lane(self.blocks, first),
            self.elements[lanes],
            None if self.values is None else self.values[lanes],
            self.of_lane(self.intervals, first),
            self.of_lane(self.times, first),
            None if self.addresses is None else self.addresses[lanes],
            self.of_lane(self.grid_intervals, first),
        )


@dataclass(frozen=True, slots=True)
class Stay:
    """A warp's stay at a barrier: since when, and in which line it waits."""

    warp: int
    since: int
    line: int


class Listener:
    """Receives the events of a run; a subclass reacts to them.

    If one `finds_deadlocks`, a loop that never ends goes on until it has seen enough of it.
    """

    finds_deadlocks = False

    def forget(self) -> None:
        """Discard all events so far: the run begins again."""

    def accessed(self, access: Access) -> None:
        """A memory instruction is about to take effect; reads may have been done."""

    def dispatched(self, access: Access, unit: Unit, ready: int, stages: int) -> None:
        """A unit has dispatched a warp's request, which was ready since then; its data moved."""

    def round_ended(self, access: Access, start: int, time: int, live: Mask) -> None:
        """A round of lock step is over; threads that `live` have not returned."""

    def met(
        self, place: Place, here: Mask, live: Mask, time: int = -1, scope: BarrierScope = "block"
    ) -> None:
        """In lock step the threads `here` come to a barrier, of all those that `live`."""

    def arrived(
        self,
        warp: int,
        place: Place,
        here: Mask,
        live: Mask,
        time: int = -1,
        scope: BarrierScope = "block",
    ) -> None:
        """Lanes of a warp that runs independently come to a barrier, of all those that `live`."""

    def synced(self, threads: Integers) -> None:
        """Lanes of warps that run independently come to `mm.warp.sync()`."""

    def released(self, block: int, stays: Sequence[Stay], time: int) -> None:
        """A block's barrier lets its warps go on, by warp number."""

    def began(self, frame: Frame, warps: range) -> None:
        """A sequencer of such warps is about to begin."""

    def worked(self, frame: Frame, time: int) -> None:
        """A sequencer has done local work, up to its next access or barrier, or to its end."""

    def ended(self, warp: int, live: Mask) -> None:
        """A warp that runs independently has ended; threads that `live` have not returned."""


def bits_of(values: npt.NDArray[Any]) -> Integers:
    """Values as integers that are equal if all bits are; two for each value of 128 bits."""
    values = np.ascontiguousarray(values)
    if values.dtype.itemsize == 16:
        return values.view([("first", np.uint64), ("second", np.uint64)])
    return values.view(f"u{values.dtype.itemsize}").astype(np.uint64)
