"""What looks on while a program runs, and tells at the end what is wrong with it.

Engines of every kind tell a `Watch` of each memory instruction, in the order in which memory takes
effect, and of each barrier. Without one they tell nobody, and lose no time.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.engines.collisions import Collisions
from mmsim.engines.lines import Lines
from mmsim.engines.meetings import Meetings
from mmsim.engines.races import RaceDetector
from mmsim.engines.standstill import Standstill
from mmsim.engines.unwritten import UnwrittenReads
from mmsim.errors import Place
from mmsim.language.frame import Site
from mmsim.language.operators import Mask
from mmsim.launch import Launch
from mmsim.results.findings import Finding

Integers = npt.NDArray[Any]


class Watch:
    """Looks for data races, reads of what nobody has written, and barriers that not all reach.

    `thorough`, it also notes what `mmsim.check` asks for: concurrent writes, and whether the
    program stands still. `unset` are parameters whose first contents mean nothing.
    """

    def __init__(
        self, launch: Launch, unset: Collection[str] = (), *, thorough: bool = False
    ) -> None:
        lines = Lines(launch)
        self.lines = lines
        self.races = RaceDetector(launch, lines)
        self.unwritten = UnwrittenReads(launch, lines, unset)
        self.meetings = Meetings(launch)
        self.collisions = Collisions(launch, lines) if thorough else None
        self.standstill = Standstill(launch) if thorough else None

    def forget(self) -> None:
        """Forget all: the run begins anew."""
        self.races.forget()
        self.unwritten.forget()
        self.meetings.forget()

    def access(
        self,
        site: Site,
        copies: Integers | int,
        elements: Integers,
        threads: Integers,
        warps: Integers | int,
        blocks: Integers | int,
        intervals: Integers | int,
        values: npt.NDArray[Any] | None,
        times: Integers | int = -1,
    ) -> None:
        """One memory instruction, just before it takes effect; see `RaceDetector.access`."""
        self.races.access(site, copies, elements, threads, warps, blocks, intervals, values, times)
        self.unwritten.access(site, copies, elements, threads, blocks, values, times)
        self.meetings.access(site, threads, times)
        if self.collisions is not None:
            self.collisions.access(site, copies, elements, threads, warps, blocks, values, times)
        if self.standstill is not None:
            self.standstill.access(site, copies, elements, threads, blocks, values, times)

    def round(self, place: Place, here: Mask, live: Mask, time: int = -1) -> None:
        """In lock step the threads `here` come to a barrier, of all those that `live`."""
        self.meetings.round(place, here, live, time)

    def arrived(self, warp: int, place: Place, here: Mask, time: int = -1) -> None:
        """A warp that runs for itself comes to a barrier, with those of its lanes that live."""
        self.meetings.arrived(warp, place, here, time)

    def ended(self, warp: int, live: Mask) -> None:
        """A warp that runs for itself has ended; threads that `live` have not returned."""
        self.meetings.ended(warp, live)

    def findings(self) -> tuple[Finding, ...]:
        """All that was found, races first.

        A line that reads in a race may come too early; that is told once, as the race.
        """
        races = self.races.findings()
        racing = {(race.array, access) for race in races for access in _places(race)}
        unwritten = [
            found
            for found in self.unwritten.findings()
            if (found.array, *_places(found)) not in racing
        ]
        return (*races, *unwritten, *self.meetings.findings())


def _places(finding: Finding) -> list[tuple[str, str, int, str]]:
    """The lines of a finding's accesses."""
    return [(one.function, one.file, one.line, one.kind) for one in finding.accesses]


def dispatch_times(start: int, stages: Integers, units: Integers) -> Integers:
    """When a synchronous round that begins at `start` dispatches the requests of its warps.

    Each unit dispatches its warps in order of warp id and takes one stage in each time unit.
    `stages` and `units` are those of the warps, in order.

    >>> dispatch_times(10, np.array([2, 1, 3]), np.array([0, 1, 0]))
    array([10, 10, 12])
    """
    times = np.empty(len(stages), dtype=np.int64)
    for unit in np.unique(units):
        own = units == unit
        times[own] = start + np.cumsum(stages[own]) - stages[own]
    return times
