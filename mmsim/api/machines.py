"""The three memory machines (SMM section 2, ICPP section II) and their methods."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import accumulate, count, pairwise, takewhile
from typing import Any

from mmsim.api.report import Report
from mmsim.api.run import Run
from mmsim.errors import Brief
from mmsim.host.guesses import Guessed, advised, instead
from mmsim.model import machines
from mmsim.model.byte_banks import ByteBanks, ByteGroups
from mmsim.model.cache import Numbers, check_cache, check_clusters, check_halves, check_page
from mmsim.model.conflicts import Banks, Conflict, Groups
from mmsim.model.machines import (
    Engine,
    Schedule,
    Unit,
    Units,
    check_bank_bytes,
    check_numbers,
    whole_numbers,
)
from mmsim.model.threads import Given, asked

LAUNCH = (
    "machine.run(program, a, b, threads=16): what follows the program are its arguments in order"
)
INSTEAD = instead(
    {
        "w banks warp_size": "machine.width",
        "l": "machine.latency, on an HMM machine.global_latency",
        "L": "machine.global_latency",
        "d": "machine.dmms",
        "simulate launch execute call": "machine.run(program, ..., threads=)",
        "verify racecheck": "machine.check(program, ..., threads=)",
        "profile": "machine.run(program, ..., threads=).profile()",
    }
)
"""Names from papers and other tools, with a machine's name for each."""


class Machine(machines.Machine, Guessed):
    """The base of DMM, UMM and HMM: a width, memory units, `run` and `check`.

    Your own machine is a frozen dataclass derived from it (docs/machines.md).
    """

    _instead = INSTEAD

    @advised(LAUNCH, verbose="print(run), or run.profile(), for what each line costs")
    def run(
        self,
        program: Any,
        *args: Any,
        threads: int | None = None,
        block_size: int | None = None,
        grid: Given | None = None,
        block: Given | None = None,
        schedule: Schedule = "synchronous",
        engine: Engine | None = None,
        trace: bool | None = None,
        max_accesses: int = 100_000,
        check: bool = False,
    ) -> Run:
        """Run `program` with `threads` threads and return the result, exact to the time unit.

        Parameters
        ----------
        program
            A function decorated with `mmsim.program`.
        *args
            The program's arguments after T, in order: arrays (NumPy or `mmsim.place`d) and numbers.
            They are copied; the results are in `Run.arrays`.
        threads, block_size
            The number of threads, p, and the threads of a block (default: one block of all
            threads).
        grid, block
            In place of `threads` and `block_size`, the extents of the grid in blocks and of a block
            in threads. Each is a number, or up to three numbers along x, y and z.
        schedule
            "synchronous" (lock step, as in the papers' formulas) or "asynchronous" (every warp runs
            as soon as it can).
        engine
            "array" runs all warps together, at any scale. It is exact for every program without a
            data race. "events", the discrete-event engine, is exact for any program. Only "events"
            records traces. Default: "events" with a trace, else "array".
        trace
            Record every dispatch, stage, completion and wait in `Run.trace`. Default: True with
            `engine="events"`, else False.
        max_accesses
            The bound on accesses plus loop iterations of a warp, or of the program under the
            synchronous schedule. A program that exceeds it is taken to run forever.
        check
            Report data races under this schedule, lost updates, reads of uninitialized memory and
            divergent barriers in `Run.findings`; asynchronously also missing syncs in a warp. The
            result is the same without it. `Machine.check` looks for more.

        Raises
        ------
        LaunchError
            Arguments that don't fit the program or each other.
        ProgramError
            The program failed: an index out of range, a barrier that only part of a warp reaches, a
            division by zero, no end. The caller's arrays are unchanged.

        Examples
        --------
        >>> import numpy as np, mmsim as mm
        >>> @mm.program
        ... def copy(T, a, b):
        ...     b[T.id] = a[T.id]
        >>> run = mm.DMM(width=4, latency=3).run(copy, np.arange(8), np.zeros(8, int), threads=8)
        >>> run.time, run.arrays["b"]  # 2 (p/w + l - 1)
        (8, array([0, 1, 2, 3, 4, 5, 6, 7]))
        """
        from mmsim.api.binding import Exhaustion, bind  # loads what parses and runs
        from mmsim.engines.run import launch

        with Brief():
            sizes = asked(threads, block_size, grid, block)
            with Exhaustion(program, sizes[0]):
                bound = bind(self, program, args, sizes, schedule, max_accesses)
                return Run.of(launch(bound, engine, trace, check))

    @advised(LAUNCH.replace("run", "check"))
    def check(
        self,
        program: Any,
        *args: Any,
        threads: int | None = None,
        block_size: int | None = None,
        grid: Given | None = None,
        block: Given | None = None,
        schedule: Schedule | None = None,
        max_accesses: int = 100_000,
        shared_words: int | None = None,
        unset: str | Collection[str] = (),
        trace: bool = False,
    ) -> Report:
        """Run `program` and report its errors instead of its results.

        Looks for data races under the given schedule, reads of uninitialized memory, divergent
        barriers, deadlocks, layouts for another width than the machine's, and shared arrays that
        don't fit. A second run, in which another one of several concurrent writes stays, finds
        results that depend on it. A program may be correct in lock step and have a data race
        without it. A `ProgramError` of `run` is a finding too.

        Parameters
        ----------
        program, args, threads, block_size, grid, block, max_accesses
            As for `run`.
        schedule
            As for `run`. Default: "asynchronous" for a kernel of numba.cuda, as on a GPU;
            "synchronous" for any other program.
        shared_words
            The size of one DMM's shared memory in words. The shared arrays of its blocks must fit;
            on a DMM or UMM, those of all blocks. Default: no limit.
        unset
            The name or names of array parameters that are uninitialized at the start. A read before
            the first write is a finding.
        trace
            Record the run, for `Report.trace` and `Report.player`.

        Raises
        ------
        LaunchError
            Arguments that don't fit the program or each other.

        Examples
        --------
        >>> import numpy as np, mmsim as mm
        >>> @mm.program
        ... def shift(T, a):
        ...     a[T.id] = a[T.id + 1]
        >>> report = mm.DMM(4, 3).check(shift, np.arange(9), threads=8, schedule="asynchronous")
        >>> [(finding.kind, finding.element, finding.threads, finding.times)
        ...     for finding in report.findings]
        [('race', 'a[4]', (3, 4), (0, 4))]
        """
        from mmsim.api.binding import Exhaustion, bind, language_of
        from mmsim.engines.check import check  # loads SimPy

        with Brief():
            sizes = asked(threads, block_size, grid, block)
            with Exhaustion(program, sizes[0]):
                language = language_of(program)
                own: Schedule = "asynchronous" if language == "numba" else "synchronous"
                when = own if schedule is None else schedule
                return Report.of(
                    check(
                        lambda: bind(self, program, args, sizes, when, max_accesses),
                        self,
                        sizes,
                        when,
                        language,
                        shared_words=shared_words,
                        unset=unset,
                        trace=trace,
                    )
                )


