"""The HMM with sectors and a cache; `mmsim.model.cache` has the rule of its global memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import accumulate, count, pairwise, takewhile

from mmsim.errors import MachineError
from mmsim.model.cache import MASKED, Numbers
from mmsim.model.hmm import HMM
from mmsim.model.machines import Unit, Units, banks, check_numbers, groups, whole_numbers

LEAST = {
    "write_time": 1,
    "write_port_time": 0,
    "write_wire_time": 0,
    "float_time": 0,
    "resident": 1,
}
"""The least of numbers that may be None; that of the others is their default."""


@dataclass(frozen=True, repr=False, kw_only=True)
class Cached(HMM):
    """An HMM whose global memory has sectors, a cache, rates, and requests under way.

    The rule is in docs/machines.md, *Sectors, a cache, and several requests*. Without the numbers
    below, it is the HMM. A place is a word; with `bank_bytes`, a byte.

    Parameters
    ----------
    dmms, width, global_latency, shared_latency, bank_bytes
        As for `HMM`.
    sectors
        Sectors of an address group. An address group is a line of the cache.
    tag_time, write_time, sector_time, cross_time, memory_time, fill_time, row_time
        Time units for which each of these occupies its resource: a tag request of a read; one of a
        write or an atomic (default: the same); a sector; a crossing between the halves; a sector
        from or to memory; a fill of a sector written in part; an opened row.
    page, pages, page_time
        Places of a page, a multiple of a line (0: no pages); pages that a DMM knows; time units for
        which the request for an unknown page occupies its resource.
    port_time, wire_time
        Time units for which each tag request and each sector occupies its DMM's own way to the
        cache. Tag requests that the cache adds don't count.
    write_port_time, write_wire_time
        The same for a write or an atomic. Default: `port_time` and `wire_time`.
    clusters
        The number of clusters of consecutive DMMs, or a tuple of their sizes (sum: `dmms`).
        Clusters take turns, and each belongs to one half. Default: each DMM is a cluster.
    half_of
        The half of each cluster, 0 or 1, as a tuple. Default: given by the cluster's number.
    slices, atomic_time, float_time, line_time
        Slices of the cache; time units for which each sector of an atomic, of one on floats
        (default: `atomic_time`), and each line of a read occupies its line's slice.
    near
        The bits of a line's number, as a number, that its slice doesn't depend on.
    merges
        1 if an atomic on integers is one request for all lanes of a warp that have its place by the
        program's text, as compilers make it; 0 if they take turns.
    unrolls
        1 if a warp waits for its reads as in the code of a compiler, which unrolls loops and
        computes at the end of each block of code; 0 if it waits only where a value is used.
    shared_time
        Time units of a stage of a shared memory.
    miss_latency, spread_latency, cross_latency
        The least delay of a request that read from memory, and about what each doubling of its
        lines adds; or else the delay of one that read from the other half.
    capacity, ways, halves, fetch
        Places of the cache (0: no cache), lines of a set, halves (1 or 2), sectors that a miss
        fetches.
    own_capacity, own_ways, own_latency
        Places of each DMM's own cache (0: none), lines of a set, and the latency of a read that
        finds all its sectors there. Reads of arrays without atomics look there first, in kernels of
        numba.cuda and CUDA C++; programs of mmsim are compiled without this cache.
    channels, banks, row
        Channels of the memory, banks of a channel, lines of a row.
    under_way
        Requests that a warp may have under way, under the asynchronous schedule.
    resident
        Threads that a DMM holds at a time, under the asynchronous schedule. Default: no limit.

    >>> import numpy as np, mmsim as mm
    >>> @mm.program
    ... def gather(T, a, b, d):
    ...     b[T.id] = a[d[T.id]]
    >>> a, d = np.arange(32), np.arange(32) * 5 % 32
    >>> card = mm.Cached(2, 8, 20, sectors=4, sector_time=1, memory_time=3, capacity=64, ways=2)
    >>> run = card.run(gather, a, a.copy(), d, threads=32, block_size=8, schedule="asynchronous")
    >>> run.time, sum(row.misses for row in run.cache), sum(row.sectors for row in run.cache)
    (138, 32, 64)
    """

    kind = "cached"

    sectors: int = 1
    tag_time: int = 1
    write_time: int | None = None
    sector_time: int = 0
    cross_time: int = 0
    memory_time: int = 0
    fill_time: int = 0
    row_time: int = 0
    page_time: int = 0
    miss_latency: int = 0
    spread_latency: int = 0
    cross_latency: int = 0
    port_time: int = 0
    wire_time: int = 0
    write_port_time: int | None = None
    write_wire_time: int | None = None
    clusters: int | tuple[int, ...] | None = None
    half_of: tuple[int, ...] | None = None
    slices: int = 1
    atomic_time: int = 0
    float_time: int | None = None
    line_time: int = 0
    near: int = 0
    merges: int = 0
    unrolls: int = 0
    shared_time: int = 1
    capacity: int = 0
    ways: int = 1
    halves: int = 1
    fetch: int = 1
    own_capacity: int = 0
    own_ways: int = 1
    own_latency: int = 1
    channels: int = 1
    banks: int = 1
    row: int = 1
    page: int = 0
    pages: int = 1
    under_way: int = 1
    resident: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for part in fields(Cached):
            least = LEAST.get(part.name, part.default)
            if isinstance(least, int) and getattr(self, part.name) is not None:
                check_numbers(self, part.name, least=least)
        self._check_cache()
        for name in ("clusters", "half_of"):
            if isinstance(getattr(self, name), list | tuple):
                object.__setattr__(self, name, whole_numbers(self, name))
        self._check_clusters()

    def _check_cache(self) -> None:
        """Refuse lines that can't be cut into sectors, caches without sets, and parts of pages."""
        line, sectors, ways, halves = self._line, self.sectors, self.ways, self.halves
        if line % sectors:
            raise MachineError(
                f"sectors={sectors}, but an address group of {line} words or bytes can't be cut "
                "into so many"
            )
        if sectors % self.fetch:
            raise MachineError(
                f"fetch={self.fetch}, but a miss fetches a part of the {sectors} sectors of a line"
            )
        if halves > 2:
            raise MachineError(f"halves={halves}, but a cache has 1 or 2 halves")
        if self.capacity % (line * ways * halves):
            raise MachineError(
                f"capacity={self.capacity}, but a cache of {halves} halves, {ways} ways and lines "
                f"of {line} words or bytes holds a multiple of {halves * ways * line}"
            )
        if self.capacity + self.own_capacity and max(line // sectors, sectors) > MASKED:
            raise MachineError(
                f"sectors={sectors}, but a cache has at most {MASKED} sectors in a line of {line} "
                f"words or bytes, and at most {MASKED} of these in a sector"
            )
        if self.page % line:
            raise MachineError(
                f"page={self.page}, but a page consists of lines of {line} words or bytes: take a "
                "multiple"
            )

    def _check_clusters(self) -> None:
        """Refuse clusters of other than all DMMs, and other than one half for each cluster."""
        sizes = self.clusters
        if isinstance(sizes, tuple):
            if min(sizes, default=0) < 1:
                raise MachineError("clusters has a size below 1, but a cluster has 1 DMM or more")
            if sum(sizes) != self.dmms:
                raise MachineError(
                    f"the clusters have {sum(sizes)} DMMs together, but the machine has "
                    f"{self.dmms}; give the size of each cluster, or how many clusters there are"
                )
        elif sizes is not None:
            check_numbers(self, "clusters", most=self.dmms)
        if self.half_of is not None:
            number = self.dmms if self.clusters is None else self.clusters
            number = len(number) if isinstance(number, tuple) else number
            halves = range(self.halves)
            if len(self.half_of) != number or not set(self.half_of) <= set(halves):
                raise MachineError(
                    f"half_of has {len(self.half_of)} halves, but there are {number} clusters, "
                    f"each in half {' or '.join(map(str, halves))}; give one for each"
                )

    def clusters_of(self, dmms: int) -> tuple[int, ...]:
        """The sizes of the clusters. With a number of them, DMM x of d is in ⌊x · clusters / d⌋.

        >>> Cached(5, 4, 10, clusters=2).clusters_of(5), Cached(5, 4, 10, clusters=2).clusters_of(4)
        ((3, 2), (3, 1))
        """
        if self.clusters is None:
            return (1,) * dmms
        if isinstance(self.clusters, tuple):
            ends: Iterable[int] = accumulate(self.clusters)
        else:
            ends = (-(-one * self.dmms // self.clusters) for one in count(1))
        firsts = pairwise((0, *takewhile(lambda end: end < dmms, ends), dmms))
        return tuple(end - first for first, end in firsts)

    @property
    def _line(self) -> int:
        """The places of an address group."""
        return self.width * (self.bank_bytes or 1)

    @cached_property
    def memory(self) -> Unit:
        rule = groups(self)
        return Unit("global", rule, self.global_latency, None, "global", self.tag_time)

    @cached_property
    def shared(self) -> Units:
        return Units((), self.dmms, self.shared_latency, banks(self), self.shared_time)

    @cached_property
    def cache(self) -> Numbers:  # type: ignore[override]
        line = self._line
        own = {name: getattr(self, name) for name in Numbers._fields if hasattr(self, name)}
        own |= {
            "latency": self.global_latency,
            "write_time": self.write_time or self.tag_time,
            "sector": line // self.sectors,
            "word": self.bank_bytes or 1,
            "sets": self.capacity // (line * self.ways * self.halves),
            "own_sets": self.own_capacity // (line * self.own_ways),
            "page": self.page * self.sectors // line,
        }
        if own["float_time"] is None:
            own["float_time"] = own["atomic_time"]
        for name in ("port_time", "wire_time"):
            if own[f"write_{name}"] is None:
                own[f"write_{name}"] = own[name]
        return Numbers(**own)
