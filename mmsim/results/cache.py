"""The use of a memory with sectors and a cache by a program's accesses, line by line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from operator import add, mul

from mmsim.model.cache import Numbers, time_of_atomics
from mmsim.results.rows import Kind
from mmsim.tabular import Rows, Tabular

RESOURCES = ("tags", "sectors", "crossings", "memory", "rows", "pages", "ports", "wires", "slices")
"""The resources that requests occupy, in the order of `CacheRow.busy`."""
BUSIEST = ("busiest_port", "busiest_wire", "busiest_slice")
"""The counts of a row for a port, a wire and a slice, see `CacheRow`."""
OF_RUN = tuple(f"{name}_of_run" for name in BUSIEST)


@dataclass(frozen=True)
class CacheRow(Tabular):
    """All requests that one source line made to one array of the global memory of `mm.Cached`.

    They took `stages` stages and made `tags` tag requests for `sectors` sectors. `tags` includes
    the tag requests in the other half and others that the cache adds. For reads and atomics, `hits`
    counts the sectors found where they were looked up, and `misses` the sectors fetched there, from
    the other half or from memory. With `fetch` above 1, a miss fetches further sectors, and the
    read doesn't look these up. `memory_reads` and `memory_writes` count the sectors read from and
    written to memory, also for evicted lines of other accesses. `fills` counts the reads of sectors
    that had been written in part. `crossings` counts the sectors that moved between the halves,
    `activations` the rows that memory opened, `translations` the pages that DMMs had to request.

    There are several ports, wires and slices. `busiest_port` counts the stages on the port that the
    source line, with all of its accesses, occupies longest. `busiest_wire` and `busiest_slice`
    count sectors in the same way; of atomics that take other times than the machine's
    `atomic_time`, as many as take the same time. `busiest_port_of_run` and so on count on the one
    that the whole run occupies longest. A resource that takes no time counts 0. Each launch has its
    own busiest ones, and their counts add up.
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

        For ports, wires and slices, the one counts that the source line, or the run, occupied
        longest.
        """
        items = (
            self.tags,
            self.sectors,
            self.crossings,
            self.memory_reads + self.memory_writes,
            self.activations,
            self.translations,
            *(getattr(self, name) for name in (OF_RUN if of_run else BUSIEST)),
        )
        tags, *others = map(mul, items, rates(numbers, self.kind))
        return (tags + self.fills * numbers.fill_time, *others)


def rates(numbers: Numbers, kind: Kind) -> tuple[int, ...]:
    """Time units for which one item of a kind of access occupies each of `RESOURCES`."""
    each, port, wire = numbers.write_time, numbers.write_port_time, numbers.write_wire_time
    of_slice = time_of_atomics(numbers)
    if kind == "read":
        each, port, wire = numbers.tag_time, numbers.port_time, numbers.wire_time
        of_slice = numbers.line_time
    common = numbers.sector_time, numbers.cross_time, numbers.memory_time
    return (each, *common, numbers.row_time, numbers.page_time, port, wire, of_slice)


class CacheRows(Rows[CacheRow]):
    """The use of the cache and of memory by the lines of a run."""

    __slots__ = ()


NAMED = 5
"""The number of fields that name the accesses of a row; the other fields are counts."""
COUNTS = tuple(part.name for part in fields(CacheRow))[NAMED:]


def merged(rows: Iterable[CacheRow]) -> CacheRows:
    """Merge the rows of several launches: one row for each line, array and kind."""
    found: dict[tuple[object, ...], tuple[int, ...]] = {}
    for row in rows:
        values = astuple(row)
        key, counts = values[:NAMED], values[NAMED:]
        found[key] = tuple(map(add, found.get(key, (0,) * len(counts)), counts))
    return CacheRows(CacheRow(*key, *counts) for key, counts in found.items())  # type: ignore[arg-type]


def busy(rows: Iterable[CacheRow], numbers: Numbers, of_run: bool = False) -> tuple[int, ...]:
    """Time units for which all requests of a source line, or of the run, occupied `RESOURCES`.

    For ports, wires and slices, the busiest one of the line, or of the run, counts.
    """
    times = [row.busy(numbers, of_run) for row in rows]
    return tuple(map(sum, zip(*times, strict=True))) if times else (0,) * len(RESOURCES)


def bound(times: tuple[int, ...], whole: tuple[int, ...], time: int) -> str:
    """The resource that binds requests, given their time on each of `RESOURCES`.

    It is the resource that they occupied longest. It is the latency if no resource was busy for
    half the `time` of the run; `whole` has the times for which all requests of the run occupied
    them.
    """
    if 2 * max(whole) < time:
        return "latency"
    return RESOURCES[times.index(max(times))]
