"""The counts of the pieces of a fused program, and the rows and the time that follow from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.engines.array.asynchronous_time import scheduled
from mmsim.engines.array.fused.accesses import BARRIER_SITE
from mmsim.engines.tally import Tally
from mmsim.host.progress import Progress
from mmsim.meaning.launch import Launch
from mmsim.model.rounds import round_time
from mmsim.results.rows import AccessRow, RoundRow, RoundRows

Integers = npt.NDArray[np.int64]


class Outcome:
    """The rows and the time of a launch with counts `counts`.

    Launches that differ only in the contents of their arrays often have the same counts: then the
    previous launch's outcome is reused. `counts` are those of `Execution.counted`; `sites` are
    those of the accesses in order.
    """

    def __init__(
        self,
        launch: Launch,
        sites: list[int],
        counts: tuple[Integers, Integers, npt.NDArray[Any]],
        progress: Progress,
    ) -> None:
        tally = Tally(launch)
        self.time = self._time(tally, sites, counts, progress)
        self.accesses: tuple[AccessRow, ...] = tally.rows()
        self.rounds: tuple[RoundRow, ...] = RoundRows(tally.rounds)

    @staticmethod
    def _time(
        tally: Tally,
        numbers: list[int],
        counts: tuple[Integers, Integers, npt.NDArray[Any]],
        progress: Progress,
    ) -> int:
        launch, sites = tally.launch, tally.launch.meaning.sites
        sums, requests, operations = counts
        least = requests
        if launch.machine.by_lane:
            sums, least = sums[:-1], sums[-1]
        stages_of = sums.sum(axis=0)
        rows = zip(numbers, *(one.tolist() for one in (requests, stages_of, least)), strict=True)
        if launch.schedule == "asynchronous":
            for site, *counted in rows:
                if site != BARRIER_SITE:
                    tally.count(sites[site], *counted)
            start = np.arange(launch.grid.warps + 1, dtype=np.int64) * len(numbers)
            return scheduled(launch, operations.ravel(), start, progress)
        time = 0
        latencies = launch.machine.latencies(len(sums))
        stage_times = launch.machine.times_of_stages(len(sums))
        for (site, *counted), of_units in zip(rows, sums.T, strict=True):
            if site == BARRIER_SITE or not counted[0]:
                continue
            took = round_time(of_units * stage_times, latencies)
            tally.round(sites[site], time, took, *counted)
            time += took
        return time
