"""The machine with a cache that stands for a GPU, from the record of `mmsim gpu calibrate --cache`.

`RULES` describes how each of its numbers follows from the microbenchmarks. No number is computed
from the time of a predicted kernel. But people chose the rules and `CHOSEN`, and some rules came
after a look at predictions (docs/metal.md). A time unit is a tenth of a picosecond.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, median
from typing import Any, cast

from mmsim.api.machines import Cached
from mmsim.cuda_c.kernels import WARP
from mmsim.errors import FormatError
from mmsim.gpu.calibrated import Calibration
from mmsim.gpu.record import Record, Row
from mmsim_algorithms.gpu import cache_pages
from mmsim_algorithms.gpu.cache_multiprocessors import CLUSTERS, HALVES, OF_EACH
from mmsim_algorithms.gpu.cache_pages import Pages
from mmsim_algorithms.gpu.cache_point import LINE
from mmsim_algorithms.gpu.cache_points import RESIDENT, SECTOR

UNIT_PS = 0.1
"""Picoseconds of a time unit."""
WORD = 4
"""Bytes of a bank."""
CROSSED = "lts__t_sectors_srcunit_ltcfabric.sum"


@dataclass(frozen=True)
class Measured:
    """The sources of the numbers: the points of the cache, and the plain calibration."""

    record: Record
    plain: Calibration

    def row(self, number: str, **about: object) -> Row:
        """The one row of a number with these fields; `word_bytes` stands for "word bytes"."""
        wanted = {"number": number, **{name.replace("_", " "): of for name, of in about.items()}}
        rows = [row for row in self.record.rows if wanted.items() <= row.items()]
        if len(rows) != 1:
            raise FormatError(f"the record has {len(rows)} rows for {number} {about}, not one")
        return rows[0]

    def ps(self, number: str, **about: object) -> float:
        """The picoseconds of an access."""
        found = self.row(number, **about)["ps"]
        if not isinstance(found, int | float):
            raise FormatError(f"the record has no time for {number}")
        return float(found)

    def each(self, metric: str, number: str, **about: object) -> float:
        """The profiler's counts for each access."""
        row = self.row(number, **about)
        count, accesses = row.get(metric), row.get("counted")
        if not isinstance(count, int) or not isinstance(accesses, int):
            raise FormatError(f"the record has no {metric} for {number}")
        return count / accesses

    def cycles(self, which: str) -> list[float]:
        """Cycles of the reads by each multiprocessor, see `cache_multiprocessors`."""
        rows = [row for row in self.record.rows if row["number"] == HALVES]
        return [float(cast(float, row[which])) for row in rows]

    @property
    def cache_bytes(self) -> int:
        return int(self.record.facts["cache bytes"])

    @cached_property
    def pages(self) -> Pages | None:
        """The pages that a multiprocessor knows; None if the record doesn't show them."""
        return cache_pages.found(self.record.rows)

    @property
    def clusters(self) -> tuple[int, ...] | None:
        """The multiprocessors of each cluster; None if the record doesn't show them."""
        return sizes(self.record.rows, self.plain.multiprocessors)

    @property
    def half_of(self) -> tuple[int, ...] | None:
        """The half of each cluster; None if the record doesn't show clusters and halves."""
        return None if self.clusters is None else half_of(self.record.rows)


def members(rows: Sequence[Row]) -> list[list[int]]:
    """The multiprocessors of each cluster; none if the rows lack them."""
    return [
        [int(one) for one in own.split()]
        for row in rows
        if row["number"] == CLUSTERS and "multiprocessors" in row
        for own in str(row["multiprocessors"]).split(";")
    ]


def sizes(rows: Sequence[Row], multiprocessors: int) -> tuple[int, ...] | None:
    """The size of each cluster; None if the rows lack them, or no two delay each other."""
    found = tuple(map(len, members(rows)))
    return found if sum(found) == multiprocessors > len(found) else None


def half_of(rows: Sequence[Row]) -> tuple[int, ...] | None:
    """The half with most of each cluster; None if the rows don't show it.

    >>> half_of(({"number": "clusters", "multiprocessors": "0 3; 1 2"},
    ...          {"number": "halves of multiprocessors", "halves": "0110"}))
    (0, 1)
    """
    of_each = "".join(str(row["halves"]) for row in rows if row["number"] == OF_EACH)
    found = members(rows)
    if not found or max(map(max, found)) >= len(of_each):
        return None
    return tuple(int(2 * sum(of_each[one] == "1" for one in own) > len(own)) for own in found)


@dataclass(frozen=True)
class Rule:
    """The rule by which one number of `mmsim.Cached` follows from the record; see docs/metal.md.

    A time is in picoseconds. The function returns None if the record doesn't show the number; the
    machine then has the one of `CHOSEN`, or its default.
    """

    name: str
    find: Callable[[Measured], float | tuple[int, ...] | None]
    time: bool = True

    def value(self, measured: Measured) -> int | tuple[int, ...] | None:
        """The number in the machine's unit."""
        found = self.find(measured)
        if found is None or isinstance(found, tuple):
            return found
        return max(1, round(found / UNIT_PS)) if self.time else round(found)


def _cross_cycles(measured: Measured) -> float:
    """The additional cycles of a first read, for multiprocessors of the other half."""
    pairs = zip(measured.cycles("first, 75%"), measured.cycles("second, 75%"), strict=True)
    longer = [first - second for first, second in pairs]
    return median(one for one in longer if 2 * one > max(longer))


