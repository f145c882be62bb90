"""The unit of a memory with sectors and a cache."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from simpy import Environment

from mmsim.engines.cached_launch import asked, plain_state
from mmsim.engines.events.units import Job, MemoryUnit
from mmsim.engines.tally import Tally
from mmsim.meaning.launch import Launch
from mmsim.model import cache
from mmsim.model.machines import Unit
from mmsim.model.turns import Turns


class CachedUnit(MemoryUnit):
    """The global memory: the cache's rule says when a request completes."""

    def __init__(
        self,
        env: Environment,
        unit: Unit,
        turns: Turns,
        launch: Launch,
        tally: Tally,
        dmm_of_warp: Callable[[int], int],
    ) -> None:
        super().__init__(env, unit, turns)
        self.launch = launch
        self.numbers, self.asked = asked(launch)
        self.state = plain_state(launch)
        self.dmm_of_warp = dmm_of_warp
        self.taken = tally.taken

    def serve(self, job: Job) -> tuple[int, int]:
        site, addresses = job.asks()
        of = self.asked[site.number]
        sectors, places = of.sectors(addresses)
        now: int = self.env.now  # type: ignore[assignment]
        who = self.dmm_of_warp(job.warp), of.kind
        how = *who, job.stages, sectors, places, 0, len(sectors)
        done = cache.serve(self.numbers, self.state, now, *how)
        counts = self.taken[site.number]
        cache.add_counts(self.numbers, self.state, counts, *who, sectors, 0, len(sectors))
        return self.state.free[cache.TAGS] - now, done - now

    def leave(self) -> None:
        """Leave the cache to the next launch, if this launch began with an earlier one's."""
        found = self.launch.left
        if found is not None:
            parts = zip(self.state, found, strict=True)
            self.launch.left = cache.State._make(np.array(new, old.dtype) for new, old in parts)
            self.launch.left.free[:] = 0
