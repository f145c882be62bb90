"""Counts requests, stages and rounds, for all engines."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from operator import add

import numpy as np
import numpy.typing as npt

from mmsim.engines.cached_launch import asked, empty_counts, kinds_of
from mmsim.meaning.frame import Kind, Site
from mmsim.meaning.launch import Launch
from mmsim.model.cache import (
    ATOMIC,
    COUNTS,
    OF_A_DMM,
    OF_FLOATS,
    PORT,
    SECTORS,
    WIRE,
    Numbers,
    counters,
    time_of_atomics,
)
from mmsim.model.machines import Unit
from mmsim.results import AccessRow, RoundRow, Run
from mmsim.results.cache import CacheRow, merged
from mmsim.results.findings import Finding, of_launch
from mmsim.results.rows import AccessRows, RoundRows
from mmsim.results.trace import Trace

Named = tuple[str, str, int, str, Kind]
"""The function, the file, the line, the array and the kind of an access."""

Tables = tuple[tuple[AccessRow, ...], tuple[RoundRow, ...], tuple[CacheRow, ...]]
"""The rows of a run: of its accesses, of its rounds, of the cache."""


def _named(site: Site) -> Named:
    place = site.place
    return place.function, place.file, place.line, site.array, site.kind


class Tally:
    """Counts requests and stages of every access of the program's text, and lists the rounds."""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.rounds: list[RoundRow] = []
        sites = len(launch.meaning.sites)
        self.requests, self.stages, self.least = ([0] * sites for _ in range(3))
        self.taken = empty_counts(launch)
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
        access_class = unit.conflict.classify(least, stages)
        cost = unit.space, requests, stages, access_class, least
        self.rounds.append(RoundRow(len(self.rounds), start, time, *_named(site), *cost))

    def tables(self) -> Tables:
        """The rows of the accesses, of the rounds and of the cache."""
        return self._rows(), RoundRows(self.rounds), self._cache_rows()

    def _rows(self) -> tuple[AccessRow, ...]:
        """Make a row for each executed line, array and kind."""
        sums: dict[Named, list[int]] = {}
        for site, *counts in zip(
            self.launch.meaning.sites, self.requests, self.stages, self.least, strict=True
        ):
            if counts[0]:
                key = _named(site)
                sums[key] = list(map(add, sums[key], counts)) if key in sums else counts
        return AccessRows(self._row(key, *counts) for key, counts in sums.items())

    def _cache_rows(self) -> tuple[CacheRow, ...]:
        """The costs of each line's accesses to one array at a memory with sectors and a cache."""
        if self.launch.machine.cache is None:
            return ()
        numbers, taken = self._taken()
        kinds, each = np.array(kinds_of(self.launch)), time_of_atomics(numbers)
        # Of atomics on floats slices count the time: as many others as take the same time.
        for kind, time in ((ATOMIC, numbers.atomic_time), (OF_FLOATS, 1)):
            rows = np.flatnonzero(kinds == kind)
            if rows.size and each and time != each:
                taken = taken.copy()
                taken[rows, COUNTS : COUNTS + numbers.slices] *= time
                taken[rows, COUNTS : COUNTS + numbers.slices] //= each
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
            CacheRow(*_named(site), *own) for site, own in zip(asking, counts.tolist(), strict=True)
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

    def _row(self, named: Named, requests: int, stages: int, least: int) -> AccessRow:
        unit = unit_of(self.launch, named[3])
        access_class = unit.conflict.classify(least, stages)
        return AccessRow(*named, unit.space, requests, stages, least, access_class)


def result(
    launch: Launch,
    engine: str,
    time: int,
    tables: Tables,
    findings: tuple[Finding, ...] | None = None,
    record: Trace | None = None,
) -> Run:
    """A launch that has ended, with its rows."""
    arithmetic = launch.code.arithmetic
    accesses, rounds, cache = tables
    return Run(
        machine=launch.machine,
        program=launch.program.name,
        threads=launch.grid.threads,
        block_size=launch.grid.block_size,
        schedule=launch.schedule,
        engine=engine,
        time=time,
        arrays=launch.results(),
        text="".join(launch.texts),
        accesses=accesses,
        rounds=rounds,
        sources=launch.code.sources,
        registers=launch.registers,
        findings=None if findings is None else of_launch(findings, launch.grid, arithmetic),
        record=record,
        shape=launch.grid.shape,
        cache=cache,
    )


def unit_of(launch: Launch, array: str) -> Unit:
    """The unit in front of an array; of a shared one, that of the first block."""
    number = launch.arrays[array].unit_of_copy.item(0)
    return launch.machine.units[number] if number else launch.machine.memory


def at_bottlenecks(
    numbers: Numbers, counts: npt.NDArray[np.int64], lines: Sequence[Hashable], kinds: Sequence[str]
) -> npt.NDArray[np.int64]:
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
            (counts[:, COUNTS:of_dmms], numbers.line_time, time_of_atomics(numbers)),
        )
    ):
        each = np.where(reads, of_reads, of_writes)[:, None]
        times = items * each
        for part, place in (*((part, column) for part in parts), (every, column + 3)):
            if times.size:
                busiest = times[part].sum(axis=0).argmax()
                found[part, place] = np.where(each > 0, items, 0)[part, busiest]
    return found
