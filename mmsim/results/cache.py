"""What the accesses of a program took of a memory with sectors and a cache, line by line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from operator import add

from mmsim.model.cache import Numbers
from mmsim.results.rows import Kind
from mmsim.tabular import Rows, Tabular

RESOURCES = ("tags", "sectors", "crossings", "memory", "rows", "ports", "wires", "slices")
"""What requests occupy, in the order of `CacheRow.busy`."""


@dataclass(frozen=True)
class CacheRow(Tabular):
    """All requests that one source line made to one array of the global memory of `mm.Cached`.

    They had `stages` stages, and made `tags` tag requests, those in the other half and others that
    the cache adds included, for `sectors` sectors. Of
    reads and atomics `hits` are the sectors that were there where they were looked for, and
    `misses` those that were brought there, from the other half or from memory. `memory_reads` and
    `memory_writes` are the sectors that came from memory and went there, also for lines of others
    that had to leave the cache; `fills` are those of them that came because they had been written
    in part. `crossings` are what went from one half to the other, `activations` the rows that
    memory opened.
    """

    function: str
    file: str
    line: int
    array: str
    kind: Kind
    stages: int
    tags: int
    sectors: int
    hits: int
    misses: int
    memory_reads: int
    memory_writes: int
    fills: int
    crossings: int
    activations: int

    def busy(self, numbers: Numbers) -> tuple[int, ...]:
        """Time units for which the requests occupied each of `RESOURCES`.

        Of ports, wires and slices there are several: the mean over all of them, rounded down.
        """
        each, port, wire = numbers.write_time, numbers.write_port_time, numbers.write_wire_time
        if self.kind == "read":
            each, port, wire = numbers.tag_time, numbers.port_time, numbers.wire_time
        atomics = self.sectors if self.kind == "atomic" else 0
        return (
            self.tags * each + self.fills * numbers.fill_time,
            self.sectors * numbers.sector_time,
            self.crossings * numbers.cross_time,
            (self.memory_reads + self.memory_writes) * numbers.memory_time,
            self.activations * numbers.row_time,
            self.stages * port // numbers.dmms,
            self.sectors * wire // numbers.dmms,
            atomics * numbers.atomic_time // numbers.slices,
        )


class CacheRows(Rows[CacheRow]):
    """What the lines of a run took of the cache and of memory."""

    __slots__ = ()


NAMED = 5
"""The fields that say whose counts a row has; the others are counts."""
COUNTS = tuple(part.name for part in fields(CacheRow))[NAMED:]


def merged(rows: Iterable[CacheRow]) -> CacheRows:
    """The rows of several launches: those of one line, array and kind as one."""
    found: dict[tuple[object, ...], tuple[int, ...]] = {}
    for row in rows:
        values = astuple(row)
        key, counts = values[:NAMED], values[NAMED:]
        found[key] = tuple(map(add, found.get(key, (0,) * len(counts)), counts))
    return CacheRows(CacheRow(*key, *counts) for key, counts in found.items())  # type: ignore[arg-type]


def busy(rows: Iterable[CacheRow], numbers: Numbers) -> tuple[int, ...]:
    """Time units for which all requests occupied each of `RESOURCES`."""
    times = [row.busy(numbers) for row in rows]
    return tuple(map(sum, zip(*times, strict=True))) if times else (0,) * len(RESOURCES)


def bound(times: tuple[int, ...], whole: tuple[int, ...], time: int) -> str:
    """What binds requests that occupied each of `RESOURCES` for so long.

    That is what they occupied longest; the latency, if no resource was busy for half the `time` of
    the run, in which all requests occupied them for as long as the `whole`.
    """
    if 2 * max(whole) < time:
        return "latency"
    return RESOURCES[times.index(max(times))]