def _atomic_on(measured: Measured, lines: Callable[[Iterable[int]], int]) -> float:
    """Picoseconds of an atomic on one word of each of `lines` lines."""
    rows = [
        row
        for row in measured.record.rows
        if row["number"] == "atomics" and row["words of a line"] == 1
    ]
    found = {cast(int, row["lines"]): cast(float, row["ps"]) for row in rows}
    return found[lines(found)]


def _under_way(measured: Measured) -> int:
    """The most reads of one warp that take less than twice as long as one."""
    rows = [
        row
        for row in measured.record.rows
        if row["number"] == "under way" and row["warps"] == 1 and row["stride"] == 1
    ]
    picoseconds = {cast(int, row["k"]): cast(float, row["ps"]) for row in rows}
    times = {k: k * ps for k, ps in picoseconds.items()}
    return max(k for k, time in times.items() if time < 2 * times[1])


def _of_pages(measured: Measured, which: Callable[[Pages], float]) -> float | None:
    """One of the numbers of pages."""
    return None if measured.pages is None else which(measured.pages)


RULES = (
    Rule("tag_time", lambda of: of.ps("random read hits")),
    Rule(
        "write_time",
        lambda of: (
            of.ps("random write hits") / of.each("lts__t_tag_requests.sum", "random write hits")
        ),
    ),
    Rule("sector_time", lambda of: 4 * of.ps("read hits", word_bytes=8, stride=1)),
    Rule(
        "cross_time",
        lambda of: (
            of.ps("write hits", word_bytes=8, stride=1)
            / of.each(CROSSED, "write hits", word_bytes=8, stride=1)
        ),
    ),
    Rule("memory_time", lambda of: 4 * fmean((of.ps("memory, reads"), of.ps("memory, writes")))),
    Rule("row_time", lambda of: 8 * of.ps("runs, read", words=8)),
    Rule(
        "fill_time",
        lambda of: (
            (of.ps("partial writes", words=1) - of.ps("random write hits"))
            / of.each("dram__sectors_read.sum", "partial writes", words=1)
        ),
    ),
    Rule("port_time", lambda of: of.ps("multiprocessors", blocks=1, stride=LINE)),
    Rule("wire_time", lambda of: 4 * of.ps("multiprocessors", blocks=1, stride=1)),
    Rule("write_port_time", lambda of: of.ps("multiprocessors, written", blocks=1, stride=LINE)),
    Rule("write_wire_time", lambda of: 4 * of.ps("multiprocessors, written", blocks=1, stride=1)),
    Rule("atomic_time", lambda of: _atomic_on(of, min)),
    Rule("slices", lambda of: _atomic_on(of, min) / _atomic_on(of, max), time=False),
    Rule("global_latency", lambda of: of.ps("hit latency")),
    Rule("miss_latency", lambda of: of.ps("miss latency") - of.ps("hit latency")),
    Rule("cross_latency", lambda of: _cross_cycles(of) * of.plain.cycle_ps),
    Rule("shared_latency", lambda of: of.plain.shared_latency * of.plain.cycle_ps),
    Rule("shared_time", lambda of: of.plain.cycles_per_stage * of.plain.cycle_ps),
    Rule("capacity", lambda of: of.cache_bytes, time=False),
    Rule(
        "fetch",
        lambda of: 2 * of.each("dram__sectors_read.sum", "fetches", sectors="0 and 0"),
        time=False,
    ),
    Rule("under_way", _under_way, time=False),
    Rule("resident", lambda of: RESIDENT, time=False),
    Rule("page", lambda of: _of_pages(of, lambda pages: pages.page), time=False),
    Rule("pages", lambda of: _of_pages(of, lambda pages: pages.pages), time=False),
    Rule("page_time", lambda of: _of_pages(of, lambda pages: pages.page_time)),
    Rule("clusters", lambda of: of.clusters, time=False),
    Rule("half_of", lambda of: of.half_of, time=False),
)
"""The rule of each measured number of the machine. The others are in `CHOSEN`.

A record without points of pages, or with fast reads only, gives no `page`, `pages` and
`page_time`: the machine then has its defaults. A record without clusters, or in which no two
multiprocessors delay each other, leaves equal clusters, as many as `CHOSEN` has.
"""
CHOSEN = {
    "sectors": LINE // SECTOR,
    "halves": 2,
    "clusters": 8,
    "ways": 16,
    "channels": 96,
    "banks": 16,
    "row": 8,
}
"""Numbers that no point measures. The counters show the sectors and halves. There are as many
clusters as NVIDIA describes (GPCs); half of them belong to each half of the cache, as the halves of
blocks show (`OF_BLOCKS`). The others are plain numbers, on which the points' counts hardly
depend."""


def cached_numbers(record: Record, plain: Calibration) -> dict[str, Any]:
    """The numbers of the machine that are found or chosen, by name."""
    measured = Measured(record, plain)
    values = {rule.name: rule.value(measured) for rule in RULES}
    found: dict[str, Any] = {name: value for name, value in values.items() if value is not None}
    found["capacity"] -= found["capacity"] % (CHOSEN["halves"] * CHOSEN["ways"] * LINE * WORD)
    return CHOSEN | found


def cached_machine(record: Record, plain: Calibration) -> Cached:
    """The machine."""
    numbers = cached_numbers(record, plain)
    latencies = numbers.pop("global_latency"), numbers.pop("shared_latency")
    return Cached(plain.multiprocessors, WARP, *latencies, bank_bytes=WORD, **numbers)


def milliseconds(units: Iterable[int], plain: Calibration) -> float:
    """The duration of consecutive launches with these time units."""
    found = list(units)
    return sum(found) * UNIT_PS * 1e-9 + len(found) * plain.launch_ns * 1e-6
