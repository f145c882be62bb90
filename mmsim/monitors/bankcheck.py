"""Finds two lanes of a request that want different words of one bank."""

from __future__ import annotations

import numpy as np

from mmsim.meaning.launch import Launch
from mmsim.model.byte_banks import fewest_stages
from mmsim.model.machines import Unit
from mmsim.monitors.lines import access_of, index_of
from mmsim.monitors.listener import Access, Listener
from mmsim.results.findings import Finding


class BankConflicts(Listener):
    """Records the first request of each access of the text with more stages than the fewest."""

    def __init__(self, launch: Launch) -> None:
        self.launch, self.lanes = launch, launch.grid.lane
        self.found: dict[int, Finding] = {}

    def forget(self) -> None:
        self.found = {}

    def dispatched(self, access: Access, unit: Unit, ready: int, stages: int) -> None:
        site, addresses = access.site, access.addresses
        if unit.conflict.place != "bank" or stages < 2 or site.number in self.found:
            return
        assert addresses is not None
        rule, lanes = self.launch.rule(unit.conflict, site), self.lanes[access.threads]
        first, counted = np.zeros(1, np.int64), np.array([stages])
        least = fewest_stages(rule, site.vector, addresses, first, lanes, counted)
        if stages <= least:
            return
        words = addresses.tolist()
        phases = rule.phase_of(words, lanes) or [0] * len(words)
        in_cell = list(zip(phases, rule.cells(addresses).tolist(), strict=True))
        stage_of = rule.stage_of(words, lanes)
        one, other = next(
            (one, other)
            for other in range(len(words))
            for one in range(other)
            if in_cell[one] == in_cell[other] and stage_of[one] != stage_of[other]
        )
        named = (index_of(access.array, int(access.elements[place])) for place in (one, other))
        of_array = " and ".join(f"{site.array}[{', '.join(map(str, index))}]" for index in named)
        self.found[site.number] = Finding(
            "conflict",
            site.array,
            None,
            access.of_lane(access.blocks, one) if access.array.shared else None,
            tuple(
                access_of(
                    site,
                    int(access.threads[place]),
                    access.of_lane(access.blocks, place),
                    access.of_lane(access.times, place),
                )
                for place in (one, other)
            ),
            note=f"{of_array} lie in bank {in_cell[one][1]}, and the request takes {stages} "
            f"stages, not {least}",
        )