@advised()
@dataclass(frozen=True)
class DMM(Machine):
    """Discrete Memory Machine of `width` banks and `latency` time units (SMM section 2).

    A word holds an element. With `bank_bytes`, the bytes of a bank (4 on a GPU), an element takes
    its own bytes, and long elements are served in parts (docs/machines.md).

    >>> DMM(width=32, latency=5)
    DMM(width=32, latency=5)
    >>> DMM(32, 5, bank_bytes=4).memory.conflict
    ByteBanks(width=32, bank_bytes=4)
    """

    width: int
    latency: int
    bank_bytes: int | None = None

    def __post_init__(self) -> None:
        check_numbers(self, "width", "latency")
        check_bank_bytes(self)

    @cached_property
    def memory(self) -> Unit:
        return Unit("memory", _banks(self), self.latency)

    def __repr__(self) -> str:
        return _plain(self)


@advised()
@dataclass(frozen=True)
class UMM(Machine):
    """Unified Memory Machine: `width` words to an address group (SMM section 2).

    >>> UMM(4, 3) == UMM(width=4, latency=3)
    True
    """

    width: int
    latency: int

    def __post_init__(self) -> None:
        check_numbers(self, "width", "latency")

    @cached_property
    def memory(self) -> Unit:
        return Unit("memory", _groups(self), self.latency)


@advised(
    latency="global_latency= and shared_latency= (1 if left out): an HMM has two latencies, of the "
    "global memory and of the DMMs"
)
@dataclass(frozen=True)
class HMM(Machine):
    """Hierarchical Memory Machine: `dmms` DMMs on one UMM (ICPP section II).

    Array parameters lie in the global memory (address groups, `global_latency`). `mm.shared` arrays
    lie in the shared memory (banks, `shared_latency`) of their block's DMM. With `bank_bytes`,
    elements take their own bytes in both memories, and an address group has as many bytes as all
    banks together.

    >>> HMM(dmms=2, width=32, global_latency=300)
    HMM(dmms=2, width=32, global_latency=300, shared_latency=1)
    """

    dmms: int
    width: int
    global_latency: int
    shared_latency: int = 1
    bank_bytes: int | None = None

    def __post_init__(self) -> None:
        check_numbers(self, "dmms", "width", "global_latency", "shared_latency")
        check_bank_bytes(self)

    @cached_property
    def memory(self) -> Unit:
        rule = _groups(self)
        return Unit("global", rule, self.global_latency, None, "global")

    @cached_property
    def shared(self) -> Units:
        rule = _banks(self)
        return Units((), self.dmms, self.shared_latency, rule)

    def __repr__(self) -> str:
        return _plain(self)

    @cached_property
    def units(self) -> Units:
        return replace(self.shared, before=(self.memory,))


