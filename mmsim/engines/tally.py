"""Counts requests, stages and rounds, for all engines."""

from __future__ import annotations

from operator import add
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.engines.bottlenecks import at_bottlenecks
from mmsim.engines.cached_launch import asked, sparse
from mmsim.meaning.frame import Site
from mmsim.meaning.launch import Launch
from mmsim.model.cache import COUNTS, SECTORS, Numbers, Sparse, counters
from mmsim.model.machines import Unit
from mmsim.results import AccessRow, RoundRow, Run
from mmsim.results.cache import CacheRow, merged
from mmsim.results.findings import Finding, of_launch
from mmsim.results.rows import AccessRows, RoundRows
from mmsim.results.trace import Trace


class Tally:
    """Counts requests and stages of every access of the program's text, and lists the rounds."""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.rounds: list[RoundRow] = []
        self.requests = [0] * len(launch.meaning.sites)
        self.stages = [0] * len(launch.meaning.sites)
        self.least = [0] * len(launch.meaning.sites)
        sites, columns = len(launch.meaning.sites), 0
        self.taken: npt.NDArray[np.int64] | list[Sparse] = [Sparse(0) for _ in range(sites)]
        if launch.machine.cache is None or not sparse(launch):
            if launch.machine.cache is not None:
                columns = counters(launch.machine.cache, launch.grid.dmms_used)
            self.taken = np.zeros((sites, columns), np.int64)
        """The costs of each access's requests at a memory with sectors and a cache."""

    def count(self, site: Site, requests: int, stages: int, least: int) -> None:
        """Add requests of one access with the sum of their stages, and of their least stages."""
        self.requests[site.number] += requests
        self.stages[site.number] += stages
        self.least[site.number] += least

    def round(
        self, site: Site, start: int, time: int, requests: int, stages: int, least: int
    ) -> None:
        """Note that a round of the synchronous schedule has ended."""
        self.count(site, requests, stages, least)
        unit = unit_of(self.launch, site.array)
        self.rounds.append(
            RoundRow(
                len(self.rounds),
                start,
                time,
                site.place.function,
                site.place.file,
                site.place.line,
                site.array,
                site.kind,
                unit.space,
                requests,
                stages,
                unit.conflict.classify(least, stages),
                least,
            )
        )

    def result(
        self,
        engine: str,
        time: int,
        findings: tuple[Finding, ...] | None = None,
        record: Trace | None = None,
    ) -> Run:
        """The finished run."""
        rows = self.rows(), RoundRows(self.rounds)
        return result(self.launch, engine, time, *rows, findings, record, self.cache_rows())

    def rows(self) -> tuple[AccessRow, ...]:
        """Make a row for each executed line, array and kind."""
        merged: dict[tuple[Any, ...], list[int]] = {}
        sites: dict[tuple[Any, ...], Site] = {}
        for site, *counts in zip(
            self.launch.meaning.sites, self.requests, self.stages, self.least, strict=True
        ):
            if counts[0]:
                place = site.place
                key = (place.file, place.line, place.function, site.array, site.kind)
                sums = merged.get(key)
                merged[key] = counts if sums is None else list(map(add, sums, counts))
                sites.setdefault(key, site)
        return AccessRows(self._row(sites[key], *counts) for key, counts in merged.items())

    def cache_rows(self) -> tuple[CacheRow, ...]:
        """The costs of each line's accesses to one array at a memory with sectors and a cache."""
        if self.launch.machine.cache is None:
            return ()
        numbers, taken = self._taken()
        asking = [site for site in self.launch.meaning.sites if taken[site.number, SECTORS]]
        of = [site.number for site in asking]
        on = at_bottlenecks(
            numbers,
            taken[of],
            [(site.place.file, site.place.line) for site in asking],
            [site.kind for site in asking],
        )
        counts = np.hstack((np.array(self.stages)[of, None], taken[of, :COUNTS], on))
        return merged(
            CacheRow(
                site.place.function,
                site.place.file,
                site.place.line,
                site.array,
                site.kind,
                *own,
            )
            for site, own in zip(asking, counts.tolist(), strict=True)
        )

    def _taken(self) -> tuple[Numbers, npt.NDArray[np.int64]]:
        """`taken` as an array, and the rule's numbers, without unused slices."""
        numbers, _ = asked(self.launch)
        if isinstance(self.taken, np.ndarray):
            return numbers, self.taken
        ends = COUNTS, COUNTS + numbers.slices
        slices = sorted({at for row in self.taken for at in row if ends[0] <= at < ends[1]})
        dmms = range(ends[1], counters(numbers, numbers.dmms))
        columns = [*range(COUNTS), *slices, *dmms]
        table = np.array([row[at] for row in self.taken for at in columns], np.int64)
        return numbers._replace(slices=len(slices)), table.reshape(-1, len(columns))

    def _row(self, site: Site, requests: int, stages: int, least: int) -> AccessRow:
        unit = unit_of(self.launch, site.array)
        return AccessRow(
            site.place.function,
            site.place.file,
            site.place.line,
            site.array,
            site.kind,
            unit.space,
            requests,
            stages,
            least,
            unit.conflict.classify(least, stages),
        )


def result(
    launch: Launch,
    engine: str,
    time: int,
    accesses: tuple[AccessRow, ...],
    rounds: tuple[RoundRow, ...],
    findings: tuple[Finding, ...] | None = None,
    record: Trace | None = None,
    cache: tuple[CacheRow, ...] = (),
) -> Run:
    """A launch that has ended, with its rows."""
    return Run(
        machine=launch.machine,
        program=launch.program.name,
        threads=launch.grid.threads,
        block_size=launch.grid.block_size,
        schedule=launch.schedule,
        engine=engine,
        time=time,
        arrays=launch.results(),
        accesses=accesses,
        rounds=rounds,
        sources=launch.code.sources,
        registers=launch.registers,
        findings=None
        if findings is None
        else of_launch(findings, launch.grid, launch.code.arithmetic),
        record=record,
        shape=launch.grid.shape,
        cache=cache,
    )


def unit_of(launch: Launch, array: str) -> Unit:
    """The unit in front of an array; of a shared one, that of the first block."""
    machine = launch.machine
    if machine.shared and launch.arrays[array].shared:
        return machine.shared[0]
    return machine.memory
