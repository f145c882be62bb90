"""What the accesses of a program took of a memory with sectors and a cache, line by line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from operator import add

from mmsim.model.cache import Numbers
from mmsim.results.rows import Kind
from mmsim.tabular import Rows, Tabular

RESOURCES = ("tags", "sectors", "crossings", "memory", "rows", "pages", "ports", "wires", "slices")
"""What requests occupy, in the order of `CacheRow.busy`."""
BUSIEST = ("busiest_port", "busiest_wire", "busiest_slice")
"""The counts of a row for a port, a wire and a slice, see `CacheRow`."""
OF_RUN = tuple(f"{name}_of_run" for name in BUSIEST)


@dataclass(frozen=True)
class CacheRow(Tabular):
    """All requests that one source line made to one array of the global memory of `mm.Cached`.

    They had `stages` stages, and made `tags` tag requests, those in the other half and others that
    the cache adds included, for `sectors` sectors. Of
    reads and atomics `hits` are the sectors that were there where they were looked for, and
    `misses` those that were brought there, from the other half or from memory. With `fetch` above 1
    a read doesn't look for what came with a sector that it missed. `memory_reads` and
    `memory_writes` are the sectors that came from memory and went there, also for lines of others
    that had to leave the cache; `fills` are those of them that came because they had been written
    in part. `crossings` are what went from one half to the other, `activations` the rows that
    memory opened, `translations` the pages that DMMs had to ask for.

    Of the ports, the wires and the slices, which are several, the busiest one is counted: that
    which the source line, by all of its accesses, occupies longest. `busiest_port` are the stages
    there, `busiest_wire` and `busiest_slice` the sectors. `busiest_port_of_run` and so on are those
    on the one that the whole run occupies longest. What takes no time is 0. Each of several
    launches has busiest ones of its own, and their counts are added up.
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
    translations: int
    busiest_port: int
    busiest_wire: int
    busiest_slice: int
    busiest_port_of_run: int
    busiest_wire_of_run: int
    busiest_slice_of_run: int

    def busy(self, numbers: Numbers, of_run: bool = False) -> tuple[int, ...]:
        """Time units for which the requests occupied each of `RESOURCES`.

        Of ports, wires and slices: the one that the source line occupied longest, or the run.
        """
        on_port, on_wire, in_slice = (
            getattr(self, name) for name in (OF_RUN if of_run else BUSIEST)
        )
        each, port, wire = numbers.write_time, numbers.write_port_time, numbers.write_wire_time
        if self.kind == "read":
            each, port, wire = numbers.tag_time, numbers.port_time, numbers.wire_time
        return (
            self.tags * each + self.fills * numbers.fill_time,
            self.sectors * numbers.sector_time,
            self.crossings * numbers.cross_time,
            (self.memory_reads + self.memory_writes) * numbers.memory_time,
            self.activations * numbers.row_time,
            self.translations * numbers.page_time,
            on_port * port,
            on_wire * wire,
            in_slice * numbers.atomic_time,
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


def busy(rows: Iterable[CacheRow], numbers: Numbers, of_run: bool = False) -> tuple[int, ...]:
    """Time units for which all requests of a source line, or of the run, occupied `RESOURCES`.

    Of ports, wires and slices it is the busiest one of the line, or of the run.
    """
    times = [row.busy(numbers, of_run) for row in rows]
    return tuple(map(sum, zip(*times, strict=True))) if times else (0,) * len(RESOURCES)


def bound(times: tuple[int, ...], whole: tuple[int, ...], time: int) -> str:
    """What binds requests that occupied each of `RESOURCES` for so long.

    That is what they occupied longest; the latency, if no resource was busy for half the `time` of
    the run, in which all requests occupied them for as long as the `whole`.
    """
    if 2 * max(whole) < time:
        return "latency"
    return RESOURCES[times.index(max(times))]