@advised(cache="capacity=, the places of the cache")
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
    slices, atomic_time
        Slices of the cache; time units for which each sector of an atomic occupies its line's
        slice.
    shared_time
        Time units of a stage of a shared memory.
    miss_latency, cross_latency
        The delay of a request that read from memory, or else from the other half.
    capacity, ways, halves, fetch
        Places of the cache (0: no cache), lines of a set, halves (1 or 2), sectors that a miss
        fetches.
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
    cross_latency: int = 0
    port_time: int = 0
    wire_time: int = 0
    write_port_time: int | None = None
    write_wire_time: int | None = None
    clusters: int | tuple[int, ...] | None = None
    half_of: tuple[int, ...] | None = None
    slices: int = 1
    atomic_time: int = 0
    shared_time: int = 1
    capacity: int = 0
    ways: int = 1
    halves: int = 1
    fetch: int = 1
    channels: int = 1
    banks: int = 1
    row: int = 1
    page: int = 0
    pages: int = 1
    under_way: int = 1
    resident: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_numbers(self, "sectors", "tag_time", "ways", "halves", "fetch", "pages")
        check_numbers(self, "channels", "banks", "row", "under_way", "shared_time", "slices")
        for name in ("resident", "write_time"):
            if getattr(self, name) is not None:
                check_numbers(self, name)
        rates = ("sector_time", "cross_time", "memory_time", "fill_time", "row_time")
        check_numbers(self, *rates, "port_time", "wire_time", "atomic_time", "page_time", least=0)
        for name in ("write_port_time", "write_wire_time"):
            if getattr(self, name) is not None:
                check_numbers(self, name, least=0)
        latencies = ("miss_latency", "cross_latency")
        check_numbers(self, *latencies, "capacity", "page", least=0)
        check_cache(self._line, self.sectors, self.capacity, self.ways, self.halves, self.fetch)
        check_page(self._line, self.page)
        for name in ("clusters", "half_of"):
            if isinstance(getattr(self, name), list | tuple):
                object.__setattr__(self, name, whole_numbers(self, name))
        if isinstance(self.clusters, tuple):
            check_clusters(self.clusters, self.dmms)
        elif self.clusters is not None:
            check_numbers(self, "clusters", most=self.dmms)
        if self.half_of is not None:
            number = self.dmms if self.clusters is None else self.clusters
            number = len(number) if isinstance(number, tuple) else number
            check_halves(self.half_of, number, self.halves)

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
        rule = _groups(self)
        return Unit("global", rule, self.global_latency, None, "global", self.tag_time)

    @cached_property
    def shared(self) -> Units:
        return Units((), self.dmms, self.shared_latency, _banks(self), self.shared_time)

    @cached_property
    def cache(self) -> Numbers:  # type: ignore[override]
        return Numbers(
            self.sectors,
            self._line // self.sectors,
            self.global_latency,
            self.tag_time,
            self.write_time or self.tag_time,
            self.sector_time,
            self.cross_time,
            self.memory_time,
            self.fill_time,
            self.row_time,
            self.miss_latency,
            self.cross_latency,
            self.port_time,
            self.wire_time,
            self.port_time if self.write_port_time is None else self.write_port_time,
            self.wire_time if self.write_wire_time is None else self.write_wire_time,
            self.atomic_time,
            self.page_time,
            self.dmms,
            self.halves,
            self.capacity // (self._line * self.ways * self.halves),
            self.ways,
            self.fetch,
            self.channels,
            self.banks,
            self.row,
            self.slices,
            self.page * self.sectors // self._line,
            self.pages,
        )


def _banks(machine: Machine) -> Conflict:
    """The rule of a machine's banks."""
    if machine.bank_bytes is None:
        return Banks(machine.width)
    return ByteBanks(machine.width, machine.bank_bytes)


def _groups(machine: Machine) -> Conflict:
    """The rule of a machine's address groups."""
    if machine.bank_bytes is None:
        return Groups(machine.width)
    return ByteGroups(machine.width, machine.bank_bytes)


def _plain(machine: DMM | HMM) -> str:
    """A machine as text, without optional numbers that were not given."""
    known = [(part.name, getattr(machine, part.name)) for part in fields(machine)]
    left = {part.name: part.default for part in fields(machine) if part.kw_only}
    text = ", ".join(
        f"{name}={value!r}"
        for name, value in known
        if value is not None and (name not in left or left[name] != value)
    )
    return f"{type(machine).__name__}({text})"
